#!/usr/bin/env python3
"""Writes torch files with torch.save, or checks with torch.load that what C++ wrote is the same.

  torch_files.py write DIRECTORY    writes zip.pt, legacy.pt, protocol4.pt, state_dict.bin and object.pt
  torch_files.py check DIRECTORY    reads ours.pt and ours.pkl
"""

import collections
import pathlib
import random
import sys

import accelerate.utils
import numpy
import torch

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
          torch.uint8, torch.bool, torch.complex64, torch.complex128]
YOUNG_DTYPES = [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def tensors(dtypes):
    return {name_of(dtype): torch.arange(6).to(dtype).reshape(2, 3) for dtype in dtypes}


def values(dtypes):
    base = torch.arange(12, dtype=torch.float32)
    return {
        "tensors": tensors(dtypes),
        "base": base,
        "transposed": base.reshape(3, 4).t(),
        "slice": base[2:8:2],
        "expanded": torch.ones(1).expand(3),
        "empty": torch.empty(0, 5),
        "scalar": torch.tensor(1.5),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "plain": [1, 2.5, "text", None, True, (1, 2), 2**70, b"\x00\xff"],
        "by_number": {0: {"step": torch.tensor(3.0)}},
    }


def random_states():
    random.seed(5)
    numpy.random.seed(6)
    return {
        "step": 7,
        "random_state": random.getstate(),
        "numpy_random_seed": numpy.random.get_state(),
        "torch_manual_seed": torch.Generator().manual_seed(8).get_state(),
    }


class Custom:
    pass


def write(directory):
    torch.save(values(DTYPES + YOUNG_DTYPES), directory / "zip.pt")
    torch.save(values(DTYPES), directory / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(values(DTYPES), directory / "protocol4.pt", pickle_protocol=4)
    torch.manual_seed(0)
    model = torch.nn.Sequential(collections.OrderedDict(first=torch.nn.Linear(2, 3), norm=torch.nn.BatchNorm1d(3)))
    torch.save(model.state_dict(), directory / "state_dict.bin")
    torch.save({"object": Custom()}, directory / "object.pt")
    torch.save(random_states(), directory / "random_states.pkl")
    torch.save(numpy.float64(0.25), directory / "numpy_scalar.pt")


def same(ours, theirs, path="value"):
    assert type(ours) is type(theirs), (path, type(ours), type(theirs))
    if isinstance(theirs, torch.Tensor):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.stride() == theirs.stride(), path
        assert ours.requires_grad == theirs.requires_grad, path
        as_bytes = lambda tensor: tensor.detach().contiguous().view(torch.uint8) if tensor.dim() else tensor.detach()
        assert torch.equal(as_bytes(ours), as_bytes(theirs)), path
    elif isinstance(theirs, numpy.ndarray):
        assert ours.dtype == theirs.dtype and (ours == theirs).all(), path
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), path
        for key in theirs:
            same(ours[key], theirs[key], f"{path}[{key!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), path
        for i in range(len(theirs)):
            same(ours[i], theirs[i], f"{path}[{i}]")
    else:
        assert ours == theirs, path


def check(directory):
    # What C++ loaded from the files of write() and saved again. A parameter is an ordinary tensor there.
    wanted = values(DTYPES + YOUNG_DTYPES)
    wanted["parameter"] = torch.ones(2, requires_grad=True)
    for mmap in (False, True):
        ours = torch.load(directory / "ours.pt", weights_only=True, mmap=mmap)
        same(ours, wanted)
        for name in ("transposed", "slice"):
            assert ours[name].untyped_storage().data_ptr() == ours["base"].untyped_storage().data_ptr(), name
    same(torch.load(directory / "ours_state_dict.bin", weights_only=True),
         torch.load(directory / "state_dict.bin", weights_only=True))
    same(accelerate.utils.load(directory / "ours.pkl", weights_only=True), random_states())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
