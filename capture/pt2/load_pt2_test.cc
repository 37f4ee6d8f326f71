// Archives with the operator table: every operator is known, and the types that lathe infers are
// those that PyTorch recorded.

#include "capture/pt2/load_pt2.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

constexpr const char* kModels[] = {
    "cond_branch",
    "convnet",
    "fft_complex_free_rope",
    "gather_scatter",
    "gru",
    "hf_bert",
    "hf_gpt2",
    "hf_llama",
    "mlp",
    "old_convnet",
    "old_mlp",
    "timm_test_convnext",
    "timm_test_resnet",
    "timm_test_vit",
    "transformer_encoder",
    "tv_shufflenet",
    "unbacked_nonzero",
    "unsigned_bits",
    "views_mutation",
};

bool SameExprs(const ShapeEnv& shapes, const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] != b[k] && !shapes.IsKnownEqual(a[k], b[k])) return false;
  }
  return true;
}

// Strides of an empty tensor address nothing: they are compared for sizes from 1 up.
ShapeEnv WithoutEmptySizes(const ShapeEnv& shapes) {
  ShapeEnv copy(shapes.shared_context());
  for (const Expr& symbol : shapes.symbols()) {
    symbolic::Range range = shapes.RangeOf(symbol);
    if (shapes.source(symbol).kind == symbolic::Source::Kind::kInputSize) {
      range.lower = std::max<int64_t>(range.lower, 1);
    }
    if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) {
      copy.AddUnbacked(symbol.symbol_name(), shapes.source(symbol), range);
    } else {
      copy.AddBacked(symbol.symbol_name(), shapes.source(symbol), shapes.hint(symbol), range);
    }
  }
  for (const Expr& fact : shapes.facts()) EXPECT_TRUE(copy.AddFact(fact).ok());
  return copy;
}

// Strides of dimensions of size 1 address nothing and are left to each side.
bool SameStrides(const ShapeEnv& shapes, const TensorType& a, const TensorType& b) {
  TensorType x = a, y = b;
  for (int d = 0; d < a.rank() && d < b.rank(); ++d) {
    if (a.sizes[d] == Expr(1)) x.strides[d] = y.strides[d] = 1;
  }
  return SameExprs(shapes, x.strides, y.strides);
}

bool SameType(const ShapeEnv& shapes, const ValueType& a, const ValueType& b) {
  if (a.index() != b.index()) return false;
  if (!a.is_tensor()) return true;
  const TensorType &x = a.tensor(), &y = b.tensor();
  return x.dtype == y.dtype && SameExprs(shapes, x.sizes, y.sizes) && SameStrides(shapes, x, y);
}

// The exporter records a copy where eager gives an operand back (dropout when not training): dtype
// and sizes are the operand's, the strides a copy's.
bool IsItsOperand(const Value& value) {
  const Node& node = *value.definition;
  return !node.arguments.empty() && node.arguments[0].is_value() &&
         node.arguments[0].value()->type == value.type;
}

void CollectTypes(const Graph& graph, std::vector<std::pair<const Value*, ValueType>>& types) {
  for (const Node* node : graph.nodes()) {
    for (const Value* result : node->results) types.emplace_back(result, result->type);
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) CollectTypes(*a.graph(), types);
    }
  }
}

TEST(LoadPt2, EveryModelWithTheRecordedTypes) {
  for (const char* model : kModels) {
    absl::StatusOr<Program> program =
        LoadPt2(absl::StrCat("third_party/models/", model, ".pt2"), OpRegistry::Builtin());
    if (!program.ok()) {
      ADD_FAILURE() << model << ": " << program.status();
      continue;
    }
    std::vector<std::pair<const Value*, ValueType>> recorded;
    CollectTypes(*program->main, recorded);
    absl::Status inferred = InferTypes(*program->main, *program->shapes).status();
    EXPECT_TRUE(inferred.ok()) << model << ": " << inferred;
    const ShapeEnv shapes = WithoutEmptySizes(*program->shapes);
    for (const auto& [value, type] : recorded) {
      EXPECT_TRUE(SameType(shapes, type, value->type) ||
                  (IsItsOperand(*value) && type.tensor().sizes == value->type.tensor().sizes))
          << model << ": %" << value->name << " of " << value->definition->op << " is "
          << ToString(value->type) << ", recorded " << ToString(type);
    }
  }
}

}  // namespace
}  // namespace lathe
