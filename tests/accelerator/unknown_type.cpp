// Does not compile, and says why.

#include <string>

#include "accelerate/accelerator.h"

void prepare_a_word(accelerate::Accelerator& accelerator) { accelerator.prepare(std::string("model")); }
