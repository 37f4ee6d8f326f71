#include "ir/ops/matmul/einsum_equation.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

int LabelOf(char c) { return absl::ascii_isupper(c) ? c - 'A' : 26 + (c - 'a'); }

absl::StatusOr<std::vector<int>> Labels(absl::string_view text, absl::string_view where) {
  std::vector<int> labels;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == ' ') continue;
    if (absl::ascii_isalpha(text[k])) {
      labels.push_back(LabelOf(text[k]));
      continue;
    }
    if (text.substr(k, 3) != "...") {
      return InvalidArgument("einsum(): invalid subscript given at index ", k, " of the ", where,
                             " \"", text, "\": subscripts are letters and '...'");
    }
    if (std::find(labels.begin(), labels.end(), kEllipsis) != labels.end()) {
      return InvalidArgument("einsum(): found a second ellipsis in the ", where, " \"", text, "\"");
    }
    labels.push_back(kEllipsis);
    k += 2;
  }
  return labels;
}

absl::Status CheckOutput(const std::vector<int>& output, const std::array<int, kLabels>& counts) {
  std::array<bool, kLabels> seen = {};
  for (int label : output) {
    if (label == kEllipsis) continue;
    if (counts[label] == 0) {
      return InvalidArgument("einsum(): output subscript ", std::string(1, LabelName(label)),
                             " does not appear in the equation for any input operand");
    }
    if (seen[label]) {
      return InvalidArgument("einsum(): output subscript ", std::string(1, LabelName(label)),
                             " appears more than once in the output");
    }
    seen[label] = true;
  }
  return absl::OkStatus();
}

}  // namespace

char LabelName(int label) {
  return static_cast<char>(label < 26 ? 'A' + label : 'a' + (label - 26));
}

absl::StatusOr<EinsumEquation> ParseEinsum(absl::string_view text, size_t operands) {
  const size_t arrow = text.find("->");
  EinsumEquation equation;
  std::array<int, kLabels> counts = {};
  for (absl::string_view part : absl::StrSplit(text.substr(0, arrow), ',')) {
    LATHE_ASSIGN_OR_RETURN(std::vector<int> labels, Labels(part, "operand"));
    for (int label : labels) ++counts[label];
    equation.operands.push_back(std::move(labels));
  }
  if (equation.operands.size() != operands) {
    return InvalidArgument("einsum(): the equation \"", text, "\" has ", equation.operands.size(),
                           " operands, but ", operands, " were given");
  }
  if (arrow != absl::string_view::npos) {
    LATHE_ASSIGN_OR_RETURN(equation.output, Labels(text.substr(arrow + 2), "output"));
    LATHE_RETURN_IF_ERROR(CheckOutput(equation.output, counts));
    return equation;
  }
  if (counts[kEllipsis] > 0) equation.output.push_back(kEllipsis);
  for (int label = 0; label < kEllipsis; ++label) {
    if (counts[label] == 1) equation.output.push_back(label);
  }
  return equation;
}

}  // namespace lathe
