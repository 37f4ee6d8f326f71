#include "tests/integers/run_everywhere.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"

namespace lathe::integers {
namespace {

constexpr Way kWays[] = {{"reference", Tier::kReference},         {"tile", Tier::kTile},
                         {"tile, 4 threads", Tier::kTile, 4},     {"native", Tier::kNative},
                         {"native, 4 threads", Tier::kNative, 4}, {"folded", Tier::kTile, 1, true}};

std::string TypeText(const Tensor& t) {
  std::string type = absl::StrCat(Name(t.dtype()), "[", absl::StrJoin(t.sizes(), ", "), "]");
  if (!(t.strides() == ContiguousStrides(t.sizes()))) {
    absl::StrAppend(&type, "{", absl::StrJoin(t.strides(), ", "), "}");
  }
  if (t.offset() != 0) absl::StrAppend(&type, "+", t.offset());
  return type;
}

bool SameElements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  for (int64_t k = 0; k < a.numel(); ++k) {
    if (!a.AtLinear(k).Identical(b.AtLinear(k))) return false;
  }
  return true;
}

// Constants alone are left; those of one value are aten.full.
absl::Status CheckFolded(const Executable& executable) {
  LATHE_ASSIGN_OR_RETURN(const std::string text, executable.Stage("decomposed"));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, " = aten.") && !absl::StrContains(line, " = aten.full(")) {
      return Internal("not folded: ", line);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Way> Ways() { return kWays; }

absl::StatusOr<Executable> CompileText(const std::string& text, Tier tier) {
  LATHE_ASSIGN_OR_RETURN(Program program, ParseProgram(text, OpRegistry::Builtin()));
  return Compile(program, {.tier = tier, .threads = 1});
}

absl::StatusOr<std::vector<Tensor>> RunTensors(const Executable& executable,
                                               const std::vector<RunValue>& inputs) {
  LATHE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, executable.Run(inputs));
  std::vector<Tensor> tensors;
  for (RunValue& output : outputs) tensors.push_back(std::get<Tensor>(std::move(output)));
  return tensors;
}

std::string GraphText(absl::Span<const Tensor> inputs, const std::string& body, bool folded) {
  std::vector<std::string> parameters;
  for (size_t k = 0; k < inputs.size(); ++k) {
    parameters.push_back(absl::StrCat("%x", k, ": ", TypeText(inputs[k]),
                                      folded ? absl::StrCat(" = weight(\"x", k, "\")") : ""));
  }
  return absl::StrCat("graph @f(", absl::StrJoin(parameters, ", "), ") {\n", body, "\n}\n");
}

absl::StatusOr<std::vector<Tensor>> RunBody(const std::string& body,
                                            absl::Span<const Tensor> inputs, const Way& way,
                                            int calls, bool pure) {
  LATHE_ASSIGN_OR_RETURN(Program program,
                         ParseProgram(GraphText(inputs, body, way.folded), OpRegistry::Builtin()));
  std::vector<RunValue> values;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (way.folded) {
      program.weights[absl::StrCat("x", k)] = inputs[k];
    } else {
      values.emplace_back(inputs[k]);
    }
  }
  LATHE_ASSIGN_OR_RETURN(
      Executable executable,
      Compile(program, {.tier = way.tier, .threads = way.threads, .strict = pure}));
  LATHE_ASSIGN_OR_RETURN(std::vector<Tensor> first, RunTensors(executable, values));
  if (pure && way.folded) LATHE_RETURN_IF_ERROR(CheckFolded(executable));
  for (int call = 1; call < calls; ++call) {
    LATHE_ASSIGN_OR_RETURN(std::vector<Tensor> next, RunTensors(executable, values));
    for (size_t k = 0; k < first.size(); ++k) {
      if (!SameElements(first[k], next[k])) {
        return Internal("call ", call + 1, " gives another result ", k);
      }
    }
  }
  return first;
}

Tensor Placed(const Tensor& tensor, int64_t offset, int64_t step) {
  Dims strides = tensor.sizes();
  int64_t stride = step;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= std::max<int64_t>(tensor.sizes()[d], 1);
  }
  const Tensor storage = Tensor::Zeros(tensor.dtype(), {offset + stride});
  for (int64_t k = 0; k < storage.numel(); ++k) storage.SetLinear(k, Scalar(k * 7 + 1));
  const Tensor placed = storage.AsStrided(tensor.sizes(), strides, offset);
  placed.CopyFrom(tensor);
  return placed;
}

}  // namespace lathe::integers
