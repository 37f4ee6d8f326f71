// Calls of composed operators that eager refuses end in a message, whatever their numbers are.

#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

struct Refused {
  const char* inputs;
  const char* call;
};

constexpr Refused kRefused[] = {
    {"%x: f32[3, 4]", "aten.einsum(\"ijk->i\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"i1->i\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ij->ijj\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ij->k\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"...i...j->i\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ii->i\", [%x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ij,jk->ik\", [%x, %x])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ij,ij->i\", [%x, %x], path=[0, 5])"},
    {"%x: f32[3, 4]", "aten.einsum(\"ij\", [])"},
    {"%x: f32[3, 4]", "aten.hsplit.int(%x, 0)"},
    {"%x: f32[3, 4]", "aten.col2im(%x, [5, 6], [0, 1], [1, 1], [0, 0], [1, 1])"},
    {"%x: f32[3, 4]", "aten.col2im(%x, [5, 6], [9223372036854775807, 1], [1, 1], [0, 0], [1, 1])"},
    {"%x: f32[4]", "aten.combinations(%x, -1)"},
    {"%x: f32[3, 4]", "aten.cartesian_prod([])"},
    {"%x: f32[3, 4]", "aten.linalg_matrix_norm(%x, 5)"},
    {"%x: f32[3, 4]", "aten.linalg_matrix_norm(%x, 1, [0, 0])"},
    {"%x: i64[3, 4]", "aten.linalg_norm(%x)"},
    {"%x: f32[3, 4]", "aten.quantile.scalar(%x, 1.5)"},
    {"%x: f32[3, 4]", "aten.quantile.scalar(%x, nan)"},
    {"%x: f32[0]", "aten.quantile.scalar(%x, 0.5)"},
    {"%x: bool[3, 4]", "aten.cov(%x)"},
    {"%x: f32[1, 2, 3, 2]", "aten.grid_sampler(%x, %x, 9, 0, false)"},
    {"%x: f32[1, 2, 0, 2]", "aten.grid_sampler(%x, %x, 0, 0, false)"},
    {"%x: f32[2, 2, 3]", "aten.affine_grid_generator(%x, [2, 1, -1, 4], false)"},
    {"%x: f32[1, 1, 4, 4]", "aten._upsample_bilinear2d_aa(%x, [0, 4], false)"},
    {"%x: f32[3, 4], %i: i64[3], %o: i64[2]", "aten.embedding_bag(%x, %i, %o, false, 7)"},
    {"%x: f32[1]", "aten.hann_window(-1)"},
    {"%x: f32[1]", "aten.hann_window(9223372036854775807)"},
    {"%x: f32[1]", "aten.fft_fftfreq(-4)"},
    {"%x: f32[3, 4]", "aten.norm_except_dim(%x, 2, 7)"},
    {"%x: f32[3, 4]", "aten.fake_quantize_per_tensor_affine(%x, 0.1, 0, 5, 1)"},
    {"%x: f32[3, 4]", "aten.adaptive_max_pool1d(%x, [-1])"},
    {"%x: f32[3, 4]", "aten.gru_cell(%x, %x, %x, %x)"},
    {"%x: f32[3, 4]", "aten.lstm_cell(%x, [%x], %x, %x)"},
    {"%x: f32[3, 4]", "aten.cdist(%x, %x, -1.0)"},
    {"%x: f32[3, 4], %t: i64[3]", "aten.cross_entropy_loss(%x, %t, none, 7)"},
    {"%x: f32[2, 3, 4], %t: i64[2, 5]", "aten.nll_loss_nd(%x, %t)"},
    {"%x: f32[3, 4]", "aten.bilinear(%x, %x, %x)"},
    {"%x: f32[3, 4], %y: f32[]", "aten.searchsorted.Tensor(%x, %y)"},
    {"%x: f32[3, 4], %y: f32[2, 5]", "aten.searchsorted.Tensor(%x, %y)"},
    {"%x: f32[], %y: f32[3]", "aten.searchsorted.Tensor(%x, %y)"},
};

TEST(RefusedCalls, EndInAMessage) {
  for (const Refused& r : kRefused) {
    const std::string text =
        std::string("graph @f(") + r.inputs + ") { %a = " + r.call + " return %a }";
    EXPECT_EQ(ExitCode(ParseProgram(text, OpRegistry::Builtin()).status()), 2) << r.call;
  }
}

// 1 - x, as torch.export writes it once decomposed: the number becomes a tensor.
TEST(Numbers, CountAsTensors) {
  const Tensor x = Tensor::FromSpan<float>({2}, {0.25f, 3});
  for (Tier tier : {Tier::kReference, Tier::kTile}) {
    const auto result = RunText(
        "graph @f(%x: f32[s0]) { %a = aten.sub.Tensor(1, %x) %b = aten.atan2(0.5, %a) return %a }",
        tier, {x});
    ASSERT_TRUE(result.ok()) << result.status();
    const Tensor& a = std::get<Tensor>((*result)[0]);
    EXPECT_EQ(a.dtype(), DType::kF32);
    EXPECT_EQ(a.AtLinear(0).ToDouble(), 0.75);
    EXPECT_EQ(a.AtLinear(1).ToDouble(), -2);
  }
}

}  // namespace
}  // namespace lathe
