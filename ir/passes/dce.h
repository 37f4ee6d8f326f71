#ifndef LATHE_IR_PASSES_DCE_H_
#define LATHE_IR_PASSES_DCE_H_

// Erases nodes whose results nobody uses. Nodes with an effect stay (assertions, random draws,
// collectives), and so do those that bind an unbacked symbol that a live node needs.
//
//   %a = aten.sin(%x)   %b = aten.cos(%x)   return %b    ->    %b = aten.cos(%x)   return %b

#include "ir/passes/pass.h"

namespace lathe {

Pass DcePass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_DCE_H_
