#include "saltus/robots/sdf_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "saltus/base/bytes.h"
#include "saltus/robots/sdf_parts.h"

namespace saltus::sdf {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_models = 1000;
constexpr std::string_view own_frame = "::__model__";

std::string joint_key(const std::string& name) { return "\njoint " + name; }  // no file has it

// "1.11", which is later than 1.5: 1011.
int version_of(const Element& e) {
  const std::string text = e.text("version").value_or("1.5");
  const std::size_t point = text.find('.');
  const auto major = parse_number(text.substr(0, point)),
             minor = point == std::string::npos ? 0 : parse_number(text.substr(point + 1));
  if (!major || !minor || !(*major >= 0 && *major < 1000) || !(*minor >= 0 && *minor < 1000))
    throw e.error("version", fmt::format("expected a number as 1.9, got '{}'", text));
  return 1000 * static_cast<int>(*major) + static_cast<int>(*minor);
}

std::string relative_to(const Element& pose) {
  std::string found;
  for (const char* attribute : {"relative_to", "frame"})
    if (const auto to = pose.text(attribute); to && !to->empty()) found = *to;
  return found;
}

}  // namespace

std::string Scope::full(const std::string& name) const {
  if (name.empty() || name == own_frame.substr(2)) return base;
  if (name.ends_with(own_frame)) return prefix + name.substr(0, name.size() - own_frame.size());
  return prefix + name;
}

// --- frames --------------------------------------------------------------------------------------

void Frames::add(const std::string& name, const Given& given) {
  if (!given_.emplace(name, given).second)
    throw given.element.error(fmt::format("there is another '{}'", name));
}

Frames::Given Frames::placed(const Element& e, const Scope& scope, const std::string& usual) const {
  Given given{e, {}, scope.full(usual), "", ""};
  if (const Element pose = e.child("pose")) {
    given.pose = read_pose_text(pose);
    if (const std::string to = relative_to(pose); !to.empty()) given.relative_to = scope.full(to);
  }
  return given;
}

void Frames::read(const Scope& scope) {
  const Element& model = scope.model;
  for (const Element& e : model.children("link")) {
    const std::string name = e.required_text("name");
    if (known(scope.full(name)))
      throw e.error(fmt::format("the link '{}' is there already", scope.full(name)));
    add(scope.full(name), placed(e, scope, ""));
  }
  for (const Element& e : model.children("joint")) {
    const Element child = e.child("child");
    const std::string to = child && word(child) != "world" ? word(child) : "";
    Given given = placed(e, scope, to);
    given.attached = scope.full(to);
    // Old files call a joint as a link: the name alone is the link's then.
    const std::string name = scope.full(e.required_text("name"));
    if (const auto [at, added] = given_.emplace(joint_key(name), given); !added)
      throw e.error(fmt::format("the joint '{}' is there already, in line {}", name,
                                at->second.element.line()));
    given_.emplace(name, given);
  }
  for (const Element& e : model.children("frame")) {
    const std::string to = e.text("attached_to").value_or("");
    Given given = placed(e, scope, to);
    given.attached = scope.full(to);
    add(scope.full(e.required_text("name")), given);
  }
  if (const auto canonical = model.text("canonical_link"); canonical && !canonical->empty())
    set_canonical(scope, scope.prefix + *canonical);
  else if (const std::vector<Element> links = model.children("link"); !links.empty())
    set_canonical(scope, scope.full(links.front().required_text("name")));
}

void Frames::set_canonical(const Scope& scope, const std::string& name) {
  std::string& at = scope.base.empty() ? canonical_ : given_.at(scope.base).attached;
  if (at == nothing) at = name;
}

void Frames::add_model(const Scope& outer, const Scope& inner, const Element& pose,
                       const std::string& placement) {
  Given given{inner.model, {}, outer.base, nothing, ""};
  if (pose) {
    given.pose = read_pose_text(pose);
    if (const std::string to = relative_to(pose); !to.empty()) given.relative_to = outer.full(to);
  }
  if (!placement.empty()) given.placement = inner.full(placement);
  add(inner.base, given);
}

SE3 Frames::step(const std::string& name) const {
  const Given& given = given_.at(name);
  if (given.placement.empty()) return given.pose;
  const auto [at, added] = step_.emplace(name, std::nullopt);
  if (!added) {
    if (!at->second) throw given.element.error("its placement frame is placed by itself");
    return *at->second;
  }
  SE3 X = given.pose * relative(given.placement, name).inverse();
  step_[name] = X;
  return X;
}

SE3 Frames::relative(const std::string& name, const std::string& root) const {
  SE3 X;
  std::size_t count = 0;
  for (std::string at = name; at != root; at = given_.at(at).relative_to) {
    if (!given_.contains(at) || ++count > given_.size())
      throw given_.at(root).element.error(
          fmt::format("there is no frame '{}' in it, by which it is placed", name));
    X = step(at) * X;
  }
  return X;
}

// Each is found once: a chain of links, each relative to the one before, has as many as links.
SE3 Frames::pose(const std::string& name) const {
  std::vector<std::string> chain;  // up to what is known, or to the model
  std::string at = name;
  for (; !at.empty() && !placed_.contains(at); at = given_.at(at).relative_to) {
    if (!given_.contains(at))
      throw given_.at(chain.empty() ? name : chain.back())
          .element.error(fmt::format("its pose is relative to '{}', which is not there", at));
    if (chain.size() > given_.size())
      throw given_.at(at).element.error("its pose is relative to itself");
    chain.push_back(at);
  }
  SE3 X = at.empty() ? SE3() : placed_.at(at);
  for (std::size_t i = chain.size(); i-- > 0;) {
    X = X * step(chain[i]);
    placed_[chain[i]] = X;
  }
  return X;
}

SE3 Frames::pose_of_joint(const std::string& name) const { return pose(joint_key(name)); }

std::optional<std::string> Frames::link_of(const std::string& name) const {
  std::string at = name.empty() ? canonical_ : name;
  for (std::size_t count = 0; count <= given_.size(); ++count) {
    const auto found = given_.find(at);
    if (found == given_.end()) return std::nullopt;
    if (found->second.element.name() == "link") return at;
    at = found->second.attached.empty() ? canonical_ : found->second.attached;
  }
  return std::nullopt;
}

SE3 Frames::in_link(const Element& part, const Scope& scope, const SE3& link) const {
  const Element pose = part.child("pose");
  if (!pose) return {};
  SE3 given = read_pose_text(pose);
  const std::string to = relative_to(pose);
  if (to.empty()) return given;
  const std::string name = scope.full(to);
  if (!name.empty() && !known(name))
    throw pose.error(fmt::format("it is relative to '{}', which is not there", to));
  return link.inverse() * this->pose(name) * given;
}

// --- models --------------------------------------------------------------------------------------

Element Models::Found::pose() const {
  const Element own = model.child("pose"), other = include ? include.child("pose") : Element();
  if (!other) return own;
  if (own) own.mark_whole();  // the include's stands for it
  return other;
}
std::string Models::Found::placement() const {
  const std::string own = model.text("placement_frame").value_or("");
  const Element other = include ? include.child("placement_frame") : Element();
  return other ? word(other) : own;
}
bool Models::Found::is_static() const {
  const std::optional<bool> own = boolean_child(model, "static"),
                            other = include ? boolean_child(include, "static") : std::nullopt;
  return other.value_or(own.value_or(false));
}
std::string Models::Found::name() const {
  const std::string own = model.text("name").value_or("");
  const Element other = include ? include.child("name") : Element();
  return other ? word(other) : own;
}

Models::Models(const std::string& text, const std::string& name, Context& context)
    : context_(context) {
  std::string path;
  try {
    path = context_.folders.find(fs::path(name).filename().string()).value_or("");
  } catch (const InputError&) { path.clear(); }  // a text
  const Element top = add_file(text, name, path).root();
  open_.push_back(path);
  const Found robot = find_robot(top);
  name_ = robot.name();
  static_ = robot.is_static();
  const Scope scope{robot.model, "", "", robot.folder, robot.version};
  if (!robot.path.empty()) open_.push_back(robot.path);
  add(robot, scope);
  if (const Element pose = robot.pose()) pose_ = read_pose_text(pose);
  if (const std::string placement = robot.placement(); !placement.empty()) {
    if (!frames_.known(placement))
      throw robot.model.error(
          fmt::format("there is no frame '{}' in it, by which it is placed", placement));
    pose_ = pose_ * frames_.pose(placement).inverse();
  }
}

XmlFile& Models::add_file(const std::string& text, const std::string& name,
                          const std::string& path) {
  files_.push_back(std::make_unique<XmlFile>(text, name));
  if (!path.empty()) by_path_[path] = files_.back().get();
  return *files_.back();
}

// The first model of a file that is not static, else the first.
Models::Found Models::find_robot(const Element& top) {
  Element from = top;
  if (const Element world = top.child("world")) {
    from = world;
    (void)world.text("name");
  }
  const int version = version_of(top);
  std::optional<Found> chosen;
  Element taken;
  std::vector<Element> others;
  for (const Element& e : from.children()) {
    if (e.name() != "model" && e.name() != "include") continue;
    e.mark();
    if (chosen && !chosen->is_static()) {
      others.push_back(e);
      continue;
    }
    const std::optional<Found> found =
        e.name() == "model" ? Found{e, {}, "", "", version} : included(e, "");
    if (!found) continue;
    if (chosen && found->is_static()) {
      others.push_back(e);
      continue;
    }
    if (chosen) others.push_back(taken);
    chosen = found;
    taken = e;
  }
  if (!chosen)
    throw from.error("expected a <model>, there is none" +
                     (left_out_.empty() ? "" : " that can be read: " + left_out_));
  for (const Element& e : others) leave_whole(e, "only one model of a file is read");
  return *chosen;
}

void Models::leave_whole(const Element& e, const std::string& why) {
  context_.leave(e, "", why);
  e.mark_whole();
  if (left_out_.empty()) left_out_ = fmt::format("{} of line {}: {}", e.label(), e.line(), why);
}

// Depth is bounded: in a file by XmlFile::deepest, and no file is opened within itself.
void Models::add(const Found& found, const Scope& scope) {
  if (scopes_.size() >= most_models)
    throw found.model.error(fmt::format("expected at most {} models", most_models));
  scopes_.push_back(scope);
  frames_.read(scope);
  for (const Element& e : found.model.children()) {
    if (e.name() != "model" && e.name() != "include") continue;
    e.mark();
    Found inner{e, {}, scope.folder, "", scope.version};
    if (e.name() == "include") {
      const std::optional<Found> other = included(e, scope.folder);
      if (!other) continue;
      inner = *other;
    }
    Scope within{inner.model, "", "", inner.folder, inner.version};
    if (inner.include && inner.include.boolean("merge").value_or(false)) {
      within.prefix = scope.prefix;
      within.base = fmt::format("\nmodel {}", scopes_.size());
    } else {
      const std::string name = inner.name();
      if (name.empty()) throw e.error("the attribute 'name' is missing");
      within.base = scope.prefix + name;
      within.prefix = within.base + "::";
    }
    frames_.add_model(scope, within, inner.pose(), inner.placement());
    frames_.set_canonical(scope, within.base);
    if (!inner.path.empty()) open_.push_back(inner.path);
    add(inner, within);
    if (!inner.path.empty()) open_.pop_back();
  }
}

std::optional<Models::Found> Models::included(const Element& include, const std::string& from) {
  const Element at = include.child("uri");
  if (!at) throw include.error("expected <uri>, there is none");
  const auto leave = [&](const std::string& why) {
    leave_whole(include, why);
    return std::nullopt;
  };
  const std::string uri = word(at);
  std::string path;
  try {
    path = file_of(uri, from);
  } catch (const InputError& e) { return leave(e.what()); }
  if (std::find(open_.begin(), open_.end(), path) != open_.end())
    throw include.error(fmt::format("the includes form a cycle: '{}' is being read", uri));
  if (!by_path_.contains(path)) {
    const std::string near = fs::path(path).lexically_relative(context_.folders.own()).string();
    const fs::path main = files_.front()->name();
    add_file(text_of_file(path),
             near.starts_with("..") ? path : (main.parent_path() / near).string(), path);
  }
  const Element top = by_path_.at(path)->root();
  if (top.name() != "sdf") return leave(fmt::format("expected <sdf> in it, got <{}>", top.name()));
  const Element model = top.child("model");
  if (!model) return leave("there is no <model> in it");
  return Found{model, include, fs::path(path).parent_path().string(), path, version_of(top)};
}

// A folder stands for the newest file that its model.config names. Throws where there is none.
std::string Models::file_of(const std::string& uri, const std::string& from) const {
  if (uri.starts_with("http://") || uri.starts_with("https://"))
    throw InputError(fmt::format("'{}' is in the net, where nothing is read from", uri));
  const std::string ending = fs::path(uri).extension().string();
  if (ending == ".sdf" || ending == ".xml" || ending == ".world")
    if (const auto found = context_.folders.find(uri, from)) return *found;
  std::string file = "model.sdf";
  if (const auto config = find(uri, "model.config", from)) {
    XmlFile listed(text_of_file(*config), *config);
    int newest = -1;
    for (const Element& e : listed.root().children("sdf"))
      if (const int version = version_of(e); version > newest) newest = version, file = word(e);
  }
  if (const auto found = find(uri, file, from)) return *found;
  throw InputError(fmt::format("'{}' is not there", uri));
}

// A file in the folder that a uri names. The fallbacks of names, to the robot's own package under
// any name, are for meshes: another model is not the robot.
std::optional<std::string> Models::find(const std::string& uri, const std::string& file,
                                        const std::string& from) const {
  const std::string folder = uri.substr(0, uri.find_last_not_of('/') + 1);
  auto found = context_.folders.find(folder + "/" + file, from);
  if (!found || !folder.starts_with("model://")) return found;
  const bool same = fs::path(*found).parent_path().filename() == fs::path(folder).filename();
  return same ? found : std::nullopt;
}

}  // namespace saltus::sdf
