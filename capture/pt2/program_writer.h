#ifndef LATHE_CAPTURE_PT2_PROGRAM_WRITER_H_
#define LATHE_CAPTURE_PT2_PROGRAM_WRITER_H_

// Writes small exported programs as torch.export does, for tests: the JSON, and archives around it.
//
//   ProgramWriter p;
//   p.Input("x", F32({"s0", "4"}));
//   p.Node("torch.ops.aten.relu.default", {{"self", Named("x")}}, {{"y", F32({"s0", "4"})}});
//   p.Output(Named("y"));
//   ReadProgram("p.json", p.Json(), {});

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "capture/pt2/zip_writer.h"

namespace lathe::pt2 {

// "4" -> a number, "s0" -> that symbol, anything else: SymPy's text.
inline std::string Size(const std::string& text) {
  if (text.find_first_not_of("-0123456789") == std::string::npos) {
    return absl::StrCat("{\"as_int\": ", text, "}");
  }
  std::string sympy = text;
  if (text.find('(') == std::string::npos) {
    sympy = absl::StrCat("Symbol('", text, "', ", text[0] == 's' ? "positive=True, " : "",
                         "integer=True)");
  }
  return absl::StrCat("{\"as_expr\": {\"expr_str\": \"", sympy, "\", \"hint\": {\"as_int\": 5}}}");
}

// The meta of a tensor; `dtype` is the schema's number. Row-major strides need numbers for sizes
// but the first.
struct Meta {
  std::vector<std::string> sizes, strides;
  int dtype = 7;
  std::string offset = "0";

  std::string Json() const {
    std::vector<std::string> sizes_json, strides_json;
    for (const std::string& size : sizes) sizes_json.push_back(Size(size));
    for (const std::string& stride : strides) strides_json.push_back(Size(stride));
    return absl::StrCat("{\"dtype\": ", dtype, ", \"sizes\": [", absl::StrJoin(sizes_json, ", "),
                        "], \"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": "
                        "null}, \"strides\": [",
                        absl::StrJoin(strides_json, ", "), "], \"storage_offset\": ", Size(offset),
                        ", \"layout\": 7}");
  }
};

inline Meta F32(std::vector<std::string> sizes, int dtype = 7) {
  Meta meta{std::move(sizes), {}, dtype};
  int64_t stride = 1;
  for (size_t k = meta.sizes.size(); k-- > 0;) {
    meta.strides.insert(meta.strides.begin(), absl::StrCat(stride));
    if (k > 0) stride *= std::stoll(meta.sizes[k]);
  }
  return meta;
}

inline std::string Named(const std::string& tensor) {
  return absl::StrCat("{\"as_tensor\": {\"name\": \"", tensor, "\"}}");
}

class ProgramWriter {
 public:
  // A user input that is a tensor.
  void Input(const std::string& name, const Meta& meta) {
    Tensor(name, meta);
    Input(Named(name), absl::StrCat("{\"user_input\": {\"arg\": ", Named(name), "}}"));
  }
  // Any input: how the graph and how the signature show it.
  void Input(const std::string& argument, const std::string& spec) {
    inputs_.push_back(argument);
    input_specs_.push_back(spec);
  }
  // `kind`: parameter, buffer, tensor_constant.
  void Weight(const std::string& kind, const std::string& name, const std::string& target,
              const Meta& meta) {
    Tensor(name, meta);
    Input(Named(name), absl::StrCat("{\"", kind, "\": {\"arg\": {\"name\": \"", name, "\"}, \"",
                                    kind, "_name\": \"", target, "\"",
                                    kind == "buffer" ? ", \"persistent\": true" : "", "}}"));
  }
  // "n" -> {"as_int": 3} or a symbol: sym_int_values and the like.
  void Number(const std::string& table, const std::string& name, const std::string& json) {
    numbers_[table].push_back(absl::StrCat("\"", name, "\": ", json));
  }
  void Tensor(const std::string& name, const Meta& meta) {
    tensors_.push_back(absl::StrCat("\"", name, "\": ", meta.Json()));
  }
  void Node(const std::string& target,
            const std::vector<std::pair<std::string, std::string>>& arguments,
            const std::vector<std::pair<std::string, Meta>>& results) {
    std::vector<std::string> outputs;
    for (const auto& [name, meta] : results) {
      Tensor(name, meta);
      outputs.push_back(Named(name));
    }
    NodeWithOutputs(target, arguments, absl::StrJoin(outputs, ", "));
  }
  // `outputs`: the arguments that the node defines, as JSON.
  void NodeWithOutputs(const std::string& target,
                       const std::vector<std::pair<std::string, std::string>>& arguments,
                       const std::string& outputs) {
    std::vector<std::string> inputs;
    for (const auto& [name, json] : arguments) {
      inputs.push_back(
          absl::StrCat("{\"name\": \"", name, "\", \"arg\": ", json, ", \"kind\": 1}"));
    }
    nodes_.push_back(absl::StrCat("{\"target\": \"", target, "\", \"inputs\": [",
                                  absl::StrJoin(inputs, ", "), "], \"outputs\": [", outputs,
                                  "], \"metadata\": {}}"));
  }
  void Output(const std::string& argument) {
    Output(argument, absl::StrCat("{\"user_output\": {\"arg\": ", argument, "}}"));
  }
  void Output(const std::string& argument, const std::string& spec) {
    outputs_.push_back(argument);
    output_specs_.push_back(spec);
  }
  // A tensor that is written back: `kind` is buffer_mutation, user_input_mutation...; `field`
  // "buffer_name", "user_input_name"...
  void Mutation(const std::string& kind, const std::string& name, const std::string& field,
                const std::string& target) {
    Output(Named(name), absl::StrCat("{\"", kind, "\": {\"arg\": {\"name\": \"", name, "\"}, \"",
                                     field, "\": \"", target, "\"}}"));
  }
  // "{\"min_val\": 2, \"max_val\": null}"
  void Range(const std::string& symbol, const std::string& json) {
    ranges_.push_back(absl::StrCat("\"", symbol, "\": ", json));
  }
  void Guard(const std::string& code) { guards_.push_back(absl::StrCat("\"", code, "\"")); }
  // The call's tree (its quotes are escaped here) and the argument names, quoted.
  void Call(const std::string& in_spec, const std::string& names) {
    std::string escaped;
    for (char c : in_spec)
      absl::StrAppend(&escaped, c == '"' || c == '\\' ? "\\" : "", std::string(1, c));
    calls_ = absl::StrCat(
        "{\"fqn\": \"\", \"signature\": {\"inputs\": [], \"outputs\": [], \"in_spec\": \"", escaped,
        "\", \"out_spec\": \"\", \"forward_arg_names\": [", names, "]}}");
  }
  void NamedtupleFields(const std::string& json) { namedtuples_ = json; }

  std::string Graph() const {
    auto table = [&](const std::string& name) {
      auto it = numbers_.find(name);
      return absl::StrCat("\"", name, "\": {",
                          it == numbers_.end() ? "" : absl::StrJoin(it->second, ", "), "}");
    };
    return absl::StrCat("{\"inputs\": [", absl::StrJoin(inputs_, ", "), "], \"outputs\": [",
                        absl::StrJoin(outputs_, ", "), "], \"nodes\": [",
                        absl::StrJoin(nodes_, ", "), "], \"tensor_values\": {",
                        absl::StrJoin(tensors_, ", "), "}, ", table("sym_int_values"), ", ",
                        table("sym_bool_values"), ", ", table("sym_float_values"),
                        ", \"is_single_tensor_return\": false, \"custom_obj_values\": {}}");
  }
  std::string Json() const {
    return absl::StrCat(
        "{\"graph_module\": {\"graph\": ", Graph(), ", \"signature\": {\"input_specs\": [",
        absl::StrJoin(input_specs_, ", "), "], \"output_specs\": [",
        absl::StrJoin(output_specs_, ", "), "]}, \"module_call_graph\": [", calls_,
        "], \"metadata\": {}, \"treespec_namedtuple_fields\": {", namedtuples_,
        "}}, \"opset_version\": {\"aten\": 10}, \"range_constraints\": {",
        absl::StrJoin(ranges_, ", "),
        "}, \"schema_version\": {\"major\": 8, \"minor\": 17}, \"verifiers\": [\"TRAINING\"], "
        "\"torch_version\": \"2.11\", \"guards_code\": [",
        absl::StrJoin(guards_, ", "), "]}");
  }

  // A weight of an archive: the record that holds its bytes, how the tensor lies in it, and the
  // bytes ("" when another weight wrote them).
  struct Stored {
    std::string name, record;
    Meta meta;
    std::string bytes;
  };
  std::string Archive(const std::vector<Stored>& weights) const {
    std::vector<std::string> payloads;
    ZipWriter zip;
    zip.Add("m/archive_format", "pt2").Add("m/archive_version", "0").Add("m/byteorder", "little");
    for (const Stored& w : weights) {
      payloads.push_back(absl::StrCat("\"", w.name, "\": {\"path_name\": \"", w.record,
                                      "\", \"is_param\": true, \"use_pickle\": false, "
                                      "\"tensor_meta\": ",
                                      w.meta.Json(), "}"));
      if (!w.bytes.empty()) zip.Add("m/data/weights/" + w.record, w.bytes);
    }
    zip.Add("m/data/weights/model_weights_config.json",
            absl::StrCat("{\"config\": {", absl::StrJoin(payloads, ", "), "}}"));
    zip.Add("m/data/constants/model_constants_config.json", "{\"config\": {}}");
    zip.Add("m/models/model.json", Json());
    return zip.Finish();
  }

 private:
  std::vector<std::string> inputs_, outputs_, nodes_, tensors_, input_specs_, output_specs_;
  std::vector<std::string> ranges_, guards_;
  std::map<std::string, std::vector<std::string>> numbers_;
  std::string calls_, namedtuples_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_PROGRAM_WRITER_H_
