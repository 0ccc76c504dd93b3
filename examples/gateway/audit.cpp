#include "audit.hpp"

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace gateway {
namespace {

// Names and ids are foreign text and may be as long as a message.
constexpr std::size_t longest_text = 200;

std::string cut(std::string_view text) { return std::string(text.substr(0, longest_text)); }

void add_call(Json& fields, std::string_view id, std::string_view method) {
  if (!id.empty()) {
    fields["id"] = id.size() > longest_text ? Json(cut(id)) : Json::parse(id, nullptr, false);
  }
  if (!method.empty()) fields["method"] = cut(method);
}

std::int64_t milliseconds_since_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

Audit::Audit(const std::string& path) {
  if (path.empty()) return;
  file_.open(path, std::ios::app);
  if (!file_) throw std::runtime_error("cannot write to " + path);
}

void Audit::write(Json line) {
  line["time"] = milliseconds_since_epoch();
  const std::string text = to_line(line) + '\n';
  const std::lock_guard lock(mutex_);
  if (!file_.is_open() || !(file_ << text << std::flush)) std::cerr << text;
}

void Trail::know(const Call& call) {
  add_call(known_, call.id, call.method);
  if (!call.tool.empty()) known_["tool"] = cut(call.tool);
}

void Trail::write(const char* event, Json fields) const {
  fields.update(known_);
  fields["event"] = event;
  fields["request"] = number_;
  audit_->write(std::move(fields));
}

Json summary(const mcphttp::Message& message) {
  Json fields = Json::object();
  add_call(fields, message.id(), message.method());
  if (message.kind() == mcphttp::Message::Kind::error) fields["error"] = message.error_code();
  return fields;
}

}  // namespace gateway
