#!/usr/bin/env bash
# Builds a preset (default: cuda where nvcc is on the PATH, else host), wholly or one target of it,
# and prints its folder.
#
#   tools/build.sh [PRESET] [TARGET]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

preset=${1:-}
if [ -z "$preset" ]; then
  if command -v nvcc > /dev/null; then preset=cuda; else preset=host; fi
fi
{
  "$root/tools/install.sh"
  (cd "$root" && cmake --preset "$preset" && cmake --build --preset "$preset" --target "${2:-all}")
} >&2
echo "$root/build/$preset"
