// Uses lathe's libraries from a workspace of its own:
//
//   cd examples/consumer && ../../bazelw run //:consumer

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dtypes/convert.h"
#include "dtypes/dtype.h"
#include "dtypes/promotion.h"
#include "dtypes/scalar.h"

namespace {

// Prints "claim: answer" and remembers a wrong one.
bool Expect(const char* claim, const std::string& answer, const std::string& expected) {
  std::printf("%s: %s\n", claim, answer.c_str());
  if (answer == expected) return true;
  std::fprintf(stderr, "expected %s\n", expected.c_str());
  return false;
}

std::string TypeName(const absl::StatusOr<lathe::DType>& type) {
  return type.ok() ? std::string(lathe::Name(*type)) : std::string(type.status().message());
}

// Weights of three bits, packed, as floats.
bool UnpacksThreeBitWeights() {
  const std::vector<uint8_t> packed = {0b11010001, 0b01011000, 0b00011111};
  std::vector<float> weights(8);
  const absl::Status status =
      lathe::ConvertBuffer(packed.data(), lathe::DType::kI3, /*from_first=*/0, weights.data(),
                           lathe::DType::kF32, /*to_first=*/0, 8);
  if (!status.ok()) return false;
  std::string text;
  for (float weight : weights) text += lathe::FormatElement(weight, lathe::DType::kF32) + " ";
  return Expect("i3 weights", text, "1.0 2.0 3.0 -4.0 -3.0 -2.0 -1.0 0.0 ");
}

}  // namespace

int main() {
  using lathe::DType;
  bool good = UnpacksThreeBitWeights();
  good &= Expect("i32 with bf16", TypeName(lathe::PromoteTypes(DType::kI32, DType::kBF16)), "bf16");
  good &= Expect(
      "u3 with i2, extended",
      TypeName(lathe::PromoteTypes(DType::kU3, DType::kI2, lathe::PromotionRules::kExtended)),
      "i4");
  good &= Expect("1/3 as f8e4m3fn", lathe::FormatElement(1.0 / 3, DType::kF8E4M3FN), "0.34");
  return good ? 0 : 1;
}
