#include "ir/text/parser.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/text/cursor.h"
#include "ir/text/lexer.h"
#include "ir/text/literals.h"
#include "ir/text/symbol_table.h"

namespace lathe {
namespace text {
namespace {

constexpr int kGraphDepthLimit = 100;
// Passes visit a sub-graph once a caller: without a limit, 100 graphs that each call the next
// twice would be 2^100 visits.
constexpr int64_t kGraphVisitLimit = 10000;

// A graph of the file: where it stands, and the parsed graph once someone has asked for it.
struct GraphEntry {
  size_t token = 0;  // of "graph"
  std::shared_ptr<Graph> graph;
  bool is_open = false;  // being parsed: a call now would be a cycle
  int64_t visits = 1;
};

class FileParser {
 public:
  FileParser(const Tokens& tokens, const OpRegistry& registry)
      : tokens_(tokens),
        registry_(registry),
        program_(NewProgram("")),
        symbols_(*program_.shapes) {}

  absl::StatusOr<Program> Run();

 private:
  friend class GraphParser;

  absl::Status FindGraphs();
  absl::StatusOr<GraphEntry*> Require(const Token& name, int depth);
  absl::Status CheckWrittenTypes();
  absl::Status At(const Token& token, const absl::Status& status) const;

  const Tokens& tokens_;
  const OpRegistry& registry_;
  Program program_;
  SymbolTable symbols_;
  std::map<std::string, GraphEntry, std::less<>> entries_;
  std::vector<std::string> order_;
  // Nodes whose types were written, with the token that begins them.
  std::vector<std::pair<Node*, Token>> written_;
};

class GraphParser {
 public:
  GraphParser(FileParser& file, GraphEntry& entry, int depth)
      : file_(file),
        entry_(entry),
        depth_(depth),
        cursor_(file.tokens_, entry.token),
        literals_(
            cursor_, *file.program_.context,
            [this](absl::string_view name) { return graph_->FindValue(name); },
            [this](const Token& name) { return FindGraph(name); }) {}

  absl::Status Run();

 private:
  absl::StatusOr<std::shared_ptr<Graph>> FindGraph(const Token& name);
  absl::Status ParseInputs();
  absl::Status ParseInput();
  absl::StatusOr<InputSpec> ParseSource();
  absl::Status ParsePreconditions();
  absl::Status ParseStatement();
  absl::Status ParseArguments(std::vector<Argument>& arguments, std::vector<std::string>& names);
  absl::Status ParseTrailer(Origin& origin, std::vector<std::string>& tags);
  absl::Status ParseReturn();
  absl::Status ParseOutput();
  absl::StatusOr<int> ParseInputName();
  absl::Status ParseAlias(OutputSpec& spec);
  absl::StatusOr<std::vector<ValueType>> Infer(const Token& start, std::string& op,
                                               const OpRow*& row, std::vector<Argument>& arguments,
                                               std::vector<std::string>& names,
                                               const Origin& origin, const std::string& name);
  absl::Status CheckSymbols(const Argument& argument, const Token& start) const;
  absl::Status CheckSymbols(const Expr& e, const Token& start) const;

  FileParser& file_;
  GraphEntry& entry_;
  const int depth_;
  Cursor cursor_;
  LiteralParser literals_;
  std::shared_ptr<Graph> graph_;
};

absl::Status GraphParser::Run() {
  cursor_.Next();
  const Token name = cursor_.Next();
  graph_ = std::make_shared<Graph>(name.text, file_.program_.context);
  entry_.graph = graph_;
  LATHE_RETURN_IF_ERROR(ParseInputs());
  file_.symbols_.DeclareInputs(*graph_, depth_ == 0);
  LATHE_RETURN_IF_ERROR(ParsePreconditions());
  LATHE_RETURN_IF_ERROR(cursor_.Expect("{"));
  while (!cursor_.Accept("}")) {
    if (cursor_.Peek().is_word("return")) {
      LATHE_RETURN_IF_ERROR(ParseReturn());
      return cursor_.Expect("}");
    }
    LATHE_RETURN_IF_ERROR(ParseStatement());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Graph>> GraphParser::FindGraph(const Token& name) {
  LATHE_ASSIGN_OR_RETURN(GraphEntry * callee, file_.Require(name, depth_ + 1));
  entry_.visits += callee->visits;
  if (entry_.visits > kGraphVisitLimit)
    return cursor_.Error(name, "graphs call each other too often");
  return callee->graph;
}

absl::Status GraphParser::ParseInputs() {
  LATHE_RETURN_IF_ERROR(cursor_.Expect("("));
  while (!cursor_.Accept(")")) {
    LATHE_RETURN_IF_ERROR(ParseInput());
    if (!cursor_.Accept(",") && !cursor_.Peek().is_sign(")")) {
      return cursor_.Unexpected("',' or ')'");
    }
  }
  return absl::OkStatus();
}

absl::Status GraphParser::ParseInput() {
  const Token start = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(std::string name, cursor_.Expect(Token::Kind::kValue, "an input's %name"));
  if (graph_->FindValue(name) != nullptr || name.empty()) {
    return cursor_.Error(start, absl::StrCat("%", name, " is defined twice"));
  }
  LATHE_RETURN_IF_ERROR(cursor_.Expect(":"));
  LATHE_ASSIGN_OR_RETURN(ValueType type, literals_.ParseType());
  InputSpec spec;
  if (cursor_.Accept("=")) {
    LATHE_ASSIGN_OR_RETURN(spec, ParseSource());
  } else if (depth_ == 0) {
    file_.program_.user_input_names.push_back(name);
  }
  graph_->AddInput(name, std::move(type), std::move(spec));
  return absl::OkStatus();
}

absl::StatusOr<InputSpec> GraphParser::ParseSource() {
  InputSpec spec;
  if (cursor_.AcceptWord("weight")) {
    spec.kind = InputSpec::Kind::kParameter;
  } else if (cursor_.AcceptWord("buffer")) {
    spec.kind = InputSpec::Kind::kBuffer;
  } else if (cursor_.AcceptWord("constant")) {
    spec.kind = InputSpec::Kind::kConstant;
  } else if (cursor_.AcceptWord("token")) {
    spec.kind = InputSpec::Kind::kToken;
  } else {
    return cursor_.Unexpected("weight, buffer, constant or token");
  }
  LATHE_RETURN_IF_ERROR(cursor_.Expect("("));
  LATHE_ASSIGN_OR_RETURN(spec.target, cursor_.Expect(Token::Kind::kString, "a name in quotes"));
  if (cursor_.Accept(",")) {
    const bool right =
        cursor_.AcceptWord("persistent") && cursor_.Accept("=") && cursor_.AcceptWord("false");
    if (!right) return cursor_.Unexpected("persistent=false");
    spec.persistent = false;
  }
  LATHE_RETURN_IF_ERROR(cursor_.Expect(")"));
  return spec;
}

absl::Status GraphParser::ParsePreconditions() {
  if (!cursor_.AcceptWord("where")) return absl::OkStatus();
  do {
    const Token start = cursor_.Peek();
    LATHE_ASSIGN_OR_RETURN(Expr condition, literals_.ParseExpression());
    if (condition.type() != symbolic::ExprType::kBool) {
      return cursor_.Error(start, "a condition is expected");
    }
    LATHE_RETURN_IF_ERROR(CheckSymbols(condition, start));
    if (depth_ == 0) {
      LATHE_RETURN_IF_ERROR(file_.At(start, file_.program_.shapes->AddFact(condition)));
    }
    graph_->preconditions().push_back(condition);
  } while (cursor_.Accept(","));
  return absl::OkStatus();
}

absl::Status GraphParser::ParseStatement() {
  const Token start = cursor_.Peek();
  std::vector<std::string> result_names;
  if (start.kind == Token::Kind::kValue) {
    do {
      const Token at = cursor_.Peek();
      LATHE_ASSIGN_OR_RETURN(std::string name, cursor_.Expect(Token::Kind::kValue, "a %name"));
      if (graph_->FindValue(name) != nullptr || name.empty()) {
        return cursor_.Error(at, absl::StrCat("%", name, " is defined twice"));
      }
      result_names.push_back(std::move(name));
    } while (cursor_.Accept(","));
    LATHE_RETURN_IF_ERROR(cursor_.Expect("="));
  }
  const Token& op_token = cursor_.Peek();
  if (op_token.kind != Token::Kind::kWord && op_token.kind != Token::Kind::kString) {
    return cursor_.Unexpected("an operator");
  }
  std::string op = cursor_.Next().text;
  if (file_.registry_.Find(op) == nullptr && op.size() > 8 &&
      op.compare(op.size() - 8, 8, ".default") == 0) {
    op.resize(op.size() - 8);
  }
  std::vector<Argument> arguments;
  std::vector<std::string> names;
  LATHE_RETURN_IF_ERROR(cursor_.Expect("("));
  const bool is_constant = op == "constant" && cursor_.Peek().kind == Token::Kind::kWord;
  if (is_constant) {
    LATHE_ASSIGN_OR_RETURN(Tensor tensor, literals_.ParseConstant());
    arguments.push_back(Argument::Of(std::move(tensor)));
    LATHE_RETURN_IF_ERROR(cursor_.Expect(")"));
  } else {
    LATHE_RETURN_IF_ERROR(ParseArguments(arguments, names));
  }
  bool typed = cursor_.Accept(":");
  std::vector<ValueType> types;
  if (typed) {
    do {
      const Token at = cursor_.Peek();
      LATHE_ASSIGN_OR_RETURN(ValueType type, literals_.ParseType());
      types.push_back(std::move(type));
      file_.symbols_.DeclareResult(types.back(), result_names.empty() ? op : result_names[0]);
      absl::Status undeclared;
      ForEachExpr(types.back(), [&](const Expr& e, bool) {
        if (undeclared.ok()) undeclared = CheckSymbols(e, at);
      });
      LATHE_RETURN_IF_ERROR(undeclared);
    } while (cursor_.Accept(","));
  }
  Origin origin;
  std::vector<std::string> tags;
  LATHE_RETURN_IF_ERROR(ParseTrailer(origin, tags));

  const OpRow* row = nullptr;
  if (is_constant) {
    std::vector<Expr> sizes(arguments[0].tensor().sizes().begin(),
                            arguments[0].tensor().sizes().end());
    types = {ContiguousType(arguments[0].tensor().dtype(), std::move(sizes))};
    typed = false;
  } else if (!typed) {
    const std::string name = result_names.empty() ? op : absl::StrCat("%", result_names[0]);
    LATHE_ASSIGN_OR_RETURN(types, Infer(start, op, row, arguments, names, origin, name));
    file_.symbols_.NoteKnown();
  }
  if (!result_names.empty() && result_names.size() != types.size()) {
    return cursor_.Error(
        start, absl::StrCat(op, " has ", types.size(), " results, not ", result_names.size()));
  }
  Node* node = graph_->Append(std::move(op), std::move(arguments), std::move(types),
                              std::move(result_names));
  node->row = row;
  node->origin = std::move(origin);
  node->tags = std::move(tags);
  if (row != nullptr) return absl::OkStatus();
  node->names = std::move(names);
  if (file_.registry_.Find(node->op) == nullptr) return absl::OkStatus();
  LATHE_RETURN_IF_ERROR(file_.At(start, ResolveNode(node, file_.registry_)));
  if (typed) file_.written_.emplace_back(node, start);
  return absl::OkStatus();
}

// Types of a call before its node exists. A node for the moment lets ResolveNode choose the row.
absl::StatusOr<std::vector<ValueType>> GraphParser::Infer(
    const Token& start, std::string& op, const OpRow*& row, std::vector<Argument>& arguments,
    std::vector<std::string>& names, const Origin& origin, const std::string& name) {
  if (file_.registry_.Find(op) == nullptr) {
    return file_.At(start, Unimplemented("unknown operator '", op, "' without a written type"));
  }
  Node* node = graph_->Append(op, std::move(arguments), {});
  node->names = std::move(names);
  absl::StatusOr<std::vector<ValueType>> types = std::vector<ValueType>();
  if (absl::Status status = ResolveNode(node, file_.registry_); !status.ok()) {
    types = status;
  } else if (!node->row->infer) {
    types = Unimplemented(op, ": has no rule for its result types");
  } else {
    const OpArgs args(node->row->parsed, node->arguments);
    types = node->row->infer({args, *file_.program_.shapes, {name, origin.source}});
  }
  op = node->op;
  row = node->row;
  arguments = node->arguments;
  names.clear();
  graph_->Erase(node);
  if (!types.ok()) return file_.At(start, types.status());
  return types;
}

absl::Status GraphParser::ParseArguments(std::vector<Argument>& arguments,
                                         std::vector<std::string>& names) {
  while (!cursor_.Accept(")")) {
    const Token start = cursor_.Peek();
    std::string name;
    if (start.kind == Token::Kind::kWord && cursor_.Peek(1).is_sign("=")) {
      name = start.text;
      cursor_.Next();
      cursor_.Next();
    }
    LATHE_ASSIGN_OR_RETURN(Argument argument, literals_.ParseArgument());
    LATHE_RETURN_IF_ERROR(CheckSymbols(argument, start));
    arguments.push_back(std::move(argument));
    names.push_back(std::move(name));
    if (!cursor_.Accept(",") && !cursor_.Peek().is_sign(")")) {
      return cursor_.Unexpected("',' or ')'");
    }
  }
  return absl::OkStatus();
}

absl::Status GraphParser::ParseTrailer(Origin& origin, std::vector<std::string>& tags) {
  if (cursor_.AcceptWord("at")) {
    LATHE_ASSIGN_OR_RETURN(origin.source,
                           cursor_.Expect(Token::Kind::kString, "a source line in quotes"));
  }
  if (cursor_.AcceptWord("in")) {
    LATHE_ASSIGN_OR_RETURN(origin.module_path,
                           cursor_.Expect(Token::Kind::kString, "a module path in quotes"));
  }
  if (!cursor_.AcceptWord("tags")) return absl::OkStatus();
  LATHE_RETURN_IF_ERROR(cursor_.Expect("["));
  do {
    LATHE_ASSIGN_OR_RETURN(std::string tag,
                           cursor_.Expect(Token::Kind::kString, "a tag in quotes"));
    tags.push_back(std::move(tag));
  } while (cursor_.Accept(","));
  return cursor_.Expect("]");
}

absl::Status GraphParser::ParseReturn() {
  cursor_.Next();
  if (cursor_.Peek().is_sign("}")) return absl::OkStatus();
  do {
    LATHE_RETURN_IF_ERROR(ParseOutput());
  } while (cursor_.Accept(","));
  return absl::OkStatus();
}

absl::StatusOr<int> GraphParser::ParseInputName() {
  const Token at = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(std::string name, cursor_.Expect(Token::Kind::kValue, "an input's %name"));
  const Value* value = graph_->FindValue(name);
  if (value == nullptr || value->definition != nullptr) {
    return cursor_.Error(at, absl::StrCat("%", name, " is no input"));
  }
  return value->index;
}

absl::Status GraphParser::ParseOutput() {
  OutputSpec spec;
  if (cursor_.Peek().is_word("token")) {
    cursor_.Next();
    spec.kind = OutputSpec::Kind::kToken;
  } else if (cursor_.Peek().is_word("mutates") || cursor_.Peek().is_word("gradient")) {
    spec.kind = cursor_.Next().text == "mutates" ? OutputSpec::Kind::kMutation
                                                 : OutputSpec::Kind::kGradient;
    LATHE_ASSIGN_OR_RETURN(spec.input, ParseInputName());
    LATHE_RETURN_IF_ERROR(cursor_.Expect("="));
  }
  const Token start = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(Argument value, literals_.ParseArgument());
  LATHE_RETURN_IF_ERROR(CheckSymbols(value, start));
  while (cursor_.AcceptWord("aliases")) LATHE_RETURN_IF_ERROR(ParseAlias(spec));
  graph_->AddOutput(std::move(value), spec);
  return absl::OkStatus();
}

absl::Status GraphParser::ParseAlias(OutputSpec& spec) {
  if (!cursor_.AcceptWord("output")) {
    LATHE_ASSIGN_OR_RETURN(spec.alias_input, ParseInputName());
    return absl::OkStatus();
  }
  const Token number = cursor_.Next();
  int index;
  if (number.kind != Token::Kind::kNumber || !absl::SimpleAtoi(number.text, &index) || index < 0 ||
      index >= static_cast<int>(graph_->outputs().size())) {
    return cursor_.Error(number, "the number of an earlier output is expected");
  }
  spec.alias_output = index;
  return absl::OkStatus();
}

absl::Status GraphParser::CheckSymbols(const Expr& e, const Token& start) const {
  const std::string name = file_.symbols_.Undeclared(e);
  if (name.empty()) return absl::OkStatus();
  return cursor_.Error(
      start, absl::StrCat("unknown symbol ", name, ": no input and no earlier result has it"));
}

absl::Status GraphParser::CheckSymbols(const Argument& argument, const Token& start) const {
  if (argument.kind() == Argument::Kind::kInt) return CheckSymbols(argument.expr(), start);
  if (!argument.is_list()) return absl::OkStatus();
  for (const Argument& item : argument.list()) LATHE_RETURN_IF_ERROR(CheckSymbols(item, start));
  return absl::OkStatus();
}

absl::StatusOr<Program> FileParser::Run() {
  LATHE_RETURN_IF_ERROR(FindGraphs());
  for (size_t i = 0; i < order_.size(); ++i) {
    Token name = tokens_.tokens[entries_.at(order_[i]).token + 1];
    LATHE_ASSIGN_OR_RETURN(GraphEntry * entry, Require(name, i == 0 ? 0 : 1));
    if (i == 0) {
      program_.main = entry->graph;
    } else {
      program_.subgraphs.push_back(entry->graph);
    }
  }
  LATHE_RETURN_IF_ERROR(CheckWrittenTypes());
  return std::move(program_);
}

// Moves behind the brace that closes the body. Braces of strides among the inputs stand in
// parentheses; those inside the body are balanced.
void SkipBody(Cursor& cursor) {
  int64_t braces = 0, parentheses = 0;
  while (cursor.Peek().kind != Token::Kind::kEnd && !cursor.Peek().is_word("graph")) {
    const Token& token = cursor.Next();
    if (braces == 0 && token.is_sign("(")) ++parentheses;
    if (braces == 0 && token.is_sign(")")) --parentheses;
    if (parentheses > 0) continue;
    if (token.is_sign("{")) ++braces;
    if (token.is_sign("}") && --braces <= 0) return;
  }
}

// Notes where each graph begins, so that calls may come before their callees.
absl::Status FileParser::FindGraphs() {
  Cursor cursor(tokens_);
  if (cursor.AcceptWord("archive")) {
    LATHE_ASSIGN_OR_RETURN(program_.archive,
                           cursor.Expect(Token::Kind::kString, "a file name in quotes"));
  }
  while (cursor.Peek().kind != Token::Kind::kEnd) {
    const size_t position = cursor.position();
    if (!cursor.AcceptWord("graph")) return cursor.Unexpected("graph");
    const Token at = cursor.Peek();
    LATHE_ASSIGN_OR_RETURN(std::string name, cursor.Expect(Token::Kind::kGraph, "a @name"));
    if (!entries_.emplace(name, GraphEntry{position, nullptr, false, 1}).second) {
      return cursor.Error(at, absl::StrCat("@", name, " is defined twice"));
    }
    order_.push_back(std::move(name));
    SkipBody(cursor);
  }
  if (order_.empty()) return cursor.Unexpected("graph");
  return absl::OkStatus();
}

absl::StatusOr<GraphEntry*> FileParser::Require(const Token& name, int depth) {
  auto it = entries_.find(name.text);
  if (it == entries_.end()) {
    return ErrorAt(tokens_.source, name.begin, absl::StrCat("unknown graph @", name.text));
  }
  GraphEntry& entry = it->second;
  if (entry.is_open) {
    return ErrorAt(tokens_.source, name.begin, absl::StrCat("@", name.text, " calls itself"));
  }
  if (entry.graph != nullptr) return &entry;
  if (depth > kGraphDepthLimit) {
    return ErrorAt(tokens_.source, name.begin, "graphs nest too deep");
  }
  entry.is_open = true;
  LATHE_RETURN_IF_ERROR(GraphParser(*this, entry, depth).Run());
  entry.is_open = false;
  return &entry;
}

// Whether two types can be of one value: sizes may differ where nothing is known.
bool Agree(const ValueType& written, const ValueType& inferred, const ShapeEnv& shapes) {
  if (written.index() != inferred.index()) return false;
  if (written.is_scalar()) return written.scalar().kind == inferred.scalar().kind;
  if (written.is_list()) {
    const auto &a = written.list().elements, &b = inferred.list().elements;
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Agree(a[i], b[i], shapes)) return false;
    }
    return true;
  }
  if (!written.is_tensor()) return true;
  const TensorType &a = written.tensor(), &b = inferred.tensor();
  if (a.dtype != b.dtype || a.rank() != b.rank() || !(a.device == b.device)) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (shapes.IsKnownFalse(symbolic::Eq(a.sizes[d], b.sizes[d]))) return false;
  }
  return true;
}

absl::Status FileParser::CheckWrittenTypes() {
  if (written_.empty()) return absl::OkStatus();
  std::vector<std::vector<ValueType>> types;
  for (const auto& [node, token] : written_) {
    std::vector<ValueType>& of_node = types.emplace_back();
    for (const Value* result : node->results) of_node.push_back(result->type);
  }
  absl::Status status = InferTypes(*program_.main, *program_.shapes).status();
  for (size_t i = 0; status.ok() && i < program_.subgraphs.size(); ++i) {
    status = InferTypes(*program_.subgraphs[i], *program_.shapes).status();
  }
  if (!status.ok()) {
    for (const auto& [node, token] : written_) {
      const std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
      if (name == NodeOf(status)) return At(token, status);
    }
    return status;
  }
  for (size_t k = 0; k < written_.size(); ++k) {
    const auto& [node, token] = written_[k];
    for (size_t i = 0; i < types[k].size(); ++i) {
      if (Agree(types[k][i], node->results[i]->type, *program_.shapes)) continue;
      return At(token,
                InvalidArgument("%", node->results[i]->name, " is ",
                                ToString(node->results[i]->type), ", not ", ToString(types[k][i])));
    }
  }
  return absl::OkStatus();
}

absl::Status FileParser::At(const Token& token, const absl::Status& status) const {
  if (status.ok()) return status;
  const absl::Status place = ErrorAt(tokens_.source, token.begin, "");
  absl::string_view prefix = place.message();
  prefix.remove_suffix(2);  // Annotate writes ": " itself
  return Annotate(status, prefix);
}

}  // namespace
}  // namespace text

absl::StatusOr<Program> ParseProgram(absl::string_view text, const OpRegistry& registry) {
  LATHE_ASSIGN_OR_RETURN(text::Tokens tokens, text::Lex(text));
  return text::FileParser(tokens, registry).Run();
}

absl::StatusOr<ValueType> ParseType(absl::string_view text, ExprContext& context) {
  LATHE_ASSIGN_OR_RETURN(text::Tokens tokens, text::Lex(text));
  text::Cursor cursor(tokens);
  text::LiteralParser literals(
      cursor, context, [](absl::string_view) { return nullptr; },
      [&](const text::Token&) -> absl::StatusOr<std::shared_ptr<Graph>> {
        return cursor.Unexpected("a type");
      });
  LATHE_ASSIGN_OR_RETURN(ValueType type, literals.ParseType());
  if (cursor.Peek().kind != text::Token::Kind::kEnd) return cursor.Unexpected("the end");
  return type;
}

}  // namespace lathe
