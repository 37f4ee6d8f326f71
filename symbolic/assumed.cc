#include "symbolic/assumed.h"

#include <algorithm>
#include <utility>

namespace lathe::symbolic {
namespace {

// Rules call rules, some through function values that take no collector: hence by thread.
thread_local std::vector<Expr>* collector = nullptr;

}  // namespace

void Assume(const ShapeEnv& shapes, const Expr& condition) {
  if (collector == nullptr || condition.IsOverflow() || shapes.IsKnownTrue(condition)) return;
  if (std::find(collector->begin(), collector->end(), condition) == collector->end()) {
    collector->push_back(condition);
  }
}

bool IsRefused(const ShapeEnv& shapes, const Expr& bad) {
  if (shapes.IsKnownTrue(bad)) return true;
  if (collector != nullptr) Assume(shapes, Not(bad));
  return false;
}

bool IsAccepted(ShapeEnv& shapes, const Expr& condition, const Asker& asker) {
  if (!shapes.TrueOrDefault(condition, true, asker)) return false;
  Assume(shapes, condition);
  return true;
}

std::vector<Expr> AssumptionsOf(const std::function<void()>& rule) {
  std::vector<Expr> assumed;
  std::vector<Expr>* const outer = std::exchange(collector, &assumed);
  rule();
  collector = outer;
  return assumed;
}

}  // namespace lathe::symbolic
