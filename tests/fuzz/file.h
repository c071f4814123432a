// For readers that take a path: the input as a file of this process, in memory where there is such
// a folder.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "check.h"

namespace saltus {

inline std::string as_file(const std::uint8_t* data, std::size_t size, const char* ending) {
  static const std::string folder = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
  const std::string path = folder + "/saltus_fuzz_" + std::to_string(getpid()) + ending;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return path;
}

}  // namespace saltus
