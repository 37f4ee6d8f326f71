// Forms of functional rows that write into tensors given as `out`.

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "ir/ops/derived_rows.h"
#include "ir/ops/registry.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

// ATen's names where they do not follow from the functional form's: the form that is given `out`,
// its functional one, the tensors it writes.
struct Irregular {
  const char* name;
  const char* functional;
  const char* outs;
};
constexpr Irregular kIrregular[] = {
    {"aten.add.out", "aten.add.Tensor", "out"},
    {"aten.sub.out", "aten.sub.Tensor", "out"},
    {"aten.subtract.out", "aten.subtract.Tensor", "out"},
    {"aten.mul.out", "aten.mul.Tensor", "out"},
    {"aten.multiply.out", "aten.multiply.Tensor", "out"},
    {"aten.div.out", "aten.div.Tensor", "out"},
    {"aten.div.out_mode", "aten.div.Tensor_mode", "out"},
    {"aten.divide.out", "aten.divide.Tensor", "out"},
    {"aten.divide.out_mode", "aten.divide.Tensor_mode", "out"},
    {"aten.true_divide.out", "aten.true_divide.Tensor", "out"},
    {"aten.copysign.out", "aten.copysign.Tensor", "out"},
    {"aten.ldexp.out", "aten.ldexp.Tensor", "out"},
    {"aten.xlogy.OutTensor", "aten.xlogy.Tensor", "out"},
    {"aten.xlogy.OutScalar_Self", "aten.xlogy.Scalar_Self", "out"},
    {"aten.xlogy.OutScalar_Other", "aten.xlogy.Scalar_Other", "out"},
    {"aten.max.out", "aten.max.other", "out"},
    {"aten.max.unary_out", "aten.max", "out"},
    {"aten.max.dim_max", "aten.max.dim", "max,max_values"},
    {"aten.min.out", "aten.min.other", "out"},
    {"aten.min.unary_out", "aten.min", "out"},
    {"aten.min.dim_min", "aten.min.dim", "min,min_indices"},
    {"aten.all.out", "aten.all.dim", "out"},
    {"aten.all.all_out", "aten.all", "out"},
    {"aten.any.out", "aten.any.dim", "out"},
    {"aten.any.all_out", "aten.any", "out"},
    {"aten.sum.IntList_out", "aten.sum.dim_IntList", "out"},
    {"aten.prod.int_out", "aten.prod.dim_int", "out"},
    {"aten.mean.out", "aten.mean.dim", "out"},
    {"aten.mean.dtype_out", "aten.mean", "out"},
    {"aten.std.out", "aten.std.dim", "out"},
    {"aten.var.out", "aten.var.dim", "out"},
    {"aten.norm.out", "aten.norm.ScalarOpt_dim", "out"},
    {"aten.norm.dtype_out", "aten.norm.ScalarOpt_dim_dtype", "out"},
    {"aten.sort.values", "aten.sort", "values,indices"},
    {"aten.sort.values_stable", "aten.sort.stable", "values,indices"},
    {"aten.topk.values", "aten.topk", "values,indices"},
    {"aten.kthvalue.values", "aten.kthvalue", "values,indices"},
    {"aten.median.dim_values", "aten.median.dim", "values,indices"},
    {"aten.nanmedian.dim_values", "aten.nanmedian.dim", "values,indices"},
    {"aten.mode.values", "aten.mode", "values,indices"},
    {"aten.range.out", "aten.range.step", "out"},
    {"aten.arange.start_out", "aten.arange.start_step", "out"},
    {"aten.empty.out", "aten.empty.memory_format", "out"},
};

const Irregular* FindIrregular(absl::string_view name) {
  for (const Irregular& irregular : kIrregular) {
    if (name == irregular.name) return &irregular;
  }
  return nullptr;
}

// "aten.eq.Tensor" of "aten.eq.Tensor_out"; "" where the name is none of an out form.
std::string FunctionalOf(absl::string_view name) {
  if (const Irregular* irregular = FindIrregular(name)) return irregular->functional;
  for (absl::string_view ending : {"_out", ".out"}) {
    if (absl::EndsWith(name, ending)) return std::string(name.substr(0, name.size() - 4));
  }
  return "";
}

std::vector<std::string> OutNames(absl::string_view name, const Schema& functional) {
  if (const Irregular* irregular = FindIrregular(name)) {
    return absl::StrSplit(irregular->outs, ',');
  }
  if (functional.returns.size() == 1) return {"out"};
  std::vector<std::string> names;
  for (size_t k = 0; k < functional.returns.size(); ++k) {
    const std::string& given = functional.returns[k].name;
    names.push_back(given.empty() ? absl::StrCat("out", k) : given);
  }
  return names;
}

// "Tensor self, int dim, *" as its parts; what tensors are made of is said by the outs.
std::vector<std::string> ArgumentTexts(const OpRow& functional) {
  const std::string& text = functional.schema;
  const size_t begin = text.find('(') + 1, end = text.rfind(") ->");
  std::vector<std::string> parts;
  if (begin < end) parts = absl::StrSplit(text.substr(begin, end - begin), ", ");
  const auto is = [](const std::string& part, absl::string_view name) {
    return absl::EndsWith(part.substr(0, part.find('=')), absl::StrCat(" ", name));
  };
  const bool makes = std::any_of(parts.begin(), parts.end(),
                                 [&](const std::string& part) { return is(part, "layout"); });
  if (!makes) return parts;
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [&](const std::string& part) {
                               return is(part, "dtype") || is(part, "layout") ||
                                      is(part, "device") || is(part, "pin_memory");
                             }),
              parts.end());
  return parts;
}

std::string SchemaText(absl::string_view name, const OpRow& functional,
                       const std::vector<std::string>& outs) {
  std::vector<std::string> parts = ArgumentTexts(functional);
  if (std::find(parts.begin(), parts.end(), "*") == parts.end()) parts.push_back("*");
  std::vector<std::string> results;
  for (size_t k = 0; k < outs.size(); ++k) {
    const std::string mark =
        absl::StrCat("Tensor(", std::string(1, static_cast<char>('a' + k)), "!)");
    parts.push_back(absl::StrCat(mark, " ", outs[k]));
    results.push_back(mark);
  }
  const size_t domain_end = name.find('.');
  const std::string result = absl::StrJoin(results, ", ");
  return absl::StrCat(name.substr(0, domain_end), "::", name.substr(domain_end + 1), "(",
                      absl::StrJoin(parts, ", "), ") -> ",
                      outs.size() == 1 ? result : absl::StrCat("(", result, ")"));
}

int FindArgument(const Schema& schema, const std::string& name) {
  for (size_t k = 0; k < schema.arguments.size(); ++k) {
    if (schema.arguments[k].name == name) return static_cast<int>(k);
  }
  return -1;
}

// any and all give u8 of u8 and bool of the rest, and write into either.
bool GivesTruth(const Schema& schema) {
  const absl::string_view name = schema.name;
  for (const absl::string_view test : {"aten.any", "aten.all"}) {
    if (name == test || absl::StartsWith(name, absl::StrCat(test, "."))) return true;
  }
  return false;
}

absl::Status CheckTruthTarget(const std::string& op, TensorType& result, const TensorType& out) {
  if (out.dtype != DType::kBool && out.dtype != DType::kU8) {
    return InvalidArgument(op, ": the result is written into bool or u8, not ", Name(out.dtype));
  }
  result.dtype = out.dtype;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueType>> InferOut(const OpRow& functional, const InferContext& c) {
  const std::vector<Argument> arguments =
      FunctionalArguments(functional.parsed, c.args.schema(), c.args);
  LATHE_ASSIGN_OR_RETURN(
      const std::vector<ValueType> types,
      functional.infer({OpArgs(functional.parsed, arguments), c.shapes, c.asker}));
  const int first = c.args.size() - static_cast<int>(types.size());
  std::vector<ValueType> outs;
  for (size_t k = 0; k < types.size(); ++k) {
    const TensorType& out = c.args.Type(first + static_cast<int>(k));
    TensorType result = types[k].tensor();
    if (GivesTruth(functional.parsed)) {
      LATHE_RETURN_IF_ERROR(CheckTruthTarget(c.args.schema().name, result, out));
    }
    LATHE_RETURN_IF_ERROR(CheckWritable(c.args.schema().name, result, out, c.shapes));
    outs.push_back(out);
  }
  return outs;
}

absl::StatusOr<std::vector<HostValue>> EvaluateOut(const OpRow& functional,
                                                   const EvaluateContext& c) {
  const int count = static_cast<int>(c.args.schema().returns.size());
  const int first = c.args.size() - count;
  std::vector<HostValue> values;
  std::vector<Argument> literals;
  for (const SchemaArgument& argument : functional.parsed.arguments) {
    const int k = FindArgument(c.args.schema(), argument.name);
    values.push_back(k < 0 ? HostValue() : c.args.value(k));
    literals.push_back(k < 0 ? argument.default_value : c.args.literal(k));
    if (argument.type == SchemaArgument::Type::kDType && literals.back().is_none()) {
      literals.back() = Argument::Of(c.args.Tensor(first).dtype());
    }
  }
  LATHE_ASSIGN_OR_RETURN(
      const std::vector<HostValue> results,
      EvaluateCall(functional, HostArgs(functional.parsed, std::move(values), std::move(literals)),
                   c.run_graph));
  std::vector<HostValue> outs;
  for (int k = 0; k < count; ++k) {
    const Tensor& out = c.args.Tensor(first + k);
    out.CopyFrom(results[k].tensor().To(out.dtype()));
    outs.push_back(out);
  }
  return outs;
}

}  // namespace

std::vector<Argument> FunctionalArguments(const Schema& functional, const Schema& schema,
                                          const OpArgs& args) {
  std::vector<Argument> arguments;
  for (const SchemaArgument& argument : functional.arguments) {
    const int k = FindArgument(schema, argument.name);
    arguments.push_back(k < 0 ? argument.default_value : args[k]);
    if (argument.type == SchemaArgument::Type::kDType && arguments.back().is_none()) {
      const int first = args.size() - static_cast<int>(schema.returns.size());
      arguments.back() = Argument::Of(args.Type(first).dtype);
    }
  }
  return arguments;
}

std::optional<OpRow> OutRow(
    absl::string_view name,
    const std::function<std::shared_ptr<const OpRow>(const std::string&)>& find) {
  const std::string functional_name = FunctionalOf(name);
  if (functional_name.empty()) return std::nullopt;
  const std::shared_ptr<const OpRow> functional = find(functional_name);
  if (functional == nullptr || functional->effect != Effect::kPure || functional->is_view() ||
      !functional->infer || !functional->evaluate) {
    return std::nullopt;
  }
  const Schema& schema = functional->parsed;
  const bool gives_tensors =
      !schema.returns.empty() &&
      std::all_of(schema.returns.begin(), schema.returns.end(), [](const Schema::Return& r) {
        return r.type == SchemaArgument::Type::kTensor && !r.optional;
      });
  if (!gives_tensors) return std::nullopt;
  OpRow row;
  row.schema = SchemaText(name, *functional, OutNames(name, schema));
  absl::StatusOr<Schema> parsed = ParseSchema(row.schema);
  if (!parsed.ok()) return std::nullopt;
  row.parsed = *std::move(parsed);
  row.doc = absl::StrCat("out becomes ", schema.name, " of the other arguments.");
  row.effect = Effect::kMutates;
  row.functional = schema.name;
  row.infer = [functional](const InferContext& c) { return InferOut(*functional, c); };
  row.evaluate = [functional](const EvaluateContext& c) { return EvaluateOut(*functional, c); };
  return row;
}

}  // namespace lathe
