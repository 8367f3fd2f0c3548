#include "notebook/cells/split_cell.h"

#include <string>

#include <doctest/doctest.h>

using namespace accelerate::notebook;

namespace {

/// The kinds of a cell's chunks, by their first letters.
std::string kinds(std::string_view cell) {
  std::string letters;
  for (const auto& chunk : split_cell(cell)) letters += "dsce"[static_cast<int>(chunk.kind)];
  return letters;
}

}  // namespace

TEST_CASE("A cell is cut at the end of each declaration and statement") {
  CHECK(kinds("") == "");
  CHECK(kinds("// only a comment\n") == "");
  CHECK(kinds("int a = 1; int b = 2;") == "ss");
  CHECK(kinds("int f() { return 1; } int g() { return 2; }") == "ss");
  CHECK(kinds("struct A { int x; }; A a; a.x") == "sse");
  CHECK(kinds("struct A { int x; } a;\nint b;") == "ss");
  CHECK(kinds("template <class T> struct B { static constexpr int v = 0; };\nenum class E { A, B };") == "ss");
  CHECK(kinds("namespace n { int f() { return 7; } }\nn::f()") == "se");
  CHECK(kinds("auto f = [](int a) { return a * 2; };\nf(2)") == "se");
  CHECK(kinds("std::vector<int> v{1, 2};\nv[0] = 9;") == "ss");
  CHECK(kinds("extern \"C\" { int f(); }\nint x;") == "ss");
  CHECK(kinds("int f() { return 1; }\n::g();") == "ss");
}

TEST_CASE("Statements that C++ allows in functions only are told apart") {
  CHECK(kinds("for (int i = 0; i < 2; ++i) f(i);") == "c");
  CHECK(kinds("for (;;) { f(); }\nint x;") == "cs");
  CHECK(kinds("if (a) { f(); } else if (b) { g(); } else { h(); }") == "c");
  CHECK(kinds("if (a) f(); else g();\nx") == "ce");
  CHECK(kinds("for (auto x : v) if (x) { f(); } else { g(); }\nint y;") == "cs");
  CHECK(kinds("do { --s; } while (s > 10);\nswitch (s) { case 1: break; }") == "cc");
  CHECK(kinds("try { f(); } catch (int) { } catch (...) { }\nx") == "ce");
  CHECK(kinds("{ int local = 1; }") == "c");
  CHECK(kinds("while (true) {") == "c");
}

TEST_CASE("An expression without a semicolon ends a cell") {
  CHECK(kinds("x") == "e");
  CHECK(kinds("int x = 1;\nx + 1 // shown") == "se");
  CHECK(kinds("P{1}.twice()") == "e");
  CHECK(kinds("P{1} + P{2}") == "e");
}

TEST_CASE("After the body of a function something new begins, whatever it begins with") {
  CHECK(kinds("double f(double x) { return x; }\n(f(2) + f(3)) / 2") == "se");
  CHECK(kinds("double f(double x) { return x; }\n-f(1)") == "se");
  CHECK(kinds("int f() noexcept { return 1; }\n*p") == "se");
  CHECK(kinds("auto f() -> int { return 1; }\n[] { return 1; }()") == "se");
  CHECK(kinds("bool operator==(A, A) { return true; }\n(a == b)") == "se");
  CHECK(kinds("template <class T = int> T g(T t) { return t; }\n-g(1)") == "se");
  CHECK(kinds("[[nodiscard]] int f() { return 1; }\n-f()") == "se");
  CHECK(kinds("int f() { return 1; };") == "s");
}

TEST_CASE("The braces of a value do not end a statement") {
  CHECK(kinds("[](int a) { return a; }(3)") == "e");
  CHECK(kinds("std::cout << [](int a) { return a; }(3) << 1;") == "s");
  CHECK(kinds("auto n = [](int a) { return a; }(3) + 1;") == "s");
  CHECK(kinds("template <class T> constexpr T two = T{1} + T{1};") == "s");
  CHECK(kinds("p->x + T{1} - 2") == "e");
}

TEST_CASE("Braces inside the head of a definition do not end it") {
  CHECK(kinds("F::F(int a) : a_{a} {}\nint x;") == "ss");
  CHECK(kinds("inline F::F(int a) : a_{a}, b_{a} { f(); }\n-x") == "se");
  CHECK(kinds("template <class T> requires requires(T t) { t.x; } int f(T t) { return t.x; }\nint y;") == "ss");
  for (std::string specifier : {"static", "volatile", "constinit", "const volatile"})
    CHECK(kinds(specifier + " struct P { int a; } p{};\nint x;") == "ss");
  CHECK(kinds("do x++; while (x < 3);\nwhile (x) f();") == "cc");
}

TEST_CASE("A declaration without its semicolon is no expression, so that the compiler says what is missing") {
  CHECK(kinds("auto t = torch::ones({2})") == "s");
  CHECK(kinds("std::vector<int> v{1, 2}") == "s");
  CHECK(kinds("auto [a, b] = f()") == "s");
  CHECK(kinds("using namespace std") == "s");
  CHECK(kinds("a * b(3)") == "e");
  CHECK(kinds("a * b == c") == "e");
}

TEST_CASE("Signs in literals and comments do not count") {
  CHECK(kinds("std::string r = R\"x(raw \" ; } )\" string)x\"; char c = '}'; int n = 1'000'000;") == "sss");
  CHECK(kinds("const char* s = \"a;b}c\\\"\"; /* ; } */ x") == "se");
  CHECK(kinds("auto s = \"text\"s; auto w = L\"a;b\"; auto u = u8R\"(;)\";") == "sss");
}

TEST_CASE("Lines of the preprocessor are chunks of their own") {
  CHECK(kinds("#include <vector>\n#if 1\nint f() { return 1; }\n#endif\nf()") == "ddsde");
  CHECK(kinds("#define TWO(a) \\\n  a + a\nTWO(1)") == "de");
}

TEST_CASE("A chunk knows its line and keeps all of its text") {
  std::string cell = "int a;\n\n// why\nint b;\nb";
  auto chunks = split_cell(cell);
  REQUIRE(chunks.size() == 3);
  CHECK(chunks[0].line == 1);
  CHECK(chunks[1].line == 1);  // begins with the rest of line 1
  CHECK(chunks[1].text == "\n\n// why\nint b;");
  CHECK(chunks[2].line == 4);
}

TEST_CASE("A cell with an open bracket or literal is not complete") {
  CHECK(is_balanced("int f() { return 1; }"));
  CHECK(is_balanced(""));
  CHECK_FALSE(is_balanced("for (int i = 0; i < 2; ++i) {"));
  CHECK_FALSE(is_balanced("f(1,"));
  CHECK_FALSE(is_balanced("auto s = \"open"));
  CHECK_FALSE(is_balanced("/* open"));
  CHECK_FALSE(is_balanced("R\"(open"));
  CHECK(is_balanced("auto s = \"{\";"));
}

TEST_CASE("The bracket that is open at the end is the innermost one") {
  std::string_view code = "f(1);\ng({2, [3]";
  auto bracket = unclosed_bracket(code);
  REQUIRE(bracket);
  CHECK(bracket->text == "{");
  CHECK(bracket->text.data() == code.data() + 8);
  CHECK_FALSE(unclosed_bracket("f({1, 2}) // ("));
  CHECK_FALSE(unclosed_bracket("f(')', \"(\")"));
  CHECK_FALSE(unclosed_bracket("f(a[1)"));  // for the compiler
  CHECK_FALSE(unclosed_bracket("f(1))"));
}
