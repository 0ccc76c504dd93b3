#include "result_cache.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "json.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

// A server that means well does not ask for longer than this, and the sum must not overflow.
constexpr std::chrono::milliseconds longest_time = std::chrono::hours(24);

constexpr std::array<std::string_view, 6> cacheable_methods{
    "server/discover", "tools/list",     "prompts/list",
    "resources/list",  "resources/read", "resources/templates/list"};

struct Change {
  std::string_view notification;
  std::string_view method;
};
constexpr std::array<Change, 4> changes{{
    {"notifications/tools/list_changed", "tools/list"},
    {"notifications/prompts/list_changed", "prompts/list"},
    {"notifications/resources/list_changed", "resources/list"},
    {"notifications/resources/list_changed", "resources/templates/list"},
}};

// Sizes keep parts apart that could otherwise run into each other.
void append_part(std::string& index, std::string_view part) {
  index.append(std::to_string(part.size())).append(":").append(part);
}

std::string shared_index(const CacheKey& key) {
  std::string index;
  for (const std::string* part : {&key.url, &key.method, &key.params}) append_part(index, *part);
  return index;
}

std::optional<std::string> private_index(const CacheKey& key) {
  if (!key.authorization) return std::nullopt;
  std::string index = shared_index(key);
  append_part(index, *key.authorization);
  return index;
}

// How long the server lets a result be kept; absent and negative mean not at all.
std::chrono::milliseconds time_to_live(json::Value result) {
  const auto ttl = result.find("ttlMs");
  const std::chrono::milliseconds time(ttl ? ttl->as_int64().value_or(0) : 0);
  return std::clamp(time, std::chrono::milliseconds{0}, longest_time);
}

}  // namespace

bool ResultStore::may_keep(std::string_view method, std::string_view params) {
  if (std::find(cacheable_methods.begin(), cacheable_methods.end(), method) ==
      cacheable_methods.end())
    return false;
  if (params.empty()) return true;
  const json::Value given(params);
  return !given.find("inputResponses") && !given.find("requestState");
}

std::optional<Message> ResultStore::find(const CacheKey& key, Time now) {
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    auto found = by_index_.find(shared_index(key));
    if (found == by_index_.end()) {
      const auto index = private_index(key);
      if (index) found = by_index_.find(*index);
    }
    if (found == by_index_.end()) return std::nullopt;
    if (now >= found->second->fresh_until) {
      erase(found->second);
      return std::nullopt;
    }
    kept = found->second->message;
  }
  auto message = Message::parse(std::move(kept), json::greatest_depth);
  if (!message) return std::nullopt;
  return std::move(*message);
}

std::uint64_t ResultStore::epoch() const {
  const std::lock_guard lock(mutex_);
  return epoch_;
}

void ResultStore::store(const CacheKey& key, const Message& result, Time now, std::uint64_t epoch) {
  const json::Value value(result.result());
  const auto ttl = time_to_live(value);
  if (ttl.count() == 0 || text_member(value, "resultType") == "input_required") return;
  const bool is_public = text_member(value, "cacheScope") == "public";
  auto index = is_public ? shared_index(key) : private_index(key);
  if (!index) return;
  Entry entry{std::move(*index),          key.url,  key.method, key.params,
              std::string(result.json()), now + ttl};
  const std::lock_guard lock(mutex_);
  if (epoch != epoch_ || entry.size() > max_size_) return;
  if (const auto old = by_index_.find(entry.index); old != by_index_.end()) erase(old->second);
  size_ += entry.size();
  entries_.push_back(std::move(entry));
  by_index_.emplace(entries_.back().index, std::prev(entries_.end()));
  while (size_ > max_size_) erase(entries_.begin());
}

void ResultStore::note(std::string_view url, const Message& notification) {
  for (const Change& change : changes) {
    if (change.notification == notification.method()) drop(url, change.method);
  }
  if (notification.method() != "notifications/resources/updated") return;
  const std::string uri = text_member(json::Value(notification.params()), "uri");
  erase_if([&](const Entry& entry) {
    return entry.url == url && entry.method == "resources/read" && !entry.params.empty() &&
           text_member(json::Value(entry.params), "uri") == uri;
  });
}

void ResultStore::drop(std::string_view url, std::string_view method) {
  erase_if([&](const Entry& entry) { return entry.url == url && entry.method == method; });
}

void ResultStore::clear() {
  erase_if([](const Entry& /*any*/) { return true; });
}

std::size_t ResultStore::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

// Lock held.
ResultStore::Entries::iterator ResultStore::erase(Entries::iterator entry) {
  size_ -= entry->size();
  by_index_.erase(entry->index);
  return entries_.erase(entry);
}

template <class Predicate>
void ResultStore::erase_if(Predicate predicate) {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = predicate(*entry) ? erase(entry) : std::next(entry);
}

// --- The public face -----------------------------------------------------------------------------

ResultCache::ResultCache(std::size_t max_size) : store_(std::make_unique<ResultStore>(max_size)) {}
ResultCache::~ResultCache() = default;

void ResultCache::clear() { store_->clear(); }
std::size_t ResultCache::size() const { return store_->size(); }

}  // namespace mcphttp
