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

struct ProgramText {
  std::vector<std::string> inputs, lines, results;
};

absl::StatusOr<Program> Parse(const ProgramText& text) {
  return ParseProgram(absl::StrCat("graph @call(", absl::StrJoin(text.inputs, ", "), ") {\n  ",
                                   absl::StrJoin(text.lines, "\n  "), "\n  return ",
                                   absl::StrJoin(text.results, ", "), "\n}\n"),
                      OpRegistry::Builtin());
}

std::string TypeText(const Tensor& t) {
  std::string type = absl::StrCat(Name(t.dtype()), "[", absl::StrJoin(t.sizes(), ", "), "]");
  if (!(t.strides() == Tensor::Empty(t.dtype(), t.sizes()).strides())) {
    absl::StrAppend(&type, "{", absl::StrJoin(t.strides(), ", "), "}");
  }
  if (t.offset() != 0) absl::StrAppend(&type, "+", t.offset());
  return type;
}

// The call with its inputs, giving `result_count` results.
ProgramText TextOf(const CallText& call, const std::vector<Tensor>& tensors, size_t result_count,
                   size_t first_input, size_t first_result) {
  ProgramText text;
  std::string line = call.op + call.pieces[0];
  for (size_t k = 0; k < tensors.size(); ++k) {
    const std::string name = absl::StrCat("%x", first_input + k);
    text.inputs.push_back(absl::StrCat(name, ": ", TypeText(tensors[k])));
    absl::StrAppend(&line, name, call.pieces[k + 1]);
  }
  for (size_t k = 0; k < result_count; ++k) {
    text.results.push_back(absl::StrCat("%r", first_result + k));
  }
  text.lines.push_back(
      absl::StrCat(absl::StrJoin(text.results, ", "), text.results.empty() ? "" : " = ", line));
  return text;
}

absl::Status AppendCall(const CallText& call, const std::vector<Tensor>& tensors,
                        ProgramText& all) {
  const OpRow* row = OpRegistry::Builtin().Find(call.op);
  if (row == nullptr) return Unimplemented("unknown operator '", call.op, "'");
  const std::vector<Schema::Return>& returns = row->parsed.returns;
  const bool is_list = returns.size() == 1 && returns[0].type == SchemaArgument::Type::kTensorList;
  // How many tensors a list has shows when the call is read.
  absl::Status status;
  for (size_t count = returns.size(); count < returns.size() + (is_list ? 9 : 1); ++count) {
    const ProgramText text = TextOf(call, tensors, count, all.inputs.size(), all.results.size());
    const absl::StatusOr<Program> program = Parse(text);
    if (program.ok()) {
      all.inputs.insert(all.inputs.end(), text.inputs.begin(), text.inputs.end());
      all.lines.insert(all.lines.end(), text.lines.begin(), text.lines.end());
      all.results.insert(all.results.end(), text.results.begin(), text.results.end());
      return absl::OkStatus();
    }
    if (status.ok()) status = program.status();
  }
  return status;
}

}  // namespace

absl::string_view LayoutName(Layout layout) {
  static constexpr absl::string_view kNames[] = {"dense", "transposed", "sliced", "expanded",
                                                 "at an offset"};
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
  return ProgramOf(absl::MakeConstSpan(&call, 1), absl::MakeConstSpan(&tensors, 1));
}

absl::StatusOr<Program> ProgramOf(absl::Span<const CallText> calls,
                                  absl::Span<const std::vector<Tensor>> tensors) {
  ProgramText text;
  for (size_t k = 0; k < calls.size(); ++k) {
    LATHE_RETURN_IF_ERROR(AppendCall(calls[k], tensors[k], text));
  }
  return Parse(text);
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
    case Layout::kOffset: {
      const int64_t count = Tensor::Empty(dtype, sizes).numel();
      return Tensor::Empty(dtype, {count + 3}).AsStrided(sizes, strides, 3);
    }
    default:
      larger[0] = 1;
      strides = Tensor::Empty(dtype, larger).strides();
      strides[0] = 0;
      return Tensor::Empty(dtype, larger).AsStrided(sizes, strides, 0);
  }
}

}  // namespace lathe::sweep
