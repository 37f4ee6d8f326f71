#include "dtypes/promotion_table.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "dtypes/promotion.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(PromotionTable, NumpysRulesAreNumpys) {
  std::istringstream recorded(ReadFile("dtypes/testdata/numpy_promotion.txt"));
  std::string a, b, answer;
  int pairs = 0;
  while (recorded >> a >> b >> answer) {
    EXPECT_EQ(NumpyPromoteTypes(*ParseDType(a), *ParseDType(b)), ParseDType(answer))
        << a << " " << b;
    ++pairs;
  }
  EXPECT_EQ(pairs, 196);
  EXPECT_EQ(NumpyPromoteTypes(DType::kBF16, DType::kF32), std::nullopt);
}

TEST(PromotionTable, TheFileIsWhatTheCodeWrites) {
  EXPECT_EQ(ReadFile("dtypes/promotion_table.md"), PromotionTable())
      << "to write it anew: ./bazelw run //dtypes:write_promotion_table > "
         "dtypes/promotion_table.md";
}

// Over all dtypes, floats and f8 among them: commutative, and associative wherever both ways have
// an answer. (Where one way ends in an error the other may not: u64 with i8 has none.)
TEST(ExtendedPromotion, OrderDoesNotMatterWhereThereIsAnAnswer) {
  const auto join = [](const absl::StatusOr<DType>& a, const absl::StatusOr<DType>& b) {
    if (!a.ok()) return a;
    if (!b.ok()) return b;
    return PromoteTypes(*a, *b, PromotionRules::kExtended);
  };
  for (DType a : AllDTypes()) {
    for (DType b : AllDTypes()) {
      const absl::StatusOr<DType> ab = join(a, b), ba = join(b, a);
      ASSERT_EQ(ab.ok(), ba.ok()) << Name(a) << " " << Name(b);
      if (ab.ok()) {
        ASSERT_EQ(*ab, *ba) << Name(a) << " " << Name(b);
      }
      for (DType c : AllDTypes()) {
        const absl::StatusOr<DType> left = join(ab, c), right = join(a, join(b, c));
        if (left.ok() && right.ok()) {
          ASSERT_EQ(*left, *right) << Name(a) << " " << Name(b) << " " << Name(c);
        }
      }
    }
  }
}

// Every error of two-type promotion names both types and two ways out.
TEST(Promotion, EveryErrorNamesBothTypesAndTheWaysOut) {
  for (DType a : AllDTypes()) {
    for (DType b : AllDTypes()) {
      const absl::StatusOr<DType> type = PromoteTypes(a, b);
      if (type.ok()) continue;
      const std::string message(type.status().message());
      EXPECT_NE(message.find(std::string(Name(a)) + " with " + std::string(Name(b))),
                std::string::npos);
      EXPECT_NE(message.find("convert one of them explicitly"), std::string::npos) << message;
      EXPECT_NE(message.find("or use kExtended promotion"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace lathe
