#pragma once

// A cell in the form that clang's interpreter can take, one unit after the other.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

/// A function that has the name of older ones. Where it stands it would hide them all, although it replaces only the
/// one that has its parameters.
struct Overload {
  std::string name = {};
  std::string space = {};            // the namespace that the function is defined in
  std::string signature = {};        // a declaration with the same parameters, in a namespace of its own
  std::string signature_space = {};  // that namespace
};

/// Code that is parsed and run as a whole.
struct Unit {
  std::string code = {};
  std::vector<std::string> redefines = {};  // names whose older declarations go out of sight when this one is parsed
  std::optional<Overload> overload = {};    // what the code defines, where it is a function alone
};

/// Whether an earlier cell has declared a name.
using IsKnown = std::function<bool(const std::string& name)>;

/// Where code comes from.
struct CodeOrigin {
  int number = 1;      // of the cell, which is called In[number] in messages
  int first_line = 1;  // of the cell, where the code begins
  int run = 1;         // under this number: a silent cell has that of the one before, and commands divide a cell
};

/// The units of a cell, or of a part of it.
///
/// Control statements go into functions, as do expressions with a lambda, which clang 19 cannot mangle at the top
/// level. A declaration of a known name goes into a namespace of its own, because C++ has no redefinition, together
/// with what completes it, as the code of a function that is declared first. The value of an expression at the end is
/// shown. Lines of messages are those of the cell, and a running statement can be found by its line
/// (runtime/messages.h).
std::vector<Unit> rewrite_cell(std::string_view code, const CodeOrigin& origin, const IsKnown& is_known);

/// Code that measures how long the cell takes: with 0 for a count, as many runs as are needed for a good estimate.
Unit timed_cell(std::string_view code, const CodeOrigin& origin, int loops, int repeats);

}  // namespace accelerate::notebook
