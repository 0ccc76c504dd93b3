#include "servers.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "integration/helpers.hpp"

namespace mcphttp::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t one_write = 16384;

// Bits as DEFLATE packs them, the lowest first (RFC 1951 3.1.1).
class BitString {
 public:
  // A number, lowest bit first.
  void put(std::uint32_t bits, int count) {
    for (int i = 0; i < count; ++i) put_bit((bits >> i) & 1U);
  }
  // A Huffman code, highest bit first.
  void put_code(std::uint32_t code, int length) {
    for (int i = length - 1; i >= 0; --i) put_bit((code >> i) & 1U);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put_bit(std::uint32_t bit) {
    if (size_ % 8 == 0) bytes_.push_back('\0');
    bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | bit << size_ % 8);
    ++size_;
  }

  std::string bytes_;
  std::size_t size_ = 0;
};

// What a client of the legacy era asks for before it calls anything. True if this was it.
bool shake_hands(Connection& connection, const Request& request) {
  if (request.method == "GET") {
    connection.write_response(405, {}, "");
    return true;
  }
  const std::string method = method_of(request);
  if (method == "initialize") {
    answer_json(connection, request,
                R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                R"("serverInfo":{"name":"s","version":"1"}})");
    return true;
  }
  if (method != "notifications/initialized") return false;
  accept_message(connection);
  return true;
}

}  // namespace

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

ScriptedServer::Handler endless(std::string begin, std::string again) {
  return
      [begin = std::move(begin), again = std::move(again)](Connection& connection, const Request&) {
        connection.write(begin);
        write_for_ever(connection, repeated(again, one_write / again.size()));
      };
}

ScriptedServer::Handler dripping(std::string begin, std::string again) {
  return
      [begin = std::move(begin), again = std::move(again)](Connection& connection, const Request&) {
        connection.write(begin);
        while (connection.write(again) && connection.pause(10ms)) {
        }
      };
}

ScriptedServer::Handler silent_after(std::string begin) {
  return [begin = std::move(begin)](Connection& connection, const Request&) {
    connection.write(begin);
    connection.peer_closed(guard);
  };
}

ScriptedServer::Handler whole(std::string (*bytes)()) {
  return [bytes](Connection& connection, const Request&) { connection.write(bytes()); };
}

std::string head(int status, const std::vector<Header>& fields) {
  std::string bytes = status_line(status);
  for (const Header& field : fields) bytes += header_line(field.name, field.value);
  return bytes + "\r\n";
}

std::string json_head(int status) { return head(status, {{"Content-Type", "application/json"}}); }

std::string events_head() { return head(200, {{"Content-Type", "text/event-stream"}}); }

// One block of fixed codes (RFC 1951 3.2.6): a letter, then "the last 258 bytes once more" (code
// 11000101) "from one byte back" (00000). Eight of these fill thirteen bytes, so that they repeat.
GzipBomb gzip_bomb() {
  constexpr std::size_t header_and_phase = 2;  // whole bytes before the repetition, of the bits
  constexpr std::size_t period = 13;
  BitString bits;
  bits.put(0, 1);                // not the last block
  bits.put(1, 2);                // fixed codes
  bits.put_code(0x30 + 'x', 8);  // the letter
  for (int i = 0; i < 16; ++i) {
    bits.put_code(0xC5, 8);
    bits.put_code(0, 5);
  }
  const std::string_view gzip_header("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);  // RFC 1952 2.3
  return {std::string(gzip_header) + bits.bytes().substr(0, header_and_phase),
          bits.bytes().substr(header_and_phase, period)};
}

ScriptedServer::Handler lists(std::string (*page)(std::size_t)) {
  auto pages = std::make_shared<std::atomic<std::size_t>>(0);
  return [page, pages](Connection& connection, const Request& request) {
    if (!shake_hands(connection, request)) answer_json(connection, request, page(++*pages));
  };
}

ScriptedServer::Handler calls(std::string (*result)()) {
  return [result](Connection& connection, const Request& request) {
    if (!shake_hands(connection, request)) answer_json(connection, request, result());
  };
}

ScriptedServer::Handler asks_without_end(std::string method) {
  return [method = std::move(method)](Connection& connection, const Request& request) {
    if (shake_hands(connection, request)) return;
    if (method_of(request) == "tools/call") {
      const std::string question = event(R"({"jsonrpc":"2.0","id":7,"method":")" + method + "\"}");
      return endless(events_head(), question)(connection, request);
    }
    connection.peer_closed(guard);
  };
}

Answer json_answer(int id) {
  const std::string body = result_json(std::to_string(id), R"({"content":[]})");
  const std::string bytes = head(200, {{"Content-Type", "application/json"},
                                       {"Content-Length", std::to_string(body.size())}}) +
                            body;
  return {bytes, bytes.size()};
}

Answer events_answer(int id) {
  const std::string text =
      ": hello\n\nevent: message\n" + event(result_json(std::to_string(id), R"({"content":[]})"));
  const std::string bytes =
      head(200, {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}}) +
      chunk(text);
  return {bytes + std::string(last_chunk), bytes.size() - std::string_view("\r\n").size()};
}

ScriptedServer::Handler cuts(AnswerTo answer) {
  return [answer](Connection& connection, const Request& request) {
    const int id = std::stoi(id_of(request));
    const std::string bytes =
        answer(id).bytes.substr(0, static_cast<std::size_t>(id - first_cut_id));
    if (!bytes.empty()) connection.write_last(bytes);
    connection.close();
  };
}

}  // namespace mcphttp::test
