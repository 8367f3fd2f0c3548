#pragma once

// The parts of libtorch that tests use; all of <torch/torch.h> would double the time that each of them takes to
// compile. It is also what is precompiled for the rooms, which include what they need themselves.

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/optim.h>
#include <torch/types.h>
#include <torch/utils.h>
