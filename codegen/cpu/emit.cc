#include "codegen/cpu/emit.h"

#include <deque>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/kernel_text.h"
#include "codegen/cpu/memory_hints.h"
#include "codegen/cpu/stage_emitter.h"
#include "codegen/cpu/stage_plan.h"
#include "dtypes/base/status.h"
#include "ir/loops/lift_offsets.h"
#include "ir/loops/stage_work.h"
#include "ir/loops/streamed_results.h"

namespace lathe::cpu {
namespace {

class KernelEmitter {
 public:
  KernelEmitter(const KernelSpec& spec, const Target& target) : spec_(spec), target_(target) {
    for (size_t k = 0; k < spec.symbols.size(); ++k) names_[spec.symbols[k]] = absl::StrCat("s", k);
    for (size_t k = 0; k < spec.axes.size(); ++k) {
      names_[spec.axes[k].symbol] = absl::StrCat("x", k);
    }
  }

  absl::StatusOr<EmittedKernel> Emit() {
    EmittedKernel kernel;
    kernel.name = KernelName(spec_);
    kernel.is_small = IsSmall(spec_);
    LATHE_ASSIGN_OR_RETURN(std::string sizes, Sizes());
    LATHE_ASSIGN_OR_RETURN(hints_, HintsFor(spec_, target_.vector_bytes, names_));
    LATHE_ASSIGN_OR_RETURN(std::string stages, Stages(kernel.parts));
    for (size_t k = 0; k < spec_.locals.size(); ++k) AddLocalArray(k);
    const std::string declaration = "extern \"C\" __attribute__((visibility(\"default\"))) ";
    kernel.code = absl::StrCat(
        declaration, "int64_t ", kernel.name, "_scratch(const int64_t* scalars, int64_t rows) {\n",
        sizes, ScratchTotal(), "}\n", declaration, "int32_t ", kernel.name,
        "(const LatheKernelArgs* args) {\n",
        "  const int64_t* const scalars = args->scalars;\n"
        "  const int64_t begin = args->begin, end = args->end, rows = end - begin;\n",
        sizes, Buffers(), Streams(), ScratchPointers(), stages, StreamsEnd(),
        "  hn::EndVectors();\n  return 0;\n}\n");
    return kernel;
  }

 private:
  absl::StatusOr<std::string> Sizes() const {
    std::string text;
    for (size_t k = 0; k < spec_.symbols.size(); ++k) {
      absl::StrAppend(&text, "  [[maybe_unused]] const int64_t s", k, " = scalars[", k, "];\n");
    }
    for (size_t k = 0; k < spec_.axes.size(); ++k) {
      LATHE_ASSIGN_OR_RETURN(std::string extent, ExpressionText(spec_.axes[k].extent, names_));
      absl::StrAppend(&text, "  [[maybe_unused]] const int64_t e", k, " = ", extent, ";\n");
    }
    return text;
  }

  std::string Buffers() const {
    std::string text;
    for (size_t k = 0; k < spec_.buffers.size(); ++k) {
      const SpecBuffer& buffer = spec_.buffers[k];
      const std::string type =
          absl::StrCat(buffer.role == BufferRole::kIn ? "const " : "",
                       IsSubByte(buffer.dtype) ? "uint8_t" : LaneType(buffer.dtype), "*");
      absl::StrAppend(&text, "  ", type, " __restrict const b", k, " = static_cast<", type,
                      ">(args->buffers[", k, "]);\n");
    }
    return text;
  }

  // Which results are large enough to be stored past the caches.
  std::string Streams() const {
    std::string text;
    for (size_t k = 0; k < hints_.stream_bytes.size(); ++k) {
      if (hints_.stream_bytes[k].empty()) continue;
      absl::StrAppend(&text, "  const bool stream", k, " = ", hints_.stream_bytes[k],
                      " >= ", kStreamBytes, ";\n");
    }
    return text;
  }
  std::string StreamsEnd() const {
    std::string any;
    for (size_t k = 0; k < hints_.stream_bytes.size(); ++k) {
      if (!hints_.stream_bytes[k].empty()) {
        absl::StrAppend(&any, any.empty() ? "" : " || ", "stream", k);
      }
    }
    return any.empty() ? "" : absl::StrCat("  if (", any, ") hn::FlushStream();\n");
  }

  void AddLocalArray(size_t k) {
    const SpecLocal& local = spec_.locals[k];
    if (local.axes.empty()) return;
    std::string count;
    for (int axis : local.axes) {
      absl::StrAppend(&count, count.empty() ? "" : " * ",
                      axis == 0 ? "rows" : absl::StrCat("e", axis));
    }
    scratch_.push_back({absl::StrCat("l", k), std::string(LaneType(local.dtype)), count});
  }

  std::string ScratchTotal() const {
    std::string text = "  int64_t bytes = 0 * rows;\n";
    for (const ScratchArray& array : scratch_) {
      absl::StrAppend(&text, "  bytes += (", array.count, " * static_cast<int64_t>(sizeof(",
                      array.type, ")) + 63) / 64 * 64;\n");
    }
    return absl::StrCat(text, "  return bytes;\n");
  }

  std::string ScratchPointers() const {
    if (scratch_.empty()) return "";
    std::string text = "  char* scratch = static_cast<char*>(args->scratch);\n";
    for (const ScratchArray& array : scratch_) {
      absl::StrAppend(&text, "  ", array.type, "* const ", array.name, " = reinterpret_cast<",
                      array.type, "*>(scratch);\n  scratch += (", array.count,
                      " * static_cast<int64_t>(sizeof(", array.type, ")) + 63) / 64 * 64;\n");
    }
    return text;
  }

  // The outer loops around all stages.
  absl::StatusOr<std::string> Stages(HeaderParts& parts) {
    std::string text;
    int indent = 2;
    std::deque<StagePlan> plans;
    std::deque<StageEmitter> stages;
    for (size_t k = 0; k < spec_.stages.size(); ++k) {
      plans.push_back(PlanStage(spec_, spec_.stages[k], target_.vector_bytes));
      stages.emplace_back(spec_, spec_.stages[k], static_cast<int>(k), plans.back(), names_, parts,
                          scratch_, hints_, target_.vector_bytes);
      LATHE_ASSIGN_OR_RETURN(std::string shared, stages.back().EmitShared(indent));
      absl::StrAppend(&text, shared);
    }
    for (int axis : spec_.outer) {
      absl::StrAppend(&text, std::string(indent, ' '), "for (int64_t x", axis, " = ",
                      axis == 0 ? "begin" : "0", "; x", axis, " < ",
                      axis == 0 ? "end" : absl::StrCat("e", axis), "; ++x", axis, ") {\n");
      indent += 2;
    }
    if (spec_.axes.empty()) {
      absl::StrAppend(&text, "  if (begin < end) {\n");
      indent += 2;
    }
    for (size_t k = 0; k < spec_.locals.size(); ++k) {
      if (!spec_.locals[k].axes.empty()) continue;
      absl::StrAppend(&text, std::string(indent, ' '), LaneType(spec_.locals[k].dtype), " l", k,
                      " = 0;\n");
    }
    for (StageEmitter& stage : stages) {
      LATHE_ASSIGN_OR_RETURN(std::string stage_text, stage.Emit(indent));
      absl::StrAppend(&text, stage_text);
    }
    while (indent > 2) {
      indent -= 2;
      absl::StrAppend(&text, std::string(indent, ' '), "}\n");
    }
    return text;
  }

  const KernelSpec& spec_;
  const Target& target_;
  SymbolNames names_;
  MemoryHints hints_;
  std::vector<ScratchArray> scratch_;
};

}  // namespace

std::string KernelName(const KernelSpec& spec) { return NameOfSpec(spec); }

absl::StatusOr<EmittedKernel> EmitKernel(const KernelSpec& spec, const Target& target) {
  LATHE_RETURN_IF_ERROR(VerifyKernelSpec(spec));
  return KernelEmitter(spec, target).Emit();
}

std::string TranslationUnit(absl::Span<const EmittedKernel> kernels) {
  HeaderParts parts;
  for (const EmittedKernel& kernel : kernels) parts |= kernel.parts;
  std::string text(CoreText());
  if (parts.integers) absl::StrAppend(&text, IntegersText());
  if (parts.small_floats) absl::StrAppend(&text, SmallFloatsText());
  if (parts.sub_byte) absl::StrAppend(&text, SubByteText());
  if (parts.octets) absl::StrAppend(&text, OctetsText());
  if (parts.reductions) absl::StrAppend(&text, ReductionsText());
  if (parts.vector_math) {
    absl::StrAppend(&text, VectorMathText(), "namespace vm = lathe::HWY_NAMESPACE;\n");
  }
  for (const EmittedKernel& kernel : kernels) absl::StrAppend(&text, "\n", kernel.code);
  return text;
}

absl::StatusOr<std::string> EmitCpp(const KernelSpec& spec, const Target& target) {
  LATHE_ASSIGN_OR_RETURN(EmittedKernel kernel, EmitKernel(spec, target));
  return TranslationUnit({kernel});
}

}  // namespace lathe::cpu
