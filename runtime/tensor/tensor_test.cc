#include "runtime/tensor/tensor.h"

#include <cstring>
#include <random>
#include <vector>

#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/dlpack.h"

namespace lathe {
namespace {

// A tensor of random bits whose layout is sizes and strides at an offset.
Tensor Random(DType dtype, const Dims& sizes, const Dims& strides, int64_t offset, int seed) {
  int64_t span = 1 + offset;
  for (size_t d = 0; d < sizes.size(); ++d) span += (sizes[d] - 1) * strides[d];
  auto storage = Storage::Allocate(*ByteSize(dtype, span));
  std::mt19937 random(seed);
  auto* bytes = static_cast<uint8_t*>(storage->data());
  for (int64_t i = 0; i < storage->size_bytes(); ++i) bytes[i] = random() % 2;
  if (IsSubByte(dtype)) {
    for (int64_t i = 0; i < storage->size_bytes(); ++i) bytes[i] = random();
  }
  return *Tensor::Checked(dtype, sizes, strides, offset, storage);
}

TEST(Device, Texts) {
  EXPECT_EQ(ToString(Device::Cuda(3)), "cuda:3");
  EXPECT_EQ(ParseDevice("cuda"), Device::Cuda(0));
  EXPECT_EQ(ParseDevice("cuda:12"), Device::Cuda(12));
  for (const char* bad : {"", "cuda:", "cuda:-1", "cuda: 1", "cuda:99999999999", "gpu"}) {
    EXPECT_FALSE(ParseDevice(bad).has_value()) << bad;
  }
}

TEST(Storage, IsAlignedAndPaddedAndFreedOnce) {
  auto storage = Storage::Allocate(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u);
  std::memset(storage->data(), 0, 3 + 64);  // asan: the padding is ours
  int freed = 0, x = 0;
  auto wrapped = Storage::Wrap(&x, sizeof x, [&freed] { ++freed; });
  Tensor a(DType::kI32, {}, {}, 0, wrapped), b = a;
  wrapped.reset();
  a = Tensor();
  EXPECT_EQ(freed, 0);
  b = Tensor();
  EXPECT_EQ(freed, 1);
}

TEST(Tensor, CheckedRefusesWhatLeavesTheStorage) {
  auto storage = Storage::Allocate(24);
  EXPECT_TRUE(Tensor::Checked(DType::kF32, {2, 3}, {3, 1}, 0, storage).ok());
  EXPECT_TRUE(Tensor::Checked(DType::kF32, {2, 3}, {-3, 1}, 3, storage).ok());
  EXPECT_TRUE(Tensor::Checked(DType::kF32, {0, 1000}, {1000, 1}, 0, storage).ok());
  EXPECT_TRUE(Tensor::Checked(DType::kU3, {64}, {1}, 0, storage).ok());
  const int64_t big = int64_t{1} << 62;
  struct Bad {
    DType dtype;
    Dims sizes, strides;
    int64_t offset;
  };
  for (const Bad& bad : std::vector<Bad>{{DType::kF32, {2, 3}, {3, 1}, 1},
                                         {DType::kF32, {2, 3}, {-3, 1}, 0},
                                         {DType::kF32, {2, -3}, {3, 1}, 0},
                                         {DType::kF32, {7}, {1}, 0},
                                         {DType::kF32, {2}, {1, 1}, 0},
                                         {DType::kU3, {65}, {1}, 0},
                                         {DType::kU8, {3}, {big}, 0},
                                         {DType::kU8, {2}, {INT64_MAX}, 0},
                                         {DType::kU8, {big, 4}, {0, 0}, 0},
                                         {DType::kU8, {0, big, 4}, {0, 0, 0}, 0},
                                         {DType::kU8, {1}, {1}, -1}}) {
    auto tensor = Tensor::Checked(bad.dtype, bad.sizes, bad.strides, bad.offset, storage);
    EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(Tensor, ContiguityIgnoresUnitSizesAndHoldsForEmpty) {
  EXPECT_EQ(ContiguousStrides(Dims{2, 0, 4}), (Dims{4, 4, 1}));
  const Tensor t = Tensor::Zeros(DType::kF32, {2, 3, 4});
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_TRUE(t.AsStrided({2, 1, 12}, {12, 99, 1}, 0).is_contiguous());
  EXPECT_TRUE(t.AsStrided({2, 0}, {5, 7}, 0).is_contiguous());
  EXPECT_FALSE(t.AsStrided({3, 2}, {1, 3}, 0).is_contiguous());
  EXPECT_EQ(TypeString(t.AsStrided({3, 2}, {1, 3}, 4)), "f32[3, 2]{1, 3}+4");
  EXPECT_EQ(t.AsStrided({3, 2}, {1, 3}, 4).PositionOf(3), 4 + 1 + 3);
}

// Every copy, element by element, over layouts that reach each loop of CopyElements.
TEST(Tensor, CopiesKeepEveryElementAndNothingElse) {
  struct Layouts {
    Dims sizes, from, to;
    int64_t from_offset, to_offset;
  };
  const std::vector<Layouts> cases = {
      {{}, {}, {}, 3, 5},
      {{4, 0, 2}, {2, 2, 1}, {2, 2, 1}, 0, 0},
      {{37}, {1}, {1}, 0, 0},
      {{37}, {1}, {1}, 8, 16},
      {{37}, {1}, {1}, 3, 1},
      {{37}, {2}, {3}, 1, 0},
      {{33, 41}, {1, 33}, {41, 1}, 0, 0},
      {{33, 41}, {41, 1}, {1, 33}, 2, 1},
      {{33, 40}, {48, 1}, {64, 1}, 0, 0},
      {{3, 1, 5, 7}, {35, 9, 7, 1}, {1, 2, 21, 3}, 0, 0},
      {{3, 5, 7}, {0, 0, 1}, {35, 7, 1}, 0, 0},
      {{2, 3, 4, 5, 2, 2, 3}, {720, 1, 3, 12, 60, 120, 240}, {720, 240, 60, 12, 6, 3, 1}, 0, 0},
  };
  for (DType dtype : {DType::kBool, DType::kI16, DType::kF32, DType::kI64, DType::kC128, DType::kU1,
                      DType::kU3, DType::kI5, DType::kI7}) {
    for (const Layouts& c : cases) {
      const Tensor from = Random(dtype, c.sizes, c.from, c.from_offset, 1);
      const Tensor to = Random(dtype, c.sizes, c.to, c.to_offset, 2);
      // What each position of the target should hold afterwards.
      const int64_t positions = to.storage()->size_bytes() * 8 / BitWidth(dtype);
      const void* bytes = to.storage()->data();
      std::vector<Scalar> expected;
      for (int64_t p = 0; p < positions; ++p) expected.push_back(LoadElement(bytes, dtype, p));
      for (int64_t k = 0; k < to.numel(); ++k) expected[to.PositionOf(k)] = from.AtLinear(k);
      to.CopyFrom(from);
      for (int64_t p = 0; p < positions; ++p) {
        ASSERT_TRUE(LoadElement(bytes, dtype, p).Identical(expected[p]))
            << TypeString(from) << " to " << TypeString(to) << " at " << p;
      }
      const Tensor clone = from.Clone();
      EXPECT_TRUE(clone.is_contiguous());
      for (int64_t k = 0; k < to.numel(); ++k) {
        ASSERT_TRUE(clone.AtLinear(k).Identical(from.AtLinear(k))) << TypeString(from);
      }
    }
  }
}

TEST(Tensor, CopiesWithinOneStorageAsIfReadFirst) {
  const Tensor t = Tensor::FromSpan<int32_t>({6}, {0, 1, 2, 3, 4, 5});
  t.AsStrided({5}, {1}, 1).CopyFrom(t.AsStrided({5}, {1}, 0));
  for (int k = 0; k < 6; ++k) EXPECT_EQ(t.AtLinear(k), Scalar(k == 0 ? 0 : k - 1));
}

TEST(Tensor, ConvertsAsScalarsDo) {
  const std::vector<DType> dtypes = {DType::kBool, DType::kU3,  DType::kI5,  DType::kU8,
                                     DType::kI16,  DType::kI64, DType::kF16, DType::kBF16,
                                     DType::kF32,  DType::kF64, DType::kC64, DType::kF8E4M3FN};
  for (DType from : dtypes) {
    Tensor source = Tensor::Empty(from, {3, 7});
    const double values[] = {0, 1, -1, 2.5, 3.3, 100.7, 65519.9, 1e30, 0.1};
    for (int k = 0; k < 21; ++k) source.SetLinear(k, values[k % 9]);
    source = source.AsStrided({7, 3}, {1, 7}, 0);
    for (DType to : dtypes) {
      const Tensor result = source.To(to);
      for (int k = 0; k < 21; ++k) {
        ASSERT_TRUE(result.AtLinear(k).Identical(Convert(source.AtLinear(k), to)))
            << Name(from) << " to " << Name(to) << ": " << source.AtLinear(k).ToString();
      }
    }
  }
}

TEST(Tensor, ScalarsAndIndexes) {
  EXPECT_EQ(Tensor::FromScalar(DType::kU3, 13).AtLinear(0), Scalar(5));
  const Tensor t = Tensor::FromSpan<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(t.At({1, 0}), Scalar(3.0));
  t.SetLinear(1, 9);
  EXPECT_EQ(t.At({0, 1}), Scalar(9.0));
}

TEST(DLPack, GoesOutAndComesBackWithoutACopy) {
  const std::vector<DType> dtypes = {DType::kBool, DType::kU64, DType::kBF16, DType::kF8E5M2,
                                     DType::kC64};
  for (DType dtype : dtypes) {
    Tensor tensor = Random(dtype, {3, 4}, {1, 3}, 2, 5);
    std::weak_ptr<Storage> storage = tensor.storage();
    const std::string type = TypeString(tensor.AsStrided({3, 4}, {1, 3}, 0));
    const void* data = tensor.data();
    const Scalar element = tensor.AtLinear(5);
    absl::StatusOr<DLManagedTensorVersioned*> managed = ToDLPackVersioned(tensor);
    ASSERT_TRUE(managed.ok()) << managed.status();
    tensor = Tensor();
    absl::StatusOr<Tensor> back = FromDLPack(*managed);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(TypeString(*back), type);
    EXPECT_EQ(back->data(), data);
    EXPECT_TRUE(back->AtLinear(5).Identical(element));
    EXPECT_FALSE(storage.expired());
    *back = Tensor();
    EXPECT_TRUE(storage.expired());
  }
}

TEST(DLPack, RefusesWhatItCannotHold) {
  EXPECT_EQ(ToDLPack(Tensor::Zeros(DType::kU3, {4})).status().code(),
            absl::StatusCode::kUnimplemented);
  int64_t shape[] = {2, 2}, strides[] = {2, 1};
  float data[4] = {1, 2, 3, 4};
  static int deleted;
  deleted = 0;
  DLManagedTensor managed = {{data, {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0},
                             nullptr,
                             [](DLManagedTensor*) { ++deleted; }};
  auto status_with = [&managed](auto change) {
    DLManagedTensor changed = managed;
    change(changed.dl_tensor);
    return FromDLPack(&changed).status().code();
  };
  using absl::StatusCode;
  EXPECT_EQ(status_with([](DLTensor& t) { t.dtype.lanes = 4; }), StatusCode::kUnimplemented);
  EXPECT_EQ(status_with([](DLTensor& t) { t.dtype.bits = 4; }), StatusCode::kUnimplemented);
  EXPECT_EQ(status_with([](DLTensor& t) { t.device.device_type = 7; }), StatusCode::kUnimplemented);
  EXPECT_EQ(status_with([](DLTensor& t) { t.ndim = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(status_with([](DLTensor& t) { t.data = nullptr; }), StatusCode::kInvalidArgument);
  strides[0] = INT64_MAX;
  EXPECT_EQ(status_with([&](DLTensor& t) { t.strides = strides; }), StatusCode::kInvalidArgument);
  strides[0] = -2;
  EXPECT_EQ(status_with([&](DLTensor& t) { t.strides = strides; }), StatusCode::kInvalidArgument);
  shape[0] = -2;
  EXPECT_EQ(status_with([](DLTensor&) {}), StatusCode::kInvalidArgument);
  EXPECT_EQ(deleted, 0);
  shape[0] = 2;
  { EXPECT_EQ(FromDLPack(&managed)->At({1, 0}), Scalar(3.0)); }
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace lathe
