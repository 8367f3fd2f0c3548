"""The checks of tools/ find what they are there for: each test plants a fault in a small tree and expects a report."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def run(tool, *arguments):
    done = subprocess.run([sys.executable, TOOLS / tool, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "clone"
        self.root.mkdir()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)


class Includes(ToolTest):
    def report(self, path, include):
        self.write(path, f"#include {include}\n")
        status, report = run("check_includes.py", self.root)
        self.assertEqual(status != 0, " 0 complaints" not in report)
        return report

    def test_a_room_may_include_those_below_it(self):
        self.assertIn(" 0 complaints", self.report("accelerate/comm/group.cpp", '"accelerate/tensors/nest.h"'))
        self.assertIn(" 0 complaints", self.report("transformers/weights.cpp", '"accelerate/formats/safetensors/header.h"'))

    def test_a_room_may_not_include_those_above_or_beside_it(self):
        for path, include, complaint in [
            ("accelerate/comm/group.cpp", '"accelerate/data/loader.h"', "comm must not include data"),
            ("accelerate/data/loader.h", "<accelerate/parallel/replicas.h>", "data must not include parallel"),
            ("accelerate/base/log.h", '"accelerate/accelerator.h"', "base must not include accelerator"),
            ("accelerate/accelerator.cpp", '"accelerate/launch/launch.h"', "accelerator must not include launch"),
            ("accelerate/comm/failures/watchdog.cpp", '"accelerate/comm/backends/tensor_arrays.h"',
             "accelerate/comm/failures must not include accelerate/comm/backends"),
            ("transformers/weights.cpp", '"accelerate/comm/group.h"', "transformers must not include comm"),
            ("cli/launch.cpp", '"accelerate/comm/group.h"', "cli must not include comm"),
        ]:
            with self.subTest(path):
                self.assertIn(f"{path}:1: {complaint}", self.report(path, include))

    def test_folders_of_a_room_have_an_order_too(self):
        for path, include in [
            ("transformers/tokenizers/models/bpe.cpp", '"transformers/tokenizers/text/unicode.h"'),
            ("transformers/tokenizers/tokenizer.cpp", '"transformers/tokenizers/models/bpe.h"'),
            ("transformers/inputs/auto_tokenizer.h", '"transformers/tokenizers/tokenizer.h"'),
            ("transformers/transformers.h", '"transformers/inputs/auto_tokenizer.h"'),
            ("accelerate/formats/zip/reader.cpp", '"accelerate/formats/crc32.h"'),
            ("accelerate/launch/supervisor.h", '"accelerate/launch/machines/outcome.h"'),
        ]:
            with self.subTest(path):
                self.assertIn(" 0 complaints", self.report(path, include))
        for path, include, complaint in [
            ("transformers/text/line_reader.cpp", '"transformers/tokenizers/tokenizer.h"',
             "transformers/text must not include transformers/tokenizers"),
            ("transformers/tokenizers/models/bpe.cpp", '"transformers/tokenizers/decoders/decoder.h"',
             "transformers/tokenizers/models must not include transformers/tokenizers/decoders"),
            ("transformers/tokenizers/text/unicode.cpp", '"transformers/tokenizers/tokenizer.h"',
             "transformers/tokenizers/text must not include transformers/tokenizers"),
            ("accelerate/formats/pickle/reader.cpp", '"accelerate/formats/zip/reader.h"',
             "accelerate/formats/pickle must not include accelerate/formats/zip"),
            ("accelerate/formats/crc32.cpp", '"accelerate/formats/zip/reader.h"',
             "accelerate/formats must not include accelerate/formats/zip"),
            ("accelerate/launch/machines/machine_link.h", '"accelerate/launch/supervisor.h"',
             "accelerate/launch/machines must not include accelerate/launch"),
        ]:
            with self.subTest(path):
                self.assertIn(f"{path}:1: {complaint}", self.report(path, include))

    def test_torch_free_rooms_stay_torch_free(self):
        self.assertIn("formats must not include torch", self.report("accelerate/formats/pickle/pickle.h", "<c10/util/Half.h>"))
        self.assertIn("cli must not include torch", self.report("cli/main.cpp", "<torch/torch.h>"))

    def test_an_installed_header_needs_no_package_of_ours(self):
        self.write("cmake/public_headers.txt", "accelerate/accelerate.h\n")
        self.assertIn("must not need nlohmann", self.report("accelerate/accelerate.h", "<nlohmann/json.hpp>"))

    def test_public_headers_and_examples_include_public_headers_only(self):
        self.write("cmake/public_headers.txt", "accelerate/accelerate.h\n")
        self.write("examples/nlp.cpp", "#include <accelerate/base/log.h>\n")
        report = self.report("accelerate/accelerate.h", '"accelerate/base/file.h"')
        self.assertIn("accelerate/accelerate.h:1: accelerate/base/file.h is not public", report)
        self.assertIn("examples/nlp.cpp:1: accelerate/base/log.h is not public", report)

    def test_a_public_header_is_one_that_programs_get(self):
        self.write("accelerate/base/log.h", "")
        self.write("cmake/public_headers.txt", "accelerate/accelerate.h\naccelerate/base/log.h\n")
        self.assertIn("no umbrella header brings accelerate/base/log.h", self.report("accelerate/accelerate.h", "<vector>"))
        self.assertIn(" 0 complaints", self.report("accelerate/accelerate.h", '"accelerate/base/log.h"'))

    def test_a_new_folder_has_to_be_given_its_place(self):
        self.assertIn("'utils' is not a room", self.report("accelerate/utils/misc.h", "<vector>"))


class Paths(ToolTest):
    def report(self, text):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("notes.md", text)
        return run("check_paths.py", self.root)

    def test_a_place_on_this_machine_is_found(self):
        home = "/ro" + "ot"  # in two parts, because the check reads this file too
        for text in (f"see {self.root}/build", f"cd {self.root}", f"in {home}/data"):
            with self.subTest(text):
                status, report = self.report(text)
                self.assertEqual((status, "notes.md:1: mentions" in report), (1, True), report)

    def test_other_paths_are_not(self):
        self.assertEqual(self.report("build/bin/root/x and /usr/local/bin and ${HOME}/x")[0], 0)


class Reference(ToolTest):
    def check(self, header):
        self.write("cmake/public_headers.txt", "accelerate/comm/a.h\n")
        self.write("accelerate/comm/a.h",
                   f"#pragma once\n\n// What a.h is for.\n\nnamespace accelerate::comm {{\n{header}\n}}\n")
        return run("make_reference.py", "--root", self.root, "--check", "--output", self.root / "out")

    def test_a_contract_becomes_part_of_the_page(self):
        status, report = self.check(
            "/// Sends it.\nvoid send(int rank = 0);\n\nstruct Options {\n  int port = 1;  // of rank 0\n};")
        self.assertEqual(status, 0, report)
        page = (self.root / "out/comm.md").read_text()
        for part in ("What a.h is for.", "void send(int rank = 0)", "Sends it.", "struct Options", "`int port = 1`",
                     "of rank 0"):
            self.assertIn(part, page)

    def test_a_missing_contract_is_named(self):
        self.assertIn("a.h:6: no /// contract for void send()", self.check("void send();")[1])
        self.assertIn("no /// contract for class Group", self.check("class Group {};")[1])
        self.assertEqual(self.check("class A {};")[0], 0, "the sentence on top of a.h tells what A is")

    def test_a_contract_covers_the_lines_that_follow_it_closely(self):
        self.assertEqual(self.check("/// One and two.\nvoid one();\nvoid two() { return; }")[0], 0)
        self.assertIn("void two()", self.check("/// One.\nvoid one();\n\nvoid two() { return; }")[1])


if __name__ == "__main__":
    unittest.main()
