// Siconos' text format.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "saltus/problems/problem_parts.h"

namespace saltus::problem_file {

namespace {

class Lexer {
 public:
  Lexer(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  [[nodiscard]] std::string where() const { return fmt::format("{}:{}", path_, line_); }

  std::string_view token(const char* what) {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !space(text_[at_])) ++at_;
    if (begin == at_) throw refuse(where(), fmt::format("the file ends before {}", what));
    return text_.substr(begin, at_ - begin);
  }
  double real(const char* what) {
    std::string_view word = token(what);
    if (word.front() == '+') word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range)
      throw refuse(where(), fmt::format("{}: '{}' is out of range", what, printable(word)));
    if (error != std::errc{} || end != word.data() + word.size())
      throw refuse(where(), fmt::format("{}: expected a number, got '{}'", what, printable(word)));
    if (!std::isfinite(value))
      throw refuse(where(), fmt::format("{}: expected a finite number, got {}", what, value));
    return value;
  }
  int integer(const char* what, int least, int most) {
    const double value = real(what);
    if (value != std::floor(value) || value < least || value > most)
      throw refuse(where(), fmt::format("{}: expected an integer from {} to {}, got {}", what,
                                        least, most, value));
    return static_cast<int>(value);
  }
  // The next line that is not blank.
  std::string_view line(const char* what) {
    skip();
    const std::size_t begin = at_, end = std::min(text_.find('\n', at_), text_.size());
    if (begin == end) throw refuse(where(), fmt::format("the file ends before {}", what));
    at_ = end;
    return text_.substr(begin, end - begin);
  }
  void word(const char* expected) {
    if (const auto got = token(expected); got != expected)
      throw refuse(where(), fmt::format("expected '{}', got '{}'", expected, printable(got)));
  }
  void skip_blank() { skip(); }
  // How many words are left.
  [[nodiscard]] int remaining() const {
    int count = 0;
    bool inside = false;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      const bool blank = space(text_[i]);
      count += !blank && !inside;
      inside = !blank;
    }
    return count;
  }
  static std::string printable(std::string_view word) {
    std::string out(word.substr(0, 40));
    for (char& c : out)
      if (c < 32 || c > 126) c = '?';
    return out;
  }

 private:
  static bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  void skip() {
    while (at_ < text_.size() && space(text_[at_])) line_ += text_[at_++] == '\n';
  }
  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

struct Entries {
  int rows = 0, columns = 0;
  std::vector<Eigen::Triplet<double>> list;
};

void read_dense(Lexer& in, Entries& out) {
  const int rows = in.integer("rows of the dense matrix", 0, most_rows);
  const int columns = in.integer("columns of the dense matrix", 0, most_rows);
  if (std::max(rows, columns) > most_dense_rows)
    throw refuse(in.where(), fmt::format("a dense matrix of {} x {}: expected at most {} rows; "
                                         "larger ones sparse",
                                         rows, columns, most_dense_rows));
  if (rows != out.rows || columns != out.columns)
    throw refuse(in.where(), fmt::format("the dense matrix is {} x {}, announced as {} x {}", rows,
                                         columns, out.rows, out.columns));
  if (in.remaining() / std::max(rows, 1) < columns)
    throw refuse(in.where(), fmt::format("the file ends within the {} x {} matrix", rows, columns));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      if (const double x = in.real("an entry of the matrix"); x != 0)
        out.list.emplace_back(i, j, x);
}

std::vector<int> read_ends(Lexer& in, int count, int total, const char* what) {
  std::vector<int> ends;
  int last = 0;
  for (int i = 0; i < count; ++i) {
    ends.push_back(in.integer(what, last + 1, total));
    last = ends.back();
  }
  if (last != total)
    throw refuse(in.where(), fmt::format("{}: the last is {}, expected {}", what, last, total));
  return ends;
}

void read_blocks(Lexer& in, Entries& out) {
  const int words = in.remaining();
  const int blocks = in.integer("number of blocks", 0, words);
  const int rows = in.integer("number of block rows", 0, words);
  const int columns = in.integer("number of block columns", 0, words);
  const auto row_ends = read_ends(in, rows, out.rows, "end of a block row");
  const auto column_ends = read_ends(in, columns, out.columns, "end of a block column");
  const int filled1 = in.integer("filled1", 0, words), filled2 = in.integer("filled2", 0, words);
  if (filled1 > rows + 1 || filled2 != blocks || filled1 < 1)
    throw refuse(in.where(), fmt::format("filled1 = {} and filled2 = {} do not fit {} blocks in {} "
                                         "rows",
                                         filled1, filled2, blocks, rows));
  std::vector<int> starts, block_column;
  for (int i = 0; i < filled1; ++i)
    starts.push_back(in.integer("start of a block row", i > 0 ? starts.back() : 0, blocks));
  for (int i = 0; i < filled2; ++i)
    block_column.push_back(in.integer("column of a block", 0, std::max(columns - 1, 0)));
  for (int r = 0; r + 1 < filled1; ++r)
    for (int b = starts[r]; b < starts[r + 1]; ++b) {
      const int index = in.integer("index of a block", 0, std::max(blocks - 1, 0));
      if (index != b) throw refuse(in.where(), fmt::format("expected block {}, got {}", b, index));
      const int c = block_column[b];
      const int i0 = r > 0 ? row_ends[r - 1] : 0, j0 = c > 0 ? column_ends[c - 1] : 0;
      for (int j = j0; j < column_ends[c]; ++j)
        for (int i = i0; i < row_ends[r]; ++i)
          out.list.emplace_back(i, j, in.real("an entry of a block"));
    }
}

// The line "[triplet: ]m-by-n, nzmax: a nnz: b, ...", after at most a few others.
void read_sparse(Lexer& in, Entries& out) {
  std::string line;
  for (int k = 0; line.find("-by-") == std::string::npos; ++k) {
    if (k == 4)
      throw refuse(in.where(), "expected a line 'm-by-n, nzmax: a nnz: b' of a sparse matrix");
    line = in.line("the line 'm-by-n, nzmax: a nnz: b'");
  }
  const bool triplet = line.rfind("triplet:", 0) == 0;
  int m = 0, n = 0, nzmax = 0, nnz = 0;
  const char* shape = line.c_str() + (triplet ? 8 : 0);
  // NOLINTNEXTLINE(cert-err34-c): the counts are checked below and by reading as many entries
  if (std::sscanf(shape, " %9d-by-%9d, nzmax: %9d nnz: %9d", &m, &n, &nzmax, &nnz) != 4)
    throw refuse(in.where(), fmt::format("expected 'm-by-n, nzmax: a nnz: b', got '{}'",
                                         Lexer::printable(line)));
  if (m != out.rows || n != out.columns || nnz < 0 || nnz > in.remaining())
    throw refuse(in.where(), fmt::format("a {} x {} matrix with {} entries, announced as {} x {}",
                                         m, n, nnz, out.rows, out.columns));
  const int last_row = std::max(m - 1, 0), last_column = std::max(n - 1, 0);
  const auto value = [&] {
    in.word(":");
    return in.real("an entry of the sparse matrix");
  };
  if (triplet) {
    for (int k = 0; k < nnz; ++k) {
      const int i = in.integer("row of an entry", 0, last_row);
      const int j = in.integer("column of an entry", 0, last_column);
      out.list.emplace_back(i, j, value());
    }
    return;
  }
  int seen = 0;
  for (int j = 0; j < n; ++j) {
    in.word("col");
    in.integer("column", j, j);
    in.word(":");
    in.word("locations");
    const int first = in.integer("first location", seen, seen);
    in.word("to");
    const int last = in.integer("last location", first - 1, std::max(nnz - 1, first - 1));
    for (int k = first; k <= last; ++k, ++seen) {
      const int i = in.integer("row of an entry", 0, last_row);
      out.list.emplace_back(i, j, value());
    }
  }
  if (seen != nnz) throw refuse(in.where(), fmt::format("{} entries, announced as {}", seen, nnz));
}

Entries read_matrix(Lexer& in, const char* name) {
  const int storage = in.integer("storage of a matrix (0 dense, 1 sparse block, 2 sparse)", 0, 2);
  Entries out;
  out.rows = in.integer(name, 0, 6 * most_rows);
  out.columns = in.integer(name, 0, 6 * most_rows);
  if (storage == 0)
    read_dense(in, out);
  else if (storage == 1)
    read_blocks(in, out);
  else
    read_sparse(in, out);
  return out;
}

Vec read_vector(Lexer& in, int size, const char* name) {
  Vec x(size);
  for (double& entry : x) entry = in.real(name);
  return x;
}

Sparse sparse(const Entries& e) {
  Sparse A(e.rows, e.columns);
  A.setFromTriplets(e.list.begin(), e.list.end());
  return A;
}

}  // namespace

void read_text(const std::string& path, const std::string& text, int most_dense, ProblemFile& out) {
  Lexer in(path, text);
  Raw raw;
  raw.dimension = in.integer("rows of a contact", 2, 5);
  if (raw.dimension == 4) throw refuse(in.where(), "expected 2, 3 or 5 rows of a contact, got 4");
  raw.rolling = raw.dimension == 5;
  raw.contacts = in.integer("number of contacts", 1, most_rows / raw.dimension);
  const int m = raw.dimension * raw.contacts;
  raw.at_W = raw.at_M = in.where();
  Entries first = read_matrix(in, "size of the first matrix");
  const int tail = raw.contacts * (raw.rolling ? 2 : 1);  // mu, mu_r
  const int left = in.remaining();
  raw.global = first.rows != m || (left != m + tail && left != m + tail + 1);
  if (first.rows != first.columns)
    throw refuse(raw.at_W, fmt::format("the first matrix is {} x {}, expected a square one",
                                       first.rows, first.columns));
  if (!raw.global) {
    raw.W = sparse(first);
    raw.q = read_vector(in, m, "q");
  } else {
    // A truncated local file looks like this too.
    if (left < first.rows + m + tail)
      throw refuse(in.where(),
                   fmt::format("{} values follow the first matrix: too few for q and mu of {} "
                               "contacts, or for H, f, w and mu",
                               left, raw.contacts));
    raw.M = sparse(first);
    raw.at_H = in.where();
    const Entries second = read_matrix(in, "size of H");
    if (second.rows != first.rows || second.columns != m)
      throw refuse(raw.at_H, fmt::format("H is {} x {}, expected {} x {}", second.rows,
                                         second.columns, first.rows, m));
    raw.H = sparse(second);
    if (in.remaining() < first.rows + m + tail)
      throw refuse(in.where(), "the file ends before f, w and mu are complete");
    raw.f = read_vector(in, first.rows, "f");
    raw.w = read_vector(in, m, "w");
  }
  in.skip_blank();
  raw.at_mu = in.where();
  raw.mu = read_vector(in, raw.contacts, "mu");
  if (raw.rolling) raw.mu_r = read_vector(in, raw.contacts, "mu_r");
  if (in.remaining() > 1)  // one trailing token is the custom of some writers
    throw refuse(in.where(), fmt::format("{} more values than expected", in.remaining()));
  out.format = "siconos";
  build(path, raw, most_dense, out);
}

}  // namespace saltus::problem_file
