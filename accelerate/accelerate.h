#pragma once

// The umbrella header for training programs, with all of libtorch's C++ API. Sources and tests of the library include
// what they use instead, which compiles faster.

#include "accelerate/base/require_cpp20.h"

#include <torch/torch.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/log.h"
#include "accelerate/base/progress_bar.h"
#include "accelerate/base/version.h"
#include "accelerate/data/concat_dataset.h"
#include "accelerate/data/generators.h"
#include "accelerate/data/subset.h"
#include "accelerate/data/tensor_dataset.h"
#include "accelerate/local_sgd.h"
#include "accelerate/metrics/metric.h"
#include "accelerate/operations.h"
#include "accelerate/ranks/launchers.h"
#include "accelerate/train/executable_batch_size.h"
#include "accelerate/train/lr_scheduler.h"
#include "accelerate/train/one_cycle_lr.h"
