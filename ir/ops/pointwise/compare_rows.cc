// Comparisons, tests and logic: rows that give bool.

#include "absl/strings/str_cat.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

void AddComparison(std::vector<OpRow>& rows, const std::string& name, const std::string& doc,
                   Takes takes, BinaryMethod method) {
  rows.push_back(
      Binary(absl::StrCat("aten::", name, ".Tensor(Tensor self, Tensor other) -> Tensor"), doc,
             PromoteToBool(takes), method));
  rows.push_back(
      Binary(absl::StrCat("aten::", name, ".Scalar(Tensor self, Scalar other) -> Tensor"), doc,
             PromoteToBool(takes), method));
}

std::vector<OpRow> ComparisonRows() {
  std::vector<OpRow> rows;
  AddComparison(rows, "eq", "self == other.", kTakesAll, &OpsHandler::Eq);
  AddComparison(rows, "ne", "self != other.", kTakesAll, &OpsHandler::Ne);
  AddComparison(rows, "lt", "self < other.", kTakesReal, &OpsHandler::Lt);
  AddComparison(rows, "le", "self <= other.", kTakesReal, &OpsHandler::Le);
  AddComparison(rows, "gt", "self > other.", kTakesReal, &OpsHandler::Gt);
  AddComparison(rows, "ge", "self >= other.", kTakesReal, &OpsHandler::Ge);
  return rows;
}

// Eager fills a tensor laid out like self where no element can be infinite, and compares floats.
OpRow FilledForIntegers(const OpRow& row) {
  OpRow filled = LaidOutLikeSelf(row);
  filled.infer = [compared = row.infer, filled = filled.infer](const InferContext& c) {
    return IsFloat(c.args.Type(0).dtype) ? compared(c) : filled(c);
  };
  return filled;
}

std::vector<OpRow> TestRows() {
  DTypeRule to_bool = PromoteToBool();
  return {
      Unary("isnan", "Whether NaN.", to_bool, &OpsHandler::IsNan),
      FilledForIntegers(
          Unary("isinf", "Whether infinite, of either sign.", to_bool, &OpsHandler::IsInf)),
      FilledForIntegers(Unary("isfinite", "Whether neither infinite nor NaN.", to_bool,
                              [](const PointwiseCall& c) {
                                OpsValue bad = c.ops.Or(c.ops.IsNan(c[0]), c.ops.IsInf(c[0]));
                                return c.ops.LogicalNot(bad);
                              })),
      Unary("isposinf", "Whether +infinity.", PromoteToBool(kTakesReal),
            [](const PointwiseCall& c) {
              OpsValue positive = c.ops.LogicalNot(c.ops.SignBit(c[0]));
              return c.ops.And(c.ops.IsInf(c[0]), positive);
            }),
      Unary(
          "isneginf", "Whether -infinity.", PromoteToBool(kTakesReal),
          [](const PointwiseCall& c) { return c.ops.And(c.ops.IsInf(c[0]), c.ops.SignBit(c[0])); }),
      Unary("isreal", "Whether the imaginary part is 0; real dtypes: true.",
            PromoteToBool(kTakesReal),
            [](const PointwiseCall& c) { return c.ops.Constant(true, DType::kBool); }),
      Unary("signbit", "Whether the sign bit is set: negative numbers and -0.0.",
            PromoteToBool(kTakesReal), &OpsHandler::SignBit),
  };
}

std::vector<OpRow> LogicRows() {
  // What is compared with zero is what promotion makes of the operands.
  auto binary = [](const char* name, const char* doc, BinaryMethod method) {
    return Binary(absl::StrCat("aten::", name, "(Tensor self, Tensor other) -> Tensor"), doc,
                  PromoteToBool(), [method](const PointwiseCall& c) {
                    return (c.ops.*method)(c.ops.Cast(c[0], DType::kBool),
                                           c.ops.Cast(c[1], DType::kBool));
                  });
  };
  return {
      Unary("logical_not", "Whether zero.", AsBool(), &OpsHandler::LogicalNot),
      binary("logical_and", "Whether both differ from zero.", &OpsHandler::And),
      binary("logical_or", "Whether one differs from zero.", &OpsHandler::Or),
      binary("logical_xor", "Whether exactly one differs from zero.", &OpsHandler::Xor),
  };
}

}  // namespace

std::vector<OpRow> CompareRows() {
  return Concatenate({ComparisonRows(), TestRows(), LogicRows()});
}

}  // namespace lathe
