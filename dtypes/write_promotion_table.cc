#include <cstdio>

#include "dtypes/promotion_table.h"

int main() { std::fputs(lathe::PromotionTable().c_str(), stdout); }
