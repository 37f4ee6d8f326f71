#ifndef LATHE_CODEGEN_CPU_KERNEL_TEXT_H_
#define LATHE_CODEGEN_CPU_KERNEL_TEXT_H_

#include "absl/strings/string_view.h"

namespace lathe::cpu {

// The files of kernel_text/ and codegen/math/vector_math.h, embedded: a user's machine needs a
// compiler, no headers.
absl::string_view CoreText();
absl::string_view IntegersText();
absl::string_view SmallFloatsText();
absl::string_view SubByteText();
absl::string_view OctetsText();
absl::string_view ReductionsText();
absl::string_view VectorMathText();

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_KERNEL_TEXT_H_
