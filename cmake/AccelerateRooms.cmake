# A room is a folder below accelerate/ or transformers/ with one question to answer (ARCHITECTURE.md). Each becomes an
# object library, so that a test links just the rooms it is about; the shared library is all of its rooms together.

function(accelerate_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # g++ 12 sees mistakes in std::string that are not there
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-restrict -Wno-array-bounds)
  endif()
  if(ACCELERATE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# accelerate_compile_together(target)
# Compiles the sources of a target in batches. Reading torch's headers, precompiled as they are, takes ten times longer than
# compiling most of our sources, and a batch reads them once.
option(ACCELERATE_BATCHES "Compile sources in batches: a whole build takes half the time, one after a change longer" ON)
function(accelerate_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ACCELERATE_BATCHES} UNITY_BUILD_BATCH_SIZE 10)
  if(ACCELERATE_BATCHES AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # which takes a source in a batch for a header
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# accelerate_compile_quickly(target)
# For programs whose work is done in the libraries, which keep -O3.
function(accelerate_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # which then sees mistakes where the path of the clone is joined to names
    target_compile_options(${target} PRIVATE -Wno-stringop-overread)
  endif()
endfunction()

# accelerate_use_precompiled(target headers)
# PIC everywhere, because a precompiled header serves only files compiled with the same flags.
function(accelerate_use_precompiled target headers)
  target_compile_options(${target} PRIVATE ${ACCELERATE_PRECOMPILED_OPTIONS})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_compile_options(${target} PRIVATE -fPIC)  # the property would mean -fPIE here
  else()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# accelerate_room(name [TORCH | TENSORS] [LIBRARY library] SOURCES ... [LIBRARIES ...] [ROOMS ...])
# A room of the shared library `accelerate`, or of the one that LIBRARY names. Tests that name it get ROOMS with it.
# TENSORS is TORCH for rooms that use tensors and nothing of torch::nn and torch::optim.
function(accelerate_room name)
  cmake_parse_arguments(ROOM "TORCH;TENSORS" "LIBRARY" "SOURCES;LIBRARIES;ROOMS" ${ARGN})
  if((ROOM_TORCH OR ROOM_TENSORS) AND NOT ACCELERATE_TORCH)
    return()
  endif()
  if(NOT ROOM_LIBRARY)
    set(ROOM_LIBRARY accelerate)
  endif()
  set(target accelerate_${name})
  add_library(${target} OBJECT ${ROOM_SOURCES})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(${target} PUBLIC ${ROOM_LIBRARIES})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  accelerate_warnings(${target})
  if(ROOM_TORCH)
    accelerate_use_torch(${target})
  elseif(ROOM_TENSORS)
    accelerate_use_torch(${target} TENSORS)
  else()
    accelerate_use_precompiled(${target} accelerate_standard_headers)
  endif()
  accelerate_compile_together(${target})
  set_target_properties(${target} PROPERTIES
    ACCELERATE_LIBRARIES "${ROOM_LIBRARIES}"
    ACCELERATE_ROOMS "${ROOM_ROOMS}")
  set_property(GLOBAL APPEND PROPERTY ACCELERATE_ROOMS_OF_${ROOM_LIBRARY} ${name})
endfunction()

# accelerate_library(name [EXCEPT rooms...])
# The shared library lib<name>.so of the rooms that were made for it. cmake/public_headers.txt lists what is installed.
function(accelerate_library name)
  cmake_parse_arguments(LIBRARY "" "" "EXCEPT" ${ARGN})
  get_property(rooms GLOBAL PROPERTY ACCELERATE_ROOMS_OF_${name})
  list(REMOVE_ITEM rooms ${LIBRARY_EXCEPT})

  add_library(${name} SHARED)
  add_library(accelerate::${name} ALIAS ${name})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC torch PRIVATE Threads::Threads)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt)
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt headers REGEX "^${name}/")
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/)
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  foreach(room IN LISTS rooms)
    get_target_property(libraries accelerate_${room} ACCELERATE_LIBRARIES)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:accelerate_${room}>)
    target_link_libraries(${name} PRIVATE "$<BUILD_INTERFACE:${libraries}>")
  endforeach()

  # While the version is 0.y every minor version may change the interface, so both numbers are part of the soname.
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# accelerate_test(name [TORCH] SOURCES ... ROOMS ... [LIBRARIES ...] [TIMEOUT seconds])
# One test binary, linked with the objects of the rooms it names and with what those need.
function(accelerate_test name)
  cmake_parse_arguments(TEST "TORCH" "TIMEOUT" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  if(TEST_TORCH AND NOT ACCELERATE_TORCH)
    return()
  endif()
  add_executable(${name} ${TEST_SOURCES} $<TARGET_OBJECTS:accelerate_test_main>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE ACCELERATE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    ACCELERATE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(rooms ${TEST_ROOMS})
  foreach(room IN LISTS TEST_ROOMS)
    get_property(others TARGET accelerate_${room} PROPERTY ACCELERATE_ROOMS)
    list(APPEND rooms ${others})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room IN LISTS rooms)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:accelerate_${room}>)
    get_target_property(libraries accelerate_${room} ACCELERATE_LIBRARIES)
    if(libraries)
      target_link_libraries(${name} PRIVATE ${libraries})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE Threads::Threads nlohmann_json::nlohmann_json ${TEST_LIBRARIES})
  accelerate_warnings(${name})
  accelerate_compile_quickly(${name})
  if(TEST_TORCH)
    accelerate_use_torch(${name})
    accelerate_compile_together(${name})
  else()
    accelerate_use_precompiled(${name} accelerate_standard_headers)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 900)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT})
endfunction()
