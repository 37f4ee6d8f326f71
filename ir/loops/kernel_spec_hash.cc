#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "ir/loops/kernel_spec.h"
#include "symbolic/expr_node.h"
#include "xxhash.h"

namespace lathe {
namespace {

uint64_t HashBytes(const void* data, size_t size) { return XXH3_64bits(data, size); }

class Hasher {
 public:
  template <typename T>
  void Add(T value) {
    const int64_t wide = static_cast<int64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void AddExpr(const Expr& e) { Add(ExprHash(e)); }
  void AddConstant(const Scalar& value, DType dtype) {
    unsigned char element[16] = {};
    StoreElement(element, dtype, 0, value);
    bytes_.append(reinterpret_cast<const char*>(element), sizeof element);
  }
  // What `symbol` is: its role and position, whatever its name.
  void Name(const Expr& symbol, int role, int64_t position) {
    const int64_t pair[] = {role, position};
    memo_[symbol] = HashBytes(pair, sizeof pair);
  }
  void ForgetComposites(const std::vector<Expr>& indirect) {
    // A later body may give the same symbol of a checked index to another operation.
    if (indirect.empty()) return;
    absl::flat_hash_map<Expr, uint64_t> kept;
    for (const auto& [e, hash] : memo_) {
      if (e.kind() == symbolic::ExprKind::kSymbol) kept[e] = hash;
    }
    memo_ = std::move(kept);
    for (const Expr& symbol : indirect) memo_.erase(symbol);
  }
  uint64_t Finish() const { return HashBytes(bytes_.data(), bytes_.size()); }

 private:
  uint64_t ExprHash(const Expr& e) {
    if (e.is_const()) {
      const int64_t pair[] = {-1, *e.AsInt()};
      return HashBytes(pair, sizeof pair);
    }
    if (auto it = memo_.find(e); it != memo_.end()) return it->second;
    std::vector<uint64_t> parts = {static_cast<uint64_t>(e.kind())};
    if (e.is_symbol()) {
      const absl::string_view name = e.symbol_name();
      parts.push_back(HashBytes(name.data(), name.size()));
    } else if (auto value = e.AsInt()) {
      parts.push_back(static_cast<uint64_t>(*value));
    } else if (auto value = e.AsFloat()) {
      uint64_t bits;
      std::memcpy(&bits, &*value, sizeof bits);
      parts.push_back(bits);
    }
    // The normal form sorts operands by name: their order must not count where it has no meaning.
    uint64_t sum = 0;
    for (const Expr& operand : e.operands()) {
      const uint64_t hash = ExprHash(operand);
      if (IsCommutative(e.kind())) {
        sum += HashBytes(&hash, sizeof hash);
      } else {
        parts.push_back(hash);
      }
    }
    parts.push_back(sum);
    return memo_[e] = HashBytes(parts.data(), parts.size() * sizeof(uint64_t));
  }

  static bool IsCommutative(symbolic::ExprKind kind) {
    using symbolic::ExprKind;
    switch (kind) {
      case ExprKind::kAdd:
      case ExprKind::kMul:
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kAnd:
      case ExprKind::kOr:
      case ExprKind::kEq:
      case ExprKind::kNe:
      case ExprKind::kBitAnd:
      case ExprKind::kBitOr:
      case ExprKind::kBitXor:
        return true;
      default:
        return false;
    }
  }

  std::string bytes_;
  absl::flat_hash_map<Expr, uint64_t> memo_;
};

void AddOp(const LoopOp& op, int64_t position, Hasher& hasher) {
  hasher.Add(op.kind);
  hasher.Add(op.dtype);
  hasher.Add(op.reduce);
  hasher.Add(op.mode);
  hasher.Add(op.operands.size());
  for (int32_t operand : op.operands) hasher.Add(operand);
  hasher.Add(op.mask);
  hasher.Add(op.buffer);
  hasher.Add(op.error);
  hasher.AddExpr(op.index);
  if (op.kind == OpKind::kConstant) hasher.AddConstant(op.constant, op.dtype);
  if (op.kind == OpKind::kIndirect) hasher.Name(op.symbol, 3, position);
}

}  // namespace

uint64_t StructuralHash(const KernelSpec& spec) {
  Hasher hasher;
  hasher.Add(spec.symbols.size());
  for (size_t k = 0; k < spec.symbols.size(); ++k) hasher.Name(spec.symbols[k], 1, k);
  hasher.Add(spec.buffers.size());
  for (const SpecBuffer& buffer : spec.buffers) {
    hasher.Add(buffer.dtype);
    hasher.Add(buffer.role);
    hasher.Add(buffer.alignment_bytes);
  }
  hasher.Add(spec.axes.size());
  for (size_t k = 0; k < spec.axes.size(); ++k) {
    hasher.Name(spec.axes[k].symbol, 2, k);
    hasher.Add(spec.axes[k].kind);
    hasher.AddExpr(spec.axes[k].extent);
  }
  hasher.Add(spec.locals.size());
  for (const SpecLocal& local : spec.locals) {
    hasher.Add(local.dtype);
    hasher.Add(local.axes.size());
    for (int axis : local.axes) hasher.Add(axis);
  }
  hasher.Add(spec.outer.size());
  for (int axis : spec.outer) hasher.Add(axis);
  hasher.Add(spec.grain);
  hasher.Add(spec.errors.size());
  hasher.Add(spec.stages.size());
  for (const SpecStage& stage : spec.stages) {
    hasher.Add(stage.axes.size());
    for (int axis : stage.axes) hasher.Add(axis);
    hasher.Add(stage.body.ops.size());
    std::vector<Expr> indirect;
    for (size_t i = 0; i < stage.body.ops.size(); ++i) {
      AddOp(stage.body.ops[i], static_cast<int64_t>(i), hasher);
      if (stage.body.ops[i].kind == OpKind::kIndirect) {
        indirect.push_back(stage.body.ops[i].symbol);
      }
    }
    hasher.ForgetComposites(indirect);
  }
  return hasher.Finish();
}

}  // namespace lathe
