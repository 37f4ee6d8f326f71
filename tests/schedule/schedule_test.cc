#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "codegen/plan/emit_plan.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "scheduler/schedule_graph.h"

namespace lathe {
namespace {

struct Scheduled {
  Program program;
  EmittedPlan emitted;
  const Schedule& schedule() const { return emitted.schedules.back(); }
};

Scheduled MustSchedule(absl::string_view text) {
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return {};
  absl::Status passed = RunPasses(*program, OpRegistry::Builtin(), InferencePasses());
  EXPECT_TRUE(passed.ok()) << passed;
  absl::StatusOr<EmittedPlan> emitted = EmitPlan(*program);
  EXPECT_TRUE(emitted.ok()) << emitted.status() << "\n" << PrintProgram(*program);
  if (!emitted.ok()) return {};
  for (const KernelSpec& spec : emitted->kernels) {
    const absl::Status valid = VerifyKernelSpec(spec);
    EXPECT_TRUE(valid.ok()) << valid << "\n" << ToString(spec);
  }
  return {*std::move(program), *std::move(emitted)};
}

int KernelCount(const Schedule& schedule) {
  int count = 0;
  for (const ScheduledStep& step : schedule.steps) {
    count += std::holds_alternative<ScheduledKernel>(step);
    if (const auto* call = std::get_if<ScheduledExtern>(&step)) {
      count += static_cast<int>(call->epilogues.size());
    }
  }
  return count;
}

std::string Everything(const Scheduled& s) {
  std::string text = PrintProgram(s.program) + ToString(s.schedule());
  for (const KernelSpec& spec : s.emitted.kernels) text += ToString(spec);
  return text;
}

void ExpectKernels(int kernels, absl::string_view text) {
  const Scheduled s = MustSchedule(text);
  if (s.emitted.schedules.empty()) return;
  EXPECT_EQ(KernelCount(s.schedule()), kernels) << Everything(s);
}

TEST(Schedule, AChainIsOneKernel) {
  ExpectKernels(1, R"(graph @f(%x: f32[s0, 64], %y: f32[64]) where 1 <= s0 {
    %a = aten.add.Tensor(%x, %y)
    %b = aten.exp(%a)
    %c = aten.mul.Tensor(%b, %x)
    return %c
  })");
}

TEST(Schedule, AValueUsedTwiceIsComputedOnce) {
  ExpectKernels(1, R"(graph @f(%x: f32[8, 64]) {
    %a = aten.exp(%x)
    %b = aten.mul.Tensor(%a, %x)
    %c = aten.add.Tensor(%a, %b)
    return %b, %c
  })");
}

TEST(Schedule, AReductionTakesItsProducersAndConsumers) {
  ExpectKernels(1, R"(graph @f(%x: f32[s0, 64]) where 1 <= s0 {
    %e = aten.exp(%x)
    %m = aten.amax(%e, [-1], true)
    %s = aten.sub.Tensor(%e, %m)
    %t = aten.sum.dim_IntList(%s, [-1], true)
    %d = aten.div.Tensor(%s, %t)
    return %d
  })");
}

TEST(Schedule, AViewOfSymbolicRowsKeepsTheKernelWhole) {
  ExpectKernels(1, R"(graph @f(%x: f32[s0, s1, 32], %w: f32[32]) where 1 <= s0, 1 <= s1 {
    %v = aten.view(%x, [s0*s1, 32])
    %a = aten.mul.Tensor(%v, %w)
    %b = aten.view(%a, [s0, s1, 32])
    %c = aten.softmax.int(%b, -1)
    return %c
  })");
}

TEST(Schedule, SingleElementsAreReducedToo) {
  ExpectKernels(1, R"(graph @f(%x: f32[3, 1]) { %y = aten.prod.dim_int(%x, 1) return %y })");
  ExpectKernels(1, R"(graph @f(%x: i64[]) { %y = aten.argmax(%x) return %y })");
}

TEST(Schedule, DifferentRowsAreTwoKernels) {
  ExpectKernels(2, R"(graph @f(%x: f32[16, 64]) {
    %a = aten.sum.dim_IntList(%x, [1], true)
    %b = aten.mul.Tensor(%x, %a)
    %c = aten.exp(%b)
    %d = aten.sum.dim_IntList(%c, [0], true)
    return %d
  })");
}

TEST(Schedule, TwoGatesOfOneProductAreOneKernel) {
  ExpectKernels(1, R"(graph @f(%x: f32[4, 30], %h: f32[4, 10]) {
    %a = aten.slice.Tensor(%x, 1, 0, 10)
    %b = aten.slice.Tensor(%x, 1, 10, 20)
    %r = aten.sigmoid(%a)
    %z = aten.sigmoid(%b)
    %rh = aten.mul.Tensor(%r, %h)
    %zh = aten.mul.Tensor(%z, %rh)
    return %rh, %zh
  })");
}

TEST(Schedule, FastNumericsRoundOnceAKernel) {
  constexpr char kText[] = R"(graph @f(%x: bf16[64], %y: bf16[64]) {
    %a = aten.mul.Tensor(%x, %y)
    %b = aten.add.Tensor(%a, %y)
    %c = aten._to_copy(%b, dtype=f16)
    %d = aten.sub.Tensor(%c, 1.5)
    return %d
  })";
  const auto rounds = [&](bool keep_wide) {
    absl::StatusOr<Program> program = ParseProgram(kText, OpRegistry::Builtin());
    EXPECT_TRUE(RunPasses(*program, OpRegistry::Builtin(), InferencePasses()).ok());
    absl::StatusOr<EmittedPlan> emitted = EmitPlan(*program, {.keep_wide = keep_wide});
    EXPECT_TRUE(emitted.ok()) << emitted.status();
    int count = 0;
    for (const LoopOp& op : emitted->kernels[0].stages[0].body.ops) {
      count += op.kind == OpKind::kCast && BitWidth(op.dtype) == 16;
    }
    return count;
  };
  EXPECT_EQ(rounds(false), 5);
  // The conversion that the program asks for, and the result.
  EXPECT_EQ(rounds(true), 2);
}

TEST(Schedule, HeadsOfAttentionAreNotCopied) {
  // One kernel, the softmax: neither the heads nor the result are copied.
  ExpectKernels(1, R"(graph @f(%q: f32[2, 5, 24], %k: f32[2, 7, 24], %v: f32[2, 7, 24]) {
    %q1 = aten.view(%q, [2, 5, 3, 8])
    %q2 = aten.transpose.int(%q1, 1, 2)
    %k1 = aten.view(%k, [2, 7, 3, 8])
    %k2 = aten.transpose.int(%k1, 1, 2)
    %v1 = aten.view(%v, [2, 7, 3, 8])
    %v2 = aten.transpose.int(%v1, 1, 2)
    %o = aten.scaled_dot_product_attention(%q2, %k2, %v2)
    %o1 = aten.transpose.int(%o, 1, 2)
    %o2 = aten.view(%o1, [2, 5, 24])
    return %o2
  })");
}

// Weight-only linear layers: %w has one scale and zero point for 64 weights of a row.
std::string PackedLinear(const std::string& dtype, const std::string& x) {
  return "graph @f(%x: " + x + "[ROWS, 128], %w: " + dtype +
         R"([48, 128], %s: DTYPE[48, 2, 1], %z: DTYPE[48, 2, 1]) {
    %a = aten._to_copy(%w, dtype=DTYPE)
    %g = aten.view(%a, [48, 2, 64])
    %b = aten.sub.Tensor(%g, %z)
    %c = aten.mul.Tensor(%b, %s)
    %d = aten.view(%c, [48, 128])
    %y = aten.linear(%x, %d)
    return %y
  })";
}

TEST(Schedule, PackedWeightsAreUnpackedWhereTheyAreMultiplied) {
  for (const char* dtype : {"u4", "i4", "u3", "i2"}) {
    for (const char* x : {"f32", "bf16"}) {
      for (const char* rows : {"1", "4"}) {
        const std::string text =
            absl::StrReplaceAll(PackedLinear(dtype, x), {{"ROWS", rows}, {"DTYPE", x}});
        const Scheduled s = MustSchedule(text);
        ASSERT_FALSE(s.emitted.schedules.empty()) << text;
        EXPECT_EQ(s.schedule().steps.size(), 1u) << Everything(s);
        EXPECT_EQ(KernelCount(s.schedule()), 1) << Everything(s);
      }
    }
  }
}

// However the row is found: what a group has is read at its number, not at element // length.
TEST(Schedule, GroupsOfARowAreLoops) {
  for (const char* x : {"f32", "bf16"}) {
    const std::string text =
        absl::StrReplaceAll(PackedLinear("u4", x), {{"ROWS", "1"}, {"DTYPE", x}});
    const Scheduled s = MustSchedule(text);
    ASSERT_EQ(s.emitted.kernels.size(), 1u) << text;
    const std::string kernel = ToString(s.emitted.kernels[0]);
    EXPECT_NE(kernel.find("reduce 64"), std::string::npos) << kernel;
    EXPECT_EQ(kernel.find("//"), std::string::npos) << kernel;
  }
}

}  // namespace
}  // namespace lathe
