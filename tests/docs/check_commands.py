"""The commands on the pages have the flags they are shown with: check_commands.py ROOT ACCELERATE.

Looks at blocks of shell, and at commands between single backquotes. A command with `# Python's` behind it is Python's.
"""

import functools
import pathlib
import re
import subprocess
import sys

import pages

COMMAND = re.compile(r"(?:^|[\s(])accelerate((?: |-)[a-z][a-z0-9-]*)(?=[\s)]|$)(.*)")
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FLAG = re.compile(r"^ +(?:(-\w),)?(--[\w-]+)(?: (\S+))?")


@functools.cache
def flags_of(accelerate, command):
    """The flags that the help of a command lists, and whether each takes a value. None: there is no such command."""
    result = subprocess.run([accelerate, command, "--help"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None
    flags = {}
    for line in result.stdout.splitlines():
        if found := FLAG.match(line):
            for name in filter(None, (found[1], found[2])):
                flags[name] = found[3] is not None
    return flags


def commands_of(root, path):
    """Pairs of a place and a line of shell."""
    page = str(path.relative_to(root))
    for block in pages.read_blocks(root, path):
        if block.language in ("", "sh"):
            yield from ((block.place, line) for line in block.code.replace("\\\n", " ").splitlines())
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        yield from ((f"{page}:{number}", code) for code in INLINE.findall(line))


def complaint(accelerate, line):
    code, _, comment = line.partition(" #")
    found = COMMAND.search(code)
    if not found or "Python's" in comment:
        return None
    command = found[1].strip(" -")
    flags = flags_of(accelerate, command)
    if flags is None:
        return f"there is no command 'accelerate {command}'"
    words = iter(found[2].replace(")", " ").split())
    for word in words:
        name, equals, _ = word.partition("=")
        if name.startswith("-"):
            if name.startswith("--fsdp_") or name.startswith("--parallelism_config_"):  # passed on to Python programs
                continue
            if name not in flags:
                return f"'accelerate {command}' has no flag {name}"
            if flags[name] and not equals:
                next(words, None)
        elif command == "launch" and not word.startswith("["):
            return None  # the program; what follows is its own
    return None


def main(root, accelerate):
    errors, count = [], 0
    for path in [*pages.pages(root), *(other for _, other in pages.translations(root))]:
        for place, line in commands_of(root, path):
            count += COMMAND.search(line) is not None
            if what := complaint(accelerate, line):
                errors.append(f"{place}: {what}: {line.strip()}")
    if errors:
        sys.exit("\n".join(errors))
    if count < 20:
        sys.exit(f"only {count} commands were found on the pages")
    print(f"{count} commands have the flags they are shown with")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
