// Linear layers whose weights are packed integers: the weights are unpacked as the product reads
// them, whatever the number of rows, and are in no buffer as a whole.

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/scalar.h"
#include "gtest/gtest.h"
#include "tests/integers/run_everywhere.h"

namespace lathe::integers {
namespace {

constexpr int64_t kColumns = 77, kLength = 320, kGroups = 5;

struct Layer {
  DType weight, compute;
  bool grouped, bias;
  std::string rows;  // a number, or a symbol
};

std::string TextOf(const Layer& layer) {
  const std::string type(Name(layer.compute)), packed(Name(layer.weight));
  const std::string matrix = absl::StrCat("[", kColumns, ", ", kLength, "]");
  std::string text =
      absl::StrCat("graph @f(%x: ", type, "[", layer.rows, ", ", kLength, "], %w: ", packed, matrix,
                   ", %s: ", type, "[", kColumns, ", ", layer.grouped ? kGroups : 1,
                   "], %b: ", type, "[", kColumns, "]) {\n  %f = aten._to_copy(%w, dtype=", type,
                   ")\n  %z = aten.sub.Scalar(%f, 2)\n");
  if (layer.grouped) {
    absl::StrAppend(&text, "  %g = aten.view(%z, [", kColumns, ", ", kGroups, ", ",
                    kLength / kGroups, "])\n  %u = aten.unsqueeze(%s, 2)\n",
                    "  %p = aten.mul.Tensor(%g, %u)\n  %m = aten.view(%p, ", matrix, ")\n");
  } else {
    absl::StrAppend(&text, "  %m = aten.mul.Tensor(%z, %s)\n");
  }
  absl::StrAppend(&text, "  %y = aten.linear(%x, %m", layer.bias ? ", %b" : "",
                  ")\n  %r = aten.relu(%y)\n  return %r\n}\n");
  return text;
}

std::vector<RunValue> InputsOf(const Layer& layer, int64_t rows) {
  const auto filled = [](DType dtype, const Dims& sizes, int64_t seed) {
    const Tensor t = Tensor::Empty(dtype, sizes);
    for (int64_t k = 0; k < t.numel(); ++k) {
      const int64_t number = (k * 7919 + seed * 104729) % 1000003 % 64;
      t.SetLinear(k,
                  IsFloat(dtype) ? Scalar(static_cast<double>(number - 32) / 16) : Scalar(number));
    }
    return t;
  };
  return {filled(layer.compute, {rows, kLength}, 1), filled(layer.weight, {kColumns, kLength}, 2),
          filled(layer.compute, {kColumns, layer.grouped ? kGroups : 1}, 3),
          filled(layer.compute, {kColumns}, 4)};
}

Tensor ResultOf(const Layer& layer, int64_t rows, Tier tier) {
  const absl::StatusOr<Executable> executable = CompileText(TextOf(layer), tier);
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return Tensor();
  const absl::StatusOr<std::vector<Tensor>> result = RunTensors(*executable, InputsOf(layer, rows));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)[0] : Tensor();
}

void ExpectLayer(const Layer& layer, int64_t rows) {
  SCOPED_TRACE(absl::StrCat(Name(layer.weight), " weights, ", Name(layer.compute), ", ", rows,
                            " rows (", layer.rows, ")", layer.grouped ? ", groups" : "",
                            layer.bias ? ", bias" : ""));
  const Tensor expected = ResultOf(layer, rows, Tier::kReference);
  const Tensor tile = ResultOf(layer, rows, Tier::kTile);
  const Tensor native = ResultOf(layer, rows, Tier::kNative);
  ASSERT_TRUE(expected.is_defined() && tile.is_defined() && native.is_defined());
  for (int64_t k = 0; k < tile.numel(); ++k) {
    ASSERT_TRUE(tile.AtLinear(k).Identical(native.AtLinear(k))) << "element " << k;
    const double e = expected.AtLinear(k).ToDouble(), a = tile.AtLinear(k).ToDouble();
    const double tolerance = layer.compute == DType::kF32 ? 1e-5 : 2e-2;
    ASSERT_LE(std::abs(a - e), tolerance * std::abs(e) + 32 * tolerance) << "element " << k;
  }
}

TEST(PackedLinear, EveryWidthAndNumberOfRows) {
  for (DType weight : {DType::kI2, DType::kU3, DType::kI4, DType::kU4, DType::kU6}) {
    for (DType compute : {DType::kF32, DType::kBF16}) {
      for (int64_t rows : {1, 8, 9, 33}) {
        ExpectLayer(
            {weight, compute, weight != DType::kU3, weight == DType::kI4, absl::StrCat(rows)},
            rows);
      }
      for (int64_t rows : {1, 40}) ExpectLayer({weight, compute, true, true, "s0"}, rows);
    }
  }
}

TEST(PackedLinear, TheUnpackedWeightsHaveNoBuffer) {
  for (const char* rows : {"9", "200", "s0"}) {
    const Layer layer = {DType::kU4, DType::kF32, true, true, rows};
    const absl::StatusOr<Executable> executable = CompileText(TextOf(layer), Tier::kTile);
    ASSERT_TRUE(executable.ok()) << executable.status();
    EXPECT_EQ(executable->report().externs, 1);
    const absl::StatusOr<std::string> plan = executable->Stage("plan");
    ASSERT_TRUE(plan.ok());
    EXPECT_TRUE(absl::StrContains(*plan, "on rows of f32 by")) << *plan;
    EXPECT_FALSE(absl::StrContains(*plan, "\nlaunch")) << *plan;
  }
  // One kernel, no product, for few rows.
  const absl::StatusOr<Executable> vector =
      CompileText(TextOf({DType::kI3, DType::kF32, false, false, "1"}), Tier::kTile);
  ASSERT_TRUE(vector.ok()) << vector.status();
  EXPECT_EQ(vector->report().externs, 0);
  EXPECT_EQ(vector->report().kernels, 1);
}

// A matrix that something else reads too needs its buffer.
TEST(PackedLinear, AMatrixWithAnotherReaderIsKept) {
  const absl::StatusOr<Executable> both = CompileText(
      "graph @f(%x: f32[16, 64], %w: i4[32, 64]) {\n"
      "  %m = aten._to_copy(%w, dtype=f32)\n  %y = aten.linear(%x, %m)\n  return %y, %m\n}\n",
      Tier::kTile);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_FALSE(absl::StrContains(*both->Stage("plan"), "on rows of"));
}

}  // namespace
}  // namespace lathe::integers
