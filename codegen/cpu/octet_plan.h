#ifndef LATHE_CODEGEN_CPU_OCTET_PLAN_H_
#define LATHE_CODEGEN_CPU_OCTET_PLAN_H_

// Which stages reduce rows of packed integers octet by octet (kernel_text/octets.h), and what
// becomes of each of their operations. No choice here changes a bit of the results.
//
//  * What varies along the row but is the same for all rows is computed once and kept in the
//    octets' order (`shared`): an activation vector beside the rows of a weight matrix.
//  * What depends on one packed element and on values that the loop along the row leaves alone is
//    a table of as many entries as the element has values (`tables`), computed before that loop by
//    the same operations: dequantization costs one permutation, whatever it is.
//  * The rest is computed as it stands.
//
// Rows in groups shorter than kLanes (scales of 16 or 32 elements) go on across groups; what a
// group has for itself is a vector with each group's value on its octets' lanes, and no table.

#include <vector>

#include "codegen/cpu/stage_plan.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::cpu {

struct OctetPlan {
  bool applies = false;
  int groups = 1;             // of the row that the reduce axis before the last counts, in kLanes
  std::vector<int> loads;     // of packed elements, taken octet by octet
  std::vector<int> shared;    // values computed once for all rows
  std::vector<int> tables;    // values looked up
  std::vector<int> table_of;  // by operation: the packed load it is a table of, or -1
  std::vector<bool> in_loop;  // by operation: computed in the loop over octets
  std::vector<bool> for_shared;  // by operation: needed for shared values
};

OctetPlan PlanOctets(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan,
                     int vector_bytes);

// Whether e is a multiple of 8 wherever `axis` is.
bool IsMultipleOfEight(const Expr& e, const Expr& axis);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_OCTET_PLAN_H_
