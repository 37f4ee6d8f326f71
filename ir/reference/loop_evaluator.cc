#include "ir/reference/loop_evaluator.h"

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/recorder.h"
#include "ir/reference/scalar_handler.h"

namespace lathe {
namespace {

Dims Numbers(const std::vector<Expr>& exprs) {
  Dims dims;
  for (const Expr& e : exprs) {
    LATHE_CHECK(e.AsInt().has_value()) << "a symbolic size: " << symbolic::ToString(e);
    dims.push_back(*e.AsInt());
  }
  return dims;
}

// Reads the host tensors of a call.
class HostReader final : public TensorReader {
 public:
  HostReader(const HostEnvironment& environment, absl::Status& status)
      : environment_(environment), status_(status) {}

  OpsValue Load(OpsHandler& ops, Value* tensor, Index index) override {
    const Tensor& t = environment_.values.at(tensor).tensor();
    DType dtype = LoadedDType(t.dtype());
    if (static_cast<ScalarHandler&>(ops).is_masked_off()) return ops.Constant(0, dtype);
    std::vector<int64_t> place;
    for (size_t d = 0; d < index.size(); ++d) {
      std::optional<int64_t> i = index[d].AsInt();
      bool fits = i && index.size() == t.sizes().size() && *i >= 0 && *i < t.sizes()[d];
      if (!fits) {
        if (status_.ok()) {
          status_ = Internal("%", tensor->name, " is read outside: dimension ", d, ", index ",
                             symbolic::ToString(index[d]));
        }
        return ops.Constant(0, dtype);
      }
      place.push_back(*i);
    }
    return ops.Constant(t.At(place), dtype);
  }

 private:
  const HostEnvironment& environment_;
  absl::Status& status_;
};

// All indexes below `sizes`, row-major.
void ForEachIndex(const Dims& sizes, const std::function<void(const std::vector<Expr>&)>& visit) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<int64_t> at(sizes.size(), 0);
  for (int64_t k = 0; k < count; ++k) {
    visit({at.begin(), at.end()});
    for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

class LoweringRun {
 public:
  explicit LoweringRun(const HostEnvironment& environment)
      : environment_(environment), reader_(environment, status_) {}

  absl::StatusOr<Tensor> Run(const Lowered& lowered, const TensorType& type) {
    result_ = Tensor::EmptyStrided(type.dtype, Numbers(type.sizes), Numbers(type.strides));
    std::visit([this](const auto& loops) { RunLoops(loops); }, lowered);
    if (!ops_.status().ok()) return ops_.status();
    if (!status_.ok()) return status_;
    return result_;
  }

 private:
  void Store(int64_t k, OpsValue value) {
    result_.SetLinear(k, Convert(ops_.value(value), result_.dtype()));
    ops_.Reset();
  }

  void RunLoops(const PointwiseLoops& loops) {
    int64_t k = 0;
    ForEachIndex(result_.sizes(), [&](const std::vector<Expr>& index) {
      Store(k++, loops.body(ops_, reader_, index));
    });
  }

  void RunLoops(const ViewLoops& loops) {
    int64_t k = 0;
    ForEachIndex(result_.sizes(), [&](const std::vector<Expr>& index) {
      Store(k++, reader_.Load(ops_, loops.input, loops.map(index)));
    });
  }

  void RunLoops(const ReductionLoops& loops) {
    int64_t k = 0;
    ForEachIndex(result_.sizes(), [&](const std::vector<Expr>& index) {
      std::vector<Expr> kept = loops.kept_of_result ? loops.kept_of_result(index) : index;
      OpsValue total = Fold(loops, kept);
      Store(k++, loops.finish ? loops.finish(ops_, reader_, total, kept) : total);
    });
  }

  OpsValue Fold(const ReductionLoops& loops, const std::vector<Expr>& kept) {
    std::optional<Scalar> best;
    Scalar place = 0;
    DType dtype = DType::kF32;
    ForEachIndex(Numbers(loops.reduced_sizes), [&](const std::vector<Expr>& reduced) {
      OpsValue value = loops.body(ops_, reader_, kept, reduced);
      dtype = ops_.dtype(value);
      Scalar next = ops_.value(value);
      bool takes = !best || Takes(loops.kind, *best, next, dtype);
      if (takes && loops.position) place = *loops.position(kept, reduced).AsInt();
      best = best ? Combine(loops.kind, *best, next, dtype) : next;
      ops_.Reset();
    });
    if (loops.kind == ReduceKind::kArgMax || loops.kind == ReduceKind::kArgMin) {
      return ops_.Constant(place, DType::kI64);
    }
    if (!best) {
      // The identity; its dtype is what the body gives, which never ran.
      best = loops.kind == ReduceKind::kProd || loops.kind == ReduceKind::kAll ? 1 : 0;
      bool is_logic = loops.kind == ReduceKind::kAny || loops.kind == ReduceKind::kAll;
      dtype = is_logic ? DType::kBool : LoadedDType(result_.dtype());
    }
    return ops_.Constant(*best, dtype);
  }

  // Whether `next` becomes the extreme: beyond the best so far, or the first NaN.
  bool Takes(ReduceKind kind, const Scalar& best, const Scalar& next, DType dtype) {
    bool is_min = kind == ReduceKind::kArgMin;
    if (IsFloat(dtype)) {
      double a = best.ToDouble(), b = next.ToDouble();
      if (a != a) return false;
      return b != b || (is_min ? b < a : b > a);
    }
    return is_min ? next < best : best < next;
  }

  Scalar Combine(ReduceKind kind, const Scalar& best, const Scalar& next, DType dtype) {
    OpKind op = OpKind::kAdd;
    switch (kind) {
      case ReduceKind::kSum:
        op = OpKind::kAdd;
        break;
      case ReduceKind::kProd:
        op = OpKind::kMul;
        break;
      case ReduceKind::kMax:
        op = OpKind::kMaximum;
        break;
      case ReduceKind::kMin:
        op = OpKind::kMinimum;
        break;
      case ReduceKind::kAny:
        op = OpKind::kOr;
        break;
      case ReduceKind::kAll:
        op = OpKind::kAnd;
        break;
      case ReduceKind::kArgMax:
      case ReduceKind::kArgMin:
        return Takes(kind, best, next, dtype) ? next : best;
    }
    absl::StatusOr<Scalar> result = ScalarApply(op, dtype, {best, next});
    if (!result.ok() && status_.ok()) status_ = result.status();
    return result.ok() ? *result : best;
  }

  void RunLoops(const ScatterLoops& loops) {
    result_.CopyFrom(environment_.values.at(loops.base).tensor());
    DType loaded = LoadedDType(result_.dtype());
    ForEachIndex(Numbers(loops.sizes), [&](const std::vector<Expr>& index) {
      std::vector<Expr> where = loops.where(ops_, reader_, index);
      Scalar value = Convert(ops_.value(loops.body(ops_, reader_, index)), result_.dtype());
      ops_.Reset();
      int64_t k = 0;
      for (size_t d = 0; d < where.size(); ++d) {
        std::optional<int64_t> i = where[d].AsInt();
        if (!i || *i < 0 || *i >= result_.sizes()[d]) {
          if (status_.ok()) status_ = Internal("a scatter writes outside");
          return;
        }
        k = k * result_.sizes()[d] + *i;
      }
      if (loops.mode == StoreMode::kAtomicAdd) {
        absl::StatusOr<Scalar> sum =
            ScalarApply(OpKind::kAdd, loaded, {result_.AtLinear(k), value});
        if (!sum.ok()) {
          if (status_.ok()) status_ = sum.status();
          return;
        }
        value = *sum;
      }
      result_.SetLinear(k, value);
    });
  }

  void RunLoops(const ExternLoops& loops) {
    if (status_.ok()) status_ = Unimplemented("calls the extern ", loops.id);
  }

  const HostEnvironment& environment_;
  absl::Status status_;
  ScalarHandler ops_;
  HostReader reader_;
  Tensor result_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateLowering(const Node& node,
                                                     const HostEnvironment& environment) {
  const OpRow& row = *node.row;
  if (!row.lower) return Unimplemented(row.parsed.name, ": has no lowering");
  ShapeEnv shapes(node.graph->context());
  OpArgs args(row.parsed, node.arguments);
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, row.infer({args, shapes, {}}));
  std::vector<Value> storage(types.size());
  std::vector<Value*> results;
  for (size_t k = 0; k < types.size(); ++k) {
    if (!types[k].is_tensor()) return Unimplemented(row.parsed.name, ": gives no tensor");
    for (const Expr& e : types[k].tensor().sizes) {
      if (!e.is_const()) return Unimplemented(row.parsed.name, ": sizes depend on data");
    }
    storage[k].type = types[k];
    results.push_back(&storage[k]);
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<Lowered> lowered, row.lower({args, results, shapes}));
  bool has_extern = !lowered.empty() && std::holds_alternative<ExternLoops>(lowered[0]);
  if (has_extern) return Unimplemented(row.parsed.name, ": calls an extern");
  if (lowered.size() != types.size()) {
    return Internal(row.parsed.name, ": lowers ", lowered.size(), " results of ", types.size());
  }
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < lowered.size(); ++k) {
    LoweringRun run(environment);
    LATHE_ASSIGN_OR_RETURN(Tensor tensor, run.Run(lowered[k], types[k].tensor()));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace lathe
