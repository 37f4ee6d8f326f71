// Any bytes as the pickle of a state dict.

#include "capture/pt2/pickle.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) { (void)lathe::pt2::ReadTensorDict(input); }
