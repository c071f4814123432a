// The table of rods' reference values, ours beside them: this program prints it.
#include "saltus/studies/rod_study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace saltus {
namespace {

void show(const char* title, const std::vector<RodFigure>& figures) {
  fmt::print("{}\n    {:<58} {:>17} {:>17} {:>8} {:>8}\n", title, "", "ours", "reference", "off",
             "allowed");
  for (const RodFigure& f : figures) {
    const double off = std::abs(f.ours - f.reference);
    fmt::print("    {:<58} {:>17.11g} {:>17.11g} {:>8.1e} {:>8.0e}\n", f.what, f.ours, f.reference,
               off, f.allowed);
    EXPECT_LE(off, f.allowed) << title << ", " << f.what;
  }
}

TEST(RodStudy, Beams) { show("beams and the tree", beam_figures()); }
TEST(RodStudy, Contact) { show("contact statics", contact_figures()); }

}  // namespace
}  // namespace saltus
