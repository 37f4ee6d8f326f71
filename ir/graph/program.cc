#include "ir/graph/program.h"

namespace lathe {

Program NewProgram(std::string main_name) {
  Program program;
  program.context = std::make_shared<ExprContext>();
  program.shapes = std::make_shared<ShapeEnv>(program.context);
  program.main = std::make_shared<Graph>(std::move(main_name), program.context);
  return program;
}

}  // namespace lathe
