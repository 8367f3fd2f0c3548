"""What a person at a notebook does, done to the kernel."""

import base64
import json
import os
import pathlib
import re
import select
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib
from unittest import mock

import psutil
from jupyter_client.kernelspec import get_kernel_spec
from kernel_client import KERNEL, Kernel


def read_png(file):
    """The rows of an RGB picture whose rows are stored without a filter."""
    width, height = struct.unpack(">II", file[16:24])
    at, data = 8, b""
    while at < len(file):
        size, kind = struct.unpack(">I4s", file[at:at + 8])
        body = file[at + 8:at + 8 + size]
        if struct.unpack(">I", file[at + 8 + size:at + 12 + size])[0] != zlib.crc32(kind + body):
            raise ValueError(f"the sum of the chunk {kind} is wrong")
        data += body if kind == b"IDAT" else b""
        at += 12 + size
    bytes_of_rows = zlib.decompress(data)
    rows = [bytes_of_rows[y * (3 * width + 1):(y + 1) * (3 * width + 1)] for y in range(height)]
    if any(row[0] for row in rows):
        raise ValueError("a row has a filter")
    return [[tuple(row[1 + 3 * x:4 + 3 * x]) for x in range(width)] for row in rows]


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = cls.enterClassContext(Kernel())
        cls.kernel.run("1;")  # the interpreter has started

    def run_cell(self, code, **more):
        outcome = self.kernel.run(code, **more)
        self.assertEqual(outcome.status, "ok", outcome.error + outcome.traceback)
        return outcome

    def value(self, code):
        return self.value_bundle(code)["text/plain"]

    def value_bundle(self, code):
        """The value of the cell's last expression in all its formats."""
        return self.run_cell(code).result

    def fails(self, code, **more):
        outcome = self.kernel.run(code, **more)
        self.assertEqual(outcome.status, "error")
        return outcome


class Values(KernelTest):
    def test_a_last_expression_is_shown_and_a_statement_is_not(self):
        self.assertEqual(self.value("1 + 2"), "3")
        self.assertIsNone(self.run_cell("1 + 2;").result)
        self.assertIsNone(self.run_cell("int unseen = 1;").result)

    def test_an_expression_without_a_value_runs(self):
        outcome = self.run_cell('void say() { std::cout << "said"; }\nsay()')
        self.assertEqual((outcome.stdout, outcome.result), ("said", None))

    def test_tensors_show_type_and_shape(self):
        self.assertEqual(self.value("torch::arange(6).reshape({2, 3})"), "int64 [2, 3]\n[[0, 1, 2],\n [3, 4, 5]]")
        self.assertEqual(self.value("torch::ones({2}, torch::requires_grad())"), "float32 [2], requires grad\n[1., 1.]")
        self.assertIn("...", self.value("torch::zeros({100, 100})"))
        self.assertEqual(self.value("torch::zeros({0, 3})"), "float32 [0, 3]")
        self.assertEqual(self.value("torch::Tensor()"), "undefined tensor")
        self.assertEqual(self.value("torch::tensor(1.5)"), "float32 []\n1.5000")

    def test_whole_numbers_of_tensors_are_exact(self):
        self.assertEqual(self.value("torch::tensor({9007199254740993, -1L})"), "int64 [2]\n[9007199254740993,               -1]")
        self.assertEqual(self.value("torch::tensor({true, false})"), "bool [2]\n[ true, false]")
        self.assertEqual(self.value("torch::full({}, -1).to(torch::kUInt64)"), "uint64 []\n18446744073709551615")

    def test_of_a_large_tensor_only_what_is_shown_is_read(self):
        self.assertEqual(self.value("torch::ones({1}).expand({1L << 40})"),  # would not fit into memory
                         "float32 [1099511627776]\n[1., 1., 1., ..., 1., 1., 1.]")

    def test_containers_texts_and_other_objects_are_shown(self):
        self.assertEqual(self.value("std::vector<int>{1, 2, 3}"), "{1, 2, 3}")
        self.assertEqual(self.value('std::map<std::string, double>{{"a", 0.5}}'), '{{"a", 0.5}}')
        self.assertEqual(self.value('std::string("text")'), '"text"')
        self.assertEqual(self.value("true"), "true")
        self.assertEqual(self.value("struct Plain {};\nPlain{}"), "<Plain>")
        self.assertEqual(self.value("[] { return 5; }()"), "5")

    def test_values_of_enumerations_are_shown_by_name(self):
        self.run_cell("enum class Color { red, green = 5 };\nnamespace paint { enum Kind { matt, gloss }; }\n"
                      "struct Wall { enum class Side : unsigned char { left, right }; };\n"
                      "enum class Access { read = 1, write = 2, all = 3, run = 4 };\nenum { kLimit = 7 };")
        self.assertEqual(self.value("Color::red"), "Color::red")
        self.assertEqual(self.value("Color(7)"), "Color(7)")
        self.assertEqual(self.value("Color(-1)"), "Color(-1)")
        self.assertEqual(self.value("paint::gloss"), "paint::gloss")
        self.assertEqual(self.value("Wall::Side::right"), "Wall::Side::right")
        self.assertEqual(self.value("kLimit"), "7")
        self.assertEqual(self.value("[] { enum class Local { one, two }; return Local::two; }()"), "Local::two")
        self.assertEqual(self.value("namespace { enum class Hidden { one }; }\nHidden::one"), "Hidden::one")
        self.assertEqual(self.value("std::vector{Color::red, Color::green}"), "{Color::red, Color::green}")
        self.assertEqual(self.value('std::map<std::string, Color>{{"a", Color::green}}'), '{{"a", Color::green}}')
        self.assertEqual(self.value("torch::kFloat"), "Float")  # has an operator<<
        self.assertEqual([self.value(f"Access({n})") for n in (3, 5, 8)],
                         ["Access::all", "Access::read | Access::run", "Access(8)"])

    def test_an_enumeration_that_is_defined_again_has_its_new_names(self):
        self.run_cell("enum class Shape { round, square };")
        self.assertEqual(self.value("Shape(1)"), "Shape::square")
        self.run_cell("enum class Shape { flat, tall };")
        self.assertEqual(self.value("Shape(1)"), "Shape::tall")

    def test_an_enumeration_with_an_operator_is_shown_by_that(self):
        self.run_cell('enum class Loud { yes };\nstd::ostream& operator<<(std::ostream& out, Loud) { return out << "LOUD"; }\n'
                      'enum Soft { soft };\nstd::ostream& operator<<(std::ostream& out, Soft) { return out << "soft!"; }')
        self.assertEqual(self.value("std::tuple(Loud::yes, soft)"), "{LOUD, soft!}")

    def test_a_text_that_is_not_there_is_a_null_pointer(self):
        self.assertEqual(self.value('getenv("NO_SUCH_VARIABLE")'), "nullptr")

    def test_a_stream_is_not_shown(self):
        outcome = self.run_cell('std::cout << "printed"')
        self.assertEqual((outcome.stdout, outcome.result), ("printed", None))

    def test_an_expression_after_a_function_may_begin_with_a_sign(self):
        self.assertEqual(self.value("double half(double x) { return x / 2; }\n(half(2) + half(4)) / 2"), "1.5")


class Output(KernelTest):
    def test_both_ways_to_print_appear_in_their_order(self):
        outcome = self.run_cell('std::cout << "a\\n"; printf("b\\n"); std::cout << "c" << std::endl; std::cerr << "d";')
        self.assertEqual((outcome.stdout, outcome.stderr), ("a\nb\nc\n", "d"))

    def test_output_appears_while_a_cell_runs(self):
        outcome = self.run_cell("for (int i = 0; i < 3; ++i) { printf(\"%d\\n\", i); "
                                "std::this_thread::sleep_for(std::chrono::milliseconds(400)); }")
        self.assertEqual(outcome.stdout, "0\n1\n2\n")
        self.assertGreaterEqual(len(outcome.pieces), 3)

    def test_a_progress_bar_is_drawn_in_place(self):
        outcome = self.run_cell("{ accelerate::ProgressBar bar(10); for (int i = 0; i < 10; ++i) { bar.update(); "
                                "std::this_thread::sleep_for(std::chrono::milliseconds(60)); } }")
        self.assertIn("\r", outcome.stderr)
        self.assertIn("10/10", outcome.stderr)
        self.assertIn("█", outcome.stderr)
        self.assertGreater(outcome.stderr.count("\r"), 3)

    def test_a_progress_bar_that_is_not_closed_shows_where_a_cell_has_left_it(self):
        outcome = self.run_cell("accelerate::ProgressBar left(10);\nfor (int i = 0; i < 4; ++i) left.update();")
        self.assertRegex(outcome.stderr.split("\r")[-1], "40%.* 4/10 ")
        self.assertEqual(self.run_cell("1;").stderr, "")
        self.assertRegex(self.run_cell("left.update(6);").stderr.split("\r")[-1], "100%.* 10/10 ")
        self.assertTrue(self.run_cell("left.close();").stderr.endswith("\n"))

    def test_more_than_a_pipe_holds_arrives(self):
        outcome = self.run_cell('for (int i = 0; i < 20000; ++i) std::cout << "line äöü " << i << "\\n";')
        self.assertEqual(outcome.stdout, "".join(f"line äöü {i}\n" for i in range(20000)))

    def test_standard_input_asks(self):
        outcome = self.run_cell("std::string name; int age;\nstd::getline(std::cin, name);\nstd::cin >> age;\n"
                                "std::cout << name << age;", answers=["Ada", "36"])
        self.assertEqual(outcome.stdout, "Ada36")
        self.assertEqual(self.run_cell("char word[9]; scanf(\"%8s\", word);\nstd::string(word)", answers=["hello"])
                         .result["text/plain"], '"hello"')

    def test_standard_input_ends_where_nobody_can_be_asked(self):
        self.assertEqual(self.value("std::string none;\nbool(std::getline(std::cin, none))"), "false")
        self.run_cell("std::cin.clear();")


class Definitions(KernelTest):
    def test_functions_variables_and_classes_are_defined_anew(self):
        self.run_cell("int f(int a) { return a + 1; }\nint g() { return f(1); }\nauto v = 10;\n"
                      "struct S { int id() { return 1; } };\ntemplate <class T> T twice(T t) { return t + t; }")
        self.run_cell("long f(int a) { return a + 100; }\nauto v = std::string(\"text\");\n"
                      "struct S { int id() { return 2; } };\ntemplate <class T> T twice(T t) { return t + t + t; }")
        self.assertEqual(self.value("f(1)"), "101")
        self.assertEqual(self.value("g()"), "2")
        self.assertEqual(self.value("v"), '"text"')
        self.assertEqual(self.value("S().id()"), "2")
        self.assertEqual(self.value("twice(1)"), "3")

    def test_overloads_stay_beside_each_other(self):
        self.run_cell("int over(int) { return 1; }")
        self.run_cell("int over(double) { return 2; }")
        self.assertEqual(self.value("over(1) * 10 + over(1.0)"), "12")
        for _ in range(2):
            self.run_cell("int both(int) { return 1; }\nint both(double) { return 2; }")
        self.assertEqual(self.value("both(1) * 10 + both(1.0)"), "12")

    def test_a_function_sees_older_ones_with_other_parameters(self):
        self.run_cell("std::string shown(int n) { return std::to_string(n); }")
        lists = ("std::string shown(const std::vector<int>& list) {\n"
                 "  std::string text;\n  for (int one : list) text += shown(one) + \"%s\";\n  return text; }")
        pairs = "template <class T> std::string shown(const std::pair<T, T>& p) { return shown(p.first) + shown(p.second); }"
        self.run_cell(lists % ",")
        self.assertEqual(self.value("shown({1, 2})"), '"1,2,"')
        self.run_cell(lists % ";")  # takes the place of the first
        for _ in range(2):
            self.run_cell(pairs)
            self.assertEqual(self.value("shown(std::pair(3, 4)) + shown({1, 2})"), '"341;2;"')
        self.run_cell("std::string shown(const int n) { return \"#\" + std::to_string(n); }")
        self.run_cell(lists % ".")
        self.assertEqual(self.value("shown({1, 2}) + shown(3)"), '"#1.#2.#3"')
        self.assertEqual(self.value("shown(std::pair(3, 4))"), '"34"')  # was compiled with the older one

    def test_a_function_sees_the_older_one_that_fits_better(self):
        self.run_cell("int exact(int) { return 1; }")
        for result in (2, 3):
            self.run_cell(f"int exact(double n) {{ return n > 0 ? exact(0) * 10 : {result}; }}")
            self.assertEqual(self.value("exact(1.0) + exact(-1.0)"), str(10 + result))
        self.assertIn("redefinition of 'exact'", self.fails("int exact(char) { return 1; }\nint exact(char) { return 2; }").error)
        self.run_cell("int exact = 5;")
        self.assertEqual(self.value("exact"), "5")
        self.run_cell("int exact(int) { return 6; }")
        self.assertEqual(self.value("exact(1.0)"), "6")

    def test_a_function_stands_beside_a_template(self):
        for _ in range(2):
            self.run_cell("template <class T> int form(T) { return 1; }")
        for _ in range(2):
            self.run_cell("int form(int n) { return n + form(2.5); }")
        self.assertEqual(self.value("form(10) * 10 + form('a')"), "111")

    def test_a_cell_can_be_run_many_times(self):
        for _ in range(4):
            self.run_cell("struct NetImpl : torch::nn::Module { NetImpl() { a = register_module(\"a\", torch::nn::Linear(2, 1)); }\n"
                          "  torch::nn::Linear a{nullptr}; };\nTORCH_MODULE(Net);\nNet net;\nint one = 1, two = 2;\n"
                          "auto [x, y] = std::pair(3, 4);")
        self.assertEqual(self.value("net->parameters().size() + one + two + x + y"), "12")

    def test_what_is_declared_before_its_code_can_be_run_again(self):
        for _ in range(3):
            self.run_cell("bool even(int);\nbool odd(int n) { return n && even(n - 1); }\n"
                          "bool even(int n) { return !n || odd(n - 1); }\n"
                          "struct Apart { int f(); static int count; };\nint use() { return Apart().f() + Apart::count; }\n"
                          "int Apart::f() { return 1; }\nint Apart::count = 2;\nstd::cout << Apart::count;")
        self.assertEqual(self.value("use() + odd(3)"), "4")

    def test_silent_cells_stand_beside_each_other_and_the_one_before(self):
        self.run_cell("int count = 0;")
        cell = "for (int i = 0; i < 2; ++i) ++count;\nstruct Counted { int n = count; };"
        for silent in (False, True, True):  # all three have the same number
            self.run_cell(cell, silent=silent)
        self.assertEqual(self.value("Counted().n"), "6")

    def test_what_is_defined_before_a_command_can_be_defined_anew_behind_it(self):
        for _ in range(2):
            self.run_cell("struct Part { int n = 1; };\n!true\nstruct Part { int n = 2; };")
        self.assertEqual(self.value("Part().n"), "2")

    def test_enumerations_can_be_defined_again(self):
        for green in (5, 6):
            self.run_cell(f"enum Color {{ Red, Green = {green} }};\nenum {{ kLimit = {green} }};")
        self.assertEqual(self.value("Green + kLimit"), "12")

    def test_templates_of_other_parameters_stay_beside_each_other(self):
        self.run_cell("template <class T> int rank_of(const T&) { return 0; }")
        for _ in range(2):
            self.run_cell("template <class T> int rank_of(const std::vector<T>&) { return 1; }")
        self.assertEqual(self.value("rank_of(3) + 10 * rank_of(std::vector<int>{})"), "10")

    def test_a_macro_that_checks_a_variable_is_no_definition(self):
        self.run_cell("bool is_fine = true;")
        self.run_cell("TORCH_CHECK(is_fine);")

    def test_a_failed_definition_leaves_the_old_one(self):
        self.run_cell("struct Kept { int id() { return 7; } };\nint kept() { return 8; }")
        self.fails("struct Kept { int y = no_such_name; };")
        self.fails("int kept() { return no_such_name; }")
        self.assertEqual(self.value("Kept().id() + kept()"), "15")


class Errors(KernelTest):
    def test_a_compile_error_names_the_line(self):
        self.assertIn("expected ';'", self.fails("auto open = torch::ones({2})").error)
        outcome = self.fails("int fine = 1;\nint y = not_declared;")
        self.assertEqual(outcome.error.split(":")[0], "CompileError")
        self.assertRegex(outcome.error, r"In\[\d+\], line 2: use of undeclared identifier 'not_declared'")
        self.assertIn("int y = not_declared;", outcome.traceback)

    def quoted(self, code):
        """The lines of code that the messages about a cell quote, each with the line below it."""
        lines = self.fails(code).traceback.splitlines()
        quotes = [(at, line.split("|", 1)[1][1:]) for at, line in enumerate(lines) if re.match(r" *\d+ \| ", line)]
        return [(quote, lines[at + 1].split("|", 1)[1][1:]) for at, quote in quotes]

    def test_messages_quote_the_line_that_was_written(self):
        self.assertEqual(self.quoted("not_declared"), [("not_declared", "^")])
        line = "int number = 1; number + not_declared // the sum"
        self.assertEqual(self.quoted("\n" + line), [(line, " " * line.index("not_declared") + "^")])
        for line in ("torch::ones({2}) +", "number + ;", "if (number) not_declared();", "[] { return not_declared; }()",
                     "std::string(1, 2, 3, not_declared).size()", "int half = 1, other = not_declared;",
                     "for (;;) break number;", "std::vector<int> list{1, 2", "(number", "std::sort(number)",
                     "struct Open { int a }", "auto open = torch::ones({2})", "int number(int a) { return b; }"):
            with self.subTest(line):
                outcome = self.fails(line)
                self.assertIn(line, outcome.traceback)
                for ours in ("accelerate::notebook", "Shown", "static_cast", "cell_", "the compiler crashed"):
                    self.assertNotIn(ours, outcome.traceback + outcome.error)
                for quote, _ in self.quoted(line):
                    self.assertTrue(quote == line or quote not in line, quote)

    def test_an_error_in_a_header_is_told_without_the_file_of_all_cells(self):
        outcome = self.fails("using namespace std;\nint late = pair<int, void>().first;")
        self.assertIn("stl_pair.h", outcome.traceback)
        self.assertNotIn("<<< inputs >>>", outcome.traceback)

    def test_a_bracket_that_is_not_closed_is_named(self):
        outcome = self.fails("int fine = 1;\nauto list = std::vector<int>({1, 2);\nint other = f(2;")
        self.assertRegex(outcome.error, r"In\[\d+\], line 3: expected '\)'")
        outcome = self.fails("%%timeit\nfor (int i = 0; i < 3; ++i) {")
        self.assertRegex(outcome.error, r"In\[\d+\], line 2: expected '}' to match this '{'")

    def test_an_error_after_a_using_directive_is_told(self):
        outcome = self.fails("using namespace torch; auto z = zeros({2});")  # also in at, which torch uses
        self.assertRegex(outcome.error, r"In\[\d+\], line 1: call to 'zeros' is ambiguous")
        self.assertEqual(outcome.traceback.count("note: candidate function"), 2)
        self.assertEqual(outcome.stderr, "")
        self.assertEqual(self.value("using namespace torch; auto z = torch::zeros({2});\nz.numel()"), "2")

    def test_an_exception_names_its_type_and_the_line(self):
        outcome = self.fails("int before = 1;\n\nfor (int i = 0; i < 3; ++i) {\n  if (i == 1) throw std::runtime_error(\"at one\");\n}")
        self.assertEqual(outcome.error, "std::runtime_error: at one")
        self.assertRegex(outcome.traceback, r"In\[\d+\], line 3:")
        self.assertEqual(self.value("before"), "1")

    def test_errors_of_libtorch_are_told_without_addresses(self):
        outcome = self.fails("torch::ones({2, 3}).matmul(torch::ones({2, 3}));")
        self.assertIn("mat1 and mat2 shapes cannot be multiplied", outcome.error)
        self.assertNotIn("Exception raised from", outcome.error + outcome.traceback)

    def test_something_that_is_no_exception_class_can_be_thrown(self):
        self.assertEqual(self.fails("throw 42;").error, "int: ")

    def test_a_function_without_code_is_an_error(self):
        self.assertIn("no loaded library defines nowhere(); %lib loads one", self.fails("int nowhere();\nnowhere()").error)
        self.assertEqual(self.value("1.5"), "1.5")

    def test_what_a_failed_cell_has_used_works_afterwards(self):
        used = "auto shared = std::make_shared<std::vector<float>>(3, 1.f);\nauto unit = torch::eye(2);\n"
        self.fails(used + "int y = not_declared;")
        self.fails(used + "int nowhere_else();\nnowhere_else()")
        self.assertEqual(self.value(used + "shared->size() + unit.numel()"), "7")

    def test_nothing_of_a_cell_runs_when_a_part_does_not_compile(self):
        self.run_cell("int redefined = 1;")
        self.assertEqual(self.fails('std::cout << "ran";\nint redefined = 2;\nint y = not_declared;').stdout, "")
        self.assertEqual(self.value("redefined"), "1")


class Commands(KernelTest):
    def test_shell(self):
        self.assertEqual(self.run_cell("!echo hello").stdout, "hello\n")

    def test_what_was_printed_before_a_command_appears_before_its_output(self):
        self.assertEqual(self.run_cell('std::cout << "a"; printf("b");\n!echo c').stdout, "abc\n")

    def test_a_command_whose_output_nobody_reads_any_more_ends_silently(self):
        outcome = self.run_cell("!yes | head -1")
        self.assertEqual((outcome.stdout, outcome.stderr), ("y\n", ""))

    def test_code_goes_on_after_a_command(self):
        loop = "for (int i = 0; i < 2; ++i) std::cout << i << std::endl;\n"
        self.assertEqual(self.run_cell(loop + "!echo between\n" + loop).stdout, "0\n1\nbetween\n0\n1\n")

    def test_an_interrupted_command_ends_the_cell(self):
        outcome = self.fails('!sleep 60\nstd::cout << "ran";', interrupt_after=1)
        self.assertTrue(outcome.error.startswith("KeyboardInterrupt"), outcome.error)
        self.assertEqual(outcome.stdout, "")

    def test_time(self):
        self.assertRegex(self.run_cell("%%timeit -n 10 -r 2\nstd::sqrt(2.0);").stdout, r"per call \(2 runs of 10 calls\)")
        self.assertRegex(self.run_cell("%%time\nint timed = 3;").stdout, "CPU time .*, wall time ")
        self.assertEqual(self.value("timed"), "3")

    def test_include_and_lib(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "own.h").write_text("inline int own() { return 5; }\n")
            self.assertEqual(self.value(f"%include {folder}\n#include <own.h>\nown()"), "5")
        self.assertNotEqual(self.value("%lib z\nextern \"C\" const char* zlibVersion();\nstd::string(zlibVersion())"), '""')

    def test_an_unknown_command_is_an_error(self):
        self.assertIn("%nothing is not a command", self.fails("%nothing").error)
        self.assertIn("no_such", self.fails("%lib no_such").error)
        self.assertIn("%include: there is no directory /no/such", self.fails("%include /no/such").error)


class Display(KernelTest):
    def test_pictures_and_curves(self):
        self.run_cell("using namespace accelerate::notebook;")
        outcome = self.run_cell("display(image(torch::rand({3, 8, 8})));\nplot({3, 2, 1}, {.title = \"loss\"})")
        self.assertTrue(outcome.displays[0]["data"]["image/png"].startswith("iVBORw0KGgo"))
        self.assertIn("<polyline", outcome.result["image/svg+xml"])

    def test_a_curve_is_a_picture_too_for_notebooks_that_show_no_svg(self):
        plot = self.value_bundle('accelerate::notebook::plot({3, 2, 1.5}, {.title = "loss", .width = 400, .height = 300})')
        pixels = read_png(base64.b64decode(plot["image/png"]))
        self.assertEqual((len(pixels), len(pixels[0])), (300, 400))
        self.assertEqual(pixels[2][2], (255, 255, 255))
        self.assertIn((0x1f, 0x77, 0xb4), [pixel for row in pixels for pixel in row])  # the curve
        title = [pixel for row in pixels[10:24] for pixel in row[180:260]]
        self.assertGreater(sum(pixel < (128, 128, 128) for pixel in title), 20)
        self.assertEqual(plot["text/plain"], "<plot loss>")
        self.assertEqual(self.value("accelerate::notebook::plot({1, 2})"), "<plot>")

    def test_a_display_is_updated_in_its_place(self):
        outcome = self.run_cell("auto shown = accelerate::notebook::display(accelerate::notebook::html(\"<b>1</b>\"));\n"
                                "shown.update(accelerate::notebook::html(\"<b>2</b>\"));")
        self.assertEqual(outcome.updates[0]["data"]["text/html"], "<b>2</b>")
        self.assertEqual(outcome.updates[0]["transient"], outcome.displays[0]["transient"])

    def test_text_and_pictures_keep_their_order(self):
        outcome = self.kernel.run("std::cout << \"first\";\naccelerate::notebook::display(1);\nstd::cout << \"last\";")
        self.assertEqual((outcome.stdout, len(outcome.displays)), ("firstlast", 1))

    def test_a_tensor_that_is_no_picture_is_an_error(self):
        self.assertIn("is not an image", self.fails("accelerate::notebook::image(torch::rand({2, 5, 5}))").error)


class Names(KernelTest):
    def test_members_and_names_in_scope_are_completed(self):
        self.run_cell("torch::Tensor sample = torch::ones({2});\nint sample_count = 3;")
        self.assertIn("reshape", self.kernel.complete("sample.resh")["matches"])
        self.assertEqual(set(self.kernel.complete("sam")["matches"]) & {"sample", "sample_count"}, {"sample", "sample_count"})
        self.assertIn("Linear", self.kernel.complete("torch::nn::Lin")["matches"])
        self.assertIn("notebook_launcher", self.kernel.complete("accelerate::notebook_l")["matches"])

    def test_names_of_the_unfinished_cell_are_completed_too(self):
        reply = self.kernel.complete("std::vector<int> numbers;\nfor (auto n : numbers) { numbers.push_b")
        self.assertIn("push_back", reply["matches"])
        reply = self.kernel.complete("double f(const torch::Tensor& weights) { return weights.nume")
        self.assertIn("numel", reply["matches"])

    def test_names_are_completed_beside_commands(self):
        self.assertIn("push_back", self.kernel.complete("!echo it's\nstd::vector<int> some;\nsome.push_b")["matches"])
        self.assertIn("arange", self.kernel.complete("%%time\ntorch::arang")["matches"])
        self.assertEqual(self.kernel.complete("!ls std")["matches"], [])

    def test_completion_replaces_what_was_typed(self):
        reply = self.kernel.complete("/* ä */ torch::arang")
        self.assertEqual((reply["cursor_start"], reply["cursor_end"]), (15, 20))

    def test_inspection_tells_signature_and_documentation(self):
        text = self.kernel.inspect("accelerate::set_seed(1)", cursor=16)["data"]["text/plain"]
        self.assertIn("set_seed(", text)
        self.assertFalse(self.kernel.inspect("no_such_name_at_all")["found"])

    def test_completion_leaves_the_notebook_as_it_is(self):
        self.run_cell("int untouched = 5;")
        self.kernel.complete("int untouched = 6; untou")
        self.assertEqual(self.value("untouched"), "5")


class Ranks(KernelTest):
    def test_results_come_back_and_lines_carry_the_rank(self):
        outcome = self.run_cell(
            "int64_t rank() { accelerate::Accelerator accelerator; std::cout << \"here\" << std::endl;\n"
            "  return accelerator.process_index(); }\naccelerate::notebook_launcher(rank, {.num_processes = 2})")
        self.assertEqual(outcome.result["text/plain"], "{0, 1}")
        self.assertEqual(sorted(outcome.stdout.splitlines()), ["[rank0]: here", "[rank1]: here"])

    def test_an_error_of_a_rank_is_shown(self):
        outcome = self.fails("accelerate::notebook_launcher([] { accelerate::Accelerator accelerator;\n"
                             "  if (accelerator.process_index() == 1) throw std::runtime_error(\"rank one is ill\");\n"
                             "  accelerator.wait_for_everyone(); }, {.num_processes = 2});")
        self.assertIn("rank one is ill", outcome.error)

    def test_a_crash_of_a_rank_leaves_the_notebook(self):
        self.run_cell("int survivor = 3;")
        outcome = self.fails("accelerate::notebook_launcher([] { raise(SIGSEGV); }, {.num_processes = 2});")
        self.assertIn("SIGSEGV", outcome.error)
        self.assertEqual(self.value("survivor"), "3")

    def test_an_interrupt_ends_a_launch_and_keeps_the_definitions(self):
        self.run_cell("int kept_by_launch = 4;")
        outcome = self.fails("accelerate::notebook_launcher([] { std::cout << \"runs\" << std::endl;\n"
                             "  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1)); }, {.num_processes = 2});",
                             interrupt_at="runs")
        self.assertIn("interrupted by SIGINT", outcome.error)
        self.assertEqual(self.value("kept_by_launch"), "4")

    def test_a_launch_after_libtorch_has_computed_with_threads(self):
        self.run_cell("auto big = torch::randn({600, 600}).set_requires_grad(true); big.matmul(big).sum().backward();")
        outcome = self.run_cell("accelerate::notebook_launcher([] { auto m = torch::ones({300, 300}); "
                                "return m.matmul(m)[0][0].item<double>(); }, {.num_processes = 2})")
        self.assertEqual(outcome.result["text/plain"], "{300, 300}")


class Accidents(KernelTest):
    def test_a_crash_is_told_and_the_next_cell_works(self):
        outcome = self.fails("int* nowhere = nullptr; *nowhere = 3;")
        self.assertIn("SIGSEGV", outcome.error)
        self.assertEqual(self.value("2 + 2"), "4")

    def test_a_cell_that_does_not_stop_is_ended(self):
        outcome = self.fails("while (true) {}", interrupt_after=1)
        self.assertTrue(outcome.error.startswith("KeyboardInterrupt"))
        self.assertEqual(self.value("3 + 3"), "6")

    def test_a_cell_that_prints_without_pause_is_ended(self):
        self.run_cell("std::string long_text(1 << 16, 'x');")
        outcome = self.fails("while (true) std::cout << long_text;", interrupt_at="x")
        self.assertTrue(outcome.error.startswith("KeyboardInterrupt"), outcome.error)
        self.assertEqual(self.value("3 + 4"), "7")

    def test_an_interrupt_is_told_when_the_cell_ends_by_itself(self):
        self.run_cell("int kept_by_cell = 5;")
        outcome = self.fails("std::cout << \"sleeps\" << std::endl;\nstd::this_thread::sleep_for(std::chrono::seconds(3));",
                             interrupt_at="sleeps")
        self.assertTrue(outcome.error.startswith("KeyboardInterrupt"), outcome.error)
        self.assertEqual(self.value("kept_by_cell"), "5")

    def test_an_interrupt_while_a_cell_is_compiled_keeps_the_definitions(self):
        self.run_cell("int kept_by_compiler = 6;\n"
                      "template <int depth, int n> struct Tree "
                      "{ static constexpr int v = Tree<depth - 1, 2 * n>::v + Tree<depth - 1, 2 * n + 1>::v; };\n"
                      "template <int n> struct Tree<0, n> { static constexpr int v = 1; };")
        outcome = self.fails("static_assert(Tree<18, 1>::v > 0);", interrupt_after=1)
        self.assertEqual(outcome.error, "KeyboardInterrupt: interrupted before the cell began")
        self.assertEqual(self.value("kept_by_compiler"), "6")

    def test_an_interrupt_while_the_interpreter_starts_keeps_the_cell_from_running(self):
        self.fails("_exit(0);")  # so that it starts anew
        interpreter, = psutil.Process(self.kernel.manager.provisioner.pid).children()
        interpreter.suspend()  # so that it is not ready before the interrupt

        def interrupt():
            self.kernel.manager.interrupt_kernel()
            interpreter.resume()

        threading.Timer(2, interrupt).start()
        outcome = self.fails('std::cout << "ran";')
        self.assertEqual(outcome.error, "KeyboardInterrupt: interrupted before the cell began")
        self.assertEqual((outcome.stdout, self.value("5 + 5")), ("", "10"))

    def test_a_cell_that_ends_the_process_does_not_end_the_notebook(self):
        self.assertIn("exit code 3", self.fails("_exit(3);").error)
        self.assertEqual(self.value("4 + 4"), "8")


class Start(unittest.TestCase):
    def test_headers_that_were_compiled_otherwise_are_told_with_the_remedy(self):
        content = get_kernel_spec(KERNEL).to_dict()
        content["argv"] = [word.replace("-std=c++20", "-std=c++17") for word in content["argv"]]
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, JUPYTER_PATH=folder):
            file = pathlib.Path(folder, "kernels", "older", "kernel.json")
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(content))
            with Kernel("older") as kernel:
                outcome = kernel.run("1")
        self.assertIn("run `accelerate notebook install` again", outcome.error)
        self.assertIn("the interpreter cannot be started: C++20 was enabled", outcome.traceback)


class End(unittest.TestCase):
    def test_a_kernel_ends_with_a_jupyter_that_is_killed(self):
        start = "from kernel_client import Kernel\nprint(Kernel().__enter__().manager.provisioner.pid, flush=True)\ninput()"
        with subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as jupyter:
            kernel = os.pidfd_open(int(jupyter.stdout.readline()))
            jupyter.kill()
        ended, _, _ = select.select([kernel], [], [], 20)
        os.close(kernel)
        self.assertTrue(ended, "the kernel is still there after 20 s")


if __name__ == "__main__":
    unittest.main()
