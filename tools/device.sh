#!/usr/bin/env bash
# Everything that needs a GPU, in one go: conformance, gates, demo, the kill matrix, a soak,
# sanitizers.
#
#   tools/device.sh          build here (preset device) and run here
#   tools/device.sh pack     build here and pack binaries with their libraries into
#                            build/device-bundle.tar.gz, for a GPU machine without a toolchain
#   tools/device.sh run FILE run a packed bundle; logs go to $OUT (default ./device-logs)
#
# Settings: ROWS, a pattern of the rows to run (default all); SOAK_CASES (default 100000).
# A missing GPU is a failure. Prints a short table last; exit status 0 only if every row passed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bundle=$root/build/device-bundle
programs=(planegate tests/gates tests/unit_conformance tests/unit_devices tests/unit_gates
          tests/device_bench tests/gates_bench)

pack() {
  "$root/tools/install.sh"
  cmake --preset device -S "$root" > /dev/null
  cmake --build "$root/build/device" --target kernel_reports "${programs[@]##*/}"
  rm -rf "$bundle"
  mkdir -p "$bundle/bin" "$bundle/lib"
  for program in "${programs[@]}"; do
    cp "$root/build/device/$program" "$bundle/bin/"
    # Everything but the C library itself, which must be the machine's own.
    ldd "$root/build/device/$program" | awk '$3 ~ "^/" {print $3}' |
      grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
      xargs -r cp -L -t "$bundle/lib"
  done
  strip "$bundle"/bin/* || true
  cp -r "$root/tests/data" "$bundle/data"
  cp -r "$root/build/device/kernel-reports" "$root/kernels/budgets.json" "$bundle/"
  tar -C "$bundle" -czf "$bundle.tar.gz" .
  du -h "$bundle.tar.gz"
}

rows=()
failed=0
# row NAME COMMAND...: runs it, keeps its output, notes how it ended and its last telling line.
row() {
  local name=$1 log=$logs/$1.log started status=pass note
  shift
  [[ $name =~ ^(${ROWS:-.*})$ ]] || return 0
  started=$EPOCHREALTIME
  "$@" > "$log" 2>&1 || { status=FAIL; failed=1; }
  note=$(grep -E '^\[  (PASSED|FAILED)|ERROR SUMMARY|RACECHECK SUMMARY|gates passed|own gate\.$|tokens|readback gate|^[0-9]+ (arms|cases|kernels)' "$log" |
    tail -n 1 || true)
  # A run that tested nothing, or skipped anything, proves nothing.
  if ! [ -s "$log" ] || grep -qE '^\[  SKIPPED|^\[  PASSED  \] 0 tests' "$log"; then
    status=FAIL failed=1
  fi
  rows+=("$(printf '%-26s %-5s %7.1f s  %s' "$name" "$status" \
    "$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN {print b - a}')" "$note")")
  [ "$status" = pass ] || tail -n 40 "$log"
}

# All gates over a model of the shapes of a 7B model, every element compared.
verify_7b() {
  "$dir/bin/planegate" sample "$dir/7b.gguf" --like qwen2.5-7b
  time "$dir/bin/planegate" verify "$dir/7b.gguf" --device cuda --nt 64 --json "$logs/7b.json"
}

# From gates to ledger: in-kernel expansion against the plane copied asynchronously, at one shape and
# over a model; A against itself; a slowdown of 2 % that was planted; each way to be refused.
timing() {
  local planegate=$dir/bin/planegate a=raw/expand b=w_exp/cp_async
  local shape=(--od 3584 --id 18944 --nt 512 --device cuda) token=$logs/token.json
  "$planegate" token "$token" --consumer $a --consumer $b "${shape[@]}"
  "$planegate" ab --a $a --b $b --token "$token" "${shape[@]}" --json "$logs/ab.json" \
    --ledger "$logs/ledger.jsonl" --mechanism "w_exp, copied asynchronously" --landed
  "$planegate" ab --a $b --b $b --token "$token" "${shape[@]}"
  ! "$planegate" ab --a $b --b $b --token "$token" "${shape[@]}" --planted-launches 2
  "$planegate" sample "$dir/7b.gguf" --like qwen2.5-7b
  local replay=(--replay "$dir/7b.gguf" --nt 512 --device cuda)
  "$planegate" token "$logs/replay-token.json" --consumer $a --consumer $b "${replay[@]}"
  "$planegate" ab --a $a --b $b --token "$logs/replay-token.json" "${replay[@]}" \
    --ledger "$logs/ledger.jsonl" --mechanism "w_exp, copied asynchronously" --landed
  "$planegate" ledger "$logs/ledger.jsonl" --svg "$logs/ledger.svg"
  ! "$planegate" ab --a $a --b $b --token "$token" --od 3584 --id 3584 --nt 512 --device cuda
  ! "$planegate" ab --a $a --b $b --token "$token" "${shape[@]:0:6}" --device host
  sed 's/"compared": /&1/' "$token" > "$logs/edited-token.json"
  ! "$planegate" ab --a $a --b $b --token "$logs/edited-token.json" "${shape[@]}"
}

# What the warps of a consumer wait for, and of another one beside it.
attribution() {
  local shape=(--od 3584 --id 3584 --nt 512)
  "$dir/bin/planegate" attribute --consumer w_exp/cp_async "${shape[@]}"
}

census() {
  "$dir/bin/planegate" sample "$dir/7b.gguf" --like qwen2.5-7b
  "$dir/bin/planegate" census "$dir/7b.gguf" --device cuda --vram 2GiB
}

run() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  tar -C "$dir" -xzf "$1"
  logs=${OUT:-device-logs}
  mkdir -p "$logs"
  export PLANEGATE_REQUIRE_DEVICE=1 LD_LIBRARY_PATH=$dir/lib PLANEGATE_TEST_DATA=$dir/data
  local bin=$dir/bin
  "$bin/planegate" list | sed -n '/^device/,$p'
  if [ -n "${PLANEGATE_WRITE_FIXTURES:-}" ]; then mkdir -p "$PLANEGATE_WRITE_FIXTURES"; fi
  row conformance "$bin/unit_conformance" --gtest_filter='*Cuda*'
  row device-tests "$bin/unit_devices" --gtest_filter='*Cuda*'
  row kill-matrix "$bin/unit_gates" --gtest_filter='*Cuda*'
  row budget "$bin/planegate" budget --device cuda --table "$dir/budgets.json" \
    --reports "$dir/kernel-reports"
  row gates "$bin/gates" --gtest_filter='*/cuda'
  row copies "$bin/device_bench"
  row host-gates "$bin/gates_bench"
  row verify-7b verify_7b
  row timing timing
  row attribution attribution
  row census census
  row demo "$bin/planegate" demo --device cuda
  row verify-sample "$bin/planegate" verify --device cuda
  row mutants "$bin/planegate" mutants --device cuda
  row soak "$bin/planegate" fuzz --device cuda --cases "${SOAK_CASES:-100000}" \
    --max-od 257 --max-nsb 8 --max-nt 130 --out "$logs"
  # The chain tests run all of parity but the addresses, which take many times as many launches.
  if command -v compute-sanitizer > /dev/null; then
    row memcheck compute-sanitizer --tool memcheck --error-exitcode 9 \
      "$bin/gates" --gtest_filter='chain.*/cuda'
    row racecheck compute-sanitizer --tool racecheck --error-exitcode 9 \
      "$bin/gates" --gtest_filter='chain.*/cuda'
    row memcheck-demo compute-sanitizer --tool memcheck --error-exitcode 9 \
      "$bin/planegate" demo --device cuda
  elif [ -z "${ROWS:-}" ]; then
    rows+=("compute-sanitizer: not found"); failed=1
  fi
  # Minutes: every arm at the shapes of other projects, each in a process of its own.
  row judges "$bin/planegate" mutants --device cuda --judges
  printf '\n%-26s %-5s %9s  %s\n' check state time note
  printf '%s\n' "${rows[@]}"
  return "$failed"
}

case ${1:-all} in
  pack) pack ;;
  run) run "${2:?tools/device.sh run FILE}" ;;
  all) pack; run "$bundle.tar.gz" ;;
  *) sed -n '2,13p' "$0"; exit 2 ;;
esac
