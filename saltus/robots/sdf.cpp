// SDF, the format of Gazebo: a model of links and joints.
//
// Links are placed in the model, joints in their child link: with X_P, X_C of parent and child and
// X_J of the joint in the child, the joint stands at X_P^-1 X_C X_J in the parent. Joints may form
// any graph. Those reached first, in the direction of the file where that is possible, make a tree;
// a joint that has to be passed from its child to its parent turns the other way about, and one
// between links that are both in the tree closes a loop.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "saltus/lie/so3.h"
#include "saltus/robots/inertia_repair.h"
#include "saltus/robots/sdf_parts.h"

namespace saltus {

namespace {

using sdf::Frames;
using urdf::Context;
using Element = XmlElement;

struct SdfLink {
  std::string name;
  Element element;
  SE3 X;          // in the model
  int body = -1;  // in the order of the tree
  bool weighed = false;
  RigidInertia inertia;
};

struct SdfJoint {
  Element element;
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
      : file_(text, name), options_(options) {
    context_.folders = Folders(folder, options.package_paths);
    context_.strict = options.strict;
    robot_.file = name;
    robot_.format = "sdf";
  }

  Robot read() {
    const Element top = file_.root();
    version_ = top.number("version").value_or(1.5);
    const Element model = find_model(top);
    robot_.name = model.text("name").value_or("");
    static_ = sdf::boolean_child(model, "static").value_or(false);
    if (const Element pose = model.child("pose")) model_pose_ = sdf::read_pose_text(pose);
    frames_.read(model);
    read_links(model);
    read_joints(model);
    make_tree();
    check_all_inertias();
    for (const int i : order_) add_body(i);
    add_loops();
    collect_unread();
    return std::move(robot_);
  }

 private:
  Element find_model(const Element& top) {
    Element from = top;
    if (const Element world = top.child("world")) from = world;
    const std::vector<Element> all = from.children("model");
    if (all.empty())
      throw from.error(from.node().child("include")
                           ? "expected a <model>, there is none: those of other files are not read"
                           : "expected a <model>, there is none");
    for (std::size_t i = 1; i < all.size(); ++i)
      leave_whole(all[i], "only the first model of a file is read");
    return all.front();
  }

  void leave_whole(const Element& e, const std::string& why) {
    context_.leave(e, "", why);
    e.mark_whole();
  }

  void read_links(const Element& model) {
    for (const Element& e : model.children("link")) {
      SdfLink link;
      link.name = e.required_text("name");
      link.element = e;
      link.X = frames_.pose(link.name);
      if (!link_of_.emplace(link.name, static_cast<int>(links_.size())).second)
        throw e.error(fmt::format("the link '{}' is there already", link.name));
      if (const auto inertia = sdf::read_inertial(e, context_)) {
        link.weighed = true;
        link.inertia = *inertia;
      }
      links_.push_back(link);
    }
    if (links_.empty()) {
      const bool others = model.node().child("model") || model.node().child("include");
      throw model.error(fmt::format(
          "expected a <link>, there is none{}",
          others ? " of its own: models within models and those of other files are not read" : ""));
    }
    for (const Element& e : model.children("model"))
      leave_whole(e, "models within models are not read");
    for (const Element& e : model.children("include"))
      leave_whole(e, "models of other files are not read");
  }

  int linked(const Element& joint, const char* end) {
    const Element e = joint.child(end);
    if (!e) throw joint.error(fmt::format("expected <{}>, there is none", end));
    const std::string name = sdf::word(e);
    if (name == "world") return -1;
    const auto found = link_of_.find(name);
    if (found == link_of_.end())
      throw e.error(fmt::format(
          "there is no link '{}'{}", name,
          name.find("::") == std::string::npos ? "" : ": models within models are not read"));
    return found->second;
  }

  void read_joints(const Element& model) {
    std::unordered_map<std::string, int> lines;
    for (const Element& e : model.children("joint")) {
      SdfJoint j;
      j.element = e;
      j.parent = linked(e, "parent");
      j.child = linked(e, "child");
      if (j.parent == j.child) throw e.error("expected two links, got one");
      const SE3 X_parent = j.parent < 0 ? SE3() : links_[j.parent].X,
                X_child = j.child < 0 ? SE3() : links_[j.child].X;
      const std::string name = e.required_text("name");
      const SE3 X = frames_.pose(name);  // in the model
      const auto spec = sdf::read_joint(e, X, frames_, version_, context_);
      if (!spec) continue;
      j.spec = *spec;
      j.spec.name = name;
      j.spec.placement = X_parent.inverse() * X;
      j.spec.in_body = X_child.inverse() * X;
      if (const auto [at, added] = lines.emplace(name, e.line()); !added)
        throw e.error(fmt::format("the joint '{}' is there already, in line {}", name, at->second));
      joints_.push_back(std::move(j));
    }
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
      if (!order_.empty() && !world_in_tree_)
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
    sdf::read_shapes(link.element, link.name, context_, body.shapes, robot_.visuals);
    const SE3 X = model_pose_ * link.X;
    if (k >= 0) {
      body.joint = joints_[k].spec;
      body.joint.parent = joints_[k].parent < 0 ? "world" : links_[joints_[k].parent].name;
      if (joints_[k].parent < 0) body.joint.placement = model_pose_ * body.joint.placement;
    } else if (options_.base == RobotBase::fixed ||
               (options_.base == RobotBase::from_file && static_)) {
      body.joint.kind = Fixed{};
      body.joint.placement = X;
    } else {
      body.joint.kind = Floating{};
      const Quat p(X.R);
      robot_.initial[body.name].q = {X.r.x(), X.r.y(), X.r.z(), p.w(), p.x(), p.y(), p.z()};
      if (options_.base == RobotBase::from_file)
        context_.assume(link.element, "the root has no joint: floating");
    }
    if (!link.weighed) context_.assume(link.element, "no <inertial>: no mass");
    robot_.bodies.push_back(std::move(body));
    robot_.body_lines.push_back({file_.name(), link.element.line()});
  }

  void add_loops() {
    for (const SdfJoint& j : joints_) {
      if (j.used) continue;
      LoopScene loop;
      loop.joint = j.spec;
      loop.joint.parent = j.parent < 0 ? "world" : links_[j.parent].name;
      loop.child = j.child < 0 ? "world" : links_[j.child].name;
      loop.joint.dofs.clear();
      robot_.loops.push_back(loop);
      robot_.loop_lines.push_back({file_.name(), j.element.line()});
      context_.assume(j.element, "it closes a loop: without limits, springs and damping");
    }
  }

  void collect_unread() {
    for (const UnreadItem& item : file_.unread())
      context_.notes.push_back({RobotNote::Kind::unused,
                                {file_.name(), item.line},
                                item.item,
                                sdf::why_unread(item.item),
                                matters_unread(item.item)});
    std::stable_sort(context_.notes.begin(), context_.notes.end(),
                     [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
    robot_.notes = std::move(context_.notes);
  }

  XmlFile file_;
  RobotOptions options_;
  Context context_;
  Robot robot_;
  double version_ = 1.5;
  bool static_ = false, world_in_tree_ = false;
  SE3 model_pose_;
  Frames frames_;
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
