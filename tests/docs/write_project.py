"""Writes a CMake project with the code of all pages: write_project.py ROOT FOLDER.

    FOLDER/CMakeLists.txt     builds everything against an installed accelerate
    FOLDER/pages.cpp          all programs, each in a namespace, and all fragments: torch's headers are read once
    FOLDER/<page>/            a page that says how to build with CMake: a project of its own, the program and the lines as they stand there
    FOLDER/programs.json      what to run: name, page, number of processes

The pages' own line numbers are in pages.cpp, so that the compiler names the page.
"""

import json
import pathlib
import re
import shutil
import sys

import pages

HEADER = '#include "given.h"\n'
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(documents LANGUAGES CXX)
"""
PAGES = """find_package(accelerate CONFIG REQUIRED)
add_executable(pages pages.cpp)
target_link_libraries(pages PRIVATE accelerate::accelerate accelerate::transformers)
"""
# Names, and the headers one of which gives them. All programs are compiled together, so that one could lack an include.
NEEDS = [
    (r"\btorch::", r"<(accelerate/accelerate|torch/torch)\.h>"),
    (r"\baccelerate::(?!ProgressBar|DataLoader)", r"<accelerate/"),
    (r"\btransformers::", r"<transformers/"),
    (r"\bstd::(cout|cerr|cin)\b", r"<iostream>"),
    (r"\bstd::(of|if|f)stream\b", r"<fstream>"),
    (r"\bstd::filesystem\b", r"<filesystem>"),
    (r"\bstd::thread\b", r"<thread>"),
]


def marked(block, code, skip=0):
    return f'#line {block.line + skip} "{block.page}"\n{pages.without_dots(code)}'


def check_includes(program):
    text = "".join(part.code for part in program.parts)
    for name, header in NEEDS:
        used = re.search(name, text)
        if used and not re.search(header, text):
            raise pages.PageError(f"{program.parts[0].place}: the program uses {used[0]} and includes no {header}")


def split_includes(code):
    """The code with its includes blanked, which keeps the numbers of lines, and the includes."""
    includes = re.findall(r"^#include .*$", code, re.MULTILINE)
    return re.sub(r"^#include .*$", "", code, flags=re.MULTILINE), includes


def in_namespace(program):
    """The program as a function `int run(int, char**)` in a namespace of its own, and its includes."""
    check_includes(program)
    first, *others = program.parts
    code, includes = split_includes(first.code)
    if others:
        body = "".join(marked(part, part.code) for part in others)
        return f"namespace {program.name} {{\nint run(int, char**) {{\n{body}return 0;\n}}\n}}\n", includes
    parameters = pages.MAIN.search(code)[1] or "int, char**"
    before, after = pages.MAIN.split(code)[0], pages.MAIN.split(code)[2]
    body, rest = re.split(r"^\}$", after, maxsplit=1, flags=re.MULTILINE)
    return (f"namespace {program.name} {{\n{marked(first, before)}int run({parameters}) {{{body}return 0; }}{rest}}}\n", includes)


def fragments_of(page, fragments):
    """One function with all statements of a page, each block within the scope of the one above, and the declarations."""
    declarations, body, includes = "", "", []
    for block in fragments:
        code, found = split_includes(block.code)
        includes += found
        body += "{\n"
        for skip, chunk in pages.chunks(code):
            if pages.is_declaration(chunk):
                declarations += marked(block, chunk, skip)
            else:
                body += marked(block, chunk, skip)
    name = re.sub(r"\W", "_", page)
    return (f"namespace {name} {{\nusing namespace accelerate;\nusing namespace transformers;\n{declarations}\n"
            f'#line 1 "{page}, all statements"\nstruct Page : given::Objects {{\n  void statements();\n}};\n'
            f'void Page::statements() {{\n{body}{"}" * len(fragments)}\n}}\n}}\n'), includes


def calls_of(path, page):
    """The code of the second column of every table whose second column is headed C++, as statements."""
    result = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        cells = re.fullmatch(r"\| (.*) \| (.*) \|", line)
        if cells and cells[2] != "C++":
            result.append(pages.Block(page, number, "cpp", "[[maybe_unused]] auto call = [&] { " + cells[2].strip("`") + "; };\n"))
    return result


def write(root, folder):
    here = pathlib.Path(__file__).parent
    text, includes, to_run = "", [], []
    for path in pages.pages(root):
        blocks = pages.read_blocks(root, path)
        page = str(path.relative_to(root))
        programs, fragments = pages.programs_and_fragments(blocks)
        if page == "docs/from_python_to_cpp.md":
            fragments += calls_of(path, page)
        for block, program in pages.cmake_projects(blocks):
            name, source = re.search(r"add_executable\((\w+) (\w+\.cpp)\)", block.code).groups()
            directory = folder / pathlib.Path(page).stem
            directory.mkdir()
            (directory / source).write_text(program.code)
            (directory / "CMakeLists.txt").write_text(block.code)
            programs = [other for other in programs if other.parts[0] is not program]
            to_run.append({"name": name, "page": page, "command": [f"{directory.name}/{name}"],
                           "processes": [1, 2], "directive": program.directive})
        for program in programs:
            code, found = in_namespace(program)
            text, includes = text + code, includes + found
            processes = re.fullmatch(r"(\d+) processes", program.directive)
            to_run.append({"name": program.name, "page": page, "command": ["pages", program.name],
                           "processes": [int(processes[1])] if processes else [1], "directive": program.directive})
        if fragments:
            code, found = fragments_of(page, fragments)
            text, includes = text + code, includes + found
    entries = "".join(f'  if (name == "{entry["name"]}") return run(argc - 1, argv + 1, {entry["name"]}::run);\n'
                      for entry in to_run if entry["command"][0] == "pages")
    main = ('#line 1 "pages.cpp, main"\n'
            "int run(int argc, char** argv, int (*program)(int, char**)) { return program(argc, argv); }\n"
            "int run(int, char**, int (*program)()) { return program(); }\n"
            "int main(int argc, char** argv) {\n  std::string name = argc > 1 ? argv[1] : \"\";\n"
            f"{entries}  std::cerr << name << \": there is no such program\\n\";\n  return 2;\n}}\n")
    lines = "".join(f"{line}\n" for line in dict.fromkeys(includes) if "<" in line)
    (folder / "pages.cpp").write_text(HEADER + lines + text + main)
    (folder / "CMakeLists.txt").write_text(PROJECT + PAGES)
    (folder / "programs.json").write_text(json.dumps(to_run, indent=2))
    shutil.copy(here / "given.h", folder)


if __name__ == "__main__":
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        write(root, folder)
    except pages.PageError as error:
        sys.exit(str(error))
