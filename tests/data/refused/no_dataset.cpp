// Something that is no data set: its get is private.

#include "accelerate/accelerator.h"

class Numbers {
 public:
  int64_t size() const { return 3; }

 private:
  int64_t get(int64_t index) const { return index; }
};

void load_nothing() { accelerate::DataLoader loader(Numbers(), {.batch_size = 2, .shuffle = true}); }
