#ifndef LATHE_CODEGEN_TESTING_SPEC_CASES_H_
#define LATHE_CODEGEN_TESTING_SPEC_CASES_H_

// Kernel specs with the sizes and inputs to run them on (codegen/testdata/*.spec), for every tier:
//
//   // case: a sentence
//   // sizes: b0=s0*s1, b1=s0        elements of each buffer
//   // fill: b0=finite, b1=index:s1  otherwise "any"; see Fill in the .cc
//   // run: s0=3 s1=0..40,63; s0=1 s1=4097
//   // expect: index                 or division, check: the run must fail so
//   // for: T=f32,f64; F=add,sub     the case once for each combination, $T and $F replaced
//   kernel ... { ... }
//   -----
//
// Buffers end at an unreadable page, so a kernel that reads or writes past an end dies.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/loops/kernel_spec.h"
#include "runtime/abi/kernel_interface.h"

namespace lathe {

struct SpecCase {
  std::string title;  // with the combination: "rows reduced [T=f32 R=sum]"
  KernelSpec spec;
  std::vector<Expr> sizes;                 // of the buffers
  std::vector<std::string> fills;          // of the buffers
  std::vector<std::vector<int64_t>> runs;  // values of spec.symbols
  absl::StatusCode expected = absl::StatusCode::kOk;
  bool approximate = false;  // vector math is involved: the oracle agrees but for a few ULP
  std::shared_ptr<ExprContext> context;
};

absl::StatusOr<std::vector<SpecCase>> LoadSpecCases(const std::string& path);

// Runs `kernel` on every run of the case, whole and in pieces, and compares each buffer with
// EvaluateSpec's: bit for bit (NaN equals NaN), or nearly if the case is approximate.
absl::Status CheckAgainstEvaluator(const SpecCase& test, const Kernel& kernel);

// The same between two kernels, always bit for bit.
absl::Status CheckSameBits(const SpecCase& test, const Kernel& a, const Kernel& b);

}  // namespace lathe

#endif  // LATHE_CODEGEN_TESTING_SPEC_CASES_H_
