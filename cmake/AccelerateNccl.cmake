# Whether NCCL can be used, and the headers it takes: ACCELERATE_NCCL and ACCELERATE_NCCL_INCLUDE_DIRS. It needs a CUDA
# build of libtorch, NCCL's header, which comes with the CUDA wheel, and those of the CUDA toolkit, of which the wheel
# has only a part.

set(ACCELERATE_NCCL OFF)
if(TARGET torch_cuda)
  file(GLOB wheel_headers ${TORCH_INSTALL_PREFIX}/../nvidia/*/include)
  find_path(ACCELERATE_NCCL_HEADERS nccl.h HINTS ${wheel_headers})
  find_path(ACCELERATE_CUDA_HEADERS crt/host_config.h
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
  mark_as_advanced(ACCELERATE_NCCL_HEADERS ACCELERATE_CUDA_HEADERS)
  if(ACCELERATE_NCCL_HEADERS AND ACCELERATE_CUDA_HEADERS)
    set(ACCELERATE_NCCL ON)
    set(ACCELERATE_NCCL_INCLUDE_DIRS
      ${ACCELERATE_NCCL_HEADERS} ${wheel_headers} ${ACCELERATE_CUDA_HEADERS} ${ACCELERATE_CUDA_HEADERS}/cccl)
  else()
    message(STATUS "NCCL is left out and ranks talk through Gloo: to have it, install the CUDA toolkit and set CUDA_HOME")
  endif()
endif()
