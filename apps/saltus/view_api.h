// What the viewer asks the server for: the runs, their rows, decimated series, and the state of a
// run that is still computed. docs/viewer.md lists the requests.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/saltus/live.h"
#include "apps/saltus/server.h"
#include "apps/saltus/view_series.h"
#include "saltus/runs/run_file.h"

namespace saltus::cli {

// Runs open for reading. HDF5 bears one thread at a time: every use holds the mutex.
class ViewApi {
 public:
  // Opens now; throws InputError for a file that is no run.
  explicit ViewApi(const std::vector<std::string>& paths, LiveControl* live = nullptr);
  // A run that is about to be written: opened when it is there. A file that has the name already
  // is an older one, which the run will replace.
  ViewApi(std::string path, LiveControl& live);

  void install(LocalServer& server);

 private:
  struct Served {
    std::string path;
    std::unique_ptr<RunReader> reader;
    std::uintmax_t older = 0;  // the file number of what is to be replaced
    ContactList contacts = {};
  };
  const RunReader& reader(std::size_t index);
  [[nodiscard]] HttpReply patiently(const std::function<HttpReply()>& answer);
  [[nodiscard]] HttpReply runs();
  [[nodiscard]] HttpReply status();
  [[nodiscard]] HttpReply data(const HttpQuery& query);
  [[nodiscard]] HttpReply series(const HttpQuery& query);
  [[nodiscard]] HttpReply contacts(const HttpQuery& query);
  [[nodiscard]] HttpReply modes(const HttpQuery& query);
  [[nodiscard]] HttpReply impacts(const HttpQuery& query);
  [[nodiscard]] HttpReply steer(const HttpQuery& query);

  std::mutex mutex_;
  std::vector<Served> runs_;
  LiveControl* live_ = nullptr;
};

// The description of a run that the page starts from, without rows.
[[nodiscard]] nlohmann::ordered_json describe_run(const std::string& path, const RunReader& run);

}  // namespace saltus::cli
