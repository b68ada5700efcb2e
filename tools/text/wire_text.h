// Accessors for optional strings and vectors in a program's tables.

#pragma once

#include <string>

#include "schema/program_generated.h"

namespace taper::tools {

inline std::string text_of(const flatbuffers::String* text) { return text ? text->str() : ""; }

template <typename T>
size_t count_of(const flatbuffers::Vector<T>* vector) {
  return vector ? vector->size() : 0;
}

// "aten::add.out", or just the name if there is no overload.
inline std::string operator_name(const wire::Operator& op) {
  const std::string overload = text_of(op.overload());
  return text_of(op.name()) + (overload.empty() ? "" : "." + overload);
}

}  // namespace taper::tools
