"""The rules for code on pages, on pages that break them."""

import pathlib
import re
import tempfile
import unittest

import pages
import write_project

PROGRAM = '#include <accelerate/accelerate.h>\n\nint main() {\n  torch::rand({2});\n}\n'


def read(text):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "page.md").write_text(text)
        return pages.read_blocks(root, root / "page.md")


def fence(language, code):
    return f"```{language}\n{code}```\n"


class Blocks(unittest.TestCase):
    def check(self, text):
        for block in read(text):
            pages.check(block)

    def test_a_block_of_an_unknown_language_is_refused(self):
        with self.assertRaisesRegex(pages.PageError, "page.md:2: 'c\\+\\+' is none of the languages"):
            self.check(fence("c++", "int i;\n"))

    def test_cpp_without_its_language_is_refused(self):
        with self.assertRaisesRegex(pages.PageError, "looks like C"):
            self.check("Text.\n" + fence("", "accelerator.backward(loss);\n"))
        self.check(fence("", "accelerate launch ./train  # four; or more\n"))

    def test_a_block_without_an_end_is_refused(self):
        with self.assertRaisesRegex(pages.PageError, "has no end"):
            read("```cpp\nint i;\n")

    def test_directives_are_known_and_for_programs(self):
        with self.assertRaisesRegex(pages.PageError, "none of the directives"):
            read("<!-- test: skip -->\n" + fence("cpp", PROGRAM))
        with self.assertRaisesRegex(pages.PageError, "is for programs"):
            self.check("<!-- test: 2 processes -->\n" + fence("cpp", "loss.backward();\n"))
        (block,) = read("<!-- test: compile only: needs a GPU -->\n\n" + fence("cpp", PROGRAM))
        self.assertEqual(block.directive, "compile only: needs a GPU")

    def test_a_block_for_cmake_builds_the_program_above_it(self):
        lines = "cmake_minimum_required(VERSION 3.25)\nproject(train LANGUAGES CXX)\nadd_executable(train train.cpp)\n"
        ((block, program),) = pages.cmake_projects(read(fence("cpp", PROGRAM) + fence("cmake", lines)))
        self.assertEqual((block.code, program.code), (lines, PROGRAM))
        with self.assertRaisesRegex(pages.PageError, "below a program"):
            pages.cmake_projects(read(fence("cmake", lines)))
        with self.assertRaisesRegex(pages.PageError, "whole file"):
            pages.cmake_projects(read(fence("cpp", PROGRAM) + fence("cmake", "add_executable(train train.cpp)\n")))


class Programs(unittest.TestCase):
    def test_includes_alone_begin_a_program_that_the_blocks_below_continue(self):
        programs, fragments = pages.programs_and_fragments(
            read(fence("cpp", "#include <a>\n") + fence("cpp", "int i = 1;\n") + fence("cpp", "++i;\n") + fence("cpp", PROGRAM)))
        self.assertEqual([len(program.parts) for program in programs], [3, 1])
        self.assertEqual(fragments, [])

    def test_a_program_that_lacks_an_include_is_refused(self):
        for code in ("int main() {\n  torch::rand({2});\n}\n", PROGRAM.replace("torch::rand({2})", "std::cout << 1"),
                     PROGRAM.replace("torch::rand({2})", "transformers::AutoModel model")):
            programs, _ = pages.programs_and_fragments(read(fence("cpp", code)))
            with self.assertRaisesRegex(pages.PageError, "includes no"):
                write_project.in_namespace(programs[0])

    def test_a_program_becomes_a_function_that_returns(self):
        programs, _ = pages.programs_and_fragments(read(fence("cpp", PROGRAM)))
        code, includes = write_project.in_namespace(programs[0])
        self.assertEqual(includes, ["#include <accelerate/accelerate.h>"])
        self.assertIn("int run(int, char**) {", code)
        self.assertIn("return 0; }", code)


class Chunks(unittest.TestCase):
    def kinds(self, code):
        return [pages.is_declaration(chunk) for _, chunk in pages.chunks(code)]

    def test_types_and_functions_stand_outside_of_functions(self):
        for code in ("struct A {\n  int i;\n};\n", "// A comment.\nclass B : public A {\n public:\n};\n",
                     "auto fields(A& a) { return std::tie(a.i); }\n", "double train(double rate,\n             int epochs) {\n}\n",
                     "template <class T>\nT twice(T t) {\n  return 2 * t;\n}\n", "namespace x {\n\nint i = 1;\n\n}  // namespace x\n",
                     "std::vector<int64_t> lengths(const Data& data) {\n}\n"):
            self.assertTrue(all(self.kinds(code)), code)

    def test_statements_stand_inside(self):
        for code in ("for (auto& b : train) {\n  step();\n}\n", "Accelerator accelerator({.a = 1});\n", "{\n  f();\n}\n",
                     "if (f()) {\n}\n", "auto f = [&](int i) {\n  return i;\n};\n", "try {\n  f();\n} catch (...) {\n}\n",
                     "auto model = load(\n    checkpoint, {.a = 1});\n"):
            self.assertFalse(any(self.kinds(code)), code)

    def test_both_in_one_block_are_told_apart(self):
        self.assertEqual(self.kinds("struct A {\n};\nA a;\nf(a,\n  1);\n"), [True, False, False])

    def test_a_line_of_dots_is_left_out(self):
        self.assertEqual(pages.without_dots("a;\n  ...\nf(xs...);\n"), "a;\n\nf(xs...);\n")


class Settings(unittest.TestCase):
    """Designated initialisers have to follow the declaration, so a reader copies from tables in that order."""

    def test_tables_of_options_have_all_fields_in_the_order_of_their_declaration(self):
        root = pathlib.Path(__file__).parents[2]
        page = (root / "docs/settings.md").read_text()
        for heading, header, struct in [
                ("## Options of the Accelerator", "accelerator_options.h", "AcceleratorOptions"),
                ("### Accumulation", "accelerator_options.h", "GradientAccumulationPlugin"),
                ("### Data loaders", "data/prepare_options.h", "DataLoaderConfiguration"),
                ("### Gradients", "parallel/data_parallel_options.h", "DistributedDataParallelKwargs")]:
            body = re.search(rf"struct {struct} {{\n(.*?)\n}};", (root / "accelerate" / header).read_text(), re.S)[1]
            declared = re.findall(r"(\w+) =\s", re.sub(r"//.*", "", body))
            section = re.split(r"\n##", page[page.index(heading) + len(heading):])[0]
            cells = re.findall(r"^\| (`.*?) \|", section, re.M)
            self.assertEqual([name for cell in cells for name in re.findall(r"`(\w+)`", cell)], declared, struct)


if __name__ == "__main__":
    unittest.main()
