// A run that is watched while it computes: the simulation is the parent process, the server a
// child, and both map this block. (HDF5 bears one thread, so they are processes, not threads.)
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace saltus::cli {

struct LiveControl {
  std::atomic<bool> paused{false};       // asked for by the page
  std::atomic<bool> waiting{false};      // the simulation stands still
  std::atomic<bool> running{true};       // false when the run has ended
  std::atomic<std::int64_t> granted{0};  // frames that may still be computed while paused
  static_assert(std::atomic<bool>::is_always_lock_free);
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

// In memory that a forked child shares.
using SharedControl = std::unique_ptr<LiveControl, void (*)(LiveControl*)>;
[[nodiscard]] SharedControl share_control();

// Called by the simulation after each frame: waits while the page has paused the run. `flush` shows
// readers what is there so far; the wait ends when `stop` turns true.
void wait_while_paused(LiveControl& control, const std::function<void()>& flush,
                       const std::function<bool()>& stop);

// Runs `serve` in a child process that ends with this one; returns its process id.
int fork_server(const std::function<void()>& serve);
void end_server(int process);

}  // namespace saltus::cli
