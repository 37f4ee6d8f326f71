#ifndef LATHE_IR_OPS_POINTWISE_POINTWISE_H_
#define LATHE_IR_OPS_POINTWISE_POINTWISE_H_

// Elementwise rows in a few lines: operands broadcast and promote together, a body says what one
// element is, and result types, lowering and reference evaluation follow.
//
//   Pointwise({.schema = "aten::tanh(Tensor self) -> Tensor",
//              .doc = "Hyperbolic tangent.",
//              .dtypes = PromoteToFloat(),
//              .body = [](const PointwiseCall& c) { return c.ops.Tanh(c[0]); }})

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/loops/ops_handler.h"
#include "ir/ops/op_args.h"
#include "ir/ops/op_row.h"

namespace lathe {

// The dtypes of one elementwise call. Operands are converted to `common` (eager casts them before
// the kernel), which is computed in LoadedDType(common); the value is then cast to `result`.
struct PointwiseDTypes {
  DType common;
  DType result;
};
using DTypeRule = std::function<absl::StatusOr<PointwiseDTypes>(const OpArgs& args,
                                                                absl::Span<const int> operands)>;

// Kinds of dtypes that an op takes, after promotion.
struct Takes {
  bool boolean = true, integer = true, floating = true, complex = true;
};
inline constexpr Takes kTakesAll = {};
inline constexpr Takes kTakesNumbers = {.boolean = false};
inline constexpr Takes kTakesReal = {.complex = false};
inline constexpr Takes kTakesRealNumbers = {.boolean = false, .complex = false};
inline constexpr Takes kTakesIntegral = {.floating = false, .complex = false};
inline constexpr Takes kTakesFloat = {.boolean = false, .integer = false, .complex = false};

DTypeRule Promote(Takes takes = kTakesAll);           // result = common = promoted
DTypeRule PromoteToFloat(Takes takes = kTakesAll);    // integers become f32; `takes` before that
DTypeRule PromoteToBool(Takes takes = kTakesAll);     // common = promoted, result bool
DTypeRule AsBool();                                   // common = result = bool
DTypeRule OfOperand(int k, Takes takes = kTakesAll);  // promoting operand k's own dtype

// One element of a call, while the body runs.
struct PointwiseCall {
  OpsHandler& ops;
  const OpArgs& args;
  DType dtype;  // that the operands have and that is computed in
  PointwiseDTypes dtypes;
  std::vector<OpsValue> in;  // one an operand; invalid for an absent one

  OpsValue operator[](int k) const { return in[k]; }
  bool Has(int k) const { return in[k].is_valid(); }
  // A number of the body's own, or number argument `i`, in the computing dtype.
  OpsValue Constant(const Scalar& value) const { return ops.Constant(value, dtype); }
  OpsValue Number(int i) const;
  // Rounded to `dtypes.common` where that is narrower than what is computed in: a step that eager
  // rounds by itself.
  OpsValue Rounded(OpsValue value) const;
};
using PointwiseBody = std::function<OpsValue(const PointwiseCall& call)>;

struct PointwiseSpec {
  std::string schema;
  std::string doc;
  // Schema arguments that take part elementwise, tensors and Scalars; the first alone by default.
  std::vector<int> operands = {0};
  DTypeRule dtypes;
  PointwiseBody body = {};
  // Operands (positions in `operands`) that are read as bool and do not promote: conditions, masks.
  std::vector<int> masks = {};
  // Scalar operands pass through `common` (eager wraps them into a tensor of it) instead of keeping
  // the computing precision.
  bool round_scalars = false;
  // The second operand, when it is a tensor without dimensions, counts as a number too: eager reads
  // it from its own dtype into the computing one.
  bool reads_numbers = false;
  // The result is contiguous whatever the operands' strides are.
  bool contiguous_result = false;
  // Evaluation alone, for functions that loops do not compute: from the operands in double (int64
  // for integers) to the result. `body` is then empty.
  std::function<double(const OpArgs& args, absl::Span<const double> in)> floats = {};
  std::function<int64_t(const OpArgs& args, absl::Span<const int64_t> in)> integers = {};
  std::vector<std::string> samples = {};
};

OpRow Pointwise(PointwiseSpec spec);

// Shorthands for rows of one tensor and one loop operation.
using UnaryMethod = OpsValue (OpsHandler::*)(OpsValue);
using BinaryMethod = OpsValue (OpsHandler::*)(OpsValue, OpsValue);
// "aten::NAME(Tensor self) -> Tensor"
OpRow Unary(const std::string& name, const std::string& doc, DTypeRule dtypes, PointwiseBody body);
OpRow Unary(const std::string& name, const std::string& doc, DTypeRule dtypes, UnaryMethod method);
// "aten::NAME(Tensor self, Tensor other) -> Tensor", or any schema whose first two arguments are
// the operands.
OpRow Binary(const std::string& schema, const std::string& doc, DTypeRule dtypes,
             PointwiseBody body);
OpRow Binary(const std::string& schema, const std::string& doc, DTypeRule dtypes,
             BinaryMethod method, bool round_scalars = true);
// The same with numbers in the computing dtype, the Scalar or the tensor without dimensions.
OpRow BinaryOfNumbers(const std::string& schema, const std::string& doc, DTypeRule dtypes,
                      PointwiseBody body);
PointwiseBody BodyOf(UnaryMethod method);
PointwiseBody BodyOf(BinaryMethod method);

}  // namespace lathe

#endif  // LATHE_IR_OPS_POINTWISE_POINTWISE_H_
