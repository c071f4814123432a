// Three kinds of failure, three words: InputError for bad input (thrown at the door), reports for
// numerical outcomes (returned), SALTUS_ASSERT for our own bugs.
#pragma once
#include <cassert>
#include <stdexcept>
#include <string>

namespace saltus {

// Bad input: a scene, a robot file, a command line, an API call. The text names the place and what
// was expected. `path` is the place inside a document (bodies[3].mass), if there is one: a reader
// that knows files and lines adds them.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
  InputError(const std::string& path, const std::string& message)
      : std::runtime_error(path + ": " + message), path_(path), message_(message) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string path_, message_;
};

}  // namespace saltus

#define SALTUS_ASSERT(condition) assert(condition)
