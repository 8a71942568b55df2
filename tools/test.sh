#!/usr/bin/env bash
# Builds planegate and runs all its tests; arguments go to ctest (`tools/test.sh -L gates`).
set -euo pipefail
build=$("$(dirname "$0")/build.sh")
exec ctest --test-dir "$build" --no-tests=error --output-on-failure -j "$(nproc)" "$@"
