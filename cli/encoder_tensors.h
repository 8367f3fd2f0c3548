#pragma once

// The tensors of encoders, named and sized as Transformers' AutoModel makes them.

#include "cli/family_sizes.h"

namespace accelerate::cli {

/// BERT, RoBERTa, CamemBERT and XLM-RoBERTa.
std::vector<ModelTensor> bert_tensors(const Sizes& size);

/// ALBERT, whose layers share their weights.
std::vector<ModelTensor> albert_tensors(const Sizes& size);

/// DeBERTa V2 and V3.
std::vector<ModelTensor> deberta_v2_tensors(const Sizes& size);

/// DistilBERT.
std::vector<ModelTensor> distilbert_tensors(const Sizes& size);

/// ELECTRA.
std::vector<ModelTensor> electra_tensors(const Sizes& size);

/// ModernBERT.
std::vector<ModelTensor> modernbert_tensors(const Sizes& size);

/// MPNet.
std::vector<ModelTensor> mpnet_tensors(const Sizes& size);

}  // namespace accelerate::cli
