# What the command finds beside the library: the recipe that `accelerate launch train.cpp` compiles with, one for this
# build directory and one for the prefix, and the helper programs. In a recipe {prefix} is the directory above that of
# the command, wherever that is by then.

function(accelerate_json_list variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  list(JOIN ARGN ", " text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# accelerate_program_recipe(file include_dir library_dir torch_dir)
function(accelerate_program_recipe file include_dir library_dir torch_dir)
  set(headers accelerate/accelerate.h)
  set(links -laccelerate)
  if(ACCELERATE_TRANSFORMERS)
    list(APPEND headers transformers/transformers.h)
    list(PREPEND links -ltransformers)
  endif()
  get_target_property(definitions torch_cpu INTERFACE_COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  accelerate_json_list(recipe_headers ${headers})
  accelerate_json_list(recipe_compile -isystem ${include_dir} -isystem ${torch_dir}/include
    -isystem ${torch_dir}/include/torch/csrc/api/include ${definitions})
  accelerate_json_list(recipe_link -Wl,--as-needed -L${library_dir} ${links} -Wl,-rpath,${library_dir}
    -L${torch_dir}/lib -ltorch_cpu -lc10 -Wl,-rpath,${torch_dir}/lib)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/program.json.in ${file} @ONLY)
endfunction()

accelerate_program_recipe(${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/accelerate/program.json
  ${PROJECT_SOURCE_DIR} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${TORCH_INSTALL_PREFIX})

if(NOT ACCELERATE_INSTALL)
  return()
endif()

set(installed_torch ${TORCH_INSTALL_PREFIX})
set(helper_torch ${TORCH_INSTALL_PREFIX})
if(ACCELERATE_BUNDLE_TORCH)
  set(installed_torch {prefix}/${CMAKE_INSTALL_LIBDIR}/accelerate/torch)
  set(helper_torch $ORIGIN/../../${CMAKE_INSTALL_LIBDIR}/accelerate/torch)
endif()
accelerate_program_recipe(${PROJECT_BINARY_DIR}/installed_program.json
  {prefix}/${CMAKE_INSTALL_INCLUDEDIR} {prefix}/${CMAKE_INSTALL_LIBDIR} ${installed_torch})
install(FILES ${PROJECT_BINARY_DIR}/installed_program.json
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/accelerate RENAME program.json)
if(TARGET accelerate_conformance)
  set_target_properties(accelerate_conformance PROPERTIES
    INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR};${helper_torch}/lib")
  install(TARGETS accelerate_conformance DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/accelerate)
endif()
if(TARGET accelerate_cells)
  set_target_properties(accelerate_notebook PROPERTIES INSTALL_RPATH "$ORIGIN;${torch_rpath}")
  set_target_properties(accelerate_cells PROPERTIES
    INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR};${helper_torch}/lib;${LLVM_LIBRARY_DIR}")
  install(TARGETS accelerate_notebook)
  install(TARGETS accelerate_cells accelerate_kernel DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/accelerate)
  install(FILES ${PROJECT_SOURCE_DIR}/notebook/prelude.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/notebook)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/notebook/runtime DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/notebook
    FILES_MATCHING PATTERN "*.h")
endif()
