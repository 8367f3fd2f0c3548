#!/usr/bin/env python3
"""Checks that includes between rooms point one way, as the table in ARCHITECTURE.md says.

Reads every #include of the C++ files below accelerate/, transformers/ and cli/ and reports those that a room may not
have. cmake/public_headers.txt lists the headers that are installed. They include public headers only, none of a
third-party library that a user would have to install, and the examples include nothing else.
"""

import argparse
import pathlib
import re
import sys

# What each room may include besides itself. `torch` marks the rooms that may use libtorch.
ROOMS = {
    "base": set(),
    "process": {"base"},
    "config": {"base"},
    "launch": {"base", "process", "config"},
    "formats": {"base"},
    "durable": {"base", "formats"},
    "tensors": {"base", "formats", "torch"},
    "shared_memory": {"base"},
    "comm": {"base", "process", "shared_memory", "tensors", "torch"},
    "metrics": {"base", "tensors", "comm", "torch"},
    "precision": {"base", "tensors", "comm", "torch"},
    "ranks": {"base", "process", "tensors", "comm", "precision", "torch"},
    "parallel": {"base", "shared_memory", "tensors", "comm", "torch"},
    "data": {"base", "tensors", "comm", "torch"},
    "sharding": {"base", "shared_memory", "tensors", "comm", "parallel", "torch"},
    "train": {"base", "tensors", "comm", "precision", "parallel", "sharding", "torch"},
    "checkpoint": {"base", "formats", "durable", "tensors", "comm", "precision", "data", "train", "torch"},
    "tracking": {"base", "formats"},
    "transformers": {"base", "formats", "tensors", "precision", "torch"},
    "cli": {"base", "process", "config", "formats", "launch"},
}
ROOMS["accelerator"] = set(ROOMS) - {"launch", "transformers", "cli"} | {"torch"}
ROOMS["notebook"] = ROOMS["accelerator"] | {"accelerator", "transformers"}

# Programs beside the rooms: cli/tools holds those commands that need libtorch.
EXCEPTIONS = {"cli/tools": ROOMS["cli"] | {"accelerator", "tensors", "checkpoint", "torch"}}

# What the folders of a room may include of their room besides themselves. An entry stands for the files directly in
# that folder, or for the files whose path starts with it and an extension.
TOKENIZERS = "transformers/tokenizers"
SHARED = {f"{TOKENIZERS}/description", f"{TOKENIZERS}/encoding"}
STAGE = SHARED | {f"{TOKENIZERS}/text"}
FOLDERS = {
    "accelerate/comm/backends": set(),
    "accelerate/comm/failures": set(),
    "accelerate/formats": set(),
    "accelerate/formats/pickle": {"accelerate/formats"},
    "accelerate/formats/safetensors": {"accelerate/formats"},
    "accelerate/formats/zip": {"accelerate/formats"},
    "accelerate/launch": {"accelerate/launch/machines", "accelerate/launch/program", "accelerate/launch/settings"},
    "accelerate/launch/machines": set(),
    "accelerate/launch/program": set(),
    "accelerate/launch/settings": set(),
    "accelerate/tracking/formats": set(),
    "transformers/models": {"transformers"},
    "transformers/schedules": set(),
    TOKENIZERS: {f"{TOKENIZERS}/{stage}" for stage in ("text", "normalizers", "pre_tokenizers", "models",
                                                       "post_processors", "decoders")} | SHARED,
    f"{TOKENIZERS}/description": set(),
    f"{TOKENIZERS}/encoding": set(),
    f"{TOKENIZERS}/text": SHARED,
    f"{TOKENIZERS}/normalizers": STAGE,
    f"{TOKENIZERS}/pre_tokenizers": STAGE | {f"{TOKENIZERS}/normalizers"},
    f"{TOKENIZERS}/models": STAGE,
    f"{TOKENIZERS}/post_processors": STAGE,
    f"{TOKENIZERS}/decoders": STAGE,
    "transformers/text": set(),
    "transformers/inputs": {"transformers/text", TOKENIZERS, f"{TOKENIZERS}/encoding", f"{TOKENIZERS}/text",
                            "transformers/hub_cache"},
    "transformers/hub_cache": set(),
}
# The files of transformers/ itself do not know the folders; the umbrella header includes all of them.
FOLDERS["transformers"] = {"transformers/models", "transformers/hub_cache"}

TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
NOT_INSTALLED = re.compile(r"^(nlohmann|CLI|doctest|gloo)/")
PUBLIC_HEADERS = "cmake/public_headers.txt"
UMBRELLAS = ("accelerate/accelerate.h", "transformers/transformers.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def room_of(path):
    """The room of a file or of an include, both as paths from the repository's root; None outside of the rooms."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "accelerate" and len(parts) > 1:
        return parts[1] if len(parts) > 2 else "accelerator"
    return parts[0] if parts[0] in ("transformers", "cli", "notebook") and len(parts) > 1 else None


def folder_of(path):
    """The entry of FOLDERS that a file belongs to, or None."""
    without_extension = path.rsplit(".", 1)[0]
    return next((entry for entry in (without_extension, path.rsplit("/", 1)[0]) if entry in FOLDERS), None)


def crosses_folders(path, included):
    """Why a file may not include another of its room, or None."""
    folder, target = folder_of(path), folder_of(included)
    if folder is None or target is None or folder == target or path in UMBRELLAS or target in FOLDERS[folder]:
        return None
    return f"{folder} must not include {target}"


def complaints_about(path, text):
    room = room_of(path)
    if room not in ROOMS:
        yield f"{path}: '{room}' is not a room; ARCHITECTURE.md lists them, tools/check_includes.py holds their order"
        return
    allowed = next((rooms for folder, rooms in EXCEPTIONS.items() if path.startswith(folder + "/")), ROOMS[room])
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match[1]
        target = "torch" if TORCH.match(included) else room_of(included)
        if target and target != room and target not in allowed:
            yield (f"{path}:{number}: {room} must not include {target} ({included}); "
                   f"it may include {', '.join(sorted(allowed)) or 'nothing'}")
        elif target == room and (reason := crosses_folders(path, included)):
            yield f"{path}:{number}: {reason} ({included})"


def complaints_about_public(root):
    """Includes of public headers and examples that an installed library does not have."""
    listed = (root / PUBLIC_HEADERS).read_text().split()
    public = set(listed)
    if listed != sorted(public):
        yield f"{PUBLIC_HEADERS}: not sorted, or a header is listed twice"
    yield from (f"{PUBLIC_HEADERS}: there is no {path}" for path in listed if not (root / path).is_file())
    examples = [path.relative_to(root).as_posix() for path in sorted((root / "examples").rglob("*.cpp"))]
    included_by = {path: includes_of(root / path) for path in listed + examples if (root / path).is_file()}
    for path, includes in included_by.items():
        for number, included in includes:
            if room_of(included) and included not in public:
                yield f"{path}:{number}: {included} is not public; {PUBLIC_HEADERS} lists what is installed"
            if path in public and NOT_INSTALLED.match(included):
                yield f"{path}:{number}: an installed header must not need {included}; include it in the .cpp"
    reached = set(UMBRELLAS)
    waiting = list(UMBRELLAS)
    while waiting:
        new = {included for _, included in included_by.get(waiting.pop(), ())} & public - reached
        reached |= new
        waiting += new
    yield from (f"{PUBLIC_HEADERS}: no umbrella header brings {path}; it can be private" for path in public - reached)


def includes_of(path):
    matches = ((number, INCLUDE.match(line)) for number, line in enumerate(path.read_text().splitlines(), start=1))
    return [(number, match[1]) for number, match in matches if match]


def sources(root):
    for folder in ("accelerate", "transformers", "cli", "notebook"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parent.parent)
    root = parser.parse_args().root
    files = list(sources(root))
    if not files:
        sys.exit(f"{root}: no sources found")
    complaints = [c for f in files for c in complaints_about(f.relative_to(root).as_posix(), f.read_text())]
    if (root / PUBLIC_HEADERS).is_file():
        complaints += complaints_about_public(root)
    print("\n".join(complaints + [f"{len(files)} files, {len(complaints)} complaints"]))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
