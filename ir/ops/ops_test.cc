// Schemas, binding, the registry, result types: what every family stands on.

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "ir/graph/graph.h"
#include "ir/ops/builder.h"
#include "ir/ops/known_types.h"
#include "ir/ops/registry.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"
#include "symbolic/shape_rules.h"

namespace lathe {
namespace {

using Type = SchemaArgument::Type;

TEST(Schema, ReadsEveryKindOfArgument) {
  absl::StatusOr<Schema> schema = ParseSchema(
      "aten::op.overload(Tensor(a!) self, Tensor? x, Tensor?[] indices, int[2] stride=1, "
      "SymInt[]? size=None, *, Scalar alpha=1, float eps=1e-05, bool[3] mask, str mode=\"mean\", "
      "ScalarType? dtype=None, MemoryFormat format=contiguous_format, int reduction=Mean, "
      "int[1] dim=[], Generator? generator=None) -> (Tensor(a!), Tensor values, Tensor[])");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->name, "aten.op.overload");
  const std::vector<SchemaArgument>& a = schema->arguments;
  ASSERT_EQ(a.size(), 14u);
  EXPECT_TRUE(a[0].is_written);
  EXPECT_TRUE(a[1].optional);
  EXPECT_EQ(a[2].type, Type::kTensorList);
  EXPECT_TRUE(a[2].list_of_optional);
  EXPECT_EQ(a[3].default_value, Argument::Ints({1, 1}));
  EXPECT_TRUE(a[4].optional);
  EXPECT_FALSE(a[4].keyword_only);
  EXPECT_TRUE(a[5].keyword_only);
  EXPECT_EQ(a[6].default_value, Argument::Float(1e-5));
  EXPECT_EQ(a[7].type, Type::kBoolList);
  EXPECT_EQ(a[8].default_value, Argument::String("mean"));
  EXPECT_EQ(a[10].default_value, Argument::Of(MemoryFormat::kContiguous));
  EXPECT_EQ(a[11].default_value, Argument::Int(1));
  EXPECT_EQ(a[12].default_value, Argument::List({}));
  EXPECT_EQ(a[13].type, Type::kAny);
  ASSERT_EQ(schema->returns.size(), 3u);
  EXPECT_EQ(schema->AliasedArgument(0), 0);
  EXPECT_EQ(schema->AliasedArgument(1), -1);
  EXPECT_EQ(schema->returns[1].name, "values");
  EXPECT_EQ(schema->returns[2].type, Type::kTensorList);
}

TEST(Schema, EveryResultOfAListAliases) {
  absl::StatusOr<Schema> schema =
      ParseSchema("aten::split.Tensor(Tensor(a) self, SymInt split_size) -> Tensor(a)[]");
  ASSERT_TRUE(schema.ok()) << schema.status();
  for (int k : {0, 1, 7}) EXPECT_EQ(schema->AliasedArgument(k), 0);
  absl::StatusOr<Schema> one = ParseSchema("aten::view(Tensor(a) self) -> Tensor(a)");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->AliasedArgument(1), -1);
}

TEST(Schema, RefusesWithTheColumn) {
  for (const char* text : {"", "aten::f", "aten::f(Tensor self", "aten::f(Tensor self) Tensor",
                           "aten::f(int x=huh) -> Tensor", "aten::f(Tensor) -> Tensor",
                           "aten::f(int[x] y) -> Tensor", "aten::f() -> Tensor trailing , more"}) {
    absl::StatusOr<Schema> schema = ParseSchema(text);
    ASSERT_FALSE(schema.ok()) << text;
    EXPECT_NE(schema.status().message().find("column"), absl::string_view::npos) << text;
  }
}

class OpsTest : public testing::Test {
 protected:
  const OpRegistry& ops() { return OpRegistry::Builtin(); }
  Value* Input(DType dtype, std::vector<Expr> sizes) {
    return graph_.AddInput("x", ContiguousType(dtype, std::move(sizes)), InputSpec::User());
  }
  Expr Size(const char* name, int64_t hint = 8) {
    return shapes_.AddBacked(name, symbolic::Source(), hint, {2, 1024});
  }
  // The type of the first result, as text; the error when there is one.
  std::string TypeOfCall(absl::string_view op, std::vector<CallArgument> arguments) {
    Builder builder(graph_, ops(), shapes_);
    Value* result = builder.Call(op, std::move(arguments));
    return builder.status().ok() ? ToString(result->type) : std::string(builder.status().message());
  }
  std::shared_ptr<ExprContext> context_ = std::make_shared<ExprContext>();
  ShapeEnv shapes_{context_};
  Graph graph_{"f", context_};
};

TEST_F(OpsTest, EveryRowHasTypesAndAMeaning) {
  for (const OpRow* row : ops().rows()) {
    EXPECT_TRUE(row->infer) << row->parsed.name;
    EXPECT_FALSE(row->doc.empty()) << row->parsed.name;
    EXPECT_TRUE(row->evaluate || row->lower || row->effect != Effect::kPure) << row->parsed.name;
  }
}

// Slices of an open length: what is proved of it changes their type.
TEST_F(OpsTest, KnownTypesAreThoseOfWhatIsKnownNow) {
  KnownTypes types(shapes_);
  Value* x = Input(DType::kF32, {Size("s0")});
  const auto type_of = [&](absl::string_view op, std::vector<Argument> arguments) {
    const OpRow& row = *ops().Find(op);
    const auto bound = BindArguments(row.parsed, arguments, {});
    return ToString(types.Infer(row, *bound, {})->front());
  };
  const std::vector<Argument> slice = {Argument::Of(x), Argument::Int(0), Argument::Int(0),
                                       Argument::Int(5)};
  const std::string open = type_of("aten.slice.Tensor", slice);
  EXPECT_EQ(type_of("aten.slice.Tensor", slice), open);
  EXPECT_NE(open, "f32[5]");
  ASSERT_TRUE(shapes_.Check(symbolic::Ge(x->type.tensor().sizes[0], 6), {}).ok());
  EXPECT_EQ(type_of("aten.slice.Tensor", slice), "f32[5]");
  // Every count of places that are not zero is one of its own.
  const std::string places = type_of("aten.nonzero", {Argument::Of(x)});
  EXPECT_NE(type_of("aten.nonzero", {Argument::Of(x)}), places);
}

// Rows assume what the rules of //symbolic check: the same sizes come out, under the same
// conditions.
class SizesOfUnbacked : public OpsTest {
 protected:
  SizesOfUnbacked() {
    for (ShapeEnv* env : {&shapes_, &own_}) {
      u0_ = env->AddUnbacked("u0", symbolic::Source(), {0, 1024});
      u1_ = env->AddUnbacked("u1", symbolic::Source(), {0, 1024});
    }
  }

  std::vector<Expr> Assumed(absl::string_view op, std::vector<CallArgument> arguments) {
    return symbolic::AssumptionsOf([&] { type_ = TypeOfCall(op, std::move(arguments)); });
  }

  // What `sizes` rests on in own_, which is new for each case.
  void Expect(const absl::StatusOr<std::vector<Expr>>& sizes, const std::vector<Expr>& assumed) {
    ASSERT_TRUE(sizes.ok()) << Describe(sizes.status());
    EXPECT_EQ(type_, ToString(ContiguousType(DType::kF32, *sizes)));
    std::vector<Expr> checked;
    for (const symbolic::Assertion& a : own_.assertions()) checked.push_back(a.condition);
    EXPECT_EQ(assumed, checked) << type_;
  }

  ShapeEnv own_{context_};
  Expr u0_ = 0, u1_ = 0;
  std::string type_;
  const symbolic::Asker asker_ = {"%x", "m.py:1"};
};

using BroadcastOfUnbacked = SizesOfUnbacked;
TEST_F(BroadcastOfUnbacked, TwoSymbols) {
  const auto assumed =
      Assumed("aten.add.Tensor", {Input(DType::kF32, {u0_}), Input(DType::kF32, {u1_})});
  Expect(symbolic::BroadcastSizes(own_, {u0_}, {u1_}, asker_), assumed);
  EXPECT_EQ(assumed.size(), 1u);
}
TEST_F(BroadcastOfUnbacked, SymbolAndNumber) {
  const auto assumed =
      Assumed("aten.add.Tensor", {Input(DType::kF32, {u0_, 3}), Input(DType::kF32, {4, 1})});
  Expect(symbolic::BroadcastSizes(own_, {u0_, 3}, {4, 1}, asker_), assumed);
  EXPECT_EQ(assumed, std::vector<Expr>{symbolic::Eq(u0_, 4)});
}
TEST_F(BroadcastOfUnbacked, NothingToAssume) {
  const auto assumed =
      Assumed("aten.add.Tensor", {Input(DType::kF32, {u0_, 1}), Input(DType::kF32, {u0_, u1_})});
  Expect(symbolic::BroadcastSizes(own_, {u0_, 1}, {u0_, u1_}, asker_), assumed);
  EXPECT_TRUE(assumed.empty());
}

using ReshapeOfUnbacked = SizesOfUnbacked;
TEST_F(ReshapeOfUnbacked, TheRestIsDivided) {
  const auto assumed = Assumed("aten.view", {Input(DType::kF32, {u0_}), std::vector<Expr>{-1, 4}});
  Expect(symbolic::ReshapeSizes(own_, {u0_}, {-1, 4}, asker_), assumed);
  EXPECT_EQ(assumed, std::vector<Expr>{symbolic::Eq(u0_ % 4, 0)});
}
TEST_F(ReshapeOfUnbacked, TheProductIsTheSame) {
  const auto assumed = Assumed("aten.view", {Input(DType::kF32, {u0_}), std::vector<Expr>{u1_, 2}});
  Expect(symbolic::ReshapeSizes(own_, {u0_}, {u1_, 2}, asker_), assumed);
  EXPECT_EQ(assumed, std::vector<Expr>{symbolic::Eq(u0_, 2 * u1_)});
}
TEST_F(ReshapeOfUnbacked, NothingToAssume) {
  const auto assumed =
      Assumed("aten.view", {Input(DType::kF32, {u0_, 8}), std::vector<Expr>{-1, 4}});
  Expect(symbolic::ReshapeSizes(own_, {u0_, 8}, {-1, 4}, asker_), assumed);
  EXPECT_TRUE(assumed.empty());
}

TEST_F(OpsTest, BindingNamesWhatIsWrong) {
  const Schema& schema = ops().Find("aten.sum.dim_IntList")->parsed;
  Argument x = Argument::Of(Input(DType::kF32, {4}));
  auto message = [&](std::vector<Argument> arguments, std::vector<std::string> names) {
    absl::StatusOr<std::vector<Argument>> bound =
        BindArguments(schema, std::move(arguments), names);
    return bound.ok() ? std::string("ok") : std::string(bound.status().message());
  };
  EXPECT_EQ(message({x, Argument::Int(0)}, {}), "ok");  // int[1] takes a lone number
  EXPECT_NE(message({x}, {}).find("'dim' is missing"), std::string::npos);
  EXPECT_NE(message({x, x}, {}).find("'dim' must be a list of integers"), std::string::npos);
  EXPECT_NE(message({x, Argument::Int(0), x}, {"", "", "huh"}).find("named 'huh'"),
            std::string::npos);
  EXPECT_NE(message({x, Argument::Int(0), x}, {"", "", "self"}).find("given twice"),
            std::string::npos);
}

TEST_F(OpsTest, FindsInPlaceForms) {
  const OpRow* row = ops().Find("aten.add_.Tensor");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->effect, Effect::kMutates);
  EXPECT_EQ(row->functional, "aten.add.Tensor");
  EXPECT_EQ(row->schema,
            "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  EXPECT_EQ(ops().Find("aten.relu_.default"), ops().Find("aten.relu_"));
  EXPECT_NE(ops().Find("aten.relu_"), nullptr);
  EXPECT_EQ(ops().Find("aten.var_mean_.correction"), nullptr);
}

TEST_F(OpsTest, AUsersRowReplacesOne) {
  OpRow row = *ops().Find("aten.relu");
  row.doc = "mine";
  absl::StatusOr<OpRegistry> mine = ops().With({row});
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ(mine->Find("aten.relu")->doc, "mine");
  EXPECT_EQ(mine->rows().size(), ops().rows().size());
  EXPECT_NE(ops().Find("aten.relu")->doc, "mine");
}

TEST_F(OpsTest, ANumberForATensorMeansTheScalarOverload) {
  Value* x = Input(DType::kF32, {4});
  Node* node = graph_.Append("aten.add.Tensor", {Argument::Of(x), Argument::Int(2)}, {x->type});
  ASSERT_TRUE(ResolveNode(node, ops()).ok());
  EXPECT_EQ(node->op, "aten.add.Scalar");
}

TEST_F(OpsTest, ANumberForATensorWithoutAScalarOverloadIsWrapped) {
  const auto resolved = [&](DType dtype, std::vector<Expr> sizes, Argument number) {
    Value* x = Input(dtype, std::move(sizes));
    graph_.Append("aten.sub.Tensor", {std::move(number), Argument::Of(x)}, {x->type});
    EXPECT_TRUE(ResolveGraph(graph_, ops()).ok());
    EXPECT_TRUE(InferTypes(graph_, shapes_).ok());
    const Node* sub = graph_.last();
    EXPECT_EQ(sub->op, "aten.sub.Tensor");
    return ToString(sub->arguments[0].value()->type) + " " + ToString(sub->results[0]->type);
  };
  EXPECT_EQ(resolved(DType::kF32, {4}, Argument::Float(1.5)), "f32[] f32[4]");
  EXPECT_EQ(resolved(DType::kF64, {}, Argument::Float(0.1)), "f64[] f64[]");
  EXPECT_EQ(resolved(DType::kF16, {4}, Argument::Float(0.1)), "f16[] f16[4]");
  EXPECT_EQ(resolved(DType::kU8, {4}, Argument::Int(1)), "u8[] u8[4]");
  EXPECT_EQ(resolved(DType::kI32, {}, Argument::Int(1)), "i32[] i32[]");
  EXPECT_EQ(resolved(DType::kI64, {4}, Argument::Float(0.5)), "f32[] f32[4]");
  EXPECT_EQ(resolved(DType::kBF16, {2}, Argument::Int(Size("s0"))), "bf16[] bf16[2]");
}

TEST_F(OpsTest, UnknownOpsAreReportedAtOnce) {
  Value* x = Input(DType::kF32, {4});
  for (const char* op : {"my.first", "my.second", "my.first"}) {
    graph_.Append(op, {Argument::Of(x)}, {x->type});
  }
  absl::Status status = ResolveGraph(graph_, ops());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "unknown operators: my.first (2 times), my.second");
}

TEST_F(OpsTest, BroadcastsSymbolsWithoutGuards) {
  Expr s0 = Size("s0"), s1 = Size("s1");
  Value* column = Input(DType::kF32, {s0, 1});
  Value* row = Input(DType::kF16, {s1});
  EXPECT_EQ(TypeOfCall("aten.add.Tensor", {column, row}), "f32[s0, s1]");
  EXPECT_EQ(TypeOfCall("aten.mul.Tensor", {row, Input(DType::kF16, {16})}), "f16[16]");
  EXPECT_EQ(TypeOfCall("aten.lt.Scalar", {row, 1}), "bool[s1]");
  EXPECT_EQ(TypeOfCall("aten.div.Tensor", {Input(DType::kI64, {s0}), Input(DType::kI32, {})}),
            "f32[s0]");
  EXPECT_NE(TypeOfCall("aten.add.Tensor", {Input(DType::kF32, {3}), Input(DType::kF32, {4})})
                .find("must match the size of tensor b (4)"),
            std::string::npos);
  EXPECT_TRUE(shapes_.guards().empty());
}

TEST_F(OpsTest, ResultsFollowTheInputsLayout) {
  Expr s0 = Size("s0");
  TensorType channels_last = ContiguousType(DType::kF32, {s0, 3, 8, 8});
  channels_last.strides = {192, 1, 24, 3};
  Value* x = graph_.AddInput("x", channels_last, InputSpec::User());
  EXPECT_EQ(TypeOfCall("aten.relu", {x}), "f32[s0, 3, 8, 8]{192, 1, 24, 3}");
  EXPECT_EQ(TypeOfCall("aten.add.Tensor", {x, Input(DType::kF32, {8})}),
            "f32[s0, 3, 8, 8]{192, 1, 24, 3}");
  TensorType transposed = ContiguousType(DType::kF32, {4, s0});
  transposed.strides = {1, 4};
  Value* t = graph_.AddInput("t", transposed, InputSpec::User());
  EXPECT_EQ(TypeOfCall("aten.exp", {t}), "f32[4, s0]{1, 4}");
  EXPECT_EQ(TypeOfCall("aten.clone", {t}), "f32[4, s0]{1, 4}");
  EXPECT_EQ(TypeOfCall("aten.sum.dim_IntList", {t, std::vector<Expr>{-1}, true}), "f32[4, 1]");
}

TEST_F(OpsTest, InPlaceKeepsTheDType) {
  Value* integers = Input(DType::kI64, {4});
  EXPECT_NE(TypeOfCall("aten.add_.Tensor", {integers, Input(DType::kF32, {4})})
                .find("can't be cast to i64"),
            std::string::npos);
  EXPECT_EQ(TypeOfCall("aten.add_.Tensor", {Input(DType::kF16, {4}), Input(DType::kF32, {4})}),
            "f16[4]");
}

TEST_F(OpsTest, RefusesWhatEagerRefuses) {
  Value* x = Input(DType::kF32, {3, 0});
  EXPECT_NE(TypeOfCall("aten.amax", {x, std::vector<Expr>{1}}).find("non-zero size"),
            std::string::npos);
  EXPECT_NE(TypeOfCall("aten.sum.dim_IntList", {x, std::vector<Expr>{2}}).find("out of range"),
            std::string::npos);
  EXPECT_NE(TypeOfCall("aten.bitwise_and.Tensor", {x, x}).find("not defined for f32"),
            std::string::npos);
  EXPECT_NE(TypeOfCall("aten.mean", {Input(DType::kI64, {3})}).find("floating point"),
            std::string::npos);
  Expr s0 = Size("s0");
  EXPECT_NE(TypeOfCall("aten.leaky_relu", {x, s0}).find("symbolic number s0"), std::string::npos);
}

TEST_F(OpsTest, UnbackedSymbolsStayWhenTypesAreInferredAgain) {
  Value* x = Input(DType::kF32, {8});
  Builder builder(graph_, ops(), shapes_);
  Value* places = builder.Call("aten.nonzero", {x});
  ASSERT_TRUE(builder.status().ok()) << builder.status();
  ValueType before = places->type;
  ASSERT_TRUE(InferTypes(graph_, shapes_).ok());
  EXPECT_EQ(ToString(places->type), ToString(before));
}

}  // namespace
}  // namespace lathe
