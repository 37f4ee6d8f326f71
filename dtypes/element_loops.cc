#include "dtypes/element_loops.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "dtypes/base/check.h"
#include "dtypes/element.h"
#include "dtypes/sub_byte.h"
#include "dtypes/visit.h"

namespace lathe {
namespace {

// Small enough for the first-level cache at 16 bytes an element; a multiple of 8, so that a chunk
// of a sub-byte buffer starts at a byte.
constexpr int64_t kChunk = 512;

union Chunk {
  Chunk() {}
  int64_t ints[kChunk];
  uint64_t uints[kChunk];
  float floats[kChunk];
  double doubles[kChunk];
  std::complex<double> complexes[kChunk];

  template <typename Wide>
  Wide* As() {
    if constexpr (std::is_same_v<Wide, int64_t>) {
      return ints;
    } else if constexpr (std::is_same_v<Wide, uint64_t>) {
      return uints;
    } else if constexpr (std::is_same_v<Wide, float>) {
      return floats;
    } else if constexpr (std::is_same_v<Wide, double>) {
      return doubles;
    } else {
      return complexes;
    }
  }
};

// memcpy one element at a time compiles to plain loads and needs no alignment.
template <typename T>
void WidenPlain(const char* src, int64_t count, WideOf<T>* wide) {
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, src + i * int64_t{sizeof(T)}, sizeof(T));
    wide[i] = Widen(element);
  }
}
// Bytes other than 0 and 1 are true, and undefined as a C++ bool.
template <>
void WidenPlain<bool>(const char* src, int64_t count, int64_t* wide) {
  for (int64_t i = 0; i < count; ++i) wide[i] = src[i] != 0;
}

template <typename T, typename Wide>
void NarrowPlain(const Wide* wide, int64_t count, char* dst) {
  for (int64_t i = 0; i < count; ++i) {
    const T element = Narrow<T>(wide[i]);
    std::memcpy(dst + i * int64_t{sizeof(T)}, &element, sizeof(T));
  }
}

template <typename Wide>
uint32_t LowBits(Wide value) {
  if constexpr (kIsComplex<Wide>) {
    return LowBits(value.real());
  } else if constexpr (std::is_floating_point_v<Wide>) {
    return static_cast<uint32_t>(FloatToBits64(value));
  } else {
    return static_cast<uint32_t>(value);
  }
}

template <typename Wide>
void NarrowChunk(const Wide* wide, int64_t count, DType to, char* dst) {
  if (IsSubByte(to)) {
    for (int64_t i = 0; i < count; ++i) StoreBits(dst, BitWidth(to), i, LowBits(wide[i]));
  } else if (to == DType::kC32) {
    for (int64_t i = 0; i < count; ++i) {
      const auto parts = Narrow<std::complex<double>>(wide[i]);
      const F16 halves[2] = {F16::FromDouble(parts.real()), F16::FromDouble(parts.imag())};
      std::memcpy(dst + 4 * i, halves, sizeof halves);
    }
  } else {
    VisitPlain(to, [&]<typename T>(TypeTag<T>) { NarrowPlain<T>(wide, count, dst); });
  }
}

// Widens a chunk and hands it on as an array of its wide type.
template <typename F>
void WithWideChunk(const char* src, DType from, int64_t count, Chunk& chunk, F&& f) {
  if (IsSubByte(from)) {
    for (int64_t i = 0; i < count; ++i) {
      chunk.ints[i] = WrapInt(int64_t{LoadBits(src, BitWidth(from), i)}, from);
    }
    f(chunk.ints);
  } else if (from == DType::kC32) {
    for (int64_t i = 0; i < count; ++i) {
      F16 halves[2];
      std::memcpy(halves, src + 4 * i, sizeof halves);
      chunk.complexes[i] = {halves[0].ToFloat(), halves[1].ToFloat()};
    }
    f(chunk.complexes);
  } else {
    VisitPlain(from, [&]<typename T>(TypeTag<T>) {
      auto* wide = chunk.As<WideOf<T>>();
      WidenPlain<T>(src, count, wide);
      f(wide);
    });
  }
}

void CopyElements(const char* src, char* dst, DType dtype, int64_t count) {
  const int64_t whole = IsSubByte(dtype) ? count / 8 * 8 : count;
  std::memcpy(dst, src, static_cast<size_t>(*ByteSize(dtype, whole)));
  for (int64_t i = whole; i < count; ++i) {
    StoreBits(dst, BitWidth(dtype), i, LoadBits(src, BitWidth(dtype), i));
  }
}

}  // namespace

void ConvertElements(const void* src, DType from, void* dst, DType to, int64_t count) {
  const char* source = static_cast<const char*>(src);
  char* target = static_cast<char*>(dst);
  if (count <= 0) return;
  if (from == to && from != DType::kBool) return CopyElements(source, target, from, count);
  LATHE_CHECK(from != DType::kF4E2M1FNx2 && to != DType::kF4E2M1FNx2)
      << "an element of f4e2m1fn_x2 is a pair of numbers";
  Chunk chunk;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t n = std::min(kChunk, count - begin);
    WithWideChunk(source + *ByteSize(from, begin), from, n, chunk, [&](const auto* wide) {
      NarrowChunk(wide, n, to, target + *ByteSize(to, begin));
    });
  }
}

}  // namespace lathe
