#include "apps/saltus/server_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace saltus::cli {

using namespace std::chrono_literals;

namespace {

constexpr auto write_time = 60s;     // for a whole answer
constexpr auto linger_time = 300ms;  // for what the client still sends
constexpr std::size_t linger_bytes = std::size_t{4} << 20;

}  // namespace

bool DeadlineStream::wait(short events, Clock::time_point until) const {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    // After the deadline, too, what is already here counts: the wait for a worker is not its fault.
    pollfd p{.fd = socket_, .events = events, .revents = 0};
    const int ready = ::poll(&p, 1, static_cast<int>(std::clamp<long long>(left, 0, 60'000)));
    if (ready > 0) return true;
    if (left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool DeadlineStream::is_readable() const { return at_ < end_ || wait(POLLIN, read_until_); }
bool DeadlineStream::is_writable() const { return wait(POLLOUT, Clock::now() + 5s); }

ssize_t DeadlineStream::read(char* to, std::size_t size) {
  if (at_ == end_) {
    if (left_ == 0 || !wait(POLLIN, read_until_)) return -1;
    const ssize_t got = ::recv(socket_, buffer_.data(), std::min(buffer_.size(), left_), 0);
    if (got <= 0) return got;
    at_ = 0;
    end_ = static_cast<std::size_t>(got);
    left_ -= end_;
  }
  const std::size_t n = std::min(size, end_ - at_);
  std::memcpy(to, buffer_.data() + at_, n);
  at_ += n;
  return static_cast<ssize_t>(n);
}

ssize_t DeadlineStream::write(const char* from, std::size_t size) {
  if (write_until_ == Clock::time_point::max()) write_until_ = Clock::now() + write_time;
  if (!wait(POLLOUT, write_until_)) return -1;
  return ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void DeadlineStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

void DeadlineStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

void DeadlineStream::close() {
  ::shutdown(socket_, SHUT_WR);
  const auto until = Clock::now() + linger_time;
  std::size_t seen = 0;
  while (seen < linger_bytes && wait(POLLIN, until)) {
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    seen += static_cast<std::size_t>(got);
  }
  ::close(socket_);
}

}  // namespace saltus::cli
