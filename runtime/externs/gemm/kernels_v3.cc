#define LATHE_GEMM_TABLE kV3Table
#include "runtime/externs/gemm/kernels.inc"
