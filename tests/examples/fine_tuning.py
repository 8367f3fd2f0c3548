"""A small fine-tuning that learns in seconds: its checkpoint, its texts, and the same training in Python.

    fine_tuning.py make FOLDER     writes a checkpoint with random weights and labelled texts
    fine_tuning.py train FOLDER    trains on one process as nlp_example does, and prints the same lines
"""

import csv
import json
import pathlib
import random
import sys

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
GOOD, BAD = "good great lovely fine brilliant".split(), "bad dull awful poor boring".split()
OTHER = "a the film story plot is was very and it of actors scene music end".split()
SEED, BATCH_SIZE, EVAL_BATCH_SIZE, NUM_EPOCHS, LEARNING_RATE = 42, 16, 32, 3, 1e-3
NUM_EVAL_TEXTS = 150


def write_texts(path, count, generator):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(["label", "text"])
        for _ in range(count):
            label = generator.randrange(2)
            words = generator.choices(OTHER, k=generator.randrange(8)) + generator.choices((BAD, GOOD)[label], k=4)
            generator.shuffle(words)
            rows.writerow([label, " ".join(words)])


def make(folder):
    import torch
    from transformers import BertConfig, BertModel

    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(parents=True, exist_ok=True)
    vocab = SPECIAL + GOOD + BAD + OTHER
    (checkpoint / "vocab.txt").write_text("\n".join(vocab) + "\n")
    tokenizer = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    (checkpoint / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "model_max_length": 32, **tokenizer}))
    torch.manual_seed(1)
    config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=32, initializer_range=0.2)
    BertModel(config).save_pretrained(checkpoint)
    generator = random.Random(2)
    write_texts(folder / "train.tsv", 401, generator)
    write_texts(folder / "eval.tsv", NUM_EVAL_TEXTS, generator)


def train(folder):
    import torch
    from accelerate import Accelerator
    from accelerate.utils import set_seed
    from torch.utils.data import DataLoader
    from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                              get_scheduler)

    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    set_seed(SEED)
    tokenizer = AutoTokenizer.from_pretrained(folder / "checkpoint")

    def batches(name, **options):
        with open(folder / f"{name}.tsv", newline="") as file:
            rows = [dict(tokenizer(row["text"], truncation=True), labels=int(row["label"]))
                    for row in csv.DictReader(file, delimiter="\t")]
        return DataLoader(rows, collate_fn=DataCollatorWithPadding(tokenizer), **options)

    generator = torch.Generator().manual_seed(SEED)
    train = batches("train", batch_size=BATCH_SIZE, shuffle=True, generator=generator)
    eval = batches("eval", batch_size=EVAL_BATCH_SIZE)
    model = AutoModelForSequenceClassification.from_pretrained(folder / "checkpoint", num_labels=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)
    train, eval, model, optimizer = accelerator.prepare(train, eval, model, optimizer)
    scheduler = get_scheduler("linear", optimizer, num_warmup_steps=0, num_training_steps=NUM_EPOCHS * len(train))

    def evaluate(when):
        model.eval()
        pairs = []
        for batch in eval:
            with torch.no_grad():
                predictions = model(**batch).logits.argmax(-1)
            pairs += zip(*(part.tolist() for part in accelerator.gather_for_metrics((predictions, batch["labels"]))))
        correct = sum(prediction == label for prediction, label in pairs)
        both = sum(prediction == label == 1 for prediction, label in pairs)
        named = sum(prediction + label for prediction, label in pairs)
        print(f"{when}:", {"accuracy": correct / len(pairs), "f1": 2 * both / max(1, named)})

    evaluate("before")
    for epoch in range(NUM_EPOCHS):
        model.train()
        for batch in train:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        evaluate(f"epoch {epoch + 1}")


def options(folder):
    """The command line with which the C++ programs do the same."""
    return ["--checkpoint", folder / "checkpoint", "--train_file", folder / "train.tsv", "--eval_file", folder / "eval.tsv",
            "--num_epochs", NUM_EPOCHS, "--batch_size", BATCH_SIZE, "--eval_batch_size", EVAL_BATCH_SIZE,
            "--learning_rate", LEARNING_RATE, "--seed", SEED]


if __name__ == "__main__":
    {"make": make, "train": train}[sys.argv[1]](pathlib.Path(sys.argv[2]))
