#ifndef LATHE_IR_OPS_REDUCE_REDUCTION_H_
#define LATHE_IR_OPS_REDUCE_REDUCTION_H_

// Reduction rows in a few lines: which arguments say what is reduced, the kind, and what happens to
// an element before and to the reduced value after.
//
//   Reduction({.schema = "aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
//              .dim = 1, .keepdim = 2, .dtypes = KeepDType(), .parts = {{ReduceKind::kMax}}})

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/loops/ops_handler.h"
#include "ir/ops/op_args.h"
#include "ir/ops/op_row.h"

namespace lathe {

// Elements are converted to `accumulate`, reduced, finished, and converted to `result`.
struct ReductionDTypes {
  DType accumulate;
  DType result;
};
using ReductionDTypeRule = std::function<absl::StatusOr<ReductionDTypes>(const OpArgs& args)>;

ReductionDTypeRule KeepDType();            // f16 and the like accumulate in f32
ReductionDTypeRule SumDTypes(int dtype);   // integers give i64; argument `dtype` overrides
ReductionDTypeRule MeanDTypes(int dtype);  // floats alone, unless argument `dtype` says so
ReductionDTypeRule LogicDTypes();          // bool; u8 stays u8
ReductionDTypeRule CountDTypes();          // i64

// One result of the op.
struct ReductionPart {
  ReduceKind kind = ReduceKind::kSum;
  // An element, loaded in the input's LoadedDType, as what is reduced; by default cast to
  // `accumulate`.
  std::function<OpsValue(OpsHandler& ops, OpsValue element, const ReductionDTypes& dtypes)>
      element = {};
  // From the reduced value; `count` is the number of elements reduced.
  std::function<OpsValue(OpsHandler& ops, OpsValue reduced, const Expr& count)> finish = {};
};

struct ReductionSpec {
  std::string schema;
  std::string doc;
  // Schema arguments: the dimensions (a list, one int, or none; -1: all are reduced), and keepdim.
  int dim = -1;
  int keepdim = -1;
  ReductionDTypeRule dtypes;
  std::vector<ReductionPart> parts;  // one a result
  // An empty list of dimensions reduces nothing (any, all) instead of everything.
  bool empty_dims_reduce_nothing = false;
  // No element, no result: the op's name for eager's refusal.
  std::string refuses_empty = {};
  std::vector<std::string> samples = {};
};

OpRow Reduction(ReductionSpec spec);

}  // namespace lathe

#endif  // LATHE_IR_OPS_REDUCE_REDUCTION_H_
