// What names an entry on disk: all that changes the bits of a kernel's code, and nothing else.

#include <set>

#include "absl/strings/str_cat.h"
#include "codegen/cache/kernel_cache.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

// y = x * factor + c over `extent` elements.
std::string SpecText(const std::string& header, const std::string& extent,
                     const std::string& body) {
  return absl::StrCat("kernel ", header,
                      " { buffer b0: in f32 buffer b1: out f32\naxis i0: parallel ", extent,
                      "\n stage [i0] { ", body, " } }");
}

constexpr char kBody[] =
    "%0 = load b0[i0] : f32 %1 = constant 2 : f32 %2 = mul %0, %1 : f32 store b1[i0], %2";

class CacheKey : public testing::Test {
 protected:
  std::string KeyOf(const std::string& text) { return KeyOf(text, target_, compiler_, flags_); }
  std::string KeyOf(const std::string& text, const Target& target, const cpu::Compiler& compiler,
                    const std::vector<std::string>& flags) {
    ExprContext context;
    absl::StatusOr<KernelSpec> spec = ParseKernelSpec(text, context);
    EXPECT_TRUE(spec.ok()) << spec.status();
    absl::StatusOr<cpu::EmittedKernel> kernel = cpu::EmitKernel(*spec, target);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return KernelCacheKey(*kernel, compiler, flags, target);
  }
  static Target Machine() {
    Target target;
    target.features = {"avx2", "bmi2", "f16c", "fma"};
    return target;
  }

  const Target target_ = Machine();
  const cpu::Compiler compiler_ = {"/usr/bin/g++", "g++-12 1000 17.5"};
  const std::vector<std::string> flags_ = KernelFlags(target_);
  const std::string text_ = SpecText("k(s0: size)", "s0", kBody);
};

TEST_F(CacheKey, EachFlagChangesIt) {
  std::set<std::string> keys = {KeyOf(text_)};
  for (size_t k = 0; k < flags_.size(); ++k) {
    std::vector<std::string> fewer = flags_;
    fewer.erase(fewer.begin() + static_cast<int>(k));
    EXPECT_TRUE(keys.insert(KeyOf(text_, target_, compiler_, fewer)).second) << flags_[k];
    std::vector<std::string> other = flags_;
    other[k] += "x";
    EXPECT_TRUE(keys.insert(KeyOf(text_, target_, compiler_, other)).second) << flags_[k];
  }
}

TEST_F(CacheKey, TheCompilerChangesIt) {
  std::set<std::string> keys = {KeyOf(text_)};
  for (const cpu::Compiler& other : {cpu::Compiler{"/usr/bin/g++", "g++-12 1000 18.5"},
                                     cpu::Compiler{"/usr/bin/g++", "g++-12 1001 17.5"},
                                     cpu::Compiler{"/usr/bin/g++", "g++-13 1000 17.5"},
                                     cpu::Compiler{"/usr/bin/clang++", "g++-12 1000 17.5"}}) {
    EXPECT_TRUE(keys.insert(KeyOf(text_, target_, other, flags_)).second) << other.version;
  }
}

TEST_F(CacheKey, EachCpuFeatureAndTheVectorWidthChangeIt) {
  std::set<std::string> keys = {KeyOf(text_)};
  for (size_t k = 0; k < target_.features.size(); ++k) {
    Target fewer = target_;
    fewer.features.erase(fewer.features.begin() + static_cast<int>(k));
    EXPECT_TRUE(keys.insert(KeyOf(text_, fewer, compiler_, KernelFlags(fewer))).second)
        << target_.features[k];
  }
  Target narrow = target_;
  narrow.vector_bytes = 16;
  EXPECT_TRUE(keys.insert(KeyOf(text_, narrow, compiler_, KernelFlags(narrow))).second);
}

TEST_F(CacheKey, WhatTheKernelComputesChangesIt) {
  std::set<std::string> keys = {KeyOf(text_)};
  const std::string body = kBody;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = body;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const std::string& text : {
           SpecText("k(s0: size)", "2*s0", body),  // an extent
           SpecText("k()", "64", body),            // sizes that are known
           SpecText("k()", "65", body),
           SpecText("k(s0: size)", "s0", with("mul", "add")),
           SpecText("k(s0: size)", "s0", with("constant 2", "constant 3")),
           SpecText("k(s0: size)", "s0", with("load b0[i0]", "load b0[2*i0]")),
       }) {
    EXPECT_TRUE(keys.insert(KeyOf(text)).second) << text;
  }
}

TEST_F(CacheKey, NothingElseChangesIt) {
  const std::string key = KeyOf(text_);
  EXPECT_EQ(KeyOf(text_), key);
  // Names of kernels and symbols.
  EXPECT_EQ(KeyOf(SpecText("other(s9: size)", "s9", kBody)), key);
  // What the scheduler alone asks of a machine.
  Target other = target_;
  other.l1_bytes = 1 << 10;
  other.l2_bytes = 1 << 11;
  other.l3_bytes = 1 << 12;
  other.threads = 77;
  EXPECT_EQ(KeyOf(text_, other, compiler_, KernelFlags(other)), key);
}

}  // namespace
}  // namespace lathe
