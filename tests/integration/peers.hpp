// Real programs that the tests start between a client and a scripted server: nginx and tinyproxy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "support/child_process.hpp"
#include "support/scripted_server.hpp"

namespace mcphttp::test {

// A new folder, gone with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// Of 127.0.0.1, where nobody listens now.
std::uint16_t free_port();

// Two certificate authorities, made anew by openssl(1); the first has signed a server and a client.
class Certificates {
 public:
  Certificates();
  // ca, other-ca, server or client, with .pem or .key behind.
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  void make_authority(const std::string& name) const;
  void sign(const std::string& name, const std::string& extension) const;

  Folder folder_;
};
const Certificates& certificates();

// nginx before a server. Throws std::runtime_error if it does not begin to listen.
class Nginx {
 public:
  // A port open to all, one for clients with a certificate, and a Unix socket without TLS. The
  // server sees the connection as X-Connection, the client's name as X-Client and its address as
  // X-Address.
  explicit Nginx(const ScriptedServer& behind);

  std::string open_url() const { return url(open_port_); }
  std::string guarded_url() const { return url(guarded_port_); }
  std::string unix_socket() const { return folder_.file("socket"); }

 private:
  static std::string url(std::uint16_t port);
  std::string configuration(const ScriptedServer& behind) const;

  Folder folder_;
  const std::uint16_t open_port_ = free_port();
  const std::uint16_t guarded_port_ = free_port();
  ChildProcess process_;
};

// A forwarding proxy. Throws std::runtime_error if it does not begin to listen.
class Tinyproxy {
 public:
  // `settings`: more lines of tinyproxy.conf(5).
  explicit Tinyproxy(const std::string& settings = {});

  // http://127.0.0.1:PORT, with "user:password@" where that is given.
  std::string url(const std::string& credentials = {}) const;
  // One line for each request and each decision.
  std::string log() const;

 private:
  Folder folder_;
  const std::uint16_t port_ = free_port();
  ChildProcess process_;
};

}  // namespace mcphttp::test
