# Installs what applications use: find_package(Taper COMPONENTS runtime kernels optimized backends
# compiler shared), pkg-config files, and only public headers. Each backend is a component, too.
#
#   runtime    taper::runtime (no heap), taper::module (convenient), taper::devtools (traces, tests)
#   kernels    taper::kernels_portable, and taper_selected_kernels() for those that models use
#   optimized  taper::kernels_optimized    NAME      taper::NAME, one backend
#   shared     taper::shared, C API        backends  taper::backends, all of them as a table
#   compiler   taper::exir, and the `taper` command      signing  taper::signing, which needs libsodium
#   compiler_library  taper::compiler, C API

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/taper)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR})

# taper_install(COMPONENT target...): installs the targets of a component and a file that exports
# them.
function(taper_install component)
  foreach(target IN LISTS ARGN)
    string(REPLACE "taper_" "" short ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${short})
  endforeach()
  install(TARGETS ${ARGN} EXPORT taper-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    INCLUDES DESTINATION ${include_dir})
  install(EXPORT taper-${component} NAMESPACE taper:: DESTINATION ${package_dir})
endfunction()

taper_install(runtime taper_schema taper_freestanding taper_on_heap taper_fast_loops taper_runtime taper_module
  taper_devtools)
taper_install(kernels taper_kernels_portable)
install(DIRECTORY runtime/include/ DESTINATION ${include_dir} FILES_MATCHING PATTERN "*.h")
install(FILES kernels_portable/kernel_table.h DESTINATION ${include_dir}/kernels_portable)
# The sources of the kernels, which taper_selected_kernels() compiles for an application's dtypes,
# and of the runtime. Together they are what the output of `taper export --format=c` needs to be
# compiled for another machine.
set(source_dir ${CMAKE_INSTALL_DATADIR}/taper)
install(DIRECTORY kernels_portable kernels_optimized DESTINATION ${source_dir}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "ops.def" PATTERN "*_test.cpp" EXCLUDE
  PATTERN "cases" EXCLUDE)
install(DIRECTORY runtime/core runtime/program runtime/executor runtime/include
  DESTINATION ${source_dir}/runtime
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*_test.cpp" EXCLUDE)
install(DIRECTORY schema ${generated_dir}/schema DESTINATION ${source_dir}
  FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${TAPER_FLATBUFFERS_INCLUDE}/flatbuffers DESTINATION ${source_dir}
  FILES_MATCHING PATTERN "*.h" PATTERN "pch" EXCLUDE)
install(FILES cmake/select.cmake DESTINATION ${package_dir})

# What an application needs to open libtaper_aten.so.
install(FILES aten/interface.h DESTINATION ${include_dir}/aten)

if(TAPER_HAS_OPTIMIZED)
  taper_install(optimized taper_kernels_optimized)
  install(FILES kernels_optimized/kernel_table.h kernels_optimized/cores/gemm.h
    DESTINATION ${include_dir}/kernels_optimized)
endif()
if(TAPER_HAS_SIGNING)
  taper_install(signing taper_signing)
  install(FILES signing/signature.h DESTINATION ${include_dir}/signing)
endif()
set(TAPER_BACKEND_COMPONENTS)
set(TAPER_BACKEND_PACKAGES)  # The packages that they need.
foreach(folder IN LISTS TAPER_BACKEND_FOLDERS)
  get_filename_component(backend ${folder} NAME)
  if(TARGET taper_${backend})
    list(APPEND TAPER_BACKEND_COMPONENTS ${backend})
    list(APPEND TAPER_BACKEND_PACKAGES ${TAPER_${backend}_PACKAGES})
    taper_install(${backend} taper_${backend} ${TAPER_${backend}_TARGETS})
    install(FILES ${TAPER_${backend}_ARCHIVES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/taper)
    foreach(header IN LISTS TAPER_${backend}_HEADERS)
      get_filename_component(place ${folder}/${header} DIRECTORY)
      install(FILES ${folder}/${header} DESTINATION ${include_dir}/${place})
    endforeach()
  endif()
endforeach()
taper_install(backends taper_backends)
install(FILES backends/devices.h DESTINATION ${include_dir}/backends)
if(TAPER_SHARED)
  taper_install(shared taper_shared)
endif()
if(TARGET taper_compiler)
  taper_install(compiler_library taper_compiler)
  install(FILES tools/include/taper/compiler.h DESTINATION ${include_dir}/taper)
endif()
if(TARGET taper_exir)
  taper_install(compiler taper_exir taper)
  set(compiler_headers ${include_dir}/taper-compiler)
  target_include_directories(taper_exir INTERFACE $<INSTALL_INTERFACE:${compiler_headers}>)
  install(FILES exir/export.h exir/lower.h DESTINATION ${compiler_headers}/exir)
  foreach(folder ir emit memory delegate)
    install(DIRECTORY exir/${folder} DESTINATION ${compiler_headers}/exir
      FILES_MATCHING PATTERN "*.h" PATTERN "*_for_test.h" EXCLUDE)
  endforeach()
  install(FILES exir/frontend/blob.h exir/frontend/import.h
    DESTINATION ${compiler_headers}/exir/frontend)
  install(FILES exir/dialect/verifier.h DESTINATION ${compiler_headers}/exir/dialect)
  install(FILES exir/ops/builtin.h exir/ops/declare.h DESTINATION ${compiler_headers}/exir/ops)
  install(DIRECTORY ${generated_dir}/schema DESTINATION ${compiler_headers}
    FILES_MATCHING PATTERN "*.h")
endif()
if(TARGET executor_runner)
  install(TARGETS executor_runner RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

taper_install_licenses()

set(package ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(cmake/taper-config.cmake.in ${package}/taper-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${package}/taper-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# The package may be moved: pkg-config finds everything relative to its file.
file(RELATIVE_PATH prefix_from_pc /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/taper.pc.in ${package}/taper.pc @ONLY)
configure_file(cmake/taper-static.pc.in ${package}/taper-static.pc @ONLY)
install(FILES ${package}/taper-config.cmake ${package}/taper-config-version.cmake
  DESTINATION ${package_dir})
install(FILES ${package}/taper.pc ${package}/taper-static.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The version in taper/taper.h must be the version of the project.
file(STRINGS runtime/include/taper/taper.h version REGEX "define TAPER_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" version "${version}")
string(REPLACE ";" "." version "${version}")
if(NOT version STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR
    "taper/taper.h has version ${version}, the project has version ${PROJECT_VERSION}")
endif()
