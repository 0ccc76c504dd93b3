#include "handle_pool.hpp"

#include <algorithm>
#include <utility>

namespace mcphttp {

EasyHandle::EasyHandle(const std::shared_ptr<const TransportOptions>& of)
    : curl(curl_easy_init()), options(of) {}

EasyHandle::~EasyHandle() { curl_easy_cleanup(curl); }

void EasyHandle::aim_at(const std::shared_ptr<const http::Target>& target) {
  if (target == target_) return;
  target_ = target;
  curl_easy_setopt(curl, CURLOPT_CURLU, target_->parsed());
  // The same once more: libcurl 7.88 keeps the text of the first URL that a handle was given.
  curl_easy_setopt(curl, CURLOPT_URL, target_->text().c_str());
}

std::unique_ptr<EasyHandle> HandlePool::take(
    const std::shared_ptr<const TransportOptions>& options) {
  // The latest first: it is still in the processor's cache.
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& handle) {
    return !handle->options.owner_before(options) && !options.owner_before(handle->options);
  });
  if (found == kept_.rend()) return nullptr;
  std::unique_ptr<EasyHandle> handle = std::move(*found);
  kept_.erase(std::next(found).base());
  return handle;
}

void HandlePool::give_back(std::unique_ptr<EasyHandle> handle) noexcept {
  if (kept_.size() == max_kept) kept_.erase(kept_.begin());
  kept_.push_back(std::move(handle));
}

}  // namespace mcphttp
