#!/usr/bin/env bash
# Looks for files that break a reader: each fuzz target runs for FUZZ_SECONDS (60), under the address and the
# undefined-behaviour sanitizer. An input that breaks one stays in build-fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}

cmake --preset fuzz >/dev/null
cmake --build build-fuzz --target fuzz_pickle fuzz_safetensors fuzz_shard_index fuzz_zip
.venv/bin/python fuzz/make_corpus.py build-fuzz/corpus
mkdir -p build-fuzz/found
for target in pickle safetensors shard_index zip; do
  echo "== $target, $seconds seconds"
  build-fuzz/fuzz/fuzz_$target -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix=build-fuzz/found/$target- build-fuzz/corpus/$target
done
