#include "scheduler/fusion/fuse.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "scheduler/fusion/domain.h"
#include "scheduler/fusion/known_accesses.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

constexpr int kMaxMembers = 96;      // bodies stay compilable in milliseconds
constexpr int kCheapOperations = 8;  // below the cost of a store and a load of one element
constexpr int kCheapLoads = 2;
constexpr int kOnceOperations = 64;

Expr ProductOf(const std::vector<Expr>& sizes) { return symbolic::Product(sizes); }

std::vector<Expr> Joined(std::vector<Expr> a, const std::vector<Expr>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Uses of a value through views, outputs of the graph included.
int UseCount(const Value* value, const LoopGraph& loops) {
  int count = value->output_uses;
  for (const Node* user : value->users) {
    for (const Value* result : user->results) {
      if (loops.roots.IsView(result)) {
        count += UseCount(result, loops);
        continue;
      }
      ++count;
    }
    if (user->results.empty()) ++count;
  }
  return count;
}

std::vector<Expr> UnbackedIn(const Expr& e) {
  std::vector<Expr> symbols;
  if (e.is_const()) return symbols;
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) symbols.push_back(symbol);
  }
  return symbols;
}

std::vector<Expr> UnbackedIn(const ValueType& type) {
  std::vector<Expr> symbols;
  const auto add = [&](const Expr& e) {
    for (const Expr& symbol : UnbackedIn(e)) symbols.push_back(symbol);
  };
  if (type.is_scalar()) add(type.scalar().value);
  if (type.is_tensor()) {
    for (const Expr& size : type.tensor().sizes) add(size);
    for (const Expr& stride : type.tensor().strides) add(stride);
    add(type.tensor().offset);
  }
  return symbols;
}

template <typename Visit>
void ForEachExpr(const Argument& argument, const Visit& visit) {
  if (argument.kind() == Argument::Kind::kInt) visit(argument.expr());
  if (!argument.is_list()) return;
  for (const Argument& item : argument.list()) ForEachExpr(item, visit);
}

class Fuser {
 public:
  explicit Fuser(const LoopGraph& loops) : loops_(loops), accesses_(loops) {}

  Fusion Run() {
    fusion_.group_of.assign(loops_.nodes.size(), -1);
    fusion_.level_of.assign(loops_.nodes.size(), MemberLevel::kFull);
    fusion_.access_of.resize(loops_.nodes.size());
    int next = 0;
    for (const Node* node = loops_.graph->first(); node != nullptr; node = node->next) {
      if (loops_.steps.contains(node)) {
        PlaceStep(node);
        continue;
      }
      while (next < static_cast<int>(loops_.nodes.size()) && loops_.nodes[next].node == node) {
        PlaceLoop(next++);
      }
    }
    return std::move(fusion_);
  }

 private:
  struct Shape {  // a group's domain after a node joined
    std::vector<Expr> outer, inner;
    MemberLevel level = MemberLevel::kFull;
  };

  int OrderOf(const Value* value) const {
    auto it = fusion_.order_of.find(value);
    return it == fusion_.order_of.end() ? 0 : it->second;
  }

  void PlaceStep(const Node* node) {
    const int order = ++last_order_;
    fusion_.step_order[node] = order;
    for (const Value* result : node->results) {
      fusion_.order_of[result] = order;
      for (const Expr& symbol : UnbackedIn(result->type)) order_of_symbol_.emplace(symbol, order);
    }
  }

  // The step after which all numbers are known that the node takes or has among its sizes.
  int OrderOfSymbols(const Node& node) const {
    int order = 0;
    if (order_of_symbol_.empty()) return order;
    const auto add = [&](const std::vector<Expr>& symbols) {
      for (const Expr& symbol : symbols) {
        const auto it = order_of_symbol_.find(symbol);
        if (it != order_of_symbol_.end()) order = std::max(order, it->second);
      }
    };
    for (const Argument& argument : node.arguments) {
      ForEachExpr(argument, [&](const Expr& e) { add(UnbackedIn(e)); });
      argument.ForEachValue([&](const Value* v) { add(UnbackedIn(v->type)); });
    }
    for (const Value* result : node.results) add(UnbackedIn(result->type));
    return order;
  }

  void PlaceLoop(int n) {
    const LoopNode& node = loops_.nodes[n];
    fusion_.access_of[n] = accesses_.Of(node);
    AddInlinedCost(&fusion_.access_of[n]);
    const NodeAccess& access = fusion_.access_of[n];
    int order = OrderOfSymbols(*node.node);
    for (const Read& read : access.reads) order = std::max(order, OrderOf(read.root));
    std::string refusal;
    for (int candidate : Candidates(access, order)) {
      Shape shape;
      std::string reason;
      if (TryJoin(n, fusion_.groups[candidate], order, &shape, &reason)) {
        Join(n, candidate, std::move(shape));
        return;
      }
      if (refusal.empty()) {
        refusal = absl::StrCat("not fused: %", node.value->name, " into ", GroupName(candidate),
                               ": ", reason);
      }
    }
    if (!refusal.empty()) fusion_.decisions.push_back(std::move(refusal));
    Start(n);
  }

  // Computing a value again computes its cheap producers again too, so that a long chain of cheap
  // operations is not cheap.
  void AddInlinedCost(NodeAccess* access) const {
    for (const Read& read : access->reads) {
      auto it = loops_.index.find(read.root);
      if (it == loops_.index.end()) continue;
      if (!MayInline(loops_, fusion_, read.root, read.covers_domain)) continue;
      const NodeCost& cost = fusion_.access_of[it->second].cost;
      access->cost.operations += cost.operations;
      access->cost.loads += cost.loads - 1;
      access->cost.heavy = access->cost.heavy || cost.heavy;
      access->cost.unpacks = access->cost.unpacks || cost.unpacks;
      access->cost.indirect = access->cost.indirect || cost.indirect;
    }
  }

  // Groups that produce what the node reads (the latest first), then the last group that reads one
  // of the same buffers: at the same elements, or both at others (two gates of one product).
  std::vector<int> Candidates(const NodeAccess& access, int order) const {
    std::vector<int> result;
    const auto add = [&](int group) {
      if (fusion_.groups[group].order < order) return;
      if (std::find(result.begin(), result.end(), group) == result.end()) result.push_back(group);
    };
    for (const Read& read : access.reads) {
      auto producer = loops_.index.find(read.root);
      if (producer != loops_.index.end()) add(fusion_.group_of[producer->second]);
    }
    for (const Read& read : access.reads) {
      const auto& readers = read.prefix >= 0 ? last_reader_ : last_reader_of_others_;
      auto reader = readers.find(read.root);
      if (reader != readers.end()) add(reader->second);
    }
    std::sort(result.begin(), result.end(),
              [&](int a, int b) { return fusion_.groups[a].order > fusion_.groups[b].order; });
    return result;
  }

  bool TryJoin(int n, const FusionGroup& group, int order, Shape* shape, std::string* reason) {
    if (group.order < order) {
      *reason = "something it needs is computed later";
      return false;
    }
    if (group.members.size() >= kMaxMembers) {
      *reason = absl::StrCat("the kernel has ", kMaxMembers, " operations already");
      return false;
    }
    std::optional<Shape> fitted = Fit(loops_.nodes[n], group);
    if (!fitted.has_value()) {
      *reason = "their loops enumerate different elements";
      return false;
    }
    for (const Read& read : fusion_.access_of[n].reads) {
      if (!ReadFits(n, read, group, *fitted)) {
        *reason = absl::StrCat("it reads %", read.root->name, " at other elements than it writes");
        return false;
      }
    }
    *shape = *std::move(fitted);
    return true;
  }

  std::optional<Shape> Fit(const LoopNode& node, const FusionGroup& group) const {
    if (node.kind == LoopNode::Kind::kReduction) return FitReduction(node, group);
    if (!group.has_reduction) {
      auto refined = CommonRefinement(group.outer, node.domain);
      if (!refined.has_value()) return std::nullopt;
      return Shape{*std::move(refined), {}, MemberLevel::kFull};
    }
    auto refined = CommonRefinement(Joined(group.outer, group.inner), node.domain);
    if (refined.has_value()) {
      return SplitAt(*std::move(refined), ProductOf(group.outer), MemberLevel::kFull);
    }
    auto rows = CommonRefinement(group.outer, node.domain);
    if (!rows.has_value()) return std::nullopt;
    return Shape{*std::move(rows), group.inner, MemberLevel::kRow};
  }

  std::optional<Shape> FitReduction(const LoopNode& node, const FusionGroup& group) const {
    const std::vector<Expr> kept(node.domain.begin(), node.domain.begin() + node.kept_rank);
    const std::vector<Expr> reduced(node.domain.begin() + node.kept_rank, node.domain.end());
    if (group.has_reduction) {
      auto outer = CommonRefinement(group.outer, kept);
      auto inner = CommonRefinement(group.inner, reduced);
      if (!outer.has_value() || !inner.has_value()) return std::nullopt;
      return Shape{*std::move(outer), *std::move(inner), MemberLevel::kReduction};
    }
    auto refined = CommonRefinement(group.outer, node.domain);
    if (!refined.has_value()) return std::nullopt;
    return SplitAt(*std::move(refined), ProductOf(kept), MemberLevel::kReduction);
  }

  static std::optional<Shape> SplitAt(std::vector<Expr> sizes, const Expr& outer_product,
                                      MemberLevel level) {
    std::optional<int> split = PrefixWithProduct(sizes, outer_product);
    if (!split.has_value()) return std::nullopt;
    Shape shape;
    shape.outer.assign(sizes.begin(), sizes.begin() + *split);
    shape.inner.assign(sizes.begin() + *split, sizes.end());
    shape.level = level;
    return shape;
  }

  bool ReadFits(int n, const Read& read, const FusionGroup& group, const Shape& shape) const {
    auto it = loops_.index.find(read.root);
    if (it == loops_.index.end()) return true;
    const int producer = it->second;
    if (fusion_.group_of[producer] != IndexOf(group)) return true;
    if (Forwards(loops_.nodes[n], read, producer, shape)) return true;
    return MayInline(loops_, fusion_, read.root, read.covers_domain) &&
           ReadableFromAfar(producer, group);
  }

  int IndexOf(const FusionGroup& group) const {
    return static_cast<int>(&group - fusion_.groups.data());
  }

  // The value is at hand when the reader runs: the same element, or the reduced value of its row.
  bool Forwards(const LoopNode& reader, const Read& read, int producer, const Shape& shape) const {
    if (read.prefix < 0) return false;
    const bool whole = read.prefix == static_cast<int>(reader.domain.size());
    if (fusion_.level_of[producer] == MemberLevel::kFull) {
      return whole && shape.level != MemberLevel::kRow;
    }
    if (shape.level == MemberLevel::kRow) return whole;
    const std::vector<Expr> leading(reader.domain.begin(), reader.domain.begin() + read.prefix);
    return ProductOf(leading) == ProductOf(shape.outer);
  }

  // Everything an inlined producer of this group reads must come from outside the group.
  bool ReadableFromAfar(int producer, const FusionGroup& group) const {
    for (const Read& read : fusion_.access_of[producer].reads) {
      auto it = loops_.index.find(read.root);
      if (it == loops_.index.end() || fusion_.group_of[it->second] != IndexOf(group)) continue;
      if (!MayInline(loops_, fusion_, read.root, read.covers_domain) ||
          !ReadableFromAfar(it->second, group)) {
        return false;
      }
    }
    return true;
  }

  void Join(int n, int index, Shape shape) {
    FusionGroup& group = fusion_.groups[index];
    group.outer = std::move(shape.outer);
    group.inner = std::move(shape.inner);
    group.has_reduction = group.has_reduction || shape.level == MemberLevel::kReduction;
    fusion_.decisions.push_back(
        absl::StrCat("fused %", loops_.nodes[n].value->name, " into ", GroupName(index)));
    Record(n, index, shape.level);
  }

  void Start(int n) {
    const LoopNode& node = loops_.nodes[n];
    FusionGroup group;
    group.order = ++last_order_;
    group.outer.assign(node.domain.begin(), node.domain.begin() + node.kept_rank);
    group.inner.assign(node.domain.begin() + node.kept_rank, node.domain.end());
    const auto one = [](const Expr& size) { return size == Expr(1); };
    group.outer.erase(std::remove_if(group.outer.begin(), group.outer.end(), one),
                      group.outer.end());
    group.inner.erase(std::remove_if(group.inner.begin(), group.inner.end(), one),
                      group.inner.end());
    const bool reduces = node.kind == LoopNode::Kind::kReduction;
    group.has_reduction = reduces;
    fusion_.groups.push_back(std::move(group));
    Record(n, static_cast<int>(fusion_.groups.size()) - 1,
           reduces ? MemberLevel::kReduction : MemberLevel::kFull);
  }

  void Record(int n, int index, MemberLevel level) {
    fusion_.groups[index].members.push_back(n);
    fusion_.group_of[n] = index;
    fusion_.level_of[n] = level;
    fusion_.order_of[loops_.nodes[n].value] = fusion_.groups[index].order;
    for (const Read& read : fusion_.access_of[n].reads) {
      last_reader_[read.root] = index;
      if (read.prefix < 0) last_reader_of_others_[read.root] = index;
    }
  }

  std::string GroupName(int index) const {
    return absl::StrCat("the kernel of %",
                        loops_.nodes[fusion_.groups[index].members.front()].value->name);
  }

  const LoopGraph& loops_;
  KnownAccesses accesses_;
  Fusion fusion_;
  int last_order_ = 0;
  absl::flat_hash_map<Expr, int> order_of_symbol_;  // of unbacked ones: the step that tells them
  absl::flat_hash_map<const Value*, int> last_reader_;
  absl::flat_hash_map<const Value*, int> last_reader_of_others_;  // at elements of its own choice
};

}  // namespace

bool MayInline(const LoopGraph& loops, const Fusion& fusion, const Value* value,
               bool reader_covers_domain) {
  auto it = loops.index.find(value);
  if (it == loops.index.end()) return false;
  const LoopNode& node = loops.nodes[it->second];
  if (node.kind != LoopNode::Kind::kPointwise) return false;
  const NodeCost& cost = fusion.access_of[it->second].cost;
  if (cost.loads == 0 && cost.operations <= kOnceOperations) return true;
  if (cost.unpacks && !cost.indirect && cost.operations <= kOnceOperations) return true;
  if (!cost.heavy && !cost.indirect && cost.operations <= kCheapOperations &&
      cost.loads <= kCheapLoads) {
    return true;
  }
  return reader_covers_domain && cost.operations <= kOnceOperations && UseCount(value, loops) == 1;
}

Fusion FuseLoops(const LoopGraph& loops) { return Fuser(loops).Run(); }

}  // namespace lathe
