#include "ir/reference/evaluator.h"

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"

namespace lathe {
namespace {

Tensor Floats(const Dims& sizes, std::vector<float> values) {
  return Tensor::FromSpan<float>(sizes, values);
}

std::vector<double> Values(const HostValue& value) {
  std::vector<double> result;
  for (int64_t k = 0; k < value.tensor().numel(); ++k) {
    result.push_back(value.tensor().AtLinear(k).ToDouble());
  }
  return result;
}

Program Parse(absl::string_view text) {
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

std::string ErrorOf(const Program& program, std::vector<HostValue> inputs) {
  absl::StatusOr<ReferenceResult> result = EvaluateReference(program, std::move(inputs));
  return result.ok() ? "ok" : Describe(result.status());
}

TEST(Reference, ReadsSizesFromTheInputs) {
  Program program = Parse(R"(
graph @f(%x: f32[s0, 2], %w: f32[2] = weight("w")) where 2 <= s0 {
  %y = aten.mul.Tensor(%x, %w)
  %z = aten.sum.dim_IntList(%y, [1])
  %v = aten.view(%y, [s0 * 2])
  return %z, %v
}
)");
  program.weights["w"] = Floats({2}, {10, 100});
  absl::StatusOr<ReferenceResult> result =
      EvaluateReference(program, {Floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Values(result->outputs[0]), (std::vector<double>{210, 430, 650}));
  EXPECT_EQ(Values(result->outputs[1]), (std::vector<double>{10, 200, 30, 400, 50, 600}));
}

TEST(Reference, ViewsAliasAndInPlaceWritesThrough) {
  Program program = Parse(R"(
graph @f(%x: f32[2, 3]) {
  %row = aten.select.int(%x, 0, 1)
  %more = aten.add_.Scalar(%row, 10)
  %y = aten.mul.Scalar(%x, 2)
  return %y, %row
}
)");
  Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  absl::StatusOr<ReferenceResult> result = EvaluateReference(program, {x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Values(result->outputs[0]), (std::vector<double>{2, 4, 6, 28, 30, 32}));
  EXPECT_EQ(Values(HostValue(x)), (std::vector<double>{1, 2, 3, 14, 15, 16}));
  EXPECT_EQ(result->outputs[1].tensor().storage(), x.storage());
}

TEST(Reference, BindsSizesThatTheDataDecides) {
  Program program = Parse(R"(
graph @f(%x: f32[s0]) {
  %places = aten.nonzero(%x) : i64[u0, 1]
  %flat = aten.view(%places, [u0])
  return %flat
}
)");
  absl::StatusOr<ReferenceResult> result =
      EvaluateReference(program, {Floats({5}, {0, 1, 0, 2, 3})});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Values(result->outputs[0]), (std::vector<double>{1, 3, 4}));
}

TEST(Reference, RowsWithoutAMeaningOfTheirOwnDecompose) {
  Program program = Parse(R"(
graph @f(%x: f32[4]) {
  %v, %m = aten.var_mean.correction(%x, [0], correction=0)
  %n = aten.linalg_vector_norm(%x)
  return %v, %m, %n
}
)");
  absl::StatusOr<ReferenceResult> result = EvaluateReference(program, {Floats({4}, {1, 1, 1, 5})});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Values(result->outputs[0]), std::vector<double>{3});
  EXPECT_EQ(Values(result->outputs[1]), std::vector<double>{2});
  EXPECT_NEAR(Values(result->outputs[2])[0], 5.2915026, 1e-6);
}

TEST(Reference, NamesWhatDoesNotFit) {
  Program program = Parse(R"(
graph @f(%x: f32[s0], %y: f32[s0]) where s0 <= 4 {
  %z = aten.add.Tensor(%x, %y)
  return %z
}
)");
  Tensor three = Floats({3}, {1, 2, 3}), five = Floats({5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(ErrorOf(program, {three, three}), "ok");
  EXPECT_EQ(ErrorOf(program, {three}), "the program takes more inputs than the 1 given");
  EXPECT_NE(ErrorOf(program, {three, five}).find("input y: size 0 is 5, but s0 is 3"),
            std::string::npos);
  EXPECT_NE(ErrorOf(program, {five, five}).find("size 0 of input x = 5"), std::string::npos);
  EXPECT_NE(ErrorOf(program, {three, three.To(DType::kF64)}).find("expected f32[s0]"),
            std::string::npos);
}

TEST(Reference, ErrorsCarryTheirNode) {
  Program program = Parse(R"(
graph @f(%x: i64[2], %y: i64[2]) {
  %z = aten.floor_divide(%x, %y)
  return %z
}
)");
  Tensor ones = Tensor::FromSpan<int64_t>({2}, std::vector<int64_t>{1, 1});
  Tensor zeros = Tensor::Zeros(DType::kI64, {2});
  EXPECT_EQ(ErrorOf(program, {ones, zeros}), "aten.floor_divide: ZeroDivisionError (at %z)");
}

}  // namespace
}  // namespace lathe
