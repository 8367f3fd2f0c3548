#include "accelerate/base/open_progress_bars.h"

#include <map>
#include <mutex>
#include <utility>

namespace accelerate {

namespace {

struct OpenBars {
  std::mutex mutex;
  std::map<const ProgressBar*, DrawBar> bars;
};

OpenBars& open_bars() {
  static auto* bars = new OpenBars;  // never destroyed: static bars close at exit
  return *bars;
}

}  // namespace

void add_open_bar(const ProgressBar* bar, DrawBar draw) {
  std::lock_guard lock(open_bars().mutex);
  open_bars().bars[bar] = std::move(draw);
}

void remove_open_bar(const ProgressBar* bar) {
  std::lock_guard lock(open_bars().mutex);
  open_bars().bars.erase(bar);
}

void draw_open_bars() {
  std::lock_guard lock(open_bars().mutex);
  for (const auto& [bar, draw] : open_bars().bars) draw();
}

}  // namespace accelerate
