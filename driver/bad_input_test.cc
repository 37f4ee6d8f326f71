// The binary on archives, files and inputs that are wrong: the right exit code, one message that
// names what is wrong, no crash, no hang, nothing written.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "capture/pt2/byte_block.h"
#include "capture/pt2/program_writer.h"
#include "capture/pt2/zip_archive.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using pt2::F32;
using pt2::Meta;
using pt2::Named;
using pt2::ProgramWriter;
using pt2::ZipWriter;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int code = -1;  // 128 + signal when it was killed; 124: it did not end in time
  std::string out, err;
};

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "bad-input";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    lathe_ = fs::absolute("lathe");
    models_ = fs::absolute("third_party/models");
  }

  std::string Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  // Runs the binary in the folder; results are asked for in a file that must not appear when it
  // fails.
  Outcome Run(std::vector<std::string> words) {
    const fs::path out = fs::path(testing::TempDir()) / "out", err = out.string() + ".err";
    std::vector<std::string> command = {"/usr/bin/timeout", "20", lathe_.string()};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::set<std::string> before = Files();
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.c_str()) != 0) _exit(126);
      dup2(open("/dev/null", O_RDONLY), 0);
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = ReadFile(out);
    outcome.err = ReadFile(err);
    if (outcome.code != 0) {
      EXPECT_EQ(Files(), before) << "something was written";
    }
    return outcome;
  }

  // The program must be refused with this code and a message that holds the phrase.
  void ExpectRefused(const std::string& what, const std::vector<std::string>& words, int code,
                     const std::string& phrase) {
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.code, code) << what << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << what;
    EXPECT_TRUE(absl::StrContains(outcome.err, phrase)) << what << ": " << outcome.err;
    EXPECT_TRUE(absl::StartsWith(outcome.err, "lathe: ")) << what << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
        << what << ": " << outcome.err;
  }
  void ExpectArchiveRefused(const std::string& what, const std::string& bytes, int code,
                            const std::string& phrase) {
    ExpectRefused(what,
                  {"run", Write("bad.pt2", bytes), "-i", "input=2x64xf32=1", "--tier", "tile", "-o",
                   "out.safetensors"},
                  code, phrase);
  }
  // Whatever else happens: a good answer, or a refusal.
  void ExpectNoFault(const std::string& what, const std::string& bytes) {
    const Outcome outcome =
        Run({"run", Write("bad.pt2", bytes), "-i", "input=2x64xf32=1", "--tier", "tile"});
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 2 || outcome.code == 3)
        << what << ": exit code " << outcome.code << ": " << outcome.err;
    if (outcome.code != 0) {
      EXPECT_TRUE(absl::StartsWith(outcome.err, "lathe: ")) << outcome.err;
    }
  }

  std::string Model(const std::string& name) { return ReadFile(models_ / (name + ".pt2")); }
  // mlp's records in their order.
  std::vector<std::pair<std::string, std::string>> Records() {
    pt2::ZipArchive archive = *pt2::ZipArchive::Open(pt2::CopyBytes(Model("mlp")));
    std::vector<std::pair<std::string, std::string>> records;
    for (const auto& [name, entry] : archive.entries()) {
      records.emplace_back(name, std::string(archive.Read(name)->view()));
    }
    return records;
  }
  // mlp with one record changed.
  std::string With(const std::string& record, const std::string& bytes) {
    ZipWriter zip;
    bool found = false;
    for (const auto& [name, old] : Records()) {
      found |= name == "mlp/" + record;
      zip.Add(name, name == "mlp/" + record ? bytes : old);
    }
    EXPECT_TRUE(found) << record;
    return zip.Finish();
  }
  std::string RecordOf(const std::string& record) {
    for (const auto& [name, bytes] : Records()) {
      if (name == "mlp/" + record) return bytes;
    }
    ADD_FAILURE() << record;
    return "";
  }
  std::string Edited(const std::string& record, const std::string& from, const std::string& to) {
    const std::string text = RecordOf(record);
    EXPECT_TRUE(absl::StrContains(text, from)) << from;
    return With(record, absl::StrReplaceAll(text, {{from, to}}));
  }

  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      files.insert(entry.path().filename().string());
    }
    return files;
  }

  fs::path folder_, lathe_, models_;
};

constexpr char kProgram[] = "models/model.json";
constexpr char kTable[] = "data/weights/model_weights_config.json";

TEST_F(BadInput, ArchivesCutAnywhere) {
  const std::string good = Model("mlp");
  for (size_t k = 0; k < good.size(); k += good.size() / 25 + 1) {
    ExpectArchiveRefused(absl::StrCat("cut at ", k), good.substr(0, k), 2, "bad.pt2: ");
  }
  ExpectArchiveRefused("cut by one", good.substr(0, good.size() - 1), 2, "cut short");
  const std::string old = Model("old_mlp");
  for (size_t k = 0; k < old.size(); k += old.size() / 10 + 1) {
    ExpectArchiveRefused(absl::StrCat("old, cut at ", k), old.substr(0, k), 2, "bad.pt2: ");
  }
}

TEST_F(BadInput, FlippedBytes) {
  std::mt19937 random(5);
  for (const char* model : {"mlp", "old_mlp"}) {
    const std::string good = Model(model);
    for (int round = 0; round < 60; ++round) {
      std::string bad = good;
      // The directory and what is at the end, every other time.
      const size_t from = round % 2 == 0 ? good.size() - good.size() / 8 : 0;
      const size_t at = from + random() % (good.size() - from);
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      ExpectNoFault(absl::StrCat(model, ", flipped at ", at), bad);
    }
  }
}

TEST_F(BadInput, RecordsMissingOrShort) {
  const std::vector<std::pair<std::string, std::string>> records = Records();
  // What the program does not need, or what stands for zeros when it is empty.
  const std::set<std::string> optional = {"mlp/byteorder", "mlp/.data/serialization_id",
                                          "mlp/.data/version", "mlp/data/sample_inputs/model.pt"};
  for (size_t left_out = 0; left_out < records.size(); ++left_out) {
    ZipWriter without, halved;
    for (size_t k = 0; k < records.size(); ++k) {
      const auto& [name, bytes] = records[k];
      if (k != left_out) without.Add(name, bytes);
      halved.Add(name, k == left_out ? bytes.substr(0, bytes.size() / 2) : bytes);
    }
    const std::string& name = records[left_out].first;
    if (optional.contains(name)) {
      ExpectNoFault("without " + name, without.Finish());
      ExpectNoFault("half of " + name, halved.Finish());
      continue;
    }
    const std::string short_name = name.substr(name.rfind('/') + 1);
    const bool is_mark = name == "mlp/archive_format";
    ExpectArchiveRefused("without " + name, without.Finish(), 2,
                         name == "mlp/models/model.json" ? "no program under models/" : short_name);
    const bool is_version = is_mark || name == "mlp/archive_version";
    ExpectArchiveRefused("half of " + name, halved.Finish(), is_version ? 3 : 2, "bad.pt2: ");
  }
}

TEST_F(BadInput, WrongVersions) {
  ExpectArchiveRefused("archive version", With("archive_version", "1"), 3,
                       "is '1', lathe reads '0'");
  ExpectArchiveRefused("archive format", With("archive_format", "pt3"), 3, "lathe reads 'pt2'");
  ExpectArchiveRefused("byte order", With("byteorder", "big"), 3, "lathe reads 'little'");
  ExpectArchiveRefused("schema", Edited(kProgram, "\"major\": 8", "\"major\": 9"), 3,
                       "major version 9; lathe reads version 8");
  ExpectArchiveRefused("schema", Edited(kProgram, "\"major\": 8", "\"major\": \"8\""), 2,
                       "schema_version.major: expected an integer");
  ExpectNoFault("a later minor version", Edited(kProgram, "\"minor\": 17", "\"minor\": 99"));
}

TEST_F(BadInput, BrokenJson) {
  const std::string json = RecordOf(kProgram);
  for (size_t k = 0; k < json.size(); k += json.size() / 12 + 1) {
    ExpectArchiveRefused(absl::StrCat("JSON cut at ", k), With(kProgram, json.substr(0, k)), 2,
                         "models/model.json: not valid JSON at byte ");
  }
  const std::string deep(3'000'000, '[');
  ExpectArchiveRefused("without end", With(kProgram, deep), 2, "nested deeper than 256 levels");
  ExpectArchiveRefused("without end", With(kTable, "{\"config\": " + deep), 2,
                       "nested deeper than 256 levels");
  std::string objects;
  for (int k = 0; k < 100'000; ++k) objects += "{\"a\":";
  ExpectArchiveRefused("without end", With(kProgram, objects), 2, "nested deeper than 256 levels");
  for (const char* text : {"null", "[]", "3", "\"x\"", "{}"}) {
    ExpectArchiveRefused(text, With(kProgram, text), 2, "models/model.json: ");
    ExpectArchiveRefused(text, With(kTable, text), 2, "model_weights_config.json: ");
  }
  ExpectArchiveRefused("bytes", With(kProgram, std::string("{\"a\": \"\xff\"}")), 2,
                       "not valid JSON");
  ExpectArchiveRefused("a null byte", With(kProgram, json.substr(0, 100) + '\0' + json.substr(100)),
                       2, "not valid JSON");
}

TEST_F(BadInput, NamesAndSizes) {
  const struct {
    const char *record, *from, *to;
    int code;
    const char* phrase;
  } cases[] = {
      {kProgram, "{\"as_tensor\": {\"name\": \"gelu\"}}", "{\"as_tensor\": {\"name\": \"ghost\"}}",
       2, "'ghost' "},
      {kProgram, "\"0.weight\"", "\"9.weight\"", 2, "the archive holds no data for '9.weight'"},
      {kProgram, "{\"as_int\": 128}", "{\"as_int\": -128}", 2, "a size is negative"},
      {kProgram, "{\"as_int\": 128}", "{\"as_int\": 9223372036854775808}", 2, "integer of 64 bits"},
      {kProgram, "{\"as_int\": 128}", "{\"as_int\": 1e300}", 2, "integer of 64 bits"},
      {kProgram, "{\"as_int\": 128}", "{\"as_int\": 9223372036854775807}", 2, "0.weight"},
      {kProgram, "Symbol('s31', positive=True, integer=True)", "Symbol('s31'", 2,
       "sizes[0].as_expr"},
      {kProgram, "Symbol('s31', positive=True, integer=True)", "system('true')", 3, "system"},
      {kProgram, "\"dtype\": 7", "\"dtype\": 77", 3, "unknown dtype number 77"},
      {kProgram, "\"as_tensor\"", "\"as_turtle\"", 3, "as_turtle"},
      {kTable, "{\"as_int\": 128}", "{\"as_int\": -128}", 2, "a size is negative"},
      {kTable, "{\"as_int\": 128}", "{\"as_int\": 9223372036854775808}", 2, "integer of 64 bits"},
      {kTable, "{\"as_int\": 128}", "{\"as_int\": 9223372036854775807}", 2, "0.weight"},
      {kTable, "{\"as_int\": 128}", "{\"as_int\": 129}", 2, "0.weight"},
      {kTable, "\"strides\": [{\"as_int\": 64}", "\"strides\": [{\"as_int\": 65}", 2, "0.weight"},
      {kTable, "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": 1}", 2,
       "config."},
      {kTable, "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": -1}", 2,
       "the offset is negative"},
      {kTable, "\"weight_0\"", "\"../weight_0\"", 2, "mlp/data/weights/../weight_0"},
      {kTable, "\"weight_0\"", "\"/etc/passwd\"", 2, "mlp/data/weights//etc/passwd"},
      {kTable, "\"weight_0\"", "\"../../models/model.json\"", 2, "../../models/model.json"},
      {kTable, "\"use_pickle\": false", "\"use_pickle\": true", 3, "is a pickle"},
  };
  for (const auto& c : cases) {
    ExpectArchiveRefused(c.to, Edited(c.record, c.from, c.to), c.code, c.phrase);
  }
}

TEST_F(BadInput, UnknownOperatorsAreAllNamed) {
  ProgramWriter p;
  p.Input("input", F32({"2", "64"}));
  p.Node("torch.ops.my.first.default", {{"self", Named("input")}}, {{"a", F32({"4"})}});
  p.Node("torch.ops.aten.relu.default", {{"self", Named("a")}}, {{"b", F32({"4"})}});
  p.Node("torch.ops.higher_order.your_second", {{"", Named("b")}}, {{"c", F32({"4"})}});
  p.Output(Named("c"));
  ExpectArchiveRefused("unknown", p.Archive({}), 3, "my.first");
  ExpectArchiveRefused("unknown", p.Archive({}), 3, "your_second");
}

TEST_F(BadInput, ZipDirectories) {
  const auto with_entry = [&](const std::string& name) {
    ZipWriter zip;
    for (const auto& [record, bytes] : Records()) zip.Add(record, bytes);
    return zip.Add(name, "x").Finish();
  };
  ExpectArchiveRefused("leaves the archive", with_entry("mlp/../../x"), 2, "leaves the archive");
  ExpectArchiveRefused("leaves the archive", with_entry("/etc/x"), 2, "leaves the archive");
  ExpectArchiveRefused("twice", with_entry("mlp/archive_format"), 2, "two entries are named");
  ExpectArchiveRefused("not an archive", "nonsense", 2, "not a zip archive");
  ExpectArchiveRefused("empty", "", 2, "bad.pt2: ");
  ExpectArchiveRefused("no program", ZipWriter().Add("a", "b").Finish(), 2,
                       "not one that torch.export.save wrote");
  fs::create_directory(folder_ / "folder.pt2");
  ExpectRefused("a folder", {"run", "folder.pt2"}, 2, "folder.pt2");
  ExpectRefused("absent", {"run", "absent.pt2"}, 2, "absent.pt2");
}

TEST_F(BadInput, WrongInputs) {
  const std::string mlp = (models_ / "mlp.pt2").string();
  const std::string bert = (models_ / "hf_bert.pt2").string();
  const struct {
    std::vector<std::string> inputs;
    const char* phrase;
  } cases[] = {
      {{}, "no value for the input 'input'"},
      {{"input=2x64xf32=1", "input=2x64xf32=1"}, "'input' is given twice"},
      {{"input=2x64xf32=1", "more=3"}, "has no input 'more'"},
      {{"input=2x64xf64=1"}, "input 'input': dtype must be f32, given f64[2, 64]"},
      {{"input=64xf32=1"}, "input 'input': rank must be 2, given f32[64]"},
      {{"input=2x63xf32=1"}, "input 'input': size 1 must be 64, given 63"},
      {{"input=4097x64xf32=1"}, "input"},
      {{"input=3"}, "'input' is a tensor"},
      {{"input=2x64xf99=1"}, "'f99' is not a dtype"},
      {{"input=-2x64xf32=1"}, "'-2' is not a size"},
      {{"input=9223372036854775808x64xf32=1"}, "is not a size"},
      {{"input=9223372036854775807x64xf32=1"}, "too many elements"},
      {{"input=9223372036854775807xf32=1"}, "larger than this machine's memory"},
      {{"input=2x2xf32=[[1, 2], [3]]"}, "expected to have more than 1 items"},
      {{"input=2x64xf32=x"}, "x"},
      {{"input="}, "input"},
      {{"absent.npy"}, "absent.npy"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> words = {"run", mlp, "--tier", "tile", "-o", "out.safetensors"};
    for (const std::string& input : c.inputs) words.insert(words.end(), {"-i", input});
    ExpectRefused(c.inputs.empty() ? "" : c.inputs[0], words, 2, c.phrase);
  }
  // Ranges and equalities: the rule and the value.
  ExpectRefused("range", {"run", mlp, "-i", "input=4097x64xf32=1"}, 2, "4097");
  ExpectRefused("range", {"run", mlp, "-i", "input=4097x64xf32=1"}, 2, "at most 4096");
  ExpectRefused("sizes that differ",
                {"run", bert, "-i", "input_ids=2x8xi64=1", "-i", "attention_mask=2x9xi64=1"}, 2,
                "attention_mask");
  ExpectRefused("range",
                {"run", bert, "-i", "input_ids=2x61xi64=1", "-i", "attention_mask=2x61xi64=1"}, 2,
                "60");
}

TEST_F(BadInput, WrongFilesOfTensors) {
  const std::string mlp = (models_ / "mlp.pt2").string();
  const auto refuse = [&](const std::string& name, const std::string& bytes, int code,
                          const std::string& phrase) {
    ExpectRefused(name, {"run", mlp, "-i", Write(name, bytes), "-o", "out.safetensors"}, code,
                  phrase);
  };
  const std::string answers = ReadFile(models_ / "mlp.io.safetensors");
  for (size_t k = 0; k < answers.size(); k += answers.size() / 8 + 1) {
    refuse("cut.safetensors", answers.substr(0, k), 2, "cut.safetensors: ");
  }
  refuse("a.safetensors", std::string(100, '\xff'), 2, "not a safetensors file");
  refuse("a.npy", "\x93NUMPY\x01", 2, "not a .npy file");
  refuse("object.npy",
         std::string("\x93NUMPY\x01\0\x40\0", 10) +
             "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }        ",
         2, "pickled Python objects");
  refuse("a.npz", "PK nonsense", 2, "a.npz");
  refuse("a.txt", "1 2 3", 2, "a.txt");
  ExpectRefused("check", {"check", mlp, Write("b.safetensors", answers.substr(0, 3000))}, 2,
                "b.safetensors: ");
}

// A safetensors file of one tensor.
std::string PackedFile(const std::string& type, const std::string& format,
                       const std::string& bytes) {
  std::string header =
      absl::StrCat(R"({"__metadata__":{"in.0":")", type, R"("},"in.0":{"dtype":")", format,
                   R"(","shape":[)", bytes.size(), R"(],"data_offsets":[0,)", bytes.size(), "]}}");
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(length.data(), &size, sizeof size);
  return length + header + bytes;
}

TEST_F(BadInput, PackedIntegers) {
  const std::string program = Write("packed.lathe",
                                    "graph @f(%x: u3[5]) {\n  %y = aten.add.Scalar(%x, 3)\n"
                                    "  return %y\n}\n");
  const std::string two("\x88\x46", 2);  // 0 1 2 3 4
  const Outcome good =
      Run({"run", program, "-i", Write("in.safetensors", PackedFile("u3[5]", "U8", two)), "--tier",
           "tile"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_TRUE(absl::StrContains(good.out, "u3[5] [3, 4, 5, 6, 7]")) << good.out;
  // Written, then read again.
  const std::string out = (folder_ / "in.0.safetensors").string();
  const Outcome written = Run({"run", program, "-i", "x=5xu3=[5, 6, 7, 0, 1]", "-o", out});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_TRUE(absl::StrContains(ReadFile(out), "u3[5]")) << ReadFile(out);

  const auto refuse_file = [&](const std::string& type, const std::string& format,
                               const std::string& bytes, const std::string& phrase) {
    ExpectRefused(type,
                  {"run", program, "-i", Write("bad.safetensors", PackedFile(type, format, bytes)),
                   "-o", "out.safetensors"},
                  2, phrase);
  };
  refuse_file("u3[5]", "U8", "a", "does not take 1 bytes");
  refuse_file("u3[5]", "U8", "abc", "does not take 3 bytes");
  refuse_file("u3[5]+1", "U8", "ab", "no type of packed integers");
  refuse_file("u9[5]", "U8", "ab", "no type of packed integers");
  refuse_file("u3[9223372036854775807]", "U8", "ab", "does not take 2 bytes");
  refuse_file("u3[5]", "U3", "ab", "unknown dtype U3");
  refuse_file("i3[5]", "U8", "ab", "dtype must be u3");
  const auto refuse_input = [&](const std::string& input, const std::string& phrase) {
    ExpectRefused(input, {"run", program, "-i", input, "-o", "out.safetensors"}, 2, phrase);
  };
  refuse_input("x=5xu9=1", "'u9' is not a dtype");
  refuse_input("x=5xu0=1", "'u0' is not a dtype");
  refuse_input("x=5xu3+1=1", "'u3+1' is not a dtype");
  refuse_input("x=5xu4=1", "dtype must be u3");
  refuse_input("x=6xu3=1", "size 0 must be 5");
  const auto refuse_text = [&](const std::string& text, const std::string& phrase) {
    ExpectRefused(text,
                  {"run", Write("bad.lathe", text), "-i", "x=5xu3=1", "-o", "out.safetensors"}, 2,
                  phrase);
  };
  refuse_text("graph @f(%x: u9[5]) { return %x }", "1:14: an unknown type 'u9'");
  refuse_text("graph @f(%x: u3[5]+x) { return %x }", "the size x is not known here");
  refuse_text("graph @f(%x: u3[5]+-1) { return %x }", "1:");
  refuse_text("graph @f(%x: u3[5]) { %y = aten._to_copy(%x, dtype=u9) return %y }", "1:");
  refuse_text("graph @f(%x: u3[5]) { %y = constant(u3[2]+1, [1, 2]) return %y }", "1:");
  refuse_text("graph @f(%x: u3[5]) { %y = constant(u3[2], [1, 2, 3]) return %y }", "1:");
  refuse_text("graph @f(%x: u3[5]) { %y = aten.view.dtype(%x, u8) return %y }", "divisible");
}

// What a program states of a number that it reads is checked, also where nothing else needs it.
TEST_F(BadInput, NumbersOtherThanStated) {
  const std::string constant = Write("constant.lathe",
                                     "graph @f(%n: i64[]) {\n  %item = aten.item(%n) : int(5)\n"
                                     "  %y = aten.ones([5]) : f32[5]\n  return %y\n}\n");
  const std::string size = Write("size.lathe",
                                 "graph @f(%x: f32[s0], %n: i64[]) {\n"
                                 "  %item = aten.item(%n) : int(s0 + 1)\n"
                                 "  %y = aten.ones([s0 + 1]) : f32[s0 + 1]\n  return %y\n}\n");
  for (const char* tier : {"tile", "reference"}) {
    EXPECT_EQ(Run({"run", constant, "-i", "n=i64=5", "--tier", tier}).code, 0) << tier;
    EXPECT_EQ(Run({"run", size, "-i", "x=3xf32=1", "-i", "n=i64=4", "--tier", tier}).code, 0);
    ExpectRefused(tier, {"run", constant, "-i", "n=i64=7", "--tier", tier, "-o", "o.safetensors"},
                  2, "%item");
    ExpectRefused(
        tier,
        {"run", size, "-i", "x=3xf32=1", "-i", "n=i64=3", "--tier", tier, "-o", "o.safetensors"}, 2,
        "%item");
  }
}

// A number that a rule must know when the program is compiled, and that sizes give.
TEST_F(BadInput, ArgumentsThatOnlyACallKnows) {
  const std::string text =
      "graph @f(%x: f32[s0, 3]) {\n"
      "  %y = aten.std.correction(%x, [0], correction=0.5*float(s0))\n  return %y\n}\n";
  ExpectRefused(text, {"run", Write("std.lathe", text), "-i", "x=4x3xf32=1", "-o", "o.safetensors"},
                3, "'correction' must be known when the program is compiled, but is 0.5*float(s0)");
}

TEST_F(BadInput, WrongText) {
  const struct {
    std::string text;
    int code;
    const char* phrase;
  } cases[] = {
      {"", 2, "1:1"},
      {"graph @f(", 2, "1:"},
      {"graph @f(%x: f32[2]) { %y = aten.relu(%z) return %y }", 2, "%z"},
      {"graph @f(%x: f32[-2]) { return %x }", 2, "1:"},
      {"graph @f(%x: f32[99999999999999999999]) { return %x }", 2, "1:"},
      {"graph @f(%x: f32[2]) { %y = my.op(%x) : f32[2] return %y }", 3, "my.op"},
      {"graph @f(%x: f32[2]) { %y = aten.relu(" + std::string(100000, '[') + ") }", 2, "deep"},
      {"archive \"../../absent.pt2\" graph @f(%x: f32[2] = weight(\"w\")) { return %x }", 2,
       "absent.pt2"},
      {std::string("\0\xff\xfe", 3), 2, "1:1"},
  };
  for (const auto& c : cases) {
    ExpectRefused(c.text.substr(0, 60),
                  {"run", Write("bad.lathe", c.text), "-i", "x=2xf32=1", "-o", "out.safetensors"},
                  c.code, c.phrase);
  }
}

}  // namespace
}  // namespace lathe
