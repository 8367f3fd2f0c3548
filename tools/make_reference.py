#!/usr/bin/env python3
"""Writes the API reference, a page for each room, from the `///` contracts of the public headers.

    tools/make_reference.py --output build/docs/reference
    tools/make_reference.py --check      every class and free function of the libraries has a contract

A contract covers the declaration below it and those that follow without an empty line between. A comment at the end of
a line serves a member as its contract, and the sentence at the top of a file the class that the file is named after.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:enum\s+class|enum|class|struct)\s+(?:\[\[.*?\]\]\s*)?([\w:]+)")
HIDDEN = re.compile(r"^(using namespace|using [\w:]+$|friend|static_assert|extern|namespace \w+ =)|"
                    r"\boverride\b|= (delete|default)$|^(template\s*<.*>\s*)?(explicit )?\w+\(.*\) -> ")
NOT_CHECKED = ("accelerate/launch/", "accelerate/process/", "accelerate/comm/gloo_headers/")
OUT_OF_CLASS = re.compile(r"\w(<[^()]*>)?::~?(\w+|operator\W+)\s*\(")


@dataclasses.dataclass
class Declaration:
    text: str
    contract: str
    covered: bool  # by a contract of its own or of the group it stands in
    line: int
    owner: str = ""  # the type it is a member of
    is_type: bool = False

    def is_function(self):
        if re.match(r"template\s*<.*>\s*concept\b", self.text):
            return False
        head = re.sub(r"<[^()]*>", "", self.text)
        return "(" in head and not head.startswith("using ") and not re.match(r"[^(]*[^=!<>]=[^=]", head)

    def needs_contract(self):
        """Structs of options and enums say it with their fields; members stand below the contract of their class."""
        if self.owner:
            return False
        if self.is_type:
            return bool(re.match(r"(template\s*<.*>\s*)?class\b", self.text))
        return self.is_function() and "operator" not in self.text


@dataclasses.dataclass
class Header:
    path: str
    summary: str
    declarations: list


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def skip_braces(text, start):
    """The position after the brace that closes the one at `start`; braces in strings and comments do not count."""
    depth = 0
    for match in re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*|[{}]').finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


TOKEN = re.compile(r'(?P<doc>///[^\n]*)|//[^\n]*|(?P<hash>^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)|(?P<string>"(?:\\.|[^"\\])*")|'
                   r"(?P<access>\b(?:public|private|protected)\s*:(?!:))|(?P<blank>\n[ \t]*(?=\n))|(?P<char>.|\n)",
                   re.M | re.S)


def parse(path, text):
    """Reads a header of ours: it knows our layout, not all of C++."""
    comment = re.search(r"#pragma once\s+((?://[^\n]*\n)+)", text)
    lines = comment[1].splitlines() if comment else []
    header = Header(path, "\n".join(line[2:].removeprefix(" ") for line in lines), [])
    scopes = []  # (kind, name, whether what follows is public)
    contract, statement, line, covered, position, parens = [], "", 0, False, 0, 0
    while match := TOKEN.match(text, position):
        position = match.end()
        kind, token = match.lastgroup, match[0]
        if kind == "doc":
            contract.append(token[3:].removeprefix(" "))
        elif kind == "access":
            scopes[-1] = (*scopes[-1][:2], token.startswith("public"))
            covered = False
        elif kind == "blank":
            covered = covered and bool(statement.strip())
        elif kind == "string" or (kind == "char" and (token not in "{};" or parens > 0)):
            line = line or (text.count("\n", 0, position) + 1 if token.strip() else 0)
            statement += token
            parens += {"(": 1, ")": -1}.get(token, 0)
            if parens > 0 and token == "{":
                end = skip_braces(text, position - 1)
                statement, position = statement + text[position:end], end
        elif kind == "char":
            head = squeeze(statement)
            named = TYPE.match(head)
            visible = all(public for *_, public in scopes)
            owner = "::".join(name for scope, name, _ in scopes if scope == "type")
            body_start, opens_scope = position - 1, False
            if token == "{" and (head.startswith("namespace") or head == 'extern "C"'):
                name = head.removeprefix("namespace").strip()
                scopes.append(("namespace", name, bool(name) and not re.search(r"detail|internal", name)))
                opens_scope = True
            elif token == "{" and named and "(" not in head.split(named[1], 1)[1].split(":")[0]:
                is_enum = head.startswith("enum")
                if is_enum:
                    position = skip_braces(text, body_start)
                    head += " " + squeeze(re.sub(r"//[^\n]*", "", text[body_start:position]))
                names_the_file = named[1].lower() == pathlib.PurePosixPath(path).stem.replace("_", "")
                covered = bool(contract) or covered or names_the_file
                if visible and "::" not in named[1]:
                    header.declarations.append(
                        Declaration(head, "\n".join(contract), covered, line, owner, is_type=True))
                if not is_enum:
                    is_class = re.match(r"(template\s*<.*>\s*)?class\b", head)
                    scopes.append(("type", named[1], not is_class and "::" not in named[1]))
                    opens_scope = True
            elif token == "}":
                if scopes:
                    scopes.pop()
            elif head and head != "}":
                if token == "{":
                    position = skip_braces(text, body_start)
                    head = re.sub(r"\)\s*:\s.*", ")", head)  # without a constructor's initializers
                forward = named and token == ";" and "(" not in head and "=" not in head
                defined_elsewhere = not owner and OUT_OF_CLASS.search(head.split("=")[0])
                if visible and not forward and not defined_elsewhere and not HIDDEN.search(head):
                    covered = bool(contract) or covered
                    if not contract and (comment := re.compile(r";?[ \t]*// ?([^\n]*)").match(text, position)):
                        contract = [comment[1]]
                    header.declarations.append(Declaration(head, "\n".join(contract), covered, line, owner))
            if opens_scope:
                covered = False
            contract, statement, line = [], "", 0
    return header


def headers_of(root):
    """The headers of both libraries."""
    for folder in ("accelerate", "transformers"):
        for path in sorted((root / folder).rglob("*.h")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(NOT_CHECKED):
                yield parse(name, path.read_text())


def room_of(path):
    parts = pathlib.PurePosixPath(path).parts
    return parts[0] if parts[0] == "transformers" else parts[1] if len(parts) > 2 else "accelerator"


def page(room, headers):
    lines = [f"# {room}", ""]
    for header in headers:
        if not header.declarations:
            continue
        lines += [f"## `#include <{header.path}>`", "", header.summary, ""]
        for d in header.declarations:
            if d.is_type and not d.owner:
                lines += ["", f"### `{d.text}`", "", d.contract, ""]
            elif d.owner:
                lines += [f"- `{d.text}`" + (f"  \n  {squeeze(d.contract)}" if d.contract else "")]
            else:
                lines += ["", "```cpp", d.text, "```", "", d.contract, ""]
        lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--output", type=pathlib.Path, help="the directory to write the pages to")
    parser.add_argument("--check", action="store_true", help="fail where a contract is missing")
    arguments = parser.parse_args()

    all_headers = list(headers_of(arguments.root))
    public = set((arguments.root / "cmake/public_headers.txt").read_text().split())
    rooms = {}
    for header in all_headers:
        if header.path in public:
            rooms.setdefault(room_of(header.path), []).append(header)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        for room, headers in rooms.items():
            (arguments.output / f"{room}.md").write_text(page(room, headers))
        index = "".join(f"- [{room}]({room}.md)\n" for room in rooms)
        (arguments.output / "index.md").write_text(f"# Reference\n\nOne page for each room.\n\n{index}")
        print(f"{len(rooms)} pages in {arguments.output}")
    if arguments.check:
        declarations = [(h.path, d) for h in all_headers for d in h.declarations]
        missing = [f"{path}:{d.line}: no /// contract for {d.text[:90]}" for path, d in declarations
                   if d.needs_contract() and not d.covered]
        number = len(declarations)
        print("\n".join(missing + [f"{number} declarations, {len(missing)} without a contract"]))
        sys.exit(1 if missing or number == 0 else 0)


if __name__ == "__main__":
    main()
