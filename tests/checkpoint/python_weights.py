"""Writes the weights of a small model in the forms in which Python programs save them.

    python_weights.py DIRECTORY
"""

import argparse
import pathlib
import sys

import torch
from safetensors.torch import save_file


class Net(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))


def main():
    directory = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    net = Net()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.normal_()
    weights = net.state_dict()
    wrapped = {"module." + name: value for name, value in weights.items()}
    compiled = {"module._orig_mod." + name: value for name, value in weights.items()}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1).state_dict()

    save_file(weights, directory / "expected.safetensors")
    for name in ("plain.bin", "plain.pt", "plain.pth", "plain.ckpt", "plain"):
        torch.save(weights, directory / name)
    torch.save(weights, directory / "legacy.pth", _use_new_zipfile_serialization=False)
    save_file(weights, directory / "safe.pt")
    torch.save(weights, directory / "misnamed.safetensors")
    torch.save({"epoch": 3, "state_dict": weights, "optimizer": optimizer}, directory / "nested_state_dict.ckpt")
    torch.save({"model": weights, "optimizer": optimizer, "loss": 0.5}, directory / "nested_model.pth")
    torch.save({"epoch": 3, "model_state_dict": weights}, directory / "nested_model_state_dict.pt")
    torch.save({"epoch": 3, "model": {"state_dict": weights, "size": 2}}, directory / "nested_twice.pt")
    torch.save(wrapped, directory / "wrapped.pth")
    torch.save({"epoch": 3, "state_dict": wrapped}, directory / "nested_wrapped.ckpt")
    torch.save(compiled, directory / "compiled.pt")
    save_file(wrapped, directory / "wrapped.safetensors")

    torch.save(net, directory / "whole_model.pt")
    torch.save({"epoch": 3, "args": argparse.Namespace(lr=0.1), "model": weights}, directory / "with_arguments.pt")
    torch.save({"epoch": 3, "optimizer": optimizer}, directory / "without_weights.pt")
    torch.save([1, 2], directory / "list.pt")
    torch.jit.script(net).save(directory / "script.pt")
    (directory / "text.pth").write_text("weights")
    (directory / "empty.ckpt").write_bytes(b"")


main()
