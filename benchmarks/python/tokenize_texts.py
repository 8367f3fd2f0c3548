"""Cuts the lines of a file into tokens with the `tokenizers` package: tokenize_texts.py --tokenizer FILE --texts FILE
--threads N."""

import argparse
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--tokenizer", required=True)
parser.add_argument("--texts", required=True)
parser.add_argument("--threads", type=int, default=1)
options = parser.parse_args()

# Read when the package starts its first batch.
os.environ["TOKENIZERS_PARALLELISM"] = "true" if options.threads > 1 else "false"
os.environ["RAYON_NUM_THREADS"] = str(options.threads)

from tokenizers import Tokenizer  # noqa: E402

from side import Stopwatch, report  # noqa: E402

tokenizer = Tokenizer.from_file(options.tokenizer)
tokenizer.no_truncation()
tokenizer.no_padding()
texts = pathlib.Path(options.texts).read_text(encoding="utf-8").split("\n")[:-1]

stopwatch = Stopwatch()
encodings = tokenizer.encode_batch(texts)
seconds = stopwatch.seconds()

num_bytes = sum(len(text.encode()) for text in texts)
num_tokens = sum(len(encoding.ids) for encoding in encodings)
sum_of_ids = sum(sum(encoding.ids) for encoding in encodings)
sum_of_offsets = sum(begin + end for encoding in encodings for begin, end in encoding.offsets)
report(work=num_bytes, losses=[num_tokens, sum_of_ids, sum_of_offsets], **seconds)
