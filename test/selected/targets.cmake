# Builds one trimmed application per group of models. TAPER_SELECTED_MODELS is a list of groups,
# each a list of .pte files separated by |; scripts/selected.sh sets it. TAPER_SELECTED_DELEGATED
# are groups whose programs the backend TAPER_SELECTED_BACKEND runs, so that they are linked with
# those parts of it that they need.

set(TAPER_SELECTED_MODELS "" CACHE STRING "a.pte|b.pte;c.pte: groups of models for trimmed binaries")
set(TAPER_SELECTED_FAST "" CACHE STRING "The same, with the optimized forms of kernels")
set(TAPER_SELECTED_DELEGATED "" CACHE STRING "The same, with delegates")
set(TAPER_SELECTED_BACKEND "" CACHE STRING "The id of these delegates")

function(taper_selected_program name models)
  string(REPLACE "|" ";" models "${models}")
  add_executable(${name} test/selected/main.cpp test/e2e/model_cases.cpp tools/npy.cpp
    tools/compare.cpp tools/tensor_bytes.cpp tools/atomic_file.cpp
    tools/interrupt.cpp tools/system_posix.cpp)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE TAPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE taper::warnings taper_module taper_backends)
  taper_selected_kernels(TARGET ${name} MODELS ${models} ${ARGN})
endfunction()

set(group 0)
foreach(models IN LISTS TAPER_SELECTED_MODELS)
  taper_selected_program(selected_${group} "${models}")
  math(EXPR group "${group} + 1")
endforeach()
set(group 0)
foreach(models IN LISTS TAPER_SELECTED_FAST)
  taper_selected_program(selected_fast_${group} "${models}" OPTIMIZED)
  math(EXPR group "${group} + 1")
endforeach()
set(group 0)
foreach(models IN LISTS TAPER_SELECTED_DELEGATED)
  taper_selected_program(selected_delegated_${group} "${models}" BACKENDS ${TAPER_SELECTED_BACKEND})
  math(EXPR group "${group} + 1")
endforeach()
