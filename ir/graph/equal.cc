#include "ir/graph/equal.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace lathe {
namespace {

using Difference = std::optional<std::string>;
using GraphPair = std::pair<const Graph*, const Graph*>;

bool SameSpec(const InputSpec& a, const InputSpec& b) {
  return a.kind == b.kind && a.target == b.target && a.persistent == b.persistent;
}

bool SameSpec(const OutputSpec& a, const OutputSpec& b) {
  return a.kind == b.kind && a.input == b.input && a.alias_input == b.alias_input &&
         a.alias_output == b.alias_output;
}

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b)
      : a_(a), b_(b), same_context_(a.context() == b.context()) {}

  Difference Run() {
    if (Difference d = CompareInputs()) return d;
    const Node *x = a_.first(), *y = b_.first();
    for (; x != nullptr && y != nullptr; x = x->next, y = y->next) {
      if (Difference d = CompareNodes(*x, *y)) return d;
    }
    if (x != nullptr) return absl::StrCat("the first has a further node: ", Describe(*x));
    if (y != nullptr) return absl::StrCat("the second has a further node: ", Describe(*y));
    return CompareOutputs();
  }
  const std::vector<GraphPair>& subgraphs() const { return subgraphs_; }

 private:
  Difference CompareInputs() {
    if (a_.inputs().size() != b_.inputs().size()) return "different numbers of inputs";
    for (size_t i = 0; i < a_.inputs().size(); ++i) {
      const Value *x = a_.inputs()[i], *y = b_.inputs()[i];
      if (!SameType(x->type, y->type)) {
        return absl::StrCat("input ", i, ": ", ToString(x->type), " and ", ToString(y->type));
      }
      if (!SameSpec(a_.input_specs()[i], b_.input_specs()[i])) {
        return absl::StrCat("input ", i, " comes from somewhere else");
      }
      counterpart_[x] = y;
    }
    if (a_.preconditions().size() != b_.preconditions().size()) {
      return "different numbers of preconditions";
    }
    for (size_t i = 0; i < a_.preconditions().size(); ++i) {
      if (!SameExpr(a_.preconditions()[i], b_.preconditions()[i])) {
        return absl::StrCat("precondition ", symbolic::ToString(a_.preconditions()[i]), " and ",
                            symbolic::ToString(b_.preconditions()[i]));
      }
    }
    return std::nullopt;
  }

  Difference CompareNodes(const Node& x, const Node& y) {
    const std::string where = absl::StrCat(Describe(x), " and ", Describe(y));
    if (x.op != y.op) return where;
    if (!SameArguments(x.arguments, y.arguments) || x.names != y.names) {
      return absl::StrCat(where, ": different arguments");
    }
    if (x.tags != y.tags) return absl::StrCat(where, ": different tags");
    if (x.results.size() != y.results.size()) {
      return absl::StrCat(where, ": different numbers of results");
    }
    for (size_t i = 0; i < x.results.size(); ++i) {
      const Value *p = x.results[i], *q = y.results[i];
      if (!SameType(p->type, q->type)) {
        return absl::StrCat(where, ": ", ToString(p->type), " and ", ToString(q->type));
      }
      counterpart_[p] = q;
    }
    return std::nullopt;
  }

  Difference CompareOutputs() {
    if (a_.outputs().size() != b_.outputs().size()) return "different numbers of outputs";
    for (size_t i = 0; i < a_.outputs().size(); ++i) {
      if (!SameArgument(a_.outputs()[i], b_.outputs()[i])) {
        return absl::StrCat("output ", i, " is another value");
      }
      if (!SameSpec(a_.output_specs()[i], b_.output_specs()[i])) {
        return absl::StrCat("output ", i, " is of another kind");
      }
    }
    return std::nullopt;
  }

  bool SameExpr(const Expr& x, const Expr& y) const {
    return x == y || (!same_context_ && symbolic::ToString(x) == symbolic::ToString(y));
  }

  bool SameExprs(const std::vector<Expr>& x, const std::vector<Expr>& y) const {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!SameExpr(x[i], y[i])) return false;
    }
    return true;
  }

  bool SameType(const ValueType& x, const ValueType& y) const {
    if (x.index() != y.index()) return false;
    if (x.is_tensor()) {
      const TensorType &s = x.tensor(), &t = y.tensor();
      return s.dtype == t.dtype && s.device == t.device && SameExprs(s.sizes, t.sizes) &&
             SameExprs(s.strides, t.strides) && SameExpr(s.offset, t.offset);
    }
    if (x.is_scalar()) {
      return x.scalar().kind == y.scalar().kind && SameExpr(x.scalar().value, y.scalar().value);
    }
    if (x.is_none()) return true;
    const auto &p = x.list().elements, &q = y.list().elements;
    if (p.size() != q.size()) return false;
    for (size_t i = 0; i < p.size(); ++i) {
      if (!SameType(p[i], q[i])) return false;
    }
    return true;
  }

  bool SameArguments(const std::vector<Argument>& x, const std::vector<Argument>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!SameArgument(x[i], y[i])) return false;
    }
    return true;
  }

  bool SameArgument(const Argument& x, const Argument& y) {
    if (x.kind() != y.kind()) return false;
    switch (x.kind()) {
      case Argument::Kind::kValue: {
        auto it = counterpart_.find(x.value());
        return it != counterpart_.end() && it->second == y.value();
      }
      case Argument::Kind::kInt:
        return SameExpr(x.expr(), y.expr());
      case Argument::Kind::kList:
        return SameArguments(x.list(), y.list());
      case Argument::Kind::kGraph:
        subgraphs_.emplace_back(x.graph().get(), y.graph().get());
        return true;
      default:
        return x == y;
    }
  }

  static std::string Describe(const Node& node) {
    return node.results.empty() ? node.op
                                : absl::StrCat("%", node.results[0]->name, " = ", node.op);
  }

  const Graph& a_;
  const Graph& b_;
  const bool same_context_;
  absl::flat_hash_map<const Value*, const Value*> counterpart_;
  std::vector<GraphPair> subgraphs_;
};

}  // namespace

std::optional<std::string> FirstDifference(const Graph& a, const Graph& b) {
  std::vector<GraphPair> pairs = {{&a, &b}};
  absl::flat_hash_set<GraphPair> seen(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [x, y] = pairs[i];
    Comparison comparison(*x, *y);
    if (Difference d = comparison.Run()) {
      return absl::StrCat("@", x->name(), " and @", y->name(), " differ: ", *d);
    }
    for (const GraphPair& pair : comparison.subgraphs()) {
      if (seen.insert(pair).second) pairs.push_back(pair);
    }
  }
  return std::nullopt;
}

bool StructurallyEqual(const Graph& a, const Graph& b) {
  return !FirstDifference(a, b).has_value();
}

}  // namespace lathe
