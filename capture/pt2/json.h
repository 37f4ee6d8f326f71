#ifndef LATHE_CAPTURE_PT2_JSON_H_
#define LATHE_CAPTURE_PT2_JSON_H_

// A parsed JSON text whose values know where they stand: every error names the record and the path,
// "models/model.json: graph_module.graph.nodes[3].inputs[1].arg: expected an object, got 7".
// A path is searched for only when an error is written, so a value is two pointers.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace lathe::pt2 {

class JsonDocument;

class JsonValue {
 public:
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_bool() const;
  bool is_integer() const;  // within int64

  // Members of an object. Field: InvalidArgument when it is missing.
  absl::StatusOr<JsonValue> Field(absl::string_view name) const;
  absl::StatusOr<JsonValue> ObjectField(absl::string_view name) const;
  absl::StatusOr<JsonValue> ArrayField(absl::string_view name) const;
  absl::StatusOr<absl::string_view> StringField(absl::string_view name) const;
  std::optional<JsonValue> Find(absl::string_view name) const;           // nullopt: missing or null
  std::vector<std::pair<absl::string_view, JsonValue>> Members() const;  // of an object
  // The one member of a union {"as_int": 3}. InvalidArgument when there are none or several.
  absl::StatusOr<std::pair<absl::string_view, JsonValue>> Union() const;
  // Unimplemented naming a member that is not in `known`, unless its value says nothing (null,
  // false, 0, or empty): a later minor version may add fields, but not a meaning.
  absl::Status CheckFields(std::initializer_list<absl::string_view> known) const;

  size_t size() const;  // of an array, else 0
  JsonValue operator[](size_t k) const;

  absl::StatusOr<absl::string_view> String() const;
  absl::StatusOr<int64_t> Integer() const;
  absl::StatusOr<double> Float() const;  // also "Infinity", "-Infinity", "NaN"
  absl::StatusOr<bool> Bool() const;

  std::string Path() const;  // "graph_module.graph.nodes[3]"
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(Place(), parts...));
  }
  template <typename... Parts>
  absl::Status Unsupported(const Parts&... parts) const {
    return absl::UnimplementedError(absl::StrCat(Place(), parts...));
  }
  // The same status with this value's place before its message.
  absl::Status Annotated(const absl::Status& status) const;

 private:
  friend class JsonDocument;
  JsonValue(const JsonDocument* document, const void* value) : document_(document), value_(value) {}
  std::string Place() const;  // "RECORD: PATH: "
  absl::Status Expected(absl::string_view what) const;

  const JsonDocument* document_;
  const void* value_;
};

class JsonDocument {
 public:
  // `record` is the name for messages. Nesting deeper than 256 is refused.
  static absl::StatusOr<std::unique_ptr<JsonDocument>> Parse(std::string record,
                                                             absl::string_view text);
  ~JsonDocument();
  JsonValue root() const;
  const std::string& record() const { return record_; }

 private:
  JsonDocument();
  struct Impl;
  std::string record_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_JSON_H_
