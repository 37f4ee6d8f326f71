#include "ir/ops/index/mapped_row.h"

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/host_call.h"
#include "ir/ops/view/loop_masks.h"

namespace lathe {
namespace {

Scalar FillOf(const MappedRule& rule, const OpArgs& args) {
  return rule.fill_argument < 0 ? Scalar(0) : args.Number(rule.fill_argument);
}

// A comparison on index expressions as a value: the kinds that conditions use.
OpsValue ConditionValue(OpsHandler& ops, const Expr& e) {
  if (std::optional<bool> known = e.AsBool()) {
    return ops.Constant(Scalar(*known), DType::kBool);
  }
  auto side = [&](int k) { return IndexValue(ops, e.operands()[k]); };
  switch (e.kind()) {
    case symbolic::ExprKind::kLt:
      return ops.Lt(side(0), side(1));
    case symbolic::ExprKind::kLe:
      return ops.Le(side(0), side(1));
    case symbolic::ExprKind::kEq:
      return ops.Eq(side(0), side(1));
    case symbolic::ExprKind::kNe:
      return ops.Ne(side(0), side(1));
    default:
      return ops.Ne(ops.IndexExpr(symbolic::Where(e, 1, 0), DType::kI64), IndexValue(ops, 0));
  }
}

absl::StatusOr<std::vector<Lowered>> LowerMapped(const MappedRule& rule, const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(ElementMap map, rule.map({c.args, c.result(), c.shapes}));
  Value* self = c.args.Tensor(0);
  Scalar fill = Convert(FillOf(rule, c.args), c.result().dtype);
  return std::vector<Lowered>{
      PointwiseLoops{[self, map, fill](OpsHandler& ops, TensorReader& in, Index index) {
        MappedElement element = map(index);
        if (element.conditions.empty()) return in.Load(ops, self, element.place);
        OpsValue inside = ConditionValue(ops, element.conditions[0]);
        for (size_t k = 1; k < element.conditions.size(); ++k) {
          inside = ops.And(inside, ConditionValue(ops, element.conditions[k]));
        }
        return ops.Masked(
            inside, [&] { return in.Load(ops, self, element.place); }, fill);
      }}};
}

// The same map on numbers.
absl::StatusOr<std::vector<HostValue>> EvaluateMapped(const MappedRule& rule,
                                                      const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate();
  ShapeEnv shapes(std::make_shared<ExprContext>());
  Graph graph("call", shapes.shared_context());
  LATHE_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                         ToGraphArguments(c.args.schema(), c.args, graph, nullptr));
  OpArgs args(c.args.schema(), arguments);
  LATHE_ASSIGN_OR_RETURN(ElementMap map, rule.map({args, c.results[0].tensor(), shapes}));
  FillElements(out, FillOf(rule, args));
  std::vector<int64_t> places;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    MappedElement element = map(std::vector<Expr>(p.begin(), p.end()));
    bool inside = true;
    for (const Expr& e : element.conditions) inside &= e.AsBool().value_or(false);
    Position place;
    for (const Expr& e : element.place) place.push_back(e.AsInt().value_or(0));
    places.push_back(inside ? Linear(place, self.sizes()) : -1);
  });
  CopyElements(self, places, out);
  return OneResult(out);
}

}  // namespace

OpRow MappedRow(MappedRule rule) {
  OpRow row;
  row.schema = rule.schema;
  row.doc = rule.doc;
  row.infer = rule.infer;
  row.samples = rule.samples;
  row.lower = [rule](const LowerContext& c) { return LowerMapped(rule, c); };
  row.evaluate = [rule](const EvaluateContext& c) { return EvaluateMapped(rule, c); };
  return row;
}

}  // namespace lathe
