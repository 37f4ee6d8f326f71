#ifndef LATHE_CODEGEN_CPU_KERNEL_TEXT_CASES_H_
#define LATHE_CODEGEN_CPU_KERNEL_TEXT_CASES_H_

#include <string>

namespace lathe::cpu {

// The lines of what the functions of kernel_text get wrong; "" when all is well.
std::string KernelTextFaults();
std::string KernelTextFaultsOnAvx2();
std::string KernelTextFaultsOnAvx512();

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_KERNEL_TEXT_CASES_H_
