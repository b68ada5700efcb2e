# taper_fuzz, the deterministic driver; with TAPER_LIBFUZZER also the target of libFuzzer.

if(TAPER_HOST)
  taper_sources(fuzz_sources FOLDERS test/fuzz EXCLUDE test/fuzz/driver.cpp test/fuzz/libfuzzer.cpp)
  if(TARGET taper_tools)
    set(fuzzed)  # Backends of this build that provide seeds and mutators.
    foreach(backend_folder IN LISTS TAPER_BACKEND_FOLDERS)
      get_filename_component(backend ${backend_folder} NAME)
      taper_sources(hooks FOLDERS ${backend_folder}/fuzz)
      if(hooks AND TARGET taper_${backend})
        list(APPEND fuzzed ${backend})
        list(APPEND fuzz_sources ${hooks})
      endif()
    endforeach()
    set(table ${PROJECT_BINARY_DIR}/generated/taper_fuzz/backend_hooks.cpp)
    taper_backend_table(${table} test/fuzz/backend_hooks.h fuzz::BackendHooks kFuzz
      "std::span<const fuzz::BackendHooks* const>" fuzz::backend_hooks ${fuzzed})
    add_library(taper_fuzz_support STATIC ${fuzz_sources} ${table})
    target_compile_features(taper_fuzz_support PUBLIC cxx_std_20)
    target_compile_definitions(taper_fuzz_support PRIVATE TAPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(taper_fuzz_support PRIVATE taper::warnings
      PUBLIC taper_compiler_api taper_tools taper_backends_aot taper_backends)
    taper_program(taper_fuzz FILES test/fuzz/driver.cpp LINK taper_fuzz_support)
    if(TAPER_LIBFUZZER)
      if(TAPER_HAS_OPTIMIZED)
        # With clang's sanitizers Highway checks its arguments, and its library has what then aborts.
        target_link_libraries(taper_kernels_optimized INTERFACE hwy)
      endif()
      taper_program(taper_libfuzzer FILES test/fuzz/libfuzzer.cpp LINK taper_fuzz_support)
      target_link_options(taper_libfuzzer PRIVATE -fsanitize=fuzzer)
    endif()
  endif()
endif()
