// A URDF as a tree of bodies: links, joints, base.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "saltus/robots/inertia_repair.h"
#include "saltus/robots/urdf_parts.h"

namespace saltus {

namespace {

using urdf::Context;
using Element = XmlElement;

struct Link {
  std::string name;
  Element element;
  int joint = -1;             // to its parent
  std::vector<int> children;  // joints
  bool weighed = false;       // has an <inertial>
  RigidInertia inertia;
};

struct LinkJoint {
  Element element;
  int parent = -1, child = -1;  // links
  JointSpec spec;
};

// Why an element or attribute that no one read has no part in the model.
std::string why_unread(const std::string& item) {
  const std::pair<std::string_view, const char*> reasons[] = {
      {"<gazebo", "it speaks to Gazebo"},
      {"<safety_controller", "it speaks to a controller of ROS"},
      {"<calibration", "it speaks to the robot's drivers"},
      {"<ros2_control", "it speaks to controllers of ROS"},
      {"<hardwareInterface", "it speaks to controllers of ROS"},
      {"<sensor", "sensors are given in the scene"},
      {"<limit> velocity", "speeds of joints have no limit"},
      {"<limit> effort", "the joint has no transmission, and so no motor that it would limit"}};
  for (const auto& [start, why] : reasons)
    if (item.starts_with(start)) return why;
  return "no part of a URDF that Saltus knows";
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& name, const std::string& folder,
         const RobotOptions& options)
      : file_(text, name), options_(options) {
    context_.folders = Folders(folder, options.package_paths);
    context_.strict = options.strict;
    robot_.file = name;
    robot_.format = "urdf";
  }

  Robot read() {
    const Element top = file_.root();
    if (top.name() != "robot") throw top.error("expected <robot>");
    refuse_xacro(top);
    robot_.name = top.text("name").value_or("");
    urdf::read_materials(top, context_);
    read_links(top);
    read_joints(top);
    root_ = find_root(top);
    order_links();
    check_all_inertias();
    for (const int i : order_) add_body(i);
    for (const LinkJoint& j : joints_) urdf::read_mimic(j.element, j.spec.name, context_, robot_);
    std::map<std::string, Element> named;
    for (const LinkJoint& j : joints_) named.emplace(j.spec.name, j.element);
    urdf::read_transmissions(top, named, context_, robot_);
    for (const UnreadItem& item : file_.unread())
      context_.notes.push_back({RobotNote::Kind::unused,
                                {file_.name(), item.line},
                                item.item,
                                why_unread(item.item),
                                matters_unread(item.item)});
    std::stable_sort(context_.notes.begin(), context_.notes.end(),
                     [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
    robot_.notes = std::move(context_.notes);
    return std::move(robot_);
  }

 private:
  // A template is no robot yet: xacro makes one of it.
  void refuse_xacro(const Element& top) const {
    for (const Element& e : top.children())
      if (e.name().starts_with("xacro:"))
        throw e.error(
            fmt::format("this is a template, not yet a robot: expand it first, with ROS by "
                        "'xacro {0} > robot.urdf', without by 'pip install xacro' and "
                        "'python -m xacro {0} > robot.urdf'",
                        file_.name()));
  }

  void read_links(const Element& top) {
    for (const Element& e : top.children("link")) {
      const std::string name = e.required_text("name");
      if (name.empty()) throw e.error("name", "expected a name");
      if (const auto [at, added] = link_of_.emplace(name, links_.size()); !added)
        throw e.error(fmt::format("the link '{}' is there already, in line {}", name,
                                  links_[at->second].element.line()));
      const std::optional<RigidInertia> inertia = urdf::read_inertial(e, context_);
      links_.push_back({name, e, -1, {}, inertia.has_value(), inertia.value_or(RigidInertia{})});
    }
    if (links_.empty()) throw top.error("expected a <link>, there is none");
  }

  int linked(const Element& joint, const char* end) {
    const Element e = joint.child(end);
    if (!e) throw joint.error(fmt::format("expected <{}>, there is none", end));
    const std::string name = e.required_text("link");
    const auto found = link_of_.find(name);
    if (found == link_of_.end()) throw e.error("link", fmt::format("there is no link '{}'", name));
    return static_cast<int>(found->second);
  }

  void read_joints(const Element& top) {
    std::unordered_map<std::string, int> lines;
    for (const Element& e : top.children("joint")) {
      LinkJoint j;
      j.element = e;
      j.spec = urdf::read_joint(e, context_);
      if (const auto [at, added] = lines.emplace(j.spec.name, e.line()); !added)
        throw e.error(
            fmt::format("the joint '{}' is there already, in line {}", j.spec.name, at->second));
      j.parent = linked(e, "parent");
      j.child = linked(e, "child");
      Link& child = links_[j.child];
      if (child.joint >= 0)
        throw e.error(fmt::format("the link '{}' has a parent already, by joint '{}'", child.name,
                                  joints_[child.joint].spec.name));
      child.joint = static_cast<int>(joints_.size());
      links_[j.parent].children.push_back(child.joint);
      joints_.push_back(std::move(j));
    }
  }

  int find_root(const Element& top) {
    int root = -1;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].joint >= 0) continue;
      if (root >= 0)
        throw links_[i].element.error(fmt::format(
            "a second root: neither '{}' nor this link is any joint's child", links_[root].name));
      root = static_cast<int>(i);
    }
    if (root < 0) throw top.error("every link is some joint's child: the joints form a cycle");
    return root;
  }

  // Parents first, each branch to its end, in the order of the joints.
  void order_links() {
    std::vector<int> open = {root_};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      order_.push_back(i);
      const std::vector<int>& c = links_[i].children;
      for (auto it = c.rbegin(); it != c.rend(); ++it) open.push_back(joints_[*it].child);
    }
    if (order_.size() == links_.size()) return;
    std::vector<char> seen(links_.size(), 0);
    for (const int i : order_) seen[i] = 1;
    for (const LinkJoint& j : joints_)
      if (!seen[j.child])
        throw j.element.error(
            fmt::format("the joints above link '{}' form a cycle", links_[j.child].name));
  }

  void check_all_inertias() {
    std::vector<LinkInertia> all;
    std::vector<int> place(links_.size(), -1);  // in `all`
    for (const int i : order_) {
      Link& link = links_[i];
      LinkInertia one;
      one.element = link.element;
      if (link.weighed) one.tensor = link.element.child("inertial").child("inertia");
      one.inertia = &link.inertia;
      if (link.joint >= 0) {
        const LinkJoint& joint = joints_[link.joint];
        one.parent = place[joint.parent];
        one.joint = joint.spec.kind;
        one.joint_name = joint.spec.name;
        one.X = all[one.parent].X * joint.spec.placement * joint.spec.in_body.inverse();
      }
      place[i] = static_cast<int>(all.size());
      all.push_back(one);
    }
    check_inertias(all, options_.strict, context_.notes);
  }

  bool root_is_fixed(const Link& root) {
    if (options_.base != RobotBase::from_file) return options_.base == RobotBase::fixed;
    const bool fixed = root.name == "world";
    context_.assume(root.element, fixed ? "the root is called world: it is the world"
                                        : "the root has no joint: floating");
    return fixed;
  }

  void add_body(int i) {
    const Link& link = links_[i];
    BodyScene body;
    body.name = link.name;
    body.inertia = link.inertia;
    body.shapes = urdf::read_collisions(link.element, link.name, context_);
    std::vector<VisualScene> visuals = urdf::read_visuals(link.element, link.name, context_);
    if (i == root_) {
      const bool fixed = root_is_fixed(link);
      if (fixed && link.name == "world") {
        become_world(link, body.shapes, visuals);
        return;
      }
      body.joint.kind = fixed ? Joint(Fixed{}) : Joint(Floating{});
    } else {
      const LinkJoint& joint = joints_[link.joint];
      body.joint = joint.spec;
      body.joint.parent = links_[joint.parent].name;
    }
    if (!link.weighed) context_.assume(link.element, "no <inertial>: no mass");
    if (body.name == "world") throw link.element.error("a moving link cannot be called world");
    robot_.bodies.push_back(std::move(body));
    robot_.body_lines.push_back({file_.name(), link.element.line()});
    robot_.visuals.insert(robot_.visuals.end(), visuals.begin(), visuals.end());
  }

  void become_world(const Link& link, const std::vector<ShapeScene>& shapes,
                    const std::vector<VisualScene>& visuals) {
    if (link.weighed) context_.leave(link.element.child("inertial"), "", "the world does not move");
    robot_.obstacles = shapes;
    robot_.visuals = visuals;
  }

  XmlFile file_;
  RobotOptions options_;
  Context context_;
  Robot robot_;
  std::vector<Link> links_;
  std::vector<LinkJoint> joints_;
  std::unordered_map<std::string, std::size_t> link_of_;
  std::vector<int> order_;
  int root_ = -1;
};

}  // namespace

Robot read_urdf(const std::string& text, const std::string& name, const std::string& folder,
                const RobotOptions& options) {
  return Reader(text, name, folder, options).read();
}

}  // namespace saltus
