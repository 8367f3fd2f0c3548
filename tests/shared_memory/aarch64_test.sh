#!/usr/bin/env bash
# The room for processors with NEON: all of it compiles with warnings as errors, and its reductions give the right
# numbers there, in an emulator.
#
#   aarch64_test.sh COMPILER EMULATOR DIRECTORY
set -euo pipefail
compiler=$1 emulator=$2 directory=$3
cd "$(dirname "$0")/../.."

rm -rf "$directory"
mkdir -p "$directory/include"
# doctest alone: the other headers beside it belong to this machine's own processor.
ln -s /usr/include/doctest "$directory/include/doctest"

flags=(-std=c++20 -O2 -ffp-contract=off -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror -I .
  -isystem "$directory/include")
needed=(accelerate/base/{cpu,environment,file,host_name,log,read_file}.cpp)
tests=(tests/support/main.cpp tests/shared_memory/{reduce,rounding}_test.cpp)
sources=(accelerate/shared_memory/*.cpp "${needed[@]}" "${tests[@]}")
objects=()
for source in "${sources[@]}"; do
  objects+=("$directory/${source//\//_}.o")
  "$compiler" "${flags[@]}" -c "$source" -o "${objects[-1]}"
done
"$compiler" -static "${objects[@]}" -o "$directory/tests"
"$emulator" "$directory/tests"
