// The snake and the pile in any engine that has loose bodies and steps them: one loop for all, so
// that the engines differ by nothing else. A World is made with a friction coefficient and has
//
//   plane(normal, offset)      normal . x >= offset, the static surroundings
//   sphere(at, radius, mass)   a ball; the balls are numbered as they come
//   hinge(i, at)               about z, between balls i and i + 1; hinges are numbered as they come
//   drive(j, reference)        the controller of hinge j, before every step
//   step(dt)
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <vector>

#include "bench/peer_scenes.h"
#include "bench/register.h"

namespace saltus::bench {

using Point = std::array<double, 3>;

template <class W>
concept PeerWorld = std::constructible_from<W, double> && requires(W& w, const Point& p, double x) {
  w.plane(p, x);
  w.sphere(p, x, x);
  w.hinge(0, p);
  w.drive(0, x);
  w.step(x);
};

template <PeerWorld World>
void time_snake(benchmark::State& timer, int links) {
  using Snake = SnakeNumbers;
  World w(Snake::mu);
  w.plane({0, 0, 1}, 0);
  for (int i = 0; i < links; ++i)
    w.sphere({i * Snake::length, 0, Snake::radius}, Snake::radius, Snake::mass);
  for (int i = 0; i + 1 < links; ++i) w.hinge(i, {(i + 0.5) * Snake::length, 0, Snake::radius});
  double t = 0;
  const auto step = [&] {
    for (int j = 0; j + 1 < links; ++j) w.drive(j, Snake::reference(j + 1, t));
    w.step(1e-3);
    t += 1e-3;
  };
  for (int i = 0; i < 20; ++i) step();
  for (auto _ : timer) step();
}

// Settled for one second, once: every repetition goes on from there.
template <PeerWorld World>
struct SettledPile {
  World world{Pile::mu};
  explicit SettledPile(int spheres) {
    const double d = -Pile::half_width;
    world.plane({0, 0, 1}, 0);
    world.plane({1, 0, 0}, d);
    world.plane({-1, 0, 0}, d);
    world.plane({0, 1, 0}, d);
    world.plane({0, -1, 0}, d);
    for (const Point& c : Pile(spheres).centres) world.sphere(c, Pile::radius, Pile::mass());
    for (int i = 0; i < 1000; ++i) world.step(Pile::dt);
  }
};

template <PeerWorld World>
void time_pile(benchmark::State& timer) {
  static SettledPile<World> pile(1000);
  for (auto _ : timer) pile.world.step(Pile::dt);
}

template <PeerWorld World>
void add_snakes(const std::string& engine, const std::vector<int>& lengths) {
  for (const int links : lengths)
    add(fmt::format("snake/N={}/{}", links, engine),
        [links](benchmark::State& t) { time_snake<World>(t, links); });
}

template <PeerWorld World>
void add_pile(const std::string& engine) {
  add("pile/1000 spheres/" + engine, time_pile<World>)->Iterations(20);
}

}  // namespace saltus::bench
