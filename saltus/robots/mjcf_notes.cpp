// What was not read, with the reason where there is one to give.
#include <algorithm>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

const std::map<std::string, std::string>& reasons() {
  static const std::map<std::string, std::string> all{
      // attributes, of any element or of one
      {"solref", "contacts, limits and loops are kept exactly: there is no softness to set"},
      {"solimp", "contacts, limits and loops are kept exactly: there is no softness to set"},
      {"solreffriction", "friction is Coulomb's, exactly"},
      {"solreflimit", "limits are kept exactly"},
      {"solimplimit", "limits are kept exactly"},
      {"solreffriction", "dry friction is kept exactly"},
      {"solimpfriction", "dry friction is kept exactly"},
      {"solmix", "contacts have no softness to mix"},
      {"margin", "contacts and limits act at distance 0"},
      {"gap", "contacts act at distance 0"},
      {"rgba", "only geoms that do not touch have a colour"},
      {"material", "only geoms that do not touch have a colour"},
      {"user", "user data have no part in the model"},
      {"group", "groups say what MuJoCo shows; they count only where geoms give the mass"},
      {"gravcomp", "there is no compensation of gravity: the body weighs"},
      {"fluidshape", "there is no fluid"},
      {"fluidcoef", "there is no fluid"},
      {"springdamper", "give stiffness and damping"},
      {"geom density", "the mass of this body is given by its <inertial>"},
      {"geom mass", "the mass of this body is given by its <inertial>"},
      {"option integrator", "the scene chooses the integrator"},
      {"option cone", "friction is Coulomb's cone, exactly"},
      {"option jacobian", "a setting of MuJoCo's solver"},
      {"option solver", "a setting of MuJoCo's solver"},
      {"option iterations", "a setting of MuJoCo's solver"},
      {"option tolerance", "a setting of MuJoCo's solver"},
      {"option ls_iterations", "a setting of MuJoCo's solver"},
      {"option ls_tolerance", "a setting of MuJoCo's solver"},
      {"option noslip_iterations", "a setting of MuJoCo's solver"},
      {"option impratio", "friction is as hard as the normal direction"},
      {"option density", "there is no fluid"},
      {"option viscosity", "there is no fluid"},
      {"option wind", "there is no fluid"},
      {"option magnetic", "there are no magnetic sensors"},
      {"compiler fusestatic", "bodies without joints are kept"},
      {"compiler discardvisual", "geoms that do not touch are kept: they are shown"},
      {"compiler texturedir", "textures are not read"},
      {"compiler alignfree", "a free joint moves the body's own frame"},
      {"freejoint align", "a free joint moves the body's own frame"},
      {"key act", "actuators have no states"},
      {"key ctrl", "motors take the controls of the first keyframe that has them"},
      {"key time", "a start has time 0"},
      {"key mpos", "mocap bodies stay where the file draws them"},
      {"key mquat", "mocap bodies stay where the file draws them"},
      // elements
      {"fixed frictionloss", "tendons have no dry friction"},
      {"spatial frictionloss", "tendons have no dry friction"},
      {"fixed armature", "tendons have no inertia"},
      {"spatial armature", "tendons have no inertia"},
      {"<sensor>", "sensors are given in the scene"},
      {"<camera>", "the viewer has its own camera"},
      {"<light>", "the viewer has its own light"},
      {"<texture>", "textures are not read"},
      {"<material>", "no geom that is only seen has it"},
      {"<mesh>", "no geom has it"},
      {"texture", "textures are not read"},
      {"specular", "the viewer has its own light"},
      {"shininess", "the viewer has its own light"},
      {"reflectance", "the viewer has its own light"},
      {"<hfield>", "height fields are given in the scene"},
      {"<visual>", "the viewer has its own settings"},
      {"<statistic>", "the viewer has its own settings"},
      {"<size>", "sizes of memory are not needed"},
      {"<custom>", "user data have no part in the model"},
      {"<extension>", "plugins are not supported"},
      {"<plugin>", "plugins are not supported"},
      {"<composite>", "its bodies are not made: write them out"},
      {"<flexcomp>", "there are no deformable bodies"},
      {"<deformable>", "there are no deformable bodies"},
      {"<attach>", "its bodies are not there: a model is not attached, include it"},
      {"<model>", "models are not attached: include them"},
      {"<flex>", "there are no deformable bodies"},
      {"<skin>", "skins are not shown"},
      {"<text>", "user data have no part in the model"},
      {"<numeric>", "user data have no part in the model"},
      {"<layer>", "textures are not read"},
      {"nodamper", "a setting of the compiler"},
      {"<tuple>", "user data have no part in the model"},
  };
  return all;
}

std::string reason(const std::string& key) {
  const auto found = reasons().find(key);
  return found == reasons().end() ? "" : found->second;
}

}  // namespace

std::string why_unused(const std::string& tag, const std::string& attribute) {
  if (attribute.empty()) {
    const std::string found = reason("<" + tag + ">");
    return found.empty() ? "not supported" : found;
  }
  std::string found = reason(tag + " " + attribute);
  if (found.empty()) found = reason(attribute);
  return found.empty() ? "not supported" : found;
}

void Reader::collect_unread() {
  for (const auto& file : sources.files())
    for (const UnreadItem& u : file->unread()) {
      // "<geom name="a b"> solref"
      const std::size_t end = u.item.rfind('>');
      const std::string tag = u.item.substr(1, u.item.find_first_of(" >") - 1);
      const std::string attribute = end + 2 < u.item.size() ? u.item.substr(end + 2) : "";
      robot.notes.push_back({RobotNote::Kind::unused,
                             {file->name(), u.line},
                             u.item,
                             why_unused(tag, attribute),
                             matters_unread(u.item)});
    }
  const auto place = [&](const RobotNote& n) {
    const auto& files = sources.files();
    const auto at = std::find_if(files.begin(), files.end(),
                                 [&](const auto& f) { return f->name() == n.where.file; });
    return std::pair(at - files.begin(), n.where.line);
  };
  std::stable_sort(robot.notes.begin(), robot.notes.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  // What a class says is noted once, however many elements have it.
  std::vector<RobotNote> once;
  std::set<std::tuple<std::string, int, std::string, std::string>> seen;
  for (const RobotNote& n : robot.notes)
    if (seen.emplace(n.where.file, n.where.line, n.item, n.message).second) once.push_back(n);
  robot.notes = std::move(once);
}

}  // namespace saltus::mjcf
