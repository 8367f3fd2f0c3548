#pragma once

// The headers that every cell can use without an include. Precompiled when the kernel is installed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

#include "notebook/runtime/display.h"
#include "notebook/runtime/timing.h"
