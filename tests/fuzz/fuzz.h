#ifndef LATHE_TESTS_FUZZ_FUZZ_H_
#define LATHE_TESTS_FUZZ_FUZZ_H_

#include "absl/strings/string_view.h"

// What each *_fuzz.cc defines: must return, whatever the input.
void FuzzOne(absl::string_view input);

#endif  // LATHE_TESTS_FUZZ_FUZZ_H_
