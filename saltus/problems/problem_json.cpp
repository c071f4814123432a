// Our own problem files: JSON, in which every double is written so that it reads back to the bit.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "saltus/problems/problem_parts.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

Json bound(double x) {
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

struct LawWriter {
  Json operator()(const Bilateral& l) const { return {{"rows", l.dim}}; }
  Json operator()(const Unilateral&) const { return Json::object(); }
  Json operator()(const Interval& l) const {
    return {{"lower", bound(l.lower)}, {"upper", bound(l.upper)}};
  }
  // What is left out is the ellipse with its normal cone.
  static Json sides(Json j, double back, SlipRule rule) {
    if (back >= 0) j["back"] = back;
    if (rule == SlipRule::hu) j["rule"] = "hu";
    return j;
  }
  Json operator()(const GivenLoad& l) const {
    return sides({{"axes", {l.a, l.b}}}, l.back, l.rule);
  }
  Json operator()(const Coulomb& l) const {
    return sides({{"mu", {l.mu1, l.mu2}}}, l.back, l.rule);
  }
  Json operator()(const Coulomb2& l) const { return {{"mu", l.mu}}; }
  Json operator()(const RollingCoulomb& l) const {
    return {{"mu", {l.mu1, l.mu2}}, {"rolling", l.mu_rolling}, {"drilling", l.mu_drilling}};
  }
};

Json vector(VecIn x) { return std::vector<double>(x.begin(), x.end()); }
Json matrix(const Eigen::Ref<const Mat>& A) {  // a list of rows
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < A.rows(); ++i) rows.push_back(vector(Vec(A.row(i))));
  return rows;
}

// Values with their address inside the document.
class Value {
 public:
  Value(const std::string& path, std::string at, const Json& json)
      : path_(path), at_(std::move(at)), json_(json) {}
  [[nodiscard]] InputError error(const std::string& message) const {
    return problem_file::refuse(where(), message);
  }
  [[nodiscard]] std::string where() const {
    return fmt::format("{}: {}", path_, at_.empty() ? "document" : at_);
  }
  [[nodiscard]] bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  [[nodiscard]] Value operator[](const char* key) const {
    if (!has(key)) throw error(fmt::format("'{}' is missing", key));
    return {path_, at_.empty() ? key : fmt::format("{}.{}", at_, key), json_.at(key)};
  }
  [[nodiscard]] Value at(std::size_t i) const {
    return {path_, fmt::format("{}[{}]", at_, i), json_.at(i)};
  }
  [[nodiscard]] std::size_t size() const {
    if (!json_.is_array()) throw error("expected a list");
    return json_.size();
  }
  [[nodiscard]] std::string text() const {
    if (!json_.is_string()) throw error("expected a text");
    return json_.get<std::string>();
  }
  [[nodiscard]] double real() const {
    if (!json_.is_number()) throw error("expected a number");
    const auto x = json_.get<double>();
    if (!std::isfinite(x)) throw error("expected a finite number");
    return x;
  }
  [[nodiscard]] double bound() const {
    if (json_.is_string()) {
      if (text() == "inf") return infinity;
      if (text() == "-inf") return -infinity;
      throw error("expected a number, \"inf\" or \"-inf\"");
    }
    return real();
  }
  [[nodiscard]] double at_least_zero() const {
    const double x = real();
    if (x < 0) throw error(fmt::format("expected a number >= 0, got {}", x));
    return x;
  }
  [[nodiscard]] Vec vector(std::size_t n) const {
    if (size() != n) throw error(fmt::format("{} values, expected {}", size(), n));
    Vec x(static_cast<Eigen::Index>(n));
    for (std::size_t i = 0; i < n; ++i) x[static_cast<Eigen::Index>(i)] = at(i).real();
    return x;
  }
  [[nodiscard]] Mat matrix(std::size_t rows, std::size_t columns) const {
    if (size() != rows) throw error(fmt::format("{} rows, expected {}", size(), rows));
    Mat A(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    for (std::size_t i = 0; i < rows; ++i)
      A.row(static_cast<Eigen::Index>(i)) = at(i).vector(columns).transpose();
    return A;
  }

 private:
  const std::string& path_;
  std::string at_;
  const Json& json_;
};

Law read_law(const Value& v) {
  const std::string name = v["law"].text();
  const auto pair = [&](const char* key) {
    const Value list = v[key];
    if (list.size() != 2) throw list.error("expected two numbers");
    return Vec2(list.at(0).at_least_zero(), list.at(1).at_least_zero());
  };
  if (name == Bilateral::name) {
    const double rows = v["rows"].real();
    if (rows != std::floor(rows) || rows < 1 || rows > 6)
      throw v["rows"].error(fmt::format("expected an integer from 1 to 6, got {}", rows));
    return Bilateral{static_cast<int>(rows)};
  }
  if (name == Unilateral::name) return Unilateral{};
  if (name == Interval::name) {
    const Interval law{v["lower"].bound(), v["upper"].bound()};
    if (!(law.lower <= law.upper)) throw v.error("lower exceeds upper");
    return law;
  }
  const double back = v.has("back") ? v["back"].at_least_zero() : -1;
  if (v.has("rule") && v["rule"].text() != "hu") throw v["rule"].error("expected 'hu'");
  const SlipRule rule = v.has("rule") ? SlipRule::hu : SlipRule::normal_cone;
  if (name == GivenLoad::name) return GivenLoad{pair("axes")[0], pair("axes")[1], back, rule};
  if (name == Coulomb::name) return Coulomb{pair("mu")[0], pair("mu")[1], back, rule};
  if (name == Coulomb2::name) return Coulomb2{v["mu"].at_least_zero()};
  if (name == RollingCoulomb::name)
    return RollingCoulomb{pair("mu")[0], pair("mu")[1], v["rolling"].at_least_zero(),
                          v["drilling"].at_least_zero()};
  throw v["law"].error(
      "expected bilateral, unilateral, interval, given-load, coulomb, coulomb-2d "
      "or coulomb-rolling");
}

void read_document(const Value& v, ProblemFile& out) {
  const double version = v["version"].real();
  if (version != 1) throw v["version"].error(fmt::format("expected 1, got {}", version));
  out.title = v["title"].text();
  out.tolerance = v["tolerance"].at_least_zero();
  const Value blocks = v["blocks"];
  struct Entry {
    Law law;
    double compliance, length;
  };
  std::vector<Entry> list;
  int rows = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Value b = blocks.at(i);
    list.push_back({read_law(b), b["compliance"].at_least_zero(), b["length"].real()});
    if (!(list.back().length > 0)) throw b["length"].error("expected a positive number");
    rows += rows_of(list.back().law);
    out.names.push_back(b.has("name") ? b["name"].text() : fmt::format("block {}", i));
  }
  if (rows == 0 || rows > problem_file::most_dense_rows)
    throw blocks.error(
        fmt::format("{} rows, expected 1 to {}", rows, problem_file::most_dense_rows));
  Inclusion& p = out.problem;
  const auto n = static_cast<std::size_t>(rows);
  const bool velocity = v.has("W"), delassus = v.has("G");
  if (!velocity && !delassus) throw v.error("expected 'G', or 'W', 'Y', 'v_free' and 'b'");
  const std::size_t nv = velocity ? v["W"].size() : 0;
  p.reserve(rows, static_cast<int>(list.size()), 0);
  for (const Entry& e : list) p.add(e.law, e.compliance, e.length);
  p.c = v["c"].vector(n);
  if (delassus) {
    p.G = v["G"].matrix(n, n);
    problem_file::check_delassus(v["G"].where(), p.G.sparseView(), out.asymmetry, out.indefinite);
    p.has_G = true;
  }
  if (velocity) {
    p.W = v["W"].matrix(nv, n);
    p.Y = v["Y"].matrix(nv, n);
    p.v_free = v["v_free"].vector(nv);
    p.b = v["b"].vector(n);
    const auto product = [&] { return Mat(p.W.transpose() * p.Y); };
    if (!delassus)
      problem_file::check_delassus(v["Y"].where(), product().sparseView(), out.asymmetry,
                                   out.indefinite);
  }
  if (velocity && v.has("M")) {
    p.M = v["M"].matrix(nv, nv);
    double asymmetry = 0, indefinite = 0;
    problem_file::check_delassus(v["M"].where(), p.M.sparseView(), asymmetry, indefinite);
    p.has_M = true;
  }
  out.Lambda = v["Lambda"].vector(n);
  out.dimension = 0;
}

}  // namespace

void problem_file::read_json(const std::string& path, const std::string& text, ProblemFile& out) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception& e) {
    std::string reason = e.what();  // "[json.exception...] parse error at line 3, column 7: ..."
    if (const auto end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    throw refuse(path, reason);
  }
  const Value root(path, "", document);
  if (!root.has("format") || root["format"].text() != "saltus-problem")
    throw root.error("expected \"format\": \"saltus-problem\"");
  read_document(root, out);
  out.format = "saltus";
  out.path = path;
}

void write_problem(const std::string& path, const Inclusion& p, VecIn Lambda,
                   const std::vector<std::string>& names, double tolerance,
                   const std::string& title) {
  Json j = {
      {"format", "saltus-problem"}, {"version", 1}, {"title", title}, {"tolerance", tolerance}};
  Json blocks = Json::array();
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    Json block = std::visit(LawWriter{}, k.law);
    block["law"] = std::visit([](const auto& l) { return std::string(l.name); }, k.law);
    block["compliance"] = k.compliance;
    block["length"] = k.length;
    if (b < names.size()) block["name"] = names[b];
    blocks.push_back(std::move(block));
  }
  const int n = p.rows;
  j["blocks"] = std::move(blocks);
  j["c"] = vector(p.c.head(n));
  if (p.has_G) j["G"] = matrix(p.G.topLeftCorner(n, n));
  if (!p.has_G || p.has_M) {
    j["W"] = matrix(p.W.leftCols(n));
    j["Y"] = matrix(p.Y.leftCols(n));
    j["v_free"] = vector(p.v_free);
    j["b"] = vector(p.b.head(n));
  }
  if (p.has_M) j["M"] = matrix(p.M);
  j["Lambda"] = vector(Lambda.head(n));
  std::ofstream file(path, std::ios::binary);
  file << j.dump() << '\n';
  file.close();
  if (!file)
    throw problem_file::refuse(path, "cannot write: " + std::generic_category().message(errno));
}

}  // namespace saltus
