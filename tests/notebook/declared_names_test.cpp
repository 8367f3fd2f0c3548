#include "notebook/cells/declared_names.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace accelerate::notebook;

namespace {

std::string names(std::string_view code) {
  std::string text;
  for (const auto& name : declared_names(tokens_of(code).tokens)) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace

TEST_CASE("The names that a declaration introduces are found") {
  CHECK(names("int x;") == "x");
  CHECK(names("auto t = torch::ones({2, 3});") == "t");
  CHECK(names("const std::vector<std::pair<int, int>>& v = w;") == "v");
  CHECK(names("torch::Tensor y{};") == "y");
  CHECK(names("std::thread th([] {});") == "th");
  CHECK(names("int a = f(1, 2), *b = nullptr, c;") == "a b c");
  CHECK(names("auto [train, eval] = split();") == "train eval");
  CHECK(names("int array[3] = {1, 2, 3};") == "array");
  CHECK(names("static thread_local int counter = 0;") == "counter");
  CHECK(names("[[maybe_unused]] int attr = 3;") == "attr");
}

TEST_CASE("Functions, classes, aliases and templates have names too") {
  CHECK(names("int f(int a) { return a; }") == "f");
  CHECK(names("std::string name() { return {}; }") == "name");
  CHECK(names("struct NetImpl : torch::nn::Module { int a, b; };") == "NetImpl");
  CHECK(names("enum class E { A, B };") == "E");
  CHECK(names("enum Color : int { Red, Green = f(1, 2), Blue };") == "Color Red Green Blue");
  CHECK(names("enum { k = 1 };") == "k");
  CHECK(names("TORCH_MODULE(Net);") == "Net");
  CHECK(names("TORCH_MODULE_IMPL(Net, OwnNetImpl);") == "Net");
  CHECK(names("using VI = std::vector<int>;") == "VI");
  CHECK(names("typedef unsigned long ulong_t;") == "ulong_t");
  CHECK(names("template <class T> T twice(T t) { return t + t; }") == "twice");
  CHECK(names("template <class T> struct Box { T t; };") == "Box");
  CHECK(names("template <class T> concept Small = sizeof(T) < 4;") == "Small");
}

TEST_CASE("Names are found behind alignments, constraints and in declarators with brackets") {
  CHECK(names("struct alignas(16) V { float x; };") == "V");
  CHECK(names("alignas(64) float b[4];") == "b");
  CHECK(names("decltype(x) y = x;") == "y");
  CHECK(names("decltype(auto) f() { return 1; }") == "f");
  CHECK(names("int (*pointer)(int) = [](int a) { return a; };") == "pointer");
  CHECK(names("template <class T> requires std::integral<T> T half(T t) { return t / 2; }") == "half");
  CHECK(names("template <class T> requires(sizeof(T) > 4) && C<T> struct Large {};") == "Large");
  CHECK(names("template <class T> requires requires(T t) { t.x; } int f(T t) { return t.x; }") == "f");
}

TEST_CASE("A member that is defined outside of its class is told from an expression") {
  auto defines = [](std::string_view code) { return defines_member_of({"A", "Box"}, tokens_of(code).tokens); };
  CHECK(defines("void A::f() {}"));
  CHECK(defines("std::ostream& A::print(std::ostream& out) const { return out; }"));
  CHECK(defines("A::A(int a) : a_{a} {}"));
  CHECK(defines("int A::size = 0;"));
  CHECK(defines("std::vector<std::pair<int, int>> A::pairs;"));
  CHECK(defines("template <class T> T Box<T>::get() { return t; }"));
  CHECK_FALSE(defines("void B::f() {}"));
  CHECK_FALSE(defines("A::run();"));
  CHECK_FALSE(defines("std::cout << A::size << std::endl;"));
  CHECK_FALSE(defines("std::cin >> A::size;"));
  CHECK_FALSE(defines("int x = A::size;"));
  CHECK_FALSE(defines("throw A::Error{};"));
}

TEST_CASE("What declares nothing anew has no names") {
  for (const char* code : {"x = 5;",
                           "f(1);",
                           "x + y(3);",
                           "std::cout << x << y;",
                           "v[0] = 9;",
                           "a.b(c);",
                           "p->q(r);",
                           "throw error;",
                           "delete p;",
                           "using namespace std;",
                           "using std::vector;",
                           "namespace n { int x; }",
                           "extern \"C\" { int f(); }",
                           "int A::g() const { return 1; }",
                           "bool operator==(const A& a, const A& b) { return true; }",
                           "++i;",
                           "*p = 3;",
                           "template <> struct Box<int> { };",
                           "accelerate::notebook_launcher(train, {.num_processes = 2});",
                           "return x;",
                           "TORCH_CHECK(x);",
                           "struct A::B { int x; };",
                           "f(*p)(3);",
                           "a * b == c;",
                           ""}) {
    CAPTURE(code);
    CHECK(names(code) == "");
  }
}

TEST_CASE("A lambda is told from an index and an attribute") {
  auto has = [](std::string_view code) { return has_lambda(tokens_of(code).tokens); };
  CHECK(has("[&] { f(); }();"));
  CHECK(has("launch([] {}, 2);"));
  CHECK(has("auto f = [](int a) { return a; };"));
  CHECK(has("std::cout << [] { return 5; }();"));
  CHECK_FALSE(has("v[0] = w[1][2];"));
  CHECK_FALSE(has("f()[0];"));
  CHECK_FALSE(has("int array[3];"));
  CHECK_FALSE(has("[[nodiscard]] int f();"));
}
