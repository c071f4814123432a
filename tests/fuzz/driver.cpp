// The short form of the fuzz targets, for a build without libFuzzer: inputs made of the seeds by a
// seeded generator, the same every time.
//   driver FOLDER DICTIONARY COUNT [SEED]
// An input that ends the program, or takes longer than 10 s of the processor (a busy machine may
// take as long as it likes; ctest has a limit of wall time), is left in fuzz-last-input.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> seeds_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // the order of a folder is not the same everywhere
  std::vector<std::string> all;
  for (const auto& path : paths) all.push_back(contents(path));
  return all;
}

// Lines "word" of a dictionary of libFuzzer, without its escapes.
std::vector<std::string> words_in(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> words;
  for (std::string line; std::getline(in, line);)
    if (line.size() > 2 && line.front() == '"' && line.find('\\') == std::string::npos)
      words.push_back(line.substr(1, line.rfind('"') - 1));
  return words;
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::vector<std::string> words, unsigned seed)
      : seeds_(std::move(seeds)), words_(std::move(words)), random_(seed) {}

  std::string next() {
    std::string text = one_of(seeds_);
    for (std::size_t k = 1 + below(4); k > 0; --k) mutate(text);
    return text;
  }

 private:
  static constexpr std::size_t longest = 4096;

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& one_of(const std::vector<std::string>& list) {
    return list[below(list.size())];
  }
  // A piece between two separators, so that it is often a word or an element.
  std::string piece(const std::string& text) {
    const std::size_t from = below(text.size());
    return text.substr(from, 1 + below(60));
  }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(8)) {
      case 0: text.insert(at, one_of(words_)); break;
      case 1: text.replace(at, std::min(text.size() - at, 1 + below(12)), one_of(words_)); break;
      case 2: text.erase(at, 1 + below(40)); break;
      case 3: text.insert(at, piece(text)); break;
      case 4: text.insert(at, piece(one_of(seeds_))); break;
      case 5:
        if (!text.empty()) text[at] = static_cast<char>(below(256));
        break;
      case 6: number(text, at); break;
      default: text.resize(at); break;
    }
    if (text.size() > longest) text.resize(longest);
  }

  // The next number from here on becomes another.
  void number(std::string& text, std::size_t at) {
    static const std::vector<std::string> numbers{
        "0",    "-1",   "1e308", "1e-320", "nan", "inf",   "1e9", "2147483648",
        "-1e5", "1e16", "0.5",   "3",      "",    "1 1 1", "7e2", "99999999999"};
    const std::size_t first = text.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const std::size_t last = text.find_first_not_of("0123456789.eE+-", first);
    text.replace(first, std::min(last, text.size()) - first, one_of(numbers));
  }

  std::vector<std::string> seeds_, words_;
  std::mt19937 random_;  // its numbers are the same on every machine
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int longest_s = 100;  // they take some ten times as long
#else
constexpr int longest_s = 10;
#endif
std::string current;  // for the signal handler

// Only what a signal handler may call.
void leave_input() {
  const int file = open("fuzz-last-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, current.data(), current.size()) < 0) _exit(3);
  close(file);
}
extern "C" void on_signal(int number) {
  leave_input();
  constexpr char message[] = "fuzz: a crash or no end; the input is in fuzz-last-input\n";
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0) _exit(3);
  _exit(128 + number);
}

// SIGPROF after so many seconds of the processor; 0: never.
void limit_time(int seconds) {
  itimerval time{};
  time.it_value.tv_sec = seconds;
  if (setitimer(ITIMER_PROF, &time, nullptr) != 0) _exit(3);
}

void feed(const std::string& text) {
  current = text;
  limit_time(longest_s);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  limit_time(0);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) {
    std::cerr << "usage: driver FOLDER DICTIONARY COUNT [SEED]\n";
    return 2;
  }
  const std::vector<std::string> seeds = seeds_in(arguments[1]), words = words_in(arguments[2]);
  if (seeds.empty() || words.empty()) {
    std::cerr << "no seeds in " << arguments[1] << " or no words in " << arguments[2] << '\n';
    return 2;
  }
  const int count = std::stoi(arguments[3]);
  const unsigned seed = arguments.size() > 4 ? static_cast<unsigned>(std::stoul(arguments[4])) : 1;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF})
    std::signal(number, on_signal);
  for (const std::string& text : seeds) feed(text);
  Mutator mutator(seeds, words, seed);
  for (int i = 0; i < count; ++i) feed(mutator.next());
  std::cout << seeds.size() << " seeds and " << count << " mutations\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv, argv + argc});
  } catch (const std::exception& e) {
    leave_input();
    std::cerr << "fuzz: an exception that is no InputError: " << e.what()
              << "\nfuzz: the input is in fuzz-last-input\n";
    return 1;
  }
}
