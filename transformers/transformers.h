#pragma once

// Includes the whole library.

#include "accelerate/base/require_cpp20.h"

#include "transformers/architectures.h"
#include "transformers/auto_model.h"
#include "transformers/hub_cache.h"
#include "transformers/inputs/auto_tokenizer.h"
#include "transformers/inputs/data_collator.h"
#include "transformers/inputs/tokenized_dataset.h"
#include "transformers/pretrained_config.h"
#include "transformers/pretrained_model.h"
#include "transformers/schedules/get_scheduler.h"
#include "transformers/text/text_dataset.h"
#include "transformers/tokenizers/tokenizer.h"
