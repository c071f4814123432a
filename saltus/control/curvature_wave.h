// A wave that travels along a body, as signals of the joints of a chain or of the coefficients of a
// rod's strain:
//
//   w(s, t) = r(t) amplitude e^(growth (s/L - 1)) sin(2 pi (s/length - t/period) + phase)
//
// of curvature [rad/m], or of another strain [-]; r grows from 0 to 1 in `ramp` (Sine).
#pragma once
#include <vector>

#include "saltus/control/signal.h"
#include "saltus/rods/segment.h"

namespace saltus {

struct CurvatureWave {
  double amplitude = 0;           // at the end s = L
  double growth = 0;              // [-]
  double length = 1, period = 1;  // [m], [s]; a negative period: towards s = 0
  double phase = 0, ramp = 0;     // [rad], [s]
  double offset = 0;              // besides, the same everywhere
};

// Angles of `joints` hinges between equal links of a chain of length L: w at the hinge times the
// length of a link.
[[nodiscard]] std::vector<Signal> wave_angles(const CurvatureWave& wave, int joints, double L);
// Coefficients of a component of a segment that begins at `begin` of a rod of length L: the least
// squares of w along it. One signal for each coefficient of the segment that is of the component.
[[nodiscard]] std::vector<Signal> wave_strains(const CurvatureWave& wave, const RodSegment& segment,
                                               Strain component, double begin, double L);

// What the least squares leave of the wave: rms of the difference over that of the wave.
[[nodiscard]] double wave_misfit(const CurvatureWave& wave, const RodSegment& segment,
                                 Strain component, double begin, double L);

// Where a wave of curvature first turns a part of the body by more than a full turn: it would go
// through itself. The offset does not count.
struct WaveTurn {
  double t = 0, from = 0, to = 0;  // [s], [m]
  double turn = 0;                 // [rad]; 0: nowhere
};
[[nodiscard]] WaveTurn overturns(const CurvatureWave& wave, double L);

}  // namespace saltus
