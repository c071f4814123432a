// Parts of the page of P1; internal to it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/study.h"

namespace saltus::cli {

using Point = std::pair<double, double>;  // x, z [m]

// A contact of an impact, in the plane of motion; tangential is positive down the slope, +x.
struct P1Contact {
  std::string shape;
  double before_n, before_t, after_n, after_t;  // [m/s]
  double p_n, p_t;                              // [N s]
};
struct P1Impact {
  double t, kinetic_before, kinetic_after, attenuation;
  std::string path;
  std::vector<double> q, v_before, v_after;
  std::vector<P1Contact> contacts;
};
// A contact at a frame.
struct P1Force {
  double t, f_n, f_t;  // [s], [N]
  bool sticks;
};

enum class Ending { rests, touches, flies };

// A run of a scene of P1: the double pendulum or the bicycle, told by the bodies it has.
class P1Run {
 public:
  P1Run(const std::string& folder, const std::string& scene,
        const std::vector<std::string>& overrides = {}, const std::string& name = "");

  [[nodiscard]] const Study& study() const { return study_; }
  [[nodiscard]] const std::string& command() const { return study_.command(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double metric(const std::string& name) const { return study_.metric(name); }
  [[nodiscard]] double cpu() const { return cpu_; }  // of scene, run and run file [s]
  [[nodiscard]] const std::vector<P1Impact>& impacts() const { return impacts_; }
  [[nodiscard]] const P1Impact& first() const;
  // By the name of the shape that touches; a gap of more than a frame ends a contact.
  [[nodiscard]] const std::map<std::string, std::vector<P1Force>>& forces() const {
    return forces_;
  }
  [[nodiscard]] Ending ending() const { return ending_; }
  [[nodiscard]] std::string ending_text() const;
  [[nodiscard]] int gains() const;                       // impacts with T+ > T-
  [[nodiscard]] double slope() const { return slope_; }  // [rad], downwards along +x
  [[nodiscard]] bool pendulum() const { return pendulum_; }
  // Velocity of the pendulum's tip.
  [[nodiscard]] static Point tip_velocity(const std::vector<double>& q,
                                          const std::vector<double>& v);

  [[nodiscard]] Plot trajectory(const std::string& title) const;
  [[nodiscard]] Plot energy(const std::string& title) const;
  [[nodiscard]] Curve total_energy(const std::string& name, const std::string& colour) const;
  [[nodiscard]] Plot force(const std::string& title, bool normal) const;
  [[nodiscard]] Plot friction(const std::string& title) const;

 private:
  struct Wheel {
    std::string shape;
    double a, b, along;  // semi-axes [m]; where its centre is on the bar [m]
  };
  void read(const std::string& path);
  void read_impacts(const RunReader& reader, const nlohmann::ordered_json& header);
  void read_forces(const RunReader& reader, const nlohmann::ordered_json& header);
  [[nodiscard]] double sliding(const std::string& shape, const std::vector<double>& q,
                               const std::vector<double>& v) const;
  [[nodiscard]] double potential(const std::vector<double>& q) const;
  [[nodiscard]] std::vector<double> q_at(std::size_t frame) const;
  [[nodiscard]] Point traced(const std::vector<double>& q) const;
  void draw(Plot& plot, const std::vector<double>& q, const std::string& colour) const;

  std::string name_;
  double cpu_ = 0;
  Study study_;
  bool pendulum_ = true;
  double slope_ = 0, height_ = 0, potential_at_0_ = 0;
  std::vector<Wheel> wheels_;
  std::vector<double> q_;
  std::size_t nq_ = 0;
  std::vector<P1Impact> impacts_;
  std::map<std::string, std::vector<P1Force>> forces_;
  Ending ending_ = Ending::flies;
  bool sticks_ = false;  // at the end, all that touch
};

// The runs of Table 2.4 and of section 5.3, each run once, by the name of its scene.
using P1Runs = std::map<std::string, P1Run>;

// p1_runs.cpp: Table 2.4, the values of VERIFY.md, the figures of every run.
void add_table(Page& page, const P1Runs& runs);
void add_values(Page& page, const P1Runs& runs);
void add_run_figures(Page& page, const P1Runs& runs);
// p1_oblique.cpp: Figs 4.1 to 4.5 and 4.8 to 4.11.
void add_oblique(Page& page, const P1Runs& runs);
// p1_energy.cpp: chapter 5's comparisons and the laws side by side.
void add_energy(Page& page, const P1Runs& runs, const std::string& folder);
// p1_leg.cpp: chapter 6.
void add_leg(Page& page, const std::string& folder);
// p1_appendix.cpp: appendix A.
void add_appendix(Page& page, const std::string& folder);

}  // namespace saltus::cli
