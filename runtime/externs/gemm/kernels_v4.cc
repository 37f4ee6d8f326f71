#define LATHE_GEMM_TABLE kV4Table
#include "runtime/externs/gemm/kernels.inc"
