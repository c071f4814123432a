// Files of the command line: written under another name until they are whole.
#pragma once
#include <cstdio>
#include <functional>
#include <string>

namespace saltus::cli {

// `write` may throw std::system_error. Throws InputError with the reason; then an older file stays.
void write_file(const std::string& path, const std::function<void(std::FILE*)>& write);
void write_file(const std::string& path, const std::string& text);

}  // namespace saltus::cli
