#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/small_float.h"
#include "gtest/gtest.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/lift_offsets.h"
#include "ir/loops/recorder.h"
#include "ir/loops/spec_evaluator.h"
#include "ir/loops/stage_phases.h"
#include "ir/loops/target.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using symbolic::SymbolKind;

constexpr absl::string_view kSoftmax = R"(
kernel softmax(s0: size, s1: size) {
  buffer b0: in f32 align 64
  buffer b1: out f32 align 64
  axis i0: parallel s0
  axis i1: reduce s1
  axis i2: reduce s1
  axis i3: parallel s1
  local l0: f32 []
  local l1: f32 []
  outer [i0] grain 4
  stage [i1] {
    %0 = load b0[s1*i0 + i1] : f32   %1 = reduce max %0 : f32   store_local l0, %1
  }
  stage [i2] {
    %0 = load b0[s1*i0 + i2] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    %4 = reduce sum %3 : f32
    store_local l1, %4
  }
  stage [i3] {  // once more, and divide
    %0 = load b0[s1*i0 + i3] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    %4 = load_local l1 : f32
    %5 = div %3, %4 : f32
    store b1[s1*i0 + i3], %5
  }
}
)";

KernelSpec Parsed(absl::string_view text, ExprContext& context) {
  absl::StatusOr<KernelSpec> spec = ParseKernelSpec(text, context);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : KernelSpec();
}

std::string ParseError(absl::string_view text) {
  ExprContext context;
  absl::StatusOr<KernelSpec> spec = ParseKernelSpec(text, context);
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument) << spec.status();
  return std::string(spec.status().message());
}

struct Body {
  ExprContext context;
  Expr i = context.Symbol("i0", SymbolKind::kIndex);
  Recorder ops{context, {i}, {Expr(8)}};
  OpsValue x = ops.Load(0, i, DType::kF32);
  ~Body() { EXPECT_TRUE(ops.status().ok()) << ops.status(); }
};

TEST(Recorder, ChainOfSquaresStaysLinear) {
  Body b;
  OpsValue v = b.x;
  for (int k = 0; k < 40; ++k) v = b.ops.Mul(v, v);
  b.ops.Store(1, b.i, v);
  const LoopBody body = b.ops.Finish();
  EXPECT_EQ(body.ops.size(), 42u);  // the load, forty products, the store
}

TEST(Recorder, WritingTwiceRecordsOnce) {
  Body b;
  OpsValue sum = b.ops.Add(b.ops.Exp(b.x), b.ops.Exp(b.ops.Load(0, b.i, DType::kF32)));
  b.ops.Tanh(b.x);  // nobody uses it
  b.ops.Store(1, b.i, sum);
  EXPECT_EQ(ToString(b.ops.Finish()),
            "%0 = load b0[i0] : f32\n%1 = exp %0 : f32\n%2 = add %1, %1 : f32\n"
            "store b1[i0], %2\n");
}

TEST(Recorder, LoadsAfterAStoreAreOthers) {
  Body b;
  b.ops.Store(0, b.i, b.ops.Neg(b.x));
  b.ops.Store(1, b.i, b.ops.Add(b.x, b.ops.Load(0, b.i, DType::kF32)));
  EXPECT_EQ(b.ops.Finish().ops.size(), 6u);
}

TEST(Recorder, ConstantsFoldButFloatsKeepTheirBits) {
  Body b;
  OpsValue two = b.ops.Constant(2, DType::kF32);
  OpsValue six = b.ops.Mul(two, b.ops.Add(two, b.ops.Constant(1, DType::kF32)));
  EXPECT_EQ(b.ops.Constant(6.0, DType::kF32).id, six.id);
  OpsValue zero = b.ops.Constant(0, DType::kF32);
  EXPECT_NE(b.ops.Add(b.x, zero).id, b.x.id);
  EXPECT_NE(b.ops.Mul(b.x, zero).id, zero.id);
  EXPECT_EQ(b.ops.Cast(b.x, DType::kF32).id, b.x.id);
  EXPECT_EQ(b.ops.Where(b.ops.IsNan(b.x), b.x, b.x).id, b.x.id);
  OpsValue i8 = b.ops.Add(b.ops.Constant(100, DType::kI8), b.ops.Constant(100, DType::kI8));
  EXPECT_EQ(b.ops.Constant(-56, DType::kI8).id, i8.id);
}

TEST(Recorder, MasksReachLoadsChecksAndDivisions) {
  Body b;
  OpsValue index = b.ops.IndexExpr(b.i, DType::kI64);
  OpsValue low = b.ops.Lt(index, b.ops.Constant(5, DType::kI64));
  OpsValue high = b.ops.Gt(index, b.ops.Constant(2, DType::kI64));
  b.ops.PushMask(low);
  OpsValue padded = b.ops.Masked(
      high,
      [&] {
        OpsValue row = b.ops.FloorDiv(index, b.ops.Load(2, b.i, DType::kI64));
        Expr t = b.ops.Indirect(row, Expr(7));
        return b.ops.Exp(b.ops.Load(0, t, DType::kF32));
      },
      1.5);
  b.ops.PopMask();
  b.ops.Store(1, b.i, padded);
  b.ops.Check(low, "too long");
  EXPECT_EQ(ToString(b.ops.Finish()),
            "%0 = index i0 : i64\n%1 = constant 5 : i64\n%2 = lt %0, %1 : bool\n"
            "%3 = constant 2 : i64\n%4 = gt %0, %3 : bool\n%5 = and %2, %4 : bool\n"
            "%6 = load b2[i0] mask %5 : i64\n%7 = floor_div %0, %6 mask %5 : i64\n"
            "%8 = indirect %7 below 7 as t0 mask %5\n%9 = load b0[t0] mask %5 : f32\n"
            "%10 = exp %9 : f32\n%11 = constant 1.5 : f32\n%12 = where %4, %10, %11 : f32\n"
            "store b1[i0], %12\ncheck %2 error 0\n");
  EXPECT_TRUE(HasIndirectLoads(b.ops.Finish()));
}

TEST(Recorder, MisuseIsAStatus) {
  ExprContext context;
  Recorder ops(context, {}, {});
  ops.Add(ops.Constant(1, DType::kF32), ops.Constant(1, DType::kI64));
  EXPECT_EQ(ops.status().message(), "loop body: add of f32 and i64");
  Recorder half(context, {}, {});
  half.Exp(half.Load(0, 0, DType::kF16));
  EXPECT_EQ(half.status().message(), "loop body: exp is not computed in f16: cast first");
}

TEST(Replay, InlinesWithAxesReplacedAndIndicesRenamed) {
  Body inner;
  Expr t = inner.ops.Indirect(inner.ops.Load(1, inner.i, DType::kI64), Expr(9));
  inner.ops.Store(2, inner.i, inner.ops.Load(0, t * 4 + inner.i, DType::kF32));
  const LoopBody body = inner.ops.Finish();

  Expr j = inner.context.Symbol("j", SymbolKind::kIndex);
  Recorder outer(inner.context, {j}, {Expr(8)});
  Expr mine = outer.Indirect(outer.Load(7, j, DType::kI64), Expr(3));  // also named t0
  ReplayHooks hooks;
  hooks.store = [&](const LoopOp&, const Expr& index, OpsValue v) { outer.Store(5, index, v); };
  const auto rewrite = [&](const Expr& e) {
    return symbolic::Substitute(e, {{inner.i, mine}}, inner.context);
  };
  Replay(body, outer, rewrite, inner.ops.errors(), hooks);
  EXPECT_TRUE(outer.status().ok());
  const std::string text = ToString(outer.Finish());
  EXPECT_EQ(text,
            "%0 = load b7[j] : i64\n%1 = indirect %0 below 3 as t0\n%2 = load b1[t0] : i64\n"
            "%3 = indirect %2 below 9 as t1\n%4 = load b0[t0 + 4*t1] : f32\nstore b5[t0], %4\n");
}

TEST(KernelSpec, TextReadsBack) {
  ExprContext context, other;
  const KernelSpec spec = Parsed(kSoftmax, context);
  const std::string text = ToString(spec);
  const KernelSpec again = Parsed(text, other);
  EXPECT_EQ(ToString(again), text);
  EXPECT_EQ(StructuralHash(again), StructuralHash(spec));
}

TEST(KernelSpec, HashCountsPositionsNotNames) {
  ExprContext context, other;
  const KernelSpec spec = Parsed(kSoftmax, context);
  std::string text(kSoftmax);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"s1", "s9"}, {"s0", "s33"}, {"i0", "z0"}, {"i3", "a7"}, {"softmax", "other"}}) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  EXPECT_EQ(StructuralHash(Parsed(text, other)), StructuralHash(spec));
  KernelSpec changed = spec;
  changed.stages[0].body.ops[1].reduce = ReduceKind::kMin;
  EXPECT_NE(StructuralHash(changed), StructuralHash(spec));
  changed = spec;
  changed.stages[2].body.ops[0].index = spec.axes[3].symbol;
  EXPECT_NE(StructuralHash(changed), StructuralHash(spec));
  changed = spec;
  changed.name = "k2";
  EXPECT_EQ(StructuralHash(changed), StructuralHash(spec));
}

// Two steps of an unrolled loop: other rows of b0 and b2, the same kernel.
std::string StepOfLoop(int in, int out) {
  return absl::StrCat(R"(kernel k() {
  buffer b0: in f32 align 1
  buffer b1: in u4 align 1
  buffer b2: out f32 align 1
  axis i0: parallel 3
  axis i1: parallel 24
  outer [i0] grain 1
  stage [i1] {
    %0 = load b0[72*i0 + i1 + )",
                      in, R"(] : f32
    %1 = load b0[72*i0 + i1 + )",
                      in + 24, R"(] : f32
    %2 = load b1[i1 + 8] : u4
    %3 = cast %2 : f32
    %4 = add %0, %1 : f32
    %5 = add %4, %3 : f32
    store b2[24*i0 + i1 + )",
                      out, R"(], %5
  }
})");
}

TEST(LiftOffsets, KernelsThatDifferInWhereTheyReadAreOne) {
  ExprContext context;
  KernelSpec first = Parsed(StepOfLoop(216, 0), context);
  KernelSpec second = Parsed(StepOfLoop(432, 72), context);
  EXPECT_NE(StructuralHash(first), StructuralHash(second));
  EXPECT_EQ(NameOfSpec(first), NameOfSpec(second));
  // Sub-byte elements keep theirs; the smallest of a buffer's goes.
  EXPECT_EQ(LiftOffsets(first), (std::vector<int64_t>{216, 0, 0}));
  EXPECT_EQ(LiftOffsets(second), (std::vector<int64_t>{432, 0, 72}));
  EXPECT_EQ(NameOfSpec(first), NameOfSpec(second));
  EXPECT_EQ(first.stages[0].body.ops[0].index, second.stages[0].body.ops[0].index);
}

TEST(KernelSpec, BadTextsNameThePlace) {
  EXPECT_EQ(ParseError("kernel k() { buffer b1: in f32 }"),
            "line 1, column 23: buffers are numbered in order");
  EXPECT_NE(ParseError("kernel k() {\n stage [i0] { } }").find("unknown axis 'i0'"),
            std::string::npos);
  EXPECT_NE(ParseError("kernel k() { stage [] { %0 = exp %1 : f32 } }").find("unknown value %1"),
            std::string::npos);
  EXPECT_NE(ParseError("kernel k() { stage [] { %0 = load b0[0] : f32 } }").find("no such buffer"),
            std::string::npos);
  EXPECT_NE(ParseError("kernel k() { buffer b0: in f32\n axis i0: parallel 4\n"
                       "stage [i0] { %0 = load b0[i0] : f32 store b0[i0], %0 } }")
                .find("store to an input"),
            std::string::npos);
  EXPECT_NE(ParseError("kernel k() { buffer b0: inout f32\n axis i0: parallel 4\n"
                       "axis i1: reduce 4\n outer [i0] stage [i1] { %0 = load b0[i1] : f32 "
                       "%1 = reduce sum %0 : f32 store b0[i0], %1 } }")
                .find("a reduced value reaches store"),
            std::string::npos);
}

TEST(SpecEvaluator, Softmax) {
  ExprContext context;
  const KernelSpec spec = Parsed(kSoftmax, context);
  const int64_t rows = 3, columns = 130;
  std::vector<float> in(rows * columns), out(in.size(), -1.0f);
  for (size_t k = 0; k < in.size(); ++k) in[k] = std::sin(static_cast<float>(k));
  void* buffers[] = {in.data(), out.data()};
  const int64_t scalars[] = {rows, columns};
  ASSERT_TRUE(EvaluateSpec(spec, buffers, scalars, 1, 3).ok());
  EXPECT_EQ(out[0], -1.0f);  // row 0 was not asked for
  for (int64_t r = 1; r < rows; ++r) {
    double total = 0, expected = 0;
    for (int64_t c = 0; c < columns; ++c) {
      total += out[r * columns + c];
      expected += std::exp(static_cast<double>(in[r * columns + c]));
    }
    EXPECT_NEAR(total, 1.0, 1e-5);
    EXPECT_NEAR(out[r * columns + 7], std::exp(static_cast<double>(in[r * columns + 7])) / expected,
                1e-6);
  }
}

// The order of sums, written out by hand for one row of 70 elements.
TEST(SpecEvaluator, SumsGoByLanesThenPairwise) {
  ExprContext context;
  const KernelSpec spec = Parsed(
      "kernel k() { buffer b0: in f32 buffer b1: out f32\n axis i0: parallel 1\n"
      "axis i1: reduce 70\n local l0: f32 []\n outer [i0]\n"
      "stage [i1] { %0 = load b0[i1] : f32 %1 = reduce sum %0 : f32 store_local l0, %1 }\n"
      "stage [] { %0 = load_local l0 : f32 store b1[i0], %0 } }",
      context);
  std::vector<float> in(70);
  for (int k = 0; k < 70; ++k) in[k] = 1.0f / (1.0f + k) * (k % 3 ? 1.0f : -1e4f);
  float lanes[64];
  for (int k = 0; k < 64; ++k) lanes[k] = k < 6 ? in[k] + in[64 + k] : in[k];
  for (int n = 64; n > 1; n /= 2) {
    for (int k = 0; k < n / 2; ++k) lanes[k] += lanes[k + n / 2];
  }
  float out = 0;
  void* buffers[] = {in.data(), &out};
  ASSERT_TRUE(EvaluateSpec(spec, buffers, {}, 0, 1).ok());
  EXPECT_EQ(out, lanes[0]);
}

TEST(SpecEvaluator, ErrorsAndMasks) {
  ExprContext context;
  const KernelSpec spec = Parsed(
      "kernel k() { buffer b0: in i64 buffer b1: in f16 buffer b2: out f16\n axis i0: parallel 3\n"
      "error \"%5\" \"m.py:1\" \"negative \\\"x\\\"\"\n"
      "stage [i0] { %0 = load b0[i0] : i64 %1 = indirect %0 below 4 as t0 "
      "%2 = load b1[t0] : f16 %3 = cast %2 : f32 %4 = constant 0.0 : f32 %5 = ge %3, %4 : bool "
      "check %5 error 0 %6 = add %3, %3 : f32 %7 = cast %6 : f16 store b2[i0], %7 } }",
      context);
  int64_t at[] = {0, -1, 2};
  F16 in[] = {F16::FromFloat(1), F16::FromFloat(2), F16::FromFloat(3), F16::FromFloat(4)};
  F16 out[3];
  void* buffers[] = {at, in, out};
  ASSERT_TRUE(EvaluateSpec(spec, buffers, {}, 0, 3).ok());
  EXPECT_EQ(out[1].ToFloat(), 8.0f);
  in[2] = F16::FromFloat(-1);
  absl::Status status = EvaluateSpec(spec, buffers, {}, 0, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "negative \"x\"");
  at[1] = -5;
  EXPECT_EQ(EvaluateSpec(spec, buffers, {}, 0, 3).code(), absl::StatusCode::kOutOfRange);
}

TEST(ScalarApply, EdgesOfTheDesign) {
  const auto apply = [](OpKind kind, DType dtype, std::vector<Scalar> x) {
    absl::StatusOr<Scalar> result = ScalarApply(kind, dtype, x);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->ToString() : "";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(apply(OpKind::kAdd, DType::kI8, {127, 1}), "-128");
  EXPECT_EQ(apply(OpKind::kMul, DType::kU64, {~uint64_t{0}, 2}), "18446744073709551614");
  EXPECT_EQ(apply(OpKind::kFloorDiv, DType::kI32, {-7, 2}), "-4");
  EXPECT_EQ(apply(OpKind::kFloorDiv, DType::kI32, {INT32_MIN, -1}), "-2147483648");
  EXPECT_EQ(apply(OpKind::kRemainder, DType::kI64, {INT64_MIN, -1}), "0");
  EXPECT_EQ(apply(OpKind::kShiftRight, DType::kI16, {-3, 99}), "-1");
  EXPECT_EQ(apply(OpKind::kShiftLeft, DType::kI16, {3, -1}), "0");
  EXPECT_EQ(apply(OpKind::kPow, DType::kI32, {-1, -3}), "-1");
  EXPECT_EQ(apply(OpKind::kPow, DType::kI32, {2, -3}), "0");
  EXPECT_EQ(apply(OpKind::kPow, DType::kU8, {3, 6}), "217");
  EXPECT_EQ(apply(OpKind::kMaximum, DType::kF32, {1.0, nan}), "nan");
  EXPECT_EQ(apply(OpKind::kFmax, DType::kF32, {1.0, nan}), "1.0");
  EXPECT_EQ(apply(OpKind::kSign, DType::kF64, {nan}), "0.0");
  EXPECT_EQ(apply(OpKind::kRound, DType::kF32, {2.5}), "2.0");
  EXPECT_EQ(apply(OpKind::kFloorDiv, DType::kF32, {-1.0, 0.0}), "-inf");
  EXPECT_EQ(apply(OpKind::kRemainder, DType::kF64, {-1.0, 3.0}), "2.0");
  EXPECT_EQ(apply(OpKind::kAdd, DType::kBool, {true, true}), "true");
  EXPECT_EQ(apply(OpKind::kBitwiseNot, DType::kBool, {true}), "false");
  const std::vector<Scalar> by_zero = {1, 0};
  EXPECT_EQ(ScalarApply(OpKind::kFmod, DType::kU8, by_zero).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Target, KnowsThisMachine) {
  const Target target = HostTarget();
  EXPECT_GE(target.vector_bytes, 16);
  EXPECT_GE(target.threads, 1);
  EXPECT_GT(target.l1_bytes, 0);
  EXPECT_NE(ToString(target).find("cpu, "), std::string::npos);
}

}  // namespace
}  // namespace lathe
