#ifndef LATHE_IR_REFERENCE_RELAYOUT_H_
#define LATHE_IR_REFERENCE_RELAYOUT_H_

// Tensors laid out otherwise in memory, for calls whose answers must not depend on that.

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

enum class Relayout {
  kTransposed,  // the first dimension is the densest
  kSliced,      // every second element of rows that are longer
  kExpanded,    // the first dimension repeats its first place: other elements than before
};

std::optional<Relayout> ParseRelayout(absl::string_view text);

// The elements of `t` (of its first place, when expanded) in memory of their own. Of no dimensions
// or elements: `t` itself.
Tensor InLayout(const Tensor& t, Relayout layout);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_RELAYOUT_H_
