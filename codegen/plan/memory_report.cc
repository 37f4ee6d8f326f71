#include "codegen/plan/memory_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

constexpr int64_t kSizeWithoutHint = 4;

class Reporter {
 public:
  Reporter(const Plan& plan, const Program& program)
      : plan_(plan), program_(program), registers_(plan.register_count, 0) {}

  absl::StatusOr<MemoryReport> Run() {
    ChooseSizes();
    LATHE_RETURN_IF_ERROR(BindInputs());
    for (const PlanStep& step : plan_.steps) {
      if (std::holds_alternative<BindSizeStep>(step) ||
          std::holds_alternative<BindItemStep>(step)) {
        report_.incomplete = "what follows depends on sizes known only at run time";
        return std::move(report_);
      }
      if (const auto* eval = std::get_if<EvalStep>(&step)) {
        LATHE_RETURN_IF_ERROR(RunSizeProgram(eval->program, registers_.data()));
      } else if (const auto* reserve = std::get_if<ReserveStep>(&step)) {
        if (!reserve->pieces.empty()) AddArena(*reserve);
      }
    }
    return std::move(report_);
  }

 private:
  void ChooseSizes() {
    for (const Expr& symbol : program_.shapes->symbols()) {
      const std::optional<int64_t> hint = program_.shapes->hint(symbol);
      const symbolic::Range range = program_.shapes->RangeOf(symbol);
      const int64_t value = hint.value_or(
          std::clamp(kSizeWithoutHint, range.lower, std::max(range.lower, range.upper)));
      sizes_[symbol] = value;
      report_.sizes.push_back(absl::StrCat(symbolic::ToString(symbol), " = ", value,
                                           hint.has_value() ? " (hint)" : " (no hint)"));
    }
  }

  absl::StatusOr<int64_t> Evaluate(const Expr& e) const {
    return symbolic::Evaluate(e, [this](const Expr& symbol) -> std::optional<int64_t> {
      const auto found = sizes_.find(symbol);
      if (found == sizes_.end()) return std::nullopt;
      return found->second;
    });
  }

  absl::Status Bind(Register target, const Expr& e) {
    if (target < 0) return absl::OkStatus();
    LATHE_ASSIGN_OR_RETURN(registers_[target], Evaluate(e));
    return absl::OkStatus();
  }

  // The plan's inputs are the graph's, then literals.
  absl::Status BindInputs() {
    const std::vector<Value*>& values = program_.main->inputs();
    for (size_t k = 0; k < values.size() && k < plan_.inputs.size(); ++k) {
      const PlanInput& input = plan_.inputs[k];
      if (input.is_scalar) {
        LATHE_RETURN_IF_ERROR(Bind(input.scalar, values[k]->type.scalar().value));
      } else if (values[k]->type.is_tensor()) {
        const TensorType& type = values[k]->type.tensor();
        for (size_t d = 0; d < input.size_registers.size(); ++d) {
          LATHE_RETURN_IF_ERROR(Bind(input.size_registers[d], type.sizes[d]));
        }
        for (size_t d = 0; d < input.stride_registers.size(); ++d) {
          LATHE_RETURN_IF_ERROR(Bind(input.stride_registers[d], type.strides[d]));
        }
      }
    }
    return absl::OkStatus();
  }

  void AddArena(const ReserveStep& reserve) {
    ArenaReport arena;
    arena.pieces = reserve.pieces;
    for (const ReserveStep::Piece& piece : reserve.pieces) {
      arena.packed.push_back({registers_[piece.size_bytes], piece.first_step, piece.last_step, 0});
    }
    arena.peak_bytes = PackMemory(absl::MakeSpan(arena.packed));
    arena.live_bytes = PeakLiveBytes(arena.packed);
    report_.arenas.push_back(std::move(arena));
  }

  const Plan& plan_;
  const Program& program_;
  std::vector<int64_t> registers_;
  absl::flat_hash_map<Expr, int64_t> sizes_;
  MemoryReport report_;
};

}  // namespace

absl::StatusOr<MemoryReport> ReportMemory(const Plan& plan, const Program& program) {
  return Reporter(plan, program).Run();
}

std::string ToString(const MemoryReport& report) {
  std::string text;
  for (const std::string& size : report.sizes) absl::StrAppend(&text, "size ", size, "\n");
  for (const ArenaReport& arena : report.arenas) {
    absl::StrAppend(
        &text, "arena of ", arena.pieces.size(), " buffers: peak ", arena.peak_bytes,
        " bytes, largest live sum ", arena.live_bytes, " bytes, ratio ",
        absl::StrFormat("%.3f", arena.live_bytes == 0 ? 1.0
                                                      : static_cast<double>(arena.peak_bytes) /
                                                            static_cast<double>(arena.live_bytes)),
        "\n");
    for (size_t k = 0; k < arena.pieces.size(); ++k) {
      const PackedPiece& piece = arena.packed[k];
      absl::StrAppend(&text, "  storage ", arena.pieces[k].storage, ": ", piece.size_bytes,
                      " bytes at ", piece.offset_bytes, ", live ", piece.first_step, "..",
                      piece.last_step, "\n");
    }
  }
  if (!report.incomplete.empty()) absl::StrAppend(&text, report.incomplete, "\n");
  return text;
}

}  // namespace lathe
