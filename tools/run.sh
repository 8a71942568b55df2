#!/usr/bin/env bash
# Builds planegate and sends a model through its gates: `planegate verify ARGUMENTS`. Without
# arguments a small sample model is made and verified.
set -euo pipefail
build=$("$(dirname "$0")/build.sh" "" planegate)
exec "$build/planegate" verify "$@"
