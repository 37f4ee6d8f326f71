#include "codegen/cpu/memory_hints.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/stage_plan.h"
#include "dtypes/base/status.h"
#include "ir/loops/affine_index.h"
#include "ir/loops/stage_work.h"
#include "ir/loops/streamed_results.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"

namespace lathe::cpu {
namespace {

// Rows of fewer bytes are fetched by the processor itself; longer ones leave the cache too early.
constexpr int64_t kShortestRow = 2048;
constexpr int64_t kLongestRow = int64_t{128} << 10;

bool IsWholeBytes(DType dtype) { return BitWidth(dtype) % 8 == 0 && !IsComplex(dtype); }

// How far ahead of its element a kernel that writes past the caches asks for what it reads: about
// what arrives while one line is on its way. Streaming stores hold the processor's own prefetching
// back.
constexpr int64_t kAheadBytes = 2048;
constexpr size_t kMostStreams = 4;

bool Streams(const std::vector<std::string>& stream_bytes, const SpecStage& stage) {
  for (const LoopOp& op : stage.body.ops) {
    if (op.kind == OpKind::kStore && !stream_bytes[op.buffer].empty()) return true;
  }
  return false;
}

// Only then is the address known before the element's turn: what is read at a place that data
// names is not.
bool IsKnownAhead(const KernelSpec& spec, const Expr& index) {
  const auto is_axis = [](const Expr& symbol) {
    return [symbol](const SpecAxis& axis) { return axis.symbol == symbol; };
  };
  for (const Expr& symbol : symbolic::FreeSymbols(index)) {
    if (std::none_of(spec.axes.begin(), spec.axes.end(), is_axis(symbol)) &&
        std::find(spec.symbols.begin(), spec.symbols.end(), symbol) == spec.symbols.end()) {
      return false;
    }
  }
  return true;
}

// The reads of a stage that maps elements one by one.
std::vector<MemoryHints::Prefetch> AheadInMap(const KernelSpec& spec, int number,
                                              const StagePlan& plan) {
  std::vector<MemoryHints::Prefetch> result;
  // What a stage over reduce axes reads lies near: an earlier stage read it.
  if (plan.shape != StageShape::kMap || !ReduceAxes(spec, spec.stages[number]).empty()) {
    return result;
  }
  const Expr axis = spec.axes[plan.vector_axis].symbol;
  for (const LoopOp& op : spec.stages[number].body.ops) {
    if (op.kind != OpKind::kLoad || op.mask != kNoValue || !IsKnownAhead(spec, op.index)) continue;
    const DType dtype = spec.buffers[op.buffer].dtype;
    if (!IsWholeBytes(dtype) || AffineCoefficient(op.index, axis) != Expr(1)) continue;
    const Expr ahead = axis + kAheadBytes / (BitWidth(dtype) / 8);
    result.push_back({number, op.buffer,
                      symbolic::Substitute(op.index, {{axis, ahead}}, *axis.node()->context)});
    if (result.size() == kMostStreams) break;
  }
  return result;
}

class Prefetcher {
 public:
  Prefetcher(const KernelSpec& spec, int vector_bytes) : spec_(spec) {
    for (const SpecStage& stage : spec.stages)
      plans_.push_back(PlanStage(spec, stage, vector_bytes));
  }

  std::vector<MemoryHints::Prefetch> Run() const {
    std::vector<MemoryHints::Prefetch> result;
    if (spec_.outer != std::vector<int>{0} || spec_.stages.size() < 2) return result;
    for (const LoopOp& op : spec_.stages[0].body.ops) {
      if (op.kind != OpKind::kLoad || spec_.buffers[op.buffer].role != BufferRole::kIn) continue;
      const int stage = AskingStage();
      if (stage < 0 || !RowFits(spec_.buffers[op.buffer].dtype)) continue;
      if (!IsKnownAhead(spec_, op.index)) continue;
      const std::vector<Expr> used = symbolic::FreeSymbols(op.index);
      const Expr row = spec_.axes[0].symbol;
      const auto uses = [&](const Expr& e) {
        return std::find(used.begin(), used.end(), e) != used.end();
      };
      if (!uses(row) || !uses(spec_.axes[plans_[0].vector_axis].symbol)) continue;
      if (result.size() == 2) break;  // more are rows that no cache holds
      result.push_back({stage, op.buffer,
                        symbolic::Substitute(op.index, {{row, row + 1}}, *row.node()->context)});
    }
    return result;
  }

 private:
  // The heaviest later stage along the same elements.
  int AskingStage() const {
    int best = -1;
    if (plans_[0].vector_axis < 0) return best;
    for (size_t k = 1; k < plans_.size(); ++k) {
      if (plans_[k].vector_axis != plans_[0].vector_axis ||
          spec_.stages[k].axes != spec_.stages[0].axes) {
        continue;
      }
      if (best < 0 || plans_[k].weight >= plans_[best].weight) best = static_cast<int>(k);
    }
    return best;
  }

  bool RowFits(DType dtype) const {
    const std::optional<int64_t> length = spec_.axes[plans_[0].vector_axis].extent.AsInt();
    if (!length.has_value()) return true;
    const int64_t bytes = *length * BitWidth(dtype) / 8;
    return bytes >= kShortestRow && bytes <= kLongestRow;
  }

  const KernelSpec& spec_;
  std::vector<StagePlan> plans_;
};

}  // namespace

absl::StatusOr<MemoryHints> HintsFor(const KernelSpec& spec, int vector_bytes,
                                     const SymbolNames& names) {
  MemoryHints hints;
  for (const std::optional<Expr>& bytes : StreamedBytes(spec)) {
    hints.stream_bytes.emplace_back();
    if (!bytes.has_value()) continue;
    LATHE_ASSIGN_OR_RETURN(hints.stream_bytes.back(), ExpressionText(*bytes, names));
  }
  hints.prefetches = Prefetcher(spec, vector_bytes).Run();
  for (size_t k = 0; k < spec.stages.size(); ++k) {
    if (!Streams(hints.stream_bytes, spec.stages[k])) continue;
    const StagePlan plan = PlanStage(spec, spec.stages[k], vector_bytes);
    for (auto& ahead : AheadInMap(spec, static_cast<int>(k), plan)) {
      hints.prefetches.push_back(std::move(ahead));
    }
  }
  return hints;
}

}  // namespace lathe::cpu
