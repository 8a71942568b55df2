int same() {
  return 0;
}
