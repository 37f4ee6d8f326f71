#include "capture/pt2/read_pt2.h"

#include "gtest/gtest.h"

namespace lathe {
namespace {

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

std::string PathOf(const std::string& model) { return "third_party/models/" + model + ".pt2"; }

TEST(ReadPt2, EveryModel) {
  for (const char* model : kModels) {
    absl::StatusOr<Program> program = ReadPt2(PathOf(model));
    EXPECT_TRUE(program.ok()) << model << ": " << program.status();
  }
}

}  // namespace
}  // namespace lathe
