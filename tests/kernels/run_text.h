#ifndef LATHE_TESTS_KERNELS_RUN_TEXT_H_
#define LATHE_TESTS_KERNELS_RUN_TEXT_H_

// Programs written as text, run on one tier.

#include <string>
#include <vector>

#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"

namespace lathe {

inline Tensor Filled(DType dtype, const Dims& sizes, const Scalar& value) {
  Tensor t = Tensor::Empty(dtype, sizes);
  for (int64_t k = 0; k < t.numel(); ++k) t.SetLinear(k, value);
  return t;
}
inline Tensor Ones(const Dims& sizes) { return Filled(DType::kF32, sizes, Scalar(1)); }

// first, first + step, ...
inline Tensor Counted(DType dtype, const Dims& sizes, double first = 0, double step = 1) {
  Tensor t = Tensor::Empty(dtype, sizes);
  for (int64_t k = 0; k < t.numel(); ++k) {
    t.SetLinear(k, Convert(Scalar(first + static_cast<double>(k) * step), dtype));
  }
  return t;
}

inline absl::StatusOr<std::vector<RunValue>> RunText(const std::string& text, Tier tier,
                                                     const std::vector<RunValue>& inputs,
                                                     int threads = 1) {
  LATHE_ASSIGN_OR_RETURN(const Program program, ParseProgram(text, OpRegistry::Builtin()));
  CompileOptions options;
  options.tier = tier;
  options.threads = threads;
  LATHE_ASSIGN_OR_RETURN(const Executable executable, Compile(program, options));
  return executable.Run(inputs);
}

}  // namespace lathe

#endif  // LATHE_TESTS_KERNELS_RUN_TEXT_H_
