#include "accelerate/base/slurm_lists.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate;

TEST_CASE("the first node of a list of Slurm's") {
  CHECK(first_slurm_node("node1") == "node1");
  CHECK(first_slurm_node("node1,node2") == "node1");
  CHECK(first_slurm_node("gpu[03-07,12],cpu1") == "gpu03");
  CHECK(first_slurm_node("gpu[3,5]") == "gpu3");
  CHECK(first_slurm_node("head,gpu[3,5]") == "head");
  CHECK(first_slurm_node("a-b[10-11]") == "a-b10");
}

TEST_CASE("each node has its own number of tasks") {
  CHECK(slurm_tasks_on_node("8", 0) == 8);
  CHECK(slurm_tasks_on_node("4(x2)", 1) == 4);
  CHECK(slurm_tasks_on_node("3,1", 0) == 3);
  CHECK(slurm_tasks_on_node("3,1", 1) == 1);
  CHECK(slurm_tasks_on_node("2(x3),1,5(x2)", 2) == 2);
  CHECK(slurm_tasks_on_node("2(x3),1,5(x2)", 3) == 1);
  CHECK(slurm_tasks_on_node("2(x3),1,5(x2)", 5) == 5);
}

TEST_CASE("a list of tasks that leaves a node out is an error that shows it") {
  CHECK_THROWS_WITH_AS(slurm_tasks_on_node("4(x2)", 2), doctest::Contains("'4(x2)'"), Error);
  CHECK_THROWS_WITH_AS(slurm_tasks_on_node("many", 0), doctest::Contains("'many'"), Error);
}
