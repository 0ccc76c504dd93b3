#include "peers.hpp"

#include <stdlib.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "helpers.hpp"
#include "support/socket.hpp"

namespace mcphttp::test {
namespace {

namespace fs = std::filesystem;

void openssl(const std::vector<std::string>& arguments) {
  const ChildResult result = run_child("/usr/bin/openssl", arguments);
  if (!result.succeeded()) throw std::runtime_error("openssl: " + result.errors);
}

void wait_until_listening(std::uint16_t port) {
  const bool listens = eventually([port] {
    try {
      connect_loopback(AF_INET, port);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  });
  if (!listens) throw std::runtime_error("a peer does not listen");
}

std::string server_block(const std::string& listen, const ScriptedServer& behind) {
  return "server {\nlisten " + listen + ";\nkeepalive_requests 1000;\nlocation / {\nproxy_pass " +
         behind.url("") +
         ";\nproxy_http_version 1.1;\nproxy_buffering off;\n"
         "proxy_set_header Connection \"\";\nproxy_set_header X-Connection $connection;\n"
         "proxy_set_header X-Client $ssl_client_s_dn;\nproxy_set_header X-Address "
         "$remote_addr;\n}\n";
}

}  // namespace

// --- Folder

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "mcphttp-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name)) << text;
  return file(name);
}

std::uint16_t free_port() { return local_port(listen_loopback(AF_INET, 0)); }

// --- Certificates

Certificates::Certificates() {
  make_authority("ca");
  make_authority("other-ca");
  sign("server", "subjectAltName=IP:127.0.0.1");
  sign("client", "extendedKeyUsage=clientAuth");
}

void Certificates::make_authority(const std::string& name) const {
  openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
           "-days", "2", "-subj", "/CN=" + name, "-keyout", file(name + ".key"), "-out",
           file(name + ".pem")});
}

void Certificates::sign(const std::string& name, const std::string& extension) const {
  openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
           "/CN=" + name, "-keyout", file(name + ".key"), "-out", file(name + ".csr")});
  const std::string extensions = folder_.write(name + ".ext", extension + "\n");
  openssl({"x509", "-req", "-in", file(name + ".csr"), "-CA", file("ca.pem"), "-CAkey",
           file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out",
           file(name + ".pem")});
}

const Certificates& certificates() {
  static const Certificates made;
  return made;
}

// --- Nginx

Nginx::Nginx(const ScriptedServer& behind)
    : process_("/usr/sbin/nginx", {"-e", folder_.file("error.log"), "-p", folder_.file(""), "-c",
                                   folder_.write("nginx.conf", configuration(behind))}) {
  wait_until_listening(guarded_port_);
}

std::string Nginx::url(std::uint16_t port) {
  return "https://127.0.0.1:" + std::to_string(port) + "/mcp";
}

std::string Nginx::configuration(const ScriptedServer& behind) const {
  const auto temporary = [this](const std::string& kind) {
    return kind + "_temp_path " + folder_.file(kind) + ";\n";
  };
  const auto port = [](std::uint16_t number) {
    return "127.0.0.1:" + std::to_string(number) + " ssl http2";
  };
  return "daemon off;\nmaster_process off;\npid " + folder_.file("nginx.pid") +
         ";\nevents {}\nhttp {\naccess_log off;\n" + temporary("client_body") + temporary("proxy") +
         temporary("fastcgi") + temporary("uwsgi") + temporary("scgi") + "ssl_certificate " +
         certificates().file("server.pem") + ";\nssl_certificate_key " +
         certificates().file("server.key") + ";\nssl_client_certificate " +
         certificates().file("ca.pem") + ";\n" + server_block("unix:" + unix_socket(), behind) +
         "}\n" + server_block(port(open_port_), behind) + "}\n" +
         server_block(port(guarded_port_), behind) + "ssl_verify_client on;\n}\n}\n";
}

// --- Tinyproxy

Tinyproxy::Tinyproxy(const std::string& settings)
    : process_(
          "/usr/bin/tinyproxy",
          {"-d", "-c",
           folder_.write("tinyproxy.conf", "Port " + std::to_string(port_) +
                                               "\nListen 127.0.0.1\nTimeout 60\nLogFile \"" +
                                               folder_.write("log", "") + "\"\n" + settings)}) {
  wait_until_listening(port_);
}

std::string Tinyproxy::url(const std::string& credentials) const {
  return "http://" + (credentials.empty() ? "" : credentials + "@") +
         "127.0.0.1:" + std::to_string(port_);
}

std::string Tinyproxy::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_.file("log")).rdbuf();
  return text.str();
}

}  // namespace mcphttp::test
