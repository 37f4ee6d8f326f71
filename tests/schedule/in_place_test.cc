// What a program changes in place is computed in place: no copy, no buffer; and only where nobody
// sees the old contents afterwards.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "codegen/plan/emit_plan.h"
#include "ir/passes/pipeline.h"
#include "ir/reference/conform.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

struct Cost {
  int launches = 0, copies = 0, buffers = 0;
};

Cost CostOf(const std::string& text) {
  Cost cost;
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return cost;
  const absl::Status passed = RunPasses(*program, OpRegistry::Builtin(), InferencePasses());
  EXPECT_TRUE(passed.ok()) << passed;
  const absl::StatusOr<EmittedPlan> emitted = EmitPlan(*program);
  EXPECT_TRUE(emitted.ok()) << emitted.status();
  if (!emitted.ok()) return cost;
  for (const PlanStep& step : emitted->plan.steps) {
    cost.launches += std::holds_alternative<LaunchStep>(step);
    cost.copies += std::holds_alternative<CopyStep>(step);
    cost.buffers += std::holds_alternative<AllocateStep>(step);
    if (const auto* reserve = std::get_if<ReserveStep>(&step)) {
      cost.buffers += static_cast<int>(reserve->pieces.size());
    }
  }
  return cost;
}

using MakeInputs = std::function<std::vector<RunValue>()>;

// Outputs and inputs afterwards are those of the reference.
void ExpectRight(const std::string& text, const MakeInputs& make) {
  const std::vector<RunValue> expected_inputs = make();
  const auto expected = RunText(text, Tier::kReference, expected_inputs);
  ASSERT_TRUE(expected.ok()) << text << ": " << expected.status();
  for (Tier tier : {Tier::kTile, Tier::kNative}) {
    for (int threads : {1, 2}) {
      const std::vector<RunValue> inputs = make();
      const auto actual = RunText(text, tier, inputs, threads);
      ASSERT_TRUE(actual.ok()) << text << ": " << Describe(actual.status());
      for (size_t k = 0; k < actual->size(); ++k) {
        EXPECT_EQ(
            CompareTensors(std::get<Tensor>((*actual)[k]), std::get<Tensor>((*expected)[k]), true),
            "")
            << text << " output " << k << " on " << TierName(tier);
      }
      for (size_t k = 0; k < inputs.size(); ++k) {
        EXPECT_EQ(
            CompareTensors(std::get<Tensor>(inputs[k]), std::get<Tensor>(expected_inputs[k]), true),
            "")
            << text << " input " << k << " on " << TierName(tier);
      }
    }
  }
}

void ExpectInPlace(const std::string& text, const MakeInputs& make, int launches = 1) {
  const Cost cost = CostOf(text);
  EXPECT_EQ(cost.copies, 0) << text;
  EXPECT_EQ(cost.buffers, 0) << text;
  EXPECT_EQ(cost.launches, launches) << text;
  ExpectRight(text, make);
}

std::vector<RunValue> Large() { return {Counted(DType::kF32, {5000, 33}, -7, 0.25)}; }

TEST(InPlace, ElementwiseUpdates) {
  const std::string head = "graph @f(%x: f32[s0, 33]) { ";
  ExpectInPlace(head + "%y = aten.add_.Scalar(%x, 1) return }", Large);
  ExpectInPlace(head + "%y = aten.add_.Scalar(%x, 1) return %y }", Large);
  ExpectInPlace(head + "%y = aten.mul_.Scalar(%x, 3) %z = aten.sigmoid_(%y) return %x }", Large);
  ExpectInPlace(head + "%v = aten.permute(%x, [1, 0]) %y = aten.neg_(%v) return %v }", Large);
  ExpectInPlace(head + "%v = aten.view(%x, [s0*33]) %y = aten.neg_(%v) return }", Large);
}

TEST(InPlace, WholeRows) {
  ExpectInPlace(
      "graph @f(%x: f32[s0, 33]) { %s = aten.softmax.int(%x, 1) %y = aten.copy_(%x, %s) return }",
      Large);
}

TEST(InPlace, CachesOfKeysAndValues) {
  const MakeInputs make = [] {
    return std::vector<RunValue>{Counted(DType::kF32, {2, 64, 8}),
                                 Counted(DType::kF32, {2, 1, 8}, 5),
                                 Filled(DType::kI64, {1}, Scalar(17))};
  };
  const std::string head = "graph @f(%cache: f32[2, 64, 8], %new: f32[2, 1, 8], %at: i64[1]) { ";
  ExpectInPlace(head + "%y = aten.index_put_(%cache, [none, %at], %new) return %y }", make);
  ExpectInPlace(head + "%y = aten.index_copy_(%cache, 1, %at, %new) return }", make);
  ExpectInPlace(
      head + "%s = aten.slice.Tensor(%cache, 1, 9, 10) %y = aten.copy_(%s, %new) return %cache }",
      make);
  ExpectInPlace(head +
                    "%y = aten.index_copy_(%cache, 1, %at, %new) %b = aten.add.Scalar(%at, 1)"
                    " %z = aten.index_copy_(%cache, 1, %b, %new) return }",
                make, 2);
}

TEST(InPlace, RunningStatistics) {
  const std::string text =
      "graph @f(%x: f32[4, 3, 5, 5], %m: f32[3], %v: f32[3]) {"
      " %y = aten.batch_norm(%x, none, none, %m, %v, true, 0.1, 0.00001, false) return %y }";
  EXPECT_EQ(CostOf(text).copies, 0);
  ExpectRight(text, [] {
    return std::vector<RunValue>{Counted(DType::kF32, {4, 3, 5, 5}, -3, 0.125), Ones({3}),
                                 Counted(DType::kF32, {3}, 1)};
  });
}

// The old contents are seen after, or at other places than, the kernel that makes the new ones.
TEST(NotInPlace, WhereOldContentsAreSeen) {
  const std::string head = "graph @f(%x: f32[s0, 33]) { ";
  for (const char* body :
       {"%c = aten.clone(%x) %y = aten.add_.Scalar(%x, 1) return %c }",
        "%s = aten.sum.dim_IntList(%x, [0]) %y = aten.add_.Tensor(%x, %s) return %s }",
        "%f = aten.flip(%x, [0]) %y = aten.copy_(%x, %f) return }",
        "%f = aten.roll(%x, [1], [1]) %y = aten.copy_(%x, %f) return }",
        "%a = aten.mul.Scalar(%x, 2) %y = aten.copy_(%x, %a) return %a }",
        "%m = aten.amax(%x, [0], true) %d = aten.sub.Tensor(%x, %m) %y = aten.copy_(%x, %d) return "
        "}",
        "%t = aten.select.int(%x, 1, 0) %u = aten.unsqueeze(%t, 1) %y = aten.add_.Tensor(%x, %u) "
        "return }",
        "%o = aten.mul.Scalar(%x, 2) %y = aten.add_.Scalar(%x, 1) return %o }"}) {
    ExpectRight(head + body, Large);
  }
}

TEST(NotInPlace, WhereInputsChangePlaces) {
  ExpectRight(
      "graph @f(%x: f32[300], %y: f32[300]) { %a = aten.clone(%x) %b = aten.clone(%y)"
      " %c = aten.copy_(%x, %b) %d = aten.copy_(%y, %a) return }",
      [] {
        return std::vector<RunValue>{Counted(DType::kF32, {300}), Counted(DType::kF32, {300}, 900)};
      });
  ExpectRight(
      "graph @f(%x: f32[300], %y: f32[300]) { %a = aten.add.Tensor(%x, %y)"
      " %c = aten.copy_(%x, %a) %d = aten.copy_(%y, %a) return }",
      [] {
        return std::vector<RunValue>{Counted(DType::kF32, {300}), Counted(DType::kF32, {300}, 900)};
      });
}

// Scatters into what is not needed any more.
TEST(InPlace, ScattersIntoIntermediateResults) {
  const std::string text =
      "graph @f(%x: f32[s0, 33], %i: i64[2], %y: f32[2, 33]) { %a = aten.exp(%x)"
      " %b = aten.index_add(%a, 0, %i, %y) %c = aten.index_add(%b, 0, %i, %y)"
      " %d = aten.neg(%c) return %d }";
  EXPECT_EQ(CostOf(text).copies, 0);
  ExpectRight(text, [] {
    return std::vector<RunValue>{Counted(DType::kF32, {40, 33}, -3, 0.001),
                                 Counted(DType::kI64, {2}, 3), Ones({2, 33})};
  });
  const std::string seen =
      "graph @f(%x: f32[s0, 33], %i: i64[2], %y: f32[2, 33]) { %a = aten.exp(%x)"
      " %b = aten.index_add(%a, 0, %i, %y) %c = aten.sub.Tensor(%b, %a) return %c, %b }";
  ExpectRight(seen, [] {
    return std::vector<RunValue>{Counted(DType::kF32, {40, 33}, -3, 0.001),
                                 Counted(DType::kI64, {2}, 3), Ones({2, 33})};
  });
}

}  // namespace
}  // namespace lathe
