// <replicate>: its contents several times, each copy moved on from the one before, every name with
// the number of its copy behind it. What stands outside and names a part that was copied (motors,
// exclusions, equalities, ...) is copied with it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

constexpr int most_copies = 200'000;  // elements, of all together

// An attribute that names something elsewhere, and what.
constexpr std::array<std::pair<const char*, const char*>, 15> references{
    {{"joint", "joint"},
     {"jointinparent", "joint"},
     {"joint1", "joint"},
     {"joint2", "joint"},
     {"body", "body"},
     {"body1", "body"},
     {"body2", "body"},
     {"geom", "geom"},
     {"geom1", "geom"},
     {"geom2", "geom"},
     {"site", "site"},
     {"site1", "site"},
     {"site2", "site"},
     {"refsite", "site"},
     {"cranksite", "site"}}};

std::string kind_of_tag(const std::string& tag) { return tag == "freejoint" ? "joint" : tag; }

class Replicator {
 public:
  Replicator(const Sources& sources, const Compiler& compiler)
      : sources_(sources), compiler_(compiler) {}

  void run() {
    for (const auto& file : sources_.files()) {
      file_ = file.get();
      if (!any(file->root().node())) continue;
      pin_lines(file->root().node());
      expand(file->root().node(), 0);
    }
  }

 private:
  using Node = pugi::xml_node;
  using Names = std::map<std::string, std::set<std::string>>;  // by kind

  [[nodiscard]] Element element(Node node) const { return {*file_, node}; }

  static bool any(Node node) {
    return std::string(node.name()) == "replicate" ||
           std::any_of(node.begin(), node.end(), [](Node child) { return any(child); });
  }
  // A node that was copied does not know its place any more, nor does the copy.
  void pin_lines(Node node) {
    file_->set_line(node, file_->line_of(node));
    for (const Node child : node.children()) pin_lines(child);
  }

  // The inner ones first, so that their numbers stand before those of the outer ones.
  void expand(Node parent, int depth) {
    if (depth > deepest) throw element(parent).error("nested too deeply");
    for (Node child = parent.first_child(); child;) {
      const Node next = child.next_sibling();
      if (child.type() == pugi::node_element) {
        expand(child, depth + 1);
        if (std::string(child.name()) == "replicate") replicate(parent, child);
      }
      child = next;
    }
  }

  void replicate(Node parent, Node node) {
    const Element e = element(node);
    const int count = e.integer("count").value_or(0);
    if (count < 1) throw e.error("count", fmt::format("expected a number >= 1, got {}", count));
    const std::string separator = e.text("sep").value_or("");
    SE3 step;
    step.r = e.vec3("offset").value_or(Vec3::Zero());
    if (const auto angles = e.vec3("euler")) step.R = compiler_.euler_rotation(*angles);
    Names names;
    collect(node, names);
    const std::size_t digits = fmt::format("{}", count).size();
    std::vector<std::string> suffixes;
    SE3 X;
    for (int i = 0; i < count; ++i, X = X * step) {
      suffixes.push_back(fmt::format("{}{:0{}}", separator, i, digits));
      Node frame = parent.insert_child_before("frame", node);
      file_->set_line(frame, e.line());
      put_pose(frame, X);
      for (const Node child : node.children())
        if (child.type() == pugi::node_element) rename(copy(frame, child), suffixes.back());
    }
    parent.remove_child(node);
    copy_referring(names, suffixes);
  }

  static void put_pose(Node frame, const SE3& X) {
    const Quat p(X.R);
    frame.append_attribute("pos").set_value(
        fmt::format("{:.17g} {:.17g} {:.17g}", X.r.x(), X.r.y(), X.r.z()).c_str());
    frame.append_attribute("quat").set_value(
        fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", p.w(), p.x(), p.y(), p.z()).c_str());
  }

  static void collect(Node node, Names& names) {
    for (const Node child : node.children()) {
      if (const auto name = child.attribute("name"))
        names[kind_of_tag(child.name())].insert(name.value());
      collect(child, names);
    }
  }

  // Behind the last child, with the lines of what is copied.
  Node copy(Node parent, Node original) {
    const Node made = parent.append_copy(original);
    keep_lines(made, original);
    return made;
  }
  void keep_lines(Node made, Node original) {
    if (++copied_ > most_copies)
      throw element(original).error(
          fmt::format("expected at most {} copied elements", most_copies));
    if (std::string(original.name()) == "include")
      throw element(original).error("an include within <replicate> is not supported");
    file_->set_line(made, element(original).line());
    Node a = made.first_child();
    for (const Node b : original.children()) {
      if (b.type() == pugi::node_element) keep_lines(a, b);
      a = a.next_sibling();
    }
  }

  static void rename(Node node, const std::string& suffix) {
    if (auto name = node.attribute("name")) name.set_value((name.value() + suffix).c_str());
    for (const Node child : node.children()) rename(child, suffix);
  }

  static bool refers(Node node, const Names& names) {
    return std::any_of(references.begin(), references.end(), [&](const auto& r) {
      const auto kind = names.find(r.second);
      const auto given = node.attribute(r.first);
      return given && kind != names.end() && kind->second.contains(given.value());
    });
  }

  static void refer(Node node, const Names& names, const std::string& suffix) {
    for (const auto& [attribute, kind] : references) {
      auto given = node.attribute(attribute);
      const auto known = names.find(kind);
      if (given && known != names.end() && known->second.contains(given.value()))
        given.set_value((given.value() + suffix).c_str());
    }
    if (auto name = node.attribute("name")) name.set_value((name.value() + suffix).c_str());
  }

  void copy_referring(const Names& names, const std::vector<std::string>& suffixes) {
    XmlFile* const home = file_;
    for (const auto& file : sources_.files()) {
      file_ = file.get();
      for (const char* section : {"actuator", "contact", "equality", "sensor"})
        for (Node group = file->root().node().child(section); group;
             group = group.next_sibling(section)) {
          std::vector<Node> old;
          for (const Node child : group.children())
            if (refers(child, names)) old.push_back(child);
          for (const std::string& suffix : suffixes)
            for (const Node child : old) refer(copy(group, child), names, suffix);
          for (const Node child : old) group.remove_child(child);
        }
    }
    file_ = home;
  }

  const Sources& sources_;
  const Compiler& compiler_;
  XmlFile* file_ = nullptr;
  int copied_ = 0;
};

}  // namespace

void expand_replicates(const Sources& sources, const Compiler& compiler) {
  Replicator(sources, compiler).run();
}

}  // namespace saltus::mjcf
