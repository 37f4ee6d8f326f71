#include "absl/container/flat_hash_map.h"
#include "dtypes/base/check.h"
#include "ir/loops/recorder.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"

namespace lathe {
namespace {

class Replayer {
 public:
  Replayer(const LoopBody& body, OpsHandler& ops,
           const std::function<Expr(const Expr&)>& rewrite_index,
           absl::Span<const std::string> errors, const ReplayHooks& hooks)
      : body_(body), ops_(ops), rewrite_index_(rewrite_index), errors_(errors), hooks_(hooks) {}

  std::vector<OpsValue> Run() {
    values_.reserve(body_.ops.size());
    for (const LoopOp& op : body_.ops) {
      if (op.mask != kNoValue) ops_.PushMask(values_[op.mask]);
      values_.push_back(One(op));
      if (op.mask != kNoValue) ops_.PopMask();
    }
    return std::move(values_);
  }

 private:
  // Symbols of this body's indirect indices first: the replacements of axes may hold symbols of
  // the same names that belong to the handler's own body.
  Expr Rewrite(const Expr& index) const {
    if (index.is_const()) return index;
    if (indirect_.empty()) return rewrite_index_ ? rewrite_index_(index) : index;
    Expr renamed = symbolic::Substitute(index, indirect_, *index.node()->context);
    return rewrite_index_ ? rewrite_index_(renamed) : renamed;
  }

  OpsValue operand(const LoopOp& op, size_t k) const {
    return k < op.operands.size() ? values_[op.operands[k]] : OpsValue{};
  }

  OpsValue One(const LoopOp& op) {
    switch (op.kind) {
      case OpKind::kConstant:
        return ops_.Constant(op.constant, op.dtype);
      case OpKind::kIndexExpr:
        return ops_.IndexExpr(Rewrite(op.index), op.dtype);
      case OpKind::kLoad: {
        const Expr index = Rewrite(op.index);
        return hooks_.load ? hooks_.load(op, index) : ops_.Load(op.buffer, index, op.dtype);
      }
      case OpKind::kStore:
        return Store(op);
      case OpKind::kLoadLocal:
        return hooks_.load_local ? hooks_.load_local(op) : ops_.LoadLocal(op.buffer, op.dtype);
      case OpKind::kStoreLocal:
        hooks_.store_local ? hooks_.store_local(op, operand(op, 0))
                           : ops_.StoreLocal(op.buffer, operand(op, 0));
        return {};
      case OpKind::kIndirect:
        return Indirect(op);
      case OpKind::kCheck:
        LATHE_CHECK(op.error >= 0 && op.error < static_cast<int32_t>(errors_.size()))
            << "check without a message";
        ops_.Check(operand(op, 0), errors_[op.error]);
        return {};
      case OpKind::kCast:
        return ops_.Cast(operand(op, 0), op.dtype);
      case OpKind::kBitCast:
        return ops_.BitCast(operand(op, 0), op.dtype);
      case OpKind::kReduce:
        return hooks_.reduce ? hooks_.reduce(op, operand(op, 0), operand(op, 1))
                             : ops_.Reduce(op.reduce, operand(op, 0), operand(op, 1));
      default:
        return Arithmetic(op);
    }
  }

  OpsValue Store(const LoopOp& op) {
    const Expr index = Rewrite(op.index);
    if (hooks_.store) {
      hooks_.store(op, index, operand(op, 0));
    } else {
      ops_.Store(op.buffer, index, operand(op, 0), op.mode);
    }
    return {};
  }

  OpsValue Indirect(const LoopOp& op) {
    const Expr symbol = ops_.Indirect(operand(op, 0), Rewrite(op.index));
    indirect_[op.symbol] = symbol;
    return ops_.IndexExpr(symbol, DType::kI64);
  }

  OpsValue Arithmetic(const LoopOp& op) {
    std::vector<OpsValue> operands;
    operands.reserve(op.operands.size());
    for (int32_t id : op.operands) operands.push_back(values_[id]);
    return ops_.Apply(op.kind, operands);
  }

  const LoopBody& body_;
  OpsHandler& ops_;
  const std::function<Expr(const Expr&)>& rewrite_index_;
  absl::Span<const std::string> errors_;
  const ReplayHooks& hooks_;
  std::vector<OpsValue> values_;
  absl::flat_hash_map<Expr, Expr> indirect_;
};

}  // namespace

std::vector<OpsValue> Replay(const LoopBody& body, OpsHandler& ops,
                             const std::function<Expr(const Expr&)>& rewrite_index,
                             absl::Span<const std::string> errors, const ReplayHooks& hooks) {
  return Replayer(body, ops, rewrite_index, errors, hooks).Run();
}

}  // namespace lathe
