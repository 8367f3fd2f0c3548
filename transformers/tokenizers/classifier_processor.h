#pragma once

// Special tokens around the texts as BERT and RoBERTa expect them: one for the whole first, one after each text.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/post_processor.h"

namespace transformers::tokenizers {

/// BertProcessing: "cls A sep", or "cls A sep B sep" with type 1 from B on.
std::unique_ptr<PostProcessor> read_bert_processor(const nlohmann::json& description);

/// RobertaProcessing: "cls A sep", or "cls A sep sep B sep", all of type 0; trims offsets too.
std::unique_ptr<PostProcessor> read_roberta_processor(const nlohmann::json& description);

}  // namespace transformers::tokenizers
