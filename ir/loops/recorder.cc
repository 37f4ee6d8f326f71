#include "ir/loops/recorder.h"

#include <algorithm>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// A recorded operation and the number of stores to its buffer before it: a load after a store is
// another load.
struct Entry {
  LoopOp op;
  int32_t epoch = 0;
};

struct EntryHash {
  const std::deque<Entry>* entries;
  size_t operator()(int32_t id) const {
    const Entry& e = (*entries)[id];
    const LoopOp& op = e.op;
    return absl::HashOf(op.kind, op.dtype, op.reduce, op.operands, op.mask, op.buffer, op.index,
                        op.constant, op.error, e.epoch);
  }
};

struct EntryEqual {
  const std::deque<Entry>* entries;
  bool operator()(int32_t a, int32_t b) const {
    return (*entries)[a].epoch == (*entries)[b].epoch && Same((*entries)[a].op, (*entries)[b].op);
  }
  static bool Same(const LoopOp& a, const LoopOp& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.reduce == b.reduce &&
           a.operands == b.operands && a.mask == b.mask && a.buffer == b.buffer &&
           a.index == b.index && a.error == b.error && a.constant.Identical(b.constant);
  }
};

}  // namespace

struct Recorder::Impl {
  Impl(ExprContext& context, std::vector<Expr> axes, std::vector<Expr> extents)
      : context(context), axes(std::move(axes)), extents(std::move(extents)) {}

  ExprContext& context;
  std::vector<Expr> axes, extents;
  std::deque<Entry> entries;
  absl::flat_hash_set<int32_t, EntryHash, EntryEqual> interned{0, EntryHash{&entries},
                                                               EntryEqual{&entries}};
  absl::flat_hash_map<BufferId, int32_t> buffer_epochs, local_epochs;
  std::vector<int32_t> masks;  // each the conjunction of all pushed before it; kNoValue: true
  std::vector<std::string> errors;
  absl::flat_hash_map<std::string, int32_t> error_rows;
  absl::Status status;
  int indirect_count = 0;

  const LoopOp& op(OpsValue v) const { return entries[v.id].op; }
  int32_t mask() const { return masks.empty() ? kNoValue : masks.back(); }

  int32_t Append(LoopOp op, int32_t epoch = 0) {
    entries.push_back({std::move(op), epoch});
    return static_cast<int32_t>(entries.size()) - 1;
  }

  OpsValue Intern(LoopOp op, int32_t epoch = 0) {
    const int32_t id = Append(std::move(op), epoch);
    auto [found, inserted] = interned.insert(id);
    if (!inserted) entries.pop_back();
    return {*found};
  }

  OpsValue MakeConstant(const Scalar& value, DType dtype) {
    LoopOp op;
    op.kind = OpKind::kConstant;
    op.dtype = dtype;
    op.constant = Convert(value, dtype);
    return Intern(std::move(op));
  }

  void Fail(absl::Status error) {
    if (status.ok()) status = std::move(error);
  }

  bool Expect(bool condition, OpKind kind, absl::string_view what) {
    if (!condition) Fail(Internal("loop body: ", OpKindName(kind), ": ", what));
    return condition;
  }

  static bool IsPlainZero(const Scalar& number) {
    return number.Identical(Scalar(false)) || number.Identical(Scalar(0)) ||
           number.Identical(Scalar(0.0));
  }
  bool IsConstant(OpsValue v) const { return op(v).kind == OpKind::kConstant; }
  // Zero wherever `mask` is false, as masked loads are.
  bool IsZeroUnless(OpsValue mask, OpsValue v) const {
    while (op(v).kind == OpKind::kCast) v = {op(v).operands[0]};
    if (op(v).kind != OpKind::kLoad || op(v).mask == kNoValue) return false;
    const OpsValue of_load = {op(v).mask};
    if (of_load.id == mask.id) return true;
    const std::vector<int32_t>& both = op(of_load).operands;
    return op(of_load).kind == OpKind::kAnd &&
           std::find(both.begin(), both.end(), mask.id) != both.end();
  }
  bool IsTrue(OpsValue v) const { return IsConstant(v) && op(v).constant.ToBool(); }

  bool CheckOperands(OpKind kind, absl::Span<const OpsValue> operands);
  std::optional<OpsValue> Simplify(OpKind kind, absl::Span<const OpsValue> operands, DType dtype);
};

bool Recorder::Impl::CheckOperands(OpKind kind, absl::Span<const OpsValue> operands) {
  if (!Expect(OpKindArity(kind) == static_cast<int>(operands.size()), kind, "wrong operand count"))
    return false;
  for (OpsValue v : operands) {
    if (!Expect(v.is_valid(), kind, "an operand that is no value")) return false;
  }
  const bool is_where = kind == OpKind::kWhere;
  if (is_where && !Expect(op(operands[0]).dtype == DType::kBool, kind, "condition is not bool"))
    return false;
  const DType dtype = op(operands[is_where ? 1 : 0]).dtype;
  for (OpsValue v : operands.subspan(is_where ? 1 : 0)) {
    if (op(v).dtype != dtype) {
      Fail(Internal("loop body: ", OpKindName(kind), " of ", absl::string_view(Name(dtype)),
                    " and ", absl::string_view(Name(op(v).dtype))));
      return false;
    }
  }
  if (IsComputeDType(dtype)) return true;
  Fail(Internal("loop body: ", OpKindName(kind), " is not computed in ",
                absl::string_view(Name(dtype)), ": cast first"));
  return false;
}

// Constant folding and choices without a choice.
std::optional<OpsValue> Recorder::Impl::Simplify(OpKind kind, absl::Span<const OpsValue> operands,
                                                 DType dtype) {
  if (kind == OpKind::kWhere) {
    if (operands[1].id == operands[2].id) return operands[1];
    if (IsConstant(operands[0])) return operands[op(operands[0]).constant.ToBool() ? 1 : 2];
    if (IsConstant(operands[2]) && IsPlainZero(op(operands[2]).constant) &&
        IsZeroUnless(operands[0], operands[1])) {
      return operands[1];
    }
  }
  if (dtype == DType::kBool && (kind == OpKind::kAnd || kind == OpKind::kOr)) {
    const bool neutral = kind == OpKind::kAnd;
    for (int i : {0, 1}) {
      if (!IsConstant(operands[i])) continue;
      return op(operands[i]).constant.ToBool() == neutral ? operands[1 - i] : operands[i];
    }
    if (operands[0].id == operands[1].id) return operands[0];
  }
  std::vector<Scalar> constants;
  for (OpsValue v : operands) {
    if (!IsConstant(v)) return std::nullopt;
    constants.push_back(op(v).constant);
  }
  absl::StatusOr<Scalar> folded = ScalarApply(kind, dtype, constants);
  if (!folded.ok()) return std::nullopt;  // a division by zero fails when it runs
  return MakeConstant(*folded, ResultDType(kind, dtype));
}

Recorder::Recorder(ExprContext& context, std::vector<Expr> axes, std::vector<Expr> extents)
    : impl_(std::make_unique<Impl>(context, std::move(axes), std::move(extents))) {}

Recorder::~Recorder() = default;

DType Recorder::dtype(OpsValue value) const {
  LATHE_CHECK(value.is_valid()) << "dtype of no value";
  return impl_->op(value).dtype;
}

OpsValue Recorder::Constant(const Scalar& value, DType dtype) {
  return impl_->MakeConstant(value, dtype);
}

OpsValue Recorder::IndexExpr(const Expr& index, DType dtype) {
  if (std::optional<int64_t> value = index.AsInt()) return Constant(Scalar(*value), dtype);
  LoopOp op;
  op.kind = OpKind::kIndexExpr;
  op.dtype = dtype;
  op.index = index;
  return impl_->Intern(std::move(op));
}

OpsValue Recorder::Load(BufferId buffer, const Expr& index, DType dtype) {
  LoopOp op;
  op.kind = OpKind::kLoad;
  op.dtype = dtype;
  op.buffer = buffer;
  op.index = index;
  op.mask = impl_->mask();
  return impl_->Intern(std::move(op), impl_->buffer_epochs[buffer]);
}

void Recorder::Store(BufferId buffer, const Expr& index, OpsValue value, StoreMode mode) {
  if (!impl_->Expect(value.is_valid(), OpKind::kStore, "no value")) return;
  LoopOp op;
  op.kind = OpKind::kStore;
  op.dtype = dtype(value);
  op.mode = mode;
  op.operands = {value.id};
  op.buffer = buffer;
  op.index = index;
  op.mask = impl_->mask();
  impl_->Append(std::move(op));
  ++impl_->buffer_epochs[buffer];
}

OpsValue Recorder::LoadLocal(BufferId local, DType dtype) {
  LoopOp op;
  op.kind = OpKind::kLoadLocal;
  op.dtype = dtype;
  op.buffer = local;
  return impl_->Intern(std::move(op), impl_->local_epochs[local]);
}

void Recorder::StoreLocal(BufferId local, OpsValue value) {
  if (!impl_->Expect(value.is_valid(), OpKind::kStoreLocal, "no value")) return;
  LoopOp op;
  op.kind = OpKind::kStoreLocal;
  op.dtype = dtype(value);
  op.operands = {value.id};
  op.buffer = local;
  impl_->Append(std::move(op));
  ++impl_->local_epochs[local];
}

Expr Recorder::Indirect(OpsValue value, const Expr& size) {
  if (!impl_->Expect(value.is_valid() && IsIntegral(dtype(value)), OpKind::kIndirect,
                     "the index is not an integer")) {
    return Expr(0);
  }
  if (dtype(value) != DType::kI64) value = Cast(value, DType::kI64);
  LoopOp op;
  op.kind = OpKind::kIndirect;
  op.dtype = DType::kI64;
  op.operands = {value.id};
  op.index = size;
  op.mask = impl_->mask();
  const OpsValue id = impl_->Intern(std::move(op));
  LoopOp& recorded = impl_->entries[id.id].op;
  if (!recorded.symbol.is_symbol()) {
    recorded.symbol = impl_->context.Symbol(absl::StrCat("t", impl_->indirect_count++),
                                            symbolic::SymbolKind::kIndex);
  }
  return recorded.symbol;
}

void Recorder::Check(OpsValue condition, absl::string_view message) {
  if (!impl_->Expect(condition.is_valid() && dtype(condition) == DType::kBool, OpKind::kCheck,
                     "the condition is not bool") ||
      impl_->IsTrue(condition)) {
    return;
  }
  auto [row, is_new] =
      impl_->error_rows.try_emplace(message, static_cast<int32_t>(impl_->errors.size()));
  if (is_new) impl_->errors.emplace_back(message);
  LoopOp op;
  op.kind = OpKind::kCheck;
  op.dtype = DType::kBool;
  op.operands = {condition.id};
  op.mask = impl_->mask();
  op.error = row->second;
  impl_->Intern(std::move(op));
}

OpsValue Recorder::Cast(OpsValue value, DType target) {
  if (!impl_->Expect(value.is_valid(), OpKind::kCast, "no value")) return Constant(0, target);
  if (dtype(value) == target) return value;
  if (impl_->IsConstant(value)) return Constant(impl_->op(value).constant, target);
  LoopOp op;
  op.kind = OpKind::kCast;
  op.dtype = target;
  op.operands = {value.id};
  return impl_->Intern(std::move(op));
}

OpsValue Recorder::BitCast(OpsValue value, DType target) {
  if (!impl_->Expect(value.is_valid() && BitWidth(dtype(value)) == BitWidth(target),
                     OpKind::kBitCast, "the widths differ")) {
    return Constant(0, target);
  }
  if (dtype(value) == target) return value;
  LoopOp op;
  op.kind = OpKind::kBitCast;
  op.dtype = target;
  op.operands = {value.id};
  return impl_->Intern(std::move(op));
}

OpsValue Recorder::Reduce(ReduceKind kind, OpsValue value, OpsValue index) {
  const bool has_index = kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
  if (!impl_->Expect(value.is_valid() && index.is_valid() == has_index, OpKind::kReduce,
                     "wrong operands") ||
      !impl_->Expect(IsComputeDType(dtype(value)), OpKind::kReduce, "not a compute dtype") ||
      !impl_->Expect(!has_index || dtype(index) == DType::kI64, OpKind::kReduce,
                     "the position is not i64")) {
    return Constant(0, DType::kI64);
  }
  LoopOp op;
  op.kind = OpKind::kReduce;
  op.dtype = has_index ? DType::kI64 : dtype(value);
  op.reduce = kind;
  op.operands = {value.id};
  if (has_index) op.operands.push_back(index.id);
  return impl_->Intern(std::move(op));
}

void Recorder::PushMask(OpsValue mask) {
  int32_t top = impl_->mask();
  if (impl_->Expect(mask.is_valid() && dtype(mask) == DType::kBool, OpKind::kAnd,
                    "the mask is not bool") &&
      !impl_->IsTrue(mask)) {
    top = top == kNoValue ? mask.id : Apply(OpKind::kAnd, {OpsValue{top}, mask}).id;
  }
  impl_->masks.push_back(top);
}

OpsValue Recorder::CurrentMask() const { return OpsValue{impl_->mask()}; }

void Recorder::PopMask() {
  LATHE_CHECK(!impl_->masks.empty()) << "PopMask without PushMask";
  impl_->masks.pop_back();
}

OpsValue Recorder::Apply(OpKind kind, absl::Span<const OpsValue> operands) {
  if (!impl_->CheckOperands(kind, operands)) return Constant(0, ResultDType(kind, DType::kF32));
  const DType operand_dtype = dtype(operands[kind == OpKind::kWhere ? 1 : 0]);
  if (auto simpler = impl_->Simplify(kind, operands, operand_dtype)) return *simpler;
  LoopOp op;
  op.kind = kind;
  op.dtype = ResultDType(kind, operand_dtype);
  for (OpsValue v : operands) op.operands.push_back(v.id);
  if (IsIntegerDivision(kind, operand_dtype)) op.mask = impl_->mask();
  return impl_->Intern(std::move(op));
}

const std::vector<std::string>& Recorder::errors() const { return impl_->errors; }

absl::Status Recorder::status() const { return impl_->status; }

LoopBody Recorder::Finish() {
  const std::deque<Entry>& entries = impl_->entries;
  absl::flat_hash_map<Expr, int32_t> indirect;  // symbol -> operation
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].op.kind == OpKind::kIndirect) {
      indirect[entries[i].op.symbol] = static_cast<int32_t>(i);
    }
  }
  std::vector<bool> live(entries.size(), false);
  for (int32_t i = static_cast<int32_t>(entries.size()) - 1; i >= 0; --i) {
    const LoopOp& op = entries[i].op;
    if (!HasResult(op.kind) || op.kind == OpKind::kReduce) live[i] = true;
    if (!live[i]) continue;
    for (int32_t operand : op.operands) live[operand] = true;
    if (op.mask != kNoValue) live[op.mask] = true;
    if (indirect.empty()) continue;
    for (const Expr& symbol : symbolic::FreeSymbols(op.index)) {
      if (auto it = indirect.find(symbol); it != indirect.end()) live[it->second] = true;
    }
  }
  LoopBody body{impl_->axes, impl_->extents, {}};
  std::vector<int32_t> renamed(entries.size(), kNoValue);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!live[i]) continue;
    renamed[i] = static_cast<int32_t>(body.ops.size());
    LoopOp op = entries[i].op;
    for (int32_t& operand : op.operands) operand = renamed[operand];
    if (op.mask != kNoValue) op.mask = renamed[op.mask];
    body.ops.push_back(std::move(op));
  }
  return body;
}

}  // namespace lathe
