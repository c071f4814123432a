// Vector plots: curves in a frame with ticks and labels, or a picture to scale of a plane.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace saltus::cli {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::string colour = "#1f6feb";
  std::string dash;  // SVG dash array; empty: solid
};

struct Circle {
  double x, y, r;
  std::string fill = "#8b949e";
};
// A link: a capsule from one cap's centre to the other's.
struct Stadium {
  double x1, y1, x2, y2, r;
  std::string fill = "#d29922";
};
struct Arrow {
  double x, y, dx, dy;  // in the axes' units
  std::string colour = "#cf222e";
};
// A filled rectangle: a bar of a timeline, a cell of a map.
struct Box {
  double x1, y1, x2, y2;
  std::string fill;
};
struct Label {
  double x, y;
  std::string text;
};

struct Plot {
  std::string title, x_label, y_label;
  bool equal_axes = false;  // one scale for x and y: a map
  bool bare = false;        // no axes: a diagram
  int width = 720, height = 380;
  std::vector<Curve> curves;
  std::vector<Box> boxes;
  std::vector<Circle> circles;
  std::vector<Stadium> stadiums;
  std::vector<Arrow> arrows;
  std::vector<Label> labels;
  // Fixed ranges; min == max: from the data.
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
};

[[nodiscard]] std::string svg(const Plot& plot);
// The text with <, >, & and quotes made safe.
[[nodiscard]] std::string escaped(const std::string& text);

}  // namespace saltus::cli
