# taper::xnnpack_library: XNNPACK with what it stands on, as scripts/xnnpack.sh built it, or from a folder
# of the same form (include/, lib/) that TAPER_XNNPACK_ROOT names. TAPER_HAS_XNNPACK says whether it is used.

set(TAPER_XNNPACK_ROOT "" CACHE PATH "XNNPACK's headers and static libraries; empty: from the cache")
set(xnnpack_root "${TAPER_XNNPACK_ROOT}")
if(NOT xnnpack_root)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/xnnpack.sh where
    OUTPUT_VARIABLE xnnpack_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(xnnpack_found OFF)
if(EXISTS "${xnnpack_root}/include/xnnpack.h" AND EXISTS "${xnnpack_root}/lib/libXNNPACK.a")
  set(xnnpack_found ON)
endif()
set(TAPER_XNNPACK AUTO CACHE STRING "Run delegates of XNNPACK: ON, OFF, or AUTO when it is found")
set(TAPER_HAS_XNNPACK ${TAPER_XNNPACK})
if(TAPER_XNNPACK STREQUAL "AUTO")
  set(TAPER_HAS_XNNPACK ${xnnpack_found})
endif()

if(TAPER_HAS_XNNPACK AND NOT xnnpack_found)
  message(FATAL_ERROR "XNNPACK is missing: run scripts/deps.sh xnnpack, or set TAPER_XNNPACK_ROOT")
elseif(NOT TAPER_HAS_XNNPACK)
  message(STATUS "Without XNNPACK: portable kernels only (scripts/deps.sh xnnpack gets it)")
else()
  message(STATUS "With XNNPACK: ${xnnpack_root}")
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  add_library(taper_xnnpack_library INTERFACE)
  add_library(taper::xnnpack_library ALIAS taper_xnnpack_library)
  target_include_directories(taper_xnnpack_library SYSTEM INTERFACE
    $<BUILD_INTERFACE:${xnnpack_root}/include>)
  set(TAPER_XNNPACK_ARCHIVES)  # Here, and where an installed package has them.
  set(archives)
  foreach(name XNNPACK microkernels-prod pthreadpool cpuinfo)
    list(APPEND TAPER_XNNPACK_ARCHIVES ${xnnpack_root}/lib/lib${name}.a)
    list(APPEND archives $<BUILD_INTERFACE:${xnnpack_root}/lib/lib${name}.a>
      $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/lib/taper/lib${name}.a>)
  endforeach()
  # Which library it is: weights packed by another one are of no use.
  file(SHA256 ${xnnpack_root}/lib/libXNNPACK.a xnnpack_hash)
  target_compile_definitions(taper_xnnpack_library INTERFACE TAPER_XNNPACK_LIBRARY="${xnnpack_hash}")
  target_link_libraries(taper_xnnpack_library INTERFACE
    -Wl,--start-group ${archives} -Wl,--end-group Threads::Threads m)
endif()
