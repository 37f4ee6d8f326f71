// What is found once for loops that are wired alike is what would be found for each of them.

#include "scheduler/kernels/known_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "capture/pt2/load_pt2.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/text/parser.h"
#include "scheduler/fusion/known_accesses.h"

namespace lathe {
namespace {

std::string TextOf(const NodeAccess& access) {
  std::string text = absl::StrCat(access.cost.operations, " ", access.cost.loads, " ",
                                  access.cost.heavy, access.cost.indirect, access.cost.unpacks);
  for (const Read& read : access.reads) {
    absl::StrAppend(&text, "\n%", read.root->name, "[", symbolic::ToString(read.position), "] ",
                    read.prefix, " ", read.covers_domain, read.is_masked);
  }
  return text;
}

std::string TextOf(const absl::StatusOr<std::optional<ScheduledKernel>>& kernel) {
  if (!kernel.ok()) return std::string(kernel.status().message());
  if (!kernel->has_value()) return "nothing";
  std::string text = absl::StrCat(ToString((*kernel)->spec), symbolic::ToString((*kernel)->extent));
  for (const Value* buffer : (*kernel)->buffers) absl::StrAppend(&text, " %", buffer->name);
  for (const Node* node : (*kernel)->nodes) absl::StrAppend(&text, " ", node->results[0]->name);
  for (const Expr& symbol : (*kernel)->symbols) {
    absl::StrAppend(&text, " ", symbolic::ToString(symbol));
  }
  return text;
}

// How many groups the program has.
int ExpectSameForAll(Program& program, const std::string& name) {
  const absl::Status passed = RunPasses(program, OpRegistry::Builtin(), InferencePasses());
  EXPECT_TRUE(passed.ok()) << name << ": " << passed;
  absl::StatusOr<LoopGraph> loops = LowerGraph(*program.main, *program.shapes);
  EXPECT_TRUE(loops.ok()) << name << ": " << loops.status();
  if (!passed.ok() || !loops.ok()) return 0;
  KnownAccesses accesses(*loops);
  for (const LoopNode& node : loops->nodes) {
    EXPECT_EQ(TextOf(accesses.Of(node)), TextOf(AccessOf(*loops, node)))
        << name << " %" << node.value->name;
  }
  const Fusion fusion = FuseLoops(*loops);
  KnownKernels kernels(*loops, fusion);
  absl::flat_hash_set<Value*> needed;
  for (const Argument& output : program.main->outputs()) {
    output.ForEachValue([&](Value* v) { needed.insert(loops->roots.Root(v)); });
  }
  for (auto group = fusion.groups.rbegin(); group != fusion.groups.rend(); ++group) {
    absl::flat_hash_set<Value*> needed_alone = needed;
    const std::string known = TextOf(kernels.Build(*group, needed, std::nullopt));
    EXPECT_EQ(known, TextOf(BuildKernel(*loops, fusion, *group, needed_alone, std::nullopt)))
        << name;
    EXPECT_EQ(needed, needed_alone) << name;
  }
  return static_cast<int>(fusion.groups.size());
}

int ExpectSameForAll(const std::string& text) {
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? ExpectSameForAll(*program, "text") : 0;
}

TEST(KnownKernels, OfTheModelsAreTheirOwn) {
  int groups = 0;
  for (const char* directory : {"third_party/models", "third_party/modules"}) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() != ".pt2") continue;
      absl::StatusOr<Program> program = LoadPt2(entry.path().string(), OpRegistry::Builtin());
      ASSERT_TRUE(program.ok()) << entry.path() << ": " << program.status();
      groups += ExpectSameForAll(*program, entry.path().string());
    }
  }
  EXPECT_GT(groups, 200);
}

// Softmax of rows between matrix products, each time with one thing different.
TEST(KnownKernels, AreNotTakenWhereOneThingDiffers) {
  const std::string head =
      "graph @f(%x: f32[8, 64], %y: f32[8, 64], %w: f32[64, 64], %r: f32[64]) {";
  const auto layer = [](int k, const std::string& in, const std::string& body) {
    return absl::StrCat("  %p", k, " = aten.mm(", in, ", %w)\n", body);
  };
  std::string text = head + "\n";
  const std::string bodies[] = {
      "  %a# = aten.mul.Tensor(%p#, %x)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Tensor(%p#, %x)\n  %b# = aten.exp(%a#)\n",  // the same again
      "  %a# = aten.mul.Tensor(%p#, %p#)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Tensor(%x, %p#)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Tensor(%p#, %r)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Scalar(%p#, 2)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Scalar(%p#, 3)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Scalar(%p#, -0.0)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.mul.Scalar(%p#, 0.0)\n  %b# = aten.exp(%a#)\n",
      "  %a# = aten.sum.dim_IntList(%p#, [1], true)\n  %b# = aten.sub.Tensor(%p#, %a#)\n",
      "  %a# = aten.sum.dim_IntList(%p#, [0], true)\n  %b# = aten.sub.Tensor(%p#, %a#)\n",
      "  %a# = aten.amax(%p#, [1], true)\n  %b# = aten.sub.Tensor(%p#, %a#)\n",
  };
  std::string outputs, before = "%x";
  int k = 0;
  for (const std::string& body : bodies) {
    std::string own = body;
    const std::string number = std::to_string(k);
    for (size_t at; (at = own.find('#')) != std::string::npos;) own.replace(at, 1, number);
    text += layer(k, before, own);
    before = "%b" + number;
    // Of the second, what the first keeps in registers is given out too.
    outputs += (k == 1 || k == 9 ? "%a" + number + ", " : "");
    ++k;
  }
  text += "  return " + outputs + before + "\n}";
  EXPECT_GE(ExpectSameForAll(text), 12);
}

TEST(KnownKernels, FollowViewsDownToTheirRoots) {
  EXPECT_GE(ExpectSameForAll(R"(graph @f(%x: f32[8, 8], %y: f32[8, 8], %w: f32[8, 8]) {
    %xt = aten.permute(%x, [1, 0])
    %yt = aten.permute(%y, [1, 0])
    %a = aten.mm(%x, %w)
    %b = aten.add.Tensor(%a, %xt)
    %c = aten.mm(%b, %w)
    %d = aten.add.Tensor(%c, %yt)
    %e = aten.mm(%d, %w)
    %g = aten.add.Tensor(%e, %y)
    %h = aten.mm(%g, %w)
    %ht = aten.permute(%h, [1, 0])
    %i = aten.add.Tensor(%h, %ht)
    return %b, %d, %g, %i
  })"),
            4);
}

}  // namespace
}  // namespace lathe
