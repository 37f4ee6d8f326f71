#ifndef LATHE_TESTS_IMPORT_FLOATS_H_
#define LATHE_TESTS_IMPORT_FLOATS_H_

// Floats into a program and out of it.

#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "compiler.h"

namespace lathe {

inline Tensor Floats(const Dims& sizes, const std::vector<float>& values) {
  return Tensor::FromSpan<float>(sizes, absl::MakeConstSpan(values));
}

inline std::vector<float> ValuesOf(const RunValue& value) {
  const Tensor& tensor = std::get<Tensor>(value);
  std::vector<float> values;
  for (int64_t k = 0; k < tensor.numel(); ++k) {
    values.push_back(static_cast<float>(tensor.AtLinear(k).ToDouble()));
  }
  return values;
}

}  // namespace lathe

#endif  // LATHE_TESTS_IMPORT_FLOATS_H_
