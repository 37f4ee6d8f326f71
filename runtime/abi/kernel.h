#ifndef LATHE_RUNTIME_ABI_KERNEL_H_
#define LATHE_RUNTIME_ABI_KERNEL_H_

/* The C interface between the runtime and every generated kernel. Plain C: generated code repeats
 * these declarations word for word. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LatheKernelError {
  int64_t value; /* the offending value: an index, a divisor... */
} LatheKernelError;

typedef struct LatheKernelArgs {
  void* const* buffers;   /* first element of each buffer (base plus offset) */
  const int64_t* scalars; /* the spec's symbols in order */
  int64_t begin, end;     /* range of axis 0 */
  void* scratch;          /* this worker's scratch memory, 64-byte aligned, for row locals */
  LatheKernelError* error;
} LatheKernelArgs;

/* 0, or 1 + the row of the spec's error table that failed; kLatheIndexError and
 * kLatheDivisionError for the failures that have no row of their own. */
typedef int32_t (*LatheKernelFunction)(const LatheKernelArgs* args);

enum { kLatheOk = 0, kLatheIndexError = -1, kLatheDivisionError = -2 };
/* Of kernels that take memory of their own beside the scratch (the tile tier's): `value` bytes. */
enum { kLatheMemoryError = -3 };

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATHE_RUNTIME_ABI_KERNEL_H_ */
