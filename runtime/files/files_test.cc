#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "minizip/zip.h"
#include "runtime/files/mapped_file.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"

namespace lathe {
namespace {

std::string Path(const std::string& name) {
  return absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name);
}
std::string Write(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}
std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// What a reader may say of a damaged file: that it is damaged, wrong, or of a kind it does not
// read.
void ExpectReadOrRefused(const absl::StatusOr<std::map<std::string, Tensor>>& result) {
  if (!result.ok()) {
    const absl::Status& status = result.status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsDataLoss(status) ||
                absl::IsUnimplemented(status) || absl::IsResourceExhausted(status))
        << status;
    EXPECT_NE(status.message(), "");
    return;
  }
  for (const auto& [name, tensor] : *result) {
    EXPECT_TRUE(Tensor::Checked(tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset(),
                                tensor.storage())
                    .ok())
        << name;
    for (int64_t k = 0; k < tensor.numel(); ++k) tensor.AtLinear(k).ToDouble();
  }
}

// --- Mapped files ---

TEST(MappedFile, ReadsPastTheEndAndKeepsWritesPrivate) {
  const std::string path = Write("page", std::string(4096, 'x'));
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto piece = MappedFile::Piece(*file, 4000, 96, 8);
  EXPECT_EQ(static_cast<char*>(piece->data())[96 + 63], 0);
  static_cast<char*>(piece->data())[0] = 'y';
  EXPECT_EQ(Read(path), std::string(4096, 'x'));
  EXPECT_EQ(MappedFile::Open(Path("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(Path("")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MappedFile::Open(Write("empty", "")).ok());
}

// --- Safetensors ---

std::string Safetensors(const std::string& header, const std::string& data) {
  return Bytes(std::vector<uint64_t>{header.size()}) + header + data;
}

TEST(Safetensors, EveryDtypeRoundTrips) {
  std::map<std::string, Tensor> tensors;
  for (const DType dtype : AllDTypes()) {
    if (dtype == DType::kF4E2M1FNx2) continue;
    Tensor t = Tensor::Zeros(dtype, {3, 5});
    for (int64_t k = 0; k < 15; ++k) t.SetLinear(k, Scalar(static_cast<int>(k) - 3));
    tensors[std::string(Name(dtype)) + " \"quoted\""] = t;
  }
  tensors["scalar"] = Tensor::FromScalar(DType::kF32, 2.5);
  tensors["empty"] = Tensor::Zeros(DType::kF64, {0, 3});
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  tensors["transposed"] =
      Tensor::FromSpan<float>({2, 3}, absl::MakeConstSpan(values)).AsStrided({3, 2}, {1, 3}, 0);
  ASSERT_TRUE(WriteSafetensors(Path("all"), tensors).ok());
  auto back = ReadSafetensors(Path("all"));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& read = back->at(name);
    EXPECT_EQ(TypeString(read), TypeString(tensor.Contiguous())) << name;
    for (int64_t k = 0; k < tensor.numel(); ++k) {
      EXPECT_TRUE(read.AtLinear(k).Identical(tensor.AtLinear(k))) << name;
    }
  }
  EXPECT_TRUE(absl::StrContains(Read(Path("all")), "\"u3[3, 5]\""));
}

TEST(Safetensors, ReadsRecordedFiles) {
  auto tensors = ReadSafetensors("third_party/vectors/ops.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_GT(tensors->size(), 1000u);
}

TEST(Safetensors, TensorsOutliveTheReaderAndAreAligned) {
  Tensor kept;
  {
    const std::string header = R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                               R"("f":{"dtype":"F32","shape":[2],"data_offsets":[3,11]}})";
    const std::string path =
        Write("odd", Safetensors(header, "abc" + Bytes(std::vector<float>{1.5f, -2})));
    auto tensors = ReadSafetensors(path);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    kept = tensors->at("f");
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(kept.data()) % 4, 0u);
  EXPECT_EQ(kept.AtLinear(1).ToDouble(), -2);
}

TEST(Safetensors, RefusesWhatDoesNotAddUp) {
  const struct {
    const char* header;
    const char* phrase;
  } cases[] = {
      {"[1]", "no JSON object"},
      {"{", "no JSON object"},
      {R"({"x":3})", "is no object"},
      {R"({"x":{"dtype":"F32","shape":[1]}})", "needs dtype, shape and data_offsets"},
      {R"({"x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", "unknown dtype F33"},
      {R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "bad shape"},
      {R"({"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "bad shape"},
      {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "does not take 4 bytes"},
      {R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", "outside the file's 8"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "outside the file's 8"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", "outside the file's 8"},
      {R"({"x":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,8]}})",
       "does not take 8 bytes"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
       "overlap"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "two tensors"},
      {R"({"__metadata__":{"x":"u3[9]"},"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
       "u3[9] does not take 3 bytes"},
      {R"({"__metadata__":{"x":"u3[4]+1"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       "'u3[4]+1' is no type of packed integers"},
      {R"({"__metadata__":{"x":"u9[2]"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       "'u9[2]' is no type of packed integers"},
      {R"({"__metadata__":{"x":"i4[-4]"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       "'i4[-4]' is no type of packed integers"},
      {R"({"__metadata__":{"x":"u4[4]"},"x":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}})",
       "of one dimension"},
      {R"({"__metadata__":{"x":1}})", "something else than texts"},
  };
  for (const auto& c : cases) {
    const auto result = ReadSafetensors(Write("bad", Safetensors(c.header, "12345678")));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << c.header;
    EXPECT_TRUE(absl::StrContains(std::string(result.status().message()), c.phrase))
        << result.status();
  }
  // Nested deeper than any stack.
  const std::string deep(200000, '[');
  EXPECT_FALSE(ReadSafetensors(Write("deep", Safetensors(deep, ""))).ok());
  EXPECT_EQ(ReadSafetensors(Write("short", "1234")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadSafetensors(Write("long", std::string("\xff\0\0\0\0\0\0\0{}", 10))).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_FALSE(ReadSafetensors(Write("huge", std::string(8, '\xff'))).ok());
}

TEST(Safetensors, MetadataThatIsNoTypeStaysMetadata) {
  const std::string header =
      R"({"__metadata__":{"x":"pt","y":"f32[1]","z":"u1[2]"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  auto tensors = ReadSafetensors(Write("meta", Safetensors(header, "ab")));
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(TypeString(tensors->at("x")), "u8[2]");
}

TEST(Safetensors, DamageNeverCrashes) {
  std::map<std::string, Tensor> tensors = {{"a", Tensor::Zeros(DType::kF32, {2, 2})},
                                           {"b", Tensor::Zeros(DType::kU3, {5})}};
  ASSERT_TRUE(WriteSafetensors(Path("good"), tensors).ok());
  const std::string good = Read(Path("good"));
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = good;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      const size_t k = random() % bad.size();
      if (random() % 4 == 0) {
        bad.resize(k + 1);
      } else {
        bad[k] = static_cast<char>(random() % 2 == 0 ? random() : '0' + random() % 75);
      }
    }
    ExpectReadOrRefused(ReadSafetensors(Write("damaged", bad)));
  }
}

// --- NumPy ---

std::string Npy(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + header + data;
}

TEST(Npy, ReadsPlainArrays) {
  auto t =
      ReadNpy(Write("a.npy", Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                 Bytes(std::vector<float>{1, 2, 3, 4, 5, 6}))));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(TypeString(*t), "f32[2, 3]");
  EXPECT_EQ(t->At({1, 0}).ToDouble(), 4);
  t = ParseNpy(Npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3)}",
                   Bytes(std::vector<int64_t>{1, 2, 3, 4, 5, 6}), 2),
               "f");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(TypeString(*t), "i64[2, 3]{1, 2}");
  EXPECT_EQ(t->At({1, 0}).ToInt(), 2);
  t = ParseNpy(Npy("{\"descr\": '>i2', 'shape': (2,), 'fortran_order': False}",
                   std::string("\x01\x02\xff\xfe", 4), 3),
               "big endian");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->AtLinear(0).ToInt(), 258);
  EXPECT_EQ(t->AtLinear(1).ToInt(), -2);
  t = ParseNpy(Npy("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\1"), "scalar");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(TypeString(*t), "bool[]");
  t = ParseNpy(Npy("{'descr': '<c16', 'fortran_order': False, 'shape': (0, 7)}", ""), "empty");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(TypeString(*t), "c128[0, 7]");
}

TEST(Npy, RefusesTheRest) {
  const auto code = [](const std::string& header, const std::string& data = "") {
    return ParseNpy(Npy(header, data), "x").status().code();
  };
  using Code = absl::StatusCode;
  EXPECT_EQ(ParseNpy("PK", "x").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}"), Code::kUnimplemented);
  EXPECT_EQ(code("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
            Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234"),
            Code::kDataLoss);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4)}"),
            Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
            Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False}"), Code::kInvalidArgument);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': exit(), 'shape': (1,)}"),
            Code::kInvalidArgument);
  const std::string good = Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "1234");
  for (size_t k = 0; k < good.size(); ++k) EXPECT_FALSE(ParseNpy(good.substr(0, k), "x").ok());
}

std::string WriteNpz(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& entries, int level) {
  zipFile zip = zipOpen64(Path(name).c_str(), APPEND_STATUS_CREATE);
  for (const auto& [entry, bytes] : entries) {
    zipOpenNewFileInZip(zip, entry.c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr,
                        level == 0 ? 0 : Z_DEFLATED, level);
    zipWriteInFileInZip(zip, bytes.data(), static_cast<unsigned>(bytes.size()));
    zipCloseFileInZip(zip);
  }
  zipClose(zip, nullptr);
  return Path(name);
}

TEST(Npz, StoredAndDeflated) {
  std::vector<float> many(300000);
  for (size_t k = 0; k < many.size(); ++k) many[k] = static_cast<float>(k % 10);
  const std::string a =
      Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (300000,)}", Bytes(many));
  const std::string b = Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "\1\2");
  for (const int level : {0, 6}) {
    const std::string path = WriteNpz("t.npz", {{"a.npy", a}, {"x.y.npy", b}}, level);
    auto tensors = ReadNpz(path);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    ASSERT_EQ(tensors->size(), 2u);
    EXPECT_EQ(tensors->at("a").AtLinear(299999).ToDouble(), 9);
    EXPECT_EQ(TypeString(tensors->at("x.y")), "u8[2]");
    // A flipped byte is found by the entry's checksum or the directory.
    std::string bytes = Read(path);
    bytes[300] = static_cast<char>(bytes[300] ^ 1);
    EXPECT_FALSE(ReadNpz(Write("flipped.npz", bytes)).ok());
    for (size_t k = 0; k < 40; ++k) {
      EXPECT_FALSE(ReadNpz(Write("cut.npz", bytes.substr(0, bytes.size() - 1 - k * 37))).ok());
    }
  }
  EXPECT_EQ(ReadNpz(Write("no.npz", "not a zip")).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadNpz(WriteNpz("other.npz", {{"a.txt", "x"}}, 0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ReadNpz(WriteNpz("twice.npz", {{"b.npy", b}, {"b.npy", b}}, 0)).ok());
}

TEST(Npz, DamageNeverCrashes) {
  const std::string b =
      Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (40,)}", std::string(40, 'z'));
  const std::string good = Read(WriteNpz("good.npz", {{"b.npy", b}, {"c.npy", b}}, 6));
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = good;
    for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) {
      bad[random() % bad.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    ExpectReadOrRefused(ReadNpz(Write("bad.npz", bad)));
  }
}

}  // namespace
}  // namespace lathe
