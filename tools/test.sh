#!/usr/bin/env bash
# Set-up, configure, build and tests in one go, with the minutes of each phase; ctest's summary comes last.
#
#   tools/test.sh          the short forms
#   tools/test.sh --full   also the tests labelled `full`, and the full counts of the others
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=""
phase() {
  local name=$1 start=$EPOCHREALTIME status=0
  shift
  echo "== $name"
  "$@" || status=$?
  minutes+=$(awk -v name="$name" -v from="$start" -v to="$EPOCHREALTIME" \
    'BEGIN { printf "  %-10s%6.1f minutes", name, (to - from) / 60 }')$'\n'
  return $status
}

# ctest's summary is cut from what passes by and printed when everything else has been said.
run_ctest() {
  ctest --test-dir build --output-on-failure -j2 --output-log build/tests.log "$@" | sed -u '/% tests passed/,$d'
}

long_tests() { ctest --test-dir build -N -L '^full$' | sed -n 's/^Total Tests: //p'; }

selection=(-LE '^full$')
if [[ ${1:-} == --full ]]; then
  export ACCELERATE_TEST_FULL=1
  selection=()
fi

phase set-up make --no-print-directory setup-oracle setup-assets
if [[ ${#selection[@]} == 0 ]]; then phase long-tests tools/setup.sh slurm browser aarch64; fi
phase configure make --no-print-directory configure
phase build make --no-print-directory compile
phase notebook make --no-print-directory notebook-build
status=0
phase tests run_ctest "${selection[@]}" || status=$?
printf '\nThe phases took\n%s' "$minutes"
if [[ ${#selection[@]} != 0 ]]; then echo "$(long_tests) long tests are left to 'make test-full'."; fi
echo
sed -n '/% tests passed/,$p' build/tests.log
exit $status
