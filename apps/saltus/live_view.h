// `saltus run --view`: a server beside the simulation.
#pragma once
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "apps/saltus/live.h"

namespace saltus::cli {

class LiveView {
 public:
  // Starts the server of a run that is about to be written to `path`, and prints its
  // address to `out`.
  LiveView(std::FILE* out, const std::string& path, std::optional<int> port, bool no_browser);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // After each frame; see wait_while_paused().
  void frame(const std::function<void()>& flush, const std::function<bool()>& stop);
  // The run has ended; keeps the page up until `stop`.
  void linger(const std::function<bool()>& stop);

 private:
  std::FILE* out_;
  SharedControl control_;
  int server_ = 0;
};

// A folder for a run that nobody asked to keep; it goes with this object.
class TemporaryRun {
 public:
  TemporaryRun();
  ~TemporaryRun();
  TemporaryRun(const TemporaryRun&) = delete;
  TemporaryRun& operator=(const TemporaryRun&) = delete;
  [[nodiscard]] std::string path() const { return folder_ + "/run.h5"; }

 private:
  std::string folder_;
};

}  // namespace saltus::cli
