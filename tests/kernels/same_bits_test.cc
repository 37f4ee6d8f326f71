// Tile and native kernels give identical bits, NaN included: what arithmetic makes of NaN and
// infinities is one NaN on both, and what is only moved keeps its own.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

// Zeros, infinities and NaN of both signs, with payloads, next to one another in all pairs.
Tensor Special(int shift) {
  constexpr uint32_t kBits[] = {0x7fc00000, 0xffc00000, 0x7fc01234, 0xffc04321, 0x7f800000,
                                0xff800000, 0x00000000, 0x80000000, 0x3f800000, 0xbf800000,
                                0x00000001, 0x7f7fffff, 0xc2c80000};
  constexpr int64_t kCount = std::size(kBits);
  Tensor t = Tensor::Empty(DType::kF32, {kCount, kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    for (int64_t j = 0; j < kCount; ++j) {
      t.data_as<float>()[i * kCount + j] = std::bit_cast<float>(kBits[shift == 0 ? i : j]);
    }
  }
  return t;
}

constexpr const char* kCalls[] = {"aten.add.Tensor(%x, %y)",
                                  "aten.sub.Tensor(%x, %y)",
                                  "aten.sub.Tensor(%y, %x)",
                                  "aten.mul.Tensor(%x, %y)",
                                  "aten.div.Tensor(%x, %y)",
                                  "aten.maximum(%x, %y)",
                                  "aten.minimum(%x, %y)",
                                  "aten.fmax(%x, %y)",
                                  "aten.remainder.Tensor(%x, %y)",
                                  "aten.fmod.Tensor(%x, %y)",
                                  "aten.pow.Tensor_Tensor(%x, %y)",
                                  "aten.atan2(%x, %y)",
                                  "aten.hypot(%x, %y)",
                                  "aten.copysign.Tensor(%x, %y)",
                                  "aten.nextafter(%x, %y)",
                                  "aten.neg(%x)",
                                  "aten.abs(%x)",
                                  "aten.exp(%x)",
                                  "aten.log(%x)",
                                  "aten.sqrt(%x)",
                                  "aten.rsqrt(%x)",
                                  "aten.reciprocal(%x)",
                                  "aten.sin(%x)",
                                  "aten.tan(%x)",
                                  "aten.tanh(%x)",
                                  "aten.acosh(%x)",
                                  "aten.atanh(%x)",
                                  "aten.asin(%x)",
                                  "aten.expm1(%x)",
                                  "aten.log1p(%x)",
                                  "aten.erf(%x)",
                                  "aten.sigmoid(%x)",
                                  "aten.softplus(%x)",
                                  "aten.gelu(%x)",
                                  "aten.silu(%x)",
                                  "aten.floor(%x)",
                                  "aten.round(%x)",
                                  "aten.clamp(%x, -1.0, 1.0)",
                                  "aten.sum(%x)",
                                  "aten.sum.dim_IntList(%x, [0])",
                                  "aten.mean.dim(%x, [1])",
                                  "aten.prod.dim_int(%x, 1)",
                                  "aten.amax(%x, [0])",
                                  "aten.amin(%x, [1])",
                                  "aten.var.correction(%x, [1])",
                                  "aten.softmax.int(%y, 1)",
                                  "aten.log_softmax.int(%y, 0)",
                                  "aten.logsumexp(%y, [1])",
                                  "aten.cumsum(%x, 1)",
                                  "aten.layer_norm(%y, [13])",
                                  "aten.lerp.Scalar(%x, %y, 0.5)",
                                  "aten.addcmul(%x, %y, %y)",
                                  "aten.threshold(%x, 0.5, 1.0)",
                                  "aten.where.self(%c, %x, %y)",
                                  "aten.cat([%x, %y], 1)",
                                  "aten.permute(%x, [1, 0])",
                                  "aten.mul.Scalar(%x, nan)",
                                  "aten.full_like(%x, nan)",
                                  "aten.mm(%x, %y)"};

TEST(SameBits, OnTileAndNativeKernels) {
  std::string body, outputs;
  int count = 0;
  const auto add = [&](const std::string& call) {
    absl::StrAppend(&body, "  %r", count, " = ", call, "\n");
    absl::StrAppend(&outputs, count == 0 ? "" : ", ", "%r", count);
    ++count;
  };
  for (const char* call : kCalls) add(call);
  const int plain = count;
  for (int k = 0; k < plain; ++k) {
    add(absl::StrCat("aten._to_copy(%r", k, ", dtype=f16)"));
    add(absl::StrCat("aten._to_copy(%r", k, ", dtype=bf16)"));
    add(absl::StrCat("aten._to_copy(%r", k, ", dtype=f8e4m3fn)"));
    add(absl::StrCat("aten._to_copy(%r", k, ", dtype=f64)"));
    add(absl::StrCat("aten.signbit(%r", k, ")"));
  }
  const std::string text =
      absl::StrCat("graph @f(%x: f32[13, 13], %y: f32[13, 13], %e: f32[4, 0]) {\n",
                   "  %c = aten.ge.Scalar(%x, 0)\n  %empty = aten.mean.dim(%e, [1])\n", body,
                   "  return %empty, ", outputs, "\n}");
  const std::vector<RunValue> inputs = {Special(0), Special(1), Ones({4, 0})};
  const auto tile = RunText(text, Tier::kTile, inputs);
  const auto native = RunText(text, Tier::kNative, inputs);
  ASSERT_TRUE(tile.ok()) << tile.status();
  ASSERT_TRUE(native.ok()) << native.status();
  for (size_t k = 0; k < tile->size(); ++k) {
    const Tensor a = std::get<Tensor>((*tile)[k]).Contiguous();
    const Tensor b = std::get<Tensor>((*native)[k]).Contiguous();
    ASSERT_EQ(a.numel(), b.numel());
    const int64_t bytes = BitWidth(a.dtype()) / 8;
    for (int64_t i = 0; i < a.numel(); ++i) {
      const char* p = static_cast<const char*>(a.data()) + i * bytes;
      const char* q = static_cast<const char*>(b.data()) + i * bytes;
      uint64_t tile_bits = 0, native_bits = 0;
      std::memcpy(&tile_bits, p, bytes);
      std::memcpy(&native_bits, q, bytes);
      ASSERT_EQ(tile_bits, native_bits)
          << (k == 0                   ? "mean of nothing"
              : k <= std::size(kCalls) ? kCalls[k - 1]
                                       : absl::StrCat("result ", k))
          << " at " << i << ": " << std::hex << tile_bits << " " << native_bits;
    }
  }
}

// Moving an element is no arithmetic.
TEST(SameBits, OfWhatIsOnlyMoved) {
  const std::string text =
      "graph @f(%x: f32[13, 13]) { %t = aten.permute(%x, [1, 0]) %a = aten.clone(%t)"
      " %b = aten.cat([%x, %x]) %c = aten.flip(%x, [0]) %d = aten.flip(%c, [0]) return %d, %b }";
  const Tensor x = Special(0);
  for (Tier tier : {Tier::kTile, Tier::kNative}) {
    const auto result = RunText(text, tier, {x});
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(std::memcmp(std::get<Tensor>((*result)[k]).data(), x.data(), x.numel() * 4), 0);
    }
  }
}

TEST(SameBits, TheNanIsThePositiveQuietOne) {
  const float inf = std::numeric_limits<float>::infinity();
  for (Tier tier : {Tier::kTile, Tier::kNative}) {
    const auto result = RunText("graph @f(%x: f32[1]) { %y = aten.sub.Tensor(%x, %x) return %y }",
                                tier, {Filled(DType::kF32, {1}, Scalar(double{inf}))});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::bit_cast<uint32_t>(*std::get<Tensor>((*result)[0]).data_as<float>()),
              0x7fc00000u);
  }
}

}  // namespace
}  // namespace lathe
