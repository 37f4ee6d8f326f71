#ifndef LATHE_IR_REFERENCE_FACTORS_H_
#define LATHE_IR_REFERENCE_FACTORS_H_

// Factorisations whose vectors are unique only up to a factor of size one: compared by what their
// factors multiply to.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// Singular values and eigenvectors.
bool IsComparedByProduct(absl::string_view op);

// "" when the values agree, the vectors are orthonormal, and the products agree; else what differs.
// Types are not compared.
std::string CompareProducts(absl::string_view op, absl::Span<const Tensor> actual,
                            absl::Span<const Tensor> expected);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_FACTORS_H_
