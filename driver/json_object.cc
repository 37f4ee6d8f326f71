#include "driver/json_object.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lathe::driver {

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7f) {
      absl::StrAppend(&out, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

std::string JsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

std::string JsonArray(const std::vector<std::string>& raw_items) {
  return absl::StrCat("[", absl::StrJoin(raw_items, ", "), "]");
}

JsonObject& JsonObject::AddRaw(absl::string_view key, absl::string_view value) {
  absl::StrAppend(&members_, members_.empty() ? "" : ", ", JsonString(key), ": ", value);
  return *this;
}

}  // namespace lathe::driver
