#include "scheduler/kernels/finish_spec.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/loops/affine_index.h"
#include "ir/loops/lift_offsets.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

constexpr int64_t kElementsPerTask = 32768;  // about 10 us of work: far above a hand-off
constexpr int64_t kRowsAcross = 64;          // several lines of every dtype

// Calls `visit` on every index expression of the spec's bodies.
void ForEachIndex(KernelSpec& spec, const std::function<void(Expr&)>& visit) {
  for (SpecStage& stage : spec.stages) {
    for (LoopOp& op : stage.body.ops) {
      switch (op.kind) {
        case OpKind::kLoad:
        case OpKind::kStore:
        case OpKind::kIndexExpr:
        case OpKind::kIndirect:
          visit(op.index);
          break;
        default:
          break;
      }
    }
  }
}

Expr With(const Expr& e, const Expr& symbol, const Expr& value, ExprContext& context) {
  return symbolic::Substitute(e, {{symbol, value}}, context);
}

// Every index is affine in both, and steps along `a` by |b| steps of `b`.
bool CanCollapse(KernelSpec& spec, const SpecAxis& a, const SpecAxis& b) {
  bool fine = true;
  ForEachIndex(spec, [&](Expr& index) {
    if (!fine || (!UsesSymbol(index, a.symbol) && !UsesSymbol(index, b.symbol))) return;
    const auto ca = AffineCoefficient(index, a.symbol);
    const auto cb = AffineCoefficient(index, b.symbol);
    fine = ca.has_value() && cb.has_value() && *ca == *cb * b.extent;
  });
  return fine;
}

// Removes axis `victim` everywhere; indexes above it move down.
void DropAxis(KernelSpec& spec, int victim) {
  const auto fix = [&](std::vector<int>& axes) {
    axes.erase(std::remove(axes.begin(), axes.end(), victim), axes.end());
    for (int& axis : axes) axis -= axis > victim;
  };
  fix(spec.outer);
  for (SpecStage& stage : spec.stages) fix(stage.axes);
  for (SpecLocal& local : spec.locals) fix(local.axes);
  spec.axes.erase(spec.axes.begin() + victim);
}

// a and b stand side by side wherever either stands.
bool AlwaysTogether(const KernelSpec& spec, int a, int b) {
  const auto together = [&](const std::vector<int>& axes) {
    const auto ia = std::find(axes.begin(), axes.end(), a);
    const auto ib = std::find(axes.begin(), axes.end(), b);
    if (ia == axes.end() && ib == axes.end()) return true;
    return ia != axes.end() && ib != axes.end() && ib == ia + 1;
  };
  bool fine = together(spec.outer);
  for (const SpecStage& stage : spec.stages) fine = fine && together(stage.axes);
  for (const SpecLocal& local : spec.locals) fine = fine && together(local.axes);
  return fine;
}

// A transposed read takes neighbours from the next rows: a task with few rows would fetch whole
// lines for parts of them.
bool ReadsAcrossRows(const KernelSpec& spec) {
  const Expr& row = spec.axes[0].symbol;
  for (const SpecStage& stage : spec.stages) {
    if (stage.axes.empty() || stage.axes.back() == 0) continue;
    const Expr& column = spec.axes[stage.axes.back()].symbol;
    for (const LoopOp& op : stage.body.ops) {
      if (op.kind != OpKind::kLoad || AffineCoefficient(op.index, row) != Expr(1)) continue;
      const std::optional<Expr> step = AffineCoefficient(op.index, column);
      if (step.has_value() && *step != Expr(0) && *step != Expr(1)) return true;
    }
  }
  return false;
}

int64_t Estimate(const Expr& e, const ShapeEnv& shapes) {
  absl::StatusOr<int64_t> value =
      symbolic::Evaluate(e, [&](const Expr& symbol) -> std::optional<int64_t> {
        if (auto hint = shapes.hint(symbol)) return *hint;
        return 64;
      });
  return value.ok() ? std::max<int64_t>(*value, 1) : 1;
}

}  // namespace

void CollapseAxes(KernelSpec& spec, ExprContext& context, bool keep_first) {
  for (int b = static_cast<int>(spec.axes.size()) - 1; b > 0; --b) {
    const int a = b - 1;
    if (keep_first && a == 0) continue;
    if (spec.axes[a].kind != spec.axes[b].kind || !AlwaysTogether(spec, a, b) ||
        !CanCollapse(spec, spec.axes[a], spec.axes[b])) {
      continue;
    }
    const SpecAxis removed = spec.axes[a];
    ForEachIndex(spec, [&](Expr& index) { index = With(index, removed.symbol, 0, context); });
    spec.axes[b].extent = removed.extent * spec.axes[b].extent;
    DropAxis(spec, a);
  }
}

void PreferContiguousVectorAxis(KernelSpec& spec) {
  if (spec.outer.empty()) return;
  bool reduces = false;
  int along_row = 0, along_column = 0;
  const int column = spec.outer.back();
  for (const SpecStage& stage : spec.stages) {
    if (stage.axes.empty()) continue;
    const Expr& row_symbol = spec.axes[stage.axes.back()].symbol;
    reduces = reduces || spec.axes[stage.axes.back()].kind == AxisKind::kReduce;
    for (const LoopOp& op : stage.body.ops) {
      if (op.kind != OpKind::kLoad) continue;
      const auto row = AffineCoefficient(op.index, row_symbol);
      const auto col = AffineCoefficient(op.index, spec.axes[column].symbol);
      along_row += row == Expr(1);
      along_column += col == Expr(1) && row != Expr(0) && row != Expr(1);
    }
  }
  if (!reduces || along_column == 0 || along_row > 0) return;
  spec.outer.pop_back();
  for (SpecStage& stage : spec.stages) stage.axes.push_back(column);
  for (SpecLocal& local : spec.locals) local.axes.push_back(column);
  if (!spec.outer.empty()) return;
  // The column axis is now the partitioned one: axis 0.
  const int count = static_cast<int>(spec.axes.size());
  std::vector<int> moved(count);
  for (int k = 0; k < count; ++k) moved[k] = k < column ? k + 1 : k == column ? 0 : k;
  std::rotate(spec.axes.begin(), spec.axes.begin() + column, spec.axes.begin() + column + 1);
  for (SpecStage& stage : spec.stages) {
    for (int& axis : stage.axes) axis = moved[axis];
  }
  for (SpecLocal& local : spec.locals) {
    for (int& axis : local.axes) axis = moved[axis];
  }
}

void FinishSpec(KernelSpec& spec, const ShapeEnv& shapes) {
  absl::flat_hash_set<Expr> axes, seen;
  for (const SpecAxis& axis : spec.axes) axes.insert(axis.symbol);
  for (const SpecStage& stage : spec.stages) {
    for (const LoopOp& op : stage.body.ops) {
      if (op.kind == OpKind::kIndirect) axes.insert(op.symbol);
    }
  }
  const auto collect = [&](const Expr& e) {
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (!axes.contains(symbol) && seen.insert(symbol).second) spec.symbols.push_back(symbol);
    }
  };
  for (const SpecAxis& axis : spec.axes) collect(axis.extent);
  ForEachIndex(spec, [&](Expr& index) { collect(index); });
  int64_t per_index = 1;
  for (size_t k = 1; k < spec.axes.size(); ++k) {
    per_index *= std::min<int64_t>(Estimate(spec.axes[k].extent, shapes), 1 << 20);
    per_index = std::min<int64_t>(per_index, 1 << 30);
  }
  if (spec.grain == 1) {
    spec.grain = std::max<int64_t>(kElementsPerTask / per_index, 1);
    if (!spec.axes.empty() && ReadsAcrossRows(spec)) {
      spec.grain = std::max(spec.grain, kRowsAcross);
    }
  }
  spec.name = NameOfSpec(spec);
}

}  // namespace lathe
