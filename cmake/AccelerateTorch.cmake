# Finds libtorch and insists on the version whose C++ surface this library is written for.

set(ACCELERATE_TORCH_VERSION 2.13.0)
set(ACCELERATE_CLONE_VENV ${PROJECT_SOURCE_DIR}/.venv)

# The user's CMAKE_PREFIX_PATH comes first, then what `make build` fetched into this clone. A project that adds this one
# as a subdirectory links torch too, so the targets must be visible beyond this directory.
include(AccelerateFindTorch)
file(GLOB clone_torch ${ACCELERATE_CLONE_VENV}/lib/python3*/site-packages/torch)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
accelerate_find_torch(HINTS ${clone_torch})
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
if(NOT Torch_FOUND)
  message(FATAL_ERROR
    "libtorch was not found. Run 'make build', which fetches libtorch ${ACCELERATE_TORCH_VERSION} into this clone, or "
    "point CMAKE_PREFIX_PATH at the directory that holds share/cmake/Torch.")
endif()
if(NOT Torch_VERSION VERSION_EQUAL ACCELERATE_TORCH_VERSION)
  message(FATAL_ERROR
    "libtorch ${Torch_VERSION} was found at ${TORCH_INSTALL_PREFIX}, but this version of accelerate needs exactly "
    "${ACCELERATE_TORCH_VERSION}: c10d's C++ interface changes between versions. Install "
    "torch==${ACCELERATE_TORCH_VERSION} and point CMAKE_PREFIX_PATH at it.")
endif()

include(AccelerateNccl)

# accelerate_use_torch(target [TENSORS | WHOLE])
# Links libtorch to `target` and gives it precompiled headers: the parts of torch.h that rooms and tests use; only
# tensors and what is done with them; or, for programs that include it as users do, the whole.
function(accelerate_use_torch target)
  cmake_parse_arguments(TORCH "TENSORS;WHOLE" "" "" ${ARGN})
  target_link_libraries(${target} PUBLIC torch)
  if(TORCH_TENSORS)
    accelerate_use_precompiled(${target} accelerate_torch_tensors)
  elseif(TORCH_WHOLE)
    accelerate_use_precompiled(${target} accelerate_torch_whole)
  else()
    accelerate_use_precompiled(${target} accelerate_torch_parts)
  endif()
endfunction()
