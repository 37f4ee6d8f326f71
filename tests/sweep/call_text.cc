#include "tests/sweep/call_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "ir/text/parser.h"

namespace lathe::sweep {
namespace {

std::optional<DType> DTypeNamed(absl::string_view word, DType swept) {
  if (word == "T") return swept;
  return ParseDType(std::string(word));
}

absl::StatusOr<Dims> ReadSizes(absl::string_view text) {
  Dims sizes;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    int64_t size = 3;  // of a symbol
    if (absl::ascii_isdigit(part[0]) && !absl::SimpleAtoi(part, &size)) {
      return InvalidArgument("no size: ", part);
    }
    sizes.push_back(size);
  }
  return sizes;
}

absl::StatusOr<Program> Parse(const std::string& call, const std::vector<std::string>& inputs,
                              size_t result_count) {
  std::vector<std::string> results;
  for (size_t k = 0; k < result_count; ++k) results.push_back(absl::StrCat("%r", k));
  const std::string all = absl::StrJoin(results, ", ");
  return ParseProgram(absl::StrCat("graph @call(", absl::StrJoin(inputs, ", "), ") {\n  ", all,
                                   all.empty() ? "" : " = ", call, "\n  return ", all, "\n}\n"),
                      OpRegistry::Builtin());
}

}  // namespace

absl::string_view LayoutName(Layout layout) {
  static constexpr absl::string_view kNames[] = {"dense", "transposed", "sliced", "expanded"};
  return kNames[static_cast<int>(layout)];
}

absl::StatusOr<CallText> ReadCall(absl::string_view text, DType dtype) {
  CallText call;
  std::string piece;
  const size_t open = text.find('(');
  if (open == absl::string_view::npos) return InvalidArgument("no call: ", text);
  call.op = std::string(text.substr(0, open));
  for (size_t i = open; i < text.size();) {
    if (text[i] == '"') {  // strings as they are
      const size_t end = std::min(text.find('"', i + 1), text.size() - 1);
      piece.append(text.substr(i, end + 1 - i).data(), end + 1 - i);
      i = end + 1;
      continue;
    }
    if (!absl::ascii_isalpha(text[i])) {
      piece += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '_')) ++end;
    const absl::string_view word = text.substr(i, end - i);
    const std::optional<DType> named = DTypeNamed(word, dtype);
    i = end;
    if (named && end < text.size() && text[end] == '[') {
      const size_t close = text.find(']', end);
      if (close == absl::string_view::npos) return InvalidArgument("no call: ", text);
      LATHE_ASSIGN_OR_RETURN(Dims sizes, ReadSizes(text.substr(end + 1, close - end - 1)));
      call.tensors.push_back({*named, sizes, word == "T"});
      call.pieces.push_back(std::move(piece));
      piece.clear();
      i = close + 1;
      // Layouts are the caller's choice.
      if (i < text.size() && text[i] == '{') i = std::min(text.find('}', i), text.size() - 1) + 1;
    } else if (word.size() > 1 && word[0] == 's' && absl::ascii_isdigit(word[1])) {
      piece += "3";  // a symbol
    } else if (word == "T") {
      absl::StrAppend(&piece, Name(dtype));
    } else {
      absl::StrAppend(&piece, word);
    }
  }
  call.pieces.push_back(std::move(piece));
  return call;
}

absl::StatusOr<Program> ProgramOf(const CallText& call, const std::vector<Tensor>& tensors) {
  std::vector<std::string> inputs;
  std::string arguments = call.pieces[0];
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    std::string type = absl::StrCat(Name(t.dtype()), "[", absl::StrJoin(t.sizes(), ", "), "]");
    if (!(t.strides() == Tensor::Empty(t.dtype(), t.sizes()).strides())) {
      absl::StrAppend(&type, "{", absl::StrJoin(t.strides(), ", "), "}");
    }
    if (t.offset() != 0) absl::StrAppend(&type, "+", t.offset());
    inputs.push_back(absl::StrCat("%x", k, ": ", type));
    absl::StrAppend(&arguments, "%x", k, call.pieces[k + 1]);
  }
  const OpRow* row = OpRegistry::Builtin().Find(call.op);
  if (row == nullptr) return Unimplemented("unknown operator '", call.op, "'");
  const std::vector<Schema::Return>& returns = row->parsed.returns;
  const bool is_list = returns.size() == 1 && returns[0].type == SchemaArgument::Type::kTensorList;
  // How many tensors a list has shows when the call is read.
  absl::Status status;
  for (size_t count = returns.size(); count < returns.size() + (is_list ? 9 : 1); ++count) {
    absl::StatusOr<Program> program = Parse(call.op + arguments, inputs, count);
    if (program.ok()) return program;
    if (status.ok()) status = program.status();
  }
  return status;
}

Tensor EmptyInLayout(DType dtype, const Dims& sizes, Layout layout) {
  const size_t rank = sizes.size();
  if (rank == 0 || layout == Layout::kDense) return Tensor::Empty(dtype, sizes);
  Dims strides = Tensor::Empty(dtype, sizes).strides(), larger = sizes;
  switch (layout) {
    case Layout::kTransposed: {
      Dims reversed(sizes);
      std::reverse(reversed.begin(), reversed.end());
      strides = Tensor::Empty(dtype, reversed).strides();
      std::reverse(strides.begin(), strides.end());
      return Tensor::EmptyStrided(dtype, sizes, strides);
    }
    case Layout::kSliced:
      larger[rank - 1] = 2 * sizes[rank - 1] + 1;
      strides = Tensor::Empty(dtype, larger).strides();
      strides[rank - 1] = 2;
      return Tensor::Empty(dtype, larger).AsStrided(sizes, strides, 1);
    default:
      larger[0] = 1;
      strides = Tensor::Empty(dtype, larger).strides();
      strides[0] = 0;
      return Tensor::Empty(dtype, larger).AsStrided(sizes, strides, 0);
  }
}

}  // namespace lathe::sweep
