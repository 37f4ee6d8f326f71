#include "dtypes/promotion.h"

#include <string>
#include <vector>

#include "dtypes/recorded_vectors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using Rank = PromotionOperand::Rank;
using Operands = std::vector<PromotionOperand>;

// Calls `check(first, second, answer)` for every "first,second": answer of a recorded table.
template <typename F>
int ForEachPair(const rapidjson::Document& document, const char* table, F&& check) {
  int count = 0;
  for (const auto& entry : document[table].GetObject()) {
    const std::string key = entry.name.GetString(), answer = entry.value.GetString();
    const size_t comma = key.find(',');
    SCOPED_TRACE(std::string(table) + " " + key);
    check(key.substr(0, comma), comma == std::string::npos ? "" : key.substr(comma + 1), answer);
    ++count;
  }
  return count;
}

void ExpectType(const absl::StatusOr<DType>& type, const std::string& answer) {
  if (answer.rfind("error", 0) == 0) {
    EXPECT_FALSE(type.ok()) << Name(*type);
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument);
  } else {
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ(Name(*type), Name(DTypeOfTorchName(answer)));
  }
}

DType PythonScalarType(const std::string& name) {
  if (name == "bool") return DType::kBool;
  if (name == "int") return DType::kI64;
  return name == "float" ? DType::kF64 : DType::kC128;
}

// A missing CPU kernel of PyTorch's, not a rule of promotion.
bool IsMissingKernel(const std::string& answer) { return answer == "error: NotImplementedError"; }

TEST(Promotion, EqualsPyTorchForEveryPairOfOperands) {
  const rapidjson::Document recorded = ReadVectors("promotion.json");
  const auto with_rank = [](Rank rank) {
    return [rank](const std::string& a, const std::string& b, const std::string& answer) {
      ExpectType(ResultType({{DTypeOfTorchName(a)}, {DTypeOfTorchName(b), rank}}), answer);
      ExpectType(ResultType({{DTypeOfTorchName(b), rank}, {DTypeOfTorchName(a)}}), answer);
    };
  };
  EXPECT_EQ(ForEachPair(recorded, "tensor_tensor", with_rank(Rank::kDimensioned)), 196);
  EXPECT_EQ(ForEachPair(recorded, "tensor_0dim", with_rank(Rank::kZeroDim)), 196);
  const auto with_scalar = [](const std::string& a, const std::string& b,
                              const std::string& answer) {
    ExpectType(ResultType({{DTypeOfTorchName(a)}, {PythonScalarType(b), Rank::kPythonScalar}}),
               answer);
  };
  EXPECT_EQ(ForEachPair(recorded, "tensor_pyscalar", with_scalar), 56);
}

TEST(Promotion, EqualsPyTorchForResultsOfOps) {
  const rapidjson::Document recorded = ReadVectors("promotion.json");
  const auto pair = [](const std::string& a, const std::string& b) {
    return Operands{{DTypeOfTorchName(a)}, {DTypeOfTorchName(b)}};
  };
  ForEachPair(recorded, "add_tensor_tensor", [&](auto a, auto b, auto answer) {
    if (!IsMissingKernel(answer)) ExpectType(ResultType(pair(a, b)), answer);
  });
  ForEachPair(recorded, "div",
              [&](auto a, auto b, auto answer) { ExpectType(TrueDivType(pair(a, b)), answer); });
  ForEachPair(recorded, "bitwise_and",
              [&](auto a, auto b, auto answer) { ExpectType(BitwiseType(pair(a, b)), answer); });
  ForEachPair(recorded, "true_cmp", [&](auto a, auto b, auto answer) {
    const absl::StatusOr<DType> type = ComparisonType(Comparison::kOrder, pair(a, b));
    const bool lacks_unsigned = IsMissingKernel(answer) && a == b && a.rfind("uint", 0) == 0;
    EXPECT_EQ(type.ok(), answer == "bool" || lacks_unsigned) << type.status();
  });
  ForEachPair(recorded, "sum", [](auto a, auto, auto answer) {
    EXPECT_EQ(Name(SumType(DTypeOfTorchName(a))), Name(DTypeOfTorchName(answer)));
  });
  ForEachPair(recorded, "mean",
              [](auto a, auto, auto answer) { ExpectType(MeanType(DTypeOfTorchName(a)), answer); });
}

TEST(Promotion, ThreeRanksAndManyOperands) {
  const auto type = [](const Operands& operands) {
    const absl::StatusOr<DType> result = ResultType(operands);
    return result.ok() ? std::string(Name(*result)) : std::string(result.status().message());
  };
  EXPECT_EQ(type({{DType::kF64, Rank::kPythonScalar}}), "f32");
  EXPECT_EQ(type({{DType::kC128, Rank::kPythonScalar}}), "c64");
  EXPECT_EQ(type({{DType::kF64, Rank::kPythonScalar}, {DType::kI64, Rank::kZeroDim}}), "f32");
  EXPECT_EQ(type({{DType::kF64, Rank::kPythonScalar},
                  {DType::kF16, Rank::kZeroDim},
                  {DType::kI8, Rank::kDimensioned}}),
            "f16");
  EXPECT_EQ(type({{DType::kC128, Rank::kPythonScalar}, {DType::kBF16}, {DType::kF16}}), "c64");
  EXPECT_EQ(type({{DType::kBool}, {DType::kI32, Rank::kZeroDim}}), "i32");
  EXPECT_EQ(type({{DType::kI8}, {DType::kU8}, {DType::kBool}, {DType::kI16}}), "i16");
  EXPECT_EQ(type({{DType::kC32}, {DType::kF32}}), "c64");
  EXPECT_EQ(type({{DType::kC32}, {DType::kF16}}), "c32");
  EXPECT_EQ(type({{DType::kF8E5M2}, {DType::kF8E5M2, Rank::kZeroDim}}), "f8e5m2");
  EXPECT_THAT(type({}), HasSubstr("at least one operand"));
}

TEST(Promotion, ErrorsNameBothTypesAndTwoWaysOut) {
  const auto message = [](DType a, DType b, PromotionRules rules) {
    return std::string(PromoteTypes(a, b, rules).status().message());
  };
  EXPECT_EQ(message(DType::kU16, DType::kI32, PromotionRules::kPyTorch),
            "cannot promote u16 with i32: PyTorch defines no common type; convert one of them "
            "explicitly, or use kExtended promotion, which gives i32");
  EXPECT_THAT(message(DType::kU64, DType::kI8, PromotionRules::kPyTorch),
              HasSubstr("though it has none"));
  EXPECT_EQ(message(DType::kU64, DType::kI8, PromotionRules::kExtended),
            "cannot promote u64 with i8: no type holds both without loss; convert one of them "
            "explicitly");
  EXPECT_THAT(message(DType::kF8E4M3FN, DType::kF32, PromotionRules::kPyTorch),
              HasSubstr("f8e4m3fn with f32"));
  EXPECT_THAT(message(DType::kF4E2M1FNx2, DType::kI32, PromotionRules::kExtended),
              HasSubstr("f4e2m1fn_x2 with i32"));
}

std::vector<DType> Integrals() {
  std::vector<DType> result;
  for (DType d : AllDTypes()) {
    if (IsIntegral(d)) result.push_back(d);
  }
  return result;
}

// The range of an integral type, exactly.
__int128 Least(DType d) {
  return IsSigned(d) ? -(static_cast<__int128>(1) << (BitWidth(d) - 1)) : 0;
}
__int128 Greatest(DType d) {
  if (IsBool(d)) return 1;
  return (static_cast<__int128>(1) << (BitWidth(d) - (IsSigned(d) ? 1 : 0))) - 1;
}
bool Holds(DType outer, DType inner) {
  return Least(outer) <= Least(inner) && Greatest(outer) >= Greatest(inner);
}

// The join with "no such type" as the top of the lattice.
std::optional<DType> Extended(std::optional<DType> a, std::optional<DType> b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const absl::StatusOr<DType> result = PromoteTypes(*a, *b, PromotionRules::kExtended);
  return result.ok() ? std::optional<DType>(*result) : std::nullopt;
}

TEST(ExtendedPromotion, IsTheNarrowestLosslessType) {
  for (DType a : Integrals()) {
    for (DType b : Integrals()) {
      SCOPED_TRACE(std::string(Name(a)) + " " + std::string(Name(b)));
      const std::optional<DType> join = Extended(a, b);
      if (join.has_value()) {
        EXPECT_TRUE(Holds(*join, a) && Holds(*join, b)) << Name(*join);
      }
      for (DType other : Integrals()) {
        if (!Holds(other, a) || !Holds(other, b)) continue;
        ASSERT_TRUE(join.has_value()) << Name(other);
        // bool and u1 hold the same values; either may be the narrowest.
        EXPECT_TRUE(Holds(other, *join)) << Name(*join) << " past " << Name(other);
      }
    }
  }
}

TEST(ExtendedPromotion, IsALatticeOnTheIntegers) {
  for (DType a : Integrals()) {
    EXPECT_EQ(Extended(a, a), a);
    for (DType b : Integrals()) {
      EXPECT_EQ(Extended(a, b), Extended(b, a)) << Name(a) << " " << Name(b);
      for (DType c : Integrals()) {
        SCOPED_TRACE(std::string(Name(a)) + " " + std::string(Name(b)) + " " +
                     std::string(Name(c)));
        const std::optional<DType> left = Extended(Extended(a, b), c);
        EXPECT_EQ(left, Extended(a, Extended(b, c)));
        // Monotone: a wider operand never narrows the result.
        if (Extended(a, b) == b && left.has_value()) {
          const std::optional<DType> of_a = Extended(a, c), of_b = Extended(b, c);
          if (of_b.has_value()) {
            EXPECT_EQ(Extended(of_a, of_b), of_b);
          }
        }
      }
    }
  }
}

TEST(ExtendedPromotion, AgreesWithPyTorchWhereItAnswers) {
  for (DType a : AllDTypes()) {
    for (DType b : AllDTypes()) {
      const absl::StatusOr<DType> pytorch = PromoteTypes(a, b);
      const absl::StatusOr<DType> extended = PromoteTypes(a, b, PromotionRules::kExtended);
      if (!pytorch.ok()) continue;
      ASSERT_TRUE(extended.ok()) << Name(a) << " " << Name(b);
      EXPECT_EQ(*pytorch, *extended) << Name(a) << " " << Name(b);
    }
  }
}

TEST(ExtendedPromotion, Examples) {
  const auto join = [](DType a, DType b) { return *PromoteTypes(a, b, PromotionRules::kExtended); };
  EXPECT_EQ(join(DType::kU3, DType::kI2), DType::kI4);
  EXPECT_EQ(join(DType::kBool, DType::kI1), DType::kI2);
  EXPECT_EQ(join(DType::kU7, DType::kU16), DType::kU16);
  EXPECT_EQ(join(DType::kU32, DType::kI8), DType::kI64);
  EXPECT_EQ(join(DType::kU5, DType::kBF16), DType::kBF16);
  // PyTorch's own rules have a type for unsigned ones and floats alone.
  EXPECT_EQ(*PromoteTypes(DType::kU5, DType::kBF16), DType::kBF16);
  EXPECT_FALSE(PromoteTypes(DType::kU5, DType::kU8).ok());
  EXPECT_FALSE(PromoteTypes(DType::kU5, DType::kC64).ok());
  EXPECT_FALSE(PromoteTypes(DType::kI5, DType::kBF16).ok());
  EXPECT_EQ(join(DType::kU64, DType::kC64), DType::kC64);
}

}  // namespace
}  // namespace lathe
