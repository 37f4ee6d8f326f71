#include "driver/arguments.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe::driver {
namespace {

const Option* FindOption(const std::vector<Option>& options, absl::string_view name,
                         bool is_letter) {
  for (const Option& option : options) {
    if (!name.empty() && name == (is_letter ? option.letter : option.name)) return &option;
  }
  return nullptr;
}

// "--name=value", "-ivalue" or "--name" split into the two parts.
struct Word {
  std::string name;
  std::optional<std::string> value;
  bool is_letter = false;
};

Word SplitWord(const std::string& word) {
  Word result;
  result.is_letter = !absl::StartsWith(word, "--");
  if (result.is_letter) {
    result.name = word.substr(1, 1);
    if (word.size() > 2) result.value = word.substr(2);
    return result;
  }
  size_t equals = word.find('=');
  result.name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
  if (equals != std::string::npos) result.value = word.substr(equals + 1);
  return result;
}

}  // namespace

absl::StatusOr<Arguments> Arguments::Parse(const std::vector<std::string>& words,
                                           const std::vector<Option>& options) {
  Arguments result;
  bool options_ended = false;
  for (size_t k = 0; k < words.size(); ++k) {
    const std::string& text = words[k];
    if (options_ended || text.size() < 2 || text[0] != '-') {
      result.positional_.push_back(text);
      continue;
    }
    if (text == "--") {
      options_ended = true;
      continue;
    }
    Word word = SplitWord(text);
    const Option* option = FindOption(options, word.name, word.is_letter);
    if (option == nullptr) return InvalidArgument("unknown option ", text);
    bool needs_value = option->kind == Option::kValue || option->kind == Option::kRepeated;
    if (needs_value && !word.value) {
      if (k + 1 == words.size()) return InvalidArgument("the option ", text, " needs a value");
      word.value = words[++k];
    }
    if (option->kind == Option::kFlag && word.value) {
      return InvalidArgument("the option --", option->name, " takes no value");
    }
    std::vector<std::string>& values = result.values_[option->name];
    if (!values.empty() && option->kind != Option::kRepeated) {
      return InvalidArgument("the option --", option->name, " is given twice");
    }
    values.push_back(word.value.value_or(""));
  }
  return result;
}

std::optional<std::string> Arguments::Value(const std::string& option) const {
  auto it = values_.find(option);
  if (it == values_.end()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> Arguments::Values(const std::string& option) const {
  auto it = values_.find(option);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

absl::StatusOr<int64_t> Arguments::Integer(const std::string& option, int64_t otherwise,
                                           int64_t least, int64_t most) const {
  std::optional<std::string> text = Value(option);
  if (!text) return otherwise;
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value) || value < least || value > most) {
    return InvalidArgument("--", option, " must be a whole number from ", least, " to ", most,
                           ", not '", *text, "'");
  }
  return value;
}

absl::Status Arguments::ExpectPositional(size_t least, size_t most, absl::string_view usage) const {
  if (positional_.size() >= least && positional_.size() <= most) return absl::OkStatus();
  return InvalidArgument("usage: ", usage);
}

}  // namespace lathe::driver
