// Figures and seeds of a test, printed whether it passes or not.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace saltus::test {

inline constexpr double eps = std::numeric_limits<double>::epsilon();  // 2.2e-16

// The part above zero; lets NaN through, unlike std::max.
inline double excess(double x) { return x <= 0 ? 0 : x; }

// The seeds first, first + 1, ..., printed at once: a failure can be run again by its seed.
inline std::vector<std::uint64_t> seeds(std::uint64_t first, int count) {
  std::vector<std::uint64_t> list;
  for (int k = 0; k < count; ++k) list.push_back(first + static_cast<std::uint64_t>(k));
  std::printf("[  SEEDS   ] mt19937_64: %llu..%llu\n",
              static_cast<unsigned long long>(list.front()),
              static_cast<unsigned long long>(list.back()));
  return list;
}

// The largest figure of a test beside its tolerance; a failure when it is larger or not a number.
class Worst {
 public:
  Worst(std::string what, double tolerance) : what_(std::move(what)), tolerance_(tolerance) {}
  Worst(const Worst&) = delete;
  Worst& operator=(const Worst&) = delete;
  ~Worst() {
    std::printf("[  WORST   ] %-52s %9.2e (tolerance %.1e)%s%s\n", what_.c_str(), largest_,
                tolerance_, where_.empty() ? "" : " at ", where_.c_str());
    EXPECT_GT(count_, 0) << what_ << ": nothing was measured";
    EXPECT_LE(largest_, tolerance_) << what_ << ", worst at " << where_;
  }
  void add(double figure, std::uint64_t seed) {
    if (!note(figure)) return;
    where_ = "seed " + std::to_string(seed);
  }
  void add(double figure, const std::string& where = "") {
    if (!note(figure)) return;
    where_ = where;
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  bool note(double figure) {
    ++count_;
    if (figure <= largest_) return false;
    largest_ = figure == figure ? figure : std::numeric_limits<double>::infinity();
    return true;
  }
  std::string what_, where_;
  double tolerance_, largest_ = 0;
  int count_ = 0;
};

}  // namespace saltus::test
