#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <mcphttp/client.hpp>

namespace mcphttp {

struct EraCache::State {
  static constexpr std::size_t max_endpoints = 1024;

  mutable std::mutex mutex;
  std::map<std::string, Era, std::less<>> eras;
  std::deque<std::string> order;  // of the first store
};

EraCache::EraCache() : state_(std::make_unique<State>()) {}
EraCache::~EraCache() = default;

Era EraCache::find(std::string_view url) const {
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->eras.find(url);
  return known != state_->eras.end() ? known->second : Era::automatic;
}

void EraCache::store(std::string_view url, Era era) {
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->eras.find(url);
  if (known != state_->eras.end()) {
    known->second = era;
    return;
  }
  if (era == Era::automatic) return;
  state_->eras.emplace(url, era);
  state_->order.emplace_back(url);
  if (state_->order.size() <= State::max_endpoints) return;
  state_->eras.erase(state_->order.front());
  state_->order.pop_front();
}

std::map<std::string, Era> EraCache::entries() const {
  const std::lock_guard lock(state_->mutex);
  std::map<std::string, Era> known;
  for (const auto& [url, era] : state_->eras) {
    if (era != Era::automatic) known.emplace(url, era);
  }
  return known;
}

}  // namespace mcphttp
