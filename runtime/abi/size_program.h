#ifndef LATHE_RUNTIME_ABI_SIZE_PROGRAM_H_
#define LATHE_RUNTIME_ABI_SIZE_PROGRAM_H_

// A flat integer program: straight-line code over int64 registers, evaluated without allocation.
// Sizes, strides, guards and assertions of a Plan are such programs.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace lathe {

enum class SizeOp : uint8_t {
  kConst,  // dst = immediate
  kAdd,
  kSub,
  kMul,
  kFloorDiv,
  kMod,
  kTruncDiv,
  kTruncMod,
  kPow,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitOr,
  kBitXor,
  kMin,
  kMax,
  kAbs,
  kNeg,
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kNot,
  kSelect,  // dst = a ? b : c
  // Float registers hold the bits of a double.
  kToFloat,
  kFloatAdd,
  kFloatMul,
  kFloatDiv,
  kFloatPow,
  kFloatSqrt,
  kFloatLog2,
  kFloatFloor,
  kFloatCeil,
  kFloatTrunc,
  kFloatRound,  // to integer
};

inline constexpr int kSizeOpCount = static_cast<int>(SizeOp::kFloatRound) + 1;

absl::string_view Name(SizeOp op);  // "floor_div"
int OperandCount(SizeOp op);        // 0 to 3; registers beyond it are ignored (but must exist)

struct SizeInstruction {
  SizeOp op = SizeOp::kConst;
  int32_t dst = 0;
  int32_t a = 0, b = 0, c = 0;  // registers
  int64_t immediate = 0;
};

struct SizeProgram {
  std::vector<SizeInstruction> code;
};

// Runs on `registers`. OutOfRange on overflow, negative shift or division by zero.
absl::Status RunSizeProgram(const SizeProgram& program, int64_t* registers);

}  // namespace lathe

#endif  // LATHE_RUNTIME_ABI_SIZE_PROGRAM_H_
