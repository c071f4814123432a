// A page of the papers' site: sections with figures and tables, theirs beside ours.
#pragma once
#include <string>
#include <vector>

#include "apps/saltus/papers/svg.h"

namespace saltus::cli {

// One figure of a table: what, ours, the reference, and how far off it may be.
struct FigureRow {
  std::string what;
  double ours = 0;
  double reference = 0;  // NaN: there is none
  std::string source;    // "paper", "recomputed", ...
  double tolerance = 0;  // relative; 0: shown, not judged
  std::string unit;
};

class Page {
 public:
  Page(std::string title, std::string intro);
  void section(const std::string& title, const std::string& text);
  void text(const std::string& paragraph);
  void plot(const Plot& plot, const std::string& caption, const std::string& command);
  void table(const std::vector<FigureRow>& rows, const std::string& command);
  // Any table: its head, and rows of text.
  void grid(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
            const std::string& command);
  // Counts a figure that is judged elsewhere than in a table.
  void judge(bool ok) { misses_ += !ok; }
  void list(const std::vector<std::string>& items);
  // Rows outside their tolerance so far.
  [[nodiscard]] int misses() const { return misses_; }
  [[nodiscard]] std::string html() const;

 private:
  std::string title_, body_;
  int misses_ = 0;
};

}  // namespace saltus::cli
