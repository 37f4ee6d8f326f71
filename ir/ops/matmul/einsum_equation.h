#ifndef LATHE_IR_OPS_MATMUL_EINSUM_EQUATION_H_
#define LATHE_IR_OPS_MATMUL_EINSUM_EQUATION_H_

// The subscripts of einsum: "bij,bjk->bik", "...i,...i", "ii->i".

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe {

// A letter, 'A' to 'Z' before 'a' to 'z', or the dimensions that three dots stand for.
inline constexpr int kEllipsis = 52;
inline constexpr int kLabels = 53;
char LabelName(int label);

struct EinsumEquation {
  std::vector<std::vector<int>> operands;  // the labels of each one's dimensions
  std::vector<int> output;                 // where none is written: the labels seen once, in order
};

// InvalidArgument for what is no equation, or has other than `operands` operands.
absl::StatusOr<EinsumEquation> ParseEinsum(absl::string_view text, size_t operands);

}  // namespace lathe

#endif  // LATHE_IR_OPS_MATMUL_EINSUM_EQUATION_H_
