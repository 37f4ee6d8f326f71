#ifndef LATHE_IR_OPS_CREATE_CREATE_ROWS_H_
#define LATHE_IR_OPS_CREATE_CREATE_ROWS_H_

// The groups of rows of this family; create_rows.cc joins them.

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> FillRows();    // full, zeros, ones, empty and their _like and new_ forms
std::vector<OpRow> RangeRows();   // arange, linspace, logspace, eye, tril_indices...
std::vector<OpRow> WindowRows();  // hann_window and its kind, fft_fftfreq

// ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None":
// the options of ATen's factories, with `more` before the closing parenthesis.
std::string WithOptions(const std::string& head, const std::string& more = "");

// The argument of this name, -1 when the schema has none.
int ArgumentNamed(const Schema& schema, const std::string& name);

// The options of one call: the dtype and device given, or these defaults.
struct FactoryOptions {
  DType dtype;
  Device device;
};
absl::StatusOr<FactoryOptions> OptionsOf(const OpArgs& args, DType dtype, Device device = {});

}  // namespace lathe

#endif  // LATHE_IR_OPS_CREATE_CREATE_ROWS_H_
