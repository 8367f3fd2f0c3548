#include "notebook/cells/rewrite_cell.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

using namespace accelerate::notebook;

namespace {

bool nothing_known(const std::string&) { return false; }

/// Code without the lines that only tell positions, and without the spaces that tell columns.
std::string without_positions(const std::string& code) {
  std::string text, line;
  std::istringstream lines(code);
  while (std::getline(lines, line)) {
    line.erase(0, line.find_first_not_of(' '));
    bool position =
        line.starts_with("#line") || line.starts_with("::accelerate::notebook::running_line") || line.empty();
    if (!position) text += line + "\n";
  }
  return text;
}

/// The code of a cell as one unit.
std::string rewritten(std::string_view cell) {
  auto units = rewrite_cell(cell, {.number = 3}, nothing_known);
  REQUIRE(units.size() == 1);
  return without_positions(units[0].code);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Declarations stay at the top level, control statements go into functions") {
  CHECK(rewritten("int x = 1;") == "int x = 1;\n");
  CHECK(rewritten("for (;;) f();") == "static void cell_3_1_0() {\nfor (;;) f();\n}\ncell_3_1_0();\n");
}

TEST_CASE("An expression statement with a lambda goes into a function, a declaration with one stays") {
  CHECK(contains(rewritten("launch([] {}, 2);"), "static void cell_3_1_0()"));
  CHECK(contains(rewritten("[&] { f(); }();"), "static void cell_3_1_0()"));
  CHECK(rewritten("auto f = [] {};") == "auto f = [] {};\n");
  CHECK(rewritten("v[0] = 1;") == "v[0] = 1;\n");
}

TEST_CASE("A function with a lambda inside stays at the top level, whatever its name looks like") {
  for (const char* code : {"bool operator<(A a, A b) { return [&] { return a.x < b.x; }(); }",
                           "int A::f() { return [&] { return x; }(); }", "decltype(auto) f() { return [] {}; }",
                           "int (*pointer)(int) = [](int a) { return a; };"}) {
    CHECK(rewritten(code) == std::string(code) + "\n");
  }
}

TEST_CASE("Runs under one number have functions and namespaces of different names") {
  auto known = [](const std::string&) { return true; };
  CHECK(contains(rewrite_cell("{ f(); }", {.number = 3}, nothing_known)[0].code, "cell_3_1_0"));
  CHECK(contains(rewrite_cell("{ f(); }", {.number = 3, .run = 2}, nothing_known)[0].code, "cell_3_2_0"));
  CHECK(contains(rewrite_cell("int x;", {.number = 3, .run = 2}, known)[0].code, "inline namespace In3_2 {"));
  CHECK(timed_cell("f()", {.number = 3}, 1, 1).code != timed_cell("f()", {.number = 3, .run = 2}, 1, 1).code);
}

TEST_CASE("The value of an expression at the end is shown") {
  CHECK(rewritten("x // the value") == "static_cast<void>(0),\nx\n, ::accelerate::notebook::Shown{};\n");
  CHECK_FALSE(contains(rewritten("x;"), "Shown"));
}

TEST_CASE("A declaration of a known name gets a unit and a namespace of its own") {
  auto units = rewrite_cell("int a = 1;\nint x = 2;\nint b = x;", {.number = 4},
                            [](const std::string& name) { return name == "x"; });
  REQUIRE(units.size() == 3);
  CHECK(units[0].redefines.empty());
  CHECK(units[1].redefines == std::vector<std::string>{"x"});
  CHECK(contains(units[1].code, "inline namespace In4 {"));
  CHECK(contains(units[2].code, "int b = x;"));
}

TEST_CASE("A redefinition and what completes it are one unit") {
  auto known = [](const std::string& name) { return name != "fresh"; };
  auto functions = "bool even(int);\nint fresh() { return even(1); }\nbool even(int n) { return n == 0; }\nint x = 1;";
  auto units = rewrite_cell(functions, {.number = 4}, known);
  REQUIRE(units.size() == 2);
  CHECK(units[0].redefines == std::vector<std::string>{"even", "fresh", "even"});
  CHECK(units[1].redefines == std::vector<std::string>{"x"});
  units = rewrite_cell("struct A { void f(); };\nvoid use() { A().f(); }\nvoid A::f() {}", {.number = 4}, known);
  REQUIRE(units.size() == 1);
  CHECK(contains(without_positions(units[0].code), "inline namespace In4 {\nvoid A::f() {}\n}"));
  CHECK(rewrite_cell("int f(int) { return 1; }\nint f(double) { return 2; }", {.number = 4}, known).size() == 2);
  CHECK(rewrite_cell("bool even(int);\neven(1);\nbool even(int n) { return n == 0; }", {.number = 4}, known).size() ==
        3);
}

TEST_CASE("A function of a known name comes with its signature") {
  auto known = [](const std::string& name) { return name != "fresh"; };
  auto overload = [&](std::string_view cell) { return rewrite_cell(cell, {.number = 4}, known).front().overload; };
  auto function = overload("int f(int n = 1)  // one more\n{ return n + 1; }");
  REQUIRE(function);
  CHECK(function->name == "f");
  CHECK(function->space == "In4");
  CHECK(function->signature_space == "signature_4_1_0");
  CHECK(without_positions(function->signature) == "namespace signature_4_1_0 {\nint f(int n = 1)  // one more\n;\n}\n");
  CHECK(overload("template <class T> T f(T t) { return t; }"));
  for (const char* other : {"int f = 1;", "auto f = [](int n) { return n; };", "struct f { int n; };", "int f(int);",
                            "int fresh(int n) { return n; }", "f(1);"}) {
    CHECK_FALSE(overload(other));
  }
}

TEST_CASE("Messages name the cell and its lines") {
  auto code = rewrite_cell("int a;\n\n  f(a);", {.number = 7, .first_line = 5}, nothing_known)[0].code;
  CHECK(contains(code, "#line 5 \"In[7]\"\nint a;"));
  CHECK(contains(code, "running_line = 7;"));  // where f(a) stands, counted from the cell's first line
}

TEST_CASE("Code keeps its columns, and what is added stands behind it") {
  auto code = rewrite_cell("int a; f(a)", {.number = 7}, nothing_known)[0].code;
  CHECK(contains(code, "#line 1 \"In[7]\"\n       f(a)\n"));  // with the space before it
  CHECK(contains(code, "#line 1 \"In[7]\"\n           , ::accelerate::notebook::Shown{};"));
  code = timed_cell("f(\n  1)\n", {.number = 7, .first_line = 2}, 1, 1).code;
  CHECK(contains(code, "#line 2 \"In[7]\"\nf(\n  1)\n#line 3 \"In[7]\"\n    ;}"));
}

TEST_CASE("A timed cell becomes a function that is called many times") {
  auto unit = timed_cell("f()", {.number = 2}, 100, 3);
  CHECK(contains(without_positions(unit.code), "f()\n;}"));
  CHECK(contains(unit.code, "time_calls(timed_cell_2_1, 100, 3);"));
}

TEST_CASE("An empty cell has no units") {
  CHECK(rewrite_cell(" \n// nothing\n", {.number = 1}, nothing_known).empty());
}
