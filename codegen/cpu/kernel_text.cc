#include "codegen/cpu/kernel_text.h"

namespace lathe::cpu {
namespace {

// Made by the genrule: constexpr char kCore[] = "..." and so on.
#include "codegen/cpu/kernel_text.inc"

}  // namespace

absl::string_view CoreText() { return {kCore, sizeof(kCore) - 1}; }
absl::string_view IntegersText() { return {kIntegers, sizeof(kIntegers) - 1}; }
absl::string_view SmallFloatsText() { return {kSmallFloats, sizeof(kSmallFloats) - 1}; }
absl::string_view SubByteText() { return {kSubByte, sizeof(kSubByte) - 1}; }
absl::string_view OctetsText() { return {kOctets, sizeof(kOctets) - 1}; }
absl::string_view ReductionsText() { return {kReductions, sizeof(kReductions) - 1}; }
absl::string_view VectorMathText() { return {kVectorMath, sizeof(kVectorMath) - 1}; }

}  // namespace lathe::cpu
