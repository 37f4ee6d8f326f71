#include "capture/pt2/schema_to_graph.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {

std::string OpName(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "torch.ops.higher_order.") &&
      !absl::ConsumePrefix(&target, "torch.ops.")) {
    // torch._sym_sqrt is the name that the archive has for torch.sym_sqrt.
    if (absl::StartsWith(target, "torch.sym_")) target.remove_prefix(6);
    if (absl::StartsWith(target, "torch._sym_")) target.remove_prefix(7);
  }
  if (absl::StartsWith(target, "_operator.")) target.remove_prefix(1);
  absl::ConsumeSuffix(&target, ".default");
  return std::string(target);
}

namespace {

bool IsOfTorch(absl::string_view path) {
  return absl::StartsWith(path, "torch/") || absl::StrContains(path, "/site-packages/torch/");
}
// Checks that the exporter adds have no line of the user's.
bool IsOfExporter(absl::string_view path) {
  return IsOfTorch(path) &&
         (absl::StrContains(path, "torch/fx/") || absl::StrContains(path, "torch/export/") ||
          absl::StrContains(path, "torch/_export/") || absl::StrContains(path, "torch/_dynamo/"));
}

// "path:line" of a frame that reads `path", line N, in function`.
std::string FrameLine(absl::string_view path, absl::string_view rest) {
  if (!absl::ConsumePrefix(&rest, ", line ")) return std::string(path);
  return absl::StrCat(path, ":", rest.substr(0, rest.find_first_not_of("0123456789")));
}

}  // namespace

// The innermost frame that is not torch's own; where all are, the innermost that a user may know.
std::string SourceLine(absl::string_view stack_trace) {
  constexpr absl::string_view kFrame = "File \"";
  std::string of_torch;
  for (size_t at = stack_trace.rfind(kFrame); at != absl::string_view::npos;
       at = at == 0 ? absl::string_view::npos : stack_trace.rfind(kFrame, at - 1)) {
    const absl::string_view frame = stack_trace.substr(at + kFrame.size());
    const size_t quote = frame.find('"');
    if (quote == absl::string_view::npos) break;
    const absl::string_view path = frame.substr(0, quote);
    if (IsOfExporter(path)) continue;
    if (!IsOfTorch(path)) return FrameLine(path, frame.substr(quote + 1));
    if (of_torch.empty()) of_torch = FrameLine(path, frame.substr(quote + 1));
  }
  return of_torch;
}

std::string ModulePath(absl::string_view nn_module_stack) {
  // Entries read `key,path,type`, outermost first.
  size_t last = nn_module_stack.rfind(';');
  if (last != absl::string_view::npos) nn_module_stack.remove_prefix(last + 1);
  std::vector<absl::string_view> parts = absl::StrSplit(nn_module_stack, absl::MaxSplits(',', 2));
  return parts.size() > 1 ? std::string(parts[1]) : "";
}

absl::Status GraphBuilder::Define(absl::string_view name, Argument meaning) {
  if (!names_.emplace(std::string(name), std::move(meaning)).second) {
    return InvalidArgument("the name '", name, "' is defined twice");
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddInput(absl::string_view name, ValueType type, InputSpec spec) {
  symbols_->BindInput(type, static_cast<int>(graph_->inputs().size()));
  return Define(name, Argument::Of(graph_->AddInput(name, std::move(type), std::move(spec))));
}

absl::Status GraphBuilder::AddSubgraphInput(absl::string_view name, ValueType type) {
  LATHE_RETURN_IF_ERROR(symbols_->BindResult(type, name));
  return Define(name, Argument::Of(graph_->AddInput(name, std::move(type), InputSpec::User())));
}

absl::Status GraphBuilder::AddConstant(absl::string_view name, Argument literal) {
  return Define(name, std::move(literal));
}

std::optional<Expr> GraphBuilder::NewBool(const ValueType& type) const {
  if (!type.is_scalar()) return std::nullopt;
  const Expr& e = type.scalar().value;
  if (e.kind() != symbolic::ExprKind::kEq) return std::nullopt;
  const Expr symbol = e.operands()[e.operands()[0].is_symbol() ? 0 : 1];
  const bool is_new = symbol.is_symbol() && !symbols_->IsAdded(symbol) && e == Eq(symbol, 1);
  return is_new ? std::optional(symbol) : std::nullopt;
}

absl::Status GraphBuilder::AddCall(Call call) {
  std::vector<ValueType> types;
  std::vector<std::string> names;
  std::vector<std::optional<Expr>> meanings;
  for (auto& [name, type] : call.results) {
    const std::optional<Expr> bit = NewBool(type);
    meanings.push_back(bit ? std::optional(type.scalar().value) : std::nullopt);
    LATHE_RETURN_IF_ERROR(symbols_->BindResult(type, name));
    names.push_back(type.is_none() ? "none" : name);
    types.push_back(bit ? ValueType(ScalarType{symbolic::ExprType::kInt, *bit}) : std::move(type));
  }
  Node* node = graph_->Append(OpName(call.target), std::move(call.arguments), std::move(types),
                              std::move(names));
  node->names = std::move(call.names);
  node->origin = std::move(call.origin);
  for (size_t k = 0; k < call.results.size(); ++k) {
    if (node->results[k]->type.is_none()) continue;
    LATHE_RETURN_IF_ERROR(Define(call.results[k].first, meanings[k]
                                                            ? Argument::Int(*meanings[k])
                                                            : Argument::Of(node->results[k])));
  }
  return absl::OkStatus();
}

absl::StatusOr<Argument> GraphBuilder::Use(absl::string_view name) const {
  auto it = names_.find(name);
  if (it == names_.end()) return InvalidArgument("'", name, "' is not defined before its use");
  const Argument& meaning = it->second;
  if (meaning.is_value() && meaning.value()->type.is_scalar()) {
    const Expr& e = meaning.value()->type.scalar().value;
    if (std::optional<bool> known = e.AsBool(); known && e.type() == symbolic::ExprType::kBool) {
      return Argument::Bool(*known);
    }
    return Argument::Int(e);
  }
  return meaning;
}

int GraphBuilder::InputIndex(absl::string_view name) const {
  auto it = names_.find(name);
  if (it == names_.end() || !it->second.is_value()) return -1;
  const Value* value = it->second.value();
  return value->definition == nullptr ? value->index : -1;
}

}  // namespace lathe::pt2
