# Programs whose sizes are measured: statically linked, unused sections dropped. See README.md.

set(TAPER_SIZE_MODELS "" CACHE STRING "Programs whose trimmed binaries are measured: NAME.pte;...")

function(taper_size_program name source)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/test/size/${source}.cpp)
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE taper::warnings ${ARGN})
  target_link_options(${name} PRIVATE -static -Wl,--gc-sections -s)
endfunction()

if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
  taper_size_program(size_empty size_empty)
  taper_size_program(size_core size_core taper_runtime)
  taper_size_program(size_add size_add taper_runtime taper_kernels_portable)
  taper_size_program(size_all size_all taper_runtime taper_kernels_portable)
  foreach(model IN LISTS TAPER_SIZE_MODELS)
    get_filename_component(name ${model} NAME_WE)
    taper_size_program(size_of_${name} size_selected taper_runtime)
    taper_selected_kernels(TARGET size_of_${name} MODELS ${model})
  endforeach()
endif()
