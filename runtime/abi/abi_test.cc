#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "runtime/abi/memory_packing.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/size_program.h"
#include "xxhash.h"

namespace lathe {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

absl::StatusOr<int64_t> Eval(SizeOp op, int64_t a, int64_t b = 0, int64_t c = 0) {
  int64_t registers[] = {a, b, c, -77};
  const SizeProgram program{{{op, 3, 0, 1, 2, 0}}};
  if (absl::Status s = RunSizeProgram(program, registers); !s.ok()) return s;
  return registers[3];
}

TEST(SizeProgram, IntegersFollowPythonOrC) {
  const struct {
    SizeOp op;
    int64_t a, b, expected;
  } cases[] = {
      {SizeOp::kAdd, 2, 3, 5},          {SizeOp::kSub, 2, 3, -1},
      {SizeOp::kMul, -2, 3, -6},        {SizeOp::kFloorDiv, -7, 2, -4},
      {SizeOp::kFloorDiv, 7, -2, -4},   {SizeOp::kFloorDiv, 6, -2, -3},
      {SizeOp::kMod, -7, 2, 1},         {SizeOp::kMod, 7, -2, -1},
      {SizeOp::kMod, kMin, -1, 0},      {SizeOp::kTruncDiv, -7, 2, -3},
      {SizeOp::kTruncMod, -7, 2, -1},   {SizeOp::kPow, 3, 4, 81},
      {SizeOp::kPow, -2, 63, kMin},     {SizeOp::kPow, 0, 0, 1},
      {SizeOp::kShiftLeft, 3, 4, 48},   {SizeOp::kShiftLeft, 0, 99, 0},
      {SizeOp::kShiftRight, -8, 1, -4}, {SizeOp::kShiftRight, -8, 200, -1},
      {SizeOp::kBitAnd, 12, 10, 8},     {SizeOp::kBitOr, 12, 10, 14},
      {SizeOp::kBitXor, 12, 10, 6},     {SizeOp::kMin, -1, 4, -1},
      {SizeOp::kMax, -1, 4, 4},         {SizeOp::kAbs, -9, 0, 9},
      {SizeOp::kNeg, 9, 0, -9},         {SizeOp::kEq, 4, 4, 1},
      {SizeOp::kNe, 4, 4, 0},           {SizeOp::kLt, 3, 4, 1},
      {SizeOp::kLe, 5, 4, 0},           {SizeOp::kAnd, 2, 4, 1},
      {SizeOp::kOr, 0, 0, 0},           {SizeOp::kNot, 0, 0, 1},
  };
  for (const auto& c : cases) {
    absl::StatusOr<int64_t> value = Eval(c.op, c.a, c.b);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, c.expected) << Name(c.op) << " " << c.a << " " << c.b;
  }
  EXPECT_EQ(*Eval(SizeOp::kSelect, 1, 5, 6), 5);
  EXPECT_EQ(*Eval(SizeOp::kSelect, 0, 5, 6), 6);
}

TEST(SizeProgram, RefusesWhatHasNoValue) {
  const struct {
    SizeOp op;
    int64_t a, b;
  } cases[] = {
      {SizeOp::kAdd, kMax, 1},      {SizeOp::kSub, kMin, 1},       {SizeOp::kMul, kMax, 2},
      {SizeOp::kFloorDiv, 1, 0},    {SizeOp::kFloorDiv, kMin, -1}, {SizeOp::kMod, 1, 0},
      {SizeOp::kTruncDiv, 1, 0},    {SizeOp::kTruncMod, 1, 0},     {SizeOp::kPow, 2, 63},
      {SizeOp::kPow, 2, -1},        {SizeOp::kShiftLeft, 1, 63},   {SizeOp::kShiftLeft, 1, -1},
      {SizeOp::kShiftRight, 1, -1}, {SizeOp::kAbs, kMin, 0},       {SizeOp::kNeg, kMin, 0},
      {SizeOp::kFloatDiv, 0, 0},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Eval(c.op, c.a, c.b).status().code(), absl::StatusCode::kOutOfRange) << Name(c.op);
  }
}

TEST(SizeProgram, FloatsAreBitsOfADouble) {
  const auto bits = [](double v) { return std::bit_cast<int64_t>(v); };
  const auto value = [](int64_t v) { return std::bit_cast<double>(v); };
  EXPECT_EQ(value(*Eval(SizeOp::kToFloat, 7)), 7.0);
  EXPECT_EQ(value(*Eval(SizeOp::kFloatDiv, bits(7), bits(2))), 3.5);
  EXPECT_EQ(value(*Eval(SizeOp::kFloatPow, bits(2), bits(0.5))), std::sqrt(2.0));
  EXPECT_EQ(*Eval(SizeOp::kFloatFloor, bits(-1.5)), -2);
  EXPECT_EQ(*Eval(SizeOp::kFloatCeil, bits(-1.5)), -1);
  EXPECT_EQ(*Eval(SizeOp::kFloatTrunc, bits(-1.5)), -1);
  EXPECT_EQ(*Eval(SizeOp::kFloatRound, bits(2.5)), 2);
  EXPECT_EQ(*Eval(SizeOp::kFloatRound, bits(3.5)), 4);
  EXPECT_EQ(*Eval(SizeOp::kFloatRound, bits(-0.5)), 0);
  EXPECT_FALSE(Eval(SizeOp::kFloatTrunc, bits(1e30)).ok());
  EXPECT_FALSE(Eval(SizeOp::kFloatTrunc, bits(std::nan(""))).ok());
}

TEST(MemoryPacking, PiecesThatLiveTogetherAreApart) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<PackedPiece> pieces(random() % 40);
    for (PackedPiece& p : pieces) {
      p.first_step = static_cast<int32_t>(random() % 50);
      p.last_step = p.first_step + static_cast<int32_t>(random() % (1u << random() % 7));
      p.size_bytes = random() % 1000;
    }
    const int64_t total = PackMemory(absl::MakeSpan(pieces));
    EXPECT_GE(total, PeakLiveBytes(pieces));
    for (const PackedPiece& a : pieces) {
      EXPECT_EQ(a.offset_bytes % 64, 0);
      EXPECT_LE(a.offset_bytes + a.size_bytes, total);
      for (const PackedPiece& b : pieces) {
        if (&a == &b || a.last_step < b.first_step || b.last_step < a.first_step) continue;
        EXPECT_TRUE(a.offset_bytes + a.size_bytes <= b.offset_bytes ||
                    b.offset_bytes + b.size_bytes <= a.offset_bytes);
      }
    }
  }
}

// One of every step.
Plan FullPlan() {
  Plan plan;
  plan.register_count = 6;
  plan.storage_count = 2;
  plan.tensor_count = 5;
  plan.callbacks = {"fallback"};
  plan.kernels = {{"k_1", 16, {{"%y", "model.py:3", "index out of range"}}}};
  PlanInput x{.name = "x", .dtype = DType::kBF16, .rank = 2};
  x.size_registers = {0, -1};
  x.expected_sizes = {-1, 64};
  x.is_mutated = true;
  x.tensor = 0;
  PlanInput n{.name = "n", .is_scalar = true, .scalar = 1};
  plan.inputs = {x, n};
  EvalStep eval{{{{SizeOp::kConst, 2, 0, 0, 0, -4096}, {SizeOp::kMul, 3, 0, 2, 0, 0}}}};
  LaunchStep launch{0, {0, 1}, {0}, 3, {216, 0}};
  ExternStep gemm{.id = "gemm", .attributes = "a=1", .inputs = {0, -1}, .outputs = {1}};
  gemm.epilogues = {launch};
  Plan sub;
  sub.register_count = 1;
  sub.tensor_count = 1;
  sub.inputs = {PlanInput{.name = "c", .dtype = DType::kF32, .tensor = 0}};
  sub.steps = {ReturnStep{{{.tensor = 0}}}};
  plan.subplans = {sub, sub};
  CollectiveStartStep start{"all_reduce", "sum", "world", {1}, {1}, 7};
  plan.steps = {eval,
                ReserveStep{{{0, 3, 1, 6}}},
                AllocateStep{1, 3},
                ViewStep{1, 0, -1, DType::kF32, {0, 2}, {2, 0}, -1},
                ViewStep{2, -1, 1, DType::kF32, {}, {}, 2},
                launch,
                gemm,
                BindSizeStep{1, 1, 4},
                BindItemStep{2, 4},
                AssertStep{4, "size must be even", {"s0"}, {0}, "%a", "model.py:7"},
                CopyStep{2, 2},
                CondStep{4, {0, 1}, {1}, {4}, {3}},
                WhileStep{0, 1, {1}, {}, {4}, {3}},
                start,
                CollectiveWaitStep{7},
                OpaqueStep{0, {0, -1}, {4}, {4}, "%z", ""},
                ReturnStep{{{.tensor = 3},
                            {.scalar = 4, .kind = ReturnStep::Output::Kind::kInt},
                            {.kind = ReturnStep::Output::Kind::kNone}}}};
  return plan;
}

TEST(Plan, BytesRoundTrip) {
  const Plan plan = FullPlan();
  const std::string bytes = SerializePlan(plan);
  absl::StatusOr<Plan> back = ParsePlan(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(SerializePlan(*back), bytes);
  EXPECT_EQ(ToString(*back), ToString(plan));
  EXPECT_EQ(std::get<EvalStep>(back->steps[0]).program.code[0].immediate, -4096);
  EXPECT_EQ(back->inputs[0].dtype, DType::kBF16);
}

TEST(Plan, TextNamesEveryStep) {
  const std::string text = ToString(FullPlan());
  for (const char* word : {"input \"x\" t0: bf16[r0, 64]",
                           "scalar r1",
                           "r2 = const -4096",
                           "r3 = mul r0, r2",
                           "reserve",
                           "m0, r3 bytes, live 1..6",
                           "allocate m1",
                           "view t2",
                           "launch k_1[t0, t1]",
                           "extern gemm[t0, none]",
                           "then k_1",
                           "bind r4 = size 1 of t1",
                           "assert r4 \"size must be even\"",
                           "copy t2 = t2",
                           "cond r4 ? 0 : 1",
                           "while 0 do 1",
                           "start all_reduce sum",
                           "wait 7",
                           "call \"fallback\"",
                           "return [t3, int r4, none]",
                           "sub-plan 1:"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

TEST(Plan, DamageIsDataLoss) {
  const std::string bytes = SerializePlan(FullPlan());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParsePlan(bytes.substr(0, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  for (size_t k = 0; k < bytes.size(); ++k) {
    std::string damaged = bytes;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x10);
    const bool in_version = k >= 8 && k < 12;
    EXPECT_EQ(ParsePlan(damaged).status().code(),
              in_version ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss);
  }
  EXPECT_FALSE(ParsePlan(bytes + "x").ok());
}

// An attacker fixes the checksum too: what parses must then be valid, whatever the bytes say.
TEST(Plan, ForgedBytesNeverCrash) {
  const std::string bytes = SerializePlan(FullPlan());
  std::mt19937 random(7);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string forged = bytes;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      const size_t k = 28 + random() % (forged.size() - 28);
      switch (random() % 4) {
        case 0:
          forged[k] = static_cast<char>(random());
          break;
        case 1:
          forged.erase(k, 1 + random() % 4);
          break;
        case 2:
          forged.insert(k, 1, static_cast<char>(random()));
          break;
        default:
          forged[k] = static_cast<char>(0xff);
      }
    }
    const uint64_t length = forged.size() - 28;
    const uint64_t hash = XXH3_64bits(forged.data() + 28, length);
    std::memcpy(&forged[12], &length, 8);
    std::memcpy(&forged[20], &hash, 8);
    absl::StatusOr<Plan> plan = ParsePlan(forged);
    if (!plan.ok()) continue;
    ++accepted;
    EXPECT_TRUE(ValidatePlan(*plan).ok());
    EXPECT_FALSE(ToString(*plan).empty());
  }
  EXPECT_GT(accepted, 0);
}

TEST(Plan, ValidationNamesTheFault) {
  const auto message = [](auto change) {
    Plan plan = FullPlan();
    change(plan);
    return std::string(ValidatePlan(plan).message());
  };
  EXPECT_EQ(message([](Plan&) {}), "");
  EXPECT_NE(message([](Plan& p) {
              std::get<LaunchStep>(p.steps[5]).kernel = 4;
            }).find("step 5: kernel 4"),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) {
              std::get<LaunchStep>(p.steps[5]).offsets = {1};
            }).find("2 buffers and 1 offsets"),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) {
              std::get<LaunchStep>(p.steps[5]).offsets = {-1, 0};
            }).find("offset -1"),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) { std::swap(p.steps[1], p.steps[3]); }).find("before it is set"),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.steps.pop_back(); }).find("not a return"), std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.register_count = 1 << 30; }).find("slots"), std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.subplans[1].subplans.resize(1); }).find("of its own"),
            std::string::npos);
  EXPECT_NE(
      message([](Plan& p) {
        p.subplans[0].steps.insert(p.subplans[0].steps.begin(), CondStep{0, {0, 0}, {0}, {}, {}});
      }).find("sub-plan 0 is not one of 0"),
      std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.subplans[0].tensor_count = 0; }).find("tensor slot 0"),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.kernels[0].grain = 0; }).find("grain 0"), std::string::npos);
}

}  // namespace
}  // namespace lathe
