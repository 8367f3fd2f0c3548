#!/usr/bin/env python3
"""Writes small checkpoints with random weights, and what Python's Transformers computes with them.

  make_checkpoints.py DIRECTORY

Each case gets a directory: checkpoint/ (what save_pretrained writes), results.safetensors (inputs, logits, loss, gradients,
the hidden state of the model without its head, the losses of a few training steps with dropout, and the weights of a new model) and parameters.txt (the
names in the order of the model).
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

from cases import CASES

LEARNING_RATE = 0.05
TRAINING_STEPS = 3


def inputs_of(case, config):
    """Ids without the padding's own, padded on the side and by the lengths that the case names."""
    generator = torch.Generator().manual_seed(1)
    lengths = case.lengths
    pad = config.pad_token_id
    first = 3 if pad is not None and pad < 3 else 0
    ids = torch.randint(first, config.vocab_size, (len(lengths), max(lengths)), generator=generator)
    if pad is not None:
        ids[ids == pad] = first + 1
    mask = torch.ones_like(ids)
    for row, length in enumerate(lengths):
        padding = slice(length, None) if case.padding_side == "right" else slice(0, max(lengths) - length)
        mask[row, padding] = 0
        if pad is not None:
            ids[row, padding] = pad
    inputs = {"input_ids": ids}
    if case.with_mask:
        inputs["attention_mask"] = mask
    if case.token_types:
        inputs["token_type_ids"] = torch.randint(0, 2, ids.shape, generator=generator) * mask
    inputs["labels"] = case.make_labels(len(lengths), ids, generator)
    return inputs


def keep_weights(checkpoint, part):
    file = checkpoint / "model.safetensors"
    kept = {name: value for name, value in load_file(file).items() if part in name}
    save_file(kept, file, metadata={"format": "pt"})


def drop_defaults(checkpoint, config_class):
    file = checkpoint / "config.json"
    defaults = config_class().to_dict()
    config = {key: value for key, value in json.loads(file.read_text()).items()
              if key == "model_type" or key not in defaults or value != defaults[key]}
    file.write_text(json.dumps(config))


def to_torch_files(model, checkpoint, form):
    """Writes what older versions of Transformers did: pytorch_model.bin or its shards, tied weights twice."""
    is_zip = form == "zip"
    index = checkpoint / "model.safetensors.index.json"
    if index.exists():
        text = index.read_text().replace("model-", "pytorch_model-").replace(".safetensors", ".bin")
        (checkpoint / "pytorch_model.bin.index.json").write_text(text)
        index.unlink()
    for file in checkpoint.glob("model*.safetensors"):
        weights = load_file(file) if "-of-" in file.name else model.state_dict()
        torch.save(weights, checkpoint / f"pytorch_{file.stem}.bin", _use_new_zipfile_serialization=is_zip)
        file.unlink()


def loss_of(model, inputs):
    outputs = model(**inputs)
    return outputs.loss, outputs.logits


def write_case(case, directory):
    torch.manual_seed(0)
    config = case.make_config()
    model = case.model_class(config)
    with torch.no_grad():  # norms and biases too, which would otherwise be ones and zeros
        for parameter in model.parameters():
            parameter.normal_(0, 0.2)
    model.to(case.dtype)
    if case.checkpoint_of_base:
        model.base_model.save_pretrained(directory / "checkpoint")
    else:
        model.save_pretrained(directory / "checkpoint", max_shard_size=case.max_shard_size)

    if case.without_defaults:
        drop_defaults(directory / "checkpoint", type(config))

    if case.kept:
        keep_weights(directory / "checkpoint", case.kept)

    if case.torch_file:
        to_torch_files(model, directory / "checkpoint", case.torch_file)

    torch.manual_seed(4)
    new = case.model_class._from_config(type(config).from_pretrained(directory / "checkpoint"))
    results = {"new." + name: parameter.detach() for name, parameter in new.named_parameters()}
    results["number_after_new"] = torch.rand(1)

    torch.manual_seed(2)
    model = case.model_class.from_pretrained(directory / "checkpoint", num_labels=config.num_labels)
    inputs = inputs_of(case, config)
    results |= {"input." + name: value for name, value in inputs.items()}
    with torch.no_grad():
        inputs_of_base = {name: value for name, value in inputs.items() if name != "labels"}
        results["last_hidden_state"] = model.base_model(**inputs_of_base).last_hidden_state
    loss, logits = loss_of(model, inputs)
    loss.backward()
    results |= {"loss": loss.detach(), "logits": logits.detach()}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            results["gradient." + name] = parameter.grad.clone()

    model.train()
    torch.manual_seed(3)
    losses = []
    for _ in range(TRAINING_STEPS):
        model.zero_grad()
        loss, _ = loss_of(model, inputs)
        loss.backward()
        losses.append(loss.detach())
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter.add_(parameter.grad, alpha=-LEARNING_RATE)
    results["training_losses"] = torch.stack(losses)
    save_file({name: value.contiguous() for name, value in results.items()}, directory / "results.safetensors")
    (directory / "parameters.txt").write_text("".join(name + "\n" for name, _ in model.named_parameters()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for case in CASES:
        directory = pathlib.Path(sys.argv[1]) / case.name
        directory.mkdir(parents=True, exist_ok=True)
        write_case(case, directory)


if __name__ == "__main__":
    main()
