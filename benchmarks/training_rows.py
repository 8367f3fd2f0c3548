"""Benchmarks of training whole models: GPT-2 in two small sizes, MiniLM as in the tutorial, and BERT.

The limit of a model is the time of its products of matrices alone, on as many processes at a time.
"""

import texts
from rows import Row, processes, program, rows_of_both, samples_per_second, script

# The models that the targets were measured with: without dropout, with the exact GELU, and a head of their own.
PLAIN_GPT = {
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "activation_function": "gelu",
    "tie_word_embeddings": False,
}


def language_model_rows(name, target, tuned_target, rows, length, steps, words, of_limit=None, **config):
    """Training a GPT on two ranks, each with `rows` texts of `length` words in a step."""

    def arguments(quick):
        checkpoint = texts.gpt(vocab_size=words, n_positions=length, **config)
        shape = "--language_model", "--rows", rows, "--length", length, "--words", words
        return "--checkpoint", checkpoint, *shape, "--steps", max(2, steps // 10) if quick else steps

    return rows_of_both(
        f"{name} step, 2 processes",
        target,
        tuned_target,
        ours=lambda quick: program("fine_tuning", *arguments(quick)),
        peer=lambda quick: script("fine_tuning", *arguments(quick)),
        limit=(lambda quick: program("matrix_products", *arguments(quick))) if of_limit else None,
        of_limit=of_limit,
        num_processes=2,
        unit="ms",
        value=lambda run: run.wall / (run.work / rows) * 1e3,
    )


def minilm(side, name="fine_tuning"):
    return side(name, "--checkpoint", texts.fetch("minilm"))


def products(quick):
    return minilm(program, "matrix_products")


def fine_tuning_rows(num_processes, target, tuned_target, **more):
    return rows_of_both(
        f"fine-tuning MiniLM, {processes(num_processes)}",
        target,
        tuned_target,
        ours=lambda quick: minilm(program),
        peer=lambda quick: minilm(script),
        limit=products,
        num_processes=num_processes,
        unit="samples/s",
        value=samples_per_second,
        higher_is_better=True,
        **more,
    )


def crowding_row(name, side, **more):
    """A rank of two against one that has the machine alone, both in samples per second of one rank."""
    return Row(
        name=name,
        peer_name="one process (C++)",
        unit="samples/s",
        ours=side,
        peer=side,
        value=samples_per_second,
        higher_is_better=True,
        num_processes=2,
        peer_processes=1,
        same_work=False,
        **more,
    )


def accumulating_rows():
    """BERT in its usual size: computing is nearly all of it. One window of four batches is measured, after another."""

    def arguments(quick):
        size = ("--rows", 1, "--length", 16) if quick else ("--rows", 8, "--length", 128)
        return "--checkpoint", texts.bert_base(), *size, "--accumulate", 4, "--warmup", 4, "--steps", 4

    return rows_of_both(
        "BERT-base, 4 batches accumulated, 2 processes",
        1.0,
        1.0,
        ours=lambda quick: program("fine_tuning", *arguments(quick)),
        peer=lambda quick: script("fine_tuning", *arguments(quick)),
        num_processes=2,
        unit="samples/s",
        value=samples_per_second,
        higher_is_better=True,
        most_pairs=2,
    )


SMALL = {"words": 512, "n_embd": 64, "n_head": 4, "steps": 200}
LARGE = {"words": 8192, "n_embd": 384, "n_head": 6, "steps": 8, "rows": 4, "length": 128}

TRAINING_ROWS = [
    *language_model_rows("GPT 0.17M", 2.7, 2.2, rows=4, length=32, n_layer=2, **SMALL, **PLAIN_GPT),
    *language_model_rows("GPT 17M", 1.2, 1.08, of_limit=0.8, n_layer=6, **LARGE, **PLAIN_GPT),
    language_model_rows("GPT 0.2M with dropout", None, None, rows=8, length=16, n_layer=3, **SMALL)[0],
    language_model_rows("GPT 17M with dropout", None, None, n_layer=8, **LARGE)[0],
    *fine_tuning_rows(1, 1.7, 1.2),
    *fine_tuning_rows(2, 2.3, 1.7, of_limit=0.75),
    crowding_row("MiniLM, a rank of 2 against 1 alone", lambda quick: minilm(program), target=0.92),
    crowding_row("MiniLM's products, a rank of 2 against 1 alone", products),
    *accumulating_rows(),
]
