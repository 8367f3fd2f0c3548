#!/usr/bin/env python3
"""Writes small files of each kind that a fuzz target reads, with the packages that write them.

  make_corpus.py DIRECTORY    writes DIRECTORY/{pickle,safetensors,shard_index,zip}/*
"""

import collections
import io
import json
import pathlib
import pickle
import random
import sys
import zipfile

import numpy
import torch
from safetensors.torch import save


def torch_objects():
    weight = torch.arange(6.0).reshape(2, 3)
    random.seed(0)
    return {
        "plain": [None, True, -1, 70000, 2**70, 0.5, "text", b"\xff", (1, 2, 3), {1}],
        "optimizer": {"state": {0: {"step": torch.tensor(1.0), "exp_avg": weight}},
                      "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999), "params": [0]}]},
        "state_dict": torch.nn.Linear(2, 1).state_dict(),
        "shared": [weight, weight.t(), torch.nn.Parameter(weight)],
        "young_types": [weight.to(torch.uint16), weight.to(torch.float8_e4m3fn)],
        "random_states": {"numpy": numpy.random.RandomState(0).get_state()[1][:4], "scalar": numpy.float64(1)},
        "containers": [collections.defaultdict(list), collections.Counter("aab"), torch.Size([1])],
    }


def write(directory, name, content):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


def write_torch_files(root):
    for name, value in torch_objects().items():
        for protocol in (2, 4):
            file = io.BytesIO()
            torch.save(value, file, pickle_protocol=protocol)
            with zipfile.ZipFile(file) as archive:
                write(root / "pickle", f"{name}_{protocol}", archive.read("archive/data.pkl"))
        write(root / "zip", name, file.getvalue())
    write(root / "pickle", "protocol_5", pickle.dumps({"a": [1, "b", b"c"] * 3}, 5))


def write_others(root):
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("name", "content")
        archive.comment = b"comment"
    write(root / "zip", "python", plain.getvalue())
    tensors = {"w": torch.ones(2, 3), "ids": torch.arange(2), "flag": torch.ones(3, dtype=torch.bool), "none": torch.ones(0)}
    write(root / "safetensors", "tensors", save(tensors, {"format": "pt"}))
    write(root / "safetensors", "empty", save({}))
    index = {"metadata": {"total_size": 4}, "weight_map": {f"layer.{i}": f"model-{i}-of-2.safetensors" for i in (1, 2)}}
    write(root / "shard_index", "index", json.dumps(index, indent=2).encode())
    write(root / "shard_index", "elsewhere", b'{"weight_map": {"a": "../b.safetensors"}}')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    write_torch_files(root)
    write_others(root)


if __name__ == "__main__":
    main()
