#include "codegen/tile/kernel_compiler.h"

#include <algorithm>
#include <cstring>

#include "codegen/tile/affine.h"
#include "codegen/tile/slots.h"
#include "codegen/tile/stage_compiler.h"
#include "dtypes/base/status.h"
#include "ir/loops/stage_phases.h"
#include "ir/loops/streamed_results.h"
#include "symbolic/evaluate.h"

namespace lathe::tile {
namespace {

class KernelCompiler {
 public:
  KernelCompiler(const KernelSpec& spec, int64_t largest_tile)
      : spec_(spec),
        largest_tile_(largest_tile),
        slots_(spec.symbols),
        splitter_(spec.symbols, AxisNumbers(spec)) {}

  absl::StatusOr<KernelProgram> Compile() {
    program_.name = spec_.name;
    program_.buffer_count = static_cast<int>(spec_.buffers.size());
    program_.symbol_count = static_cast<int>(spec_.symbols.size());
    for (const SpecAxis& axis : spec_.axes) {
      LATHE_ASSIGN_OR_RETURN(const Slot slot, slots_.Of(axis.extent));
      program_.extents.push_back(slot);
    }
    for (const std::optional<Expr>& bytes : StreamedBytes(spec_)) {
      LATHE_ASSIGN_OR_RETURN(const Slot slot, slots_.Of(bytes.value_or(0)));
      program_.streamed_bytes.push_back(slot);
    }
    merged_.assign(spec_.axes.size(), false);
    LATHE_RETURN_IF_ERROR(LayOutLoops());
    LATHE_RETURN_IF_ERROR(CompileFlatAndPlanes());
    LATHE_RETURN_IF_ERROR(CompileBatched());
    Finish();
    return std::move(program_);
  }

 private:
  static absl::flat_hash_map<Expr, int> AxisNumbers(const KernelSpec& spec) {
    absl::flat_hash_map<Expr, int> numbers;
    for (size_t k = 0; k < spec.axes.size(); ++k) {
      numbers[spec.axes[k].symbol] = static_cast<int>(k);
    }
    return numbers;
  }

  bool IsReduce(int axis) const { return spec_.axes[axis].kind == AxisKind::kReduce; }

  // A lone stage takes the outer axes as its own; its parallel axes merge where memory allows.
  absl::Status LayOutLoops() {
    for (const SpecStage& stage : spec_.stages) {
      stage_axes_.emplace_back(stage.axes.begin(), stage.axes.end());
    }
    program_.outer.assign(spec_.outer.begin(), spec_.outer.end());
    if (spec_.stages.size() != 1 || !spec_.locals.empty()) return absl::OkStatus();
    std::vector<int16_t>& axes = stage_axes_[0];
    axes.insert(axes.begin(), program_.outer.begin(), program_.outer.end());
    program_.outer.clear();
    if (!ReduceAxes(spec_, spec_.stages[0]).empty()) return absl::OkStatus();
    axes.erase(
        std::remove_if(axes.begin(), axes.end(),
                       [&](int axis) { return axis != 0 && spec_.axes[axis].extent == Expr(1); }),
        axes.end());
    return MergeAxes(axes);
  }

  absl::Status MergeAxes(std::vector<int16_t>& axes) {
    std::vector<AffineForm> forms;
    for (const LoopOp& op : spec_.stages[0].body.ops) {
      if (op.kind == OpKind::kLoad || op.kind == OpKind::kStore || op.kind == OpKind::kIndexExpr) {
        forms.push_back(splitter_.Split(op.index));
      }
      if (op.mode == StoreMode::kAtomicAdd) return absl::OkStatus();
    }
    for (size_t k = 0; k + 1 < axes.size();) {
      if (!CanMerge(forms, axes[k], axes[k + 1])) {
        ++k;
        continue;
      }
      program_.merges.push_back({axes[k], axes[k + 1], program_.extents[axes[k + 1]]});
      merged_[axes[k]] = true;
      axes.erase(axes.begin() + static_cast<int64_t>(k));
    }
    return absl::OkStatus();
  }

  // Whether outer * extent(inner) + inner is all that any index needs of the two.
  bool CanMerge(const std::vector<AffineForm>& forms, int outer, int inner) const {
    if (inner == 0) return false;  // the partitioned axis
    const auto coefficient = [](const AffineForm& form, int axis) {
      auto it = form.coefficients.find(axis);
      return it == form.coefficients.end() ? Expr(0) : it->second;
    };
    for (const AffineForm& form : forms) {
      if (coefficient(form, outer) != coefficient(form, inner) * spec_.axes[inner].extent) {
        return false;
      }
      // A merged outer axis is folded into its inner one: both must stay out of the rest.
      for (const Expr& term : form.rest) {
        const std::vector<Expr> symbols = symbolic::FreeSymbols(term);
        for (int axis : {outer, inner}) {
          if (std::count(symbols.begin(), symbols.end(), spec_.axes[axis].symbol) != 0) {
            return false;
          }
        }
      }
    }
    return true;
  }

  StageShape FlatShape(const std::vector<int16_t>& axes) const {
    StageShape shape;
    for (int16_t axis : axes) (IsReduce(axis) ? shape.reduce : shape.parallel).push_back(axis);
    shape.has_reduction = !shape.reduce.empty();
    if (axes.empty()) return shape;
    shape.col_axis = axes.back();
    shape.col_reduces = IsReduce(shape.col_axis);
    (shape.col_reduces ? shape.reduce : shape.parallel).pop_back();
    return shape;
  }

  // Takes the next loop along which rows of a tile can run; false if there is none.
  static bool MakePlane(StageShape& shape) {
    if (shape.col_axis < 0) return false;
    if (shape.has_reduction && !shape.col_reduces) {
      if (shape.reduce.empty()) return false;
      shape.row_axis = shape.reduce.back();
      shape.reduce.pop_back();
      shape.row_reduces = true;
      return true;
    }
    if (shape.parallel.empty() || !shape.reduce.empty()) return false;
    shape.row_axis = shape.parallel.back();
    shape.parallel.pop_back();
    shape.post_along_rows = shape.col_reduces;
    return true;
  }

  KernelContext Context(std::vector<LocalLayout> locals, int16_t batched_axis) {
    return {spec_,        slots_, splitter_, constants_, Kernels(), std::move(locals),
            batched_axis, merged_};
  }

  // Scalars lie one after the other before a stage's own registers.
  absl::StatusOr<std::vector<LocalLayout>> LayOutLocals(int16_t batched_axis) {
    std::vector<LocalLayout> layouts;
    for (size_t l = 0; l < spec_.locals.size(); ++l) {
      LocalLayout layout;
      layout.bytes = LayoutOf(spec_.locals[l].dtype).bytes;
      layout.scalar_offset = static_cast<int32_t>(l * kScalarBytes);
      layout.in_memory = batched_axis >= 0 || !spec_.locals[l].axes.empty();
      Expr row = 1;
      for (int axis : spec_.locals[l].axes) {
        if (axis == 0) {
          layout.over_axis_0 = true;
        } else {
          row = row * spec_.axes[axis].extent;
        }
      }
      LATHE_ASSIGN_OR_RETURN(layout.row_elements, slots_.Of(row));
      layouts.push_back(layout);
    }
    return layouts;
  }

  absl::StatusOr<StageProgram> Stage(KernelContext& context, size_t s, const StageShape& shape) {
    LATHE_ASSIGN_OR_RETURN(StageProgram stage, CompileStage(context, spec_.stages[s], shape));
    stage.all_axes = stage_axes_[s];
    stage.in_line = InnerReducesInLine(spec_, spec_.stages[s]);
    FinishStage(stage, static_cast<int64_t>(spec_.locals.size()) * kScalarBytes, largest_tile_);
    return stage;
  }

  absl::Status CompileFlatAndPlanes() {
    LATHE_ASSIGN_OR_RETURN(program_.locals, LayOutLocals(-1));
    KernelContext context = Context(program_.locals, -1);
    for (size_t s = 0; s < spec_.stages.size(); ++s) {
      StageShape shape = FlatShape(stage_axes_[s]);
      LATHE_ASSIGN_OR_RETURN(StageProgram flat, Stage(context, s, shape));
      program_.flat.push_back(std::move(flat));
      StageProgram plane;
      if (MakePlane(shape)) {
        LATHE_ASSIGN_OR_RETURN(plane, Stage(context, s, shape));
      }
      program_.planes.push_back(std::move(plane));
    }
    return absl::OkStatus();
  }

  absl::Status CompileBatched() {
    if (program_.outer.empty() || spec_.stages.size() < 2) return absl::OkStatus();
    for (const auto& axes : stage_axes_) {
      if (axes.size() > 1) return absl::OkStatus();
    }
    const int16_t batch = program_.outer.back();
    LATHE_ASSIGN_OR_RETURN(program_.batched_locals, LayOutLocals(batch));
    KernelContext context = Context(program_.batched_locals, batch);
    for (size_t s = 0; s < spec_.stages.size(); ++s) {
      StageShape shape = FlatShape(stage_axes_[s]);
      shape.rows_given = true;
      (shape.col_axis < 0 ? shape.col_axis : shape.row_axis) = batch;
      shape.post_along_rows = shape.col_reduces;
      LATHE_ASSIGN_OR_RETURN(StageProgram stage, Stage(context, s, shape));
      program_.batched.push_back(std::move(stage));
      program_.batched_axes.push_back(stage_axes_[s].empty() ? -1 : stage_axes_[s][0]);
    }
    return absl::OkStatus();
  }

  void Finish() {
    slots_.MoveInto(program_);
    const std::string& bytes = constants_.bytes();
    program_.constant_bytes.resize(bytes.size() + kScalarBytes);
    const auto start = reinterpret_cast<uintptr_t>(program_.constant_bytes.data());
    char* aligned = program_.constant_bytes.data() + (-start & (kScalarBytes - 1));
    std::memcpy(aligned, bytes.data(), bytes.size());
    program_.constants = aligned;
  }

  const KernelSpec& spec_;
  const int64_t largest_tile_;
  Slots slots_;
  AffineSplitter splitter_;
  ConstantPool constants_;
  std::vector<std::vector<int16_t>> stage_axes_;
  std::vector<bool> merged_;
  KernelProgram program_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileKernel(const KernelSpec& spec, int64_t largest_tile) {
  LATHE_RETURN_IF_ERROR(VerifyKernelSpec(spec));
  if (spec.axes.size() > kMaxAxes) {
    return Unimplemented("tile tier: more than ", kMaxAxes, " axes");
  }
  return KernelCompiler(spec, largest_tile).Compile();
}

}  // namespace lathe::tile
