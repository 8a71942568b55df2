#if defined(PLANEGATE_BAD)
static_assert(sizeof(int) == 0, "quite another reason");
#endif
