#ifndef LATHE_DRIVER_JSON_OBJECT_H_
#define LATHE_DRIVER_JSON_OBJECT_H_

// Writes JSON, for --json.
//
//   JsonObject o;
//   o.Add("tier", "tile").Add("kernels", int64_t{3}).AddRaw("sizes", "[2, 3]");
//   o.Text() == R"({"tier": "tile", "kernels": 3, "sizes": [2, 3]})"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lathe::driver {

std::string JsonString(absl::string_view text);  // quoted and escaped
// The shortest form that reads back; "null" for what JSON cannot say (NaN, infinities).
std::string JsonNumber(double value);
std::string JsonArray(const std::vector<std::string>& raw_items);

class JsonObject {
 public:
  JsonObject& Add(absl::string_view key, absl::string_view value) {
    return AddRaw(key, JsonString(value));
  }
  JsonObject& Add(absl::string_view key, const char* value) {
    return AddRaw(key, JsonString(value));
  }
  JsonObject& Add(absl::string_view key, const std::string& value) {
    return AddRaw(key, JsonString(value));
  }
  JsonObject& Add(absl::string_view key, int64_t value) {
    return AddRaw(key, std::to_string(value));
  }
  JsonObject& Add(absl::string_view key, double value) { return AddRaw(key, JsonNumber(value)); }
  JsonObject& Add(absl::string_view key, bool value) {
    return AddRaw(key, value ? "true" : "false");
  }
  // `value` is JSON already.
  JsonObject& AddRaw(absl::string_view key, absl::string_view value);
  std::string Text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_JSON_OBJECT_H_
