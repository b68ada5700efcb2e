# Tests, benchmarks, fuzz targets and size programs.
#
# Unit tests lie beside the code (runtime/**/x_test.cpp) and link what that folder may link; tests
# that span folders lie in test/, one program per folder.

if(TAPER_TESTS)
  find_package(GTest REQUIRED)
  enable_testing()
  taper_library(taper_test_support FOLDERS test/support EXCLUDE test/support/backends/ LINK
                PUBLIC taper_kernels_portable taper_runtime STANDARD 20)
  if(WIN32)  # What <typeinfo> defines inline, gcc's library defines once more.
    target_link_options(taper_test_support PUBLIC -Wl,--allow-multiple-definition)
  endif()
  taper_tests(runtime LINK taper_devtools taper_test_support)
  taper_tests(kernels_portable LINK taper_test_support)
  if(TAPER_HAS_OPTIMIZED)
    taper_tests(kernels_optimized LINK taper_kernels_optimized taper_test_support)
  endif()
  foreach(folder IN LISTS TAPER_BACKEND_FOLDERS TAPER_TEST_BACKEND_FOLDERS)
    get_filename_component(backend ${folder} NAME)
    if(TARGET taper_${backend})
      taper_tests(${folder}/runtime LINK taper_${backend} taper_test_support
                  ${TAPER_${backend}_LINK})
    endif()
    if(TARGET taper_${backend}_planner)
      taper_tests(${folder}/planner LINK taper_${backend}_planner taper::schema)
    endif()
    if(TAPER_HOST)
      taper_tests(${folder}/aot LINK taper_${backend}_aot)
    endif()
  endforeach()
  if(TAPER_HAS_SIGNING)
    taper_tests(signing LINK taper_signing taper_test_support)
  endif()
  set(everything taper_devtools taper_test_support taper_backends ${kernels})
  if(TAPER_HOST)
    taper_tests(exir LINK taper_exir taper_module taper_test_support taper::zip taper::json)
    taper_tests(selective_build LINK taper_select taper_module taper_test_support)
    taper_tests(tools LINK taper_compiler_api taper_commands taper_tools taper_test_support taper_backends_aot taper_backends)
    set(everything taper_compiler_api taper_commands taper_tools taper_test_support taper_test_backends_aot taper_test_backends
      taper::zip taper::json)
    taper_program(taper_with_test_backends FILES tools/main.cpp
      LINK taper_commands taper_tools taper_test_backends_aot taper_test_backends)
    target_compile_definitions(taper_with_test_backends PRIVATE TAPER_VERSION="${PROJECT_VERSION}")
  endif()
  taper_tests(examples LINK ${everything})
  file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/*)
  foreach(folder IN LISTS folders)
    if(folder STREQUAL "test/tidy")
      taper_tests(${folder} HELPERS)  # Reads the source tree and needs no libraries.
    elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} AND NOT folder STREQUAL "test/support")
      taper_tests(${folder} HELPERS LINK ${everything})
      string(REPLACE "/" "_" name ${folder})
      foreach(program taper taper_with_test_backends executor_runner custom_op c_api c_compile)
        if(TARGET ${name}_test AND TARGET ${program})
          add_dependencies(${name}_test ${program})
        endif()
      endforeach()
    endif()
  endforeach()
endif()

# Drivers that a backend's tests load take memory from the heap, which sanitizers do not tell apart.
if(TARGET test_backends_test AND NOT TAPER_SANITIZE)
  foreach(backend IN LISTS TAPER_BACKEND_NAMES)
    if(TAPER_${backend}_TEST_ENVIRONMENT)
      add_test(NAME test_backends_test_${backend} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
        COMMAND test_backends_test --gtest_brief=1 --gtest_filter=*/${backend}*)
      set_tests_properties(test_backends_test_${backend} PROPERTIES
        LABELS test/backends ENVIRONMENT "${TAPER_${backend}_TEST_ENVIRONMENT}"
        COST 1000)  # The longest one begins first.
    endif()
  endforeach()
endif()
# int8 has kernels of its own for each instruction set.
if(TARGET test_e2e_test AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(isa avx2 avx512)
    add_test(NAME test_e2e_test_${isa} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
      COMMAND test_e2e_test --gtest_brief=1 --gtest_filter=*int8*)
    set_tests_properties(test_e2e_test_${isa} PROPERTIES
      LABELS test/e2e ENVIRONMENT TAPER_MAX_ISA=${isa})
  endforeach()
endif()
if(TARGET test_cli_test)
  set_tests_properties(test_cli_test PROPERTIES COST 500)  # The longest one under sanitizers.
endif()

if(TARGET test_cli_test AND TARGET taper_shared)
  target_compile_definitions(test_cli_test PRIVATE TAPER_SHARED=1
    TAPER_SHARED_FAST=$<BOOL:${TAPER_SHARED_FAST}>
    TAPER_SHARED_LIBRARY="$<TARGET_FILE:taper_shared>"
    TAPER_COMPILER_LIBRARY="$<TARGET_FILE:taper_compiler>")
endif()

foreach(folder bench size fuzz selected)
  if(EXISTS ${PROJECT_SOURCE_DIR}/test/${folder}/targets.cmake)
    include(${PROJECT_SOURCE_DIR}/test/${folder}/targets.cmake)
  endif()
endforeach()
