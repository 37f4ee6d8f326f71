#include "ir/text/printer.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "ir/ops/op_row.h"
#include "ir/text/literals.h"

namespace lathe {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

bool IsName(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.';
  });
}

std::string Name(absl::string_view text) { return IsName(text) ? std::string(text) : Quoted(text); }

std::string Operator(absl::string_view op) {
  const bool plain = IsName(op) && (absl::ascii_isalpha(op[0]) || op[0] == '_') && op != "return";
  return plain ? std::string(op) : Quoted(op);
}

// A symbol named like a dtype stands in parentheses outside of lists.
std::string Expression(const Expr& e, bool in_list) {
  std::string text = symbolic::ToString(e);
  if (e.is_symbol() && text::WordLiteral(text, in_list).has_value()) {
    return absl::StrCat("(", text, ")");
  }
  return text;
}

const char* MemoryFormatName(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return "contiguous_format";
    case MemoryFormat::kPreserve:
      return "preserve_format";
    case MemoryFormat::kChannelsLast:
      return "channels_last";
    case MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
  }
  return "preserve_format";
}

const char* SourceName(InputSpec::Kind kind) {
  switch (kind) {
    case InputSpec::Kind::kParameter:
      return "weight";
    case InputSpec::Kind::kBuffer:
      return "buffer";
    case InputSpec::Kind::kConstant:
      return "constant";
    case InputSpec::Kind::kToken:
      return "token";
    case InputSpec::Kind::kUser:
      break;
  }
  return "";
}

void AppendElements(const Tensor& tensor, int dimension, int64_t& k, std::string& out) {
  if (dimension == tensor.rank()) {
    absl::StrAppend(&out, FormatElement(tensor.AtLinear(k++), tensor.dtype()));
    return;
  }
  out += '[';
  for (int64_t i = 0; i < tensor.sizes()[dimension]; ++i) {
    if (i > 0) out += ", ";
    AppendElements(tensor, dimension + 1, k, out);
  }
  out += ']';
}

// The printed elements belong to a contiguous tensor, whatever the stored layout.
std::string Constant(const Tensor& tensor) {
  std::string out = absl::StrCat(
      TypeString(tensor.AsStrided(tensor.sizes(), ContiguousStrides(tensor.sizes()), 0)), ", ");
  int64_t k = 0;
  AppendElements(tensor, 0, k, out);
  return out;
}

class Printer {
 public:
  void Queue(const Graph* graph) {
    if (names_.contains(graph)) return;
    std::string name = graph->name();
    for (int i = 1; !taken_.insert(name).second; ++i) {
      name = absl::StrCat(graph->name(), "_", i);
    }
    names_.emplace(graph, std::move(name));
    graphs_.push_back(graph);
  }

  // Printing a graph queues those that it calls.
  std::string PrintQueued() {
    std::string out;
    for (size_t i = 0; i < graphs_.size(); ++i) {
      if (i > 0) out += '\n';
      Append(*graphs_[i], out);
    }
    return out;
  }

  std::string Statement(const Node& node) {
    std::string out;
    for (size_t i = 0; i < node.results.size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", %" : "%", Name(node.results[i]->name));
    }
    if (!node.results.empty()) out += " = ";
    absl::StrAppend(&out, Operator(node.op), "(", Arguments(node), ")");
    for (size_t i = 0; i < node.results.size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : " : ", ToString(node.results[i]->type));
    }
    if (!node.origin.source.empty()) absl::StrAppend(&out, " at ", Quoted(node.origin.source));
    if (!node.origin.module_path.empty()) {
      absl::StrAppend(&out, " in ", Quoted(node.origin.module_path));
    }
    for (size_t i = 0; i < node.tags.size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : " tags [", Quoted(node.tags[i]));
    }
    if (!node.tags.empty()) out += ']';
    return out;
  }

 private:
  void Append(const Graph& graph, std::string& out) {
    absl::StrAppend(&out, "graph @", Name(names_.at(&graph)), "(");
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      if (i > 0) out += ", ";
      AppendInput(*graph.inputs()[i], graph.input_specs()[i], out);
    }
    out += ')';
    for (size_t i = 0; i < graph.preconditions().size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : " where ", symbolic::ToString(graph.preconditions()[i]));
    }
    out += " {\n";
    for (const Node* node = graph.first(); node != nullptr; node = node->next) {
      absl::StrAppend(&out, "  ", Statement(*node), "\n");
    }
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : "  return ",
                      Output(graph, graph.outputs()[i], graph.output_specs()[i]));
    }
    if (!graph.outputs().empty()) out += '\n';
    out += "}\n";
  }

  static void AppendInput(const Value& value, const InputSpec& spec, std::string& out) {
    absl::StrAppend(&out, "%", Name(value.name), ": ", ToString(value.type));
    if (spec.kind == InputSpec::Kind::kUser) return;
    absl::StrAppend(&out, " = ", SourceName(spec.kind), "(", Quoted(spec.target),
                    spec.persistent ? ")" : ", persistent=false)");
  }

  std::string Output(const Graph& graph, const Argument& value, const OutputSpec& spec) {
    auto input = [&graph](int i) { return absl::StrCat("%", Name(graph.inputs()[i]->name)); };
    std::string out;
    if (spec.kind == OutputSpec::Kind::kMutation) {
      absl::StrAppend(&out, "mutates ", input(spec.input), " = ");
    } else if (spec.kind == OutputSpec::Kind::kGradient) {
      absl::StrAppend(&out, "gradient ", input(spec.input), " = ");
    } else if (spec.kind == OutputSpec::Kind::kToken) {
      out += "token ";
    }
    const bool is_compound = value.kind() == Argument::Kind::kInt && !value.expr().is_const() &&
                             !value.expr().is_symbol();
    // Outside of brackets // would start a comment.
    absl::StrAppend(&out, is_compound ? "(" : "", Literal(value, false), is_compound ? ")" : "");
    if (spec.alias_input >= 0) absl::StrAppend(&out, " aliases ", input(spec.alias_input));
    if (spec.alias_output >= 0) absl::StrAppend(&out, " aliases output ", spec.alias_output);
    return out;
  }

  std::string Arguments(const Node& node) {
    std::string out;
    const Schema* schema = node.row == nullptr ? nullptr : &node.row->parsed;
    bool named = false;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const Argument& argument = node.arguments[i];
      std::string name;
      if (schema != nullptr && i < schema->arguments.size()) {
        const SchemaArgument& parameter = schema->arguments[i];
        if (parameter.has_default && argument == parameter.default_value) {
          named = true;
          continue;
        }
        if (named || parameter.keyword_only) name = parameter.name, named = true;
      } else if (i < node.names.size()) {
        name = node.names[i];
      }
      if (!out.empty()) out += ", ";
      if (!name.empty()) absl::StrAppend(&out, name, "=");
      out += Literal(argument, false);
    }
    return out;
  }

  std::string Literal(const Argument& argument, bool in_list) {
    switch (argument.kind()) {
      case Argument::Kind::kNone:
        return "none";
      case Argument::Kind::kValue:
        return absl::StrCat("%", Name(argument.value()->name));
      case Argument::Kind::kInt:
        return Expression(argument.expr(), in_list);
      case Argument::Kind::kBool:
        return argument.boolean() ? "true" : "false";
      case Argument::Kind::kScalar:
        return argument.number().ToString();
      case Argument::Kind::kString:
        return Quoted(argument.string());
      case Argument::Kind::kDType:
        return std::string(lathe::Name(argument.dtype()));
      case Argument::Kind::kDevice:
        return ToString(argument.device());
      case Argument::Kind::kLayout:
        return argument.layout() == Layout::kStrided ? "strided" : "sparse_coo";
      case Argument::Kind::kMemoryFormat:
        return MemoryFormatName(argument.memory_format());
      case Argument::Kind::kTensor:
        return Constant(argument.tensor());
      case Argument::Kind::kGraph:
        Queue(argument.graph().get());
        return absl::StrCat("@", Name(names_.at(argument.graph().get())));
      case Argument::Kind::kList:
        break;
    }
    std::string out = "[";
    for (size_t i = 0; i < argument.list().size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : "", Literal(argument.list()[i], true));
    }
    return out + "]";
  }

  absl::flat_hash_map<const Graph*, std::string> names_;
  absl::flat_hash_set<std::string> taken_;
  std::vector<const Graph*> graphs_;
};

}  // namespace

std::string PrintProgram(const Program& program) {
  Printer printer;
  printer.Queue(program.main.get());
  for (const auto& subgraph : program.subgraphs) printer.Queue(subgraph.get());
  const std::string archive =
      program.archive.empty() ? "" : absl::StrCat("archive ", Quoted(program.archive), "\n");
  return absl::StrCat(archive, printer.PrintQueued());
}

std::string PrintGraph(const Graph& graph) {
  Printer printer;
  printer.Queue(&graph);
  return printer.PrintQueued();
}

std::string PrintNode(const Node& node) { return Printer().Statement(node); }

}  // namespace lathe
