# accelerate_find_torch(<find_package's arguments>): find_package(Torch), in this build and in projects that use an
# install.
#
# It spares them two habits of libtorch's own CMake files. Those of a CUDA build insist on a complete CUDA toolkit, which
# is needed to compile kernels but not to call libtorch: they stay away from it when they find torch::cudart defined
# already. And all of them warn that a library is missing which is a part of libtorch_cpu.
macro(accelerate_find_torch)
  set(kineto_LIBRARY kineto CACHE STRING "A part of libtorch_cpu")
  mark_as_advanced(kineto_LIBRARY)
  if(NOT CMAKE_CUDA_COMPILER AND NOT TARGET torch::cudart)
    add_library(torch::cudart INTERFACE IMPORTED GLOBAL)
  endif()
  find_package(Torch QUIET ${ARGN})
endmacro()
