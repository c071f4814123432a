#include "saltus/integrators/events/event_mode.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/families.h"

namespace saltus {

bool Element::keeps(int row) const {
  if (kind == Kind::bilateral) return true;
  if (kind == Kind::normal && row == 0) return closed;
  for (int i = 0; i < sets; ++i)
    if (row >= set[i].first && row < set[i].first + set[i].rows) return present() && !set[i].slips;
  return false;
}

Place Element::place() const {
  if (!is_contact()) return {slot, -1, -1, 0};
  return {-1, key.a, key.b, key.feature};
}

Status status_of(const Element& e) {
  if (!e.present()) return Status::open;
  for (int i = 0; i < e.sets; ++i)
    if (e.set[i].slips) return Status::slips;
  return Status::holds;
}

const Element* find_contact(const EventMode& mode, const ContactKey& key) {
  const auto at = std::lower_bound(
      mode.elements.begin(), mode.elements.end(), key,
      [](const Element& e, const ContactKey& k) { return !e.is_contact() || e.key < k; });
  return at != mode.elements.end() && at->key == key ? &*at : nullptr;
}

Vec2 slip_force(const FrictionSet& s, const Vec2& u) {
  const double share = s.pinned ? 1 : s.dynamic;
  const double a = share * (u[0] > 0 ? s.forward : s.backward), b = share * s.lateral;
  if (s.rows == 1) return {u[0] > 0 ? -a : a, 0};
  if (s.hu) return -Vec2(a * u[0], b * u[1]) / u.norm();
  const double n = std::hypot(a * u[0], b * u[1]);
  if (n == 0) return Vec2::Zero();
  return -Vec2(a * a * u[0], b * b * u[1]) / n;
}

Vec2 started_slip(const FrictionSet& s, const Vec2& u) {
  return u + std::max(0.0, s.start - s.direction.dot(u)) * s.direction;
}

double gauge(const FrictionSet& s, const Vec2& f) {
  const auto share = [](double x, double limit) {
    if (x == 0 || std::isinf(limit)) return 0.0;
    return limit > 0 ? x / limit : infinity;
  };
  const double a = share(std::abs(f[0]), f[0] < 0 ? s.forward : s.backward);
  return s.rows == 1 ? a : std::hypot(a, share(std::abs(f[1]), s.lateral));
}

// How much room a set that holds has to its boundary, in shares of the force scale.
double set_margin(const FrictionSet& s, double normal, const Vec2& f, double force) {
  const double N = s.scaled ? normal : 1;
  if (s.rows == 1) return std::min(f[0] + s.forward * N, s.backward * N - f[0]) / force;
  return s.scaled ? (normal - gauge(s, f)) / force : 1 - gauge(s, f);
}

Vec2 slip_direction(const FrictionSet& s, const Vec2& f) {
  if (s.rows == 1) return {f[0] < 0 ? 1.0 : -1.0, 0};
  const double a = f[0] < 0 ? s.forward : s.backward;
  const int power = s.hu ? 1 : 2;
  const auto part = [&](double x, double limit) {
    return limit > 0 ? -x / std::pow(limit, power) : 0.0;
  };
  const Vec2 u(part(f[0], a), part(f[1], s.lateral));
  const double n = u.norm();
  return n > 0 ? Vec2(u / n) : Vec2::UnitX();
}

namespace {

FrictionSet disc(int first, int rows, double a, double b, bool scaled) {
  FrictionSet s;
  s.first = first;
  s.rows = rows;
  s.forward = s.backward = a;
  s.lateral = b;
  s.scaled = scaled;
  return s;
}

void add_set(Element& e, const FrictionSet& s) { e.set[e.sets++] = s; }

// False for what acts as a smooth force: springs, dampers, motors.
bool element_of(const Model& m, int k, Element& e) {
  const BlockSlot& s = m.slots[k];
  const ModeForm form = mode_form(m, s);
  switch (form.kind) {
    case ModeForm::Kind::smooth: return false;
    case ModeForm::Kind::bilateral: e.kind = Element::Kind::bilateral; break;
    case ModeForm::Kind::normal: e.kind = Element::Kind::normal; break;
    case ModeForm::Kind::friction: e.kind = Element::Kind::friction; break;
  }
  e.slot = k;
  e.rows = s.rows;
  e.position = level_of(m, s) != Level::none;
  e.compliance = form.compliance;
  e.restitution = form.restitution;
  const FrictionForm& f = form.friction;
  if (f.rows == 0) return true;
  FrictionSet set = disc(f.first, f.rows, f.forward, f.lateral, f.scaled);
  set.backward = f.backward;
  set.dynamic = f.dynamic;
  set.hu = f.rule == SlipRule::hu;
  add_set(e, set);
  return true;
}

}  // namespace

Vec2 set_velocity(const FrictionSet& s, const Vec& gamma, int row) {
  return {gamma[row + s.first], s.rows == 2 ? gamma[row + s.first + 1] : 0};
}

std::vector<Flank> no_flanks(const Actuation& actuation) {
  const auto& motors = actuation.motors;
  const bool any =
      std::any_of(motors.begin(), motors.end(), [](const Motor& m) { return m.backlash > 0; });
  return std::vector<Flank>(any ? motors.size() : 0, Flank::none);
}

int side_of(Flank f) {
  if (f == Flank::none) return 0;
  return f == Flank::upper || f == Flank::upper_idle ? 1 : -1;
}

FrictionSet with_share(FrictionSet s, double share) {
  if (share == 1) return s;
  s.forward *= share;
  s.backward *= share;
  s.lateral *= share;
  return s;
}

Law law_of_element(const Model& m, const Element& e, double share) {
  if (e.kind == Element::Kind::bilateral) return Bilateral{e.rows};
  if (e.is_contact()) {
    Law law = law_of(m.contact_laws[e.law]);
    if (share != 1) scale_friction(law, share);
    return law;
  }
  if (e.kind == Element::Kind::normal)
    return e.sets > 0 ? Law(Coulomb2{e.set[0].forward}) : Law(Unilateral{});
  const FrictionSet& s = e.set[0];
  if (s.rows == 1) return Interval{-s.forward, s.backward};
  return GivenLoad{s.forward, s.lateral, s.backward, s.hu ? SlipRule::hu : SlipRule::normal_cone};
}

Law law_in_mode(const Model& m, const Element& e, double share) {
  Law law = law_of_element(m, e, share);
  if (e.sets > 0 && e.set[0].slips && !e.set[0].pinned) scale_friction(law, e.set[0].dynamic);
  return law;
}

EventMode static_elements(const Model& model) {
  EventMode mode;
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k)
    if (Element e; element_of(model, k, e)) mode.elements.push_back(e);
  return mode;
}

Element contact_element(const Model& model, const ContactKey& key, int law, const Vec3& normal) {
  const ContactLaw& l = model.contact_laws[law];
  Element e;
  e.kind = Element::Kind::normal;
  e.key = key;
  e.law = law;
  e.restitution = l.restitution;
  e.position = true;
  if (l.mu1 > 0 || l.mu2 > 0 || l.rolling > 0 || l.drilling > 0) {
    FrictionSet set = disc(1, 2, l.mu1, l.mu2, true);
    // The rows are the velocity of b against a: where a carries the axes, its forward is their
    // back.
    if (l.mu_back >= 0) (l.axes == FrictionAxes::a ? set.forward : set.backward) = l.mu_back;
    set.hu = l.rule == SlipRule::hu;
    set.dynamic = l.dynamic;
    add_set(e, set);
    e.rows = 3;
    if (l.mu1 == l.mu2 && !(l.mu_back >= 0)) normal.cwiseAbs().minCoeff(&e.tangent_axis);
  }
  if (l.rolling > 0 || l.drilling > 0) {
    add_set(e, disc(3, 2, l.rolling, l.rolling, true));
    e.rows = 5;
  }
  if (l.drilling > 0) {
    add_set(e, disc(5, 1, l.drilling, 0, true));
    e.rows = 6;
  }
  return e;
}

}  // namespace saltus
