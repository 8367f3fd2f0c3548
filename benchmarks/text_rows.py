"""Benchmarks of texts: how fast they become tokens, and how fast tokens become padded batches."""

import texts
from rows import Row, megabytes_per_second, program, samples_per_second, script


def tokenizer_row(model, asset, threads):
    def arguments(quick):
        files = texts.fetch(f"{asset}-tokenizer"), texts.real_texts(megabytes=1 if quick else 10)
        return "--tokenizer", files[0] / "tokenizer.json", "--texts", files[1], "--threads", threads

    return Row(
        name=f"tokenize, {model}, {threads} thread{'s' if threads > 1 else ''}",
        peer_name="tokenizers (Rust)",
        unit="MB/s",
        ours=lambda quick: program("tokenize_texts", *arguments(quick)),
        peer=lambda quick: script("tokenize_texts", *arguments(quick)),
        value=megabytes_per_second,
        higher_is_better=True,
        target=2,
    )


TEXT_ROWS = [
    *(
        tokenizer_row(model, asset, threads)
        for model, asset in (("WordPiece", "minilm"), ("byte-level BPE", "gpt2"), ("Unigram", "t5"))
        for threads in (1, 2)
    ),
]
