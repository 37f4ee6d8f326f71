#include "ir/passes/same_meaning.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/reference/evaluator.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

constexpr int64_t kSizeWithoutHint = 4;
constexpr double kTolerance = 1e-4;

class RandomInputs {
 public:
  RandomInputs(const Program& program, int seed) : program_(program), random_(seed) {}

  absl::StatusOr<HostValue> Make(const ValueType& type) {
    if (type.is_scalar()) {
      LATHE_ASSIGN_OR_RETURN(int64_t value, Number(type.scalar().value));
      if (type.scalar().kind == symbolic::ExprType::kBool) return HostValue(Scalar(value != 0));
      return HostValue(Scalar(value));
    }
    if (!type.is_tensor()) return HostValue();
    const TensorType& t = type.tensor();
    Dims sizes, strides;
    for (int d = 0; d < t.rank(); ++d) {
      LATHE_ASSIGN_OR_RETURN(int64_t size, Number(t.sizes[d]));
      LATHE_ASSIGN_OR_RETURN(int64_t stride, Number(t.strides[d]));
      sizes.push_back(size);
      strides.push_back(stride);
    }
    Tensor tensor = Tensor::EmptyStrided(t.dtype, sizes, strides);
    Fill(tensor);
    return HostValue(std::move(tensor));
  }

  void Fill(const Tensor& tensor) {
    std::normal_distribution<double> normal;
    for (int64_t k = 0; k < tensor.numel(); ++k) {
      // Integers are often indexes: 0 and 1 are in range nearly everywhere.
      const bool is_integer = IsIntegral(tensor.dtype());
      tensor.SetLinear(k, is_integer ? Scalar(int64_t(random_() % 2)) : Scalar(normal(random_)));
    }
  }

 private:
  absl::StatusOr<int64_t> Number(const Expr& e) {
    return symbolic::Evaluate(e, [this](const Expr& symbol) -> std::optional<int64_t> {
      return program_.shapes->hint(symbol).value_or(kSizeWithoutHint);
    });
  }

  const Program& program_;
  std::mt19937 random_;
};

HostValue CloneOf(const HostValue& value) {
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  Tensor copy = Tensor::EmptyStrided(tensor.dtype(), tensor.sizes(), tensor.strides());
  copy.CopyFrom(tensor);
  return copy;
}

std::string CompareTensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) {
    return absl::StrCat(TypeString(a), " and ", TypeString(b));
  }
  const bool exact = IsIntegral(a.dtype());
  double magnitude = 0;
  for (int64_t k = 0; k < a.numel() && !exact; ++k) {
    const double x = std::abs(a.AtLinear(k).ToComplex());
    if (std::isfinite(x)) magnitude = std::max(magnitude, x);
  }
  for (int64_t k = 0; k < a.numel(); ++k) {
    const Scalar x = a.AtLinear(k), y = b.AtLinear(k);
    if (x.Identical(y) || x == y) continue;
    const std::complex<double> p = x.ToComplex(), q = y.ToComplex();
    if (std::isnan(std::abs(p)) && std::isnan(std::abs(q))) continue;
    if (!exact && std::abs(p - q) <= kTolerance * magnitude) continue;
    return absl::StrCat("element ", k, ": ", x.ToString(), " and ", y.ToString());
  }
  return "";
}

std::string Compare(const HostValue& a, const HostValue& b) {
  if (a.index() != b.index()) return "different kinds";
  if (a.is_tensor()) return CompareTensors(a.tensor(), b.tensor());
  if (a.index() == 2) {
    return a.scalar().Identical(b.scalar()) || a.scalar() == b.scalar()
               ? ""
               : absl::StrCat(a.scalar().ToString(), " and ", b.scalar().ToString());
  }
  if (a.is_none()) return "";
  if (a.list().size() != b.list().size()) return "lists of different lengths";
  for (size_t i = 0; i < a.list().size(); ++i) {
    if (std::string d = Compare(a.list()[i], b.list()[i]); !d.empty()) return d;
  }
  return "";
}

struct Run {
  std::vector<HostValue> inputs;  // after the call
  std::map<std::string, Tensor> weights;
  std::vector<HostValue> outputs;
};

absl::StatusOr<Run> Evaluate(const Program& program, const std::vector<HostValue>& inputs,
                             const std::map<std::string, Tensor>& weights) {
  Program copy = program;
  Run run;
  for (const auto& [name, tensor] : weights) {
    run.weights[name] = CloneOf(tensor).tensor();
  }
  copy.weights = run.weights;
  for (const HostValue& input : inputs) run.inputs.push_back(CloneOf(input));
  LATHE_ASSIGN_OR_RETURN(ReferenceResult result, EvaluateReference(copy, run.inputs));
  run.outputs = std::move(result.outputs);
  return run;
}

absl::Status CompareAll(const std::vector<HostValue>& a, const std::vector<HostValue>& b,
                        absl::string_view what) {
  if (a.size() != b.size()) return FailedPrecondition("different numbers of ", what, "s");
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::string d = Compare(a[i], b[i]); !d.empty()) {
      return FailedPrecondition(what, " ", i, ": ", d);
    }
  }
  return absl::OkStatus();
}

struct Inputs {
  std::vector<HostValue> user;
  std::map<std::string, Tensor> weights;
};

absl::StatusOr<Inputs> MakeInputs(const Program& before, int seed) {
  RandomInputs random(before, seed);
  Inputs inputs;
  inputs.weights = before.weights;
  for (size_t i = 0; i < before.main->inputs().size(); ++i) {
    const InputSpec& spec = before.main->input_specs()[i];
    if (spec.kind != InputSpec::Kind::kUser && inputs.weights.count(spec.target) > 0) {
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(HostValue value, random.Make(before.main->inputs()[i]->type));
    if (spec.kind == InputSpec::Kind::kUser) {
      inputs.user.push_back(std::move(value));
    } else if (value.is_tensor()) {
      inputs.weights[spec.target] = value.tensor();
    }
  }
  return inputs;
}

// The input of the main graph that has this storage, -1 for none.
int InputOf(const Storage* storage, const Program& program, const Run& run) {
  size_t user = 0;
  for (size_t i = 0; i < program.main->inputs().size(); ++i) {
    const InputSpec& spec = program.main->input_specs()[i];
    const bool is_user = spec.kind == InputSpec::Kind::kUser;
    auto weight = run.weights.find(spec.target);
    const HostValue value = is_user                       ? run.inputs[user++]
                            : weight != run.weights.end() ? HostValue(weight->second)
                                                          : HostValue();
    if (value.is_tensor() && value.tensor().storage().get() == storage) return static_cast<int>(i);
  }
  return -1;
}

// Strides of dimensions of one element say nothing.
bool SameLayout(const Tensor& tensor, const TensorType& type) {
  if (tensor.dtype() != type.dtype || tensor.rank() != type.rank()) return false;
  if (tensor.numel() == 0) return true;
  bool same = type.offset == Expr(tensor.offset());
  for (int d = 0; d < tensor.rank(); ++d) {
    const bool same_stride = tensor.sizes()[d] == 1 || type.strides[d] == Expr(tensor.strides()[d]);
    same = same && type.sizes[d] == Expr(tensor.sizes()[d]) && same_stride;
  }
  return same;
}

}  // namespace

absl::Status CheckAliases(const Program& before, const Program& after, int seed) {
  LATHE_ASSIGN_OR_RETURN(const Inputs inputs, MakeInputs(before, seed));
  LATHE_ASSIGN_OR_RETURN(const Run run, Evaluate(before, inputs.user, inputs.weights));
  std::vector<std::pair<const Storage*, int>> seen;  // storages of earlier outputs
  size_t k = 0;
  for (size_t o = 0; o < after.main->outputs().size(); ++o) {
    const OutputSpec& spec = after.main->output_specs()[o];
    if (spec.kind != OutputSpec::Kind::kUser) continue;
    const HostValue& returned = run.outputs[k++];
    if (!returned.is_tensor()) continue;
    const Storage* storage = returned.tensor().storage().get();
    const int input = InputOf(storage, before, run);
    int output = -1;
    for (const auto& [earlier, index] : seen) {
      if (earlier == storage && output < 0 && input < 0) output = index;
    }
    seen.emplace_back(storage, static_cast<int>(o));
    if (spec.alias_input != input || (input < 0 && spec.alias_output != output)) {
      return FailedPrecondition("output ", o, " aliases input ", input, " and output ", output,
                                ", its spec says ", spec.alias_input, " and ", spec.alias_output);
    }
    const TensorType& type = after.main->outputs()[o].value()->type.tensor();
    if (!SameLayout(returned.tensor(), type)) {
      return FailedPrecondition("output ", o, " is ", TypeString(returned.tensor()),
                                ", its type says ", ToString(type));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSameMeaning(const Program& before, const Program& after, int seed) {
  LATHE_ASSIGN_OR_RETURN(const Inputs inputs, MakeInputs(before, seed));
  absl::StatusOr<Run> x = Evaluate(before, inputs.user, inputs.weights);
  if (!x.ok()) return Annotate(x.status(), "before the passes");
  absl::StatusOr<Run> y = Evaluate(after, inputs.user, inputs.weights);
  if (!y.ok()) return Annotate(y.status(), "after the passes");
  LATHE_RETURN_IF_ERROR(CompareAll(x->outputs, y->outputs, "output"));
  LATHE_RETURN_IF_ERROR(CompareAll(x->inputs, y->inputs, "input"));
  for (const auto& [name, tensor] : x->weights) {
    if (std::string d = Compare(tensor, y->weights.at(name)); !d.empty()) {
      return FailedPrecondition("weight ", name, ": ", d);
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe
