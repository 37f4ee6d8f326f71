#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "codegen/testing/spec_cases.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/spec_evaluator.h"
#include "symbolic/evaluate.h"
#include "symbolic/parser.h"

namespace lathe {
namespace {

constexpr int64_t kPage = 4096;
constexpr unsigned char kUntouched = 0x5a;

// Bytes that end, but for the alignment, at a page that nobody may touch.
class GuardedBytes {
 public:
  GuardedBytes(int64_t size, int64_t alignment) : size_(size) {
    mapped_ = (size + alignment + kPage - 1) / kPage * kPage + kPage;
    void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LATHE_CHECK(base != MAP_FAILED) << "mmap";
    base_ = static_cast<unsigned char*>(base);
    std::memset(base_, kUntouched, mapped_ - kPage);
    LATHE_CHECK(mprotect(base_ + mapped_ - kPage, kPage, PROT_NONE) == 0) << "mprotect";
    data_ = base_ + (mapped_ - kPage - size) / alignment * alignment;
  }
  GuardedBytes(GuardedBytes&& other) noexcept { *this = std::move(other); }
  GuardedBytes& operator=(GuardedBytes&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~GuardedBytes() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }
  unsigned char* data() const { return data_; }
  int64_t size() const { return size_; }
  bool SurroundingsUntouched() const {
    for (const unsigned char* p = base_; p < base_ + mapped_ - kPage; ++p) {
      if ((p < data_ || p >= data_ + size_) && *p != kUntouched) return false;
    }
    return true;
  }

 private:
  unsigned char* base_ = nullptr;
  unsigned char* data_ = nullptr;
  int64_t size_ = 0;
  int64_t mapped_ = 0;
};

// Every machine fills alike.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  double Uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(Next() >> 11) / 9007199254740992.0);
  }

 private:
  uint64_t state_;
};

double SpecialFloat(Random& random) {
  const double kSpecials[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              0.5,
                              2.5,
                              -0.5,
                              1e-40,
                              -1e-310,
                              3e38,
                              -3e38,
                              1e300,
                              -9.3e18,
                              1.85e19,
                              4.3e9,
                              -129.0};
  return kSpecials[random.Below(std::size(kSpecials))];
}

// Element k by the name of a pattern. "any": floats of all kinds, integers of all bits.
Scalar Element(absl::string_view fill, DType dtype, int64_t bound, int64_t k, Random& random) {
  if (fill == "index") return Scalar(random.Below(2 * bound) - bound);
  if (fill == "shift") return Scalar(random.Below(72) - 3);
  if (fill == "near") {
    const int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 127, -128};
    if (IsFloat(dtype) || random.Below(8) != 0) return Scalar(random.Below(7) - 3);
    return Scalar(extremes[random.Below(5)]);
  }
  if (fill == "finite") {
    if (IsFloat(dtype)) return Scalar(random.Uniform(-4, 4));
    return IsBool(dtype) ? Scalar(random.Below(2) == 0) : Scalar(random.Below(200) - 100);
  }
  if (fill == "math") {
    if (random.Below(8) == 0) return Scalar(SpecialFloat(random));
    const double reach[] = {1, 4, 30, 120, 1000};
    const double r = reach[random.Below(5)];
    return Scalar(random.Uniform(-r, r));
  }
  if (IsBool(dtype)) return Scalar(random.Below(2) == 0);
  if (fill == "nonzero") {
    const Scalar value = Convert(Scalar(static_cast<int64_t>(random.Next())), dtype);
    if (random.Below(4) == 0) return Scalar(-1);
    return value.ToInt() == 0 ? Scalar(1) : value;
  }
  if (IsFloat(dtype) && fill != "bits") {
    return random.Below(3) == 0 ? Scalar(SpecialFloat(random)) : Scalar(random.Uniform(-8, 8));
  }
  unsigned char bytes[16] = {};
  const uint64_t bits = BitWidth(dtype) <= 16 ? static_cast<uint64_t>(k) : random.Next();
  std::memcpy(bytes, &bits, sizeof bits);
  return LoadElement(bytes, dtype, 0);
}

struct Memory {
  std::vector<GuardedBytes> buffers;
  std::vector<void*> pointers() const {
    std::vector<void*> result;
    for (const GuardedBytes& buffer : buffers) result.push_back(buffer.data());
    return result;
  }
};

class CaseRun {
 public:
  CaseRun(const SpecCase& test, const std::vector<int64_t>& symbols)
      : test_(test), symbols_(symbols) {}

  int64_t Value(const Expr& e) const {
    absl::StatusOr<int64_t> value =
        symbolic::Evaluate(e, [&](const Expr& symbol) -> std::optional<int64_t> {
          for (size_t k = 0; k < symbols_.size(); ++k) {
            if (test_.spec.symbols[k] == symbol) return symbols_[k];
          }
          return std::nullopt;
        });
    LATHE_CHECK(value.ok()) << std::string(value.status().message());
    return *value;
  }

  int64_t Elements(size_t buffer) const { return Value(test_.sizes[buffer]); }

  int64_t Extent() const { return test_.spec.axes.empty() ? 1 : Value(test_.spec.axes[0].extent); }

  Memory Fill() const {
    Memory memory;
    for (size_t k = 0; k < test_.spec.buffers.size(); ++k) {
      const SpecBuffer& buffer = test_.spec.buffers[k];
      const int64_t count = Elements(k);
      const int64_t natural = std::max<int64_t>(1, BitWidth(buffer.dtype) / 8);
      memory.buffers.emplace_back(*ByteSize(buffer.dtype, count),
                                  std::max<int64_t>(buffer.alignment_bytes, natural));
      if (buffer.role == BufferRole::kOut) continue;
      std::vector<std::string> parts = {test_.fills[k], "0"};
      if (size_t colon = parts[0].find(':'); colon != std::string::npos) {
        parts[1] = parts[0].substr(colon + 1);
        parts[0].resize(colon);
      }
      absl::StatusOr<Expr> bound = symbolic::ParseExpr(parts[1], *test_.context);
      LATHE_CHECK(bound.ok()) << test_.title;
      const int64_t limit = Value(*bound);
      Random random(k + 1);
      for (int64_t i = 0; i < count; ++i) {
        StoreElement(memory.buffers[k].data(), buffer.dtype, i,
                     Element(parts[0], buffer.dtype, limit, i, random));
      }
    }
    return memory;
  }

  // Calls the kernel on `pieces` ranges, cut at multiples of the grain, the last one first.
  int32_t Call(const Kernel& kernel, const Memory& memory, int64_t pieces) const {
    const int64_t grain = test_.spec.grain, extent = Extent();
    const int64_t grains = (extent + grain - 1) / grain;
    const std::vector<void*> pointers = memory.pointers();
    int32_t code = kLatheOk;
    for (int64_t p = pieces - 1; p >= 0 && code == kLatheOk; --p) {
      const int64_t begin = std::min(extent, grains * p / pieces * grain);
      const int64_t end = std::min(extent, grains * (p + 1) / pieces * grain);
      if (begin >= end) continue;
      GuardedBytes scratch(kernel.ScratchBytes(symbols_.data(), end - begin), 64);
      LatheKernelError error{0};
      const LatheKernelArgs args = {pointers.data(), symbols_.data(), begin, end,
                                    scratch.data(),  &error};
      code = kernel.Call(args);
      LATHE_CHECK(scratch.SurroundingsUntouched()) << test_.title << ": scratch overrun";
    }
    return code;
  }

  absl::StatusCode CodeOf(int32_t result) const {
    if (result == kLatheOk) return absl::StatusCode::kOk;
    if (result == kLatheIndexError) return absl::StatusCode::kOutOfRange;
    if (result == kLatheDivisionError) return absl::StatusCode::kInvalidArgument;
    if (result >= 1 && result <= static_cast<int32_t>(test_.spec.errors.size())) {
      return absl::StatusCode::kFailedPrecondition;
    }
    return absl::StatusCode::kUnknown;
  }

  std::string Place() const {
    std::string text = test_.title;
    for (size_t k = 0; k < symbols_.size(); ++k) {
      absl::StrAppend(&text, k == 0 ? " at " : " ", test_.spec.symbols[k].symbol_name(), "=",
                      symbols_[k]);
    }
    return text;
  }

  absl::Status Compare(const Memory& got, const Memory& expected, bool approximate) const {
    for (size_t k = 0; k < got.buffers.size(); ++k) {
      if (!got.buffers[k].SurroundingsUntouched()) {
        return Internal(Place(), ": wrote outside buffer b", k);
      }
      const DType dtype = test_.spec.buffers[k].dtype;
      const int64_t count = Elements(k);
      for (int64_t i = 0; i < count; ++i) {
        const Scalar a = LoadElement(got.buffers[k].data(), dtype, i);
        const Scalar b = LoadElement(expected.buffers[k].data(), dtype, i);
        if (a.Identical(b) || (approximate && Near(a, b, dtype))) continue;
        return Internal(Place(), ": b", k, "[", i, "] is ", FormatElement(a, dtype), ", not ",
                        FormatElement(b, dtype));
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool Near(const Scalar& got, const Scalar& expected, DType dtype) {
    if (!IsFloat(dtype)) return false;
    const double a = got.ToDouble(), b = expected.ToDouble();
    const double relative = dtype == DType::kF64   ? 1e-13
                            : dtype == DType::kF32 ? 2e-6
                            : dtype == DType::kF16 ? 1.0 / 1024
                                                   : 1.0 / 128;
    const double absolute = dtype == DType::kF64 ? 1e-300 : 1e-37;
    // The oracle computes f32 in double, so overflow may come one rounding sooner.
    if (std::isinf(a) != std::isinf(b)) return false;
    return a == b || std::fabs(a - b) <=
                         relative * std::fabs(b) + absolute + (dtype == DType::kF64 ? 1e-16 : 2e-8);
  }

  const SpecCase& test_;
  const std::vector<int64_t>& symbols_;
};

}  // namespace

absl::Status CheckAgainstEvaluator(const SpecCase& test, const Kernel& kernel) {
  for (const std::vector<int64_t>& symbols : test.runs) {
    const CaseRun run(test, symbols);
    const Memory expected = run.Fill();
    const absl::Status oracle =
        EvaluateSpec(test.spec, expected.pointers(), symbols, 0, run.Extent());
    if (oracle.code() != test.expected) return Annotate(oracle, run.Place());
    for (int64_t pieces : {1, 3}) {
      const Memory got = run.Fill();
      const int32_t code = run.Call(kernel, got, pieces);
      if (run.CodeOf(code) != test.expected) {
        return Internal(run.Place(), ": the kernel returned ", code);
      }
      if (test.expected != absl::StatusCode::kOk) continue;
      LATHE_RETURN_IF_ERROR(run.Compare(got, expected, test.approximate));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSameBits(const SpecCase& test, const Kernel& a, const Kernel& b) {
  for (const std::vector<int64_t>& symbols : test.runs) {
    const CaseRun run(test, symbols);
    const Memory got = run.Fill(), expected = run.Fill();
    const int32_t code_a = run.Call(a, got, 1), code_b = run.Call(b, expected, 2);
    if (run.CodeOf(code_a) != run.CodeOf(code_b)) {
      return Internal(run.Place(), ": one kernel returned ", code_a, ", the other ", code_b);
    }
    if (code_a == kLatheOk) LATHE_RETURN_IF_ERROR(run.Compare(got, expected, false));
  }
  return absl::OkStatus();
}

}  // namespace lathe
