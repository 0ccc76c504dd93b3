#include "clients.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "integration/helpers.hpp"
#include "servers.hpp"

namespace mcphttp::test {
namespace {

constexpr const char* answered = "answered";

Outcome failed(const Error& error) {
  std::string detail = error.detail;
  if (!error.diagnostic.text.empty()) {
    detail += "; kept " + std::to_string(error.diagnostic.text.size()) + " bytes";
  }
  if (error.diagnostic.truncated) detail += ", truncated";
  return {std::string(to_string(error.code)), detail};
}

template <class Value>
Outcome outcome_of(const Result<Value>& result) {
  return result ? Outcome{answered, ""} : failed(result.error());
}

Outcome be_cut_off(const ClientOptions& options, const EventLoop& loop, AnswerTo answer_to) {
  Transport transport = make_transport(options, loop);
  std::set<std::string> names;
  const std::size_t size = answer_to(first_cut_id).bytes.size();
  for (std::size_t cut = 0; cut <= size; ++cut) {
    const int id = first_cut_id + static_cast<int>(cut);
    const auto message = exchange(transport, call_json(id));
    const bool is_right = message && message->result() == R"({"content":[]})";
    if (is_right != (cut >= answer_to(id).complete_at)) {
      return {"wrong", "after " + std::to_string(cut) + " bytes: " + outcome_of(message).name};
    }
    names.insert(outcome_of(message).name);
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
  return {all, std::to_string(size) + " cuts"};
}

}  // namespace

Outcome post(const ClientOptions& options, const EventLoop& loop) {
  Transport transport = make_transport(options, loop);
  return outcome_of(exchange(transport, call_json(1)));
}

Outcome list_tools(const ClientOptions& options, const EventLoop& loop) {
  auto client = Client::connect(options, loop);
  return client ? outcome_of(client->list_tools()) : failed(client.error());
}

Outcome call_tool(const ClientOptions& options, const EventLoop& loop) {
  std::mutex mutex;
  std::vector<Responder> waiting;
  ClientOptions with_handler = options;
  with_handler.request_handlers["ask"] = [&](const Message&, Responder responder) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
  };
  auto client = Client::connect(with_handler, loop);
  return client ? outcome_of(client->call_tool("t", "")) : failed(client.error());
}

Outcome be_cut_off_json(const ClientOptions& options, const EventLoop& loop) {
  return be_cut_off(options, loop, json_answer);
}

Outcome be_cut_off_events(const ClientOptions& options, const EventLoop& loop) {
  return be_cut_off(options, loop, events_answer);
}

}  // namespace mcphttp::test
