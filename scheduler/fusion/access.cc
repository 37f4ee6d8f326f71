#include "scheduler/fusion/access.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/loops/recorder.h"
#include "scheduler/fusion/domain.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

bool IsHeavy(OpKind kind) {
  switch (kind) {
    case OpKind::kExp:
    case OpKind::kExp2:
    case OpKind::kExpm1:
    case OpKind::kLog:
    case OpKind::kLog2:
    case OpKind::kLog10:
    case OpKind::kLog1p:
    case OpKind::kSin:
    case OpKind::kCos:
    case OpKind::kTan:
    case OpKind::kAsin:
    case OpKind::kAcos:
    case OpKind::kAtan:
    case OpKind::kSinh:
    case OpKind::kCosh:
    case OpKind::kTanh:
    case OpKind::kAsinh:
    case OpKind::kAcosh:
    case OpKind::kAtanh:
    case OpKind::kSigmoid:
    case OpKind::kErf:
    case OpKind::kErfc:
    case OpKind::kPow:
    case OpKind::kAtan2:
    case OpKind::kFmod:
    case OpKind::kRemainder:
    case OpKind::kHypot:
    case OpKind::kReduce:
      return true;
    default:
      return false;
  }
}

// Element of `root`'s own buffer at a logical index, by the strides of its type.
Expr StridedPosition(const TensorType& type, Index index) {
  Expr position = 0;
  for (int k = 0; k < type.rank(); ++k) position = position + index[k] * type.strides[k];
  return position;
}

// Reads by address; generators are computed in place.
class AccessReader final : public TensorReader {
 public:
  AccessReader(const LoopGraph& loops, const LoopNode& node, std::vector<Expr> symbols)
      : loops_(loops), node_(node), symbols_(std::move(symbols)) {}

  OpsValue Load(OpsHandler& ops, Value* tensor, Index index) override {
    std::vector<Expr> at(index.begin(), index.end());
    Value* value = tensor;
    if (IsGenerator(loops_, loops_.roots.Root(tensor))) {
      for (auto it = loops_.views.find(value); it != loops_.views.end();
           it = loops_.views.find(value)) {
        const auto& view = std::get<ViewLoops>(*it->second);
        at = view.map(at);
        value = view.input;
      }
      const LoopNode& generator = *loops_.Find(value);
      const DType dtype = value->type.tensor().dtype;
      return ops.Cast(ops.Cast(generator.pointwise().body(ops, *this, at), dtype),
                      LoadedDType(dtype));
    }
    Value* root = loops_.roots.Root(tensor);
    const Expr position = PositionInRoot(loops_, tensor, index);
    AddRead(root, position);
    const DType dtype = tensor->type.tensor().dtype;
    const DType stored = root->type.tensor().dtype;
    OpsValue loaded = ops.Load(static_cast<BufferId>(Number(root)), position, stored);
    if (stored != dtype) loaded = ops.BitCast(loaded, dtype);
    return ops.Cast(loaded, LoadedDType(dtype));
  }

  std::vector<Read> TakeReads() { return std::move(reads_); }

 private:
  int Number(Value* root) {
    return numbers_.emplace(root, static_cast<int>(numbers_.size())).first->second;
  }

  void AddRead(Value* root, const Expr& position) {
    if (!seen_.insert({root, position}).second) return;
    Read read{root, position, PrefixOf(root, position), false, false};
    const std::vector<Expr> used = symbolic::FreeSymbols(position);
    read.covers_domain = true;
    for (size_t k = 0; k < symbols_.size(); ++k) {
      if (node_.domain[k] == Expr(1)) continue;
      if (std::find(used.begin(), used.end(), symbols_[k]) == used.end()) {
        read.covers_domain = false;
      }
    }
    reads_.push_back(std::move(read));
  }

  // The prefix of the domain whose row-major enumeration is the root's own order.
  int PrefixOf(Value* root, const Expr& position) {
    const TensorType& type = root->type.tensor();
    const Expr count = NumElements(type);
    Expr linear = 0, product = 1;
    const bool contiguous = IsContiguous(type);
    for (size_t k = 0; k <= node_.domain.size(); ++k) {
      if (contiguous && position == linear && product == count) {
        // Trailing sizes of 1 belong to the prefix.
        while (k < node_.domain.size() && node_.domain[k] == Expr(1)) ++k;
        return static_cast<int>(k);
      }
      if (k == node_.domain.size()) break;
      linear = linear * node_.domain[k] + (node_.domain[k] == Expr(1) ? Expr(0) : symbols_[k]);
      product = product * node_.domain[k];
    }
    // A permuted but dense root read in its own layout by an equally laid out value.
    if (node_.kind == LoopNode::Kind::kPointwise && !contiguous && type.sizes == node_.domain &&
        position == StridedPosition(type, Zeroed())) {
      return static_cast<int>(node_.domain.size());
    }
    return -1;
  }

  std::vector<Expr> Zeroed() const {
    std::vector<Expr> result = symbols_;
    for (size_t k = 0; k < result.size(); ++k) {
      if (node_.domain[k] == Expr(1)) result[k] = 0;
    }
    return result;
  }

  const LoopGraph& loops_;
  const LoopNode& node_;
  std::vector<Expr> symbols_;
  absl::flat_hash_map<Value*, int> numbers_;
  absl::flat_hash_set<std::pair<Value*, Expr>> seen_;
  std::vector<Read> reads_;
};

NodeCost CostOf(const LoopBody& body) {
  NodeCost cost;
  for (const LoopOp& op : body.ops) {
    switch (op.kind) {
      case OpKind::kLoad:
        ++cost.loads;
        cost.unpacks = cost.unpacks || IsSubByte(op.dtype);
        break;
      case OpKind::kIndirect:
        cost.indirect = true;
        break;
      case OpKind::kConstant:
      case OpKind::kCast:
      case OpKind::kStore:
      case OpKind::kStoreLocal:
        break;
      default:
        ++cost.operations;
        cost.heavy = cost.heavy || IsHeavy(op.kind);
    }
  }
  return cost;
}

}  // namespace

std::vector<Expr> DomainSymbols(ExprContext& context, size_t rank) {
  std::vector<Expr> symbols;
  for (size_t k = 0; k < rank; ++k) {
    symbols.push_back(context.Symbol(absl::StrCat("$d", k), symbolic::SymbolKind::kIndex));
  }
  return symbols;
}

Expr PositionInRoot(const LoopGraph& loops, Value* value, Index index) {
  const TensorType& type = value->type.tensor();
  Expr position = StridedPosition(type, index);
  Value* root = loops.roots.Root(value);
  if (root == value) return position;
  // Strides of a view count elements of the view's dtype; a change of width changes the index map
  // too, and such views (view.dtype) keep their own positions only when widths agree.
  return position + type.offset - root->type.tensor().offset;
}

bool IsGenerator(const LoopGraph& loops, const Value* value) {
  const LoopNode* node = loops.Find(value);
  if (node == nullptr || node->kind != LoopNode::Kind::kPointwise) return false;
  for (const Argument& argument : node->node->arguments) {
    bool reads = false;
    argument.ForEachValue([&](Value* v) { reads = reads || v->type.is_tensor(); });
    if (reads) return false;
  }
  return true;
}

OpsValue RecordReduce(OpsHandler& ops, TensorReader& reader, const LoopNode& node, Index domain) {
  const ReductionLoops& loops = node.reduction();
  const Index kept(domain.data(), node.kept_rank);
  const Index reduced(domain.data() + node.kept_rank, domain.size() - node.kept_rank);
  const OpsValue value = loops.body(ops, reader, kept, reduced);
  OpsValue position;
  if (loops.kind == ReduceKind::kArgMax || loops.kind == ReduceKind::kArgMin) {
    position = ops.IndexExpr(loops.position(kept, reduced), DType::kI64);
  }
  return ops.Reduce(loops.kind, value, position);
}

NodeAccess AccessOf(const LoopGraph& loops, const LoopNode& node) {
  ExprContext& context = loops.shapes->context();
  std::vector<Expr> symbols = DomainSymbols(context, node.domain.size());
  std::vector<Expr> index = symbols;
  for (size_t k = 0; k < index.size(); ++k) {
    if (node.domain[k] == Expr(1)) index[k] = 0;
  }
  Recorder recorder(context, symbols, node.domain);
  AccessReader reader(loops, node, symbols);
  OpsValue result;
  if (node.kind == LoopNode::Kind::kPointwise) {
    result = node.pointwise().body(recorder, reader, index);
  } else {
    result = RecordReduce(recorder, reader, node, index);
    if (node.reduction().finish) {
      const Index kept(index.data(), node.kept_rank);
      result = node.reduction().finish(recorder, reader, result, kept);
    }
  }
  recorder.StoreLocal(0, result);
  NodeAccess access;
  access.cost = CostOf(recorder.Finish());
  access.reads = reader.TakeReads();
  return access;
}

}  // namespace lathe
