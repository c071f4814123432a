// Parts of the page of P3; internal to it.
#pragma once
#include <string>
#include <vector>

#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/study.h"

namespace saltus::cli {

// The colour of mass or spring i, and the dashes that the paper gives it.
[[nodiscard]] const char* colour_of(int i);

// p3_modes.cpp: which masses are held when, and which mode follows which.
void add_mode_figures(Page& page, const Study& study);
// p3_ways.cpp: the same numbers three ways, and the order of time stepping on every scene.
void add_three_ways(Page& page);
void add_orders(Page& page);
// p3_open.cpp: the problems that the paper leaves open.
void add_open_problems(Page& page, const std::string& folder);

}  // namespace saltus::cli
