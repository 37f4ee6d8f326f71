// Random programs of views and in-place operators: after the passes they must compute the same,
// change the same inputs, and return tensors that share the same storages. LATHE_FUZZ=20000 tries
// that many.

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "ir/graph/program.h"
#include "ir/graph/verifier.h"
#include "ir/ops/builder.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/passes/same_meaning.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

class RandomProgram {
 public:
  explicit RandomProgram(int seed) : program_(NewProgram("f")), random_(seed) {}

  Program Make(int calls) {
    AddInput({4, 6}, InputSpec::User());
    AddInput({6, 4}, InputSpec::User());
    AddInput({4, 6}, InputSpec::Weight(InputSpec::Kind::kBuffer, "state"));
    Take(Call("aten.clone", {Any()}));
    for (int i = 0; i < calls; ++i) AddCall();
    for (int i = 0; i < 4; ++i) program_.main->AddOutput(Argument::Of(Any()), OutputSpec::User());
    return std::move(program_);
  }

 private:
  void AddInput(std::vector<Expr> sizes, InputSpec spec) {
    values_.push_back(program_.main->AddInput("x", ContiguousType(DType::kF32, std::move(sizes)),
                                              std::move(spec)));
  }
  int Below(int n) { return n == 0 ? 0 : static_cast<int>(random_() % n); }
  Value* Any() { return values_[Below(values_.size())]; }
  // Another value of these sizes, `value` itself when there is none.
  Value* Alike(Value* value) {
    for (int i = 0; i < 8; ++i) {
      Value* other = Any();
      if (other->type.tensor().sizes == value->type.tensor().sizes) return other;
    }
    return value;
  }
  // nullptr where the operator refuses the call.
  Value* Call(const char* op, std::vector<CallArgument> arguments) {
    Builder builder(*program_.main, OpRegistry::Builtin(), *program_.shapes);
    return builder.Call(op, std::move(arguments));
  }
  void Take(Value* value) {
    if (value != nullptr) values_.push_back(value);
  }

  void AddCall() {
    Value* value = Any();
    switch (Below(5)) {
      case 0:
        return Take(Pure(value));
      case 1:
      case 2:
        return Take(View(value));
      default:
        return Take(InPlace(value));
    }
  }

  Value* Pure(Value* value) {
    switch (Below(3)) {
      case 0:
        return Call("aten.sin", {value});
      case 1:
        return Call("aten.add.Tensor", {value, Alike(value)});
      default:
        return Call("aten.clone", {value});
    }
  }

  Value* View(Value* value) {
    const TensorType& type = value->type.tensor();
    const int rank = type.rank();
    if (rank == 0) return Call("aten.unsqueeze", {value, 0});
    const int dim = Below(rank);
    const int64_t size = *type.sizes[dim].AsInt();
    switch (Below(12)) {
      case 0:
        return Call("aten.transpose.int", {value, dim, Below(rank)});
      case 1:
        return Call("aten.slice.Tensor", {value, dim, Below(size + 1), 99, 1 + Below(2)});
      case 2:
        return Call("aten.select.int", {value, dim, Below(size)});
      case 3:
        return Call("aten.view", {value, std::vector<Expr>{-1}});
      case 4:
        return Call("aten.view", {value, std::vector<Expr>{2, -1}});
      case 5:
        return Call("aten.unsqueeze", {value, dim});
      case 6:
        return Call("aten.squeeze.dim", {value, dim});
      case 7:
        return Call("aten.alias", {value});
      case 8:
        return rank == 2 ? Call("aten.diagonal", {value, Below(3) - 1}) : nullptr;
      case 9:
        return Call("aten.detach", {value});
      case 10:
        return rank == 2 ? Call("aten.t", {value}) : nullptr;
      default:
        return Call("aten.narrow", {value, dim, Below(size), 1});
    }
  }

  Value* InPlace(Value* value) {
    switch (Below(7)) {
      case 0:
        return Call("aten.relu_", {value});
      case 1:
        return Call("aten.add_.Tensor", {value, Alike(value)});
      case 2:
        return Call("aten.mul_.Scalar", {value, 0.5});
      case 3:
        return Call("aten.copy_", {value, Alike(value)});
      case 4:
        return Call("aten.copy_", {value, Any()});
      case 5:
        return Call("aten.fill_.Scalar", {value, 0.25});
      default:
        return Call("aten.neg_", {value});
    }
  }

  Program program_;
  std::mt19937 random_;
  std::vector<Value*> values_;
};

Program CopyOf(const Program& program) {
  Program copy = program;
  copy.main = program.main->Clone();
  return copy;
}

TEST(Functionalize, KeepsMeaningAndAliases) {
  const char* fuzz = std::getenv("LATHE_FUZZ");
  const int seeds = fuzz == nullptr ? 400 : std::atoi(fuzz);
  int checked = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Program original = RandomProgram(seed).Make(3 + seed % 20);
    SCOPED_TRACE(seed);
    ASSERT_TRUE(Verify(original).ok()) << Verify(original);
    // A program that the reference refuses (an empty selection) says nothing.
    if (!CheckSameMeaning(original, CopyOf(original), seed).ok()) continue;
    Program program = CopyOf(original);
    const std::vector<Pass> passes = seed % 2 == 0 ? FunctionalizingPasses() : InferencePasses();
    const absl::Status status = RunPasses(program, OpRegistry::Builtin(), passes);
    ASSERT_TRUE(status.ok()) << Describe(status) << "\n" << PrintProgram(original);
    const std::string programs =
        "\n" + PrintProgram(original) + "\nbecame\n" + PrintProgram(program);
    ASSERT_TRUE(Verify(program).ok()) << Verify(program) << programs;
    const absl::Status same = CheckSameMeaning(original, program, seed);
    ASSERT_TRUE(same.ok()) << same << programs;
    const absl::Status aliases = CheckAliases(original, program, seed);
    ASSERT_TRUE(aliases.ok()) << aliases << programs;
    ++checked;
  }
  EXPECT_GT(checked, seeds * 3 / 4);
}

}  // namespace
}  // namespace lathe
