// Corners of forces that are smooth otherwise: the flanks of a play, the edges of friction maps.
#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/contact.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_dynamics.h"

namespace saltus {

namespace {

const ContactShape& shape_of(const Model& m, const ContactKey& key, int side) {
  return m.shapes[side == 0 ? key.a : key.b];
}

Vec3 point_of(const Contact& c, int side) { return side == 0 ? c.point.on_a : c.point.on_b; }

}  // namespace

double ModeDynamics::share_of(const Element& e, const Contact& at) const {
  double share = 1;
  for (int side = 0; side < 2 && e.is_contact(); ++side) {
    const ContactShape& s = shape_of(model_, e.key, side);
    if (s.surface.friction)
      share *= std::max(0.0, e.patch[side].at(place_on_map(work_, s, point_of(at, side))));
  }
  return share;
}

double ModeDynamics::room_on_map(const Element& e, const Contact& at, int side) const {
  const ContactShape& s = shape_of(model_, e.key, side);
  if (!s.surface.friction) return infinity;
  return e.patch[side].room(place_on_map(work_, s, point_of(at, side)));
}

// Where contacts are on their maps, and where they are going: a little later at the same velocity.
void ModeDynamics::choose_patches(VecIn q, VecIn v, double slack, EventMode& mode) {
  constexpr double ahead = 1e-6;  // of the length scale
  forward_kinematics(model_, q, v, work_);
  twists_of(work_, twists_);
  double fastest = 0;
  for (const Vec6& V : twists_)
    fastest = std::max({fastest, V.tail<3>().norm() * model_.length_scale, V.head<3>().norm()});
  shifted_q_ = q;
  if (fastest > 0) advance(model_, shifted_q_, v, ahead * model_.length_scale / fastest);
  forward_kinematics(model_, shifted_q_, v, shifted_);
  Contact at, later;
  for (Element& e : mode.elements) {
    if (!e.is_contact()) continue;
    const double margin = feature_margin * model_.length_scale;
    const bool found = contact_of_key(model_, work_, e.key, margin, at),
               follows = found && contact_of_key(model_, shifted_, e.key, margin, later);
    for (int side = 0; side < 2 && found; ++side) {
      const ContactShape& s = shape_of(model_, e.key, side);
      if (!s.surface.friction) continue;
      const Vec2 p = place_on_map(work_, s, point_of(at, side));
      Vec2 heading = Vec2::Zero();
      if (follows) heading = place_on_map(shifted_, s, point_of(later, side)) - p;
      // What is slower than rounding stays on its side.
      for (double& x : heading)
        if (std::abs(x) < 1e-6 * ahead * model_.length_scale) x = 0;
      e.patch[side] = patch_at(*s.surface.friction, p, heading, slack, e.patch[side]);
    }
  }
}

double ModeDynamics::asked_of(const Motor& m, double at, double x, double w, int side) {
  const double reference = value(m.reference, at);
  const double speed = m.servo == Servo::velocity ? reference : rate(m.reference, at);
  return m.kp * (reference - 0.5 * side * m.backlash - x) + m.kd * (speed - w) +
         m.gear * value(m.torque, at);
}

ModeDynamics::Play ModeDynamics::play_of(double t, VecIn q, VecIn v,
                                         const std::vector<std::int32_t>& turns, int motor,
                                         int side) const {
  const Motor& m = actuation_.motors[motor];
  const double at = signal_time(t), x = coordinate_value(model_, work_, q, turns, m.coordinate),
               w = coordinate_rate(model_, work_, v, m.coordinate);
  return {value(m.reference, at) - x, rate(m.reference, at) - w, asked_of(m, at, x, w, side)};
}

void ModeDynamics::choose_pieces(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                                 const PieceBands& bands, EventMode& mode) {
  if (has_maps_) choose_patches(q, v, bands.length, mode);
  if (mode.flanks.empty()) return;
  forward_kinematics(model_, q, v, work_);
  for (std::size_t k = 0; k < mode.flanks.size(); ++k) {
    const Motor& m = actuation_.motors[k];
    if (m.backlash == 0) continue;
    const bool turn = model_.coordinates[m.coordinate].rotational;
    Flank& flank = mode.flanks[k];
    const Play play = play_of(t, q, v, turns, static_cast<int>(k), 0);
    const int side = play.error > 0 ? 1 : -1;
    const double beyond = side * play.error - 0.5 * m.backlash, rate = side * play.rate;
    bool touches = beyond > 0;
    if (std::abs(beyond) <= (turn ? bands.angle : bands.length)) {
      const double least = turn ? bands.turn : bands.speed;
      touches = rate > least || (rate >= -least && side_of(flank) == side);
    }
    if (!touches) {
      flank = Flank::none;
      continue;
    }
    const double push = side * play_of(t, q, v, turns, static_cast<int>(k), side).asked;
    const bool near = std::abs(push) <= (turn ? bands.moment : bands.force);
    const bool idle = near && side_of(flank) == side ? !pushes(flank) : push < 0;
    flank = side > 0 ? (idle ? Flank::upper_idle : Flank::upper)
                     : (idle ? Flank::lower_idle : Flank::lower);
  }
}

}  // namespace saltus
