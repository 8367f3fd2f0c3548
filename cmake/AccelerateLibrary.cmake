# libaccelerate.so: the objects of all rooms but launch, which only the command needs.

get_property(rooms GLOBAL PROPERTY ACCELERATE_ROOMS)
list(REMOVE_ITEM rooms launch)

add_library(accelerate SHARED)
add_library(accelerate::accelerate ALIAS accelerate)
target_compile_features(accelerate PUBLIC cxx_std_20)
target_link_libraries(accelerate PUBLIC torch PRIVATE Threads::Threads)
foreach(room IN LISTS rooms)
  get_target_property(headers accelerate_${room} ACCELERATE_HEADERS)
  get_target_property(libraries accelerate_${room} ACCELERATE_LIBRARIES)
  target_sources(accelerate
    PRIVATE $<TARGET_OBJECTS:accelerate_${room}>
    PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(accelerate PRIVATE $<BUILD_INTERFACE:${libraries}>)
endforeach()

# While the version is 0.y every minor version may change the interface, so both numbers are part of the soname.
set_target_properties(accelerate PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  VERIFY_INTERFACE_HEADER_SETS ON)
