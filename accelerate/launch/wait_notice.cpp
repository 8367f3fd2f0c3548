#include "accelerate/launch/wait_notice.h"

#include <iostream>

namespace accelerate::launch {

void WaitNotice::show(const std::string& sentence) {
  if (Clock::now() < next_) return;
  std::cerr << "accelerate launch: " + sentence + "\n" << std::flush;
  next_ += std::chrono::seconds(30);
}

}  // namespace accelerate::launch
