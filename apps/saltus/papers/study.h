// A run of a scene for a paper's page: its summary and the series that figures need.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/saltus/papers/svg.h"
#include "saltus/runs/run_file.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

// Where the scenes are: $SALTUS_SCENES, beside an installed binary, or in the source tree.
[[nodiscard]] std::string scene_folder();

struct ContactSample {
  std::string a, b;     // shapes (a support: world and the body)
  double x, y, fx, fy;  // point [m], force on b [N]
  bool support;
};

// A change of mode: what holds from then on, and why.
struct ModeSample {
  double t;
  std::vector<std::string> members, causes;
};

// Points (x, y) of a curve.
[[nodiscard]] std::vector<std::pair<double, double>> pairs_of(const std::vector<double>& x,
                                                              const std::vector<double>& y);
[[nodiscard]] Plot plot_over_time(const std::string& title, const std::string& y_label,
                                  const std::string& t_label = "t [s]");

class Study {
 public:
  // Runs scenes/<scene>.yaml with the overrides; the run file goes to folder/<name>.h5.
  Study(const std::string& folder, const std::string& name, const std::string& scene,
        const std::vector<std::string>& overrides);

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] double metric(const std::string& name) const;  // NaN: not reached
  [[nodiscard]] const nlohmann::ordered_json& summary() const { return summary_; }
  [[nodiscard]] const std::vector<double>& t() const { return t_; }
  // x or y of a body's origin at every frame.
  [[nodiscard]] std::vector<double> body(const std::string& body, int axis) const;
  // A coordinate or velocity of a body's own joint at every frame.
  [[nodiscard]] std::vector<double> q(const std::string& body, int component = 0) const;
  [[nodiscard]] std::vector<double> v(const std::string& body, int component = 0) const;
  // A column of the frames that has one number.
  [[nodiscard]] const std::vector<double>& energy(bool kinetic) const {
    return kinetic ? kinetic_ : potential_;
  }
  // Empty where modes are not recorded.
  [[nodiscard]] const std::vector<ModeSample>& modes() const { return modes_; }
  [[nodiscard]] const Scene& scene() const { return scene_; }
  // The nearest frame to a time.
  [[nodiscard]] std::size_t frame_at(double t) const;
  // Links, pegs: the picture of a frame, shifted by dy.
  void draw(Plot& plot, std::size_t frame, double dy, bool pegs) const;
  // At a frame, in the plane of two axes: each body joined to its parent, and rods along them.
  using Line = std::vector<std::pair<double, double>>;
  [[nodiscard]] std::vector<Line> skeleton(std::size_t frame, int across, int up) const;
  [[nodiscard]] std::vector<ContactSample> contacts(std::size_t frame) const;
  // |sum of contact forces| on a body at every frame, supports left out [N].
  [[nodiscard]] std::vector<double> contact_force(const std::string& body) const;

 private:
  std::string command_;
  nlohmann::ordered_json summary_, header_;
  void read_modes(const RunReader& reader);
  [[nodiscard]] std::vector<double> state_series(const std::vector<double>& all, const char* first,
                                                 const char* count, const std::string& body,
                                                 int component) const;

  Scene scene_;
  double dt_ = 0;
  std::vector<double> q_, v_, kinetic_, potential_;
  std::vector<ModeSample> modes_;
  std::vector<double> t_, pose_, contact_end_;
  std::vector<double> contact_a_, contact_b_, contact_point_, contact_impulse_;
  std::size_t bodies_ = 0;
};

}  // namespace saltus::cli
