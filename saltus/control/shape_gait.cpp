#include "saltus/control/shape_gait.h"

#include <cmath>

namespace saltus {

namespace {

// The values of joint j, from row to row.
std::vector<double> column(const std::vector<std::vector<double>>& rows, std::size_t j) {
  std::vector<double> values;
  for (const std::vector<double>& row : rows) values.push_back(row[j]);
  return values;
}

}  // namespace

std::vector<Signal> serpenoid_wave(int joints, double amplitude, double omega, double lag,
                                   double offset) {
  std::vector<Signal> r;
  for (int j = 0; j < joints; ++j) r.push_back(Sine{amplitude, omega, -j * lag, offset});
  return r;
}

std::vector<Signal> ellipse_gait(const std::vector<double>& centre,
                                 const std::vector<double>& cosine, const std::vector<double>& sine,
                                 double omega) {
  std::vector<Signal> r;
  for (std::size_t j = 0; j < centre.size(); ++j)
    r.push_back(
        Sine{std::hypot(cosine[j], sine[j]), omega, std::atan2(cosine[j], sine[j]), centre[j]});
  return r;
}

std::vector<Signal> polygon_gait(const std::vector<std::vector<double>>& points, double period,
                                 int cycles) {
  std::vector<Signal> r;
  const std::size_t n = points.size();
  for (std::size_t j = 0; j < points.front().size(); ++j) {
    Table table;
    for (std::size_t k = 0; k <= n * static_cast<std::size_t>(cycles); ++k) {
      table.times.push_back(period * static_cast<double>(k) / static_cast<double>(n));
      table.values.push_back(points[k % n][j]);
    }
    r.push_back(table);
  }
  return r;
}

std::vector<Signal> spline_gait(const std::vector<std::vector<double>>& points, double period) {
  std::vector<double> times;
  for (std::size_t k = 0; k <= points.size(); ++k)
    times.push_back(period * static_cast<double>(k) / static_cast<double>(points.size()));
  std::vector<Signal> r;
  for (std::size_t j = 0; j < points.front().size(); ++j) {
    std::vector<double> values = column(points, j);
    values.push_back(values.front());
    r.push_back(make_spline(times, values, true));
  }
  return r;
}

std::vector<Signal> table_gait(const std::vector<double>& times,
                               const std::vector<std::vector<double>>& rows, bool smooth) {
  std::vector<Signal> r;
  for (std::size_t j = 0; j < rows.front().size(); ++j)
    if (smooth)
      r.push_back(make_spline(times, column(rows, j), false));
    else
      r.push_back(Table{times, column(rows, j), Interpolation::linear});
  return r;
}

}  // namespace saltus
