#!/usr/bin/env bash
# Layout, direction of includes, and clang-tidy.
#
#   tools/lint.sh                clang-tidy reads the torch-free sources and those that differ from the last commit
#   tools/lint.sh --all          clang-tidy reads all sources, a minute for each that includes torch
#   tools/lint.sh --fix-format   only lays out the sources
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' | grep -v /gloo_headers/)
if [[ ${1:-} == --fix-format ]]; then
  clang-format -i "${files[@]}"
  exit
fi

echo "== layout of ${#files[@]} files"
clang-format --dry-run -Werror "${files[@]}"

echo "== direction of includes"
python3 tools/check_includes.py

# clang cannot read g++'s precompiled headers, so this configuration does without.
cmake -S . -B build-lint -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DACCELERATE_BATCHES=OFF -DACCELERATE_CCACHE=OFF >/dev/null
mapfile -t compiled < <(python3 tools/list_sources.py build-lint/compile_commands.json)
if [[ ${1:-} == --all ]]; then
  chosen=("${compiled[@]}")
else
  mapfile -t chosen < <({
    python3 tools/list_sources.py build-lint/compile_commands.json --torch-free
    printf '%s\n' "${compiled[@]}" | grep -xF -f <(git diff --name-only HEAD -- '*.cpp')
  } | sort -u)
fi
echo "== clang-tidy on ${#chosen[@]} of ${#compiled[@]} sources"
printf '%s\n' "${chosen[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build-lint --quiet 2>&1 | sed -u "/ warnings generated\\.$/d"
