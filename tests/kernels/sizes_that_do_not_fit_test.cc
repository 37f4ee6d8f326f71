// A call whose sizes do not fit one another is refused before a kernel reads or writes past a
// buffer, where the type rules could not know; a call whose sizes fit is not.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "ir/reference/conform.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

absl::Status StatusOf(const std::string& text, const std::vector<RunValue>& inputs) {
  return RunText(text, Tier::kTile, inputs).status();
}

void ExpectRefused(const std::string& text, const std::vector<RunValue>& inputs) {
  const absl::Status status = StatusOf(text, inputs);
  EXPECT_EQ(ExitCode(status), 2) << text << ": " << status;
}

// The tile tier gives what the reference gives.
void ExpectFits(const std::string& text, const std::vector<RunValue>& inputs) {
  const auto expected = RunText(text, Tier::kReference, inputs);
  const auto actual = RunText(text, Tier::kTile, inputs);
  ASSERT_TRUE(expected.ok()) << text << ": " << expected.status();
  ASSERT_TRUE(actual.ok()) << text << ": " << Describe(actual.status());
  for (size_t k = 0; k < actual->size(); ++k) {
    // Strides of tensors without elements are anybody's.
    const Tensor x = std::get<Tensor>((*actual)[k]), y = std::get<Tensor>((*expected)[k]);
    EXPECT_EQ(CompareTensors(x.Clone(), y.Clone(), true), "") << text;
  }
}

TEST(SizesThatDoNotFit, AreRefused) {
  const std::string add =
      "graph @f(%x: f32[s0], %y: f32[s1]) { %a = aten.add.Tensor(%x, %y) return %a }";
  ExpectFits(add, {Ones({3}), Ones({3})});
  ExpectFits(add, {Ones({0}), Ones({0})});
  ExpectRefused(add, {Ones({3}), Ones({2})});
  ExpectRefused(add, {Ones({2}), Ones({3})});  // also where no element too many is read
  const std::string constant =
      "graph @f(%x: f32[s0], %y: f32[4]) { %a = aten.add.Tensor(%x, %y) return %a }";
  ExpectFits(constant, {Ones({4}), Ones({4})});
  ExpectRefused(constant, {Ones({3}), Ones({4})});
  ExpectRefused(constant, {Ones({5}), Ones({4})});
}

TEST(SizesThatDoNotFit, AreNamedWithTheNode) {
  const absl::Status status =
      StatusOf("graph @f(%x: f32[s0], %y: f32[s1]) { %sum = aten.add.Tensor(%x, %y) return %sum }",
               {Ones({3}), Ones({2})});
  EXPECT_EQ(NodeOf(status), "%sum");
  EXPECT_TRUE(absl::StrContains(status.message(), "size 0 of input x = 3, size 0 of input y = 2"))
      << status;
}

TEST(SizesThatDoNotFit, BehindViewsToo) {
  for (const char* view :
       {"aten.select.int(%x, 0, 5)", "aten.select.int(%x, 0, 5000000000)", "aten.view(%x, [2, 3])",
        "aten.expand(%x, [4])", "aten.narrow(%x, 0, 2, 5)", "aten.unfold(%x, 0, 4, 1)"}) {
    ExpectRefused(
        std::string("graph @f(%x: f32[s0]) { %a = ") + view + " %b = aten.neg(%a) return %b }",
        {Ones({3})});
  }
}

TEST(SizesThatDoNotFit, AnIndexLongerThanItsSource) {
  const Tensor index = Tensor::Zeros(DType::kI64, {4});
  for (const char* op : {"aten.scatter_add(%x, 0, %i, %y)", "aten.scatter.src(%x, 0, %i, %y)",
                         "aten.index_add(%x, 0, %i, %y)"}) {
    for (const char* sizes : {"[2]", "[s0]"}) {
      const std::string text = std::string("graph @f(%x: f32[3], %i: i64[4], %y: f32") + sizes +
                               ") { %a = " + op + " return %a }";
      ExpectRefused(text, {Ones({3}), index, Ones({2})});
    }
  }
}

TEST(SizesThatDoNotFit, AnIndexWiderThanWhatItIndexes) {
  const std::string head = "graph @f(%x: f32[s0, s1], %i: i64[s2, s3], %y: f32[s2, s3]) { %a = ";
  for (const char* op : {"aten.gather(%x, 0, %i)", "aten.scatter.src(%x, 0, %i, %y)",
                         "aten.scatter_add(%x, 0, %i, %y)", "aten.take_along_dim(%x, %i, 0)",
                         "aten.scatter.value(%x, 0, %i, 2.0)"}) {
    const std::string text = head + op + " return %a }";
    const auto inputs = [](int64_t rows, int64_t columns) -> std::vector<RunValue> {
      return {Counted(DType::kF32, {3, 4}), Tensor::Zeros(DType::kI64, {rows, columns}),
              Ones({rows, columns})};
    };
    ExpectFits(text, inputs(5, 4));
    ExpectRefused(text, inputs(2, 400000));
  }
}

TEST(SizesThatDoNotFit, OfOtherOperators) {
  const std::string two = "graph @f(%x: f32[s0, s1], %y: f32[s2, s3]) { %a = ";
  for (const char* op : {"aten.mm(%x, %y)", "aten.cat([%x, %y], 1)", "aten.stack([%x, %y])",
                         "aten.where.self(%x, %x, %y)", "aten.addmm(%y, %x, %x)",
                         "aten.mse_loss(%x, %y)", "aten.lerp.Scalar(%x, %y, 0.5)"}) {
    std::string text = two;
    if (absl::StrContains(op, "where")) {
      text = "graph @f(%x: f32[s0, s1], %y: f32[s2, s3]) { %c = aten.gt.Scalar(%x, 0) %a = ";
      absl::StrAppend(&text, "aten.where.self(%c, %x, %y)");
    } else {
      text += op;
    }
    ExpectRefused(text + " return %a }", {Ones({3, 5}), Ones({4, 2})});
  }
  ExpectFits(two + "aten.cat([%x, %y]) return %a }", {Ones({3, 5}), Counted(DType::kF32, {2, 5})});
  ExpectRefused(two + "aten.cat([%x, %y]) return %a }", {Ones({3, 5}), Ones({2, 4})});
  ExpectRefused(two + "aten.cat([%x, %y]) return %a }", {Ones({3, 4}), Ones({2, 5})});
}

TEST(SizesThatDoNotFit, BehindReshapesOfSymbolicSizes) {
  const std::string text =
      "graph @f(%x: f32[s0, s1], %y: f32[s2]) { %p = aten.permute(%x, [1, 0])"
      " %r = aten.reshape(%p, [s0*s1]) %a = aten.add.Tensor(%y, %r) return %a }";
  ExpectFits(text, {Counted(DType::kF32, {3, 5}), Ones({15})});
  ExpectFits(text, {Ones({0, 5}), Ones({0})});
  ExpectRefused(text, {Ones({3, 5}), Ones({20})});
  ExpectRefused(text, {Ones({3, 5}), Ones({10})});
}

TEST(SizesThatDoNotFit, OfResultsThatAreDeclaredEquallyLong) {
  const std::string text =
      "graph @f(%x: f32[6], %y: f32[6]) { %a = aten.nonzero(%x) : i64[u0, 1]"
      " %b = aten.nonzero(%y) : i64[u0, 1] %c = aten.add.Tensor(%a, %b) return %c }";
  Tensor two = Tensor::Zeros(DType::kF32, {6});
  two.SetLinear(1, Scalar(1));
  two.SetLinear(4, Scalar(1));
  ExpectFits(text, {two, two});
  ExpectFits(text, {Ones({6}), Ones({6})});
  ExpectRefused(text, {Ones({6}), two});
  ExpectRefused(text, {two, Ones({6})});
  const std::string constant =
      "graph @f(%x: f32[6]) { %a = aten.nonzero(%x) : i64[4, 1] %c = aten.neg(%a) return %c }";
  ExpectRefused(constant, {two});
}

// Bounds that are too wide would refuse these.
TEST(SizesThatFit, AreNotRefused) {
  const std::string head = "graph @f(%x: f32[s0, s1], %i: i64[s2]) { %a = ";
  for (const char* op :
       {"aten.constant_pad_nd(%x, [1, 2, -1, 3], 0.5)", "aten.roll(%x, [2], [1])",
        "aten.repeat(%x, [2, 3])", "aten.flip(%x, [0, 1])", "aten.index_select(%x, 0, %i)",
        "aten.tril(%x)", "aten.slice.Tensor(%x, 1, 1, 100, 2)", "aten.diagonal(%x)",
        "aten.unfold(%x, 1, 2, 1)", "aten.cat([%x, %x, %x], 1)", "aten.select.int(%x, 0, -1)",
        "aten.repeat_interleave.self_int(%x, 2, 0)", "aten.constant_pad_nd(%x, [-1, -1])",
        "aten.cumsum(%x, 1)", "aten.amax(%x, [0])", "aten.expand(%x, [2, s0, s1])"}) {
    const std::string text = head + op + " %b = aten.neg(%a) return %b }";
    for (const Dims& sizes : {Dims{3, 5}, Dims{1, 4}, Dims{7, 2}}) {
      ExpectFits(text, {Counted(DType::kF32, sizes), Tensor::Zeros(DType::kI64, {6})});
    }
  }
  for (const char* body :
       {"%d = aten.diagonal(%x, -1) %n = aten.neg(%d) %a = aten.diagonal_scatter(%x, %n, -1)",
        "%d = aten.diagonal(%x, 1) %n = aten.neg(%d) %a = aten.diagonal_scatter(%x, %n, 1)",
        "%d = aten.select.int(%x, 1, 1) %n = aten.neg(%d) %a = aten.select_scatter(%x, %n, 1, 1)",
        "%d = aten.slice.Tensor(%x, 0, 1, 3) %n = aten.neg(%d)"
        " %a = aten.slice_scatter(%x, %n, 0, 1, 3)"}) {
    for (const Dims& sizes : {Dims{3, 5}, Dims{4, 4}, Dims{7, 2}}) {
      ExpectFits(std::string("graph @f(%x: f32[s0, s1]) { ") + body + " return %a }",
                 {Counted(DType::kF32, sizes)});
    }
  }
  ExpectFits(
      "graph @f(%x: f32[2, 4, 4], %y: f32[2, 3, 4]) { %a = aten._chunk_cat([%x, %y], 1, 2)"
      " return %a }",
      {Counted(DType::kF32, {2, 4, 4}), Counted(DType::kF32, {2, 3, 4})});
  const std::string image = "graph @f(%x: f32[1, 2, s0, s1]) { %a = ";
  for (const char* op :
       {"aten.avg_pool2d(%x, [3, 3], [2, 2], [1, 1])",
        "aten.max_pool2d(%x, [3, 3], [2, 2], [1, 1])", "aten.upsample_nearest2d(%x, [7, s1])",
        "aten.reflection_pad2d(%x, [1, 1, 2, 1])", "aten.replication_pad2d(%x, [1, 1, 2, 1])",
        "aten.upsample_bilinear2d(%x, [5, 9], false)", "aten.adaptive_avg_pool2d(%x, [2, 2])",
        "aten.avg_pool2d(%x, [9, 9], [1, 1], [4, 4])",
        "aten.im2col(%x, [2, 2], [1, 1], [1, 1], [1, 1])"}) {
    const std::string text = image + op + " return %a }";
    for (const Dims& sizes : {Dims{1, 2, 4, 6}, Dims{1, 2, 5, 5}, Dims{1, 2, 8, 3}}) {
      ExpectFits(text, {Counted(DType::kF32, sizes)});
    }
  }
  ExpectFits(
      "graph @f(%x: f32[s0], %y: f32[s1], %z: f32[s2]) { %a = aten.cat([%x, %y, %z])"
      " %b = aten.neg(%a) return %b }",
      {Ones({0}), Counted(DType::kF32, {3}), Ones({2})});
}

TEST(EmptyReductions, AreRefusedWhereTheyHaveNoValue) {
  const std::string head = "graph @f(%x: f32[s0, s1]) { ";
  for (const char* op :
       {"%a = aten.amax(%x, [1])", "%a = aten.amin(%x, [1])", "%a = aten.max(%x)",
        "%a = aten.min(%x)", "%a = aten.argmax(%x, 1)", "%a = aten.argmin(%x)",
        "%a, %b = aten.max.dim(%x, 1)", "%a, %b = aten.min.dim(%x, 1)",
        "%a, %b = aten.aminmax(%x, dim=1)", "%a = aten.linalg_vector_norm(%x, inf, [1])"}) {
    ExpectFits(head + op + " return %a }", {Counted(DType::kF32, {3, 2})});
    for (Tier tier : {Tier::kTile, Tier::kReference}) {
      const absl::Status status =
          RunText(head + op + " return %a }", tier, {Ones({3, 0})}).status();
      EXPECT_EQ(ExitCode(status), 2) << op << ": " << status;
    }
  }
  for (const char* op :
       {"aten.softmax.int(%x, 1)", "aten.log_softmax.int(%x, 1)", "aten.sum.dim_IntList(%x, [1])",
        "aten.prod.dim_int(%x, 1)", "aten.logsumexp(%x, [1])", "aten.mean.dim(%x, [1])",
        "aten.any.dim(%x, 1)", "aten.all.dim(%x, 1)", "aten.linalg_vector_norm(%x, 2, [1])",
        "aten.cumsum(%x, 1)"}) {
    ExpectFits(head + "%a = " + op + " return %a }", {Ones({3, 0})});
    ExpectFits(head + "%a = " + op + " return %a }", {Counted(DType::kF32, {3, 2})});
  }
  // Nothing is asked for, so nothing is missing.
  ExpectFits(head + "%a = aten.amax(%x, [1]) return %a }", {Ones({0, 3})});
}

}  // namespace
}  // namespace lathe
