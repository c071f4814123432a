// Robots in scenes: the key, and how a robot's parts become the scene's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "saltus/analysis/metrics.h"
#include "saltus/robots/robot.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

std::string place(const SourceLine& at) { return fmt::format("{}:{}", at.file, at.line); }

// A direction that normalising does not change any more: what is written out and read again is
// then the same to the last bit.
Vec3 settled(Vec3 axis) {
  for (int k = 0; k < 8; ++k) {
    const Vec3 next = axis.normalized();
    if (next == axis) break;
    axis = next;
  }
  return axis;
}

void settle_axis(Joint& joint) {
  if (auto* x = std::get_if<Revolute>(&joint)) x->axis = settled(x->axis);
  if (auto* x = std::get_if<Prismatic>(&joint)) x->axis = settled(x->axis);
}

// The rigid groups of a robot: bodies that fixed joints hold together, and the group each hangs on.
struct Groups {
  std::vector<int> of;                          // of each body
  std::vector<int> parent;                      // of each group; -1: the world
  std::vector<std::vector<std::string>> names;  // of its bodies
};

Groups rigid_groups(const std::vector<BodyScene>& bodies) {
  Groups g;
  std::unordered_map<std::string, int> index;
  for (const BodyScene& b : bodies) {
    const auto found = index.find(b.joint.parent);
    const int above = found == index.end() ? -1 : g.of[found->second];
    const bool fixed = std::holds_alternative<Fixed>(b.joint.kind) && above >= 0;
    index.emplace(b.name, static_cast<int>(g.of.size()));
    if (!fixed) {
      g.parent.push_back(above);
      g.names.emplace_back();
    }
    g.of.push_back(fixed ? above : static_cast<int>(g.parent.size()) - 1);
    g.names[g.of.back()].push_back(b.name);
  }
  return g;
}

class Merger {
 public:
  Merger(Scene& scene, const Robot& robot, const RobotUse& use)
      : scene_(scene), robot_(robot), use_(use) {}

  void merge() {
    scene_.robots = true;
    const Node& root = scene_.document->root();
    if (robot_.gravity && !root["gravity"].IsDefined()) scene_.gravity = *robot_.gravity;
    if (robot_.timestep && !(root["time"].IsMap() && root["time"]["step"].IsDefined()))
      scene_.stepping.dt = *robot_.timestep;
    add_bodies();
    add_loops();
    add_couplings();
    add_cables();
    for (ShapeScene s : robot_.obstacles) {
      s.frame = use_.pose * s.frame;
      scene_.obstacles.push_back(own(s, robot_.file));
    }
    for (VisualScene v : robot_.visuals) {
      if (v.shape.body == "world") v.shape.frame = use_.pose * v.shape.frame;
      v.shape = own(v.shape, robot_.file);
      scene_.visuals.push_back(v);
    }
    if (use_.contacts) add_contacts();
    add_exclusions();
    if (use_.motors) add_motors();
    add_start();
  }

 private:
  using Node = YAML::Node;

  [[nodiscard]] std::string own(const std::string& name) const {
    return use_.name.empty() || name.empty() || name == "world" ? name : use_.name + "/" + name;
  }
  // "a|b" -> "name/a|name/b"
  [[nodiscard]] std::string own_pattern(const std::string& pattern) const {
    std::string all;
    for (std::size_t start = 0; start <= pattern.size();) {
      const std::size_t end = std::min(pattern.find('|', start), pattern.size());
      all += (all.empty() ? "" : "|") + own(pattern.substr(start, end - start));
      start = end + 1;
    }
    return all;
  }
  [[nodiscard]] ShapeScene own(ShapeScene s, const std::string& source) const {
    s.name = own(s.name);
    s.body = own(s.body);
    s.source = source;
    return s;
  }
  [[nodiscard]] static std::string source_of(const std::vector<SourceLine>& lines, std::size_t i,
                                             const std::string& file) {
    return i < lines.size() ? place(lines[i]) : file;
  }

  void add_bodies() {
    for (std::size_t i = 0; i < robot_.bodies.size(); ++i) {
      BodyScene b = robot_.bodies[i];
      b.source = source_of(robot_.body_lines, i, robot_.file);
      // A floating base is moved by its coordinates (add_start): its velocities stay inertial.
      if (b.joint.parent == "world" && !std::holds_alternative<Floating>(b.joint.kind))
        b.joint.placement = use_.pose * b.joint.placement;
      settle_axis(b.joint.kind);
      b.name = own(b.name);
      b.joint.name = own(b.joint.name);
      b.joint.parent = own(b.joint.parent);
      for (ShapeScene& s : b.shapes) s = own(s, b.source);
      scene_.bodies.push_back(std::move(b));
    }
  }

  void add_loops() {
    for (std::size_t i = 0; i < robot_.loops.size(); ++i) {
      LoopScene l = robot_.loops[i];
      l.source = source_of(robot_.loop_lines, i, robot_.file);
      if (l.joint.parent == "world") l.joint.placement = use_.pose * l.joint.placement;
      if (l.child == "world") l.joint.in_body = use_.pose * l.joint.in_body;
      settle_axis(l.joint.kind);
      l.child = own(l.child);
      l.joint.name = own(l.joint.name);
      l.joint.parent = own(l.joint.parent);
      scene_.loops.push_back(std::move(l));
    }
  }

  // Two contacts of one gap, couplings.cpp.
  void add_couplings() {
    for (const RobotCoupling& c : robot_.couplings)
      for (const double side : {1.0, -1.0}) {
        GapScene gap;
        gap.contact.name = own(fmt::format("{} follows{}", c.follower, side > 0 ? "" : " back"));
        gap.contact.offset = -side * c.offset;
        gap.contact.terms.push_back({.coordinate = {}, .gap = side});
        gap.joints.push_back(own(c.follower));
        if (!c.leader.empty() && c.ratio != 0) {
          gap.contact.terms.push_back({.coordinate = {}, .gap = -side * c.ratio});
          gap.joints.push_back(own(c.leader));
        }
        scene_.gaps.push_back(gap);
      }
  }

  void add_cables() {
    for (std::size_t i = 0; i < robot_.cables.size(); ++i) {
      CableScene c = robot_.cables[i];
      if (c.cable.driven && !use_.motors) continue;
      c.source = source_of(robot_.cable_lines, i, robot_.file);
      c.cable.name = own(c.cable.name);
      for (std::size_t k = 0; k < c.bodies.size(); ++k) {
        if (c.bodies[k] == "world") c.cable.points[k].point = use_.pose * c.cable.points[k].point;
        c.bodies[k] = own(c.bodies[k]);
      }
      for (std::string& joint : c.joints) joint = own(joint);
      scene_.cables.push_back(std::move(c));
    }
  }

  // What follows starts where it has to, unless the scene says otherwise. Returns whether any was
  // moved: a leader may follow others that come later.
  bool start_couplings(std::map<std::string, InitialScene>& start) const {
    bool changed = false;
    for (const RobotCoupling& c : robot_.couplings) {
      const auto of_leader = [&](bool rate) {
        double x = 0;
        if (const auto at = start.find(c.leader); at != start.end()) {
          const std::vector<double>& given = rate ? at->second.v : at->second.q;
          if (!given.empty()) x = given[0];
        }
        if (const auto at = scene_.initial.find(own(c.leader)); at != scene_.initial.end()) {
          const std::vector<double>& given = rate ? at->second.v : at->second.q;
          if (!given.empty()) x = given[0];
        }
        return x;
      };
      InitialScene& follower = start[c.follower];
      const std::vector<double> q{c.ratio * of_leader(false) + c.offset},
          v{c.ratio * of_leader(true)};
      changed = changed || follower.q != q || follower.v != v;
      follower.q = q;
      follower.v = v;
    }
    return changed;
  }

  void add_contacts() {
    for (ContactScene c : robot_.contacts) {
      for (std::string& pattern : c.between) pattern = own_pattern(pattern);
      c.source = robot_.file;
      scene_.contacts.push_back(std::move(c));
    }
  }

  void exclude(const std::vector<std::string>& bodies) {
    ExclusionScene e;
    for (const std::string& b : bodies) e.bodies.push_back(own(b));
    e.source = robot_.file;
    if (e.bodies.size() > 1) scene_.exclusions.push_back(std::move(e));
  }

  void add_exclusions() {
    for (const auto& [a, b] : robot_.excluded) exclude({a, b});
    if (!use_.self_contact.value_or(robot_.format == "mjcf")) {
      std::vector<std::string> all;
      for (const BodyScene& b : robot_.bodies) all.push_back(b.name);
      exclude(all);
      return;
    }
    // What a joint joins does not touch, nor what is fixed to it.
    const Groups g = rigid_groups(robot_.bodies);
    for (std::size_t k = 0; k < g.names.size(); ++k) {
      std::vector<std::string> both = g.names[k];
      if (g.parent[k] >= 0)
        both.insert(both.end(), g.names[g.parent[k]].begin(), g.names[g.parent[k]].end());
      exclude(both);
    }
  }

  // A motor of the scene takes the place of the file's.
  void add_motors() {
    const std::size_t before = scene_.motors.size();
    const auto taken = [&](const std::string& joint) {
      for (std::size_t i = 0; i < before; ++i)
        if (scene_.motors[i].source.empty() &&
            std::any_of(scene_.motors[i].joints.begin(), scene_.motors[i].joints.end(),
                        [&](const std::string& pattern) { return matches(pattern, joint); }))
          return true;
      return false;
    };
    for (std::size_t i = 0; i < robot_.motors.size(); ++i) {
      MotorScene m = robot_.motors[i];
      m.source = source_of(robot_.motor_lines, i, robot_.file);
      std::vector<std::string> free;
      for (const std::string& joint : m.joints)
        if (!taken(own(joint))) free.push_back(own(joint));
      m.joints = free;
      if (!free.empty()) scene_.motors.push_back(std::move(m));
    }
  }

  [[nodiscard]] const RobotKeyframe& keyframe() const {
    std::vector<std::string> names;
    for (const RobotKeyframe& k : robot_.keyframes) {
      if (k.name == *use_.keyframe) return k;
      names.push_back(k.name);
    }
    throw InputError("keyframe", names.empty()
                                     ? "the robot file has no keyframes"
                                     : fmt::format("there is no keyframe '{}'; the file has: {}",
                                                   *use_.keyframe, fmt::join(names, ", ")));
  }

  void add_start() {
    std::map<std::string, InitialScene> start = robot_.initial;
    if (use_.keyframe)
      for (const auto& [joint, given] : keyframe().joints) start[joint] = given;
    for (std::size_t k = 0; k < robot_.couplings.size() && start_couplings(start);) ++k;
    const bool moved = !use_.pose.r.isZero(0) || use_.pose.R != Mat3::Identity();
    for (const BodyScene& b : robot_.bodies)
      if (moved && b.joint.parent == "world" && std::holds_alternative<Floating>(b.joint.kind))
        move_base(b.joint, start[b.joint.name.empty() ? b.name : b.joint.name]);
    for (const auto& [joint, given] : start) {
      InitialScene& wins = scene_.initial[own(joint)];
      if (wins.q.empty()) wins.q = given.q;
      if (wins.v.empty()) wins.v = given.v;
    }
  }

  // Floating: X = placement X_J, to become pose X.
  void move_base(const JointSpec& joint, InitialScene& start) const {
    SE3 X;
    if (start.q.size() == 7) {
      X.r = {start.q[0], start.q[1], start.q[2]};
      X.R = Quat(start.q[3], start.q[4], start.q[5], start.q[6]).normalized().toRotationMatrix();
    }
    const SE3 moved = joint.placement.inverse() * use_.pose * joint.placement * X;
    const Quat p = Quat(moved.R).normalized();
    start.q = {moved.r.x(), moved.r.y(), moved.r.z(), p.w(), p.x(), p.y(), p.z()};
    if (start.v.size() == 6) {  // linear part along the parent's axes, angular along the body's
      const Vec3 v = (joint.placement.inverse() * use_.pose * joint.placement).R *
                     Vec3(start.v[0], start.v[1], start.v[2]);
      std::copy(v.begin(), v.end(), start.v.begin());
    }
  }

  Scene& scene_;
  const Robot& robot_;
  const RobotUse& use_;
};

}  // namespace

void add_robot(Scene& scene, const Robot& robot, const RobotUse& use) {
  Merger(scene, robot, use).merge();
}

namespace {

YAML::Node bare_root(const Robot& robot) {
  YAML::Node root(YAML::NodeType::Map);
  root["saltus"] = 1;
  root["title"] = robot.name;
  root["time"]["end"] = 1;
  return root;
}

std::string emitted(const YAML::Node& root) {
  YAML::Emitter out;
  out << root;
  return std::string(out.c_str()) + "\n";
}

}  // namespace

Scene scene_of(const Robot& robot) {
  Scene scene = bare_scene(Document::from_text(emitted(bare_root(robot)), robot.file));
  add_robot(scene, robot, {});
  return scene;
}

std::string scene_text(const Robot& robot, const std::string& base, const RobotOptions& options) {
  YAML::Node root = bare_root(robot), entry;
  entry["file"] = std::filesystem::path(robot.file).filename().string();
  entry["base"] = base;
  if (options.strict) entry["strict"] = true;
  for (const std::string& folder : options.package_paths)
    entry["package_paths"].push_back(std::filesystem::absolute(folder).string());
  root["robots"].push_back(entry);
  return emitted(root);
}

void read_robot_key(Fields& f, RobotScene& robot) {
  f.required().text("file", robot.file,
                    "URDF, MJCF or SDF, relative to the scene's folder and not outside of it, its "
                    "package and the package_paths; or package://name/path");
  f.text("name", robot.use.name, "put before every name of the file, with a '/'; default: nothing");
  const int base = f.choice("base", 0, {"from-file", "fixed", "floating"},
                            "from-file: URDF floating unless its root is called world; MJCF as it "
                            "says");
  robot.options.base = static_cast<RobotBase>(base);
  f.boolean("strict", robot.options.strict, "refuse what would be mended and reported");
  f.texts(
      "package_paths", robot.options.package_paths,
      "packages, or folders of packages, that it and its files may be in; relative to the scene");
  read_frame(f, "at", robot.use.pose, "where the base starts, or is fixed");
  std::string keyframe;
  f.text("keyframe", keyframe, "of an MJCF file, to start from");
  if (!keyframe.empty()) robot.use.keyframe = keyframe;
  f.boolean("motors", robot.use.motors, "take the file's actuators; the scene's own come first");
  f.boolean("contacts", robot.use.contacts, "take the file's contact laws; the scene's come first");
  bool self_contact = false;
  f.boolean("self_contact", self_contact,
            "whether laws apply between its own bodies; default: URDF and SDF no, MJCF yes");
  if (f.has("self_contact")) robot.use.self_contact = self_contact;
  robot.path = f.path();
}

namespace {

// A robot's file as the scene names it, or one of a package. It is opened only where the files that
// a robot names are: below the scene's folder, in its package, and in the folders the scene names.
std::string robot_path(const RobotScene& r, const RobotOptions& options,
                       const std::filesystem::path& folder, const Document& document) {
  const std::string key = r.path + ".file";
  if (r.file.empty()) throw document.error(key, "expected a file");
  std::optional<Folders> folders;
  try {
    folders.emplace(folder.empty() ? "." : folder.string(), options.package_paths);
  } catch (const InputError& e) { throw document.error(r.path + ".package_paths", e.what()); }
  std::optional<std::string> found;
  try {
    found = folders->find(r.file);
  } catch (const InputError&) {
    throw document.error(
        key, fmt::format("'{}' is outside of the scene's folder and its package: expected a file "
                         "there, or its folder in package_paths",
                         r.file));
  }
  const bool is_uri = r.file.find("://") != std::string::npos;
  if (found && is_uri) return *found;
  const std::string path = is_uri ? r.file : (folder / r.file).string();
  if (std::error_code failed; !found && !std::filesystem::exists(path, failed))
    throw document.error(key, path + ": cannot read: No such file or directory");
  return path;
}

}  // namespace

void add_robots(const std::vector<RobotScene>& robots, Scene& scene) {
  const std::filesystem::path folder = std::filesystem::path(scene.document->name()).parent_path();
  for (const RobotScene& r : robots) {
    RobotOptions options = r.options;
    for (std::string& p : options.package_paths)
      if (std::filesystem::path(p).is_relative()) p = (folder / p).string();
    const Robot robot = load_robot(robot_path(r, options, folder, *scene.document), options);
    try {
      add_robot(scene, robot, r.use);
    } catch (const InputError& e) {
      if (e.path().empty()) throw;
      throw scene.document->error(r.path + "." + e.path(), e.message());
    }
  }
}

}  // namespace saltus
