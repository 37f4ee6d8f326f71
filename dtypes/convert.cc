#include "dtypes/convert.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/convert_kernels.h"
#include "dtypes/convert_plan.h"
#include "dtypes/convert_testing.h"
#include "dtypes/packing.h"
#include "dtypes/stream_kernels.h"
#include "dtypes/sub_byte.h"
#include "hwy/cache_control.h"

namespace lathe {
namespace {

using convert_internal::ConvertLoops;
using convert_internal::ConvertPlan;
using convert_internal::PlanConversion;
using convert_internal::Step;
using convert_internal::Unpacked;

// A block's intermediate values stay in the first-level cache. A multiple of 8, so that a block of
// packed elements starts at a byte.
constexpr int64_t kBlock = 1024;
// Shorter for results that go past the caches: the stores of one leave the processor while the next
// is computed.
constexpr int64_t kStreamedBlock = 256;
struct alignas(64) Buffer {
  uint8_t bytes[kBlock * 8];
};

// Results larger than this go past the caches: nothing that reads them soon would find them there.
int64_t streamed_bytes = kDefaultStreamedBytes;

int64_t BytesOf(DType dtype, int64_t count) { return count * (BitWidth(dtype) / 8); }

// Elements of real dtypes from a place to another, block by block.
class RealConversion {
 public:
  RealConversion(DType from, DType to, ConvertMode mode)
      : from_(from), to_(to), plan_(PlanConversion(from, to, mode)) {
    if (IsSubByte(from) && BitWidth(from) <= 4 && BitWidth(to) <= 16 && !IsSubByte(to) &&
        !Checks()) {
      MakeTable();
    }
  }

  // The number of the first element that does not fit, if there is one.
  std::optional<int64_t> Run(const uint8_t* src, int64_t src_first, uint8_t* dst, int64_t dst_first,
                             int64_t count) {
    if (!IsSubByte(from_)) src += BytesOf(from_, src_first), src_first = 0;
    if (!IsSubByte(to_)) dst += BytesOf(to_, dst_first), dst_first = 0;
    const int64_t head = HeadBeforeStreaming(dst, dst_first, count);
    const int64_t block = head >= 0 ? kStreamedBlock : kBlock;
    int64_t n = head > 0 ? head : block;
    // Blocks of a packed target start at a byte, so the first may be shorter.
    if (head < 0 && IsSubByte(to_)) n -= dst_first % 8;
    for (int64_t k = 0; k < count; k += n, n = block) {
      if (k == std::max<int64_t>(head, 0) && head >= 0) {
        k += RunStream(src, src_first + k, dst, dst_first + k, count - k);
      }
      n = std::min(n, count - k);
      const std::optional<int64_t> misfit = RunBlock(src, src_first + k, dst, dst_first + k, n,
                                                     /*streams=*/head >= 0 && k >= head);
      if (misfit.has_value()) return k + *misfit;
    }
    if (head >= 0) hwy::FlushStream();
    return std::nullopt;
  }

 private:
  // Whether a mode's step stands between the types.
  bool Adjusts() const {
    for (int i = 0; i < plan_.count; ++i) {
      if (plan_.steps[i].loop == nullptr) return true;
    }
    return false;
  }
  bool Checks() const {
    for (int i = 0; i < plan_.count; ++i) {
      if (plan_.steps[i].fits != nullptr || plan_.steps[i].are_bits != nullptr) return true;
    }
    return false;
  }

  // What becomes of the 16 values of four bits, as one byte each or two halves.
  void MakeTable() {
    uint8_t codes[16];
    for (int i = 0; i < 16; ++i) {
      codes[i] = static_cast<uint8_t>(IsSigned(from_) && i >= 8 ? i - 16 : i);
    }
    const void* entries = codes;
    LATHE_CHECK(!RunSteps(entries, nullptr, 16).has_value());
    entry_bytes_ = BitWidth(to_) / 8;
    for (int i = 0; i < 16; ++i) {
      for (int k = 0; k < entry_bytes_; ++k) {
        table_[16 * k + i] = static_cast<const uint8_t*>(entries)[entry_bytes_ * i + k];
      }
    }
  }

  // Elements until the target is at a multiple of 64 bytes; -1 when it should be written through
  // the caches, or never gets there.
  int64_t HeadBeforeStreaming(const uint8_t* dst, int64_t dst_first, int64_t count) const {
    const int width = BitWidth(to_);
    if (count / 8 * width < streamed_bytes) return -1;
    const int64_t first_bit =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst) % 64 * 8) + dst_first % 512 * width;
    for (int64_t head = 0; head < 512; ++head) {
      if ((first_bit + head * width) % 512 == 0) return head;
    }
    return -1;
  }

  // In one pass, where there is a loop for that. Returns how many elements it took, of a target at
  // a multiple of 64 bytes.
  int64_t RunStream(const uint8_t* src, int64_t src_first, uint8_t* dst, int64_t dst_first,
                    int64_t count) const {
    convert_internal::StreamLoop loop = nullptr;
    if (entry_bytes_ != 0) {
      loop = convert_internal::FindLookUpStream(from_, entry_bytes_);
    } else if (!Adjusts()) {
      loop = convert_internal::FindStreamLoop(from_, to_);
    }
    const int64_t n = (count - convert_internal::kStreamSlack) / convert_internal::kStreamUnit *
                      convert_internal::kStreamUnit;
    if (loop == nullptr || n <= 0) return 0;
    const BitPlace from = PlaceOf(BitWidth(from_), src_first);
    const BitPlace to = PlaceOf(BitWidth(to_), dst_first);
    loop({src + from.byte, from.shift, table_, dst + to.byte, n});
    return n;
  }

  std::optional<int64_t> RunBlock(const uint8_t* src, int64_t src_first, uint8_t* dst,
                                  int64_t dst_first, int64_t n, bool streams) {
    const void* in = src;
    if (IsSubByte(from_)) {
      UnpackElements(src, from_, src_first, unpacked_.bytes, n);
      in = unpacked_.bytes;
    } else {
      in = src + BytesOf(from_, src_first);
    }
    const bool packs = IsSubByte(to_);
    uint8_t* const at = packs ? dst : dst + BytesOf(to_, dst_first);
    void* const direct = packs || streams ? nullptr : at;
    if (entry_bytes_ != 0) {
      void* const out = direct != nullptr ? direct : ping_.bytes;
      ConvertLoops().look_up(unpacked_.bytes, table_, entry_bytes_, out, n);
      in = out;
    } else if (const std::optional<int64_t> misfit = RunSteps(in, direct, n)) {
      return misfit;
    }
    if (packs) {
      Pack(in, dst, dst_first, n, streams);
    } else if (streams) {
      Stream(in, at, BytesOf(to_, n));
    }
    return std::nullopt;
  }

  void Pack(const void* bytes, uint8_t* dst, int64_t dst_first, int64_t n, bool streams) {
    if (!streams || n % 8 != 0) return PackElements(bytes, dst, to_, dst_first, n);
    PackElements(bytes, packed_.bytes, to_, 0, n);
    Stream(packed_.bytes, dst + PlaceOf(BitWidth(to_), dst_first).byte, n / 8 * BitWidth(to_));
  }

  static void Stream(const void* in, uint8_t* out, int64_t bytes) {
    const int64_t whole = bytes / 64 * 64;
    ConvertLoops().stream(in, out, whole);
    std::memcpy(out + whole, static_cast<const uint8_t*>(in) + whole,
                static_cast<size_t>(bytes - whole));
  }

  // Applies the plan to `in`, which becomes the place of the results: `direct` if it is given.
  std::optional<int64_t> RunSteps(const void*& in, void* direct, int64_t n) {
    int last = -1;
    for (int i = 0; i < plan_.count; ++i) {
      if (plan_.steps[i].loop != nullptr || plan_.steps[i].clamp != nullptr) last = i;
    }
    for (int i = 0; i < plan_.count; ++i) {
      const Step& step = plan_.steps[i];
      if (step.fits != nullptr || step.are_bits != nullptr) {
        if (!Fits(step, in, n)) return FirstMisfit(step, static_cast<const uint8_t*>(in), n);
        continue;
      }
      void* const free = in == ping_.bytes ? pong_.bytes : ping_.bytes;
      void* const out = i == last && direct != nullptr ? direct : free;
      if (step.loop != nullptr) {
        step.loop(in, out, n);
      } else {
        step.clamp(in, out, n, plan_.bounds);
      }
      in = out;
    }
    if (last < 0 && direct != nullptr) {
      std::memcpy(direct, in, static_cast<size_t>(BytesOf(Unpacked(to_), n)));
      in = direct;
    }
    return std::nullopt;
  }

  bool Fits(const Step& step, const void* in, int64_t n) const {
    return step.fits != nullptr ? step.fits(in, n, plan_.bounds) : step.are_bits(in, n);
  }
  int64_t FirstMisfit(const Step& step, const uint8_t* in, int64_t n) const {
    int64_t k = 0;
    while (k < n && Fits(step, in + BytesOf(step.in, k), 1)) ++k;
    return k;
  }

  const DType from_, to_;
  const ConvertPlan plan_;
  int entry_bytes_ = 0;  // 0: no table
  uint8_t table_[32];
  Buffer ping_, pong_;
  struct alignas(64) {
    uint8_t bytes[kBlock];
  } unpacked_, packed_;
};

template <typename Bits>
void SplitParts(const void* complex, int64_t n, void* real, void* imaginary) {
  const char* from = static_cast<const char*>(complex);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(static_cast<char*>(real) + i * int64_t{sizeof(Bits)},
                from + 2 * i * int64_t{sizeof(Bits)}, sizeof(Bits));
    std::memcpy(static_cast<char*>(imaginary) + i * int64_t{sizeof(Bits)},
                from + (2 * i + 1) * int64_t{sizeof(Bits)}, sizeof(Bits));
  }
}
void SplitParts(DType part, const void* complex, int64_t n, void* real, void* imaginary) {
  if (part == DType::kF16) return SplitParts<uint16_t>(complex, n, real, imaginary);
  if (part == DType::kF32) return SplitParts<uint32_t>(complex, n, real, imaginary);
  SplitParts<uint64_t>(complex, n, real, imaginary);
}

template <typename Bits>
void WithZeros(const void* real, int64_t n, void* complex) {
  char* to = static_cast<char*>(complex);
  std::memset(to, 0, static_cast<size_t>(2 * n) * sizeof(Bits));
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + 2 * i * int64_t{sizeof(Bits)},
                static_cast<const char*>(real) + i * int64_t{sizeof(Bits)}, sizeof(Bits));
  }
}
void WithZeros(DType part, const void* real, int64_t n, void* complex) {
  if (part == DType::kF16) return WithZeros<uint16_t>(real, n, complex);
  if (part == DType::kF32) return WithZeros<uint32_t>(real, n, complex);
  WithZeros<uint64_t>(real, n, complex);
}

// Complex numbers to a real type: their real parts, and their imaginary parts as booleans.
std::optional<int64_t> ComplexToReal(const uint8_t* src, DType from, uint8_t* dst, DType to,
                                     int64_t to_first, int64_t count, ConvertMode mode) {
  const DType part = ComplexPart(from);
  RealConversion convert(part, to, mode), is_true(part, DType::kBool, ConvertMode::kWrap);
  Buffer real, imaginary;
  uint8_t nonzero[kBlock];
  for (int64_t k = 0; k < count; k += kBlock) {
    const int64_t n = std::min(kBlock, count - k);
    SplitParts(part, src + BytesOf(from, k), n, real.bytes, imaginary.bytes);
    is_true.Run(imaginary.bytes, 0, nonzero, 0, n);
    int64_t misfit = n;
    if (mode == ConvertMode::kChecked) misfit = std::find(nonzero, nonzero + n, 1) - nonzero;
    if (const auto of_real = convert.Run(real.bytes, 0, dst, to_first + k, n)) {
      misfit = std::min(misfit, *of_real);
    }
    if (misfit < n) return k + misfit;
    if (!IsBool(to)) continue;
    uint8_t* const bools = dst + to_first + k;
    for (int64_t i = 0; i < n; ++i) bools[i] |= nonzero[i];
  }
  return std::nullopt;
}

std::optional<int64_t> RealToComplex(const uint8_t* src, DType from, int64_t from_first,
                                     uint8_t* dst, DType to, int64_t count, ConvertMode mode) {
  const DType part = ComplexPart(to);
  RealConversion convert(from, part, mode);
  Buffer real;
  for (int64_t k = 0; k < count; k += kBlock) {
    const int64_t n = std::min(kBlock, count - k);
    if (const auto misfit = convert.Run(src, from_first + k, real.bytes, 0, n)) return k + *misfit;
    WithZeros(part, real.bytes, n, dst + BytesOf(to, k));
  }
  return std::nullopt;
}

// Bit for bit. A sub-byte buffer goes through bytes, since the two may start at different bits.
void CopyEqual(const uint8_t* src, int64_t from_first, uint8_t* dst, int64_t to_first, DType dtype,
               int64_t count) {
  if (!IsSubByte(dtype)) {
    std::memcpy(dst + BytesOf(dtype, to_first), src + BytesOf(dtype, from_first),
                static_cast<size_t>(BytesOf(dtype, count)));
    return;
  }
  RealConversion(dtype, dtype, ConvertMode::kWrap).Run(src, from_first, dst, to_first, count);
}

std::optional<int64_t> ConvertAny(const uint8_t* src, DType from, int64_t from_first, uint8_t* dst,
                                  DType to, int64_t to_first, int64_t count, ConvertMode mode) {
  if (from == to && !IsBool(from)) {
    CopyEqual(src, from_first, dst, to_first, from, count);
    return std::nullopt;
  }
  if (IsComplex(from) && IsComplex(to)) {
    const std::optional<int64_t> misfit =
        RealConversion(ComplexPart(from), ComplexPart(to), mode)
            .Run(src, 2 * from_first, dst, 2 * to_first, 2 * count);
    return misfit.has_value() ? std::optional<int64_t>(*misfit / 2) : std::nullopt;
  }
  if (IsComplex(from)) {
    return ComplexToReal(src + BytesOf(from, from_first), from, dst, to, to_first, count, mode);
  }
  if (IsComplex(to)) {
    return RealToComplex(src, from, from_first, dst + BytesOf(to, to_first), to, count, mode);
  }
  return RealConversion(from, to, mode).Run(src, from_first, dst, to_first, count);
}

absl::Status CheckDTypes(DType from, DType to) {
  const bool has_pairs = from == DType::kF4E2M1FNx2 || to == DType::kF4E2M1FNx2;
  if (!has_pairs || from == to) return absl::OkStatus();
  return InvalidArgument("cannot convert ", Name(from), " to ", Name(to),
                         ": an element of f4e2m1fn_x2 is a pair of numbers");
}

// The bytes that elements [first, first + count) touch; nullopt when that overflows.
struct ByteRange {
  const uint8_t* begin;
  const uint8_t* end;
};
std::optional<ByteRange> RangeOf(const void* data, DType dtype, int64_t first, int64_t count) {
  int64_t last = 0;
  if (__builtin_add_overflow(first, count, &last)) return std::nullopt;
  const std::optional<int64_t> end = ByteSize(dtype, last);
  if (!end.has_value()) return std::nullopt;
  const int64_t begin =
      IsSubByte(dtype) ? PlaceOf(BitWidth(dtype), first).byte : BytesOf(dtype, first);
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  return ByteRange{bytes + begin, bytes + *end};
}

absl::Status CheckRanges(const void* from, DType from_dtype, int64_t from_first, const void* to,
                         DType to_dtype, int64_t to_first, int64_t count) {
  if (from_first < 0 || to_first < 0 || count < 0) {
    return InvalidArgument("conversion of ", count, " elements from number ", from_first, " to ",
                           to_first, ": a negative number");
  }
  const auto source = RangeOf(from, from_dtype, from_first, count);
  const auto target = RangeOf(to, to_dtype, to_first, count);
  if (!source.has_value() || !target.has_value()) {
    return InvalidArgument("conversion of ", count, " elements overflows 64 bits");
  }
  const std::less<const uint8_t*> before;
  if (count > 0 && before(source->begin, target->end) && before(target->begin, source->end)) {
    return InvalidArgument("the source and the target of a conversion overlap in memory");
  }
  return absl::OkStatus();
}

absl::Status DoesNotFit(const void* from, DType from_dtype, int64_t first, int64_t k, DType to) {
  const Scalar value = LoadElement(from, from_dtype, first + k);
  return OutOfRange("element ", k, ", ", FormatElement(value, from_dtype), " of ", Name(from_dtype),
                    ", does not fit ", Name(to));
}

}  // namespace

void SetStreamedBytesForTest(int64_t bytes) { streamed_bytes = bytes; }

absl::Status ConvertBuffer(const void* from, DType from_dtype, int64_t from_first, void* to,
                           DType to_dtype, int64_t to_first, int64_t count, ConvertMode mode) {
  LATHE_RETURN_IF_ERROR(CheckDTypes(from_dtype, to_dtype));
  LATHE_RETURN_IF_ERROR(CheckRanges(from, from_dtype, from_first, to, to_dtype, to_first, count));
  if (count == 0) return absl::OkStatus();
  const std::optional<int64_t> misfit =
      ConvertAny(static_cast<const uint8_t*>(from), from_dtype, from_first,
                 static_cast<uint8_t*>(to), to_dtype, to_first, count, mode);
  if (misfit.has_value()) return DoesNotFit(from, from_dtype, from_first, *misfit, to_dtype);
  return absl::OkStatus();
}

absl::Status ConvertRows(absl::Span<const uint8_t> from, const RowLayout& from_layout,
                         absl::Span<uint8_t> to, const RowLayout& to_layout, ConvertMode mode) {
  LATHE_RETURN_IF_ERROR(CheckDTypes(from_layout.dtype, to_layout.dtype));
  LATHE_RETURN_IF_ERROR(
      CheckRowLayout(from_layout, static_cast<int64_t>(from.size()), RowAccess::kRead));
  LATHE_RETURN_IF_ERROR(
      CheckRowLayout(to_layout, static_cast<int64_t>(to.size()), RowAccess::kWrite));
  if (from_layout.rows != to_layout.rows || from_layout.columns != to_layout.columns) {
    return InvalidArgument("rows [", from_layout.rows, ", ", from_layout.columns,
                           "] do not become rows [", to_layout.rows, ", ", to_layout.columns, "]");
  }
  if (from_layout.columns == 0) return absl::OkStatus();
  for (int64_t r = 0; r < from_layout.rows; ++r) {
    const absl::Status status = ConvertBuffer(
        from.data(), from_layout.dtype, from_layout.offset + r * from_layout.row_stride, to.data(),
        to_layout.dtype, to_layout.offset + r * to_layout.row_stride, from_layout.columns, mode);
    if (!status.ok()) return Annotate(status, absl::StrCat("row ", r));
  }
  return absl::OkStatus();
}

}  // namespace lathe
