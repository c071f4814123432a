// Waves along chains and rods.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/control/curvature_wave.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_curvature_wave(Fields& f, CurvatureWave& w) {
  f.required().number("amplitude", w.amplitude, "",
                      "at the far end; of curvature [rad/m] or strain [-]");
  f.number("growth", w.growth, "", "e^(growth (s/L - 1)) along the body; default 0");
  f.required().number("wave_length", w.length, "m", "", positive);
  f.required().number("period", w.period, "s", "negative: the wave runs to the beginning");
  f.number("phase", w.phase, "rad", "");
  f.number("ramp", w.ramp, "s", "time in which it grows from nothing", not_negative);
  f.number("offset", w.offset, "", "besides, the same everywhere: it turns");
  if (!f.writing_schema() && w.period == 0) throw f.error("period", "expected another than 0");
}

namespace {

void read_waves(Fields& f, const char* key, const char* about, bool muscle,
                std::vector<StrainWave>& waves) {
  f.list(key, about, [&](Fields& g) {
    StrainWave x;
    x.muscle = muscle;
    x.path = g.path();
    const int component = g.choice(
        "component", 5, {"stretch", "shear_y", "shear_z", "torsion", "bend_y", "bend_z"}, "");
    read_curvature_wave(g, x.wave);
    x.component = static_cast<Strain>(component);
    if (!g.writing_schema()) waves.push_back(x);
  });
}

}  // namespace

void read_strain_waves(Fields& f, std::vector<StrainWave>& waves) {
  read_waves(f, "waves", "travelling waves that a component follows, in place of `prescribed`",
             false, waves);
  read_waves(f, "muscle_waves", "travelling waves of the strain at rest, in place of `muscles`",
             true, waves);
}

namespace {

// Refuses waves that would turn a body through itself.
void check_turn(const CurvatureWave& wave, double L, const std::string& path) {
  const WaveTurn x = overturns(wave, L);
  if (x.turn > 0)
    throw InputError(path + ".amplitude",
                     fmt::format("expected a wave that does not turn the body through itself: at t "
                                 "= {:.4g} s it turns by {:.4g} rad between {:.4g} m and {:.4g} m",
                                 x.t, x.turn, x.from, x.to));
}

// And those that a basis is too coarse for.
void check_fit(const StrainWave& x, const RodSegment& segment, double begin, double L) {
  constexpr double most = 0.25;  // shares of its root of the mean square
  const double misfit = wave_misfit(x.wave, segment, x.component, begin, L);
  if (misfit > most)
    throw InputError(x.path + ".wave_length",
                     fmt::format("the basis of {} misses {:.2g} of this wave: expected more "
                                 "functions or a longer wave",
                                 name_of(x.component), misfit));
}

// A wave of bending that no other crosses: the body stays in a plane.
bool alone(const std::vector<StrainWave>& waves, const StrainWave& x) {
  const auto bends = [](const StrainWave& w) {
    return !w.muscle && (w.component == Strain::bend_y || w.component == Strain::bend_z);
  };
  return bends(x) && std::none_of(waves.begin(), waves.end(), [&](const StrainWave& w) {
           return bends(w) && w.component != x.component;
         });
}

}  // namespace

void check_chain_wave(const GaitScene& g, int joints) {
  const double link = g.length / (joints + 1);
  if (g.wave.length < 2 * link)
    throw InputError(g.path + ".wave_length",
                     fmt::format("expected a wave of at least two links, {:.4g} m, got {:.4g} m",
                                 2 * link, g.wave.length));
  check_turn(g.wave, g.length, g.path);
}

void add_strain_waves(const std::vector<StrainWave>& waves, RodScene& rod) {
  double L = 0;
  for (const SegmentSpec& s : rod.spec.segments) L += s.length;
  for (const StrainWave& x : waves) {
    double begin = 0;
    for (std::size_t i = 0; i < rod.spec.segments.size(); ++i) {
      check_coefficients(rod.spec.segments[i], x.path);
      const RodSegment segment = make_segment(rod.spec.segments[i], x.path);
      const std::vector<Signal> signals = wave_strains(x.wave, segment, x.component, begin, L);
      if (signals.empty())
        throw InputError(x.path + ".component",
                         fmt::format("expected a component of the rod's basis, {} is rigid",
                                     name_of(x.component)));
      if (!x.muscle) check_fit(x, segment, begin, L);
      if (alone(waves, x)) check_turn(x.wave, L, x.path);
      std::size_t next = 0;
      for (int c = 0; c < segment.size; ++c) {
        if (segment.component[c] != static_cast<int>(x.component)) continue;
        const std::string name = segment_name(rod.spec, i) + "." + coefficient_name(segment, c);
        (x.muscle ? rod.muscles : rod.prescribed)
            .emplace_back(name.substr(rod.spec.name.size() + 1), signals[next++]);
      }
      begin += segment.spec.length;
    }
  }
}

}  // namespace saltus
