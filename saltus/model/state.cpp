#include "saltus/model/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "saltus/base/error.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

State make_state(const Model& model) {
  State s;
  s.q.setZero(model.nq);
  s.v.setZero(model.nv);
  s.increment.setZero(model.nv);
  for (const Body& b : model.bodies) {
    if (const int w = quaternion_at(b.joint); w >= 0) s.q[b.q0 + w] = 1;
  }
  s.Lambda.setZero(model.lambda_rows);
  s.mode.assign(model.slots.size(), 0);
  s.turns.assign(model.coordinates.size(), 0);
  s.touches.setConstant(model.touches, -1);
  return s;
}

const ContactImpulse* find_contact(const State& state, const ContactKey& key) {
  const auto at =
      std::lower_bound(state.contacts.begin(), state.contacts.end(), key,
                       [](const ContactImpulse& c, const ContactKey& k) { return c.key < k; });
  return at != state.contacts.end() && at->key == key ? &*at : nullptr;
}

namespace {

// Visits every field as raw bytes, in one fixed order, for writing and reading alike.
template <class S, class F>
void each_field(S& s, F&& field) {
  field(&s.t, sizeof s.t);
  field(&s.step, sizeof s.step);
  field(&s.t0, sizeof s.t0);
  field(&s.books, sizeof s.books);
  field(s.q.data(), s.q.size() * sizeof(double));
  field(s.v.data(), s.v.size() * sizeof(double));
  field(s.increment.data(), s.increment.size() * sizeof(double));
  field(s.Lambda.data(), s.Lambda.size() * sizeof(double));
  field(s.mode.data(), s.mode.size());
  field(s.turns.data(), s.turns.size() * sizeof(std::int32_t));
  field(s.touches.data(), s.touches.size() * sizeof(double));
  for (auto& c : s.contacts) {
    field(&c.key, sizeof c.key);
    field(&c.mode, sizeof c.mode);
    field(c.Lambda.data(), sizeof c.Lambda);
  }
  field(s.events.data(), s.events.size() * sizeof(double));
  field(s.memory.data(), s.memory.size() * sizeof(double));
}

constexpr std::size_t contact_bytes =
    sizeof(ContactKey) + sizeof(ContactImpulse::mode) + sizeof(ContactImpulse::Lambda);

// How many there are of what grows; of the memory the size that is left tells.
struct Counts {
  std::uint64_t contacts = 0, events = 0;
};

// What a state of the model takes without what grows.
std::size_t fixed_bytes(State s) {
  s.contacts.clear();
  s.events.resize(0);
  s.memory.resize(0);
  std::size_t n = 0;
  each_field(s, [&](const void*, std::size_t size) { n += size; });
  return n;
}

}  // namespace

bool is_place_of(const Model& model, const Place& place) {
  const int slots = static_cast<int>(model.slots.size()),
            shapes = static_cast<int>(model.shapes.size());
  return place.slot >= -1 && place.slot < slots && place.shape_a >= -1 && place.shape_a < shapes &&
         place.shape_b >= -1 && place.shape_b < shapes &&
         (place.shape_a < 0) == (place.shape_b < 0);
}

bool is_sound(const Model& model, const State& s) {
  constexpr unsigned char most_mode = 3;  // solvers/inclusion.h Mode
  bool good = std::isfinite(s.t) && std::isfinite(s.t0) && s.step >= 0;
  for (const Vec* x : {&s.q, &s.v, &s.increment, &s.Lambda, &s.touches})
    good = good && x->allFinite();
  for (const Body& b : model.bodies)
    if (const int w = quaternion_at(b.joint); good && w >= 0)
      good = std::abs(s.q.segment<4>(b.q0 + w).norm() - 1) < 0.1;
  for (const unsigned char mode : s.mode) good = good && mode <= most_mode;
  const int shapes = static_cast<int>(model.shapes.size());
  for (const ContactImpulse& c : s.contacts) {
    good = good && c.mode <= most_mode && c.key.a >= 0 && c.key.b >= 0 && c.key.a < shapes &&
           c.key.b < shapes;
    for (const double x : c.Lambda) good = good && std::isfinite(x);
  }
  good = good && std::is_sorted(s.contacts.begin(), s.contacts.end(),
                                [](const auto& x, const auto& y) { return x.key < y.key; });
  for (const EnergyTally* e : {&s.books.episode, &s.books.flight, &s.books.worst_episode})
    good = good && is_place_of(model, e->at);
  return good;
}

// The counts lead.
std::vector<std::uint8_t> to_bytes(const State& state) {
  const Counts counts{state.contacts.size(), static_cast<std::uint64_t>(state.events.size())};
  std::vector<std::uint8_t> bytes(sizeof counts + fixed_bytes(state) +
                                  counts.contacts * contact_bytes +
                                  (state.events.size() + state.memory.size()) * sizeof(double));
  std::uint8_t* to = bytes.data();
  const auto put = [&](const void* p, std::size_t n) {
    if (n > 0) std::memcpy(to, p, n);
    to += n;
  };
  put(&counts, sizeof counts);
  each_field(state, put);
  return bytes;
}

State from_bytes(const Model& model, const std::uint8_t* data, std::size_t size) {
  State s = make_state(model);
  Counts counts;
  std::size_t expected = sizeof counts + fixed_bytes(s);
  bool good = size >= expected;
  const auto take = [&](std::uint64_t count, std::size_t bytes) {
    good = good && count <= (size - expected) / bytes;
    if (good) expected += count * bytes;
  };
  if (good) std::memcpy(&counts, data, sizeof counts);
  take(counts.contacts, contact_bytes);
  take(counts.events, sizeof(double));
  if (!good || (size - expected) % sizeof(double) != 0)
    throw InputError(
        fmt::format("a checkpoint of this model has at least {} bytes, got {}", expected, size));
  s.contacts.resize(counts.contacts);
  s.events.setZero(static_cast<Eigen::Index>(counts.events));
  s.memory.setZero(static_cast<Eigen::Index>((size - expected) / sizeof(double)));
  data += sizeof counts;
  each_field(s, [&](void* p, std::size_t n) {
    if (n > 0) std::memcpy(p, data, n);
    data += n;
  });
  return s;
}

}  // namespace saltus
