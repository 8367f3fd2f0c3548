# `make install`: headers, libraries, the command, a CMake package and a pkg-config file, all relocatable.
#
# A libtorch that lives in this clone is copied into the prefix, so that what is installed outlives the clone. Any other
# libtorch is used where it is.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/accelerate)
cmake_path(IS_PREFIX ACCELERATE_CLONE_VENV ${TORCH_INSTALL_PREFIX} NORMALIZE ACCELERATE_BUNDLE_TORCH)

if(ACCELERATE_BUNDLE_TORCH)
  set(bundle_dir ${CMAKE_INSTALL_LIBDIR}/accelerate)
  install(DIRECTORY ${TORCH_INSTALL_PREFIX}/include ${TORCH_INSTALL_PREFIX}/share DESTINATION ${bundle_dir}/torch)
  install(DIRECTORY ${TORCH_INSTALL_PREFIX}/lib DESTINATION ${bundle_dir}/torch
    USE_SOURCE_PERMISSIONS
    PATTERN "*_python*" EXCLUDE PATTERN "*_test*" EXCLUDE PATTERN "libshm*" EXCLUDE)
  # The CUDA wheels look for NVIDIA's libraries beside the torch folder.
  if(EXISTS ${TORCH_INSTALL_PREFIX}/../nvidia)
    install(DIRECTORY ${TORCH_INSTALL_PREFIX}/../nvidia DESTINATION ${bundle_dir} USE_SOURCE_PERMISSIONS)
  endif()
  set(torch_rpath $ORIGIN/accelerate/torch/lib)
  set(pkgconfig_torch "\${libdir}/accelerate/torch")
  set(torch_from_package "../../accelerate/torch")
else()
  set(torch_rpath ${TORCH_INSTALL_PREFIX}/lib)
  set(pkgconfig_torch ${TORCH_INSTALL_PREFIX})
  set(torch_from_package ${TORCH_INSTALL_PREFIX})
endif()

set(libraries accelerate)
if(ACCELERATE_TRANSFORMERS)
  list(APPEND libraries transformers)
endif()
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN;${torch_rpath}")
install(TARGETS ${libraries} EXPORT accelerateTargets FILE_SET HEADERS)
install(EXPORT accelerateTargets NAMESPACE accelerate:: DESTINATION ${package_dir})
if(TARGET accelerate_command)
  install(TARGETS accelerate_command)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/accelerateConfig.cmake.in
  ${PROJECT_BINARY_DIR}/accelerateConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/accelerateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/accelerateConfig.cmake ${PROJECT_BINARY_DIR}/accelerateConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/AccelerateFindTorch.cmake DESTINATION ${package_dir})

get_target_property(torch_definitions torch_cpu INTERFACE_COMPILE_DEFINITIONS)
list(TRANSFORM torch_definitions PREPEND -D)
list(JOIN torch_definitions " " pkgconfig_definitions)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE prefix_from_pkgconfig)
set(pkgconfig_files accelerate.pc)
if(ACCELERATE_TRANSFORMERS)
  list(APPEND pkgconfig_files accelerate-transformers.pc)
endif()
foreach(file IN LISTS pkgconfig_files)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file}.in ${PROJECT_BINARY_DIR}/${file} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
