// A URDF as a tree of bodies: links, joints, base.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

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
  std::optional<RigidInertia> inertia;
};

struct LinkJoint {
  Element element;
  int parent = -1, child = -1;  // links
  JointSpec spec;
};

class Reader {
 public:
  Reader(const std::string& text, const std::string& name, const std::string& folder,
         RobotBase base)
      : file_(text, name), base_(base) {
    context_.folder = folder;
    robot_.file = name;
    robot_.format = "urdf";
  }

  Robot read() {
    const Element top = file_.root();
    if (top.name() != "robot") throw top.error("expected <robot>");
    robot_.name = top.text("name").value_or("");
    urdf::read_materials(top, context_);
    read_links(top);
    read_joints(top);
    root_ = find_root(top);
    order_links();
    refuse_massless();
    for (const int i : order_) add_body(i);
    std::map<std::string, Element> named;
    for (const LinkJoint& j : joints_) named.emplace(j.spec.name, j.element);
    urdf::read_transmissions(top, named, context_, robot_);
    for (const UnreadItem& item : file_.unread())
      context_.notes.push_back({RobotNote::Kind::unused, {file_.name(), item.line}, item.item, ""});
    std::stable_sort(context_.notes.begin(), context_.notes.end(),
                     [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
    robot_.notes = std::move(context_.notes);
    return std::move(robot_);
  }

 private:
  void read_links(const Element& top) {
    for (const Element& e : top.children("link")) {
      const std::string name = e.required_text("name");
      if (name.empty()) throw e.error("name", "expected a name");
      if (const auto [at, added] = link_of_.emplace(name, links_.size()); !added)
        throw e.error(fmt::format("the link '{}' is there already, in line {}", name,
                                  links_[at->second].element.line()));
      links_.push_back({name, e, -1, {}, urdf::read_inertial(e, context_)});
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

  void refuse_massless() {
    std::vector<double> below(links_.size(), 0);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Link& link = links_[*it];
      const double own = link.inertia ? link.inertia->mass : 0;
      below[*it] += own;
      if (link.joint < 0) continue;
      const LinkJoint& joint = joints_[link.joint];
      below[joint.parent] += below[*it];
      if (nv_of(joint.spec.kind) == 0) continue;
      if (below[*it] <= 0)
        throw link.element.error(
            fmt::format("expected a positive mass: joint '{}' moves this link "
                        "and nothing with mass",
                        joint.spec.name));
      if (own <= 0 && link.inertia && !link.inertia->about_com.isZero(0))
        throw link.element.error("expected a positive mass beside the moments of inertia, got 0");
    }
  }

  bool root_is_fixed(const Link& root) {
    if (base_ != RobotBase::from_file) return base_ == RobotBase::fixed;
    const bool fixed = root.name == "world";
    context_.assume(root.element, fixed ? "the root is called world: it is the world"
                                        : "the root has no joint: floating");
    return fixed;
  }

  void add_body(int i) {
    const Link& link = links_[i];
    BodyScene body;
    body.name = link.name;
    body.inertia = link.inertia.value_or(RigidInertia{});
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
    if (!link.inertia) context_.assume(link.element, "no <inertial>: no mass");
    if (body.name == "world") throw link.element.error("a moving link cannot be called world");
    robot_.bodies.push_back(std::move(body));
    robot_.body_lines.push_back({file_.name(), link.element.line()});
    robot_.visuals.insert(robot_.visuals.end(), visuals.begin(), visuals.end());
  }

  void become_world(const Link& link, const std::vector<ShapeScene>& shapes,
                    const std::vector<VisualScene>& visuals) {
    if (link.inertia) context_.leave(link.element.child("inertial"), "", "the world does not move");
    robot_.obstacles = shapes;
    robot_.visuals = visuals;
  }

  XmlFile file_;
  RobotBase base_;
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
  return Reader(text, name, folder, options.base).read();
}

}  // namespace saltus
