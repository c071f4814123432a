// Height functions over two shape variables as pictures, gaits drawn on them.
#pragma once
#include <string>

#include "saltus/studies/shape_study.h"

namespace saltus::cli {

// One map a component of F over the report's plane; with ideal axles also how near each shape is to
// a singular one.
[[nodiscard]] std::string shape_picture(const ShapeReport& report, const std::string& title,
                                        const ShapeGrid& grid);

}  // namespace saltus::cli
