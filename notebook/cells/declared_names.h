#pragma once

// Finds the names that a declaration introduces, so that a redeclared name can replace the older one.

#include <optional>
#include <string>
#include <vector>

#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

/// The names that a chunk of a cell declares at its top level: of a function, class, alias, template, variables, a
/// structured binding, an enumeration with its enumerators, or what TORCH_MODULE(Net) makes. Empty for expressions,
/// operators, members defined outside of their class and everything inside a namespace. Purely syntactic: it does not
/// know types.
std::vector<std::string> declared_names(const std::vector<Token>& tokens);

/// The index of the token that opens the body of the function `name`; nullopt if the tokens do not define it.
std::optional<size_t> body_of_function(const std::string& name, const std::vector<Token>& tokens);

/// Whether the chunk defines, outside of its class, a member of one of these classes: `int A::f() { ... }`.
bool defines_member_of(const std::vector<std::string>& classes, const std::vector<Token>& tokens);

/// Whether these tokens contain a lambda.
bool has_lambda(const std::vector<Token>& tokens);

}  // namespace accelerate::notebook
