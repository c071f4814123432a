// Problem files: round trips to the bit, what is refused and how it is said, and a short fuzz.
#include "saltus/problems/problem_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "saltus/base/error.h"
#include "saltus/solvers/conflict.h"
#include "saltus/solvers/literature.h"
#include "saltus/solvers/solve.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

namespace saltus {
namespace {

using namespace test;
namespace fs = std::filesystem;

std::string path_of(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / "saltus_problem_file";
  fs::create_directories(folder);
  return (folder / name).string();
}
std::string write(const std::string& name, const std::string& text) {
  const std::string path = path_of(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The message of a file that is refused.
std::string refusal(const std::string& text) {
  const std::string path = write("bad.dat", text);
  try {
    static_cast<void>(read_problem(path));
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.rfind(path, 0), 0U) << what;
    return what.substr(path.size());
  }
  return "accepted";
}

const std::string one_contact = "3\n1\n0\n3\n3\n3 3\n15 -1 -2\n-1 14 1\n-2 1 16\n-1 2 3\n0.1\n";

TEST(Text, OneContact) {
  const ProblemFile f = read_problem(write("one.dat", one_contact));
  EXPECT_EQ(f.problem.rows, 3);
  EXPECT_EQ(f.problem.G(0, 2), -2);
  EXPECT_EQ(f.problem.c[1], 2);
  EXPECT_EQ(std::get<Coulomb>(f.problem.blocks[0].law).mu1, 0.1);
}

TEST(Text, GlobalIsReduced) {  // a point mass of 2 kg on the ground, and the same as sparse text
  const std::string dense =
      "3 1\n0 3 3 3 3\n2 0 0 0 2 0 0 0 2\n0 3 3 3 3\n0 0 1 1 0 0 0 1 0\n0 0 -4\n0.5 0 0\n0.3\n";
  const std::string sparse =
      "3 1\n2 3 3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 3 nnz: 3\n0 0 : 2\n1 1 : 2\n2 2 : 2\n"
      "2 3 3\n2\nCSparse\n3-by-3, nzmax: 3 nnz: 3, 1-norm: 1\ncol 0 : locations 0 to 0\n2 : 1\n"
      "col 1 : locations 1 to 1\n0 : 1\ncol 2 : locations 2 to 2\n1 : 1\n0 0 -4\n0.5 0 0\n0.3\n";
  for (const std::string& text : {dense, sparse}) {
    const ProblemFile f = read_problem(write("global.dat", text));
    EXPECT_TRUE(f.global);
    EXPECT_EQ(f.problem.G, 0.5 * Mat::Identity(3, 3));
    EXPECT_EQ(f.problem.c, Vec3(-1.5, 0, 0));
  }
}

TEST(Text, RefusalsNameTheLine) {
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = one_contact;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string what = refusal(text);
    EXPECT_NE(what.find(part), std::string::npos) << "'" << what << "' lacks '" << part << "'";
  };
  expect("", "the file is empty");
  expect("3\n1\n0\n", ":4: the file ends before");
  expect("3\n1\n0\n3\n3\n3 3\n15 -1 -2\n", "the file ends within the 3 x 3 matrix");
  expect(replaced("0.1", "-0.1"), ":11: mu[0]: expected a number >= 0, got -0.1");
  expect(replaced("14", "nan"), ":8: an entry of the matrix: expected a finite number");
  expect(replaced("14", "1e999"), ":8: an entry of the matrix: '1e999' is out of range");
  expect(replaced("14", "x14"), ":8: an entry of the matrix: expected a number, got 'x14'");
  expect(replaced("-1 14", "-5 14"), "not symmetric: entries (0, 1) and (1, 0) differ by 0.25");
  expect(replaced("14", "-14"), "the matrix is indefinite: diagonal entry 1 is -14");
  expect(replaced("14 1", "0.001 9"), "not symmetric");
  expect(replaced("3\n1\n", "7\n1\n"), ":1: rows of a contact: expected an integer from 2 to 5");
  expect(replaced("3\n1\n", "3\n1.5\n"), ":2: number of contacts");
  expect(replaced("3 3\n15", "3 4\n15"), ":6: the dense matrix is 3 x 4, announced as 3 x 3");
  expect(replaced("0.1\n", "0.1 1 1\n"), ":9: 6 values follow the first matrix");
  expect("2 2\n0 4 4 4 4\n1 0 2 0 0 1 0 0 2 0 1 0 0 0 0 1\n0 0 0 0\n1 1\n", "indefinite");
}

TEST(Json, RoundTripToTheBit) {
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    Inclusion p = random_heap(random, {.elliptic = true, .rolling = true, .mixed = true});
    if (seed % 3 == 1) p.has_M = false;
    if (seed % 3 == 2) p.has_G = false;
    p.blocks[0].compliance = random.log_uniform(1e-9, 1);
    p.blocks[0].length = 0.1;
    const Vec Lambda = random.vector(p.rows);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < p.blocks.size(); ++k) names.push_back("b" + std::to_string(k));
    const std::string path = path_of("round.json");
    write_problem(path, p, Lambda, names, 1e-9, "a \"title\"");
    const ProblemFile f = read_problem(path);
    EXPECT_EQ(f.title, "a \"title\"");
    EXPECT_EQ(f.tolerance, 1e-9);
    EXPECT_EQ(f.names, names);
    EXPECT_EQ(f.Lambda, Lambda);
    EXPECT_EQ(f.problem.c, p.c);
    EXPECT_EQ(f.problem.has_G, p.has_G);
    EXPECT_EQ(f.problem.has_M, p.has_M);
    if (p.has_G) { EXPECT_EQ(f.problem.G, p.G); }
    ASSERT_EQ(f.problem.blocks.size(), p.blocks.size());
    // The same solution, bit by bit.
    const auto solution = [&](const Inclusion& q) {
      SolverWorkspace work;
      work.reserve(q.rows, static_cast<int>(q.blocks.size()), static_cast<int>(q.W.rows()));
      Vec x = Lambda;
      static_cast<void>(solve_inclusion(q, x, AutoSolver{}, work));
      return x;
    };
    EXPECT_EQ(solution(f.problem), solution(p)) << "seed " << seed;
  }
}

TEST(Json, Refusals) {
  EXPECT_NE(refusal("{\n\"format\": \n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("{}").find("expected \"format\""), std::string::npos);
  const std::string head =
      R"({"format":"saltus-problem","version":1,"title":"","tolerance":0,"blocks":[)";
  EXPECT_NE(refusal(head + R"({"law":"coulomb","mu":[1,-1],"compliance":0,"length":1}]})")
                .find("blocks[0].mu[1]: expected a number >= 0, got -1"),
            std::string::npos);
  EXPECT_NE(refusal(head + R"({"law":"glue","compliance":0,"length":1}]})").find("blocks[0].law"),
            std::string::npos);
  EXPECT_NE(
      refusal(head + R"({"law":"unilateral","compliance":0,"length":1}],"c":[0,1],"G":[[1]]})")
          .find("c: 2 values, expected 1"),
      std::string::npos);
}

// Whatever was read ends in a report, also where it has no solution.
void solve_briefly(ProblemFile& f, std::uint64_t seed) {
  const Inclusion& p = f.problem;
  if (p.rows > 30) return;
  SolverWorkspace work;
  work.reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
  AutoSolver o;
  o.max_iterations = 50;
  const SolveReport r = solve_inclusion(p, f.Lambda, o, work);
  EXPECT_TRUE(f.Lambda.allFinite()) << "seed " << seed;
  EXPECT_EQ(r.converged, r.residual <= o.tolerance) << "seed " << seed;
  if (!r.converged) static_cast<void>(find_conflict(p, 1e-9));
}

// Mutated and truncated files: read or refused, never anything else. Longer under SALTUS_SOAK=1.
void fuzz(const std::string& name, const std::string& original, int rounds) {
  int refused = 0;
  const std::string path = path_of("fuzz_" + name);
  for (const auto seed : seeds(1, rounds)) {
    Random random(seed);
    std::string text = original;
    const int changes = random.integer(1, 4);
    for (int k = 0; k < changes && !text.empty(); ++k) {
      const auto at =
          static_cast<std::size_t>(random.integer(0, static_cast<int>(text.size()) - 1));
      switch (random.integer(0, 4)) {
        case 0: text[at] = static_cast<char>(random.integer(0, 255)); break;
        case 1: text[at] = "0123456789-.e {}[],:\n"[random.integer(0, 20)]; break;
        case 2: text.erase(at, static_cast<std::size_t>(random.integer(1, 20))); break;
        case 3:
          text.insert(at, text.substr(at, static_cast<std::size_t>(random.integer(1, 20))));
          break;
        default: text.resize(at);
      }
    }
    std::ofstream(path, std::ios::binary) << text;
    try {
      ProblemFile f = read_problem(path);
      solve_briefly(f, seed);
    } catch (const InputError& e) {
      ++refused;
      EXPECT_EQ(std::string(e.what()).rfind(path, 0), 0U) << e.what() << ", seed " << seed;
    }
  }
  std::printf("[   FUZZ   ] %s: %d of %d refused\n", name.c_str(), refused, rounds);
}

TEST(Fuzz, ReadOrRefused) {
  const bool soak = std::getenv("SALTUS_SOAK") != nullptr;
  const int rounds = soak ? 20000 : 300;
  fuzz("one.dat", one_contact, rounds);
  const Inclusion p = box_tower(1, 1, 3, 0.5).problem();
  write_problem(path_of("seed.json"), p, Vec::Zero(p.rows), {}, 1e-10, "fuzz");
  fuzz("seed.json", slurp(path_of("seed.json")), rounds);
  const fs::path shared = fs::path(SALTUS_SOURCE_DIR) / "../shared/fclib/problems";
  for (const char* name :
       {"gfc2d_granularflowonwall_00069_00350.dat", "Rover1039.dat", "OneObject-i1028-138.hdf5.dat",
        "RFC3D_sphere_1.dat", "local_problem_test.hdf5", "LMGC_GFC3D-i00001-1-00000.hdf5"})
    if (fs::exists(shared / name)) fuzz(name, slurp((shared / name).string()), rounds / 10);
}

TEST(Literature, OneContactByHand) {
  // r = (1, 0.2, 0), u = 0: inside the cone, solved. r = (1, 1, 0), mu = 0.5: n = (1 + 0.5)/1.25.
  Inclusion p;
  p.reserve(3, 1, 0);
  p.add(Coulomb{0.5, 0.5}, 0, 1);
  p.G.setZero();
  p.has_G = true;
  SolverWorkspace work;
  work.reserve(3, 1, 0);
  EXPECT_EQ(literature_residual(p, Vec3(1, 0.2, 0), work).absolute, 0);
  EXPECT_NEAR(literature_residual(p, Vec3(1, 1, 0), work).absolute, std::hypot(0.2, 0.4), 1e-15);
}

}  // namespace
}  // namespace saltus
