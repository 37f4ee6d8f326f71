#ifndef LATHE_IR_OPS_DECOMPOSED_ROW_H_
#define LATHE_IR_OPS_DECOMPOSED_ROW_H_

// Rows that are only their decomposition: the registry takes result types and meaning from it.

#include <string>
#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

// Of an operator that is a kernel in ATen: decomposed after functionalization.
OpRow DecomposedRow(std::string schema, std::string doc, DecomposeFunction decompose,
                    std::vector<std::string> samples = {});

// Of ATen's CompositeImplicit operators: decomposed before functionalization (op_row.h).
OpRow CompositeRow(std::string schema, std::string doc, DecomposeFunction decompose,
                   std::vector<std::string> samples = {});

}  // namespace lathe

#endif  // LATHE_IR_OPS_DECOMPOSED_ROW_H_
