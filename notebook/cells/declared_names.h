#pragma once

// Which names a declaration introduces, so that a name that is declared anew can take the place of the older one.

#include <optional>
#include <string>
#include <vector>

#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

/// The names that a chunk of a cell declares at its top level: of a function, class, alias, template, variables, a
/// structured binding, an enumeration with its enumerators, or what TORCH_MODULE(Net) makes. Empty for expressions,
/// operators, members defined outside of their class and everything inside a namespace. Goes by the form alone, without
/// knowing types.
std::vector<std::string> declared_names(const std::vector<Token>& tokens);

/// The token that opens the body of a function; nothing for what is no function of this name with a body.
std::optional<size_t> body_of_function(const std::string& name, const std::vector<Token>& tokens);

/// Whether the chunk defines, outside of its class, a member of one of these classes: `int A::f() { ... }`.
bool defines_member_of(const std::vector<std::string>& classes, const std::vector<Token>& tokens);

/// Whether these tokens contain a lambda.
bool has_lambda(const std::vector<Token>& tokens);

}  // namespace accelerate::notebook
