#ifndef LATHE_RUNTIME_TRACE_MD5_HEX_H_
#define LATHE_RUNTIME_TRACE_MD5_HEX_H_

#include <string>

#include "absl/strings/string_view.h"

namespace lathe {

// RFC 1321, as 32 lower-case hexadecimal digits. The trace format wants it; it protects nothing.
std::string Md5Hex(absl::string_view bytes);

}  // namespace lathe

#endif  // LATHE_RUNTIME_TRACE_MD5_HEX_H_
