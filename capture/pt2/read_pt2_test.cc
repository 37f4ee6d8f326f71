#include "capture/pt2/read_pt2.h"

#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "capture/pt2/byte_block.h"
#include "capture/pt2/zip_archive.h"
#include "capture/pt2/zip_writer.h"
#include "gtest/gtest.h"
#include "ir/graph/verifier.h"

namespace lathe {
namespace {

using symbolic::Source;

constexpr const char* kModels[] = {
    "cond_branch",
    "convnet",
    "fft_complex_free_rope",
    "gather_scatter",
    "gru",
    "hf_bert",
    "hf_gpt2",
    "hf_llama",
    "mlp",
    "old_convnet",
    "old_mlp",
    "timm_test_convnext",
    "timm_test_resnet",
    "timm_test_vit",
    "transformer_encoder",
    "tv_shufflenet",
    "unbacked_nonzero",
    "unsigned_bits",
    "views_mutation",
};

std::string PathOf(absl::string_view model) {
  return absl::StrCat("third_party/models/", model, ".pt2");
}

Program Read(absl::string_view model) {
  absl::StatusOr<Program> program = ReadPt2(PathOf(model));
  EXPECT_TRUE(program.ok()) << model << ": " << program.status();
  return program.ok() ? *std::move(program) : NewProgram("none");
}

std::string FileBytes(absl::string_view model) {
  std::ifstream file(PathOf(model), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Node* NodeAt(const Graph& graph, size_t k) { return graph.nodes().at(k); }

std::vector<std::string> Conditions(const Program& program) {
  std::vector<std::string> texts;
  for (const Expr& e : program.main->preconditions()) texts.push_back(symbolic::ToString(e));
  return texts;
}

TEST(ReadPt2, EveryModel) {
  for (const char* model : kModels) {
    Program program = Read(model);
    EXPECT_GT(program.main->node_count(), 0) << model;
    EXPECT_EQ(program.archive, PathOf(model));
    size_t weights = 0;
    for (const InputSpec& spec : program.main->input_specs()) {
      weights += spec.kind != InputSpec::Kind::kUser;
    }
    EXPECT_EQ(program.main->inputs().size(), weights + program.user_input_names.size()) << model;
  }
}

TEST(ReadPt2, Mlp) {
  Program program = Read("mlp");
  const Graph& graph = *program.main;
  ASSERT_EQ(graph.inputs().size(), 7);
  EXPECT_EQ(program.user_input_names, std::vector<std::string>{"input"});
  EXPECT_EQ(ToString(graph.inputs()[6]->type), "f32[s31, 64]");
  EXPECT_EQ(graph.input_specs()[0].kind, InputSpec::Kind::kParameter);
  EXPECT_EQ(graph.input_specs()[0].target, "0.weight");
  const Tensor& weight = program.weights.at("0.weight");
  EXPECT_EQ(TypeString(weight), "f32[128, 64]");
  EXPECT_EQ(weight.data_as<float>()[0], -0.11775518953800201f);
  EXPECT_EQ(weight.data_as<float>()[128 * 64 - 1], -0.03664542734622955f);

  ASSERT_EQ(program.shapes->symbols().size(), 1);
  Expr s31 = program.shapes->symbols()[0];
  EXPECT_EQ(program.shapes->source(s31), Source::InputSize(6, 0));
  EXPECT_EQ(program.shapes->hint(s31), 8);
  EXPECT_EQ(program.shapes->RangeOf(s31), (symbolic::Range{1, 4096}));
  EXPECT_EQ(Conditions(program), (std::vector<std::string>{"1 <= s31", "s31 <= 4096"}));

  Node* gelu = NodeAt(graph, 1);
  EXPECT_EQ(gelu->op, "aten.gelu");
  EXPECT_EQ(gelu->names, std::vector<std::string>{"self"});
  EXPECT_EQ(gelu->arguments[0].value()->name, "linear");
  EXPECT_EQ(ToString(gelu->results[0]->type), "f32[s31, 128]");
  EXPECT_TRUE(absl::EndsWith(gelu->origin.source, "/torch/nn/modules/activation.py:816"));
  EXPECT_EQ(gelu->origin.module_path, "1");
  ASSERT_EQ(graph.outputs().size(), 1);
  EXPECT_EQ(graph.outputs()[0].value()->name, "softmax");
}

TEST(ReadPt2, WritesStayInMemory) {
  Program first = Read("mlp");
  Tensor weight = first.weights.at("0.weight");
  float before = weight.data_as<float>()[0];
  weight.data_as<float>()[0] = 7;
  EXPECT_EQ(Read("mlp").weights.at("0.weight").data_as<float>()[0], before);
  // The mapping lives as long as a tensor in it does.
  first = NewProgram("none");
  EXPECT_EQ(weight.data_as<float>()[0], 7);
}

TEST(ReadPt2, GuardsAndSizesAsExpressions) {
  Program program = Read("hf_bert");
  // Equal sizes have one symbol, so the guards of this model say nothing more.
  EXPECT_EQ(Conditions(program), (std::vector<std::string>{"1 <= s43", "s43 <= 16", "s53 <= 60"}));
  bool found = false;
  for (Node* node : program.main->nodes()) {
    if (node->op != "aten.arange" || node->arguments[0].kind() != Argument::Kind::kInt) continue;
    found |= symbolic::ToString(node->arguments[0].expr()) == "s53";
  }
  EXPECT_TRUE(found);
}

TEST(ReadPt2, SharedWeightsShareAStorage) {
  Program program = Read("hf_gpt2");
  EXPECT_EQ(program.weights.at("m.transformer.wte.weight").storage(),
            program.weights.at("m.lm_head.weight").storage());
  EXPECT_EQ(program.weights.at("m.transformer.lifted_tensor_0").rank(), 0);
  for (Node* node : program.main->nodes()) {
    if (node->op == "aten.split.Tensor") EXPECT_EQ(node->results.size(), 3);
  }
}

TEST(ReadPt2, UnbackedSymbols) {
  Program program = Read("unbacked_nonzero");
  ASSERT_EQ(program.shapes->symbols().size(), 1);
  Expr u0 = program.shapes->symbols()[0];
  EXPECT_EQ(u0.symbol_kind(), symbolic::SymbolKind::kUnbacked);
  EXPECT_EQ(program.shapes->source(u0), Source::Item("nonzero"));
  EXPECT_EQ(program.shapes->RangeOf(u0), (symbolic::Range{0, 32}));
  EXPECT_TRUE(Conditions(program).empty());
  Node* check = NodeAt(*program.main, 4);
  EXPECT_EQ(check->op, "aten._assert_scalar");
  EXPECT_EQ(symbolic::ToString(check->arguments[0].expr()), "0 <= u0");
}

TEST(ReadPt2, Subgraphs) {
  Program cond = Read("cond_branch");
  ASSERT_EQ(cond.subgraphs.size(), 2);
  EXPECT_EQ(cond.subgraphs[0]->name(), "true_graph_0");
  Node* node = NodeAt(*cond.main, 2);
  EXPECT_EQ(node->op, "cond");
  EXPECT_EQ(node->arguments[1].graph(), cond.subgraphs[0]);
  EXPECT_EQ(node->arguments[3].list().size(), 1);
  EXPECT_EQ(node->results.size(), 1);
  EXPECT_EQ(Read("hf_llama").subgraphs.size(), 1);
}

TEST(ReadPt2, OldLayout) {
  Program program = Read("old_mlp");
  const Tensor& weight = program.weights.at("0.weight");
  EXPECT_EQ(TypeString(weight), "f32[32, 16]");
  EXPECT_EQ(weight.data_as<float>()[0], 0.12881579995155334f);
  EXPECT_EQ(weight.data_as<float>()[1], -0.11034455895423889f);
}

// The archive of a model with some records changed; an empty replacement removes the record.
std::string WithRecords(absl::string_view model,
                        const std::vector<std::pair<std::string, std::string>>& changed) {
  pt2::ZipArchive archive = *pt2::ZipArchive::Open(pt2::CopyBytes(FileBytes(model)));
  pt2::ZipWriter writer;
  for (const auto& [name, entry] : archive.entries()) {
    std::string bytes(archive.Read(name)->view());
    bool removed = false;
    for (const auto& [record, replacement] : changed) {
      if (name != record) continue;
      bytes = replacement;
      removed = replacement.empty();
    }
    if (!removed) writer.Add(name, bytes);
  }
  return writer.Finish();
}

std::string RecordOf(absl::string_view model, const std::string& name) {
  return std::string(pt2::ZipArchive::Open(pt2::CopyBytes(FileBytes(model)))->Read(name)->view());
}

// The message for mlp whose program has `from` replaced by `to`.
std::string EditError(absl::string_view from, absl::string_view to,
                      const std::string& record = "mlp/models/model.json") {
  std::string json = RecordOf("mlp", record);
  EXPECT_TRUE(absl::StrContains(json, from)) << from;
  json = absl::StrReplaceAll(json, {{from, to}});
  return std::string(ReadPt2Bytes(WithRecords("mlp", {{record, json}})).status().message());
}

TEST(ReadPt2, ErrorsNameRecordAndPath) {
  EXPECT_EQ(EditError("\"major\": 8", "\"major\": 9"),
            "models/model.json: schema_version.major: the export schema has major version 9; "
            "lathe reads version 8");
  EXPECT_EQ(EditError("{\"as_ints\": [128]}", "{\"as_turtles\": [128]}"),
            "models/model.json: graph_module.graph.nodes[2].inputs[1].arg.as_turtles: this kind of "
            "argument is not supported");
  EXPECT_EQ(EditError("{\"as_ints\": [128]}", "{\"as_ints\": [1.5]}"),
            "models/model.json: graph_module.graph.nodes[2].inputs[1].arg.as_ints[0]: expected an "
            "integer of 64 bits, got 1.5");
  EXPECT_EQ(EditError("\"arg\": {\"as_tensor\": {\"name\": \"gelu\"}}",
                      "\"arg\": {\"as_tensor\": {\"name\": \"softmax\"}}"),
            "models/model.json: graph_module.graph.nodes[2].inputs[0].arg.as_tensor: 'softmax' is "
            "not defined before its use");
  EXPECT_EQ(EditError("\"is_hop_single_tensor_return\": null, \"name\": \"gelu\"",
                      "\"is_parallel\": true"),
            "models/model.json: graph_module.graph.nodes[1].is_parallel: lathe does not know this "
            "field");
  EXPECT_TRUE(absl::StartsWith(
      EditError("Symbol('s31', positive=True, integer=True)", "Symbol('s31') +"),
      "models/model.json: graph_module.graph.tensor_values.input.sizes[0].as_expr: "));
  EXPECT_TRUE(absl::StrContains(
      EditError("\"guards_code\": []", "\"guards_code\": [\"L['y'].size()[0] == 3\"]"),
      "the source L['y'].size()[0] names no input"));
}

TEST(ReadPt2, WeightsAreChecked) {
  const std::string table = "mlp/data/weights/model_weights_config.json";
  EXPECT_NE(EditError("\"use_pickle\": false", "\"use_pickle\": true", table), "");
  EXPECT_EQ(EditError("\"weight_3\"", "\"../weight_3\"", table),
            "mlp/data/weights/model_weights_config.json: config.2.bias: the archive has no record "
            "mlp/data/weights/../weight_3");
  // A stride that leaves the record.
  EXPECT_NE(EditError("\"strides\": [{\"as_int\": 64}, {\"as_int\": 1}]",
                      "\"strides\": [{\"as_int\": 64}, {\"as_int\": 1000000007}]", table),
            "");
  EXPECT_NE(EditError("\"sizes\": [{\"as_int\": 128}, {\"as_int\": 64}]",
                      "\"sizes\": [{\"as_int\": 4611686018427387904}, {\"as_int\": 64}]", table),
            "");
  // The graph and the table must agree.
  std::string message = EditError("\"sizes\": [{\"as_int\": 128}, {\"as_int\": 64}]",
                                  "\"sizes\": [{\"as_int\": 64}, {\"as_int\": 64}]", table);
  EXPECT_TRUE(absl::StrContains(message,
                                "the graph takes '0.weight' as f32[128, 64], but the "
                                "archive holds f32[64, 64]"))
      << message;
  // No bytes: zeros.
  std::string empty = WithRecords("mlp", {});
  pt2::ZipWriter writer;
  pt2::ZipArchive archive = *pt2::ZipArchive::Open(pt2::CopyBytes(empty));
  for (const auto& [name, entry] : archive.entries()) {
    bool zeroed = absl::EndsWith(name, "/weight_0");
    writer.Add(name, zeroed ? "" : archive.Read(name)->view());
  }
  absl::StatusOr<Program> zeros = ReadPt2Bytes(writer.Finish());
  ASSERT_TRUE(zeros.ok()) << zeros.status();
  EXPECT_EQ(zeros->weights.at("0.weight").AtLinear(5).ToDouble(), 0);
}

TEST(ReadPt2, MissingRecordsAndVersions) {
  for (const char* name :
       {"archive_format", "archive_version", "models/model.json", "data/weights/weight_2",
        "data/weights/model_weights_config.json", "data/constants/model_constants_config.json"}) {
    std::string bytes = WithRecords("mlp", {{absl::StrCat("mlp/", name), ""}});
    EXPECT_FALSE(ReadPt2Bytes(bytes).ok()) << name;
  }
  EXPECT_TRUE(ReadPt2Bytes(WithRecords("mlp", {{"mlp/data/sample_inputs/model.pt", ""}})).ok());
  EXPECT_EQ(ReadPt2Bytes(WithRecords("mlp", {{"mlp/archive_version", "1"}})).status().message(),
            "mlp/archive_version: is '1', lathe reads '0'");
  EXPECT_EQ(ReadPt2Bytes(WithRecords("old_mlp", {{"version", "7.2"}})).status().message(),
            "version: the export schema is 7.2; lathe reads version 8");
  EXPECT_FALSE(ReadPt2Bytes(WithRecords("old_mlp", {{"serialized_state_dict.pt", "PK"}})).ok());
  EXPECT_FALSE(ReadPt2Bytes("").ok());
  EXPECT_EQ(ReadPt2("third_party/models/none.pt2").status().code(), absl::StatusCode::kNotFound);
}

// A program that is well formed, or a refusal that is the file's fault or a limit of lathe.
void ExpectReadOrRefused(const absl::StatusOr<Program>& program, absl::string_view what) {
  if (program.ok()) {
    EXPECT_TRUE(Verify(*program).ok()) << what << ": " << Verify(*program);
    return;
  }
  const absl::Status& status = program.status();
  EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsDataLoss(status) ||
              absl::IsUnimplemented(status) || absl::IsNotFound(status) ||
              absl::IsOutOfRange(status) || absl::IsResourceExhausted(status))
      << what << ": " << status;
  EXPECT_NE(status.message(), "") << what;
}

// Whatever the bytes, reading gives a program or a status.
TEST(ReadPt2, DamagedFiles) {
  std::mt19937 random(20240607);
  for (const char* model : {"mlp", "old_mlp", "cond_branch"}) {
    const std::string good = FileBytes(model);
    for (size_t k = 0; k < good.size(); k += good.size() / 60 + 1) {
      EXPECT_FALSE(ReadPt2Bytes(good.substr(0, k)).ok()) << model << " cut at " << k;
    }
    // The program and the tables, not the long runs of weights, hold most of what can go wrong.
    const size_t from = good.size() > 51000 ? 51000 : 0;
    for (int round = 0; round < 700; ++round) {
      std::string bad = good;
      for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
        bad[from + random() % (good.size() - from)] ^= static_cast<char>(1 << random() % 8);
      }
      ExpectReadOrRefused(ReadPt2Bytes(bad), model);
    }
  }
}

// The same with checksums that fit, so that the damage reaches the JSON reader.
TEST(ReadPt2, DamagedPrograms) {
  std::mt19937 random(7);
  const std::string record = "cond_branch/models/model.json";
  const std::string json = RecordOf("cond_branch", record);
  int refused = 0;
  const absl::string_view alphabet = "0123456789{}[]\",:-_asint";
  for (int round = 0; round < 1500; ++round) {
    std::string bad = json;
    size_t at = random() % bad.size();
    if (round % 3 == 0) {
      bad[at] = alphabet[random() % alphabet.size()];
    } else if (round % 3 == 1) {
      bad.erase(at, random() % 20);
    } else {
      bad.insert(at, json.substr(random() % json.size(), random() % 40));
    }
    absl::StatusOr<Program> program = ReadPt2Bytes(WithRecords("cond_branch", {{record, bad}}));
    ExpectReadOrRefused(program, bad.substr(at < 40 ? 0 : at - 40, 80));
    refused += !program.ok();
  }
  // Most of the text matters.
  EXPECT_GT(refused, 700);
}

}  // namespace
}  // namespace lathe
