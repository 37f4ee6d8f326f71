#ifndef LATHE_RUNTIME_TRACE_JSON_TEXT_H_
#define LATHE_RUNTIME_TRACE_JSON_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace lathe {

// The text as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string JsonText(absl::string_view text);

}  // namespace lathe

#endif  // LATHE_RUNTIME_TRACE_JSON_TEXT_H_
