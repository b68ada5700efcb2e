# bench_kernels, bench_optimized, bench_runtime, bench_export, bench_xnnpack: Google Benchmark programs that print figures.

find_package(benchmark CONFIG QUIET)
if(TAPER_BENCH AND TAPER_HOST AND benchmark_FOUND)
  foreach(name kernels optimized runtime export)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/bench_${name}.cpp)
      taper_program(bench_${name} FILES test/bench/bench_${name}.cpp test/support/synthetic_program.cpp
        LINK taper_tools benchmark::benchmark)
      target_compile_definitions(bench_${name} PRIVATE TAPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
  if(TAPER_HAS_XNNPACK)
    taper_program(bench_xnnpack FILES test/bench/bench_xnnpack.cpp
      LINK taper_xnnpack taper::xnnpack_library benchmark::benchmark)
  endif()
endif()
