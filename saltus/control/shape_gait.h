// Gaits of several joints at once, as one signal a joint: serpenoid waves, ellipses, polygons and
// splines in the space of their coordinates.
#pragma once
#include <vector>

#include "saltus/base/types.h"
#include "saltus/control/signal.h"

namespace saltus {

// offset + amplitude sin(omega t - (j - 1) lag), j = 1, 2, ... along the joints.
[[nodiscard]] std::vector<Signal> serpenoid_wave(int joints, double amplitude, double omega,
                                                 double lag, double offset);
// centre + cosine cos(omega t) + sine sin(omega t).
[[nodiscard]] std::vector<Signal> ellipse_gait(const std::vector<double>& centre,
                                               const std::vector<double>& cosine,
                                               const std::vector<double>& sine, double omega);
// Through points (a row each), equal times between them and back to the first, `cycles` times:
// along straight lines, at rest at no corner; or as a closed spline, for ever.
[[nodiscard]] std::vector<Signal> polygon_gait(const std::vector<std::vector<double>>& points,
                                               double period, int cycles);
[[nodiscard]] std::vector<Signal> spline_gait(const std::vector<std::vector<double>>& points,
                                              double period);
// Rows at given times: along straight lines, or an open spline at rest at its ends.
[[nodiscard]] std::vector<Signal> table_gait(const std::vector<double>& times,
                                             const std::vector<std::vector<double>>& rows,
                                             bool smooth);

}  // namespace saltus
