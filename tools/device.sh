#!/usr/bin/env bash
# Everything that needs a GPU, in one go: conformance, gates, demo, the kill matrix, a soak,
# sanitizers.
#
#   tools/device.sh          build here (preset device) and run here
#   tools/device.sh pack     build here and pack binaries with their libraries into
#                            build/device-bundle.tar.xz, for a GPU machine without a toolchain
#   tools/device.sh run FILE run a packed bundle; logs go to $OUT (default ./device-logs)
#
# Settings: ROWS, a pattern of the rows to run (default all); SOAK_CASES (default 100000).
# A missing GPU is a failure. Prints a short table last; exit status 0 only if every row passed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bundle=$root/build/device-bundle
programs=(planegate tests/gates tests/unit_conformance tests/unit_devices tests/unit_gates
          tests/device_bench tests/gates_bench tests/consumer_bench)

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
  # The window of matches spans the programs, which share their kernels.
  tar -C "$bundle" -cf - . | xz -T1 --lzma2=preset=1,dict=128MiB > "$bundle.tar.xz"
  du -h "$bundle.tar.xz"
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

# says STATUS ARGUMENT...: planegate with these arguments must end so; shows what it said.
says() {
  local wanted=$1 status=0
  shift
  printf '\n$ planegate %s\n' "${*//$logs\//}"
  "$dir/bin/planegate" "$@" 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || { echo "exit status $status instead of $wanted"; wrong=1; }
}

model_7b() {
  model=$dir/7b.gguf
  [ -f "$model" ] || says 0 sample "$model" --like qwen2.5-7b
}

# All gates over a model of the shapes of a 7B model, every element compared.
verify_7b() {
  wrong=0
  model_7b
  time says 0 verify "$model" --device cuda --nt 64 --json "$logs/7b.json"
  return $wrong
}

# From gates to ledger: in-kernel expansion against the plane copied asynchronously, at one shape and
# over a model; a consumer against itself; a slowdown of 2 % that was planted; ways to be refused.
timing() {
  wrong=0
  local a=raw/expand b=w_exp/cp_async token=$logs/token.json replayed=$logs/replay-token.json
  local shape=(--od 3584 --id 18944 --nt 512 --device cuda)
  local both=(--a $a --b $b --token "$token") same=(--a $b --b $b --token "$token")
  local landed=(--ledger "$logs/ledger.jsonl" --mechanism "w_exp, copied asynchronously" --landed)
  says 0 token "$token" --consumer $a --consumer $b "${shape[@]}"
  says 0 ab "${both[@]}" "${shape[@]}" "${landed[@]}"
  says 0 ab "${same[@]}" "${shape[@]}"
  says 1 ab "${same[@]}" "${shape[@]}" --planted-launches 2
  model_7b
  local replay=(--replay "$model" --nt 512 --device cuda)
  says 0 token "$replayed" --consumer $a --consumer $b "${replay[@]}"
  says 0 ab --a $a --b $b --token "$replayed" "${replay[@]}" "${landed[@]}"
  says 0 ledger "$logs/ledger.jsonl" --svg "$logs/ledger.svg"
  says 4 ab "${both[@]}" --od 3584 --id 3584 --nt 512 --device cuda
  says 4 ab "${both[@]}" "${shape[@]:0:6}" --device host
  sed 's/"compared": /&1/' "$token" > "$logs/edited.json"
  says 4 ab --a $a --b $b --token "$logs/edited.json" "${shape[@]}"
  return $wrong
}

# What the warps of two consumers wait for.
attribution() {
  wrong=0
  local shape=(--od 3584 --id 3584 --nt 512)
  says 0 attribute --consumer raw/expand "${shape[@]}"
  says 0 attribute --consumer w_exp/cp_async "${shape[@]}"
  return $wrong
}

census() {
  wrong=0
  model_7b
  says 0 census "$model" --device cuda --vram 2GiB
  return $wrong
}

run() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  tar -C "$dir" -xf "$1"
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
  row consumers "$bin/consumer_bench"
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
  all) pack; run "$bundle.tar.xz" ;;
  *) sed -n '2,13p' "$0"; exit 2 ;;
esac
