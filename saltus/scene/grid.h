// Grids of numbers: gray images (PNG of 8 or 16 bits, PGM) and CSV; and those a generator makes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace saltus {

struct Grid {
  int nx = 0, ny = 0;
  std::vector<double> values;  // row by row, x runs fastest; the first row has the least y
};

// By what the file holds. Images: 0 black to 1 white, the top row has the greatest y. CSV: numbers
// as they are, separated by commas, semicolons or blanks, one row of equal length after the other
// from the least y up; # begins a comment. Throws InputError with the file and the line.
[[nodiscard]] Grid read_grid(const std::string& path);

// Value noise: `octaves` grids of random numbers in [-1, 1], each twice as fine and half as high as
// the one before, between which x and y are smoothed (6 t^5 - 15 t^4 + 10 t^3). An integer hash and
// sums and products alone: the same bits on every machine.
struct Noise {
  std::uint64_t seed = 0;
  int octaves = 4;
  double length = 1;  // between the random numbers of the first octave [m]
  [[nodiscard]] double at(double x, double y) const;
};
// The cell of width 1 that x lies in; 0 where numbers are too large (or none) to tell cells apart.
[[nodiscard]] std::int64_t cell_of(double x);
// A random number in [0, 1) of a place.
[[nodiscard]] double random_at(std::uint64_t seed, std::int64_t i, std::int64_t j);

}  // namespace saltus
