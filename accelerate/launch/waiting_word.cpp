#include "accelerate/launch/waiting_word.h"

#include <iostream>

namespace accelerate::launch {

void WaitingWord::say(const std::string& sentence) {
  if (Clock::now() < next_) return;
  std::cerr << "accelerate launch: " + sentence + "\n" << std::flush;
  next_ += std::chrono::seconds(30);
}

}  // namespace accelerate::launch
