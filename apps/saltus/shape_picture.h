// Height functions over two shape variables as pictures, gaits drawn on them.
#pragma once
#include <string>

#include "saltus/studies/shape_study.h"

namespace saltus::cli {

// One map a component of F, `cells` a side; with ideal axles also how near each shape is to a
// singular one. Throws InputError where the scene names no plane.
[[nodiscard]] std::string shape_picture(const ShapeReport& report, const std::string& title,
                                        int cells);

}  // namespace saltus::cli
