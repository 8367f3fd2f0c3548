#pragma once

// Rewrites a cell into units of code that clang's interpreter accepts.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

/// A function with the name of older functions. In its own namespace it would hide all of them, although it replaces
/// only the one with the same parameters.
struct Overload {
  std::string name = {};
  std::string space = {};            // the namespace that the function is defined in
  std::string signature = {};        // a declaration with the same parameters, in another namespace
  std::string signature_space = {};  // that namespace
};

/// Code that is parsed and run as a whole.
struct Unit {
  std::string code = {};
  std::vector<std::string> redefines = {};  // names whose older declarations are hidden after parsing
  std::optional<Overload> overload = {};    // set if the code only defines a function
};

/// Whether an earlier cell has declared a name.
using IsKnown = std::function<bool(const std::string& name)>;

/// The cell and line of a piece of code.
struct CodeOrigin {
  int number = 1;      // of the cell: messages name it In[number]
  int first_line = 1;  // of the cell, where the code begins
  int run = 1;         // counts the parts that run under one number: silent cells and cells with commands
};

/// The units of a cell, or of a part of it.
///
/// Control statements are placed in functions. So are expressions with a lambda, because clang 19 cannot mangle them at
/// the top level. A declaration of a known name is placed in a new namespace, because C++ has no redefinition. Code
/// that completes the declaration, such as the body of a function, is placed in the same namespace. The value of an
/// expression at the end is displayed. Line numbers in messages are those of the cell, and the line of the running
/// statement is recorded (runtime/messages.h).
std::vector<Unit> rewrite_cell(std::string_view code, const CodeOrigin& origin, const IsKnown& is_known);

/// Code that measures the time of the cell. If `loops` is 0, their number is chosen automatically.
Unit timed_cell(std::string_view code, const CodeOrigin& origin, int loops, int repeats);

}  // namespace accelerate::notebook
