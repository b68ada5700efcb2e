# Installs the device half, so that an application says find_package(taper) and links
# taper::module (convenient) or taper::runtime (no heap) with taper::kernels_portable.

include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/taper)
set(installed taper_schema taper_freestanding taper_fast_loops taper_runtime taper_module
  taper_kernels_portable)
if(TAPER_HAS_OPTIMIZED)
  list(APPEND installed taper_kernels_optimized)
  install(FILES kernels_optimized/kernel_table.h kernels_optimized/gemm.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernels_optimized)
endif()
foreach(target IN LISTS installed)
  string(REPLACE "taper_" "" short ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short})
endforeach()
install(TARGETS ${installed} EXPORT taper-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT taper-targets NAMESPACE taper:: FILE taper-config.cmake DESTINATION ${package_dir})
install(DIRECTORY runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES kernels_portable/kernel_table.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernels_portable)
foreach(program taper executor_runner)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
