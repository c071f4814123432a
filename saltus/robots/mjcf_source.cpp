#include "saltus/robots/mjcf_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "saltus/robots/robot.h"

namespace saltus::mjcf {

namespace fs = std::filesystem;

std::string label(const Element& e, const char* attribute) {
  return attribute ? e.label() + " " + attribute : e.label();
}

// --- files ---------------------------------------------------------------------------------------

Sources::Sources(const std::string& text, const std::string& name, Folders folders)
    : folders_(std::move(folders)) {
  XmlFile& file = add(text, name);
  if (const auto own = folders_.find(fs::path(name).filename().string())) paths_.back() = *own;
  root_ = file.root();
  if (root_.name() != "mujoco" && root_.name() != "mujocoinclude")
    throw root_.error("expected the root element <mujoco>");
  include_all(root_);
}

XmlFile& Sources::add(const std::string& text, const std::string& name) {
  files_.push_back(std::make_unique<XmlFile>(text, name));
  paths_.emplace_back();
  open_.push_back(1);
  return *files_.back();
}

// Recursion: at most XmlFile::deepest in a file, and no file comes twice.
void Sources::include_all(const Element& e) {
  for (const Element& c : e.children()) {
    if (const auto name = c.node().attribute("name")) names_[c.name()].insert(name.value());
    if (c.name() == "include") {
      c.mark();
      include(c);
    } else {
      include_all(c);
    }
  }
}

// MuJoCo looks from the folder of the main file; of a file that is not there, beside its includer.
std::string Sources::find(const Element& e, const std::string& file) const {
  const auto includer = std::find_if(files_.begin(), files_.end(),
                                     [&](const auto& f) { return f->name() == e.file(); });
  const std::string beside = fs::path(paths_[includer - files_.begin()]).parent_path().string();
  std::string why = fmt::format("there is no file '{}' below the robot's folder", file);
  for (const std::string& from : {std::string(), beside}) {
    try {
      if (const auto found = folders_.find(file, from)) return *found;
    } catch (const InputError& failure) { why = failure.what(); }
  }
  throw e.error("file", why);
}

void Sources::include(const Element& e) {
  constexpr std::size_t most_files = 200;
  const std::string file = e.required_text("file");
  const std::string path = find(e, file);
  for (std::size_t i = 0; i < paths_.size(); ++i)
    if (paths_[i] == path)
      throw e.error("file", open_[i]
                                ? fmt::format("the includes form a cycle: '{}' is being read", file)
                                : fmt::format("'{}' is included twice", file));
  if (files_.size() >= most_files)
    throw e.error("file", fmt::format("more than {} files are included", most_files));
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw e.error("file", fmt::format("'{}' cannot be read", file));
  const std::size_t index = files_.size();
  const fs::path main = files_.front()->name();
  XmlFile& added = add(text.str(), (main.parent_path() / file).string());
  paths_[index] = path;
  included_[e.node().hash_value()] = index;
  include_all(added.root());
  open_[index] = 0;
}

bool Sources::is_named(const std::string& tag, const std::string& name) const {
  const auto found = names_.find(tag);
  return found != names_.end() && found->second.contains(name);
}

std::vector<Element> Sources::children(const Element& e) const {
  std::vector<Element> all;
  for (const Element& c : e.children()) {
    if (c.name() != "include") {
      all.push_back(c);
      continue;
    }
    const std::vector<Element> inner =
        children(files_[included_.at(c.node().hash_value())]->root());
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

std::vector<Element> Sources::sections(const char* name) const {
  std::vector<Element> all;
  for (const Element& c : children(root_)) {
    if (c.name() != name) continue;
    c.mark();
    all.push_back(c);
  }
  return all;
}

std::vector<Element> Sources::contents(const char* section) const {
  std::vector<Element> all;
  for (const Element& s : sections(section)) {
    const std::vector<Element> inner = children(s);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

// --- default classes -----------------------------------------------------------------------------

bool is_actuator(const std::string& tag) {
  static const std::array names{"general",     "motor",  "position", "velocity",
                                "intvelocity", "damper", "cylinder", "muscle",
                                "adhesion",    "plugin", "dcmotor"};
  return std::find(names.begin(), names.end(), tag) != names.end();
}

Defaults::Defaults(const Sources& sources) {
  for (const Element& e : sources.sections("default")) {
    if (const auto name = e.text("class")) by_name_.emplace(*name, 0);
    read(sources, e, 0, 1);
  }
}

void Defaults::read(const Sources& sources, const Element& e, int index, int depth) {
  if (depth > deepest) throw e.error(fmt::format("nested more than {} deep", deepest));
  for (const Element& c : sources.children(e)) {
    if (c.name() != "default") {
      classes_[index].elements.push_back(c);
      continue;
    }
    c.mark();
    const std::string name = c.required_text("class");
    const int added = static_cast<int>(classes_.size());
    if (!by_name_.emplace(name, added).second)
      throw c.error("class", fmt::format("the class name '{}' is taken", name));
    classes_.push_back({index, {}});
    read(sources, c, added, depth + 1);
  }
}

void Defaults::check_class(const Element& e, const char* attribute, const std::string& name) const {
  if (!by_name_.contains(name))
    throw e.error(attribute, fmt::format("no default class is called '{}'", name));
}

Styled Defaults::styled(const Element& e, const std::string& childclass) const {
  Styled result(e);
  int index = 0;
  if (const auto own = e.text("class")) {
    check_class(e, "class", *own);
    index = by_name_.at(*own);
  } else if (!childclass.empty()) {
    index = by_name_.at(childclass);
  }
  // Classes speak of both kinds of tendons as one.
  const std::string own_tag = e.name(),
                    tag = own_tag == "fixed" || own_tag == "spatial" ? "tendon" : own_tag;
  const bool actuator = is_actuator(tag);
  for (; index >= 0; index = classes_[index].parent) {
    const auto& all = classes_[index].elements;
    for (auto it = all.rbegin(); it != all.rend(); ++it) {  // of two, the later holds
      if (it->name() != tag && !(actuator && is_actuator(it->name()))) continue;
      it->mark();
      result.add(*it);
    }
  }
  return result;
}

// --- elements with defaults ----------------------------------------------------------------------

const Element* Styled::holder(const char* attribute) const {
  const Element* found = nullptr;
  for (const Element& e : chain_) {
    if (!e.has(attribute)) continue;
    (void)e.text(attribute);  // marks: one that is overridden is understood, too
    if (!found) found = &e;
  }
  return found;
}

std::optional<std::string> Styled::text(const char* a) const {
  const Element* e = holder(a);
  return e ? e->text(a) : std::nullopt;
}
std::optional<double> Styled::number(const char* a) const {
  const Element* e = holder(a);
  return e ? e->number(a) : std::nullopt;
}
std::optional<int> Styled::integer(const char* a) const {
  const Element* e = holder(a);
  return e ? e->integer(a) : std::nullopt;
}
std::optional<bool> Styled::boolean(const char* a) const {
  const Element* e = holder(a);
  return e ? e->boolean(a) : std::nullopt;
}
std::optional<Vec3> Styled::vec3(const char* a) const {
  const Element* e = holder(a);
  return e ? e->vec3(a) : std::nullopt;
}
std::optional<std::vector<double>> Styled::pair(const char* a) const {
  const Element* e = holder(a);
  return e ? e->numbers(a, 2, 2) : std::nullopt;
}

std::vector<double> Styled::numbers(const char* attribute, std::vector<double> start,
                                    std::size_t least) const {
  for (auto e = chain_.rbegin(); e != chain_.rend(); ++e)
    if (const auto given = e->numbers(attribute, least, start.size()))
      std::copy(given->begin(), given->end(), start.begin());
  return start;
}

InputError Styled::error(const char* attribute, const std::string& message) const {
  const Element* e = holder(attribute);
  return (e ? *e : self()).error(attribute, message);
}

}  // namespace saltus::mjcf
