#if !defined(PLANEGATE_BAD)
#error this is the good line
#endif
