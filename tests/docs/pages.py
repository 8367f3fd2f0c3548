"""The code on the pages: README.md and all of docs/, block by block.

CONTRIBUTING.md tells the convention for those who write pages; this module is the convention itself.
"""

import dataclasses
import pathlib
import re
import sys

FENCE = re.compile(r"^```(\S*)\s*$")
HIDDEN = re.compile(r"^<!-- cpp\s*$")
DIRECTIVE = re.compile(r"^<!-- test: (.*) -->\s*$")
DIRECTIVES = re.compile(r"compile only: \S.*|\d+ processes")

# What a block in a language is for. Those without a test of their own are read by people only.
LANGUAGES = {"cpp", "cmake", "sh", "", "text", "diff", "python", "json", "yaml"}

DECLARATION = re.compile(r"#include\b|(struct|class|enum|template|namespace|using|inline|static|extern|constexpr)\b|TORCH_MODULE")
KEYWORD = re.compile(r"(for|if|while|switch|do|try|else|return)\b")
FUNCTION = re.compile(r"[\w:<>,&*\s]+[\s&*]\w+\s*\([^{}]*\)\s*(const|noexcept)?\s*", re.DOTALL)
MAIN = re.compile(r"^int main\((.*)\) \{$", re.MULTILINE)
LOOKS_LIKE_CPP = re.compile(r"^.*(;|\{)\s*(//.*)?$")


class PageError(Exception):
    pass


@dataclasses.dataclass
class Block:
    page: str  # its path in the repository
    line: int  # of the page, where the code begins
    language: str
    code: str
    directive: str = ""  # "compile only: reason" or "2 processes"
    hidden: bool = False  # in a comment of the page

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def name(self):
        return re.sub(r"\W", "_", self.page.removesuffix(".md")) + f"_{self.line}"

    @property
    def is_program(self):
        return MAIN.search(self.code) is not None

    @property
    def has_only_includes(self):
        lines = [line for line in self.code.splitlines() if line.strip()]
        return bool(lines) and all(line.startswith("#include") for line in lines)


@dataclasses.dataclass
class Program:
    name: str
    page: str
    parts: list  # the first has the includes; further ones stand in main
    directive: str = ""


def read_blocks(root, path):
    page, lines = str(path.relative_to(root)), path.read_text().splitlines()
    blocks, directive, at = [], "", 0
    while at < len(lines):
        fence, hidden = FENCE.match(lines[at]), HIDDEN.match(lines[at])
        if found := DIRECTIVE.match(lines[at]):
            directive = found[1]
            if not DIRECTIVES.fullmatch(directive):
                raise PageError(f"{page}:{at + 1}: '{directive}' is none of the directives 'compile only: <reason>' and 'N processes'")
        elif fence or hidden:
            end = "```" if fence else "-->"
            begin = at + 1
            at = next((i for i in range(begin, len(lines)) if lines[i].rstrip() == end), None)
            if at is None:
                raise PageError(f"{page}:{begin}: the block has no end")
            blocks.append(Block(page, begin + 1, fence[1] if fence else "cpp",
                                "".join(line + "\n" for line in lines[begin:at]), directive, bool(hidden)))
            directive = ""
        elif lines[at].strip():
            directive = ""  # it belongs to the block right below
        at += 1
    return blocks


def pages(root):
    """All pages but translations (name.ja.md), which have the code of the original."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in found if not re.search(r"\.[a-z]{2}\.md$", path.name)]


def translations(root):
    return [(path.with_name(path.name[:-6] + ".md"), path) for path in sorted((root / "docs").rglob("*.??.md"))]


def check(block):
    """Every block has to be of a kind that some test knows."""
    if block.language not in LANGUAGES:
        raise PageError(f"{block.place}: '{block.language}' is none of the languages {', '.join(sorted(LANGUAGES - {''}))}")
    if block.language in ("", "sh"):
        for line in block.code.splitlines():
            if LOOKS_LIKE_CPP.match(line):
                raise PageError(f"{block.place}: '{line.strip()}' looks like C++; begin the block with ```cpp, or with ```text "
                                "where it is output")
    if block.directive and (block.language != "cpp" or not (block.is_program or block.has_only_includes)):
        raise PageError(f"{block.place}: the directive '{block.directive}' is for programs; other blocks are compiled and not run")


def chunks(code):
    """The code's declarations and statements, each with the number of lines before it. One begins at the left margin, outside
    of braces, and comments belong to what follows them."""
    lines, result = code.splitlines(), []
    begin, depth, seen_code = 0, 0, False
    for i, line in enumerate(lines):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'.\'|//.*', "", line)
        begins = bool(line) and depth == 0 and not line[0].isspace() and line[0] not in ")}"
        if begins and seen_code:
            result.append((begin, "\n".join(lines[begin:i]) + "\n"))
            begin, seen_code = i, False
        if begins and not line.startswith("//"):
            seen_code = True
        depth += sum(bare.count(c) for c in "({") - sum(bare.count(c) for c in ")}")
    result.append((begin, "\n".join(lines[begin:]) + "\n"))
    return result


def is_declaration(chunk):
    """Whether it stands outside of functions: a type, an include, or a function itself."""
    code = re.sub(r"^\s*//.*\n", "", chunk, flags=re.MULTILINE).lstrip()
    if DECLARATION.match(code):
        return True
    return "{" in code and not KEYWORD.match(code) and FUNCTION.fullmatch(code.split("{", 1)[0]) is not None


def without_dots(code):
    """A line of three dots stands for what a page leaves out."""
    return re.sub(r"^\s*\.\.\.$", "", code, flags=re.MULTILINE)


def programs_and_fragments(blocks):
    """Returns the programs, and the blocks that are compiled but not run. A block with includes only begins a program, whose
    main is made of the blocks below, up to the next one with an include."""
    programs, fragments, opened = [], [], None
    for block in blocks:
        if block.language != "cpp":
            continue
        if block.is_program:
            programs.append(Program(block.name, block.page, [block], block.directive))
            opened = None
        elif block.has_only_includes:
            opened = Program(block.name, block.page, [block], block.directive)
            programs.append(opened)
        elif "#include" in block.code or opened is None:
            opened = None
            fragments.append(block)
        else:
            opened.parts.append(block)
    return programs, fragments


def check_diffs(blocks, programs):
    """A page's diffs lead from its first program to its second."""
    for block in blocks:
        if block.language != "diff":
            continue
        texts = ["".join(part.code for part in program.parts) for program in programs[:2]]
        if len(texts) < 2:
            raise PageError(f"{block.place}: a diff needs two programs on its page")
        for line in block.code.splitlines():
            if line[:1] in "+-" and line[1:].strip() not in texts[line[0] == "+"]:
                raise PageError(f"{block.place}: '{line}' is not in the program it belongs to")


def check_translation(root, original, other):
    blocks, other_blocks = ([(block.language, block.code) for block in read_blocks(root, path)] for path in (original, other))
    if blocks != other_blocks:
        different = next((b for a, b in zip(blocks, other_blocks) if a != b), "the number of blocks")
        raise PageError(f"{other} does not have the code of {original}: {different}")


def cmake_projects(blocks):
    """Pairs of a block for CMake and the program above it that it builds."""
    result, program = [], None
    for block in blocks:
        if block.language == "cpp" and block.is_program:
            program = block
        elif block.language == "cmake":
            if program is None or not re.search(r"add_executable\(\w+ \w+\.cpp\)", block.code):
                raise PageError(f"{block.place}: a block for CMake stands below a program and has add_executable(name name.cpp)")
            if not re.match(r"cmake_minimum_required\(VERSION [\d.]+\)\nproject\(\w+ LANGUAGES CXX\)\n", block.code):
                raise PageError(f"{block.place}: a block for CMake is a whole file: it begins with cmake_minimum_required and project")
            result.append((block, program))
    return result


def main(root):
    errors, count = [], 0
    for path in pages(root):
        try:
            blocks = read_blocks(root, path)
            for block in blocks:
                check(block)
            programs, _ = programs_and_fragments(blocks)
            cmake_projects(blocks)
            check_diffs(blocks, programs)
            count += len(blocks)
        except PageError as error:
            errors.append(str(error))
    for original, other in translations(root):
        try:
            check_translation(root, original, other)
        except PageError as error:
            errors.append(str(error))
    if errors:
        sys.exit("\n".join(errors))
    if count == 0:
        sys.exit(f"{root}: there is no code on the pages")
    print(f"{count} blocks are of a known kind")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
