"""The Python side of fine_tuning.cpp."""

import argparse
import contextlib

import torch
import transformers
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.utils import set_seed

from side import Stopwatch, report, since_start

BATCHES, LOADS = 4, 5
LEARNING_RATE = 3e-5


def make_batch(index, work):
    first_word = 0 if work.language_model else 1000
    places = torch.arange(work.rows * work.length) + index * work.rows * work.length
    ids = (places * 7919 % work.words + first_word).view(work.rows, work.length)
    labels = ids if work.language_model else torch.arange(work.rows) % 2
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


def load_classifier(checkpoint):
    return transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)


def load(work):
    if work.language_model:
        return transformers.AutoModelForCausalLM.from_pretrained(work.checkpoint)
    return load_classifier(work.checkpoint)


def train(work):
    static = work.accumulate == 1  # torch refuses a static graph whose first backward is not synchronised
    handlers = [DistributedDataParallelKwargs(gradient_as_bucket_view=True, static_graph=static)] if work.tuned else []
    accelerator = Accelerator(gradient_accumulation_steps=work.accumulate, kwargs_handlers=handlers)
    set_seed(0)
    model = load(work)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True if work.tuned else None)
    model, optimizer = accelerator.prepare(model, optimizer)
    model.train()
    losses = []
    for step in range(work.warmup + work.steps):
        if step == work.warmup:
            accelerator.wait_for_everyone()
            stopwatch = Stopwatch()
        with accelerator.accumulate(model) if work.accumulate > 1 else contextlib.nullcontext():
            loss = model(**make_batch(step % BATCHES, work)).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    seconds = stopwatch.seconds() | (since_start() if work.first_step else {})
    report(work=work.steps * work.rows, losses=losses, **seconds)
    accelerator.end_training()


def load_once(checkpoint, use_all):
    """The sum of the first weights, or of all."""
    weights = list(load_classifier(checkpoint).parameters())
    return sum(tensor.sum().item() for tensor in (weights if use_all else weights[:1]))


def load_again_and_again(checkpoint, use_all):
    torch.manual_seed(0)
    stopwatch = Stopwatch()
    total = sum(load_once(checkpoint, use_all) for _ in range(LOADS))
    report(work=LOADS, losses=[total], **stopwatch.seconds())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--language_model", action="store_true")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--words", type=int, default=20011)
    parser.add_argument("--accumulate", type=int, default=1, help="batches that the optimizer's step waits for")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--use_all", action="store_true", help="look at all weights that are loaded, not only the first")
    parser.add_argument("--first_step", action="store_true")
    parser.add_argument("--tuned", action="store_true")
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if options.first_step:
        options.warmup, options.steps = 0, 1
    if options.load:
        load_again_and_again(options.checkpoint, options.use_all)
    else:
        train(options)


if __name__ == "__main__":
    main()
