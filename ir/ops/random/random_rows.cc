// Random draws: their result types alone. Drawing is not delivered; a program that needs it is
// refused by name.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/families.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

int Named(const Schema& schema, absl::string_view name) {
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The dtype asked for, or `otherwise`.
DType DTypeOf(const OpArgs& args, DType otherwise) {
  const int i = Named(args.schema(), "dtype");
  return i < 0 ? otherwise : args.OptionalDType(i).value_or(otherwise);
}
Device DeviceOf(const OpArgs& args, Device otherwise) {
  const int i = Named(args.schema(), "device");
  return i < 0 ? otherwise : args.OptionalDevice(i).value_or(otherwise);
}

InferFunction Sized(DType otherwise) {
  return [otherwise](const InferContext& c) -> Types {
    const std::vector<Expr> sizes = c.args.Ints(Named(c.args.schema(), "size"));
    return std::vector<ValueType>{
        ContiguousType(DTypeOf(c.args, otherwise), sizes, DeviceOf(c.args, {}))};
  };
}

Types LikeSelf(const InferContext& c) {
  TensorType type = c.args.Type(0);
  type.dtype = DTypeOf(c.args, type.dtype);
  type.device = DeviceOf(c.args, type.device);
  type.strides = PreservedStrides(c.args.Type(0), c.shapes);
  type.offset = 0;
  return std::vector<ValueType>{std::move(type)};
}

Types SameAsSelf(const InferContext& c) { return std::vector<ValueType>{c.args.Type(0)}; }

Types Permutation(const InferContext& c) {
  return std::vector<ValueType>{
      ContiguousType(DTypeOf(c.args, DType::kI64), {c.args.Int(0)}, DeviceOf(c.args, {}))};
}

// The result and the mask of what was kept.
Types DropoutTypes(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, LikeSelf(c));
  TensorType mask = types[0].tensor();
  mask.dtype = DType::kBool;
  types.emplace_back(std::move(mask));
  return types;
}

OpRow RandomRow(std::string schema, std::string doc, InferFunction infer) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.effect = Effect::kRandom;
  row.infer = std::move(infer);
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    return Unimplemented(c.args.schema().name, ": drawing random numbers is not supported");
  };
  return row;
}

}  // namespace

std::vector<OpRow> RandomRows() {
  const std::string options =
      ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None";
  const std::string like = options + ", MemoryFormat? memory_format=None) -> Tensor";
  const std::string sized = options + ") -> Tensor";
  std::vector<OpRow> rows;
  for (const char* name : {"rand", "randn"}) {
    const std::string doc = name == std::string("rand") ? "Uniform numbers in [0, 1)."
                                                        : "Normal numbers of mean 0, deviation 1.";
    rows.push_back(
        RandomRow(absl::StrCat("aten::", name, "(SymInt[] size", sized), doc, Sized(DType::kF32)));
    rows.push_back(
        RandomRow(absl::StrCat("aten::", name, "_like(Tensor self", like), doc, LikeSelf));
  }
  const std::string integers = "Integers of a range, each as likely.";
  rows.push_back(
      RandomRow("aten::randint(SymInt high, SymInt[] size" + sized, integers, Sized(DType::kI64)));
  rows.push_back(RandomRow("aten::randint.low(SymInt low, SymInt high, SymInt[] size" + sized,
                           integers, Sized(DType::kI64)));
  rows.push_back(
      RandomRow("aten::randint_like(Tensor self, SymInt high" + like, integers, LikeSelf));
  rows.push_back(
      RandomRow("aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high" + like,
                integers, LikeSelf));
  rows.push_back(RandomRow("aten::randperm(SymInt n" + sized,
                           "The numbers below n in random order.", Permutation));
  const std::string generator = ", *, Generator? generator=None) -> Tensor";
  const std::string in_place = ", *, Generator? generator=None) -> Tensor(a!)";
  const std::string coin = "1 with the probability given, else 0.";
  rows.push_back(RandomRow("aten::bernoulli(Tensor self" + generator, coin, LikeSelf));
  rows.push_back(RandomRow("aten::bernoulli.p(Tensor self, float p" + generator, coin, LikeSelf));
  rows.push_back(
      RandomRow("aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p" + in_place, coin, SameAsSelf));
  rows.push_back(RandomRow("aten::bernoulli_.float(Tensor(a!) self, float p=0.5" + in_place, coin,
                           SameAsSelf));
  rows.push_back(RandomRow("aten::uniform_(Tensor(a!) self, float from=0, float to=1" + in_place,
                           "Uniform numbers, into self.", SameAsSelf));
  rows.push_back(RandomRow("aten::normal_(Tensor(a!) self, float mean=0, float std=1" + in_place,
                           "Normal numbers, into self.", SameAsSelf));
  rows.push_back(RandomRow("aten::exponential_(Tensor(a!) self, float lambd=1" + in_place,
                           "Exponential numbers, into self.", SameAsSelf));
  rows.push_back(
      RandomRow("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
                "Elements zeroed with probability p, the others scaled up; and which were kept.",
                DropoutTypes));
  return rows;
}

}  // namespace lathe
