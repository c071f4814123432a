// A connection with an end: all bytes of the request within a deadline and a size, all bytes of
// the answer within a second deadline.
#pragma once
#include <httplib.h>

#include <array>
#include <chrono>

namespace saltus::cli {

class DeadlineStream : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;
  DeadlineStream(int socket, Clock::time_point read_until, std::size_t most_bytes)
      : socket_(socket), read_until_(read_until), left_(most_bytes) {}

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] int socket() const override { return socket_; }

  // Ends the connection; reads what is still under way for a moment, or the client would lose the
  // answer.
  void close();

 private:
  [[nodiscard]] bool wait(short events, Clock::time_point until) const;

  int socket_;
  Clock::time_point read_until_;
  Clock::time_point write_until_ = Clock::time_point::max();  // set by the first write
  std::size_t left_;
  std::array<char, 4096> buffer_{};
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace saltus::cli
