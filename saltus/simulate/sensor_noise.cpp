// Noise, bias and resolution of sensors. A reading's noise depends on the seed, the sensor's name
// and its number, and on nothing else: not on other sensors, on threads, or on where a run resumed.
#include <cmath>

#include "saltus/lie/so3.h"
#include "saltus/simulate/sensors.h"

namespace saltus {

namespace {

// splitmix64 (Steele, Lea, Flood 2014) as a function of a counter.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

constexpr int words = 12;  // of two uniform numbers each

}  // namespace

std::uint64_t stream_of(const Sensor& s) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : s.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return mix(mix(s.seed) ^ hash);
}

double normal_number(std::uint64_t stream, std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t x = mix(stream ^ mix(n * words + i));
    sum += (x & 0xFFFFFFFFULL) + (x >> 32);
  }
  // 24 numbers of mean (2^32 - 1)/2 and variance 2^64/12: the mean is an integer, and so exact.
  constexpr std::int64_t mean = 12 * 0xFFFFFFFFLL;
  return static_cast<double>(static_cast<std::int64_t>(sum) - mean) *
         (0x1p-32 / 1.4142135623730951);
}

void SensorBank::spoil(const Sensor& s, std::uint64_t count, double* x) const {
  const auto groups = groups_of(s);
  for (std::size_t i = 0; i < s.bias.size(); ++i) x[i] += s.bias[i];
  int noises = 0;
  for (const SensorGroup& g : groups) noises += g.noises;
  if (!s.noise.empty()) {
    const std::uint64_t stream = stream_of(s);
    std::uint64_t n = count * static_cast<std::uint64_t>(noises);
    double* at = x;
    std::size_t noisy = 0;
    for (const SensorGroup& g : groups) {
      if (g.noises == 0) continue;
      const double sigma = s.noise[noisy++];
      if (g.noises == g.values) {
        for (int i = 0; i < g.values; ++i) at[i] += sigma * normal_number(stream, n++);
      } else {  // a quaternion: turned about the axes of its frame
        Vec3 turn;
        for (int i = 0; i < 3; ++i) turn[i] = sigma * normal_number(stream, n++);
        const Quat p = Quat(at[0], at[1], at[2], at[3]) * exp_quat(turn);
        at[0] = p.w();
        at[1] = p.x();
        at[2] = p.y();
        at[3] = p.z();
      }
      at += g.values;
    }
  }
  if (s.resolution > 0)
    for (std::size_t i = 0; i < s.joints.size(); ++i)
      x[i] = s.resolution * std::round(x[i] / s.resolution);
}

}  // namespace saltus
