#ifndef LATHE_RUNTIME_EXTERNS_BUILTIN_H_
#define LATHE_RUNTIME_EXTERNS_BUILTIN_H_

// The externs that lathe brings, one file each; externs.cc puts them into FindExtern's table.

#include "runtime/externs/extern.h"

namespace lathe {

const Extern* GemmExtern();           // gemm.cc
const Extern* Conv2dExtern();         // convolution.cc
const Extern* ConvNdExtern();         // convolution.cc
const Extern* SortExtern();           // sort.cc
const Extern* TopKExtern();           // topk.cc
const Extern* CumulativeExtern();     // cumulative.cc
const Extern* NonzeroExtern();        // nonzero.cc
const Extern* CopyExtern();           // copy.cc
const Extern* ScatterReduceExtern();  // scatter_reduce.cc
const Extern* KthValueExtern();       // kthvalue.cc

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_BUILTIN_H_
