#pragma once

// Special tokens around the texts, and types, by the templates of a TemplateProcessing.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/post_processor.h"

namespace transformers::tokenizers {

/// Reads a TemplateProcessing. Throws Error for a template that names a text or a special token that there is not.
std::unique_ptr<PostProcessor> read_template_processor(const nlohmann::json& description);

}  // namespace transformers::tokenizers
