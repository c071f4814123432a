// SDF, the format of Gazebo: a model of links and joints, with those within it (sdf_models.h).
//
// Links are placed in the model, joints in their child link: with X_P, X_C of parent and child and
// X_J of the joint in the child, the joint stands at X_P^-1 X_C X_J in the parent. Joints may form
// any graph. Those reached first, in the direction of the file where that is possible, make a tree;
// a joint that has to be passed from its child to its parent turns the other way about, and one
// between links that are both in the tree closes a loop. A joint of two axes is two joints, and a
// screw is a hinge and a slide that follows it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "saltus/lie/so3.h"
#include "saltus/robots/inertia_repair.h"
#include "saltus/robots/sdf_parts.h"

namespace saltus {

namespace {

using sdf::Scope;
using urdf::Context;
using Element = XmlElement;

struct SdfLink {
  std::string name;
  Element element;
  const Scope* scope = nullptr;
  SE3 X;                 // in the robot's model
  int body = -1;         // in the order of the tree
  bool between = false;  // the two axes of a joint
  bool weighed = false;
  RigidInertia inertia;
};

struct SdfJoint {
  Element element;
  const Scope* scope = nullptr;
  const char* axis = "axis";
  int parent = -1, child = -1;  // links; -1: the world
  JointSpec spec;
  bool used = false;
};

// The joint as its child sees it.
JointSpec reversed(JointSpec spec) {
  std::swap(spec.placement, spec.in_body);
  if (auto* x = std::get_if<Revolute>(&spec.kind)) x->axis = -x->axis;
  if (auto* x = std::get_if<Prismatic>(&spec.kind)) x->axis = -x->axis;
  return spec;
}

class SdfReader {
 public:
  SdfReader(const std::string& text, const std::string& name, const std::string& folder,
            const RobotOptions& options)
      : options_(options),
        context_(context_of(folder, options)),
        models_(text, name, context_),
        frames_(models_.frames()) {
    robot_.file = name;
    robot_.format = "sdf";
    robot_.name = models_.name();
    held_ = options.base == RobotBase::from_file && models_.is_static();
  }

  Robot read() {
    for (const Scope& scope : models_.scopes()) read_links(scope);
    if (links_.empty())
      throw models_.scopes().front().model.error(
          "expected a <link>, there is none" +
          (models_.left_out().empty() ? "" : ": " + models_.left_out()));
    for (const Scope& scope : models_.scopes()) held_ ? leave_joints(scope) : read_joints(scope);
    make_tree();
    check_all_inertias();
    for (const int i : order_) add_body(i);
    add_loops();
    add_couplings();
    collect_unread();
    return std::move(robot_);
  }

 private:
  static Context context_of(const std::string& folder, const RobotOptions& options) {
    Context context;
    context.folders = Folders(folder, options.package_paths);
    context.strict = options.strict;
    return context;
  }

  void read_links(const Scope& scope) {
    for (const Element& e : scope.model.children("link")) {
      SdfLink link;
      link.name = scope.full(e.required_text("name"));
      link.element = e;
      link.scope = &scope;
      link.X = frames_.pose(link.name);
      link_of_.emplace(link.name, static_cast<int>(links_.size()));
      if (const auto inertia = sdf::read_inertial(e, link.X, scope, frames_, context_)) {
        link.weighed = true;
        link.inertia = *inertia;
      }
      links_.push_back(link);
    }
  }

  // A joint's end is a link, or what is part of one.
  int linked(const Scope& scope, const Element& joint, const char* end) {
    const Element e = joint.child(end);
    if (!e) throw joint.error(fmt::format("expected <{}>, there is none", end));
    const std::string name = sdf::word(e);
    if (name == "world") return -1;
    const auto link = frames_.link_of(scope.full(name));
    if (!link)
      throw e.error(fmt::format("there is no link '{}'{}", name,
                                models_.left_out().empty() ? "" : "; " + models_.left_out()));
    return link_of_.at(*link);
  }

  // Nothing of a static model moves.
  void leave_joints(const Scope& scope) {
    for (const Element& e : scope.model.children("joint")) {
      context_.assume(e, "the model is static: the joint does not move");
      e.mark_whole();
    }
  }

  void read_joints(const Scope& scope) {
    for (const Element& e : scope.model.children("joint")) {
      SdfJoint j;
      j.element = e;
      j.parent = linked(scope, e, "parent");
      j.child = linked(scope, e, "child");
      if (j.parent == j.child) throw e.error("expected two links, got one");
      const SE3 X_parent = j.parent < 0 ? SE3() : links_[j.parent].X,
                X_child = j.child < 0 ? SE3() : links_[j.child].X;
      const std::string name = scope.full(e.required_text("name"));
      const SE3 X = frames_.pose_of_joint(name);  // in the robot's model
      std::vector<JointSpec> specs = sdf::read_joint(e, X, scope, frames_, context_);
      if (specs.empty()) continue;
      specs.front().name = name;
      specs.front().placement = X_parent.inverse() * X;
      specs.back().in_body = X_child.inverse() * X;
      j.scope = &scope;
      if (specs.size() == 2) {  // on a link without mass, which stands where the joint does
        specs.back().name = second_of(name);
        joints_.push_back({e, &scope, "axis", j.parent, add_between(j, name, X), specs.front()});
        j.parent = joints_.back().child;
        j.axis = "axis2";
      }
      j.spec = specs.back();
      joints_.push_back(std::move(j));
    }
  }
  static std::string second_of(const std::string& joint) { return joint + ".2"; }

  int add_between(const SdfJoint& joint, const std::string& name, const SE3& X) {
    SdfLink link;
    link.name = fmt::format("{}.link", name);
    link.element = joint.element;
    link.scope = joint.scope;
    link.X = X;
    link.between = true;
    links_.push_back(link);
    return static_cast<int>(links_.size()) - 1;
  }

  // The link that a joint reaches from what is in the tree, or -1: none, -2: it closes a loop.
  [[nodiscard]] bool in_tree(int link) const { return link < 0 || links_[link].body >= 0; }

  void add_link(int link, int joint) {
    links_[link].body = static_cast<int>(order_.size());
    order_.push_back(link);
    joint_of_.push_back(joint);
  }

  // Grows the tree by joints as the file directs them, and where none is left by one against it.
  void grow() {
    for (bool grown = true; grown;) {
      grown = false;
      for (const bool against : {false, true}) {
        for (std::size_t i = 0; i < joints_.size() && !(against && grown); ++i) {
          SdfJoint& j = joints_[i];
          const int from = against ? j.child : j.parent, to = against ? j.parent : j.child;
          if (j.used || !in_tree(from) || in_tree(to)) continue;
          if (from < 0 && !world_in_tree_) continue;
          j.used = grown = true;
          if (against) {
            j.spec = reversed(j.spec);
            std::swap(j.parent, j.child);
            context_.assume(j.element,
                            "it turns the other way about: its child is nearer the root");
          }
          add_link(j.child, static_cast<int>(i));
        }
        if (grown) break;
      }
    }
  }

  void make_tree() {
    for (const SdfJoint& j : joints_)
      world_in_tree_ = world_in_tree_ || j.parent < 0 || j.child < 0;
    if (world_in_tree_) grow();
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (in_tree(static_cast<int>(i))) continue;
      // The root of a tree is a link that no joint has as its child, where there is one.
      int root = static_cast<int>(i);
      for (std::size_t k = i; k < links_.size(); ++k)
        if (!in_tree(static_cast<int>(k)) && !has_parent(static_cast<int>(k))) {
          root = static_cast<int>(k);
          break;
        }
      if (!order_.empty() && !world_in_tree_ && !held_)
        context_.assume(links_[root].element, "a second root: it moves by itself");
      add_link(root, -1);
      grow();
    }
  }
  [[nodiscard]] bool has_parent(int link) const {
    return std::any_of(joints_.begin(), joints_.end(),
                       [&](const SdfJoint& j) { return j.child == link; });
  }

  void check_all_inertias() {
    std::vector<LinkInertia> all;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      SdfLink& link = links_[order_[k]];
      LinkInertia one;
      one.element = link.element;
      if (link.weighed) one.tensor = link.element.child("inertial").child("inertia");
      one.inertia = &link.inertia;
      one.X = link.X;
      if (joint_of_[k] >= 0) {
        const SdfJoint& joint = joints_[joint_of_[k]];
        one.parent = joint.parent < 0 ? -1 : links_[joint.parent].body;
        one.joint = joint.spec.kind;
        one.joint_name = joint.spec.name;
      }
      all.push_back(one);
    }
    check_inertias(all, options_.strict, context_.notes);
  }

  void add_body(int i) {
    const SdfLink& link = links_[i];
    const int k = joint_of_[link.body];
    BodyScene body;
    body.name = link.name;
    body.inertia = link.inertia;
    if (body.name == "world") throw link.element.error("a link cannot be called world");
    if (!link.between)
      sdf::read_shapes(link.element, link.X, *link.scope, frames_, context_, body.shapes,
                       robot_.visuals);
    const SE3 X = models_.pose() * link.X;
    if (k >= 0) {
      body.joint = joints_[k].spec;
      body.joint.parent = joints_[k].parent < 0 ? "world" : links_[joints_[k].parent].name;
      if (joints_[k].parent < 0) body.joint.placement = models_.pose() * body.joint.placement;
    } else if (options_.base == RobotBase::fixed || held_) {
      body.joint.kind = Fixed{};
      body.joint.placement = X;
    } else {
      body.joint.kind = Floating{};
      const Quat p(X.R);
      robot_.initial[body.name].q = {X.r.x(), X.r.y(), X.r.z(), p.w(), p.x(), p.y(), p.z()};
      if (options_.base == RobotBase::from_file)
        context_.assume(link.element, "the root has no joint: floating");
    }
    if (!link.weighed && !link.between) context_.assume(link.element, "no <inertial>: no mass");
    robot_.bodies.push_back(std::move(body));
    robot_.body_lines.push_back({link.element.file(), link.element.line()});
  }

  void add_loops() {
    for (const SdfJoint& j : joints_) {
      if (j.used) continue;
      LoopScene loop;
      loop.joint = j.spec;
      loop.joint.parent = j.parent < 0 ? "world" : links_[j.parent].name;
      loop.child = j.child < 0 ? "world" : links_[j.child].name;
      loop.joint.dofs.clear();
      if (j.parent < 0) loop.joint.placement = models_.pose() * loop.joint.placement;
      if (j.child < 0) loop.joint.in_body = models_.pose() * loop.joint.in_body;
      robot_.loops.push_back(loop);
      robot_.loop_lines.push_back({j.element.file(), j.element.line()});
      context_.assume(j.element, "it closes a loop: without limits, springs and damping");
    }
  }

  // What follows another joint, and screws.
  void add_couplings() {
    const auto couple = [&](const Element& e, const RobotCoupling& coupling) {
      if (const std::string why = add_coupling(robot_, coupling); !why.empty())
        context_.leave(e, "", why);
    };
    for (const SdfJoint& j : joints_) {
      const SourceLine at{j.element.file(), j.element.line()};
      const auto pitch = sdf::screw_pitch(j.element);
      if (const bool slides = std::holds_alternative<Prismatic>(j.spec.kind); pitch && slides)
        couple(j.element, {j.spec.name, j.scope->full(j.element.required_text("name")),
                           *pitch / (2 * std::numbers::pi), 0, at});
      if (pitch && j.axis == std::string("axis2")) continue;
      if (const auto mimic = sdf::read_mimic(j.element, j.axis)) {
        const std::string leader = j.scope->full(mimic->joint);
        couple(mimic->element, {j.spec.name,
                                mimic->axis == "axis2" ? second_of(leader) : leader,
                                mimic->ratio,
                                mimic->offset,
                                {mimic->element.file(), mimic->element.line()}});
      }
    }
  }

  void collect_unread() {
    const auto& files = models_.files();
    for (const auto& file : files)
      for (const UnreadItem& item : file->unread())
        context_.notes.push_back({RobotNote::Kind::unused,
                                  {file->name(), item.line},
                                  item.item,
                                  sdf::why_unread(item.item),
                                  matters_unread(item.item)});
    const auto place = [&](const RobotNote& n) {
      const auto at = std::find_if(files.begin(), files.end(),
                                   [&](const auto& f) { return f->name() == n.where.file; });
      return std::pair(at - files.begin(), n.where.line);
    };
    std::stable_sort(context_.notes.begin(), context_.notes.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    robot_.notes = std::move(context_.notes);
  }

  RobotOptions options_;
  Context context_;
  sdf::Models models_;
  const sdf::Frames& frames_;
  Robot robot_;
  bool world_in_tree_ = false, held_ = false;
  std::vector<SdfLink> links_;
  std::vector<SdfJoint> joints_;
  std::unordered_map<std::string, int> link_of_;
  std::vector<int> order_, joint_of_;  // links of the tree, and the joint of each
};

}  // namespace

Robot read_sdf(const std::string& text, const std::string& name, const std::string& folder,
               const RobotOptions& options) {
  return SdfReader(text, name, folder, options).read();
}

}  // namespace saltus
