#ifndef LATHE_SYMBOLIC_ASSUMED_H_
#define LATHE_SYMBOLIC_ASSUMED_H_

// What rules about sizes take for granted where nothing is known against it: the sum of f32[s0] and
// f32[s1] is typed as if s0 == s1. Whoever runs the program has to check that, and collects it
// here.
//
//   if (IsRefused(shapes, Eq(size, 0))) return InvalidArgument(...);   // in a rule
//   AssumptionsOf([&] { rule(); });                                    // {size != 0}

#include <functional>
#include <vector>

#include "symbolic/shape_env.h"

namespace lathe::symbolic {

// Whether `bad`, which eager refuses, is known to hold. Where it is not, its opposite is assumed.
bool IsRefused(const ShapeEnv& shapes, const Expr& bad);

// Whether `condition`, which eager demands, holds or may hold: ShapeEnv::TrueOrDefault with true.
bool IsAccepted(ShapeEnv& shapes, const Expr& condition, const Asker& asker);

void Assume(const ShapeEnv& shapes, const Expr& condition);

// What `rule` assumes on this thread, without what is known and without repetitions, in order.
std::vector<Expr> AssumptionsOf(const std::function<void()>& rule);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_ASSUMED_H_
