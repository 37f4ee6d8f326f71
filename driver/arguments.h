#ifndef LATHE_DRIVER_ARGUMENTS_H_
#define LATHE_DRIVER_ARGUMENTS_H_

// Command-line arguments of one command.
//
//   Arguments::Parse({"model.pt2", "-i", "x=3", "--json"}, {{"input", "i", kRepeated}, {"json"}});

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::driver {

struct Option {
  enum Kind { kFlag, kValue, kRepeated, kOptionalValue };  // the last: --verify or --verify=each
  std::string name;                                        // without the dashes
  Kind kind = kFlag;
  std::string letter = "";  // "i" for -i
};

class Arguments {
 public:
  // "--" ends the options; "-" alone is a positional argument. InvalidArgument names what is
  // unknown, lacks its value, or is given twice.
  static absl::StatusOr<Arguments> Parse(const std::vector<std::string>& words,
                                         const std::vector<Option>& options);

  const std::vector<std::string>& positional() const { return positional_; }
  bool Has(const std::string& option) const { return values_.count(option) > 0; }
  // The value given, nullopt when the option is absent; "" for a flag.
  std::optional<std::string> Value(const std::string& option) const;
  std::vector<std::string> Values(const std::string& option) const;
  // InvalidArgument unless the value is a whole number in [least, most].
  absl::StatusOr<int64_t> Integer(const std::string& option, int64_t otherwise, int64_t least,
                                  int64_t most) const;
  // InvalidArgument unless there are between `least` and `most` positional arguments; `usage` says
  // which.
  absl::Status ExpectPositional(size_t least, size_t most, absl::string_view usage) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_ARGUMENTS_H_
