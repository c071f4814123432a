#include "apps/saltus/papers/study.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "saltus/simulate/run.h"
#include "saltus/simulate/run_summary.h"

namespace saltus::cli {

namespace fs = std::filesystem;

std::string scene_folder() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("SALTUS_SCENES")) places.emplace_back(given);
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none).parent_path();
  places.push_back(self / "../share/saltus/scenes");
  places.push_back(self / "../../../scenes");
  for (const fs::path& p : places)
    if (fs::is_directory(p, none)) return p.lexically_normal().string();
  throw InputError("the scenes were not found: set SALTUS_SCENES to their folder");
}

std::vector<std::pair<double, double>> pairs_of(const std::vector<double>& x,
                                                const std::vector<double>& y) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < x.size(); ++i) points.emplace_back(x[i], y[i]);
  return points;
}

Plot plot_over_time(const std::string& title, const std::string& y_label,
                    const std::string& t_label) {
  Plot p;
  p.title = title;
  p.x_label = t_label;
  p.y_label = y_label;
  p.height = 300;
  return p;
}

Study::Study(const std::string& folder, const std::string& name, const std::string& scene,
             const std::vector<std::string>& overrides) {
  command_ = fmt::format("saltus run scenes/{}.yaml", scene);
  for (const std::string& o : overrides) command_ += " --set " + o;
  scene_ = load_scene(fmt::format("{}/{}.yaml", scene_folder(), scene), overrides);
  RunOptions options;
  options.output = fmt::format("{}/{}.h5", folder, name);
  const RunResult result = run(scene_, options);
  if (result.status != RunStatus::completed) throw std::runtime_error(result.message);
  summary_ = result.summary->json;
  dt_ = scene_.stepping.dt;

  const RunReader reader(options.output);
  header_ = nlohmann::ordered_json::parse(reader.header());
  bodies_ = header_["bodies"].size();
  const std::size_t frames = reader.rows("frames"), contacts = reader.rows("contacts");
  t_ = reader.read("frames", "t", 0, frames);
  pose_ = reader.read("frames", "pose", 0, frames);
  q_ = reader.read("frames", "q", 0, frames);
  v_ = reader.read("frames", "v", 0, frames);
  kinetic_ = reader.read("frames", "kinetic", 0, frames);
  potential_ = reader.read("frames", "potential", 0, frames);
  if (records_modes(scene_)) read_modes(reader);
  contact_end_ = reader.read("frames", "contact_end", 0, frames);
  contact_a_ = reader.read("contacts", "a", 0, contacts);
  contact_b_ = reader.read("contacts", "b", 0, contacts);
  contact_point_ = reader.read("contacts", "point", 0, contacts);
  contact_impulse_ = reader.read("contacts", "impulse", 0, contacts);
}

void Study::read_modes(const RunReader& reader) {
  const auto column = [&](const char* table, const char* name) {
    return reader.read(table, name, 0, reader.rows(table));
  };
  const auto t = column("modes", "t"), member_end = column("modes", "member_end"),
             cause_end = column("modes", "cause_end"), kind = column("members", "kind"),
             a = column("members", "a"), status = column("members", "status"),
             cause = column("causes", "cause");
  std::size_t member = 0, why = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    ModeSample m{t[i], {}, {}};
    for (; member < static_cast<std::size_t>(member_end[i]); ++member) {
      if (status[member] != 1) continue;
      const char* const list = kind[member] == 1 ? "elements" : "shapes";
      const auto& of = header_[list][static_cast<std::size_t>(a[member])];
      m.members.push_back(of.is_string() ? of.get<std::string>() : of["name"].get<std::string>());
    }
    for (; why < static_cast<std::size_t>(cause_end[i]); ++why)
      m.causes.push_back(
          header_["causes"][static_cast<std::size_t>(cause[why])].get<std::string>());
    modes_.push_back(m);
  }
}

std::vector<double> Study::state_series(const std::vector<double>& all, const char* first,
                                        const char* count, const std::string& body,
                                        int component) const {
  const auto width = header_[count].get<std::size_t>();
  std::vector<double> series;
  for (const auto& b : header_["bodies"])
    if (b["name"] == body)
      for (std::size_t f = 0; f < t_.size(); ++f)
        series.push_back(all[f * width + b[first].get<std::size_t>() + component]);
  return series;
}

std::vector<double> Study::q(const std::string& body, int component) const {
  return state_series(q_, "q0", "nq", body, component);
}

std::vector<double> Study::v(const std::string& body, int component) const {
  return state_series(v_, "v0", "nv", body, component);
}

double Study::metric(const std::string& name) const {
  const auto& m = summary_["metrics"][name];
  return m.is_number() ? m.get<double>() : std::nan("");
}

std::vector<double> Study::body(const std::string& name, int axis) const {
  std::vector<double> series;
  for (std::size_t i = 0; i < bodies_; ++i)
    if (header_["bodies"][i]["name"] == name)
      for (std::size_t f = 0; f < t_.size(); ++f)
        series.push_back(pose_[(f * bodies_ + i) * 7 + axis]);
  return series;
}

std::size_t Study::frame_at(double t) const {
  std::size_t best = 0;
  for (std::size_t f = 0; f < t_.size(); ++f)
    if (std::abs(t_[f] - t) < std::abs(t_[best] - t)) best = f;
  return best;
}

void Study::draw(Plot& plot, std::size_t frame, double dy, bool pegs) const {
  for (const auto& s : header_["shapes"]) {
    if (s["type"] == "peg" && pegs) {
      plot.circles.push_back({s["pose"][0], s["pose"][1].get<double>() + dy, s["radius"]});
      continue;
    }
    const int body = s["body"];
    if (body < 0 || s["type"] != "capsule") continue;
    const double* p = pose_.data() + (frame * bodies_ + static_cast<std::size_t>(body)) * 7;
    const double angle = 2 * std::atan2(p[6], p[3]);
    const double c = s["half_length"].get<double>() * std::cos(angle);
    const double d = s["half_length"].get<double>() * std::sin(angle);
    plot.stadiums.push_back({p[0] - c, p[1] - d + dy, p[0] + c, p[1] + d + dy, s["radius"]});
  }
}

std::vector<Study::Line> Study::skeleton(std::size_t frame, int across, int up) const {
  const auto at = [&](int body) {
    const double* p = pose_.data() + (frame * bodies_ + static_cast<std::size_t>(body)) * 7;
    return std::pair{p[across], p[up]};
  };
  std::vector<Line> lines;
  std::vector<char> of_rod(bodies_, 0);
  if (header_.contains("rods"))
    for (const auto& rod : header_["rods"]) {
      Line& line = lines.emplace_back();
      for (const int body : rod["bodies"]) {
        line.push_back(at(body));
        of_rod[static_cast<std::size_t>(body)] = 1;
      }
    }
  for (std::size_t i = 0; i < bodies_; ++i) {
    const int body = static_cast<int>(i), parent = header_["bodies"][i]["parent"];
    if (!of_rod[i] && parent >= 0) lines.push_back({at(parent), at(body)});
  }
  return lines;
}

std::vector<ContactSample> Study::contacts(std::size_t frame) const {
  std::vector<ContactSample> all;
  const auto first = static_cast<std::size_t>(frame == 0 ? 0 : contact_end_[frame - 1]);
  for (std::size_t i = first; i < static_cast<std::size_t>(contact_end_[frame]); ++i) {
    const bool support = contact_a_[i] < 0;
    const auto name = [&](const char* list, double index) {
      return header_[list][static_cast<std::size_t>(index)]["name"].get<std::string>();
    };
    all.push_back({support ? "world" : name("shapes", contact_a_[i]),
                   name(support ? "bodies" : "shapes", contact_b_[i]), contact_point_[3 * i],
                   contact_point_[3 * i + 1], contact_impulse_[3 * i] / dt_,
                   contact_impulse_[3 * i + 1] / dt_, support});
  }
  return all;
}

std::vector<double> Study::contact_force(const std::string& body) const {
  std::vector<double> series;
  for (std::size_t f = 0; f < t_.size(); ++f) {
    double fx = 0, fy = 0;
    for (const ContactSample& c : contacts(f)) {
      if (c.support || c.b != body) continue;
      fx += c.fx;
      fy += c.fy;
    }
    series.push_back(std::hypot(fx, fy));
  }
  return series;
}

}  // namespace saltus::cli
