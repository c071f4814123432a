// Parts of the page of P4.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/saltus/papers/page.h"
#include "saltus/studies/shape_study.h"

namespace saltus::cli {

// Rows judged by their absolute difference: many references are zero.
class References {
 public:
  explicit References(Page& page) : page_(page) {}
  void add(const std::string& what, double ours, double reference, double allowed = 1e-9) {
    const double off = std::abs(ours - reference);
    page_.judge(off <= allowed);
    rows_.push_back({what, fmt::format("{:.13g}", ours), fmt::format("{:.13g}", reference),
                     fmt::format("{:.1e}{}", off, off <= allowed ? "" : " MISSED"),
                     fmt::format("{:.0e}", allowed)});
  }
  void pose(const std::string& what, const GaitResult& end, double x, double y, double turn) {
    add(what + ", x", end.g.r.x(), x);
    add(what + ", y", end.g.r.y(), y);
    add(what + ", turn", end.turn, turn);
  }
  void show(const std::string& command) {
    page_.grid({"", "ours", "reference", "difference", "allowed"}, rows_, command);
    rows_.clear();
  }

 private:
  Page& page_;
  std::vector<std::vector<std::string>> rows_;
};

// Water and air: continuous and soft bodies (P4 sections 8 and 9).
void p4_water(Page& page, const std::string& folder);

// Torques, classes, stresses, and pictures of the creatures.
void p4_creatures(Page& page, const std::string& folder);

}  // namespace saltus::cli
