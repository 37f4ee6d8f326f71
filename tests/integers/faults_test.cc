// Faults that other compilers have had with integers and promotion (faults.txt), along the axes on
// which they appeared: every tier, folded constants, static and symbolic sizes, lengths about
// those of vectors and tiles, offsets and gaps in storage, repeated calls, one and several threads.

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "gtest/gtest.h"
#include "tests/integers/run_everywhere.h"

namespace lathe::integers {
namespace {

struct Listed {
  DType dtype = DType::kF32;
  Dims sizes;
  bool any_length = false;
  std::vector<Scalar> values;

  // Repeated to `length` elements.
  Tensor Repeated(int64_t length) const {
    const Tensor t = Tensor::Empty(dtype, any_length ? Dims{length} : sizes);
    for (int64_t k = 0; k < t.numel(); ++k) {
      t.SetLinear(k, values[static_cast<size_t>(k) % values.size()]);
    }
    return t;
  }
};

struct FaultCase {
  std::string id, body, raises;
  bool pointwise = false;
  std::vector<Listed> inputs, results;
};

// "u8[2, 3] 1 2 3 4 5 6"
Listed ReadListed(absl::string_view text) {
  Listed listed;
  const size_t open = text.find('['), close = text.find(']');
  listed.dtype = *ParseDType(text.substr(0, open));
  for (absl::string_view part :
       absl::StrSplit(text.substr(open + 1, close - open - 1), ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    if (part == "n") {
      listed.any_length = true;
    } else {
      listed.sizes.push_back(std::stoll(std::string(part)));
    }
  }
  for (absl::string_view word :
       absl::StrSplit(text.substr(close + 1), ' ', absl::SkipWhitespace())) {
    if (word == "=") continue;
    const absl::StatusOr<Scalar> value = ParseScalar(word);
    EXPECT_TRUE(value.ok()) << value.status();
    listed.values.push_back(Convert(*value, listed.dtype));
  }
  return listed;
}

std::vector<FaultCase> ReadCases() {
  std::ifstream file("tests/integers/faults.txt");
  EXPECT_TRUE(file.is_open());
  std::vector<FaultCase> cases;
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (rest.empty() || rest[0] == '#') continue;
    if (absl::ConsumePrefix(&rest, "case ")) {
      cases.emplace_back();
      cases.back().pointwise = absl::ConsumeSuffix(&rest, " pointwise");
      cases.back().id = std::string(rest);
    } else if (absl::ConsumePrefix(&rest, "gives ")) {
      cases.back().results.push_back(ReadListed(rest));
    } else if (absl::ConsumePrefix(&rest, "raises ")) {
      cases.back().raises = std::string(rest);
    } else if (rest[0] == 'x') {
      cases.back().inputs.push_back(ReadListed(rest.substr(rest.find(' ') + 1)));
    } else {
      absl::StrAppend(&cases.back().body, line, "\n");
    }
  }
  return cases;
}

void ExpectResults(const FaultCase& fault, const std::vector<Tensor>& results, int64_t length) {
  ASSERT_EQ(results.size(), fault.results.size());
  for (size_t k = 0; k < results.size(); ++k) {
    const Tensor expected = fault.results[k].Repeated(length);
    // Some operators keep the gaps of what they copy.
    ASSERT_EQ(results[k].dtype(), expected.dtype()) << "result " << k;
    ASSERT_EQ(results[k].sizes(), expected.sizes()) << "result " << k;
    for (int64_t i = 0; i < expected.numel(); ++i) {
      ASSERT_TRUE(results[k].AtLinear(i).Identical(expected.AtLinear(i)))
          << "result " << k << ", element " << i << ": " << results[k].AtLinear(i).ToString()
          << ", not " << expected.AtLinear(i).ToString();
    }
  }
}

// Inputs from an element and with gaps.
struct Place {
  int64_t offset, step;
};
constexpr Place kPlaces[] = {{0, 1}, {3, 1}, {1, 2}};

void ExpectFault(const FaultCase& fault, const Way& way, Place place, int64_t length) {
  SCOPED_TRACE(absl::StrCat(fault.id, ", ", way.name, ", offset ", place.offset, ", step ",
                            place.step, ", length ", length));
  std::vector<Tensor> inputs;
  for (const Listed& input : fault.inputs) {
    inputs.push_back(Placed(input.Repeated(length), place.offset, place.step));
  }
  const absl::StatusOr<std::vector<Tensor>> results = RunBody(fault.body, inputs, way, 3);
  if (!fault.raises.empty()) {
    ASSERT_FALSE(results.ok());
    const std::string message(results.status().message());
    EXPECT_TRUE(absl::StrContains(message, fault.raises)) << message;
    EXPECT_TRUE(absl::IsInvalidArgument(results.status())) << results.status();
    return;
  }
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectResults(fault, *results, length);
}

TEST(Faults, OnEveryTier) {
  const std::vector<FaultCase> cases = ReadCases();
  EXPECT_GT(cases.size(), 30u);
  for (const FaultCase& fault : cases) {
    for (const Way& way : Ways()) {
      for (const Place& place : kPlaces) {
        if (way.folded && (place.offset != 0 || place.step != 1)) continue;
        // Native code is compiled for each place; the lengths below are one program.
        const bool natively = way.tier == Tier::kNative;
        if (natively && place.step != 1 && place.offset != 0 && way.threads > 1) continue;
        ExpectFault(fault, way, place, fault.pointwise ? 20 : 0);
      }
    }
  }
}

std::vector<int64_t> Lengths() {
  std::vector<int64_t> lengths(41);
  std::iota(lengths.begin(), lengths.end(), 0);
  for (int64_t center : {64, 128, 1024}) {
    for (int64_t k : {-1, 0, 1}) lengths.push_back(center + k);
  }
  return lengths;
}

absl::StatusOr<Executable> CompileOfAnyLength(const std::vector<DType>& inputs,
                                              const std::string& body, Tier tier) {
  std::vector<std::string> parameters;
  for (size_t k = 0; k < inputs.size(); ++k) {
    parameters.push_back(absl::StrCat("%x", k, ": ", Name(inputs[k]), "[s0]"));
  }
  return CompileText(
      absl::StrCat("graph @f(", absl::StrJoin(parameters, ", "), ") {\n", body, "\n}\n"), tier);
}

TEST(Faults, PointwiseOfEveryLength) {
  for (const FaultCase& fault : ReadCases()) {
    if (!fault.pointwise) continue;
    std::vector<DType> dtypes;
    for (const Listed& input : fault.inputs) dtypes.push_back(input.dtype);
    for (Tier tier : {Tier::kReference, Tier::kTile, Tier::kNative}) {
      const absl::StatusOr<Executable> executable = CompileOfAnyLength(dtypes, fault.body, tier);
      ASSERT_TRUE(executable.ok()) << fault.id << ": " << executable.status();
      for (int64_t length : Lengths()) {
        SCOPED_TRACE(absl::StrCat(fault.id, ", ", TierName(tier), ", length ", length));
        std::vector<RunValue> inputs;
        for (const Listed& input : fault.inputs) inputs.emplace_back(input.Repeated(length));
        const absl::StatusOr<std::vector<Tensor>> results = RunTensors(*executable, inputs);
        ASSERT_TRUE(results.ok()) << results.status();
        ExpectResults(fault, *results, length);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Reductions and scans of every integer type and every length, against sums in 64 bits.
constexpr char kReductions[] = R"(
  %sum = aten.sum(%x0)
  %prod = aten.prod(%x0)
  %cumsum = aten.cumsum(%x0, 0)
  %cumprod = aten.cumprod(%x0, 0)
  %any = aten.any(%x0)
  %all = aten.all(%x0)
  return %sum, %prod, %cumsum, %cumprod, %any, %all)";
constexpr char kExtremes[] = R"(
  %max = aten.max(%x0)
  %min = aten.min(%x0)
  %amax = aten.amax(%x0, [0])
  %amin = aten.amin(%x0, [0])
  %argmax = aten.argmax(%x0)
  %argmin = aten.argmin(%x0, 0)
  return %max, %min, %amax, %amin, %argmax, %argmin)";

Scalar ElementAt(DType dtype, int64_t k) {
  if (k % 3 == 0) return Convert(Scalar((uint64_t{1} << (BitWidth(dtype) - 1)) - 1), dtype);
  return Convert(Scalar(static_cast<int64_t>(static_cast<uint64_t>(k) * 2654435761u % 1009) - 500),
                 dtype);
}

std::vector<Scalar> SumsOf(const Tensor& x) {
  const int64_t n = x.numel();
  uint64_t sum = 0, product = 1;
  bool any = false, all = true;
  std::vector<Scalar> sums, products;
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t value = static_cast<uint64_t>(x.AtLinear(k).ToInt());
    sums.push_back(Scalar(static_cast<int64_t>(sum += value)));
    products.push_back(Scalar(static_cast<int64_t>(product *= value)));
    any |= value != 0;
    all &= value != 0;
  }
  std::vector<Scalar> results = {Scalar(static_cast<int64_t>(sum)),
                                 Scalar(static_cast<int64_t>(product))};
  results.insert(results.end(), sums.begin(), sums.end());
  results.insert(results.end(), products.begin(), products.end());
  results.push_back(Scalar(any));
  results.push_back(Scalar(all));
  return results;
}

std::vector<Scalar> ExtremesOf(const Tensor& x) {
  int64_t most = 0, least = 0;
  for (int64_t k = 1; k < x.numel(); ++k) {
    if (x.AtLinear(most) < x.AtLinear(k)) most = k;
    if (x.AtLinear(k) < x.AtLinear(least)) least = k;
  }
  const Scalar max = x.AtLinear(most), min = x.AtLinear(least);
  return {max, min, max, min, Scalar(most), Scalar(least)};
}

// All elements of all results in order.
std::vector<Scalar> Flat(const std::vector<Tensor>& tensors) {
  std::vector<Scalar> elements;
  for (const Tensor& t : tensors) {
    for (int64_t k = 0; k < t.numel(); ++k) elements.push_back(t.AtLinear(k));
  }
  return elements;
}

void ExpectReductions(const char* body, std::vector<Scalar> (*answer)(const Tensor&),
                      int64_t shortest) {
  for (DType dtype : AllDTypes()) {
    if (!IsInteger(dtype)) continue;
    for (Tier tier : {Tier::kReference, Tier::kTile, Tier::kNative}) {
      const absl::StatusOr<Executable> executable = CompileOfAnyLength({dtype}, body, tier);
      ASSERT_TRUE(executable.ok()) << Name(dtype) << ": " << executable.status();
      for (int64_t length : Lengths()) {
        if (length < shortest) continue;
        SCOPED_TRACE(absl::StrCat(Name(dtype), ", ", TierName(tier), ", length ", length));
        const Tensor x = Tensor::Empty(dtype, {length});
        for (int64_t k = 0; k < length; ++k) x.SetLinear(k, ElementAt(dtype, k));
        const absl::StatusOr<std::vector<Tensor>> results = RunTensors(*executable, {x});
        ASSERT_TRUE(results.ok()) << results.status();
        const std::vector<Scalar> actual = Flat(*results), expected = answer(x);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t k = 0; k < actual.size(); ++k) {
          ASSERT_TRUE(actual[k] == expected[k])
              << "element " << k << " of the results: " << actual[k].ToString() << ", not "
              << expected[k].ToString();
        }
      }
    }
  }
}

TEST(Faults, B015SumsOfEveryLength) { ExpectReductions(kReductions, SumsOf, 0); }
TEST(Faults, B013ExtremesOfEveryLength) { ExpectReductions(kExtremes, ExtremesOf, 1); }

// Elements past number 2^31, of bits so that they fit: places are counted in 64 bits, whatever the
// number of elements that the kernel itself reads.
TEST(Faults, B011) {
  constexpr int64_t kRow = (int64_t{1} << 30) + 8, kRows = 3, kFirst = kRow - 8;
  const Tensor x = Tensor::Zeros(DType::kU1, {kRows, kRow});
  for (int64_t k :
       {kFirst, kFirst + 1, kRow + kFirst + 2, 2 * kRow + kFirst, 2 * kRow + kRow - 1}) {
    StoreElement(x.storage()->data(), DType::kU1, k, Scalar(1));
  }
  for (const Way& way : Ways()) {
    if (way.folded) continue;
    const absl::StatusOr<std::vector<Tensor>> result =
        RunBody(absl::StrCat("%s = aten.slice.Tensor(%x0, 1, ", kFirst, ", ", kRow,
                             ")\n%r = aten._to_copy(%s, dtype=u8)\n%t = aten.sum.dim_IntList(%s, "
                             "[1])\nreturn %r, %t"),
                {x}, way);
    ASSERT_TRUE(result.ok()) << way.name << ": " << result.status();
    std::string bits, sums;
    for (int64_t k = 0; k < 24; ++k) absl::StrAppend(&bits, (*result)[0].AtLinear(k).ToInt());
    for (int64_t k = 0; k < 3; ++k) absl::StrAppend(&sums, (*result)[1].AtLinear(k).ToInt());
    EXPECT_EQ(bits, "110000000010000010000001") << way.name;
    EXPECT_EQ(sums, "212") << way.name;
  }
}

// A division by 0 far inside a parallel loop.
TEST(Faults, B017InParallel) {
  constexpr int64_t kCount = 200003;
  for (DType dtype : {DType::kI4, DType::kU8, DType::kI32, DType::kU64}) {
    const Tensor x = Tensor::Empty(dtype, {kCount}), y = Tensor::Empty(dtype, {kCount});
    for (int64_t k = 0; k < kCount; ++k) {
      x.SetLinear(k, Scalar(k % 5));
      y.SetLinear(k, Scalar(k == 123457 ? 0 : 1 + k % 3));
    }
    for (const Way& way : Ways()) {
      if (way.folded) continue;
      const absl::StatusOr<std::vector<Tensor>> result =
          RunBody("%r = aten.remainder.Tensor(%x0, %x1)\nreturn %r", {x, y}, way);
      ASSERT_FALSE(result.ok()) << Name(dtype) << ", " << way.name;
      EXPECT_TRUE(absl::StrContains(result.status().message(), "ZeroDivisionError"))
          << result.status();
    }
  }
}

// Threads that write packed elements meet at bytes.
TEST(Faults, B179InParallel) {
  constexpr int64_t kCount = 300007;
  for (DType dtype : {DType::kU1, DType::kI3, DType::kU5, DType::kI7}) {
    const Tensor x = Tensor::Empty(dtype, {kCount});
    for (int64_t k = 0; k < kCount; ++k) x.SetLinear(k, Scalar(k * k % 131));
    for (const Way& way : Ways()) {
      if (way.folded) continue;
      const absl::StatusOr<std::vector<Tensor>> result =
          RunBody("%r = aten.add.Scalar(%x0, 3)\nreturn %r", {Placed(x, 5, 1)}, way, 3);
      ASSERT_TRUE(result.ok()) << result.status();
      for (int64_t k = 0; k < kCount; ++k) {
        const Scalar expected = Convert(Scalar(x.AtLinear(k).ToInt() + 3), dtype);
        ASSERT_TRUE((*result)[0].AtLinear(k) == expected)
            << Name(dtype) << ", " << way.name << ", element " << k;
      }
    }
  }
}

}  // namespace
}  // namespace lathe::integers
