#include "capture/pt2/guard_sources.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "capture/pt2/json.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

using Sources = std::vector<std::string>;  // of one place: every way to write it

// "['k']", "[0]": how Python subscripts by the k-th key; "" for keys of other types.
std::string Subscript(const JsonValue& keys, size_t k) {
  if (k >= keys.size()) return "";
  if (keys[k].is_string()) return absl::StrCat("['", *keys[k].String(), "']");
  if (keys[k].is_integer()) return absl::StrCat("[", *keys[k].Integer(), "]");
  return "";
}

// How the children of a container follow its own source: one list a child.
class Container {
 public:
  Container(const JsonValue& node, const std::string& type, const NamedtupleFields& fields) {
    is_sequence_ = type == "builtins.tuple" || type == "builtins.list" ||
                   type == "collections.namedtuple" || type == "collections.deque";
    std::optional<JsonValue> context = node.Find("context");
    if (!context || !context->is_string()) return;
    absl::StatusOr<std::unique_ptr<JsonDocument>> parsed =
        JsonDocument::Parse("context", *context->String());
    if (!parsed.ok()) return;
    context_ = *std::move(parsed);
    if (type == "builtins.dict" || type == "collections.OrderedDict") keys_ = context_->root();
    if (type == "collections.defaultdict") keys_ = context_->root().Find("dict_context");
    if (type == "collections.namedtuple" && context_->root().is_string()) {
      auto known = fields.find(*context_->root().String());
      if (known != fields.end()) attributes_ = &known->second;
    }
  }

  std::vector<std::string> Endings(size_t k) const {
    std::vector<std::string> endings;
    if (is_sequence_) endings.push_back(absl::StrCat("[", k, "]"));
    if (keys_ && !Subscript(*keys_, k).empty()) endings.push_back(Subscript(*keys_, k));
    if (attributes_ != nullptr && k < attributes_->size()) {
      endings.push_back(absl::StrCat(".", (*attributes_)[k]));
    }
    return endings;
  }

 private:
  bool is_sequence_ = false;
  std::unique_ptr<JsonDocument> context_;
  std::optional<JsonValue> keys_;
  const std::vector<std::string>* attributes_ = nullptr;
};

// A guard writes a nested leaf in one of few ways; more than these are not worth their memory.
constexpr size_t kMostSources = 16;

// Appends the sources of the leaves below `node`, whose own sources are `sources`.
void AppendLeaves(const JsonValue& node, const Sources& sources, const NamedtupleFields& fields,
                  std::vector<Sources>& leaves) {
  std::optional<JsonValue> type = node.Find("type");
  if (!type) {
    leaves.push_back(sources);
    return;
  }
  std::optional<JsonValue> children = node.Find("children_spec");
  if (!children) return;
  const Container container(node, std::string(type->is_string() ? *type->String() : ""), fields);
  for (size_t k = 0; k < children->size(); ++k) {
    Sources below;
    for (const std::string& ending : container.Endings(k)) {
      for (const std::string& source : sources) {
        if (below.size() < kMostSources) below.push_back(source + ending);
      }
    }
    AppendLeaves((*children)[k], below, fields, leaves);
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

std::vector<Sources> LeafSources(absl::string_view in_spec,
                                 const std::vector<std::string>& argument_names,
                                 const NamedtupleFields& fields) {
  absl::StatusOr<std::unique_ptr<JsonDocument>> parsed = JsonDocument::Parse("in_spec", in_spec);
  if (!parsed.ok() || (*parsed)->root().size() != 2) return {};
  // (args, kwargs), each argument under its own name.
  std::optional<JsonValue> both = (*parsed)->root()[1].Find("children_spec");
  if (!both || both->size() != 2) return {};
  std::vector<Sources> leaves;
  size_t used = 0;
  for (size_t part = 0; part < 2; ++part) {
    std::optional<JsonValue> children = (*both)[part].Find("children_spec");
    for (size_t k = 0; children && k < children->size(); ++k, ++used) {
      Sources sources;
      if (used < argument_names.size()) {
        sources.push_back(absl::StrCat("L['", argument_names[used], "']"));
      }
      AppendLeaves((*children)[k], sources, fields, leaves);
    }
  }
  return leaves;
}

const UserArgument* GuardSources::Find(absl::string_view source) const {
  auto it = arguments_.find(source);
  if (it != arguments_.end()) return &it->second;
  // L['xs'][0] for what the graph calls xs_0: forward(*xs).
  std::vector<absl::string_view> parts = absl::StrSplit(source, "'][");
  int64_t index = 0;
  if (parts.size() != 2 || !absl::ConsumeSuffix(&parts[1], "]") ||
      !absl::SimpleAtoi(parts[1], &index)) {
    return nullptr;
  }
  it = arguments_.find(absl::StrCat(parts[0], "_", index, "']"));
  return it != arguments_.end() ? &it->second : nullptr;
}

bool GuardSources::IsBesidesInputs(absl::string_view source) const {
  for (const absl::string_view attribute : {"._base", ".grad"}) {
    const size_t at = source.find(attribute);
    if (at == absl::string_view::npos) continue;
    const UserArgument* argument = Find(source.substr(0, at));
    if (argument != nullptr && argument->input != nullptr) return true;
  }
  return false;
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
  const UserArgument* argument = Find(base);
  if (argument == nullptr) return Unimplemented("the source ", source, " names no input");
  if (argument->input == nullptr) {
    if (kind == kScalar && argument->constant) return *argument->constant;
    return Unimplemented("the source ", source, " is not a number");
  }
  const ValueType& type = argument->input->type;
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
