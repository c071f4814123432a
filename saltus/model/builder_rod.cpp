// Cosserat rods: elements whose stations are the Gauss points of their segments.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/model/builder.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

constexpr std::size_t most_segments = 10000;

// A component whose stiffness couples it to another's must be treated as that one is.
Vec thetas(const RodSegment& s, const std::array<double, 6>& theta, const std::string& path) {
  Vec all(s.size);
  for (int i = 0; i < s.size; ++i) all[i] = theta[s.component[i]];
  for (int i = 0; i < s.size; ++i)
    for (int j = 0; j < i; ++j)
      require(all[i] == all[j] || s.K(i, j) == 0, path + ".theta",
              fmt::format("expected the same number for {} and {}, which the stiffness couples",
                          coefficient_name(s, j), coefficient_name(s, i)));
  return all;
}

RigidInertia station_inertia(const Mat6& I, const std::string& path) {
  require(I.topRightCorner<3, 3>().isZero(0) && I(0, 0) == I(1, 1) && I(0, 0) == I(2, 2) &&
              Mat3(I.topLeftCorner<3, 3>()).isDiagonal(0),
          path + ".inertia", "expected sections whose centre of mass is on the axis");
  return {I(0, 0), Vec3::Zero(), I.bottomRightCorner<3, 3>()};
}

double seen_radius(const SegmentSpec& spec) {
  if (spec.given) return 0;
  if (const auto* circle = std::get_if<CircleSection>(&spec.section)) return circle->radius;
  return std::sqrt(section_moments(spec.section).area / std::numbers::pi);
}

}  // namespace

std::string segment_name(const RodSpec& rod, std::size_t segment) {
  return rod.segments.size() == 1 ? rod.name : fmt::format("{}.s{}", rod.name, segment + 1);
}

std::vector<std::vector<std::string>> station_names(const RodSpec& rod) {
  std::vector<std::vector<std::string>> names;
  int count = 0;
  for (std::size_t k = 0; k < rod.segments.size(); ++k) {
    std::vector<std::string>& own = names.emplace_back();
    for (int i = heavy_stations(rod.segments[k]); i > 0; --i)
      own.push_back(fmt::format("{}.{}", rod.name, ++count));
    const bool last = k + 1 == rod.segments.size();
    own.push_back((last ? rod.name : segment_name(rod, k)) + ".tip");
  }
  return names;
}

std::vector<std::vector<std::string>> touch_names(const RodSpec& rod) {
  std::vector<std::vector<std::string>> names;
  int count = 0;
  for (const SegmentSpec& s : rod.segments) {
    names.emplace_back();
    for (int i = 0; i < s.touches; ++i)
      names.back().push_back(fmt::format("{}.touch{}", rod.name, ++count));
  }
  return names;
}

ModelBuilder& ModelBuilder::rod(const RodSpec& rod) {
  const std::string path = fmt::format("rods[{}]", rods_++);
  require(!rod.name.empty() && rod.name != "world", path + ".name",
          "expected a name other than 'world'");
  require(!rod.segments.empty() && rod.segments.size() <= most_segments, path + ".segments",
          fmt::format("expected 1 to {} segments, got {}", most_segments, rod.segments.size()));
  for (const double theta : rod.theta)
    require(theta >= 0.5 && theta <= 1, path + ".theta",
            fmt::format("expected 0.5 (the mid-point) to 1 (the end), got {}", theta));
  require(!is_element(rod.joint.kind), path + ".joint.type",
          "a rod begins at a joint of rigid bodies");
  check_dofs(rod.joint, path + ".joint");
  check_frame(rod.joint.placement, path + ".at");
  check_frame(rod.joint.in_body, path + ".joint.in_body");
  BodySpec base;
  base.name = rod.name + ".base";
  require(!body_of_.contains(base.name), path + ".name",
          fmt::format("the name '{}' is taken", base.name));
  base.joint = rod.joint;
  base.joint.name = base.name;
  base.joint.kind = with_unit_axis(rod.joint.kind, path + ".joint.axis");
  base.path = path;
  body_of_.emplace(base.name, bodies_.size());
  bodies_.push_back(base);
  for (const SegmentSpec& s : rod.segments) check_coefficients(s, path);
  for (const SegmentSpec& s : rod.segments) (void)make_segment(s, path);  // before it is counted
  const auto names = station_names(rod), touches = touch_names(rod);
  std::size_t known = 0;
  for (std::size_t k = 0; k < names.size(); ++k) {
    add_segment(rod, k, names[k], touches[k], path);
    for (const JointDof& dof : bodies_.back().joint.dofs) known += dof.prescribed;
  }
  require(known == rod.prescribed.size(), path + ".prescribed",
          fmt::format("expected coefficients such as {}.0, each once",
                      name_of(static_cast<Strain>(5))));
  return *this;
}

void ModelBuilder::add_segment(const RodSpec& rod, std::size_t index,
                               const std::vector<std::string>& names,
                               const std::vector<std::string>& touches, const std::string& path) {
  const auto segment = std::make_shared<const RodSegment>(make_segment(rod.segments[index], path));
  require(segment->size > 0, path + ".basis", "expected a component that may change");
  BodySpec spec;
  spec.joint.name = segment_name(rod, index);
  spec.joint.parent = bodies_.back().name;
  spec.joint.dofs.resize(segment->size);
  for (int c = 0; c < segment->size; ++c) {
    const std::string name =
        (spec.joint.name + "." + coefficient_name(*segment, c)).substr(rod.name.size() + 1);
    spec.joint.dofs[c].prescribed =
        std::find(rod.prescribed.begin(), rod.prescribed.end(), name) != rod.prescribed.end();
  }
  spec.path = path;
  spec.stations = static_cast<int>(names.size() + touches.size());
  segments_.push_back({rod.name, spec.joint.name, names.front(), spec.joint.parent,
                       thetas(*segment, rod.theta, path), seen_radius(rod.segments[index])});
  const RodSegment& s = *segment;
  const auto add = [&](const std::string& name, int place, const RigidInertia& inertia) {
    spec.name = name;
    require(!body_of_.contains(spec.name), path + ".name",
            fmt::format("the name '{}' is taken", spec.name));
    spec.inertia = inertia;
    check_inertia(spec.inertia, false, path);
    spec.joint.kind = RodPiece{s.size, s.size, segment, place};
    body_of_.emplace(spec.name, bodies_.size());
    bodies_.push_back(spec);
    ++spec.station;
  };
  std::size_t heavy = 0;
  for (int i = 0; i <= s.tip(); ++i)
    if (s.stations[i].heavy) add(names[heavy++], i, station_inertia(s.stations[i].inertia, path));
  for (std::size_t j = 0; j < touches.size(); ++j)  // after the tip among the segment's places
    add(touches[j], s.tip() + 1 + static_cast<int>(j), {});
  add(names.back(), s.tip(), {});
}

// In the order of their bodies, which is that of Plan::rods and Workspace::rods.
void ModelBuilder::add_rods(Model& model) const {
  std::vector<SegmentPlace> places = segments_;
  std::sort(places.begin(), places.end(), [&](const SegmentPlace& a, const SegmentPlace& b) {
    return model.body(a.first) < model.body(b.first);
  });
  for (const SegmentPlace& s : places) {
    RodElement e;
    e.name = s.joint;
    e.rod = s.rod;
    e.first = model.body(s.first);
    e.base = model.body(s.base);
    const Body& body = model.bodies[e.first];
    e.stations = body.stations;
    e.q0 = body.q0, e.v0 = body.v0, e.size = body.nv;
    e.segment = std::get<RodPiece>(body.joint).segment;
    e.coordinate = model.coordinate(s.joint + "." + coefficient_name(*e.segment, 0));
    e.theta = s.theta;
    e.radius = s.radius;
    e.touches = e.segment->spec.touches;
    e.touch0 = model.touches;
    e.first_touch = BodyIndex(e.first + e.stations - 1 - e.touches);
    model.touches += e.touches;
    model.rods.push_back(e);
  }
}

}  // namespace saltus
