// Assertions of exported programs. They give no result; an ordered effect keeps them alive.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/families.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types NoResults(const InferContext&) { return std::vector<ValueType>(); }

OpRow AssertRow(std::string schema, std::string doc) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.effect = Effect::kOrdered;
  row.infer = NoResults;
  return row;
}

bool IsTrue(const HostArgs& args) {
  if (args.value(0).is_tensor()) {
    return args.Tensor(0).numel() == 1 && args.Tensor(0).AtLinear(0).ToBool();
  }
  return args.Number(0).ToBool();
}

OpRow ConditionRow(std::string schema, std::string doc) {
  OpRow row = AssertRow(std::move(schema), std::move(doc));
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    if (IsTrue(c.args)) return std::vector<HostValue>();
    return FailedPrecondition(
        c.args.size() > 1 ? c.args.String(1) : std::string("an assertion of the program failed"));
  };
  return row;
}

// What the exporter relied on when it recorded the graph: checked on the types, then gone.
Types CheckMetadata(const InferContext& c) {
  const TensorType& type = c.args.Type(0);
  if (auto dtype = c.args.OptionalDType(3); dtype.has_value() && *dtype != type.dtype) {
    return FailedPrecondition("the program expects a tensor of ", Name(*dtype), " here, got ",
                              ToString(type));
  }
  if (auto sizes = c.args.OptionalInts(1)) {
    bool fits = sizes->size() == type.sizes.size();
    for (size_t d = 0; fits && d < sizes->size(); ++d) {
      fits = !c.shapes.IsKnownFalse(symbolic::Eq((*sizes)[d], type.sizes[d]));
    }
    if (!fits) return FailedPrecondition("the program expects other sizes than ", ToString(type));
  }
  return std::vector<ValueType>();
}

OpRow MetadataRow() {
  OpRow row;
  row.schema =
      "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
      "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()";
  row.doc = "Checks dtype and sizes when types are inferred; nothing is left to run.";
  row.infer = CheckMetadata;
  row.evaluate = [](const EvaluateContext&) -> absl::StatusOr<std::vector<HostValue>> {
    return std::vector<HostValue>();
  };
  return row;
}

absl::StatusOr<std::vector<HostValue>> EvaluateRange(const EvaluateContext& c) {
  const int64_t value = c.args.Number(0).ToInt();
  const auto least = c.args.OptionalInt(1), most = c.args.OptionalInt(2);
  if ((least.has_value() && value < *least) || (most.has_value() && value > *most)) {
    return FailedPrecondition("the value ", value, " is outside the range that the program states");
  }
  return std::vector<HostValue>();
}

OpRow RangeRow(std::string schema) {
  OpRow row = AssertRow(std::move(schema), "States the range of a data-dependent number.");
  row.evaluate = EvaluateRange;
  return row;
}

}  // namespace

std::vector<OpRow> AssertRows() {
  std::vector<OpRow> rows;
  rows.push_back(ConditionRow("aten::_assert_scalar(Any self, str assert_msg) -> ()",
                              "Fails with the message when the condition is false."));
  rows.push_back(ConditionRow("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
                              "Fails with the message when the one element is false."));
  rows.push_back(ConditionRow("aten::_assert_async(Tensor self) -> ()",
                              "Fails when the one element is false."));
  rows.push_back(MetadataRow());
  rows.push_back(
      RangeRow("aten::sym_constrain_range(Any size, *, int? min=None, int? max=None) -> ()"));
  rows.push_back(RangeRow(
      "aten::sym_constrain_range_for_size(Any size, *, int? min=None, int? max=None) -> ()"));
  return rows;
}

}  // namespace lathe
