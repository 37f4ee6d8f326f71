// Runs a target on files, and on damaged copies of them with a fixed seed: a fuzzer's short form
// for every `bazel test`.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace {

constexpr int kDamagedCopies = 400;

std::string Damaged(const std::string& good, std::mt19937& random) {
  std::string bad = good;
  for (int edits = 1 + static_cast<int>(random() % 3); edits > 0 && !bad.empty(); --edits) {
    size_t at = random() % bad.size();
    switch (random() % 4) {
      case 0:
        bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
        break;
      case 1:
        bad[at] = static_cast<char>(random());
        break;
      case 2:
        bad.erase(at, 1 + random() % 16);
        break;
      default:
        bad.insert(at, good.substr(random() % good.size(), 1 + random() % 16));
        break;
    }
  }
  return bad;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  for (int k = 1; k < argc; ++k) {
    std::ifstream file(argv[k], std::ios::binary);
    std::string good{std::istreambuf_iterator<char>(file), {}};
    if (good.empty()) {
      fprintf(stderr, "%s: nothing to read\n", argv[k]);
      return 1;
    }
    FuzzOne(good);
    for (int copy = 0; copy < kDamagedCopies; ++copy) FuzzOne(Damaged(good, random));
  }
  return argc > 1 ? 0 : 1;
}
