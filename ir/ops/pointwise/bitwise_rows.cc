// Bits and shifts of integers; on bool, logic.

#include "absl/strings/str_cat.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

constexpr const char* kArguments[][2] = {
    {".Tensor", "(Tensor self, Tensor other) -> Tensor"},
    {".Scalar", "(Tensor self, Scalar other) -> Tensor"},
    {".Scalar_Tensor", "(Scalar self, Tensor other) -> Tensor"},
};

// The overloads of one operation and its Python spelling "__and__".
void AddBitwise(std::vector<OpRow>& rows, const std::string& name, const std::string& dunder,
                const std::string& doc, BinaryMethod method) {
  bool is_shift = name.find("shift") != std::string::npos;
  for (const auto& [overload, arguments] : kArguments) {
    // ATen calls the shift by a number "Tensor_Scalar".
    std::string suffix = overload;
    if (is_shift && suffix == ".Scalar") suffix = ".Tensor_Scalar";
    rows.push_back(Binary(absl::StrCat("aten::", name, suffix, arguments), doc,
                          Promote(is_shift ? Takes{false, true, false, false} : kTakesIntegral),
                          method));
  }
  for (int k : {0, 1}) {
    rows.push_back(Binary(absl::StrCat("aten::", dunder, kArguments[k][0], kArguments[k][1]), doc,
                          Promote(kTakesIntegral), method));
  }
}

}  // namespace

std::vector<OpRow> BitwiseRows() {
  std::vector<OpRow> rows;
  AddBitwise(rows, "bitwise_and", "__and__", "self & other.", &OpsHandler::And);
  AddBitwise(rows, "bitwise_or", "__or__", "self | other.", &OpsHandler::Or);
  AddBitwise(rows, "bitwise_xor", "__xor__", "self ^ other.", &OpsHandler::Xor);
  AddBitwise(rows, "bitwise_left_shift", "__lshift__",
             "self << other; a count below 0 or past the width gives 0.", &OpsHandler::ShiftLeft);
  AddBitwise(rows, "bitwise_right_shift", "__rshift__",
             "self >> other; a count below 0 or past the width leaves the sign.",
             &OpsHandler::ShiftRight);
  rows.push_back(
      Unary("bitwise_not", "~self; bool: not.", Promote(kTakesIntegral), &OpsHandler::BitwiseNot));
  rows.back().samples = {"aten.bitwise_not(i32[3])", "aten.bitwise_not(bool[3])"};
  return rows;
}

}  // namespace lathe
