#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/extern.h"

namespace lathe {

ExternAttributes ParseExternAttributes(absl::string_view text) {
  ExternAttributes attributes;
  for (absl::string_view part : absl::StrSplit(text, ';', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    attributes[std::string(pair.first)] = std::string(pair.second);
  }
  return attributes;
}

std::string FormatExternAttributes(const ExternAttributes& attributes) {
  std::string text;
  for (const auto& [key, value] : attributes) {
    absl::StrAppend(&text, text.empty() ? "" : ";", key, "=", value);
  }
  return text;
}

const Extern* FindExtern(absl::string_view id) {
  for (const Extern* (*get)() :
       {GemmExtern, Conv2dExtern, ConvNdExtern, SortExtern, TopKExtern, CumulativeExtern,
        NonzeroExtern, CopyExtern, ScatterReduceExtern, KthValueExtern}) {
    if (get()->id() == id) return get();
  }
  return nullptr;
}

}  // namespace lathe
