#include "ir/loops/ops_handler.h"

namespace lathe {

OpsHandler::~OpsHandler() = default;

// Here and not in the header: inline, they triple the time to build every handler.
#define LATHE_UNARY(Name, text) \
  OpsValue OpsHandler::Name(OpsValue x) { return Apply(OpKind::k##Name, {x}); }
#define LATHE_BINARY(Name, text) \
  OpsValue OpsHandler::Name(OpsValue a, OpsValue b) { return Apply(OpKind::k##Name, {a, b}); }
#define LATHE_TERNARY(Name, text)                                 \
  OpsValue OpsHandler::Name(OpsValue a, OpsValue b, OpsValue c) { \
    return Apply(OpKind::k##Name, {a, b, c});                     \
  }
#include "ir/loops/ops_list.inc"

}  // namespace lathe
