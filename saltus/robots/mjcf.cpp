// MJCF: the sections of a file in the order they depend on each other.
#include <fmt/format.h>

#include <filesystem>

#include "saltus/robots/mjcf_reader.h"

namespace saltus {

namespace mjcf {

void Reader::note(RobotNote::Kind kind, const Element& e, const char* attribute,
                  const std::string& message, bool matters) {
  robot.notes.push_back({kind, {e.file(), e.line()}, label(e, attribute), message, matters});
}

std::string Reader::new_name(std::set<std::string>& taken, const Element& e,
                             const std::string& fallback) {
  if (const auto own = e.text("name"); own && !own->empty()) {
    std::string name = *own;
    for (char& c : name)
      if (c == '*' || c == '|') c = '_';  // patterns of scenes
    if (name != *own) assumed(e, "name", fmt::format("called '{}'", name));
    if (!taken.insert(name).second)
      throw e.error("name", fmt::format("the name '{}' is taken", name));
    return name;
  }
  const std::string tag = e.name() == "freejoint" ? "joint" : e.name();
  std::string name = fallback;
  for (int i = 2; sources.is_named(tag, name) || !taken.insert(name).second; ++i)
    name = fmt::format("{}.{}", fallback, i);
  return name;
}

int Reader::find_body(const Element& e, const char* attribute, const std::string& name) const {
  const auto found = body_of.find(name);
  if (found == body_of.end()) throw e.error(attribute, fmt::format("no body is called '{}'", name));
  return found->second;
}

namespace {

bool enabled(const Element& e, const char* flag) {
  const auto given = e.text(flag);
  if (!given || *given == "enable") return true;
  if (*given == "disable") return false;
  throw e.error(flag, fmt::format("expected enable or disable, got '{}'", *given));
}

}  // namespace

void Reader::read_options() {
  for (const Element& option : sources.sections("option")) {
    if (const auto g = option.vec3("gravity")) robot.gravity = *g;
    if (const auto dt = option.number("timestep")) {
      if (!(*dt > 0))
        throw option.error("timestep", fmt::format("expected a time > 0, got {}", *dt));
      robot.timestep = *dt;
    }
    for (const Element& flag : sources.children(option)) {
      if (flag.name() != "flag") continue;
      flag.mark();
      contacts = contacts && enabled(flag, "contact");
      parents_excluded = parents_excluded && enabled(flag, "filterparent");
      if (!enabled(flag, "gravity")) robot.gravity = Vec3::Zero();
      if (!parents_excluded) unused(flag, "filterparent", "bodies joined directly never touch");
    }
  }
}

}  // namespace mjcf

Robot read_mjcf(const std::string& text, const std::string& name, const std::string& folder,
                const RobotOptions& options) {
  mjcf::Sources sources(text, name, Folders(folder, options.package_paths));
  mjcf::Defaults defaults(sources);
  const mjcf::Compiler compiler = mjcf::read_compiler(sources);
  mjcf::expand_replicates(sources, compiler);
  mjcf::Reader reader{.sources = std::move(sources),
                      .defaults = std::move(defaults),
                      .compiler = compiler,
                      .options = options};
  Robot& robot = reader.robot;
  const XmlElement root = reader.sources.root();
  robot.name = root.text("model").value_or(std::filesystem::path(name).stem().string());
  robot.file = name;
  robot.format = "mjcf";
  reader.read_options();
  reader.read_assets();
  reader.read_world();
  reader.finish_masses();
  reader.read_contacts();
  reader.read_equalities();
  reader.read_tendons();
  reader.read_actuators();
  reader.read_keyframes();
  reader.collect_unread();
  // A file of attached models alone would be an empty robot.
  for (const RobotNote& n : robot.notes)
    for (const char* maker : {"<attach", "<composite", "<flexcomp"})
      if (robot.bodies.empty() && n.item.starts_with(maker) && n.item.ends_with('>'))
        throw InputError(fmt::format("{}:{}: {}: {}; the file has no other body", n.where.file,
                                     n.where.line, n.item, n.message));
  return std::move(reader.robot);
}

}  // namespace saltus
