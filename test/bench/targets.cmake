# Benchmark programs that print figures: bench_kernels, bench_optimized, bench_runtime, bench_tracing, bench_export,
# and bench_NAME for each backend that has sources in its folder bench/.

find_package(benchmark CONFIG QUIET)
if(TAPER_BENCH AND TAPER_HOST AND benchmark_FOUND)
  foreach(name kernels optimized runtime tracing export)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/bench_${name}.cpp)
      taper_program(bench_${name} FILES test/bench/bench_${name}.cpp test/support/synthetic_program.cpp
        LINK taper_tools taper_backends_aot taper_backends benchmark::benchmark)
      target_compile_definitions(bench_${name} PRIVATE TAPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
  foreach(backend_folder IN LISTS TAPER_BACKEND_FOLDERS)
    get_filename_component(backend ${backend_folder} NAME)
    if(TARGET taper_${backend})
      taper_program(bench_${backend} FOLDERS ${backend_folder}/bench
        LINK taper_${backend} ${TAPER_${backend}_LINK} benchmark::benchmark)
    endif()
  endforeach()
endif()
