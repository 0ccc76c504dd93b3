// TLS, with nginx in front of the scripted server. Certificates are made anew by openssl(1).
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <stdlib.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "helpers.hpp"
#include "support/child_process.hpp"
#include "support/socket.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// A new folder, gone with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "mcphttp-tls-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }

 private:
  fs::path path_;
};

void openssl(const std::vector<std::string>& arguments) {
  const ChildResult result = run_child("/usr/bin/openssl", arguments);
  if (!result.succeeded()) throw std::runtime_error("openssl: " + result.errors);
}

// Two certificate authorities, of which the first has signed a server and a client.
class Certificates {
 public:
  Certificates() {
    make_authority("ca");
    make_authority("other-ca");
    sign("server", "subjectAltName=IP:127.0.0.1");
    sign("client", "extendedKeyUsage=clientAuth");
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  void make_authority(const std::string& name) const {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=" + name, "-keyout", file(name + ".key"), "-out",
             file(name + ".pem")});
  }
  void sign(const std::string& name, const std::string& extension) const {
    openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=" + name, "-keyout", file(name + ".key"), "-out", file(name + ".csr")});
    const std::string extensions = folder_.write(name + ".ext", extension + "\n");
    openssl({"x509", "-req", "-in", file(name + ".csr"), "-CA", file("ca.pem"), "-CAkey",
             file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out",
             file(name + ".pem")});
  }

  Folder folder_;
};

const Certificates& certificates() {
  static const Certificates made;
  return made;
}

std::uint16_t free_port() { return local_port(listen_loopback(AF_INET, 0)); }

// nginx before a server: a port open to all and one for clients with a certificate.
class TlsFront {
 public:
  explicit TlsFront(const ScriptedServer& behind)
      : open_port_(free_port()),
        guarded_port_(free_port()),
        nginx_("/usr/sbin/nginx", {"-e", folder_.file("error.log"), "-p", folder_.file(""), "-c",
                                   folder_.write("nginx.conf", configuration(behind))}) {
    const bool up = eventually([this] {
      try {
        connect_loopback(AF_INET, guarded_port_);
        return true;
      } catch (const std::system_error&) {
        return false;
      }
    });
    if (!up) throw std::runtime_error("nginx does not listen");
  }

  std::string open_url() const { return url(open_port_); }
  std::string guarded_url() const { return url(guarded_port_); }

 private:
  static std::string url(std::uint16_t port) {
    return "https://127.0.0.1:" + std::to_string(port) + "/mcp";
  }

  std::string configuration(const ScriptedServer& behind) const {
    const auto temporary = [this](const std::string& kind) {
      return kind + "_temp_path " + folder_.file(kind) + ";\n";
    };
    return "daemon off;\nmaster_process off;\npid " + folder_.file("nginx.pid") +
           ";\nevents {}\nhttp {\naccess_log off;\n" + temporary("client_body") +
           temporary("proxy") + temporary("fastcgi") + temporary("uwsgi") + temporary("scgi") +
           "ssl_certificate " + certificates().file("server.pem") + ";\nssl_certificate_key " +
           certificates().file("server.key") + ";\nssl_client_certificate " +
           certificates().file("ca.pem") + ";\n" + port(open_port_, "off", behind) +
           port(guarded_port_, "on", behind) + "}\n";
  }

  static std::string port(std::uint16_t number, const std::string& verify,
                          const ScriptedServer& behind) {
    return "server {\nlisten 127.0.0.1:" + std::to_string(number) +
           " ssl;\nkeepalive_requests 1000;\nssl_verify_client " + verify +
           ";\nlocation / {\nproxy_pass " + behind.url("") +
           ";\nproxy_http_version 1.1;\nproxy_buffering off;\n"
           "proxy_set_header Connection \"\";\nproxy_set_header X-Connection $connection;\n"
           "proxy_set_header X-Client $ssl_client_s_dn;\n}\n}\n";
  }

  Folder folder_;
  std::uint16_t open_port_;
  std::uint16_t guarded_port_;
  ChildProcess nginx_;
};

TransportOptions options_of(const std::string& url, const std::string& authority = "ca.pem") {
  TransportOptions options;
  options.url = url;
  if (!authority.empty()) options.ca_file = certificates().file(authority);
  return options;
}

void answer(Connection& connection, const Request& request) { answer_json(connection, request); }

}  // namespace

TEST_CASE("calls over TLS to a server of a trusted authority use one connection") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  Transport transport = make_transport(options_of(front.open_url()));
  for (int i = 0; i < 50; ++i) REQUIRE(exchange(transport, call_json(i)));
  std::set<std::string> connections;
  for (const Request& request : server.requests()) {
    connections.insert(request.header("X-Connection").value_or(""));
  }
  CHECK(connections.size() == 1);
}

TEST_CASE("events arrive through TLS while the server is still silent") {
  Gate seen;
  std::atomic<bool> waited_in_vain{false};
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    if (!seen.wait()) waited_in_vain = true;
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  const TlsFront front(server);
  Transport transport = make_transport(options_of(front.open_url()));
  auto response = transport.post(call_json(1));
  REQUIRE(response);
  CHECK(response->events()->next());
  seen.open();
  auto last = response->events()->next();
  REQUIRE(last);
  CHECK(last->is_response());
  CHECK_FALSE(waited_in_vain);
}

TEST_CASE("a server of another authority is refused before anything is sent") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  const auto authority = GENERATE(as<std::string>(), "other-ca.pem", "");
  INFO(authority);
  auto options = options_of(front.open_url(), authority);
  options.bearer_token = "secret";
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(message.error().delivery == Delivery::not_sent);
  CHECK(message.error().to_string().find("certificate") != std::string::npos);
  CHECK(server.requests().empty());
}

TEST_CASE("a TLS failure is no sign of an era") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  ClientOptions options;
  options.url = front.open_url();
  options.ca_file = certificates().file("other-ca.pem");
  options.era_cache = std::make_shared<EraCache>();
  const auto client = Client::connect(options);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::tls_failed);
  CHECK(server.requests().empty());
  CHECK(options.era_cache->entries().empty());
}

TEST_CASE("a certificate for another name is refused") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  std::string url = front.open_url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  Transport transport = make_transport(options_of(url));
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(server.requests().empty());
}

TEST_CASE("a client certificate opens a server that asks for one") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  auto options = options_of(front.guarded_url());
  {
    Transport transport = make_transport(options);
    auto message = exchange(transport, call_json(1));
    REQUIRE_FALSE(message);
    CHECK(message.error().code == ErrorCode::http_error);
    CHECK(server.requests().empty());
  }
  options.client_certificate = certificates().file("client.pem");
  options.client_key = certificates().file("client.key");
  Transport transport = make_transport(options);
  REQUIRE(exchange(transport, call_json(1)));
  CHECK(server.requests().at(0).header("X-Client") == "CN=client");
}

TEST_CASE("a certificate file that cannot be read is tls_failed") {
  ScriptedServer server(answer);
  const TlsFront front(server);
  auto options = options_of(front.open_url());
  SECTION("authority") { options.ca_file = "/nonexistent.pem"; }
  SECTION("client") { options.client_certificate = "/nonexistent.pem"; }
  Transport transport = make_transport(options);
  auto message = exchange(transport, call_json(1));
  REQUIRE_FALSE(message);
  CHECK(message.error().code == ErrorCode::tls_failed);
  CHECK(message.error().delivery == Delivery::not_sent);
}
