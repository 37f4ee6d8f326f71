// Hand-written Plans with fake kernels.

#include "runtime/executor/executor.h"

#include <atomic>
#include <cmath>
#include <thread>

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "runtime/executor/fake_group.h"
#include "runtime/memory/pool.h"

namespace lathe {
namespace {

// out[i] = f(in0[i], in1[i]...) over f32 buffers, the last one is the result.
class FakeKernel final : public Kernel {
 public:
  using Function = std::function<float(const std::vector<float>&)>;
  FakeKernel(int inputs, Function f, int64_t scratch_bytes = 0, const char* tier = "tile")
      : inputs_(inputs), f_(std::move(f)), scratch_bytes_(scratch_bytes), tier_(tier) {}
  int32_t Call(const LatheKernelArgs& args) const override {
    // Whoever shares scratch with another thread is found by the sanitizer.
    if (scratch_bytes_ > 0) std::fill_n(static_cast<char*>(args.scratch), scratch_bytes_, 1);
    std::vector<float> values(static_cast<size_t>(inputs_));
    for (int64_t i = args.begin; i < args.end; ++i) {
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<const float*>(args.buffers[k])[i];
      }
      const float result = f_(values);
      if (std::isinf(result)) {
        args.error->value = i;
        return 1;
      }
      static_cast<float*>(args.buffers[inputs_])[i] = result;
    }
    return 0;
  }
  int64_t ScratchBytes(const int64_t*, int64_t) const override { return scratch_bytes_; }
  absl::string_view tier() const override { return tier_; }

 private:
  const int inputs_;
  const Function f_;
  const int64_t scratch_bytes_;
  const char* tier_;
};

std::shared_ptr<const Kernel> AddKernel() {
  return std::make_shared<FakeKernel>(
      2, [](const auto& v) { return v[0] + v[1]; }, 256);
}
std::shared_ptr<const Kernel> DoubleKernel() {
  return std::make_shared<FakeKernel>(1, [](const auto& v) { return 2 * v[0]; });
}

SizeInstruction Const(Register dst, int64_t value) { return {SizeOp::kConst, dst, 0, 0, 0, value}; }
SizeInstruction Op(SizeOp op, Register dst, Register a, Register b) {
  return {op, dst, a, b, 0, 0};
}

PlanInput VectorInput(const char* name, TensorSlot slot, Register size) {
  PlanInput input;
  input.name = name;
  input.rank = 1;
  input.size_registers = {size};
  input.expected_sizes = {-1};
  input.tensor = slot;
  return input;
}

// out = kernel0(x, y) with temp = kernel1(x) in between: out = 2x + y. Register 0 is n, 1 is 4n
// bytes, 2 is 1 (stride), 3 is y's size, 4 says whether they agree.
Plan TwoXPlusY() {
  Plan plan;
  plan.register_count = 6;
  plan.storage_count = 2;
  plan.tensor_count = 4;
  plan.inputs = {VectorInput("x", 0, 0), VectorInput("y", 1, 3)};
  plan.kernels = {{"k_add", 16, {{"%add", "model.py:7", "the sum is infinite at"}}},
                  {"k_double", 16, {}}};
  EvalStep eval{{{Const(5, 4), Op(SizeOp::kMul, 1, 0, 5), Const(2, 1), Op(SizeOp::kEq, 4, 0, 3)}}};
  plan.steps = {eval,
                ReserveStep{{{0, 1, 2, 6}}},
                AssertStep{4, "size 0 of input y must be that of x", {"x", "y"}, {0, 3}, "", ""},
                ViewStep{2, 0, -1, DType::kF32, {0}, {2}, -1},
                LaunchStep{1, {0, 2}, {}, 0},
                AllocateStep{1, 1},
                ViewStep{3, 1, -1, DType::kF32, {0}, {2}, -1},
                LaunchStep{0, {2, 1, 3}, {}, 0},
                ReturnStep{{{.tensor = 3}, {.scalar = 0, .kind = ReturnStep::Output::Kind::kInt}}}};
  return plan;
}

std::unique_ptr<LoadedPlan> MustLoad(Plan plan, LoadOptions options) {
  // Every plan of these tests also runs from its serialised form.
  absl::StatusOr<Plan> parsed = ParsePlan(SerializePlan(plan));
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  auto loaded = LoadedPlan::Load(*std::move(parsed), std::move(options));
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

Tensor Vector(const std::vector<float>& values) {
  return Tensor::FromSpan<float>({static_cast<int64_t>(values.size())},
                                 absl::MakeConstSpan(values));
}
std::vector<float> Values(const RunValue& value) {
  const Tensor t = std::get<Tensor>(value).Contiguous();
  return {t.data_as<float>(), t.data_as<float>() + t.numel()};
}
std::string Message(const absl::StatusOr<std::vector<RunValue>>& result) {
  return std::string(result.status().message());
}

LoadOptions AddOptions(ThreadPool* pool = nullptr) {
  LoadOptions options;
  options.kernels = {AddKernel(), DoubleKernel()};
  options.pool = pool;
  return options;
}

TEST(Executor, RunsKernelsForChangingSizes) {
  const auto pool = NewThreadPool(3);
  const auto plan = MustLoad(TwoXPlusY(), AddOptions(pool.get()));
  for (const int64_t n : {3, 3, 1000, 0, 5, 1000}) {
    std::vector<float> x, y, expected;
    for (int64_t k = 0; k < n; ++k) {
      x.push_back(static_cast<float>(k));
      y.push_back(static_cast<float>(n));
      expected.push_back(2 * x.back() + y.back());
    }
    auto out = plan->Run({Vector(x), Vector(y)});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(Values((*out)[0]), expected);
    EXPECT_EQ(std::get<Scalar>((*out)[1]).ToInt(), n);
  }
}

TEST(Executor, OutputsAreTheCallersAndMemoryIsReused) {
  const auto plan = MustLoad(TwoXPlusY(), AddOptions());
  const Tensor x = Vector(std::vector<float>(5000, 1)), y = Vector(std::vector<float>(5000, 2));
  auto first = plan->Run({x, y});
  ASSERT_TRUE(first.ok());
  auto second = plan->Run({y, x});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(Values((*first)[0])[4999], 4);
  EXPECT_EQ(Values((*second)[0])[4999], 5);
  second = plan->Run({y, x});
  const int64_t before = GetPoolStatistics().system_requests;
  for (int k = 0; k < 100; ++k) second = plan->Run({y, x});
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(GetPoolStatistics().system_requests, before);
#endif
  EXPECT_EQ(x.storage().use_count(), 1);  // the plan keeps no input
}

TEST(Executor, RefusesWrongInputs) {
  const auto plan = MustLoad(TwoXPlusY(), AddOptions());
  const Tensor x = Vector({1, 2});
  EXPECT_EQ(Message(plan->Run({x})), "the program takes 2 inputs, given 1");
  EXPECT_EQ(Message(plan->Run({x, Scalar(3)})), "input 'y': must be a tensor, given 3");
  EXPECT_EQ(Message(plan->Run({x, Tensor()})), "input 'y': the tensor is undefined");
  EXPECT_EQ(Message(plan->Run({x, Tensor::Zeros(DType::kF64, {2})})),
            "input 'y': dtype must be f32, given f64[2]");
  EXPECT_EQ(Message(plan->Run({Tensor::Zeros(DType::kF32, {2, 1}), x})),
            "input 'x': rank must be 1, given f32[2, 1]");
  EXPECT_EQ(Message(plan->Run({x, Vector({1, 2, 3})})),
            "size 0 of input y must be that of x (x = 2, y = 3)");
  Plan fixed = TwoXPlusY();
  fixed.inputs[0].expected_sizes = {4};
  EXPECT_EQ(Message(MustLoad(fixed, AddOptions())->Run({x, x})),
            "input 'x': size 0 must be 4, given 2 (f32[2])");
  float there[2];
  const Tensor elsewhere(DType::kF32, {2}, {1}, 0,
                         Storage::Wrap(there, 8, nullptr, Device::Cuda(1)));
  EXPECT_EQ(Message(plan->Run({elsewhere, x})),
            "input 'x': the program runs on cpu, given f32[2] @cuda:1");
}

TEST(Executor, KernelErrorsNameTheUsersLine) {
  const auto pool = NewThreadPool(2);
  const auto plan = MustLoad(TwoXPlusY(), AddOptions(pool.get()));
  std::vector<float> big(100, 0);
  big[77] = INFINITY;
  auto out = plan->Run({Vector(std::vector<float>(100, 1)), Vector(big)});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Describe(out.status()), "the sum is infinite at: 77 (at %add, model.py:7)");
  out = plan->Run({Vector({1}), Vector({2})});  // the plan is none the worse
  EXPECT_TRUE(out.ok());
}

TEST(Executor, LoadSaysWhatIsMissing) {
  const auto code = [](Plan plan, LoadOptions options) {
    return LoadedPlan::Load(std::move(plan), std::move(options)).status().code();
  };
  EXPECT_EQ(code(TwoXPlusY(), {}), absl::StatusCode::kInvalidArgument);
  LoadOptions options = AddOptions();
  options.kernels[1] = nullptr;
  EXPECT_EQ(code(TwoXPlusY(), options), absl::StatusCode::kNotFound);
  Plan plan = TwoXPlusY();
  plan.inputs[0].is_weight = true;
  EXPECT_EQ(code(plan, AddOptions()), absl::StatusCode::kNotFound);
  plan = TwoXPlusY();
  plan.callbacks = {"f"};
  EXPECT_EQ(code(plan, AddOptions()), absl::StatusCode::kNotFound);
  plan = TwoXPlusY();
  plan.steps.insert(plan.steps.end() - 1, ExternStep{.id = "no such thing"});
  EXPECT_EQ(code(plan, AddOptions()), absl::StatusCode::kNotFound);
  plan = TwoXPlusY();
  std::get<LaunchStep>(plan.steps[4]).buffers = {9};
  EXPECT_EQ(code(plan, AddOptions()), absl::StatusCode::kInvalidArgument);
}

TEST(Executor, WeightsAreBoundOnce) {
  Plan plan = TwoXPlusY();
  plan.inputs[1].is_weight = true;
  plan.inputs[1].name = "fc.bias";
  LoadOptions options = AddOptions();
  options.weights["fc.bias"] = Vector({10, 20});
  const auto loaded = MustLoad(plan, options);
  for (int k = 0; k < 3; ++k) {
    auto out = loaded->Run({Vector({1, 2})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(Values((*out)[0]), (std::vector<float>{12, 24}));
  }
}

TEST(Executor, KernelsAreSwappedWhileRunning) {
  const auto plan = MustLoad(TwoXPlusY(), AddOptions());
  EXPECT_EQ(plan->KernelTiers(), (std::vector<std::string>{"tile", "tile"}));
  std::atomic<bool> stop{false};
  std::thread runner([&] {
    while (!stop) {
      const float value = Values((*plan->Run({Vector({1}), Vector({1})}))[0])[0];
      EXPECT_TRUE(value == 3 || value == 11);
    }
  });
  for (int k = 0; k < 100; ++k) {
    plan->SwapKernel(1, std::make_shared<FakeKernel>(
                            1, [](const auto& v) { return 10 * v[0]; }, 0, "native"));
    plan->SwapKernel(1, DoubleKernel());
  }
  plan->SwapKernel(1, std::make_shared<FakeKernel>(
                          1, [](const auto& v) { return 10 * v[0]; }, 0, "native"));
  stop = true;
  runner.join();
  EXPECT_EQ(Values((*plan->Run({Vector({1}), Vector({1})}))[0])[0], 11);
  EXPECT_EQ(plan->KernelTiers(), (std::vector<std::string>{"tile", "native"}));
}

// x is doubled in place: copy_(x, kernel(x)).
Plan DoubleInPlace() {
  Plan plan;
  plan.register_count = 4;
  plan.storage_count = 1;
  plan.tensor_count = 3;
  plan.inputs = {VectorInput("x", 0, 0), VectorInput("other", 2, 0)};
  plan.inputs[0].is_mutated = true;
  plan.kernels = {{"k_double", 16, {}}};
  plan.steps = {EvalStep{{{Const(3, 4), Op(SizeOp::kMul, 1, 0, 3), Const(2, 1)}}},
                ReserveStep{{{0, 1, 0, 5}}},
                ViewStep{1, 0, -1, DType::kF32, {0}, {2}, -1},
                LaunchStep{0, {0, 1}, {}, 0},
                CopyStep{0, 1},
                ReturnStep{}};
  return plan;
}

TEST(Executor, MutatedInputsChangeInPlaceWhateverTheirStrides) {
  const auto pool = NewThreadPool(2);
  LoadOptions options;
  options.kernels = {DoubleKernel()};
  options.pool = pool.get();
  const auto plan = MustLoad(DoubleInPlace(), options);
  const Tensor all = Vector({1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(plan->Run({all, Vector({0, 0, 0, 0, 0, 0})}).ok());
  EXPECT_EQ(Values(all), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  const Tensor odd = all.AsStrided({3}, {2}, 1), even = all.AsStrided({3}, {2}, 0);
  ASSERT_TRUE(plan->Run({odd, even}).ok());  // interleaved, not overlapping
  EXPECT_EQ(Values(all), (std::vector<float>{2, 8, 6, 16, 10, 24}));
}

TEST(Executor, OverlappingMutatedInputsAreRefused) {
  LoadOptions options;
  options.kernels = {DoubleKernel()};
  const auto plan = MustLoad(DoubleInPlace(), options);
  const Tensor all = Vector({1, 2, 3, 4, 5, 6});
  const Tensor other = Vector({1, 2, 3});
  EXPECT_EQ(Message(plan->Run({all.AsStrided({3}, {1}, 0), all.AsStrided({3}, {1}, 2)})),
            "input 'x': is changed by the program, but shares memory with input 'other'");
  EXPECT_EQ(Message(plan->Run({all.AsStrided({3}, {0}, 0), other})),
            "input 'x': is changed by the program, but its own elements overlap: f32[3]{0}");
  EXPECT_TRUE(plan->Run({all.AsStrided({3}, {1}, 0), all.AsStrided({3}, {1}, 3)}).ok());
}

// A view of an input counts from the input's first element.
TEST(Executor, ViewsFollowTheirBase) {
  Plan plan;
  plan.register_count = 4;
  plan.tensor_count = 3;
  plan.inputs = {VectorInput("x", 0, 0)};
  plan.steps = {EvalStep{{{Const(1, 2), Const(2, 1), Const(3, 1)}}},
                ViewStep{1, -1, 0, DType::kF32, {1}, {2}, 3},
                ViewStep{2, -1, 1, DType::kF32, {2}, {2}, 3},
                ReturnStep{{{.tensor = 1}, {.tensor = 0}, {.tensor = 2}}}};
  const auto loaded = MustLoad(plan, {});
  const Tensor all = Vector({0, 1, 2, 3, 4, 5, 6});
  for (const int64_t offset : {0, 3}) {
    const Tensor x = all.AsStrided({4}, {1}, offset);
    auto out = loaded->Run({x});
    ASSERT_TRUE(out.ok()) << out.status();
    const float first = static_cast<float>(offset);
    EXPECT_EQ(Values((*out)[0]), (std::vector<float>{first + 1, first + 2}));
    EXPECT_EQ(Values((*out)[2]), (std::vector<float>{first + 1}));
    EXPECT_EQ(std::get<Tensor>((*out)[0]).storage(), all.storage());
    EXPECT_EQ(std::get<Tensor>((*out)[1]).storage(), all.storage());
  }
  auto out = loaded->Run({all.AsStrided({1}, {1}, 6)});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kOutOfRange);  // outside the storage
  plan.inputs[0].expected_offset = 1;
  out = MustLoad(plan, {})->Run({all.AsStrided({4}, {1}, 1)});
  EXPECT_EQ(Values((*out)[0]), (std::vector<float>{1, 2}));
}

TEST(Executor, ScalarsInAndOut) {
  using Kind = ReturnStep::Output::Kind;
  Plan plan;
  plan.register_count = 3;
  PlanInput n{.name = "n", .is_scalar = true, .scalar = 0, .dtype = DType::kI64};
  PlanInput f = n, b = n;
  f.name = "f", f.scalar = 1, f.dtype = DType::kF64;
  b.name = "b", b.scalar = 2, b.dtype = DType::kBool;
  plan.inputs = {n, f, b};
  plan.steps = {ReturnStep{{{.scalar = 0, .kind = Kind::kInt},
                            {.scalar = 1, .kind = Kind::kFloat},
                            {.scalar = 2, .kind = Kind::kBool},
                            {.kind = Kind::kNone}}}};
  const auto loaded = MustLoad(plan, {});
  auto out = loaded->Run({Scalar(-7), Scalar(2.5), Scalar(true)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(std::get<Scalar>((*out)[0]).Identical(Scalar(-7)));
  EXPECT_TRUE(std::get<Scalar>((*out)[1]).Identical(Scalar(2.5)));
  EXPECT_TRUE(std::get<Scalar>((*out)[2]).Identical(Scalar(true)));
  EXPECT_FALSE(std::get<Tensor>((*out)[3]).is_defined());
  EXPECT_EQ(Message(loaded->Run({Scalar(1.5), Scalar(2.5), Scalar(true)})),
            "input 'n': must be an integer, given 1.5");
  EXPECT_EQ(Message(loaded->Run({Vector({1}), Scalar(2.5), Scalar(true)})),
            "input 'n': must be a number, given a tensor");
}

// A program made for channels last takes any layout, and gives a changed input its values back.
TEST(Executor, InputsAreLaidOutInTheOrderOfTheProgram) {
  Plan plan;
  plan.tensor_count = 1;
  PlanInput x{.name = "x", .rank = 4};
  x.tensor = 0;
  x.memory_order = {0, 2, 3, 1};
  plan.inputs = {x};
  plan.steps = {ReturnStep{{{.tensor = 0}}}};
  const auto loaded = MustLoad(plan, {});
  Tensor contiguous = Tensor::Zeros(DType::kF32, {2, 3, 4, 5});
  for (int64_t k = 0; k < 120; ++k) contiguous.SetLinear(k, Scalar(k));
  Tensor last = Tensor::EmptyStrided(DType::kF32, {2, 3, 4, 5}, {60, 1, 15, 3});
  last.CopyFrom(contiguous);
  for (const Tensor& given : {contiguous, last}) {
    auto out = loaded->Run({given});
    ASSERT_TRUE(out.ok()) << out.status();
    const Tensor& t = std::get<Tensor>((*out)[0]);
    EXPECT_TRUE(t.strides() == last.strides());
    EXPECT_EQ(t.At({1, 2, 3, 4}).ToInt(), 119);
    EXPECT_EQ(t.storage() == given.storage(), given.strides() == last.strides());
  }
  plan.inputs[0].memory_order = {0, 2, 2, 1};
  EXPECT_FALSE(LoadedPlan::Load(plan, {}).ok());
}

// relu(a x b) with the relu run on rows of the product while they are in cache.
TEST(Executor, ExternsRunEpiloguesOnTheirRows) {
  const auto pool = NewThreadPool(3);
  class Relu final : public Kernel {  // axis 0 is rows
   public:
    int32_t Call(const LatheKernelArgs& args) const override {
      const int64_t n = args.scalars[0];
      *static_cast<char*>(args.scratch) = 1;
      for (int64_t i = args.begin * n; i < args.end * n; ++i) {
        const float value = static_cast<const float*>(args.buffers[0])[i];
        static_cast<float*>(args.buffers[1])[i] += value > 0 ? value : 0;
      }
      return 0;
    }
    int64_t ScratchBytes(const int64_t*, int64_t) const override { return 64; }
    absl::string_view tier() const override { return "tile"; }
  };
  Plan plan;
  plan.register_count = 4;
  plan.storage_count = 2;
  plan.tensor_count = 4;
  for (const char* name : {"a", "b"}) {
    PlanInput input{.name = name, .rank = 2};
    input.needs_contiguous = false;
    input.tensor = static_cast<TensorSlot>(plan.inputs.size());
    input.size_registers =
        name[0] == 'a' ? std::vector<Register>{0, -1} : std::vector<Register>{-1, 1};
    plan.inputs.push_back(input);
  }
  plan.kernels = {{"k_relu", 1, {}}};
  ExternStep gemm{.id = "gemm", .inputs = {0, 1}, .outputs = {2}};
  gemm.epilogues = {LaunchStep{0, {2, 3}, {1}, 0}};
  plan.steps = {
      EvalStep{{{Op(SizeOp::kMul, 2, 0, 1), Const(3, 4), Op(SizeOp::kMul, 2, 2, 3), Const(3, 1)}}},
      ReserveStep{{{0, 2, 0, 9}}},
      AllocateStep{1, 2},
      ViewStep{2, 0, -1, DType::kF32, {0, 1}, {1, 3}, -1},
      ViewStep{3, 1, -1, DType::kF32, {0, 1}, {1, 3}, -1},
      OpaqueStep{.callback = 0, .inputs = {3}},
      gemm,
      ReturnStep{{{.tensor = 3}}}};
  plan.callbacks = {"clear"};
  LoadOptions options;
  options.kernels = {std::make_shared<Relu>()};
  options.pool = pool.get();
  options.callbacks["clear"] = [](absl::Span<const Tensor> in, absl::Span<const int64_t>,
                                  std::vector<Tensor>*) {
    std::memset(in[0].data(), 0, static_cast<size_t>(in[0].numel()) * 4);
    return absl::OkStatus();
  };
  const auto loaded = MustLoad(plan, options);
  const int64_t m = 300, n = 40, k = 20;
  Tensor a = Tensor::Zeros(DType::kF32, {m, k}), b = Tensor::Zeros(DType::kF32, {k, n});
  for (int64_t i = 0; i < m * k; ++i) a.SetLinear(i, Scalar(static_cast<int>(i % 7) - 3));
  for (int64_t i = 0; i < k * n; ++i) b.SetLinear(i, Scalar(static_cast<int>(i % 5) - 2));
  auto out = loaded->Run({a, b});
  ASSERT_TRUE(out.ok()) << out.status();
  const Tensor& c = std::get<Tensor>((*out)[0]);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a.At({i, p}).ToDouble() * b.At({p, j}).ToDouble();
      ASSERT_EQ(c.At({i, j}).ToDouble(), std::max(sum, 0.0));
    }
  }
  out = loaded->Run({a, a});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
}

// nonzero gives n; a new segment then makes a vector of n elements by a callback.
TEST(Executor, SizesKnownOnlyAtRunTime) {
  Plan plan;
  plan.register_count = 3;
  plan.storage_count = 1;
  plan.tensor_count = 4;
  plan.inputs = {VectorInput("x", 0, -1)};
  plan.callbacks = {"iota"};
  ExternStep nonzero{.id = "nonzero", .inputs = {0}, .outputs = {1}, .allocates = true};
  plan.steps = {nonzero,
                BindSizeStep{1, 0, 0},
                EvalStep{{{Const(1, 8), Op(SizeOp::kMul, 1, 0, 1), Const(2, 1)}}},
                ReserveStep{{{0, 1, 0, 9}}},
                ViewStep{2, 0, -1, DType::kI64, {0}, {2}, -1},
                CopyStep{2, 2},
                OpaqueStep{.callback = 0, .inputs = {2}, .integers = {0}, .outputs = {3}},
                ReturnStep{{{.tensor = 3}, {.tensor = 1}}}};
  LoadOptions options;
  options.callbacks["iota"] = [](absl::Span<const Tensor> in, absl::Span<const int64_t> ints,
                                 std::vector<Tensor>* out) {
    if (ints[0] == 4) return InvalidArgument("four is too many");
    for (int64_t k = 0; k < ints[0]; ++k) in[0].SetLinear(k, Scalar(k));
    out->push_back(in[0]);  // the arena's own memory: the plan must copy it
    return absl::OkStatus();
  };
  plan.steps[6] = OpaqueStep{0, {2}, {0}, {3}, "%iota", "model.py:3"};
  const auto loaded = MustLoad(plan, options);
  auto two = loaded->Run({Vector({0, 5, 0, 1})});
  ASSERT_TRUE(two.ok()) << two.status();
  auto three = loaded->Run({Vector({1, 1, 0, 1})});
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(std::get<Tensor>((*two)[0]).sizes(), Dims{2});
  EXPECT_EQ(std::get<Tensor>((*two)[0]).AtLinear(1).ToInt(), 1);
  EXPECT_EQ(std::get<Tensor>((*three)[1]).AtLinear(2).ToInt(), 3);
  EXPECT_EQ(Describe(loaded->Run({Vector({1, 1, 1, 1})}).status()),
            "four is too many (at %iota, model.py:3)");
}

TEST(Executor, ItemsAndAssertions) {
  Plan plan;
  plan.register_count = 3;
  plan.tensor_count = 1;
  plan.inputs = {VectorInput("x", 0, -1)};
  plan.inputs[0].dtype = DType::kI32;
  plan.steps = {BindItemStep{0, 0}, EvalStep{{{Const(1, 10), Op(SizeOp::kLt, 2, 0, 1)}}},
                AssertStep{2, "u0 must be below 10", {"u0"}, {0}, "%item", "model.py:9"},
                ReturnStep{{{.scalar = 0, .kind = ReturnStep::Output::Kind::kInt}}}};
  const auto loaded = MustLoad(plan, {});
  EXPECT_EQ(std::get<Scalar>((*loaded->Run({Tensor::FromSpan<int32_t>({1}, {-4})}))[0]).ToInt(),
            -4);
  auto out = loaded->Run({Tensor::FromSpan<int32_t>({1}, {12})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Describe(out.status()), "u0 must be below 10 (u0 = 12) (at %item, model.py:9)");
  out = loaded->Run({Tensor::FromSpan<int32_t>({2}, {1, 2})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
}

// A sub-plan that doubles its input and, when `count` is a register, says whether it is below it.
Plan DoublePlan() {
  Plan plan;
  plan.register_count = 5;
  plan.storage_count = 1;
  plan.tensor_count = 2;
  plan.inputs = {VectorInput("c", 0, 1)};
  plan.steps = {EvalStep{{{Const(2, 4), Op(SizeOp::kMul, 2, 1, 2), Const(3, 1)}}},
                AllocateStep{0, 2}, ViewStep{1, 0, -1, DType::kF32, {1}, {3}, -1},
                LaunchStep{0, {0, 1}, {}, 1}, ReturnStep{{{.tensor = 1}}}};
  return plan;
}
Plan SamePlan() {
  Plan plan;
  plan.register_count = 1;
  plan.tensor_count = 1;
  plan.inputs = {VectorInput("c", 0, -1)};
  plan.steps = {ReturnStep{{{.tensor = 0}}}};
  return plan;
}
// c[0] < limit, where the limit arrives in register 0.
Plan BelowPlan() {
  Plan plan = SamePlan();
  plan.register_count = 3;
  plan.steps = {
      BindItemStep{0, 1},
      EvalStep{{{SizeInstruction{SizeOp::kFloatTrunc, 1, 1, 0, 0, 0}, Op(SizeOp::kLt, 2, 1, 0)}}},
      ReturnStep{{{.scalar = 2, .kind = ReturnStep::Output::Kind::kBool}}}};
  return plan;
}

TEST(Executor, CondChoosesABranch) {
  Plan plan;
  plan.register_count = 1;
  plan.tensor_count = 2;
  plan.inputs = {VectorInput("x", 0, -1),
                 PlanInput{.name = "p", .is_scalar = true, .scalar = 0, .dtype = DType::kBool}};
  plan.kernels = {{"k_double", 16, {}}};
  plan.subplans = {DoublePlan(), SamePlan()};
  plan.steps = {CondStep{0, {0, 1}, {0}, {0}, {1}}, ReturnStep{{{.tensor = 1}}}};
  LoadOptions options;
  options.kernels = {DoubleKernel()};
  const auto loaded = MustLoad(plan, options);
  const Tensor x = Vector({1, 2, 3});
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(Values((*loaded->Run({x, Scalar(true)}))[0]), (std::vector<float>{2, 4, 6}));
    auto same = loaded->Run({x, Scalar(false)});
    EXPECT_EQ(std::get<Tensor>((*same)[0]).storage(), x.storage());
  }
}

TEST(Executor, WhileRunsUntilItsConditionFails) {
  Plan plan;
  plan.register_count = 1;
  plan.tensor_count = 2;
  plan.inputs = {VectorInput("x", 0, -1),
                 PlanInput{.name = "limit", .is_scalar = true, .scalar = 0, .dtype = DType::kI64}};
  plan.kernels = {{"k_double", 16, {}}};
  plan.subplans = {BelowPlan(), DoublePlan()};
  plan.steps = {WhileStep{0, 1, {0}, {}, {0}, {1}}, ReturnStep{{{.tensor = 1}}}};
  LoadOptions options;
  options.kernels = {DoubleKernel()};
  const auto loaded = MustLoad(plan, options);
  for (const auto& [limit, expected] : {std::pair{100, 192.0f}, {3, 3.0f}, {4, 6.0f}}) {
    auto out = loaded->Run({Vector({3}), Scalar(limit)});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(Values((*out)[0]), std::vector<float>{expected});
  }
}

// out = all_reduce(x) over two ranks, a thread each.
TEST(Executor, CollectivesMeet) {
  Plan plan;
  plan.register_count = 3;
  plan.storage_count = 1;
  plan.tensor_count = 2;
  plan.inputs = {VectorInput("x", 0, 0)};
  plan.steps = {EvalStep{{{Const(1, 4), Op(SizeOp::kMul, 1, 0, 1), Const(2, 1)}}},
                AllocateStep{0, 1},
                ViewStep{1, 0, -1, DType::kF32, {0}, {2}, -1},
                CollectiveStartStep{"all_reduce", "sum", "world", {0}, {1}, 0},
                CollectiveWaitStep{0},
                ReturnStep{{{.tensor = 1}}}};
  const auto group = MakeFakeGroup(2);
  std::vector<std::unique_ptr<LoadedPlan>> plans;
  for (int rank = 0; rank < 2; ++rank) {
    LoadOptions options;
    options.groups["world"] = group[static_cast<size_t>(rank)];
    plans.push_back(MustLoad(plan, options));
  }
  const auto run = [&](size_t rank, const Tensor& x, absl::Status* status) {
    for (int k = 0; k < 20; ++k) {
      auto out = plans[rank]->Run({x});
      *status = out.status();
      if (!out.ok()) return;
      EXPECT_EQ(Values((*out)[0]), (std::vector<float>{11, 22}));
    }
  };
  absl::Status first, second;
  std::thread other([&] { run(1, Vector({10, 20}), &second); });
  run(0, Vector({1, 2}), &first);
  other.join();
  EXPECT_TRUE(first.ok() && second.ok()) << first << second;
  // Ranks that disagree both learn it.
  std::thread longer([&] { second = plans[1]->Run({Vector({1, 2, 3})}).status(); });
  first = plans[0]->Run({Vector({1, 2})}).status();
  longer.join();
  EXPECT_EQ(first.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(second.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadedPlan::Load(plan, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(FakeGroup, EveryCollective) {
  const auto group = MakeFakeGroup(2);
  const struct {
    const char* op;
    const char* reduce;
    std::vector<float> expected[2];
  } cases[] = {
      {"all_reduce", "max", {{10, 20}, {10, 20}}},
      {"all_reduce", "avg", {{5.5, 11}, {5.5, 11}}},
      {"all_reduce", "product", {{10, 40}, {10, 40}}},
      {"all_gather_into_tensor", "", {{1, 2, 10, 20}, {1, 2, 10, 20}}},
      {"reduce_scatter_tensor", "sum", {{11}, {22}}},
      {"all_to_all_single", "", {{1, 10}, {2, 20}}},
      {"broadcast", "", {{1, 2}, {1, 2}}},
  };
  const Tensor inputs[] = {Vector({1, 2}), Vector({10, 20})};
  for (const auto& c : cases) {
    Tensor outputs[2];
    std::unique_ptr<PendingCollective> pending[2];
    for (int r = 0; r < 2; ++r) {
      outputs[r] = Tensor::Zeros(DType::kF32, {static_cast<int64_t>(c.expected[r].size())});
      auto started =
          group[static_cast<size_t>(r)]->Start({c.op, c.reduce, absl::MakeConstSpan(&inputs[r], 1),
                                                absl::MakeConstSpan(&outputs[r], 1)});
      ASSERT_TRUE(started.ok()) << started.status();
      pending[r] = *std::move(started);
    }
    for (int r = 0; r < 2; ++r) {
      ASSERT_TRUE(pending[r]->Wait().ok());
      EXPECT_EQ(Values(outputs[r]), c.expected[r]) << c.op;
    }
  }
  EXPECT_EQ(group[0]->Start({"gossip", "", inputs, inputs}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(Executor, TenThreadsOnOnePlan) {
  const auto pool = NewThreadPool(3);
  const auto plan = MustLoad(TwoXPlusY(), AddOptions(pool.get()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 10; ++t) {
    threads.emplace_back([&plan, t] {
      for (int k = 0; k < 50; ++k) {
        const auto n = static_cast<size_t>(1 + (t * 37 + k) % 200);
        auto out = plan->Run({Vector(std::vector<float>(n, static_cast<float>(t))),
                              Vector(std::vector<float>(n, static_cast<float>(k)))});
        ASSERT_TRUE(out.ok()) << out.status();
        ASSERT_EQ(Values((*out)[0]), std::vector<float>(n, static_cast<float>(2 * t + k)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Executor, AContextOfTheCallersOwn) {
  const auto plan = MustLoad(TwoXPlusY(), AddOptions());
  const auto context = plan->NewContext();
  const std::vector<RunValue> inputs = {Vector({1}), Vector({2})};
  for (int k = 0; k < 2; ++k) EXPECT_EQ(Values((*plan->Run(inputs, *context))[0])[0], 4);
}

}  // namespace
}  // namespace lathe
