// Operators on integers against arithmetic in 128 bits: every pair of operands of up to 8 bits, and
// of wider types the numbers around 0, 2^(w-1) and 2^w and random ones; on every tier, folded, and
// in storages that start within a byte or have gaps.

#include <algorithm>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "gtest/gtest.h"
#include "tests/integers/run_everywhere.h"

namespace lathe::integers {
namespace {

using Int = __int128;

Int Wrap(Int value, DType dtype) {
  const int width = BitWidth(dtype);
  const Int low = value & ((Int{1} << width) - 1);
  return IsSigned(dtype) && (low >> (width - 1)) != 0 ? low - (Int{1} << width) : low;
}

// Modulo 2^128, as two of 64 bits may need: what wraps to 64 or fewer keeps its value.
Int Times(Int a, Int b) { return static_cast<Int>(static_cast<unsigned __int128>(a) * b); }
Int FloorOf(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Int ShiftedLeft(Int a, Int by, DType dtype) {
  return by < 0 || by >= BitWidth(dtype) ? 0 : Wrap(Times(a, Int{1} << by), dtype);
}
Int ShiftedRight(Int a, Int by, DType dtype) {
  if (by < 0 || by >= BitWidth(dtype)) return a < 0 ? -1 : 0;
  return FloorOf(a, Int{1} << by);
}
Int Power(Int a, Int b, DType dtype) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
  Int result = 1;
  for (; b > 0; b /= 2, a = Wrap(Times(a, a), dtype)) {
    if (b % 2 != 0) result = Wrap(Times(result, a), dtype);
  }
  return result;
}

// What an operator makes of a and b, before the result wraps.
struct Operator {
  std::string call;  // with %x0, %x1; %x2: %x1 without zeros; or SCALAR
  std::function<Int(Int a, Int b, DType dtype)> answer;
  bool divides = false;
  bool is_bool = false;
};

std::vector<Operator> TensorOperators() {
  std::vector<Operator> all;
  const auto add = [&](std::string call, std::function<Int(Int, Int, DType)> answer) {
    all.push_back({call, std::move(answer), call.find("%x2") != std::string::npos});
  };
  add("aten.add.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return a + b; });
  add("aten.add.Tensor(%x0, %x1, alpha=3)",
      [](Int a, Int b, DType d) { return a + Wrap(3, d) * b; });
  add("aten.sub.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return a - b; });
  add("aten.sub.Tensor(%x0, %x1, alpha=2)",
      [](Int a, Int b, DType d) { return a - Wrap(2, d) * b; });
  add("aten.rsub.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return b - a; });
  add("aten.mul.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return Times(a, b); });
  add("aten.div.Tensor_mode(%x0, %x2, rounding_mode=\"floor\")",
      [](Int a, Int b, DType) { return FloorOf(a, b); });
  add("aten.div.Tensor_mode(%x0, %x2, rounding_mode=\"trunc\")",
      [](Int a, Int b, DType) { return a / b; });
  add("aten.floor_divide(%x0, %x2)", [](Int a, Int b, DType) { return FloorOf(a, b); });
  add("aten.remainder.Tensor(%x0, %x2)", [](Int a, Int b, DType) { return a - FloorOf(a, b) * b; });
  add("aten.fmod.Tensor(%x0, %x2)", [](Int a, Int b, DType) { return a % b; });
  add("aten.bitwise_left_shift.Tensor(%x0, %x1)", ShiftedLeft);
  add("aten.bitwise_right_shift.Tensor(%x0, %x1)", ShiftedRight);
  add("aten.__lshift__.Tensor(%x0, %x1)", ShiftedLeft);
  add("aten.__rshift__.Tensor(%x0, %x1)", ShiftedRight);
  add("aten.bitwise_and.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return a & b; });
  add("aten.bitwise_or.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return a | b; });
  add("aten.bitwise_xor.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return a ^ b; });
  add("aten.maximum(%x0, %x1)", [](Int a, Int b, DType) { return std::max(a, b); });
  add("aten.minimum(%x0, %x1)", [](Int a, Int b, DType) { return std::min(a, b); });
  add("aten.fmax(%x0, %x1)", [](Int a, Int b, DType) { return std::max(a, b); });
  add("aten.fmin(%x0, %x1)", [](Int a, Int b, DType) { return std::min(a, b); });
  add("aten.clamp_min.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return std::max(a, b); });
  add("aten.clamp_max.Tensor(%x0, %x1)", [](Int a, Int b, DType) { return std::min(a, b); });
  add("aten.pow.Tensor_Tensor(%x0, %x1)", Power);
  add("aten.heaviside(%x0, %x1)", [](Int a, Int b, DType) -> Int {
    return a == 0 ? b : a > 0 ? 1 : 0;
  });
  // Of one operand.
  add("aten.neg(%x0)", [](Int a, Int, DType) { return -a; });
  add("aten.abs(%x0)", [](Int a, Int, DType) { return a < 0 ? -a : a; });
  add("aten.bitwise_not(%x0)", [](Int a, Int, DType) { return -1 - a; });
  add("aten.square(%x0)", [](Int a, Int, DType) { return Times(a, a); });
  add("aten.sign(%x0)", [](Int a, Int, DType) -> Int { return (a > 0) - (a < 0); });
  const auto compare = [&](const std::string& name, bool (*answer)(Int, Int)) {
    all.push_back({absl::StrCat("aten.", name, ".Tensor(%x0, %x1)"),
                   [answer](Int a, Int b, DType) -> Int { return answer(a, b); }, false, true});
  };
  compare("eq", [](Int a, Int b) { return a == b; });
  compare("ne", [](Int a, Int b) { return a != b; });
  compare("lt", [](Int a, Int b) { return a < b; });
  compare("le", [](Int a, Int b) { return a <= b; });
  compare("gt", [](Int a, Int b) { return a > b; });
  compare("ge", [](Int a, Int b) { return a >= b; });
  return all;
}

// With a number, which wraps to the tensor's type first.
std::vector<Operator> ScalarOperators(const std::string& number, bool is_zero) {
  std::vector<Operator> all;
  const auto add = [&](const char* call, std::function<Int(Int, Int, DType)> answer,
                       bool is_bool = false) {
    all.push_back(
        {absl::StrCat("aten.", call, "(%x0, ", number, ")"), std::move(answer), false, is_bool});
  };
  add("add.Scalar", [](Int a, Int b, DType) { return a + b; });
  add("sub.Scalar", [](Int a, Int b, DType) { return a - b; });
  add("rsub.Scalar", [](Int a, Int b, DType) { return b - a; });
  add("mul.Scalar", [](Int a, Int b, DType) { return Times(a, b); });
  add("bitwise_and.Scalar", [](Int a, Int b, DType) { return a & b; });
  add("bitwise_or.Scalar", [](Int a, Int b, DType) { return a | b; });
  add("bitwise_xor.Scalar", [](Int a, Int b, DType) { return a ^ b; });
  add("bitwise_left_shift.Tensor_Scalar", ShiftedLeft);
  add("bitwise_right_shift.Tensor_Scalar", ShiftedRight);
  add("clamp_min", [](Int a, Int b, DType) { return std::max(a, b); });
  add("clamp_max", [](Int a, Int b, DType) { return std::min(a, b); });
  add(
      "eq.Scalar", [](Int a, Int b, DType) -> Int { return a == b; }, true);
  add(
      "ne.Scalar", [](Int a, Int b, DType) -> Int { return a != b; }, true);
  add(
      "lt.Scalar", [](Int a, Int b, DType) -> Int { return a < b; }, true);
  add(
      "le.Scalar", [](Int a, Int b, DType) -> Int { return a <= b; }, true);
  add(
      "gt.Scalar", [](Int a, Int b, DType) -> Int { return a > b; }, true);
  add(
      "ge.Scalar", [](Int a, Int b, DType) -> Int { return a >= b; }, true);
  if (is_zero) return all;
  add("floor_divide.Scalar", [](Int a, Int b, DType) { return FloorOf(a, b); });
  add("remainder.Scalar", [](Int a, Int b, DType) { return a - FloorOf(a, b) * b; });
  add("fmod.Scalar", [](Int a, Int b, DType) { return a % b; });
  return all;
}

// The results of the calls, in order: those of functions, and of their in-place forms on copies.
std::string BodyOf(const std::vector<Operator>& operators, bool in_place) {
  std::string body;
  std::vector<std::string> results;
  for (size_t k = 0; k < operators.size(); ++k) {
    std::string call = operators[k].call;
    if (in_place) {
      size_t end = call.find('(');
      if (const size_t dot = call.find('.', 5); dot < end) end = dot;
      call.insert(end, "_");
      const std::string pow = "pow_.Tensor_Tensor";
      if (const size_t at = call.find(pow); at != std::string::npos) {
        call.replace(at, pow.size(), "pow_.Tensor");
      }
      call.replace(call.find("%x0"), 3, absl::StrCat("%c", k));
      absl::StrAppend(&body, "%c", k, " = aten.clone(%x0)\n");
    }
    absl::StrAppend(&body, "%r", k, " = ", call, "\n");
    results.push_back(absl::StrCat("%r", k));
  }
  return absl::StrCat(body, "return ", absl::StrJoin(results, ", "));
}

// Whether the operator has an in-place form that is written so.
bool HasInPlace(const Operator& op) {
  return op.call.find("rsub") == std::string::npos && op.call.find("__") == std::string::npos &&
         op.call.find("floor_divide") == std::string::npos &&
         op.call.find("fmax") == std::string::npos && op.call.find("fmin") == std::string::npos &&
         op.call.find("maximum") == std::string::npos &&
         op.call.find("minimum") == std::string::npos;
}

struct Operands {
  std::vector<Int> a, b;
};

// All pairs of narrow types; of wide ones the critical numbers with each other, then random pairs.
Operands OperandsOf(DType dtype) {
  const int width = BitWidth(dtype);
  Operands operands;
  const auto add = [&](Int a, Int b) {
    operands.a.push_back(Wrap(a, dtype));
    operands.b.push_back(Wrap(b, dtype));
  };
  if (width <= 8) {
    for (Int a = 0; a < Int{1} << width; ++a) {
      for (Int b = 0; b < Int{1} << width; ++b) add(a, b);
    }
    return operands;
  }
  std::vector<Int> critical;
  for (Int center : {Int{0}, Int{1} << (width - 1), Int{1} << width, Int{1} << (width / 2)}) {
    for (Int k = -4; k <= 4; ++k) critical.push_back(center + k);
  }
  for (Int k = 0; k < width; k += 5) critical.push_back(k);  // shifts
  for (Int a : critical) {
    for (Int b : critical) add(a, b);
  }
  std::mt19937_64 random(20261130);
  for (int k = 0; k < 3000; ++k) {
    const int narrow = static_cast<int>(random() % 64);
    add(random(), static_cast<Int>(random() >> narrow) * (random() % 2 == 0 ? 1 : -1));
  }
  return operands;
}

Tensor TensorOf(const std::vector<Int>& values, DType dtype) {
  const Tensor tensor = Tensor::Empty(dtype, {static_cast<int64_t>(values.size())});
  for (size_t k = 0; k < values.size(); ++k) {
    const Scalar value = values[k] < 0 ? Scalar(static_cast<int64_t>(values[k]))
                                       : Scalar(static_cast<uint64_t>(values[k]));
    tensor.SetLinear(static_cast<int64_t>(k), value);
  }
  return tensor;
}

std::string TextOf(Int value) {
  return value < 0 ? Scalar(static_cast<int64_t>(value)).ToString()
                   : Scalar(static_cast<uint64_t>(value)).ToString();
}

// The first element of the result that is not the operator's.
void ExpectAnswers(const Operator& op, const Operands& operands, DType dtype, const Tensor& result,
                   DType result_dtype) {
  ASSERT_EQ(Name(result.dtype()), Name(result_dtype)) << op.call;
  ASSERT_EQ(result.numel(), static_cast<int64_t>(operands.a.size())) << op.call;
  const Tensor wide = result.To(dtype == DType::kU64 ? DType::kU64 : DType::kI64);
  for (size_t k = 0; k < operands.a.size(); ++k) {
    const Int a = operands.a[k];
    const Int b = op.divides && operands.b[k] == 0 ? 1 : operands.b[k];
    Int expected = op.answer(a, b, dtype);
    if (op.is_bool) expected = expected != 0;
    if (!IsBool(result_dtype)) expected = Wrap(expected, dtype);
    const Int actual = dtype == DType::kU64
                           ? static_cast<Int>(static_cast<const uint64_t*>(wide.data())[k])
                           : static_cast<Int>(static_cast<const int64_t*>(wide.data())[k]);
    ASSERT_TRUE(actual == expected) << op.call << " of " << TextOf(a) << " and " << TextOf(b)
                                    << ": " << TextOf(actual) << ", not " << TextOf(expected);
  }
}

void ExpectOperators(const std::vector<Operator>& operators, const Operands& operands, DType dtype,
                     absl::Span<const Tensor> inputs, const Way& way, bool in_place) {
  const absl::StatusOr<std::vector<Tensor>> results =
      RunBody(BodyOf(operators, in_place), inputs, way, /*calls=*/1, /*pure=*/true);
  ASSERT_TRUE(results.ok()) << results.status();
  for (size_t k = 0; k < operators.size(); ++k) {
    const bool is_bool = operators[k].is_bool && !in_place;
    ExpectAnswers(operators[k], operands, dtype, (*results)[k], is_bool ? DType::kBool : dtype);
  }
}

std::vector<DType> Integers() {
  std::vector<DType> integers;
  for (DType dtype : AllDTypes()) {
    if (IsInteger(dtype)) integers.push_back(dtype);
  }
  return integers;
}

class Wraps : public testing::TestWithParam<DType> {};

std::vector<Int> WithoutZeros(std::vector<Int> values) {
  std::replace(values.begin(), values.end(), Int{0}, Int{1});
  return values;
}

TEST_P(Wraps, OperatorsOfTensors) {
  const DType dtype = GetParam();
  const Operands operands = OperandsOf(dtype);
  const std::vector<Operator> all = TensorOperators();
  std::vector<Operator> in_place;
  std::copy_if(all.begin(), all.end(), std::back_inserter(in_place), HasInPlace);
  std::vector<int64_t> offsets = {0};
  if (IsSubByte(dtype)) offsets.push_back(3);
  for (const Way& way : Ways()) {
    for (int64_t offset : offsets) {
      for (int64_t step : {1, 2}) {
        const bool plain = offset == 0 && step == 1;
        if (way.folded && !plain) continue;
        // Native code takes time to compile: one other place is enough.
        if (way.tier == Tier::kNative && !plain && (offset != offsets.back() || step != 2))
          continue;
        SCOPED_TRACE(absl::StrCat(way.name, ", offset ", offset, ", step ", step));
        std::vector<Tensor> inputs = {TensorOf(operands.a, dtype), TensorOf(operands.b, dtype),
                                      TensorOf(WithoutZeros(operands.b), dtype)};
        for (Tensor& input : inputs) input = Placed(input, offset, step);
        ExpectOperators(all, operands, dtype, inputs, way, false);
        if (plain) ExpectOperators(in_place, operands, dtype, inputs, way, true);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Wraps, OperatorsOfATensorAndANumber) {
  const DType dtype = GetParam();
  const int width = BitWidth(dtype);
  const Operands pairs = OperandsOf(dtype);
  std::vector<Int> numbers;
  for (Int center : {Int{0}, Int{1} << (width - 1), Int{1} << width}) {
    for (Int k = -2; k <= 2; ++k) {
      const Int number = center + k;
      if (number < Int{1} << 64) numbers.push_back(number);
      if (-number >= -(Int{1} << 63)) numbers.push_back(-number);
    }
  }
  Operands operands;
  operands.a = pairs.a;
  std::sort(operands.a.begin(), operands.a.end());
  operands.a.erase(std::unique(operands.a.begin(), operands.a.end()), operands.a.end());
  operands.a.resize(std::min<size_t>(operands.a.size(), 512));
  const std::vector<Tensor> inputs = {TensorOf(operands.a, dtype)};
  for (const Way& way : Ways()) {
    if (way.threads > 1) continue;
    SCOPED_TRACE(way.name);
    for (size_t k = 0; k < numbers.size(); k += way.tier == Tier::kNative ? 7 : 1) {
      const Int number = numbers[k];
      const Int wrapped = Wrap(number, dtype);
      operands.b.assign(operands.a.size(), wrapped);
      const std::vector<Operator> operators = ScalarOperators(TextOf(number), wrapped == 0);
      ExpectOperators(operators, operands, dtype, inputs, way, false);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllIntegers, Wraps, testing::ValuesIn(Integers()),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace lathe::integers
