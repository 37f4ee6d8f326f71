#include "capture/pt2/guard_sources.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "capture/pt2/json.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

// Appends the sources of the leaves below `node`, whose own source is `source`.
void AppendLeaves(const JsonValue& node, const std::string& source,
                  std::vector<std::string>& leaves) {
  std::optional<JsonValue> type = node.Find("type");
  if (!type) {
    leaves.push_back(source);
    return;
  }
  std::optional<JsonValue> children = node.Find("children_spec");
  if (!children) return;
  std::string type_name(type->is_string() ? *type->String() : "");
  bool by_index = type_name == "builtins.tuple" || type_name == "builtins.list";
  std::unique_ptr<JsonDocument> keys;
  std::optional<JsonValue> context = node.Find("context");
  if (type_name == "builtins.dict" && context && context->is_string()) {
    absl::StatusOr<std::unique_ptr<JsonDocument>> parsed =
        JsonDocument::Parse("keys", *context->String());
    if (parsed.ok()) keys = *std::move(parsed);
  }
  for (size_t k = 0; k < children->size(); ++k) {
    std::string child;  // unknown, unless the container is one that guards can write
    if (!source.empty() && by_index) child = absl::StrCat(source, "[", k, "]");
    if (!source.empty() && keys && k < keys->root().size() && keys->root()[k].is_string()) {
      child = absl::StrCat(source, "['", *keys->root()[k].String(), "']");
    }
    AppendLeaves((*children)[k], child, leaves);
  }
}

// "x.size()[1]" -> "x" and 1, when the source ends so.
bool ConsumeElement(absl::string_view& source, absl::string_view method, int64_t* index) {
  size_t open = source.rfind('[');
  if (open == absl::string_view::npos || source.back() != ']') return false;
  absl::string_view digits = source.substr(open + 1, source.size() - open - 2);
  if (!absl::SimpleAtoi(digits, index)) return false;
  absl::string_view base = source.substr(0, open);
  if (!absl::ConsumeSuffix(&base, method)) return false;
  source = base;
  return true;
}

absl::StatusOr<Expr> Element(const std::vector<Expr>& values, int64_t index,
                             absl::string_view source) {
  if (index < 0 || index >= static_cast<int64_t>(values.size())) {
    return InvalidArgument("there is no dimension ", index, " of ", source);
  }
  return values[index];
}

}  // namespace

std::vector<std::string> LeafSources(absl::string_view in_spec,
                                     const std::vector<std::string>& argument_names) {
  absl::StatusOr<std::unique_ptr<JsonDocument>> parsed = JsonDocument::Parse("in_spec", in_spec);
  if (!parsed.ok() || (*parsed)->root().size() != 2) return {};
  // (args, kwargs), each argument under its own name.
  std::optional<JsonValue> both = (*parsed)->root()[1].Find("children_spec");
  if (!both || both->size() != 2) return {};
  std::vector<std::string> leaves;
  size_t used = 0;
  for (size_t part = 0; part < 2; ++part) {
    std::optional<JsonValue> children = (*both)[part].Find("children_spec");
    for (size_t k = 0; children && k < children->size(); ++k, ++used) {
      std::string source =
          used < argument_names.size() ? absl::StrCat("L['", argument_names[used], "']") : "";
      AppendLeaves((*children)[k], source, leaves);
    }
  }
  return leaves;
}

absl::StatusOr<Expr> GuardSources::Resolve(absl::string_view source) const {
  absl::string_view base = source;
  int64_t index = 0;
  enum { kSize, kStride, kOffset, kScalar } kind = kScalar;
  if (ConsumeElement(base, ".size()", &index)) {
    kind = kSize;
  } else if (ConsumeElement(base, ".stride()", &index)) {
    kind = kStride;
  } else if (absl::ConsumeSuffix(&base, ".storage_offset()")) {
    kind = kOffset;
  }
  auto it = inputs_.find(base);
  if (it == inputs_.end()) return Unimplemented("the source ", source, " names no input");
  const ValueType& type = it->second->type;
  if (kind == kScalar) {
    if (type.is_scalar()) return type.scalar().value;
    return Unimplemented("the source ", source, " is not a number");
  }
  if (!type.is_tensor()) return InvalidArgument(base, " is not a tensor");
  if (kind == kSize) return Element(type.tensor().sizes, index, base);
  if (kind == kStride) return Element(type.tensor().strides, index, base);
  return type.tensor().offset;
}

}  // namespace lathe::pt2
