#include "dtypes/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lathe::base {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  message_ << file << ":" << line << ": check failed: " << condition << " ";
}

CheckFailure::~CheckFailure() { AbortNow(); }

void CheckFailure::AbortNow() {
  std::fprintf(stderr, "%s\n", message_.str().c_str());
  std::abort();
}

}  // namespace lathe::base
