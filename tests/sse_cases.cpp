// Runs the SSE cases of the files named on the command line (cases/README.md). Prints each failure,
// then "N passed, N failed". Exit code: 0 if all passed, 1 if not, 2 for wrong usage.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mcphttp/sse_parser.hpp>
#include <nlohmann/json.hpp>

#include "json.hpp"
#include "response_reader.hpp"
#include "support/splits.hpp"

namespace mcphttp::test {
namespace {

using Json = nlohmann::json;

struct CaseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string decode_base64(const std::string& text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) throw CaseError("bad base64");
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>((bits >> static_cast<unsigned>(count -= 8)) & 0xFFU);
  }
  return bytes;
}

// The stream of an entry, in the pieces it asks for.
std::vector<std::string> chunks_of(const Json& entry) {
  std::vector<std::string> chunks;
  if (entry.contains("input")) chunks.push_back(entry["input"].get<std::string>());
  if (entry.contains("input_b64")) chunks.push_back(decode_base64(entry["input_b64"]));
  if (entry.contains("chunks")) chunks = entry["chunks"].get<std::vector<std::string>>();
  if (entry.contains("chunks_b64")) {
    for (const Json& chunk : entry["chunks_b64"]) chunks.push_back(decode_base64(chunk));
  }
  if (chunks.empty()) throw CaseError("no input");
  return chunks;
}

// Bytes as JSON text, with U+FFFD for what is not UTF-8.
Json to_json(std::string_view bytes) {
  return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
}

struct Recorder final : SseSink {
  Json events = Json::array();

  Flow on_event(const SseEvent& event) override {
    events.push_back({{"type", to_json(event.type)},
                      {"data", to_json(event.data)},
                      {"id", to_json(event.last_event_id)}});
    return Flow::proceed;
  }
};

void expect_equal(std::string_view what, const Json& seen, const Json& wanted) {
  if (seen == wanted) return;
  constexpr auto replace = Json::error_handler_t::replace;
  throw CaseError(std::string(what) + ": " + seen.dump(-1, ' ', true, replace) + ", expected " +
                  wanted.dump(-1, ' ', true, replace));
}

void run_pieces(const Json& entry, const Pieces& pieces) {
  SseParserOptions options;
  options.last_event_id = entry.value("initial_last_id", "");
  SseParser parser(options);
  Recorder recorder;
  for (const std::string_view piece : pieces) {
    const SseParser::FeedResult fed = parser.feed(piece, recorder);
    if (fed.status != SseParser::Status::ok) throw CaseError("the parser stopped");
  }
  expect_equal("events", recorder.events, entry.at("expect"));
  const std::optional<std::uint64_t> retry = parser.retry();
  expect_equal("retry", retry ? Json(*retry) : Json(), entry.value("retry", Json()));
  if (entry.contains("last_id")) {
    expect_equal("last_id", to_json(parser.last_event_id()), entry["last_id"]);
  }
}

void check_keys(const Json& object, const std::vector<std::string_view>& known) {
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      throw CaseError("unknown key " + item.key());
    }
  }
}

// What a response reader hands out of a response to the GET of a stream.
struct ResponseRecorder final : ResponseSink {
  Json events = Json::array();
  bool is_stream = false;

  void on_head(ResponseHead&& head) override { is_stream = head.kind == ResponseKind::stream; }
  Flow on_event(Event&& event) override {
    events.push_back({{"type", to_json(event.type())},
                      {"data", to_json(event.data())},
                      {"id", to_json(event.last_event_id())}});
    return Flow::proceed;
  }
  void on_message(Message&& /*message*/) override { throw CaseError("a message was handed out"); }
  Flow on_body(std::string&& /*bytes*/) override { throw CaseError("bytes were handed out"); }
  void on_warning(Warning&& /*warning*/) override {}
};

// The entry as the body of an HTTP response.
void run_response(const Json& entry, const Pieces& pieces) {
  const Json& http = entry["http"];
  ReaderContext context;
  context.awaits = Awaits::stream;
  context.last_event_id = entry.value("initial_last_id", "");
  json::Checker checker;
  ResponseRecorder recorder;
  ResponseReader reader(std::move(context), checker, recorder);
  reader.read_header_line("HTTP/1.1 " + std::to_string(http.value("status", 200)) + " Text\r\n");
  reader.read_header_line("Content-Type: " + http.value("content-type", "text/event-stream") +
                          "\r\n");
  reader.read_header_line("\r\n");
  for (const std::string_view piece : pieces) reader.read_body(piece);
  reader.finish();
  expect_equal("http fails", !recorder.is_stream, http.value("fails", false));
  expect_equal("events", recorder.events, entry.at("expect"));
  if (!recorder.is_stream) return;
  const auto retry = reader.outcome()->retry;
  expect_equal("retry", retry ? Json(*retry) : Json(), entry.value("retry", Json()));
  if (entry.contains("last_id")) {
    expect_equal("last_id", to_json(reader.outcome()->last_event_id), entry["last_id"]);
  }
}

void run_entry(const Json& entry) {
  check_keys(entry, {"id", "src", "note", "input", "input_b64", "chunks", "chunks_b64", "expect",
                     "retry", "last_id", "initial_last_id", "http"});
  for (const Json& event : entry.at("expect")) check_keys(event, {"type", "data", "id"});
  const bool is_response = entry.contains("http");
  if (is_response) check_keys(entry["http"], {"status", "content-type", "fails"});
  const auto run = is_response ? run_response : run_pieces;
  const std::vector<std::string> chunks = chunks_of(entry);
  run(entry, Pieces(chunks.begin(), chunks.end()));
  std::string whole;
  for (const std::string& chunk : chunks) whole += chunk;
  for_each_split(whole, [&](const Pieces& pieces) { run(entry, pieces); });
}

struct Tally {
  int passed = 0;
  int failed = 0;

  void run_line(const std::string& line) {
    std::string id = "?";
    try {
      const Json entry = Json::parse(line);
      id = entry.at("id").get<std::string>();
      run_entry(entry);
      ++passed;
    } catch (const std::exception& error) {
      fail(id, error.what());
    }
  }

  void run_file(const char* path) {
    std::ifstream file(path);
    if (!file) fail(path, "cannot be read");
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) run_line(line);
    }
  }

  void fail(std::string_view id, std::string_view reason) {
    std::cout << "FAILED " << id << ": " << reason << '\n';
    ++failed;
  }
};

}  // namespace
}  // namespace mcphttp::test

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: sse_cases FILE...\n";
    return 2;
  }
  mcphttp::test::Tally tally;
  for (int i = 1; i < argc; ++i) tally.run_file(argv[i]);
  std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
  return tally.failed == 0 ? 0 : 1;
}
