#include "capture/pt2/json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"

namespace lathe::pt2 {
namespace {

using Raw = rapidjson::Value;
constexpr int kDeepest = 256;

const Raw& AsRaw(const void* value) { return *static_cast<const Raw*>(value); }

absl::string_view Text(const Raw& v) { return {v.GetString(), v.GetStringLength()}; }

// Builds the document and stops where nesting gets too deep. The reader keeps its state on the
// heap, so depth alone could not overflow the stack here; what walks the result later recurses.
class DepthLimit {
 public:
  explicit DepthLimit(rapidjson::Document& target) : target_(target) {}
  bool Null() { return target_.Null(); }
  bool Bool(bool v) { return target_.Bool(v); }
  bool Int(int v) { return target_.Int(v); }
  bool Uint(unsigned v) { return target_.Uint(v); }
  bool Int64(int64_t v) { return target_.Int64(v); }
  bool Uint64(uint64_t v) { return target_.Uint64(v); }
  bool Double(double v) { return target_.Double(v); }
  bool RawNumber(const char* s, unsigned n, bool copy) { return target_.RawNumber(s, n, copy); }
  bool String(const char* s, unsigned n, bool copy) { return target_.String(s, n, copy); }
  bool Key(const char* s, unsigned n, bool copy) { return target_.Key(s, n, copy); }
  bool StartObject() { return ++depth_ <= kDeepest && target_.StartObject(); }
  bool EndObject(unsigned n) { return --depth_, target_.EndObject(n); }
  bool StartArray() { return ++depth_ <= kDeepest && target_.StartArray(); }
  bool EndArray(unsigned n) { return --depth_, target_.EndArray(n); }
  bool too_deep() const { return depth_ > kDeepest; }

 private:
  rapidjson::Document& target_;
  int depth_ = 0;
};

// "nodes[3].inputs": appends the way from `from` to `target`; depth is at most kDeepest.
bool AppendPath(const Raw& from, const Raw* target, std::string& path) {
  if (&from == target) return true;
  size_t length = path.size();
  if (from.IsObject()) {
    for (const auto& member : from.GetObject()) {
      absl::StrAppend(&path, path.empty() ? "" : ".", Text(member.name));
      if (AppendPath(member.value, target, path)) return true;
      path.resize(length);
    }
  } else if (from.IsArray()) {
    for (size_t k = 0; k < from.Size(); ++k) {
      absl::StrAppend(&path, "[", k, "]");
      if (AppendPath(from[static_cast<unsigned>(k)], target, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

// A short description of a value for messages.
std::string Summary(const Raw& v) {
  if (v.IsNull()) return "null";
  if (v.IsBool()) return v.GetBool() ? "true" : "false";
  if (v.IsObject()) return "an object";
  if (v.IsArray()) return absl::StrCat("an array of ", v.Size());
  if (v.IsInt64()) return absl::StrCat(v.GetInt64());
  if (v.IsUint64()) return absl::StrCat(v.GetUint64());
  if (v.IsNumber()) return absl::StrCat(v.GetDouble());
  return absl::StrCat("\"", absl::CHexEscape(Text(v).substr(0, 60)), "\"");
}

// Nothing that could change what the program means.
bool SaysNothing(const Raw& v) {
  return v.IsNull() || (v.IsBool() && !v.GetBool()) || (v.IsObject() && v.ObjectEmpty()) ||
         (v.IsArray() && v.Empty()) || (v.IsString() && v.GetStringLength() == 0) ||
         (v.IsNumber() && v.GetDouble() == 0);
}

bool IsAscii(absl::string_view text) {
  uint64_t seen = 0;
  for (; text.size() >= sizeof seen; text.remove_prefix(sizeof seen)) {
    uint64_t word;
    std::memcpy(&word, text.data(), sizeof word);
    seen |= word;
  }
  for (const char c : text) seen |= static_cast<unsigned char>(c);
  return (seen & 0x8080808080808080) == 0;
}

struct Outcome {
  size_t read;
  std::string message;  // empty: all is well
};

// Strings stay in `text`. What is not ASCII is checked to be UTF-8.
Outcome ParseInto(std::string& text, bool is_ascii, rapidjson::Document& document,
                  DepthLimit& handler) {
  rapidjson::ParseResult result;
  size_t read = 0;
  const auto parse = [&](rapidjson::Document&) {
    constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                                rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag;
    rapidjson::Reader reader;
    rapidjson::InsituStringStream stream(text.data());
    result = is_ascii
                 ? reader.Parse<kFlags>(stream, handler)
                 : reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, handler);
    read = result.IsError() ? result.Offset() : stream.Tell();
    return !result.IsError();
  };
  document.Populate(parse);
  if (result.IsError()) return {read, rapidjson::GetParseError_En(result.Code())};
  // The stream ends at a byte of 0, wherever that stands.
  if (read < text.size()) return {read, "a byte of 0 stands there"};
  return {read, ""};
}

}  // namespace

// The document's strings lie in `text`, where the reader has unescaped them.
struct JsonDocument::Impl {
  std::string text;
  rapidjson::Document document;
};

JsonDocument::JsonDocument() : impl_(std::make_unique<Impl>()) {}
JsonDocument::~JsonDocument() = default;
JsonValue JsonDocument::root() const {
  return JsonValue(this, static_cast<const Raw*>(&impl_->document));
}

absl::StatusOr<std::unique_ptr<JsonDocument>> JsonDocument::Parse(std::string record,
                                                                  absl::string_view text) {
  std::unique_ptr<JsonDocument> result(new JsonDocument);
  result->record_ = std::move(record);
  Impl& impl = *result->impl_;
  impl.text = std::string(absl::StripPrefix(text, "\xef\xbb\xbf"));
  DepthLimit handler(impl.document);
  const Outcome outcome = ParseInto(impl.text, IsAscii(text), impl.document, handler);
  if (handler.too_deep()) {
    return InvalidArgument(result->record_, ": JSON is nested deeper than ", kDeepest, " levels");
  }
  if (!outcome.message.empty()) {
    return DataLoss(result->record_, ": not valid JSON at byte ", outcome.read, ": ",
                    outcome.message);
  }
  return result;
}

bool JsonValue::is_null() const { return AsRaw(value_).IsNull(); }
bool JsonValue::is_object() const { return AsRaw(value_).IsObject(); }
bool JsonValue::is_array() const { return AsRaw(value_).IsArray(); }
bool JsonValue::is_string() const { return AsRaw(value_).IsString(); }
bool JsonValue::is_bool() const { return AsRaw(value_).IsBool(); }
bool JsonValue::is_integer() const { return AsRaw(value_).IsInt64(); }

std::string JsonValue::Path() const {
  std::string path;
  AppendPath(AsRaw(document_->root().value_), &AsRaw(value_), path);
  return path;
}

std::string JsonValue::Place() const {
  std::string path = Path();
  return absl::StrCat(document_->record(), ": ", path, path.empty() ? "" : ": ");
}

absl::Status JsonValue::Annotated(const absl::Status& status) const {
  std::string place = Place();
  place.resize(place.size() - 2);  // Annotate writes ": " itself
  return Annotate(status, place);
}

absl::Status JsonValue::Expected(absl::string_view what) const {
  return Invalid("expected ", what, ", got ", Summary(AsRaw(value_)));
}

std::optional<JsonValue> JsonValue::Find(absl::string_view name) const {
  const Raw& v = AsRaw(value_);
  if (!v.IsObject()) return std::nullopt;
  for (const auto& member : v.GetObject()) {
    if (Text(member.name) != name) continue;
    if (member.value.IsNull()) return std::nullopt;
    return JsonValue(document_, &member.value);
  }
  return std::nullopt;
}

absl::StatusOr<JsonValue> JsonValue::Field(absl::string_view name) const {
  if (!is_object()) return Expected("an object");
  if (std::optional<JsonValue> found = Find(name)) return *found;
  return Invalid("the field '", name, "' is missing");
}

absl::StatusOr<JsonValue> JsonValue::ObjectField(absl::string_view name) const {
  LATHE_ASSIGN_OR_RETURN(JsonValue field, Field(name));
  if (!field.is_object()) return field.Expected("an object");
  return field;
}

absl::StatusOr<JsonValue> JsonValue::ArrayField(absl::string_view name) const {
  LATHE_ASSIGN_OR_RETURN(JsonValue field, Field(name));
  if (!field.is_array()) return field.Expected("an array");
  return field;
}

absl::StatusOr<absl::string_view> JsonValue::StringField(absl::string_view name) const {
  LATHE_ASSIGN_OR_RETURN(JsonValue field, Field(name));
  return field.String();
}

std::vector<std::pair<absl::string_view, JsonValue>> JsonValue::Members() const {
  std::vector<std::pair<absl::string_view, JsonValue>> members;
  if (!is_object()) return members;
  for (const auto& member : AsRaw(value_).GetObject()) {
    members.emplace_back(Text(member.name), JsonValue(document_, &member.value));
  }
  return members;
}

absl::StatusOr<std::pair<absl::string_view, JsonValue>> JsonValue::Union() const {
  const Raw& v = AsRaw(value_);
  if (!v.IsObject()) return Expected("an object");
  if (v.MemberCount() != 1) {
    return Invalid("expected exactly one member, got ", v.MemberCount());
  }
  const auto& member = *v.MemberBegin();
  return std::pair(Text(member.name), JsonValue(document_, &member.value));
}

absl::Status JsonValue::CheckFields(std::initializer_list<absl::string_view> known) const {
  if (!is_object()) return Expected("an object");
  for (const auto& member : AsRaw(value_).GetObject()) {
    absl::string_view name = Text(member.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (SaysNothing(member.value)) continue;
    return JsonValue(document_, &member.value).Unsupported("lathe does not know this field");
  }
  return absl::OkStatus();
}

size_t JsonValue::size() const {
  const Raw& v = AsRaw(value_);
  return v.IsArray() ? v.Size() : 0;
}

JsonValue JsonValue::operator[](size_t k) const {
  return JsonValue(document_, &AsRaw(value_)[static_cast<unsigned>(k)]);
}

absl::StatusOr<absl::string_view> JsonValue::String() const {
  if (!is_string()) return Expected("a string");
  return Text(AsRaw(value_));
}

absl::StatusOr<int64_t> JsonValue::Integer() const {
  if (!is_integer()) return Expected("an integer of 64 bits");
  return AsRaw(value_).GetInt64();
}

absl::StatusOr<double> JsonValue::Float() const {
  const Raw& v = AsRaw(value_);
  if (v.IsNumber()) return v.GetDouble();
  if (v.IsString()) {
    if (Text(v) == "Infinity") return std::numeric_limits<double>::infinity();
    if (Text(v) == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (Text(v) == "NaN") return std::nan("");
  }
  return Expected("a number");
}

absl::StatusOr<bool> JsonValue::Bool() const {
  if (!is_bool()) return Expected("true or false");
  return AsRaw(value_).GetBool();
}

}  // namespace lathe::pt2
