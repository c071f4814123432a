// The sweeps over a forest, for both dimensions; internal to forest*.cpp and who sweeps alike.
#pragma once
#include "saltus/solvers/forest.h"
#include "saltus/solvers/forest_kernels.h"

namespace saltus::forest_detail {

// --- the two dimensions -----------------------------------------------------------------------

template <int D>
Eigen::Matrix<double, D, 1> narrow(const Vec6& x) {
  if constexpr (D == 6)
    return x;
  else
    return {x[0], x[1], x[5]};
}
template <int D>
Vec6 widen(const Eigen::Matrix<double, D, 1>& x) {
  if constexpr (D == 6) {
    return x;
  } else {
    Vec6 y = Vec6::Zero();
    y[0] = x[0];
    y[1] = x[1];
    y[5] = x[2];
    return y;
  }
}

template <int D>
struct Sweeps {
  using Data = ForestData<D>;
  using V = typename Data::V;
  using M = typename Data::M;
  const ForestShape& s;
  Data& k;
  ForestFactor<D>& h;

  Sweeps(const ForestShape& shape, Data& data, bool with_extra = false)
      : s(shape), k(data), h(data.factor[with_extra ? 1 : 0]) {}

  // The first unknown of a singular pivot, or -1.
  int factor(int begin, int end, const Forest::Extra* extra);
  // From the wrenches -p of the stations (and b) to x and the twists a. x points at the unknown 0
  // of the forest, b likewise.
  void sweep(int begin, int end, const double* b, double* x);
  void solve(int begin, int end, const double* b, const Vec6* f, double* x,
             std::vector<Vec6>* twist);
  // One source only, a wrench -p on a station or a force on an unknown: the way back is a single
  // branch.
  void solve_branch(int node, const V& p, int unknown, double value, double* x_tree);
  void twists(int begin, int end, const double* x, std::vector<Vec6>& out);
  void gather(const Vec6* f, double* y);
  void multiply(int begin, int end, const double* x, double* y);
  void row(int node, const V& w, double* x_tree) const;
  void compliance(int begin, int end);
  [[nodiscard]] double compliance_of(int node, int unknown) const;

  // What these do, for the two dimensions: in space a function that is compiled for AVX2 too is
  // around it (forest_sweeps.cpp).
  SALTUS_KERNEL int plain_factor(int begin, int end, const Forest::Extra* extra);
  SALTUS_KERNEL void plain_sweep(int begin, int end, const double* b, double* x);
  SALTUS_KERNEL void plain_compliance(int begin, int end);

 private:
  [[nodiscard]] SALTUS_KERNEL bool eliminate(int i, const Forest::Extra* extra);
  template <int N>
  [[nodiscard]] SALTUS_KERNEL bool eliminate_body(int i, const Forest::Extra* extra);
  template <int N>
  [[nodiscard]] bool eliminate_element(int i, const Forest::Extra* extra);
  SALTUS_KERNEL void add_own(int i, const Forest::Extra* extra, double* pivot) const;
  void sweep_plane(int begin, int end, const double* b, double* x);
  // p of a node to u, and to p of its parent.
  SALTUS_KERNEL void backward(int i, const double* b);
  template <int N>
  SALTUS_KERNEL void backward_body(int i, const double* b);
  template <int N>
  void backward_element(int i, const double* b, int station);  // -1: all of its stations
  // u and the twist of the parent to x and the twists of the node's stations.
  SALTUS_KERNEL void forward(int i, double* x);
  template <int N>
  SALTUS_KERNEL void forward_body(int i, double* x);
  template <int N>
  void forward_element(int i, double* x);
  void move(int i, const double* x);             // a from the parent's and x
  void collect(int begin, int end, double* y);   // y from p, which is used up
  [[nodiscard]] int leader(int station) const {  // the first station of its element
    while (s.stations[station] == 0) --station;
    return station;
  }
};

extern template struct Sweeps<3>;
extern template struct Sweeps<6>;

}  // namespace saltus::forest_detail
