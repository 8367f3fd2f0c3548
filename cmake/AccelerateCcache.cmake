# Compiles through ccache when it is there, with a cache inside the clone that all build directories share: those of the
# presets and those of projects that use the clone by add_subdirectory or FetchContent.

option(ACCELERATE_CCACHE "Compile through ccache where it is installed, with the cache in .ccache of the clone" ON)
find_program(ACCELERATE_CCACHE_PROGRAM ccache)
mark_as_advanced(ACCELERATE_CCACHE_PROGRAM)
if(ACCELERATE_CCACHE AND ACCELERATE_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the build directory are taken relative to it, so that another build directory finds the same entries.
  # The sloppiness is what ccache asks for to serve precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_DIR=${PROJECT_SOURCE_DIR}/.ccache
    CCACHE_MAXSIZE=5G
    CCACHE_BASEDIR=${CMAKE_BINARY_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${ACCELERATE_CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(ACCELERATE_PRECOMPILED_OPTIONS -fpch-preprocess)  # ccache preprocesses, without it reading all of torch again
  endif()
endif()
