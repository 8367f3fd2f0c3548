"""MiniLM with its real weights, fine-tuned on real reviews for 20 steps on 1 and 2 ranks. Usage: make_reference.py OUTPUT.json

Dropout, AdamW and a linear schedule, as in the tutorial. `tools/setup.sh assets` fetches weights and reviews.
"""

import csv
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

TOLERANCE = 1e-3  # between machines, whose vector units sum in different orders; on one machine the bits are equal
WORLD_SIZES = (1, 2)
STEPS = 20
BATCH_SIZE = 8
LEARNING_RATE = 3e-5
SEED = 42
ASSETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", ".assets")
CHECKPOINT = os.path.join(ASSETS, "minilm")


def make_loader(tokenizer, samples):
    import torch
    from transformers import DataCollatorWithPadding

    with open(os.path.join(ASSETS, "demo", "rotten_tomatoes_train.tsv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[:samples]
    features = [tokenizer(row["text"], truncation=True) | {"label": int(row["label"])} for row in rows]
    return torch.utils.data.DataLoader(
        features, batch_size=BATCH_SIZE, shuffle=True, collate_fn=DataCollatorWithPadding(tokenizer)
    )


def train(fused):
    import torch
    import transformers
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import set_seed

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    AcceleratorState._reset_state(False)
    accelerator = Accelerator()
    set_seed(SEED)
    tokenizer = transformers.AutoTokenizer.from_pretrained(CHECKPOINT)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=fused)
    loader = make_loader(tokenizer, STEPS * BATCH_SIZE * accelerator.num_processes)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    scheduler = transformers.get_scheduler("linear", optimizer, num_warmup_steps=0, num_training_steps=STEPS)
    set_seed(SEED, device_specific=True)  # each rank drops other units
    model.train()
    losses = []
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def work(accelerator):
    losses = {"fused": train(True)}
    if accelerator.num_processes == 1:
        losses["not fused"] = train(False)
    return losses


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    world_sizes = {str(world_size): run_on_ranks(work, world_size) for world_size in WORLD_SIZES}
    write_reference({"tolerance": TOLERANCE, "world_sizes": world_sizes})
