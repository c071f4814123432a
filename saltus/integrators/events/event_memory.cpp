// State::events: what decides about an event-driven motion beyond time, positions and velocities.
// It is read before every advance and written after it, so that a run that goes on and one that is
// resumed from a checkpoint do the same by construction.
//
//   pace, flight, scales (velocity, acceleration, force), counts of what leaves, of impact times
//   and of contacts; keys of what leaves; times; the elements of slots; those of contacts with
//   their keys; chatter: its two windows, the end and the length of the last stretch of it.
//   Then the method of steps and how many stiff ones there were; the flank of each motor, where one
//   has play; of contacts on friction maps the cell of each. Memories of older runs end before
//   chatter, or before the method.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "saltus/base/error.h"
#include "saltus/integrators/events/event_driven.h"

namespace saltus {

namespace {

// Numbers in their order; a memory that does not fit the model is bad input.
class MemoryReader {
 public:
  explicit MemoryReader(const Vec& from) : from_(from) {}
  double number() {
    if (at_ >= from_.size()) refuse();
    return from_[at_++];
  }
  double positive() {  // or infinite
    const double x = number();
    if (!(x > 0)) refuse();
    return x;
  }
  std::int32_t whole(double least, double most) {
    const double x = number();
    if (!(x >= least && x <= most) || x != std::trunc(x)) refuse();
    return static_cast<std::int32_t>(x);
  }
  int index(int end) { return whole(0, end - 1.0); }
  bool flag() { return index(2) == 1; }
  ContactKey key(const Model& model) {
    const int shapes = static_cast<int>(model.shapes.size());
    const int a = index(shapes), b = index(shapes);
    return {a, b, whole(INT32_MIN, INT32_MAX)};
  }
  [[nodiscard]] bool more() const { return at_ < from_.size(); }
  void done() const {
    if (at_ != from_.size()) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw InputError("the memory of the event-driven integrator does not fit this model");
  }
  const Vec& from_;
  Eigen::Index at_ = 0;
};

void write_status(const Element& e, std::vector<double>& out) {
  out.insert(out.end(), {double(e.closed), double(e.touches)});
  for (int i = 0; i < e.sets; ++i) {
    const FrictionSet& s = e.set[i];
    out.insert(out.end(), {double(s.slips), double(s.pinned), double(s.moving), s.direction[0],
                           s.direction[1], s.start});
  }
}

void read_status(MemoryReader& in, Element& e) {
  e.closed = in.flag();
  e.touches = in.flag();
  for (int i = 0; i < e.sets; ++i) {
    FrictionSet& s = e.set[i];
    s.slips = in.flag();
    s.pinned = in.flag();
    s.moving = in.flag();
    s.direction[0] = in.number();
    s.direction[1] = in.number();
    s.start = in.number();
  }
}

// The pieces of friction maps that a contact is on, by a cell of each.
template <class Visit>
void each_map(const Model& model, const Element& e, const Visit& visit) {
  for (int side = 0; side < 2 && e.is_contact(); ++side)
    if (const auto& map = model.shapes[side == 0 ? e.key.a : e.key.b].surface.friction)
      visit(*map, side);
}

void read_patches(MemoryReader& in, const Model& model, Element& e) {
  each_map(model, e, [&](const FrictionMap& map, int side) {
    const int i = in.whole(-1, map.nx - 1), j = in.whole(-1, map.ny - 1);
    e.patch[side] = patch_of(map, i, j);
  });
}

void write_patches(const Model& model, const Element& e, std::vector<double>& out) {
  each_map(model, e, [&](const FrictionMap&, int side) {
    out.insert(out.end(), {double(e.patch[side].i), double(e.patch[side].j)});
  });
}

void write_key(const ContactKey& key, std::vector<double>& out) {
  out.insert(out.end(), {double(key.a), double(key.b), double(key.feature)});
}

}  // namespace

void EventIntegrator::recall(const Vec& memory) {
  MemoryReader in(memory);
  const int most = static_cast<int>(memory.size());
  pace_ = in.positive();
  flight_ = in.positive();
  scales_.velocity = in.positive();
  scales_.acceleration = in.positive();
  scales_.force = in.positive();
  leaving_.resize(in.index(most));
  impact_times_.resize(in.index(most));
  const int contacts = in.index(most);
  for (ContactKey& k : leaving_) k = in.key(model_);
  for (double& t : impact_times_) t = in.number();
  mode_ = static_elements(model_);
  for (Element& e : mode_.elements) read_status(in, e);
  for (int i = 0; i < contacts; ++i) {
    const ContactKey key = in.key(model_);
    const int law = in.index(static_cast<int>(model_.contact_laws.size())), axis = in.index(4);
    Element e = contact_element(model_, key, law, Vec3::UnitZ());
    e.tangent_axis = axis;
    read_status(in, e);
    mode_.elements.push_back(e);
  }
  if (in.more()) {
    for (Chatter& c : chatter_) {
      c.since = in.number();
      c.work = in.number();
    }
    chatter_end_ = in.number();
    chatter_stretch_ = in.number();
  }
  if (in.more()) {
    stiff_ = in.flag();
    stiff_steps_ = in.index(1000);
  }
  mode_.flanks = no_flanks(actuation_);
  for (Flank& f : mode_.flanks) f = static_cast<Flank>(in.index(5));
  for (Element& e : mode_.elements) read_patches(in, model_, e);
  in.done();
}

void EventIntegrator::remember(Vec& memory) {
  std::vector<double>& out = memory_scratch_;
  const auto contacts = std::count_if(mode_.elements.begin(), mode_.elements.end(),
                                      [](const Element& e) { return e.is_contact(); });
  out.assign({pace_, flight_, scales_.velocity, scales_.acceleration, scales_.force,
              double(leaving_.size()), double(impact_times_.size()), double(contacts)});
  for (const ContactKey& k : leaving_) write_key(k, out);
  out.insert(out.end(), impact_times_.begin(), impact_times_.end());
  for (const Element& e : mode_.elements) {
    if (e.is_contact()) {
      write_key(e.key, out);
      out.insert(out.end(), {double(e.law), double(e.tangent_axis)});
    }
    write_status(e, out);
  }
  for (const Chatter& c : chatter_) out.insert(out.end(), {c.since, c.work});
  out.insert(out.end(), {chatter_end_, chatter_stretch_, double(stiff_), double(stiff_steps_)});
  for (const Flank f : mode_.flanks) out.push_back(double(f));
  for (const Element& e : mode_.elements) write_patches(model_, e, out);
  memory = Eigen::Map<const Vec>(out.data(), static_cast<Eigen::Index>(out.size()));
}

}  // namespace saltus
