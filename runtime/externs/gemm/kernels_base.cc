#define LATHE_GEMM_TABLE kBaseTable
#include "runtime/externs/gemm/kernels.inc"
