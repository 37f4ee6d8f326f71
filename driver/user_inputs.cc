#include "driver/user_inputs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "driver/parse_value.h"
#include "driver/print_value.h"
#include "driver/tensor_files.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe::driver {
namespace {

// Whether each element has a place of its own under these strides, and the gaps between them (rows
// that start at whole bytes have some) stay in proportion: a program may declare any.
bool FitsOnceEach(const Tensor& tensor, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (int d = 0; d < tensor.rank(); ++d) {
    if (tensor.sizes()[d] > 1) dims.emplace_back(strides[d], tensor.sizes()[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t span = 1;
  const int64_t most = 64 + 16 * tensor.numel();
  for (const auto& [stride, size] : dims) {
    if (stride < span || stride > most || size - 1 > most / stride) return false;
    span += (size - 1) * stride;
  }
  return span <= most;
}

// The tensor in the layout that the program declares, where that is known: files and values on the
// command line have layouts of their own. What does not fit is left for the executor to refuse.
Tensor InDeclaredLayout(const TensorType& type, const Tensor& tensor) {
  if (!tensor.is_defined() || type.rank() != tensor.rank() || type.dtype != tensor.dtype()) {
    return tensor;
  }
  absl::flat_hash_map<Expr, int64_t> sizes;
  for (int d = 0; d < type.rank(); ++d) {
    if (type.sizes[d].is_symbol()) sizes.emplace(type.sizes[d], tensor.sizes()[d]);
  }
  const auto size_of = [&](const Expr& symbol) -> std::optional<int64_t> {
    const auto it = sizes.find(symbol);
    return it == sizes.end() ? std::nullopt : std::optional(it->second);
  };
  Dims strides;
  for (int d = 0; d < type.rank(); ++d) {
    const absl::StatusOr<int64_t> stride = symbolic::Evaluate(type.strides[d], size_of);
    const std::optional<int64_t> size = type.sizes[d].AsInt();
    const int64_t given = tensor.sizes()[d];
    if (!stride.ok() || size.value_or(given) != given) return tensor;
    strides.push_back(*stride);
  }
  if (strides == tensor.strides() || !FitsOnceEach(tensor, strides)) return tensor;
  Tensor result = Tensor::EmptyStrided(tensor.dtype(), tensor.sizes(), strides);
  std::memset(result.storage()->data(), 0, static_cast<size_t>(result.storage()->size_bytes()));
  result.CopyFrom(tensor);
  return result;
}

class Binding {
 public:
  explicit Binding(const std::vector<UserInput>& inputs)
      : inputs_(inputs), values_(inputs.size()) {}

  int Find(absl::string_view name) const {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k].name == name) return static_cast<int>(k);
    }
    return -1;
  }

  // The input of that number, -1 when there are fewer.
  int AtPosition(int64_t k) const {
    return k >= 0 && k < static_cast<int64_t>(inputs_.size()) ? static_cast<int>(k) : -1;
  }

  absl::Status Set(int k, Value value) {
    const UserInput& input = inputs_[k];
    if (values_[k]) return InvalidArgument("the input '", input.name, "' is given twice");
    LATHE_ASSIGN_OR_RETURN(values_[k], Fit(input, std::move(value)));
    return absl::OkStatus();
  }

  absl::Status SetNext(Value value) {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!values_[k]) return Set(static_cast<int>(k), std::move(value));
    }
    return InvalidArgument("the program takes ", inputs_.size(), " inputs, and all have a value");
  }

  absl::StatusOr<std::vector<Value>> Finish() const {
    std::vector<Value> result;
    std::vector<std::string> missing;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (values_[k]) {
        result.push_back(*values_[k]);
      } else {
        missing.push_back(absl::StrCat("'", inputs_[k].name, "': ", ToString(inputs_[k].type)));
      }
    }
    if (missing.empty()) return result;
    return InvalidArgument("no value for the input ", absl::StrJoin(missing, ", "),
                           "; give -i NAME=VALUE or a file");
  }

 private:
  // A number where the program takes a number, a tensor where it takes a tensor.
  static absl::StatusOr<Value> Fit(const UserInput& input, Value value) {
    Tensor* tensor = std::get_if<Tensor>(&value);
    if (input.type.is_scalar() && tensor != nullptr) {
      if (tensor->numel() == 1) return Value(tensor->AtLinear(0));
      return InvalidArgument("the input '", input.name, "' is a number, not ", TypeOf(value));
    }
    if (input.type.is_tensor() && tensor == nullptr) {
      return InvalidArgument("the input '", input.name, "' is a tensor, ", ToString(input.type),
                             ", not a number");
    }
    if (tensor != nullptr) return Value(InDeclaredLayout(input.type.tensor(), *tensor));
    return value;
  }

  const std::vector<UserInput>& inputs_;
  std::vector<std::optional<Value>> values_;
};

// What files for `lathe check` hold beside the inputs.
bool IsRecordedAnswer(absl::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos) return false;
  int number = 0;
  if (!absl::SimpleAtoi(name.substr(dot + 1), &number)) return false;
  absl::string_view kind = name.substr(0, dot);
  absl::ConsumeSuffix(&kind, "2");
  return kind == "out" || kind == "ref" || kind == "mut" || name.substr(0, dot) == "in2";
}

absl::Status SetFromFile(const std::string& path, Binding& binding) {
  LATHE_ASSIGN_OR_RETURN(auto tensors, ReadTensorFile(path));
  for (auto& [name, tensor] : tensors) {
    if (IsRecordedAnswer(name)) continue;
    absl::string_view rest = name;
    int64_t number = 0;
    bool in_order = (absl::ConsumePrefix(&rest, "in.") || absl::ConsumePrefix(&rest, "arr_")) &&
                    absl::SimpleAtoi(rest, &number);
    int k = in_order ? binding.AtPosition(number) : binding.Find(name);
    if (k < 0) return InvalidArgument(path, ": the program has no input for '", name, "'");
    LATHE_RETURN_IF_ERROR(binding.Set(k, tensor));
  }
  return absl::OkStatus();
}

const Program::FixedInput* FindFixed(const std::vector<Program::FixedInput>& fixed,
                                     absl::string_view name) {
  const auto it = std::find_if(fixed.begin(), fixed.end(),
                               [&](const Program::FixedInput& f) { return f.name == name; });
  return it == fixed.end() ? nullptr : &*it;
}

absl::Status CheckFixed(const Program::FixedInput& fixed, const std::string& given) {
  if (given == fixed.value) return absl::OkStatus();
  const absl::StatusOr<Value> a = ParseValue(fixed.value), b = ParseValue(given);
  if (a.ok() && b.ok() && PrintValue(*a) == PrintValue(*b)) return absl::OkStatus();
  return InvalidArgument("the input '", fixed.name, "' was fixed at ", fixed.value,
                         " when the program was made, given ", given);
}

}  // namespace

std::vector<UserInput> UserInputsOf(const Program& program) {
  std::vector<UserInput> inputs;
  const Graph& graph = *program.main;
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    if (graph.input_specs()[k].kind != InputSpec::Kind::kUser) continue;
    inputs.push_back({graph.inputs()[k]->name, graph.inputs()[k]->type});
  }
  if (program.user_input_names.size() == inputs.size()) {
    for (size_t k = 0; k < inputs.size(); ++k) inputs[k].name = program.user_input_names[k];
  }
  return inputs;
}

void PrintNotes(const Program& program) {
  for (const std::string& note : program.notes) fprintf(stderr, "note: %s\n", note.c_str());
}

absl::StatusOr<std::vector<Value>> BindInputs(const std::vector<UserInput>& inputs,
                                              const std::vector<std::string>& arguments,
                                              const std::vector<Program::FixedInput>& fixed) {
  Binding binding(inputs);
  for (const std::string& argument : arguments) {
    std::pair<std::string, std::string> parts = absl::StrSplit(argument, absl::MaxSplits('=', 1));
    int named = parts.second.empty() ? -1 : binding.Find(parts.first);
    if (named >= 0 && absl::EndsWith(parts.second, ".npy")) {
      LATHE_ASSIGN_OR_RETURN(auto tensors, ReadTensorFile(parts.second));
      LATHE_RETURN_IF_ERROR(binding.Set(named, tensors.begin()->second));
    } else if (named >= 0) {
      absl::StatusOr<Value> value = ParseValue(parts.second);
      if (!value.ok()) return Annotate(value.status(), absl::StrCat("-i ", argument));
      LATHE_RETURN_IF_ERROR(binding.Set(named, *std::move(value)));
    } else if (absl::EndsWith(argument, ".npy")) {
      LATHE_ASSIGN_OR_RETURN(auto tensors, ReadTensorFile(argument));
      LATHE_RETURN_IF_ERROR(binding.SetNext(tensors.begin()->second));
    } else if (absl::EndsWith(argument, ".npz") || absl::EndsWith(argument, ".safetensors")) {
      LATHE_RETURN_IF_ERROR(SetFromFile(argument, binding));
    } else if (const Program::FixedInput* made_for = FindFixed(fixed, parts.first)) {
      LATHE_RETURN_IF_ERROR(CheckFixed(*made_for, parts.second));
    } else if (!parts.second.empty()) {
      std::string names = absl::StrJoin(
          inputs, ", ", [](std::string* out, const UserInput& i) { absl::StrAppend(out, i.name); });
      return InvalidArgument("-i ", argument, ": the program has no input '", parts.first,
                             "'; its inputs: ", names);
    } else {
      return InvalidArgument("-i ", argument,
                             ": expected NAME=VALUE, or a file that ends in "
                             ".npy, .npz or .safetensors");
    }
  }
  return binding.Finish();
}

absl::StatusOr<std::vector<Value>> InputsFromTensors(const std::vector<UserInput>& inputs,
                                                     const std::map<std::string, Tensor>& tensors,
                                                     const std::string& prefix) {
  Binding binding(inputs);
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::string name = absl::StrCat(prefix, ".", k);
    auto it = tensors.find(name);
    if (it == tensors.end()) return InvalidArgument("the file holds no ", name);
    LATHE_RETURN_IF_ERROR(binding.Set(static_cast<int>(k), it->second));
  }
  return binding.Finish();
}

absl::StatusOr<std::vector<Value>> MakeUpInputs(const Program& program) {
  const ShapeEnv& shapes = *program.shapes;
  auto value_of = [&](const Expr& symbol) -> std::optional<int64_t> {
    if (std::optional<int64_t> hint = shapes.hint(symbol)) return hint;
    symbolic::Range range = shapes.RangeOf(symbol);
    return std::clamp<int64_t>(8, std::max<int64_t>(range.lower, 1),
                               std::max(range.upper, range.lower));
  };
  uint64_t state = 1;
  auto next = [&state] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  std::vector<Value> values;
  for (const UserInput& input : UserInputsOf(program)) {
    if (input.type.is_scalar()) {
      LATHE_ASSIGN_OR_RETURN(int64_t number,
                             symbolic::Evaluate(input.type.scalar().value, value_of));
      values.push_back(Scalar(number));
      continue;
    }
    Dims sizes;
    for (const Expr& e : input.type.tensor().sizes) {
      LATHE_ASSIGN_OR_RETURN(int64_t size, symbolic::Evaluate(e, value_of));
      sizes.push_back(size);
    }
    DType dtype = input.type.tensor().dtype;
    Tensor tensor = Tensor::Empty(dtype, sizes);
    for (int64_t k = 0, n = tensor.numel(); k < n; ++k) {
      double unit = static_cast<double>(next() >> 40) / (1 << 23) - 1;
      bool real = IsFloat(dtype) || IsComplex(dtype);
      tensor.SetLinear(k, real ? Scalar(unit) : Scalar(unit > 0 ? 1 : 0));
    }
    values.push_back(tensor);
  }
  return values;
}

std::vector<Value> CloneValues(const std::vector<Value>& values) {
  std::vector<Value> copies = values;
  for (Value& value : copies) {
    Tensor* tensor = std::get_if<Tensor>(&value);
    if (tensor != nullptr && tensor->is_defined()) *tensor = tensor->Clone();
  }
  return copies;
}

}  // namespace lathe::driver
