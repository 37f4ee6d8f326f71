#include "ir/ops/registry.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/ops/derived_rows.h"

namespace lathe {

struct OpRegistry::Table {
  std::vector<OpRow> stated;  // as given, before anything is derived
  std::vector<std::shared_ptr<const OpRow>> owned;
  std::vector<const OpRow*> rows;
  absl::flat_hash_map<std::string, const OpRow*> by_name;
  // Forms with `out`, of which few programs use any: made when asked for; nullptr for what is none.
  mutable std::mutex mutex;
  mutable absl::flat_hash_map<std::string, std::unique_ptr<const OpRow>> out_rows;

  const OpRow* FindOut(absl::string_view name) const {
    std::lock_guard<std::mutex> lock(mutex);
    auto [it, is_new] = out_rows.try_emplace(std::string(name), nullptr);
    if (!is_new) return it->second.get();
    std::optional<OpRow> row = OutRow(name, [this](const std::string& functional) {
      const auto found = std::find_if(owned.begin(), owned.end(), [&](const auto& candidate) {
        return candidate->parsed.name == functional;
      });
      return found == owned.end() ? nullptr : *found;
    });
    if (row.has_value()) it->second = std::make_unique<const OpRow>(*std::move(row));
    return it->second.get();
  }

  void Own(OpRow row, bool is_stated) {
    owned.push_back(std::make_shared<const OpRow>(std::move(row)));
    if (is_stated) rows.push_back(owned.back().get());
    by_name.emplace(owned.back()->parsed.name, owned.back().get());
  }
};

namespace {

// What a wrong program asks for, never a real one: more bytes than 64 bits count (of a view, which
// holds none, more elements), a negative size.
absl::Status CheckRepresentable(const ValueType& type, bool is_view) {
  if (!type.is_tensor()) return absl::OkStatus();
  const TensorType& t = type.tensor();
  double bytes = is_view ? 0.5 : BitWidth(t.dtype) / 8.0;
  bool overflows = t.offset.IsOverflow();
  for (int d = 0; d < t.rank(); ++d) {
    const int64_t size = t.sizes[d].AsInt().value_or(1);
    if (size < 0) return InvalidArgument("a result has a negative size: ", ToString(t));
    bytes *= static_cast<double>(size);
    overflows |= t.sizes[d].IsOverflow() || t.strides[d].IsOverflow();
  }
  if (!overflows && bytes < 0x1p62) return absl::OkStatus();
  return OutOfRange("a result is larger than 64 bits can count: ", ToString(t));
}

// A row's own rules, whoever asks them: numbers that they cannot know are refused, and results that
// nothing could hold, before anything is allocated or evaluated.
InferFunction Guarded(InferFunction infer, bool is_view) {
  if (!infer) return infer;
  return [infer = std::move(infer),
          is_view](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    absl::Status refusal;
    const OpArgs args = c.args.Refusing(&refusal);
    absl::StatusOr<std::vector<ValueType>> types = infer({args, c.shapes, c.asker});
    LATHE_RETURN_IF_ERROR(refusal);
    if (!types.ok()) return types;
    for (const ValueType& type : *types) {
      LATHE_RETURN_IF_ERROR(CheckRepresentable(type, is_view));
    }
    return types;
  };
}
LowerFunction Guarded(LowerFunction lower) {
  if (!lower) return lower;
  return [lower = std::move(lower)](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    absl::Status refusal;
    const OpArgs args = c.args.Refusing(&refusal);
    absl::StatusOr<std::vector<Lowered>> lowered = lower({args, c.results, c.shapes});
    LATHE_RETURN_IF_ERROR(refusal);
    return lowered;
  };
}
DecomposeFunction Guarded(DecomposeFunction decompose) {
  if (!decompose) return decompose;
  return [decompose = std::move(decompose)](
             Builder& builder, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    absl::Status refusal;
    absl::StatusOr<std::vector<Argument>> results = decompose(builder, args.Refusing(&refusal));
    LATHE_RETURN_IF_ERROR(refusal);
    return results;
  };
}

}  // namespace

absl::StatusOr<OpRegistry> OpRegistry::Of(std::vector<OpRow> rows) {
  auto table = std::make_shared<Table>();
  table->stated = rows;
  std::weak_ptr<const Table> weak = table;
  RegistryFunction self = [weak] {
    OpRegistry registry;
    registry.table_ = weak.lock();
    LATHE_CHECK(registry.table_ != nullptr) << "a row outlived its registry";
    return registry;
  };
  for (OpRow& row : rows) {
    LATHE_ASSIGN_OR_RETURN(row.parsed, ParseSchema(row.schema));
    row.decompose = Guarded(std::move(row.decompose));
    DeriveFromDecomposition(row, self);
    row.infer = Guarded(std::move(row.infer), row.is_view());
    row.lower = Guarded(std::move(row.lower));
    if (!table->by_name.contains(row.parsed.name)) table->Own(std::move(row), true);
  }
  size_t stated = table->owned.size();
  for (size_t k = 0; k < stated; ++k) {
    std::optional<OpRow> in_place = InPlaceRow(table->owned[k]);
    if (in_place && !table->by_name.contains(in_place->parsed.name)) {
      table->Own(*std::move(in_place), false);
    }
  }
  OpRegistry registry;
  registry.table_ = std::move(table);
  return registry;
}

absl::StatusOr<OpRegistry> OpRegistry::With(std::vector<OpRow> rows) const {
  // Of() keeps the first row of a name.
  rows.insert(rows.end(), table_->stated.begin(), table_->stated.end());
  return Of(std::move(rows));
}

const OpRow* OpRegistry::Find(absl::string_view name) const {
  if (absl::EndsWith(name, ".default")) name.remove_suffix(8);
  auto it = table_->by_name.find(name);
  return it == table_->by_name.end() ? table_->FindOut(name) : it->second;
}

const std::vector<const OpRow*>& OpRegistry::rows() const { return table_->rows; }

namespace {

bool IsNumber(const Argument& a) {
  switch (a.kind()) {
    case Argument::Kind::kInt:
    case Argument::Kind::kBool:
    case Argument::Kind::kScalar:
      return true;
    case Argument::Kind::kValue:
      return a.value()->type.is_scalar();
    default:
      return false;
  }
}

// The row that takes numbers where this call gives numbers for tensors, nullptr when there is none.
const OpRow* FindNumberOverload(const Node& node, const OpRow& row, const OpRegistry& registry) {
  bool any = false;
  for (size_t k = 0; k < node.arguments.size() && k < row.parsed.arguments.size(); ++k) {
    bool positional = node.names.empty() || node.names[k].empty();
    any |= positional && row.parsed.arguments[k].type == SchemaArgument::Type::kTensor &&
           IsNumber(node.arguments[k]);
  }
  for (size_t k = 0; k < node.names.size(); ++k) {
    any |= !node.names[k].empty() && IsNumber(node.arguments[k]);
  }
  if (!any) return nullptr;
  std::string name = row.parsed.name;
  size_t dot = name.rfind('.');
  std::string base = dot == name.find('.') ? name : name.substr(0, dot);
  for (absl::string_view overload : {".Scalar", ".Tensor_Scalar", ".Scalar_mode", ".ScalarOther",
                                     ".ScalarSelf", ".Scalar_Tensor", ".Tensor_Scalar_Scalar"}) {
    const OpRow* candidate = registry.Find(absl::StrCat(base, overload));
    if (candidate != nullptr && candidate != &row &&
        BindArguments(candidate->parsed, node.arguments, node.names).ok()) {
      return candidate;
    }
  }
  return nullptr;
}

// The dtype that a number becomes beside these arguments' tensors; nullopt without a tensor.
std::optional<DType> DTypeBeside(const Node& node, const Argument& number) {
  const auto rank = [](DType d) { return IsFloat(d) || IsComplex(d) ? 2 : IsBool(d) ? 0 : 1; };
  std::optional<DType> dtype;
  for (const Argument& a : node.arguments) {
    if (!a.is_value() || !a.value()->type.is_tensor()) continue;
    const DType other = a.value()->type.tensor().dtype;
    if (!dtype || rank(other) > rank(*dtype)) dtype = other;
  }
  if (!dtype) return std::nullopt;
  bool is_float = number.kind() == Argument::Kind::kScalar && number.number().is_float();
  if (number.is_value()) {
    is_float = number.value()->type.scalar().kind == symbolic::ExprType::kFloat;
  }
  if (is_float && rank(*dtype) < 2) return DType::kF32;
  const bool is_bool = number.kind() == Argument::Kind::kBool;
  return rank(*dtype) == 0 && !is_float && !is_bool ? DType::kI64 : dtype;
}

// Eager makes a tensor of a number where no overload takes one: 1 - x, exported as aten.sub.Tensor.
// Whether there was such a number; the tensors are made before the node.
absl::StatusOr<bool> WrapNumbers(Node* node, const OpRow& row, const OpRegistry& registry) {
  bool any = false;
  for (size_t k = 0; k < node->arguments.size(); ++k) {
    const bool is_named = k < node->names.size() && !node->names[k].empty();
    const SchemaArgument* expected = nullptr;
    for (size_t i = 0; i < row.parsed.arguments.size(); ++i) {
      const SchemaArgument& a = row.parsed.arguments[i];
      if (is_named ? a.name == node->names[k] : i == k) expected = &a;
    }
    const Argument number = node->arguments[k];
    if (expected == nullptr || expected->type != SchemaArgument::Type::kTensor ||
        expected->is_written || !IsNumber(number)) {
      continue;
    }
    const std::optional<DType> dtype = DTypeBeside(*node, number);
    if (!dtype) continue;
    Node* full = node->graph->Insert(node, "aten.full", {Argument::List({}), number},
                                     {ValueType(ContiguousType(*dtype, {}))});
    full->arguments.push_back(Argument::Of(*dtype));
    full->names = {"", "", "dtype"};
    full->origin = node->origin;
    LATHE_RETURN_IF_ERROR(ResolveNode(full, registry));
    node->graph->SetArgument(node, static_cast<int>(k), Argument::Of(full->results[0]));
    any = true;
  }
  return any;
}

}  // namespace

absl::Status ResolveNode(Node* node, const OpRegistry& registry) {
  const OpRow* row = registry.Find(node->op);
  std::string place = node->results.empty() ? "" : absl::StrCat("%", node->results[0]->name);
  if (row == nullptr) {
    return AtNode(Unimplemented("unknown operator '", node->op, "'"), place, node->origin.source);
  }
  absl::StatusOr<std::vector<Argument>> bound =
      BindArguments(row->parsed, node->arguments, node->names);
  if (!bound.ok()) {
    if (const OpRow* other = FindNumberOverload(*node, *row, registry)) {
      row = other;
      bound = BindArguments(row->parsed, node->arguments, node->names);
    } else {
      LATHE_ASSIGN_OR_RETURN(const bool wrapped, WrapNumbers(node, *row, registry));
      if (wrapped) bound = BindArguments(row->parsed, node->arguments, node->names);
    }
  }
  if (!bound.ok()) return AtNode(bound.status(), place, node->origin.source);
  node->row = row;
  node->op = row->parsed.name;
  node->names.clear();
  node->graph->SetArguments(node, *std::move(bound));
  return absl::OkStatus();
}

namespace {

absl::Status ResolveKnown(Graph& graph, const OpRegistry& registry,
                          std::map<std::string, int>& unknown) {
  for (Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) {
        LATHE_RETURN_IF_ERROR(ResolveKnown(*a.graph(), registry, unknown));
      }
    }
    if (registry.Find(node->op) == nullptr) {
      ++unknown[node->op];
      continue;
    }
    LATHE_RETURN_IF_ERROR(ResolveNode(node, registry));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveGraph(Graph& graph, const OpRegistry& registry) {
  std::map<std::string, int> unknown;
  LATHE_RETURN_IF_ERROR(ResolveKnown(graph, registry, unknown));
  if (unknown.empty()) return absl::OkStatus();
  std::string list = absl::StrJoin(unknown, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
    if (entry.second > 1) absl::StrAppend(out, " (", entry.second, " times)");
  });
  return Unimplemented(unknown.size() == 1 ? "unknown operator: " : "unknown operators: ", list);
}

}  // namespace lathe
