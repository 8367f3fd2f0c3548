"""The first half of resume_from_python.cpp, in Python: trains the network of the image examples for an epoch and saves a checkpoint.

    build/bin/accelerate launch --num_processes 2 examples/by_feature/resume_from_python.py --output_dir python_run
"""

import argparse
import gzip

import numpy
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn


class ConvNet(nn.Module):
    """The names of the layers are those of the C++ network, so that the weights find their places."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.hidden = nn.Linear(32 * 7 * 7, 128)
        self.output = nn.Linear(128, 10)

    def forward(self, pixels):
        x = pixels.float().div(255)
        x = torch.max_pool2d(self.first(x).relu(), 2)
        x = torch.max_pool2d(self.second(x).relu(), 2)
        return self.output(self.hidden(x.flatten(1)).relu())


def read_fashion_mnist(part, num_samples):
    """The same pictures as in C++: from Debian's package dataset-fashion-mnist."""

    def read(name, header_bytes, *sizes):
        with gzip.open(f"/usr/share/datasets/fashion-mnist/{part}-{name}.gz") as file:
            file.seek(header_bytes)
            data = numpy.frombuffer(file.read(int(numpy.prod(sizes))), dtype=numpy.uint8)
        return torch.from_numpy(data.copy()).reshape(sizes)

    pixels = read("images-idx3-ubyte", 16, num_samples, 1, 28, 28)
    return torch.utils.data.TensorDataset(pixels, read("labels-idx1-ubyte", 8, num_samples).long())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_dir", required=True)
    parser.add_argument("--num_samples", type=int, default=12000)
    arguments = parser.parse_args()
    accelerator = Accelerator(cpu=True)
    set_seed(42)

    train = torch.utils.data.DataLoader(read_fashion_mnist("train", arguments.num_samples), batch_size=64, shuffle=True)
    test = torch.utils.data.DataLoader(read_fashion_mnist("t10k", 10000), batch_size=256)
    model = ConvNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train, test, model, optimizer = accelerator.prepare(train, test, model, optimizer)

    model.train()
    for pixels, labels in train:
        loss = nn.functional.cross_entropy(model(pixels), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()

    model.eval()
    correct = []
    with torch.no_grad():
        for pixels, labels in test:
            correct.append(accelerator.gather_for_metrics(model(pixels).argmax(1) == labels))
    correct = torch.cat(correct)
    accelerator.print("epoch 0 accuracy", correct.float().mean().item(), "on", len(correct), "pictures")
    accelerator.save_state(arguments.output_dir)
    accelerator.end_training()


if __name__ == "__main__":
    main()
