#pragma once

// Everything of the library in one include.

#include "transformers/architectures.h"
#include "transformers/auto_model.h"
#include "transformers/hub_cache.h"
#include "transformers/pretrained_config.h"
#include "transformers/pretrained_model.h"
