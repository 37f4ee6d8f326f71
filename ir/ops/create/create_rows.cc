#include "ir/ops/create/create_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/families.h"
#include "ir/ops/host/host_loops.h"

namespace lathe {
namespace {

// A tensor literal. Its one argument is the data itself.
OpRow ConstantRow() {
  OpRow row;
  row.schema = "constant(Any value) -> Tensor";
  row.doc = "A tensor literal.";
  row.infer = [](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    const Argument& value = c.args[0];
    if (value.kind() == Argument::Kind::kValue) {
      return std::vector<ValueType>{value.value()->type};
    }
    if (value.kind() != Argument::Kind::kTensor) {
      return InvalidArgument("constant: expected a tensor literal");
    }
    TensorType type;
    type.dtype = value.tensor().dtype();
    for (int64_t size : value.tensor().sizes()) type.sizes.push_back(size);
    for (int64_t stride : value.tensor().strides()) type.strides.push_back(stride);
    return std::vector<ValueType>{std::move(type)};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Argument& literal = c.args.literal(0);
    if (literal.kind() == Argument::Kind::kTensor) return OneResult(literal.tensor());
    return OneResult(c.args.Tensor(0));
  };
  return row;
}

}  // namespace

std::string WithOptions(const std::string& head, const std::string& more) {
  return absl::StrCat(head,
                      ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                      "bool? pin_memory=None",
                      more, ") -> Tensor");
}

int ArgumentNamed(const Schema& schema, const std::string& name) {
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<FactoryOptions> OptionsOf(const OpArgs& args, DType dtype, Device device) {
  FactoryOptions options{dtype, device};
  if (int i = ArgumentNamed(args.schema(), "dtype"); i >= 0) {
    options.dtype = args.OptionalDType(i).value_or(dtype);
  }
  if (int i = ArgumentNamed(args.schema(), "device"); i >= 0) {
    options.device = args.OptionalDevice(i).value_or(device);
  }
  if (int i = ArgumentNamed(args.schema(), "layout"); i >= 0 && !args.IsNone(i)) {
    if (args[i].layout() != Layout::kStrided) {
      return Unimplemented(args.schema().name, ": only strided tensors are supported");
    }
  }
  return options;
}

std::vector<OpRow> CreateRows() {
  std::vector<OpRow> rows;
  rows.push_back(ConstantRow());
  for (auto group : {FillRows, RangeRows, WindowRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
