#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "dtypes/base/check.h"
#include "symbolic/expr.h"
#include "symbolic/expr_node.h"
#include "symbolic/node_table.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

constexpr uint64_t Mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 33);
}

uint64_t HashName(absl::string_view name) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return Mix(h, name.size());
}

// Operands of sums and products are hashed without regard to their order, so that the hash of a
// longer sum follows from that of a shorter one.
bool HashesInAnyOrder(ExprKind kind) { return kind == ExprKind::kAdd || kind == ExprKind::kMul; }
uint64_t HashOf(const Expr& e) {
  const uint64_t value = static_cast<uint64_t>(ContextAccess::RawValue(e));
  return e.node() == nullptr ? Mix(0x51ab, value)
                             : e.node()->hash ^ (value * 0x9e3779b97f4a7c15ull);
}
uint64_t HashOperand(const Expr& e) { return Mix(0x5eed, HashOf(e)); }

uint64_t HashOfKind(ExprKind kind) { return Mix(0x1234567, static_cast<uint64_t>(kind)); }
uint64_t HashInOrder(ExprKind kind, absl::Span<const Expr> operands) {
  uint64_t h = HashOfKind(kind);
  for (const Expr& e : operands) h = Mix(h, HashOf(e));
  return h;
}

// One letter and a number below 2^24 without leading zeros.
uint32_t NameOrder(absl::string_view name) {
  if (name.size() < 2 || name.size() > 8 || (name[1] == '0' && name.size() > 2)) return 0;
  if (static_cast<unsigned char>(name[0]) >= 128 || (name[0] >= '0' && name[0] <= '9')) return 0;
  uint32_t number = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number >= 1u << 24 ? 0 : static_cast<uint32_t>(name[0]) << 24 | number;
}

constexpr ExprNode MakeLeaf(ExprKind kind, ExprType type) {
  ExprNode node;
  node.kind = kind;
  node.type = type;
  node.hash = Mix(0x765, static_cast<uint64_t>(kind));
  if (kind == ExprKind::kInfinity) node.range = {Range::kMax, Range::kMax};
  if (kind == ExprKind::kNegInfinity) node.range = {Range::kMin, Range::kMin};
  return node;
}

// Leaves without a context: constants that need a kind of their own.
constinit const ExprNode kBoolNode = MakeLeaf(ExprKind::kBoolConst, ExprType::kBool);
constinit const ExprNode kFloatNode = MakeLeaf(ExprKind::kFloatConst, ExprType::kFloat);
constinit const ExprNode kInfinityNode = MakeLeaf(ExprKind::kInfinity, ExprType::kInt);
constinit const ExprNode kNegInfinityNode = MakeLeaf(ExprKind::kNegInfinity, ExprType::kInt);
constinit const ExprNode kOverflowNode = MakeLeaf(ExprKind::kOverflow, ExprType::kInt);

ExprType TypeOfOperation(ExprKind kind, absl::Span<const Expr> operands) {
  switch (kind) {
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return ExprType::kBool;
    case ExprKind::kTrueDiv:
    case ExprKind::kToFloat:
    case ExprKind::kSqrt:
    case ExprKind::kLog2:
    case ExprKind::kFloatAdd:
    case ExprKind::kFloatMul:
    case ExprKind::kFloatPow:
      return ExprType::kFloat;
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kAbs:
    case ExprKind::kWhere:
      return operands.back().type();
    default:
      return ExprType::kInt;
  }
}

uint16_t Saturated(int64_t degree) {
  return static_cast<uint16_t>(std::min<int64_t>(std::max<int64_t>(degree, 1), 0xffff));
}

int64_t DegreeOfOperand(const Expr& e) { return e.node() == nullptr ? 0 : e.node()->degree; }

uint16_t DegreeOf(ExprKind kind, absl::Span<const Expr> operands) {
  if (kind == ExprKind::kPow) return Saturated(operands[1].AsInt().value_or(1));
  if (kind != ExprKind::kMul) return 1;
  int64_t degree = 0;
  for (const Expr& e : operands) degree += DegreeOfOperand(e);
  return Saturated(degree);
}

// Of some operands of `whole`.
uint16_t DegreeWithin(const ExprNode& whole, absl::Span<const Expr> operands) {
  if (whole.kind == ExprKind::kAdd) return 1;
  return whole.plain ? Saturated(static_cast<int64_t>(operands.size()))
                     : DegreeOf(whole.kind, operands);
}

// Exact until the end, so that it does not depend on how the sum came about.
Range RangeOfSum(absl::Span<const Expr> operands) {
  __int128 lower = 0, upper = 0;
  bool below = true, above = true;  // bounded
  for (const Expr& e : operands) {
    const Range r = IntrinsicRange(e);
    below &= r.lower != Range::kMin;
    above &= r.upper != Range::kMax;
    if (!below && !above) break;
    lower += r.lower;
    upper += r.upper;
  }
  return {below && lower > Range::kMin ? static_cast<int64_t>(lower) : Range::kMin,
          above && upper < Range::kMax ? static_cast<int64_t>(upper) : Range::kMax};
}

Range RangeOfNode(ExprKind kind, absl::Span<const Expr> operands) {
  if (kind == ExprKind::kAdd) return RangeOfSum(operands);
  absl::InlinedVector<Range, 8> ranges;
  for (const Expr& e : operands) ranges.push_back(IntrinsicRange(e));
  return RangeOfOperation(kind, ranges);
}

// One pass over operands that may be hundreds: what is wrong with some is looked at after it.
struct Survey {
  bool any_overflow = false, of_others = false, plain = true;
  uint64_t hash = 0;  // of the operation
};
Survey SurveyOf(const ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  Survey seen;
  const bool in_any_order = HashesInAnyOrder(kind);
  uint64_t hashes = 0;
  for (const Expr& e : operands) {
    const ExprNode* node = e.node();
    seen.any_overflow |= node == &kOverflowNode;
    seen.of_others |= node != nullptr && node->context != nullptr && node->context != context;
    seen.plain &= node != nullptr && node->kind == ExprKind::kSymbol;
    if (in_any_order) hashes += HashOperand(e);
  }
  seen.plain &= in_any_order;
  seen.hash = in_any_order ? HashOfKind(kind) + hashes : HashInOrder(kind, operands);
  return seen;
}

// The operands of `shorter` with `added` at `place`: at the end of its own array where that can
// grow, else in a copy.
class LongerOperands {
 public:
  LongerOperands(NodeTable& table, const ExprNode* shorter, const Expr& added, size_t place)
      : table_(table), shorter_(shorter), at_end_(place == shorter->operand_count) {
    if (at_end_) grown_ = table.Grow(shorter, added);
    if (grown_) return;
    const absl::Span<const Expr> before = shorter->operand_span();
    copied_.reserve(before.size() + 1);
    copied_.insert(copied_.end(), before.begin(), before.begin() + place);
    copied_.push_back(added);
    copied_.insert(copied_.end(), before.begin() + place, before.end());
  }

  absl::Span<const Expr> operands() const {
    return grown_ ? *grown_ : absl::MakeConstSpan(copied_);
  }
  ExprNode* Allocate(uint64_t hash) const {
    if (grown_) return table_.AllocateView(*grown_, hash, shorter_);
    if (at_end_) return table_.AllocateGrowable(shorter_->kind, operands(), hash);
    return table_.Allocate(shorter_->kind, operands(), hash);
  }

 private:
  NodeTable& table_;
  const ExprNode* shorter_;
  const bool at_end_;
  std::optional<absl::Span<const Expr>> grown_;
  absl::InlinedVector<Expr, 32> copied_;
};

}  // namespace

struct ExprContext::Impl {
  struct Alike {  // two arrays of operands that begin with the same ones
    const Expr* x = nullptr;
    const Expr* y = nullptr;
    size_t same = 0;
  };
  // `longer` with some of its operands alone, which lie in its array if `shared`.
  const ExprNode* PartOf(const ExprNode* longer, absl::Span<const Expr> operands, uint64_t hash,
                         bool shared);

  mutable std::mutex mutex;
  std::atomic<bool> has_open_powers = false;
  NodeTable operations;
  PairMemo memo;
  absl::flat_hash_map<absl::string_view, const ExprNode*> symbols;
  std::deque<SymbolNode> symbol_nodes;
  Alike alike;  // that were compared last
};

ExprContext::ExprContext() : impl_(std::make_unique<Impl>()) {}
ExprContext::~ExprContext() = default;

Expr ExprContext::Symbol(absl::string_view name, SymbolKind kind) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const auto it = impl_->symbols.find(name);
  if (it != impl_->symbols.end()) return Expr(it->second);
  SymbolNode node;
  node.kind = ExprKind::kSymbol;
  node.symbol_kind = kind;
  node.name = std::string(name);
  node.name_order = NameOrder(name);
  node.symbol_index =
      static_cast<uint16_t>(std::min<size_t>(impl_->symbol_nodes.size(), kNoSymbolIndex));
  node.hash = HashName(name);
  node.context = this;
  const SymbolNode* made = &impl_->symbol_nodes.emplace_back(std::move(node));
  impl_->symbols.emplace(made->name, made);
  return Expr(made);
}

std::optional<Expr> ExprContext::FindSymbol(absl::string_view name) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const auto it = impl_->symbols.find(name);
  if (it == impl_->symbols.end()) return std::nullopt;
  return Expr(it->second);
}

int64_t ExprContext::node_count() const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return static_cast<int64_t>(impl_->operations.size() + impl_->symbol_nodes.size());
}

Expr ExprContext::Make(ExprKind kind, absl::Span<const Expr> operands) {
  return Simplified(this, kind, operands);
}

ExprContext* ContextAccess::ContextOf(absl::Span<const Expr> operands) {
  for (const Expr& e : operands) {
    if (e.node_ != nullptr && e.node_->context != nullptr) return e.node_->context;
  }
  return nullptr;
}

Expr ContextAccess::Intern(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  if (context == nullptr) return Expr::Overflow();
  const Survey seen = SurveyOf(context, kind, operands);
  if (seen.any_overflow) return Expr::Overflow();
  LATHE_CHECK(!seen.of_others) << "operands of two contexts in one expression";
  const ExprNode* monomial = nullptr;
  if (kind == ExprKind::kMul && operands[0].is_const()) {
    monomial =
        (operands.size() == 2 ? operands[1] : Intern(context, kind, operands.subspan(1))).node_;
  }
  ExprContext::Impl& impl = *context->impl_;
  if (kind == ExprKind::kPow && !operands[1].is_const()) impl.has_open_powers = true;
  std::lock_guard<std::mutex> lock(impl.mutex);
  if (const ExprNode* known = impl.operations.Find(kind, operands, seen.hash)) return Expr(known);
  ExprNode* node = impl.operations.Allocate(kind, operands, seen.hash);
  node->type = TypeOfOperation(kind, operands);
  node->plain = seen.plain;
  node->degree = DegreeOf(kind, operands);
  node->context = context;
  node->monomial = monomial;
  node->range = RangeOfNode(kind, operands);
  impl.operations.Publish(node);
  return Expr(node);
}

Expr ContextAccess::InternLonger(const ExprNode* shorter, const Expr& added, size_t place) {
  ExprContext* context = shorter->context;
  LATHE_CHECK(added.node_->context == context) << "operands of two contexts in one expression";
  const uint64_t hash = shorter->hash + HashOperand(added);
  ExprContext::Impl& impl = *context->impl_;
  std::lock_guard<std::mutex> lock(impl.mutex);
  const LongerOperands longer(impl.operations, shorter, added, place);
  if (const ExprNode* known = impl.operations.Find(shorter->kind, longer.operands(), hash)) {
    return Expr(known);
  }
  ExprNode* node = longer.Allocate(hash);
  const Range& r = shorter->range;
  const bool is_sum = shorter->kind == ExprKind::kAdd;
  node->plain = shorter->plain && added.is_symbol();
  node->degree = is_sum ? 1 : Saturated(int64_t{shorter->degree} + DegreeOfOperand(added));
  node->context = context;
  if (!node->plain) {
    const bool finite = r.lower != Range::kMin && r.upper != Range::kMax;
    node->range =
        is_sum && finite ? r + IntrinsicRange(added) : RangeOfNode(node->kind, longer.operands());
  }
  impl.operations.Publish(node);
  return Expr(node);
}

const ExprNode* ExprContext::Impl::PartOf(const ExprNode* longer, absl::Span<const Expr> operands,
                                          uint64_t hash, bool shared) {
  std::lock_guard<std::mutex> lock(mutex);
  if (const ExprNode* known = operations.Find(longer->kind, operands, hash)) return known;
  ExprNode* node = shared ? operations.AllocateView(operands, hash, longer)
                          : operations.Allocate(longer->kind, operands, hash);
  node->plain = longer->plain;
  node->degree = DegreeWithin(*longer, operands);
  node->context = longer->context;
  if (!node->plain) node->range = RangeOfNode(longer->kind, operands);
  operations.Publish(node);
  return node;
}

Expr ContextAccess::InternRest(const ExprNode* longer, const Expr& part) {
  const bool many = part.kind() == longer->kind;
  const absl::Span<const Expr> operands =
      longer->operand_span().subspan(many ? part.operands().size() : 1);
  const uint64_t hash =
      longer->hash - (many ? part.node_->hash - HashOfKind(longer->kind) : HashOperand(part));
  return Expr(longer->context->impl_->PartOf(longer, operands, hash, /*shared=*/true));
}

Expr ContextAccess::InternWithout(const ExprNode* longer, size_t place) {
  const absl::Span<const Expr> x = longer->operand_span();
  if (place == 0) return InternRest(longer, x[0]);
  absl::InlinedVector<Expr, 32> operands;
  operands.reserve(x.size());
  operands.insert(operands.end(), x.begin(), x.begin() + place);
  operands.insert(operands.end(), x.begin() + place + 1, x.end());
  const uint64_t hash = longer->hash - HashOperand(x[place]);
  return Expr(longer->context->impl_->PartOf(longer, operands, hash, /*shared=*/false));
}

bool ContextAccess::BeginsWith(const ExprNode* longer, const Expr& shorter) {
  const absl::Span<const Expr> y = longer->operand_span();
  if (shorter.kind() != longer->kind) return y[0] == shorter;
  const absl::Span<const Expr> x = shorter.operands();
  if (x.size() > y.size()) return false;
  if (x.data() == y.data() || x[0] != y[0]) return x[0] == y[0];
  // Arrays never change: what was equal once needs no second look.
  ExprContext::Impl& impl = *longer->context->impl_;
  std::lock_guard<std::mutex> lock(impl.mutex);
  ExprContext::Impl::Alike& alike = impl.alike;
  if (alike.x != x.data() || alike.y != y.data()) alike = {x.data(), y.data(), 0};
  if (alike.same < x.size()) {
    alike.same += CommonPrefix(x.subspan(alike.same), y.subspan(alike.same));
  }
  return alike.same >= x.size();
}

std::optional<Expr> ContextAccess::FindMemo(ExprContext* context, uint8_t operation, const Expr& a,
                                            const Expr& b) {
  if (context == nullptr) return std::nullopt;
  std::lock_guard<std::mutex> lock(context->impl_->mutex);
  const Expr* known = context->impl_->memo.Find(operation, a, b);
  return known == nullptr ? std::nullopt : std::optional<Expr>(*known);
}

void ContextAccess::StoreMemo(ExprContext* context, uint8_t operation, const Expr& a, const Expr& b,
                              const Expr& result) {
  if (context == nullptr) return;
  std::lock_guard<std::mutex> lock(context->impl_->mutex);
  context->impl_->memo.Store(operation, a, b, result);
}

int64_t ContextAccess::MemoryBytes(const ExprContext& context) {
  const ExprContext::Impl& impl = *context.impl_;
  std::lock_guard<std::mutex> lock(impl.mutex);
  return static_cast<int64_t>(impl.operations.memory_bytes() + impl.memo.memory_bytes() +
                              impl.symbol_nodes.size() * sizeof(SymbolNode));
}

bool ContextAccess::HasOpenPowers(const ExprContext& context) {
  return context.impl_->has_open_powers;
}

double ContextAccess::FloatValue(const Expr& e) { return absl::bit_cast<double>(e.value_); }

Expr Expr::Bool(bool value) {
  Expr e(&kBoolNode);
  e.value_ = value;
  return e;
}

Expr Expr::Float(double value) {
  Expr e(&kFloatNode);
  if (std::isnan(value)) value = std::nan("");  // one NaN, so that equal stays identical
  e.value_ = absl::bit_cast<int64_t>(value);
  return e;
}

Expr Expr::Infinity() { return Expr(&kInfinityNode); }
Expr Expr::NegInfinity() { return Expr(&kNegInfinityNode); }
Expr Expr::Overflow() { return Expr(&kOverflowNode); }

std::optional<double> Expr::AsFloat() const {
  if (node_ == nullptr) return static_cast<double>(value_);
  if (node_->kind == ExprKind::kFloatConst) return absl::bit_cast<double>(value_);
  return std::nullopt;
}

absl::string_view Expr::symbol_name() const {
  return is_symbol() ? static_cast<const SymbolNode*>(node_)->name : absl::string_view();
}

SymbolKind Expr::symbol_kind() const {
  return node_ == nullptr ? SymbolKind::kBacked : node_->symbol_kind;
}

uint64_t StructuralHash(const Expr& e) { return HashOf(e); }

}  // namespace lathe::symbolic
