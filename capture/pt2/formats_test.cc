// The containers of an archive by themselves: zip, JSON, pickle, and the names in metadata.

#include <cmath>

#include "capture/pt2/guard_sources.h"
#include "capture/pt2/json.h"
#include "capture/pt2/pickle.h"
#include "capture/pt2/schema_to_graph.h"
#include "capture/pt2/zip_archive.h"
#include "capture/pt2/zip_writer.h"
#include "gtest/gtest.h"

namespace lathe::pt2 {
namespace {

std::string OpenError(const std::string& bytes) {
  return std::string(ZipArchive::Open(CopyBytes(bytes)).status().message());
}

TEST(Zip, ReadsStoredEntries) {
  std::string bytes = ZipWriter().Add("a/b", "hello").Add("empty", "").Add("folder/", "").Finish();
  absl::StatusOr<ZipArchive> zip = ZipArchive::Open(CopyBytes(bytes));
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_EQ(zip->entries().size(), 2);
  EXPECT_EQ(zip->ReadChecked("a/b")->view(), "hello");
  EXPECT_EQ(zip->Read("empty")->size, 0);
  EXPECT_EQ(zip->Read("c").status().message(), "the archive has no record c");
}

TEST(Zip, RefusesNamesThatLeaveTheArchive) {
  for (const char* name : {"../x", "a/../x", "/etc/x", "a\\b", "c:x", ".."}) {
    EXPECT_NE(OpenError(ZipWriter().Add(name, "x").Finish()).find("leaves the archive"),
              std::string::npos)
        << name;
  }
  EXPECT_EQ(OpenError(ZipWriter().Add("a", "1").Add("a", "2").Finish()),
            "zip: two entries are named a");
}

TEST(Zip, RefusesOverlapsAndImpossibleSizes) {
  ZipWriter overlap;
  overlap.Add("a", "1").Add("a", "1");
  // Both directory entries point at the first local header.
  overlap.directory().replace(overlap.directory().size() - 5, 4, 4, '\0');
  EXPECT_EQ(OpenError(overlap.Finish()), "zip: a and a overlap");

  ZipWriter large;
  large.Add("a", "123");
  large.directory().replace(20, 8, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8);
  EXPECT_EQ(OpenError(large.Finish()),
            "zip: a claims 2147483647 bytes, which the archive does not hold");

  std::string good = ZipWriter().Add("a", "123").Finish();
  EXPECT_EQ(OpenError(good.substr(0, good.size() - 1)),
            "not a zip archive, or one cut short: no end record");
  std::string damaged = good;
  damaged[31] ^= 1;  // inside the data: "a" is at 30
  absl::StatusOr<ZipArchive> zip = ZipArchive::Open(CopyBytes(damaged));
  ASSERT_TRUE(zip.ok());
  EXPECT_EQ(zip->ReadChecked("a").status().code(), absl::StatusCode::kDataLoss);
}

TEST(Json, PathsInErrors) {
  absl::StatusOr<std::unique_ptr<JsonDocument>> document =
      JsonDocument::Parse("r.json", R"({"nodes": [1, {"arg": {"as_int": "x"}, "new": 3}]})");
  ASSERT_TRUE(document.ok()) << document.status();
  JsonValue node = (*(*document)->root().Field("nodes"))[1];
  EXPECT_EQ(node.Field("arg")->Union()->second.Integer().status().message(),
            "r.json: nodes[1].arg.as_int: expected an integer of 64 bits, got \"x\"");
  EXPECT_EQ(node.Field("missing").status().message(),
            "r.json: nodes[1]: the field 'missing' is missing");
  EXPECT_EQ(node.CheckFields({"arg"}).message(),
            "r.json: nodes[1].new: lathe does not know this field");
  EXPECT_EQ(node.CheckFields({"arg"}).code(), absl::StatusCode::kUnimplemented);
}

TEST(Json, NumbersAndDepth) {
  auto parse = [](const std::string& text) { return JsonDocument::Parse("r", text); };
  auto floats = *parse(R"([NaN, "-Infinity", 1e-5, 9007199254740993, 0.1])");
  EXPECT_TRUE(std::isnan(*floats->root()[0].Float()));
  EXPECT_EQ(*floats->root()[1].Float(), -INFINITY);
  EXPECT_EQ(*floats->root()[2].Float(), 1e-5);
  EXPECT_EQ(*floats->root()[3].Integer(), 9007199254740993);
  EXPECT_EQ(*floats->root()[4].Float(), 0.1);
  EXPECT_TRUE(parse(std::string(250, '[') + std::string(250, ']')).ok());
  EXPECT_EQ(parse(std::string(5000000, '[')).status().message(),
            "r: JSON is nested deeper than 256 levels");
  EXPECT_EQ(parse("{\"a\": 1").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parse("{} {}").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parse("\"\xff\"").status().code(), absl::StatusCode::kDataLoss);
}

TEST(Json, TextAndItsEnd) {
  auto parse = [](absl::string_view text) { return JsonDocument::Parse("r", text); };
  auto texts = *parse("\xef\xbb\xbf[\"a\\u00e9\\n\\\"b\", \"\xc3\xa9\", \"\\u0000\", \"\"]");
  EXPECT_EQ(*texts->root()[0].String(), "a\xc3\xa9\n\"b");
  EXPECT_EQ(*texts->root()[1].String(), "\xc3\xa9");
  EXPECT_EQ(*texts->root()[2].String(), absl::string_view("\0", 1));
  EXPECT_EQ(*texts->root()[3].String(), "");
  EXPECT_EQ(parse(absl::string_view("{}\0", 3)).status().message(),
            "r: not valid JSON at byte 2: a byte of 0 stands there");
  EXPECT_EQ(parse(absl::string_view("[1, \0 2]", 8)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parse(absl::string_view("\"a\0b\"", 5)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parse("").status().code(), absl::StatusCode::kDataLoss);
}

// The opcodes of {"w": tensor} with a storage of `global`.
std::string TensorPickle(const std::string& global) {
  auto text = [](const std::string& s) {
    return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + s;
  };
  return std::string("\x80\x02}", 3) + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" +
         text("storage") + "c" + global + text("0") + text("cpu") +
         "K\x06tQK\x01K\x02K\x02\x86K\x02" + "K\x01\x86\x89}tRs.";
}

TEST(Pickle, ReadsTensors) {
  auto read = ReadTensorDict(TensorPickle("torch\nFloatStorage\n"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 1);
  const auto& [name, tensor] = (*read)[0];
  EXPECT_EQ(name, "w");
  EXPECT_EQ(tensor.storage_key, "0");
  EXPECT_EQ(tensor.dtype, DType::kF32);
  EXPECT_EQ(tensor.storage_elements, 6);
  EXPECT_EQ(tensor.offset, 1);
  EXPECT_EQ(tensor.sizes, (Dims{2, 2}));
  EXPECT_EQ(tensor.strides, (Dims{2, 1}));
}

TEST(Pickle, RefusesByName) {
  auto error = [](const std::string& bytes) {
    return std::string(ReadTensorDict(bytes).status().message());
  };
  EXPECT_EQ(error(TensorPickle("os\nsystem\n")),
            "pickle: the name 'os.system' is not one that lathe reads");
  EXPECT_EQ(error("\x80\x04."), "pickle: protocol 4; lathe reads 2");
  EXPECT_EQ(error(std::string("\x80\x02i", 3)), "pickle: opcode 0x69 is not one that lathe reads");
  EXPECT_EQ(error(std::string("\x80\x02}q", 4)), "pickle, byte 4: cut short");
  EXPECT_EQ(error("h\x01."), "pickle, byte 2: memo 1 is not set");
  EXPECT_EQ(error("t"), "pickle, byte 1: no mark on the stack");
  EXPECT_EQ(error("R"), "pickle, byte 1: the stack is empty");
  EXPECT_EQ(error("."), "pickle, byte 1: the stack is empty");
  // A dictionary that holds itself.
  EXPECT_EQ(error(std::string("\x80\x02}q\0X\x01\0\0\0wh\0s.", 15)), "pickle: 'w' is not a tensor");
}

TEST(Pickle, EveryCutAndFlipIsAStatus) {
  std::string good = TensorPickle("torch\nFloatStorage\n");
  for (size_t k = 0; k < good.size(); ++k) {
    EXPECT_FALSE(ReadTensorDict(good.substr(0, k)).ok()) << k;
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[k] = static_cast<char>(bad[k] ^ (1 << bit));
      (void)ReadTensorDict(bad);
    }
  }
}

TEST(Names, OfOperatorsAndPlaces) {
  EXPECT_EQ(OpName("torch.ops.aten.add.Tensor"), "aten.add.Tensor");
  EXPECT_EQ(OpName("torch.ops.aten.relu.default"), "aten.relu");
  EXPECT_EQ(OpName("torch.ops.higher_order.cond"), "cond");
  EXPECT_EQ(OpName("_operator.ge"), "operator.ge");
  EXPECT_EQ(OpName("torch.sym_max"), "sym_max");
  EXPECT_EQ(OpName("torch._sym_sqrt"), "sym_sqrt");
  EXPECT_EQ(OpName("math.ceil"), "math.ceil");
  EXPECT_EQ(OpName("#my:op"), "#my:op");
  EXPECT_EQ(SourceLine("File \"a.py\", line 3, in f\n  x\nFile \"b/c.py\", line 41, in g\n  y"),
            "b/c.py:41");
  EXPECT_EQ(SourceLine("nothing"), "");
  // What the exporter adds has no line of the user's.
  EXPECT_EQ(SourceLine("File \"torch/fx/passes/runtime_assert.py\", line 24, in insert\n"), "");
  EXPECT_EQ(SourceLine("File \"a.py\", line 3, in f\n  x\n"
                       "File \"/lib/site-packages/torch/nn/functional.py\", line 9, in g\n  y"),
            "a.py:3");
  EXPECT_EQ(ModulePath("L__self__,,m.W;L__self__m,m,t.B;L__self__m.e,m.e,t.E"), "m.e");
  EXPECT_EQ(ModulePath(""), "");
}

TEST(GuardSources, LeavesOfACall) {
  // f(x, [y, {"k": z}], *, n)
  const char* spec = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [
    {"type": "builtins.tuple", "context": "null", "children_spec": [
      {"type": null, "context": null, "children_spec": []},
      {"type": "builtins.list", "context": "null", "children_spec": [
        {"type": null, "context": null, "children_spec": []},
        {"type": "builtins.dict", "context": "[\"k\"]", "children_spec": [
          {"type": null, "context": null, "children_spec": []}]}]}]},
    {"type": "builtins.dict", "context": "[\"n\"]", "children_spec": [
      {"type": null, "context": null, "children_spec": []}]}]}])";
  EXPECT_EQ(LeafSources(spec, {"x", "ys", "n"}),
            (std::vector<std::vector<std::string>>{
                {"L['x']"}, {"L['ys'][0]"}, {"L['ys'][1]['k']"}, {"L['n']"}}));
  EXPECT_TRUE(LeafSources("nonsense", {}).empty());
}

}  // namespace
}  // namespace lathe::pt2
