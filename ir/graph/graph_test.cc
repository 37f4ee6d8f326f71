#include "ir/graph/graph.h"

#include <string>
#include <vector>

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "ir/graph/call_classes.h"
#include "ir/graph/equal.h"
#include "ir/graph/interpreter.h"
#include "ir/graph/program.h"
#include "ir/graph/verifier.h"

namespace lathe {
namespace {

const ValueType kVector = ContiguousType(DType::kF32, {4});

// %y = f(%x, [%x, %w]); %z = g(%y); return %z, %x
std::shared_ptr<Graph> Example(std::shared_ptr<ExprContext> context) {
  auto graph = std::make_shared<Graph>("f", std::move(context));
  Value* x = graph->AddInput("x", kVector, InputSpec::User());
  Value* w = graph->AddInput("w", kVector, InputSpec::Weight(InputSpec::Kind::kParameter, "w"));
  Node* f = graph->Append(
      "aten.f.Tensor",
      {Argument::Of(x), Argument::List({Argument::Of(x), Argument::Of(w), Argument::Int(3)})},
      {kVector});
  Node* g = graph->Append("aten.g", {Argument::Of(f->results[0])}, {kVector}, {"z"});
  graph->AddOutput(Argument::Of(g->results[0]), OutputSpec::User());
  graph->AddOutput(Argument::Of(x), OutputSpec::User());
  return graph;
}

TEST(CallClasses, TellApartWhatACallAsks) {
  auto context = std::make_shared<ExprContext>();
  const Expr s0 = context->Symbol("s0"), s1 = context->Symbol("s1");
  Graph graph("f", context);
  const auto input = [&](ValueType type) {
    return Argument::Of(graph.AddInput("x", std::move(type), InputSpec::User()));
  };
  TensorType transposed = ContiguousType(DType::kF32, {s0, 64});
  transposed.strides = {1, s0};
  TensorType shifted = ContiguousType(DType::kF32, {s0, 64});
  shifted.offset = 4;
  TensorType on_device = ContiguousType(DType::kF32, {s0, 64});
  on_device.device = Device::Cuda(0);
  const std::vector<std::vector<Argument>> different = {
      {},
      {input(ContiguousType(DType::kF32, {s0, 64}))},
      {input(ContiguousType(DType::kF32, {s1, 64}))},
      {input(ContiguousType(DType::kF16, {s0, 64}))},
      {input(ContiguousType(DType::kF32, {s0, 64, 1}))},
      {input(transposed)},
      {input(shifted)},
      {input(on_device)},
      {input(ScalarType{symbolic::ExprType::kInt, s0})},
      {input(ScalarType{symbolic::ExprType::kInt, 3})},
      {Argument::Int(3)},
      {Argument::Int(int64_t{1} << 62)},
      {Argument::Int((int64_t{1} << 62) + 1)},
      {Argument::Int(s0)},
      {Argument::Number(Scalar(3))},
      {Argument::Number(Scalar(3.0))},
      {Argument::Number(Scalar(0.0))},
      {Argument::Number(Scalar(-0.0))},
      {Argument::Number(Scalar(std::complex<double>(0.0, 1.0)))},
      {Argument::Bool(true)},
      {Argument::Bool(false)},
      {Argument::None()},
      {Argument::String("")},
      {Argument::String("bilinear")},
      {Argument::String("bilinear2")},
      {Argument::Of(DType::kF32)},
      {Argument::Of(DType::kF16)},
      {Argument::List({})},
      {Argument::Ints({1, 2})},
      {Argument::List({Argument::Ints({1, 2})})},
      {Argument::Int(1), Argument::Int(2)},
      {Argument::Ints({1}), Argument::Ints({2})},
  };
  CallClasses classes;
  for (int round = 0; round < 2; ++round) {
    for (size_t k = 0; k < different.size(); ++k) {
      EXPECT_EQ(classes.Of(nullptr, different[k]), static_cast<int>(k)) << "round " << round;
    }
  }
  // Other values of the same types ask the same; sub-graphs are not compared.
  EXPECT_EQ(classes.Of(nullptr, {input(ContiguousType(DType::kF32, {s0, 64}))}), 1);
  EXPECT_EQ(classes.Of(nullptr, {Argument::Of(Example(context))}), std::nullopt);
}

TEST(Type, Texts) {
  ExprContext context;
  const Expr s0 = context.Symbol("s0");
  TensorType type = ContiguousType(DType::kF32, {s0, 64});
  EXPECT_EQ(ToString(type), "f32[s0, 64]");
  EXPECT_TRUE(IsContiguous(type));
  type.strides = {1, s0};
  type.offset = 4;
  type.device = Device::Cuda(0);
  EXPECT_EQ(ToString(type), "f32[s0, 64]{1, s0}+4 @cuda:0");
  EXPECT_FALSE(IsContiguous(type));
  type.offset = s0 + 1;
  EXPECT_EQ(ToString(type), "f32[s0, 64]{1, s0}+(s0 + 1) @cuda:0");
  EXPECT_EQ(ContiguousStrides(std::vector<Expr>{2, 0, s0, 3}),
            (std::vector<Expr>{s0 * 3, s0 * 3, 3, 1}));
  EXPECT_EQ(ToString(ListType{{kVector, NoneType(), ScalarType{symbolic::ExprType::kInt, s0}}}),
            "list(f32[4], none, int(s0))");
}

TEST(Graph, KeepsUsesNamesAndOrder) {
  auto graph = Example(std::make_shared<ExprContext>());
  Value* x = graph->inputs()[0];
  Node* f = graph->first();
  EXPECT_EQ(x->users.size(), 2u);
  EXPECT_EQ(x->output_uses, 1);
  EXPECT_EQ(f->results[0]->name, "f");
  ASSERT_TRUE(Verify(*graph).ok());

  // A node in front, then everything that read %x reads its result.
  Node* h = graph->Insert(f, "aten.f.Scalar", {}, {kVector});
  EXPECT_EQ(h->results[0]->name, "f_1");
  graph->ReplaceAllUses(x, h->results[0]);
  EXPECT_FALSE(x->is_used());
  EXPECT_EQ(h->results[0]->users.size(), 2u);
  ASSERT_TRUE(Verify(*graph).ok()) << Verify(*graph);
  graph->SetArgument(f, 1, Argument::List({}));
  EXPECT_EQ(h->results[0]->users.size(), 1u);
  graph->Rename(h->results[0], "z");
  EXPECT_EQ(h->results[0]->name, "z_1");
  graph->Move(h, nullptr);
  EXPECT_FALSE(Verify(*graph).ok());  // used before its definition
  graph->Move(h, f);
  EXPECT_TRUE(Verify(*graph).ok());
  graph->EraseInput(0);
  EXPECT_EQ(graph->inputs()[0]->index, 0);
  EXPECT_EQ(graph->FindValue("x"), nullptr);
  graph->ClearOutputs();
  for (Node* node : {graph->last(), f, h}) graph->Erase(node);
  EXPECT_EQ(graph->node_count(), 0);
  EXPECT_EQ(graph->first(), nullptr);
  EXPECT_TRUE(Verify(*graph).ok());
}

TEST(Graph, ClonesDeeplyAndEqualIgnoresNames) {
  auto context = std::make_shared<ExprContext>();
  auto graph = Example(context);
  graph->Append("cond", {Argument::Of(Example(context)), Argument::Of(DType::kF32)}, {});
  graph->preconditions().push_back(Le(context->Symbol("s0"), 4));
  absl::flat_hash_map<const Value*, Value*> map;
  auto copy = graph->Clone(&map);
  EXPECT_EQ(map.size(), 4u);
  EXPECT_TRUE(Verify(*copy).ok());
  EXPECT_NE(copy->last()->arguments[0].graph(), graph->last()->arguments[0].graph());
  copy->Rename(copy->inputs()[0], "other");
  EXPECT_EQ(FirstDifference(*graph, *copy), std::nullopt);
  Graph& inner = *copy->last()->arguments[0].graph();
  inner.SetArgument(inner.last(), 0, Argument::Of(inner.inputs()[1]));
  EXPECT_FALSE(StructurallyEqual(*graph, *copy));
  EXPECT_TRUE(StructurallyEqual(*Example(context), *Example(std::make_shared<ExprContext>())));
}

TEST(Verifier, NamesWhatIsBroken) {
  auto context = std::make_shared<ExprContext>();
  auto graph = Example(context);
  graph->inputs()[0]->users.pop_back();
  EXPECT_EQ(Verify(*graph).message(), "graph @f is broken: %x: the list of users is wrong");
  graph = Example(context);
  graph->first()->results[0]->type.tensor().strides.clear();
  EXPECT_EQ(Verify(*graph).message(),
            "graph @f is broken: node %f = aten.f.Tensor: %f: type of 1 sizes and 0 strides");
  graph = Example(context);
  graph->output_specs()[1].alias_output = 1;
  EXPECT_FALSE(Verify(*graph).ok());
  graph = Example(context);
  auto other = Example(context);
  graph->first()->arguments[0] = Argument::Of(other->inputs()[0]);
  EXPECT_FALSE(Verify(*graph).ok());
}

class Sum : public Interpreter<int> {
 public:
  size_t held = 0;

 protected:
  absl::StatusOr<std::vector<int>> Call(const Node& node, Env& env) override {
    int sum = 0;
    for (const Argument& argument : node.arguments) {
      argument.ForEachValue([&](Value* v) { sum += env[v]; });
    }
    if (sum > 100) return OutOfRange("too large");
    return std::vector<int>{sum};
  }
};

TEST(Interpreter, RunsNodesInOrderAndNamesTheFailingOne) {
  auto graph = Example(std::make_shared<ExprContext>());
  graph->last()->origin.source = "m.py:3";
  auto outputs = Sum().Run(*graph, {10, 1});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(*outputs, (std::vector<int>{21, 10}));
  EXPECT_EQ(Sum().Run(*graph, {10}).status().code(), absl::StatusCode::kInvalidArgument);
  auto failed = Sum().Run(*graph, {100, 1});
  EXPECT_EQ(NodeOf(failed.status()), "f");
}

TEST(Argument, ComparesByStructure) {
  const Tensor a = Tensor::FromSpan<int32_t>({2, 2}, {1, 2, 3, 4});
  const Tensor b = Tensor::FromSpan<int32_t>({4}, {1, 3, 2, 4}).AsStrided({2, 2}, {1, 2}, 0);
  EXPECT_TRUE(Argument::Of(a) == Argument::Of(b));
  EXPECT_FALSE(Argument::Of(a) == Argument::Of(b.AsStrided({2, 2}, {2, 1}, 0)));
  EXPECT_FALSE(Argument::Float(0.0) == Argument::Float(-0.0));
  EXPECT_FALSE(Argument::Int(1) == Argument::Bool(true));
  EXPECT_TRUE(Argument::Ints({1, 2}) == Argument::List({Argument::Int(1), Argument::Int(2)}));
}

}  // namespace
}  // namespace lathe
