#include "apps/saltus/write_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "saltus/base/error.h"
#include "saltus/runs/run_file.h"

namespace saltus::cli {

void write_file(const std::string& path, const std::function<void(std::FILE*)>& write) {
  require_replaceable(path);
  const std::string part = path + ".part";
  const auto refuse = [&] {
    const std::string reason = std::generic_category().message(errno);
    std::remove(part.c_str());
    return InputError(fmt::format("{}: cannot write: {}", path, reason));
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(part.c_str(), "wb"), &std::fclose);
  if (!out) throw refuse();
  try {
    write(out.get());
  } catch (const std::system_error& e) {
    errno = e.code().value();
    throw refuse();
  }
  if (std::fclose(out.release()) != 0) throw refuse();
  if (std::rename(part.c_str(), path.c_str()) != 0) throw refuse();
}

void write_file(const std::string& path, const std::string& text) {
  write_file(path, [&](std::FILE* out) {
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size())
      throw std::system_error(errno, std::generic_category());
  });
}

}  // namespace saltus::cli
