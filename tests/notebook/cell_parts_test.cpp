#include "notebook/cells/cell_parts.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate::notebook;

TEST_CASE("Commands are cut out of the code around them") {
  auto parts = parts_of("%include /opt/include\n%lib m\nint x = 1;\n!echo hello\nx\n");
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].kind == PartKind::Include);
  CHECK(parts[0].text == "/opt/include");
  CHECK(parts[1].kind == PartKind::Library);
  CHECK(parts[2].kind == PartKind::Code);
  CHECK(parts[2].text == "int x = 1;\n");
  CHECK(parts[2].line == 3);
  CHECK(parts[3].kind == PartKind::Shell);
  CHECK(parts[3].text == "echo hello");
  CHECK(parts[4].line == 5);
}

TEST_CASE("A line inside brackets or a literal is no command") {
  auto parts = parts_of("bool a = f(\n!b);\nauto s = R\"(\n%lib m\n)\";\n");
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].kind == PartKind::Code);
}

TEST_CASE("A command for a whole cell takes all of it, with its counts") {
  auto parts = parts_of("%%timeit -n 100 -r 3\nf();\n");
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].kind == PartKind::TimeIt);
  CHECK(parts[0].loops == 100);
  CHECK(parts[0].repeats == 3);
  CHECK(parts[0].line == 2);
  CHECK(parts[0].text == "f();\n");
  CHECK(parts_of("%%time\nf();")[0].kind == PartKind::Time);
}

TEST_CASE("A command that does not exist or lacks its argument is an error that says what to write") {
  CHECK_THROWS_WITH_AS(parts_of("%libb m"), doctest::Contains("did you mean %lib?"), accelerate::Error);
  CHECK_THROWS_WITH_AS(parts_of("%%bash\nls"), doctest::Contains("%%bash is not a command"), accelerate::Error);
  CHECK_THROWS_WITH_AS(parts_of("%lib"), doctest::Contains("needs the name of a library"), accelerate::Error);
  CHECK_THROWS_WITH_AS(parts_of("%%timeit -n x\nf();"), doctest::Contains("-n is followed by 'x'"), accelerate::Error);
  CHECK_THROWS_WITH_AS(parts_of("%%timeit -q\nf();"), doctest::Contains("'-q'"), accelerate::Error);
}
