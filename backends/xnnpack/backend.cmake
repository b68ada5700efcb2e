# Finds XNNPACK and its dependencies, as built by scripts/xnnpack.sh, or in a folder with the same
# structure (include/, lib/) that TAPER_XNNPACK_ROOT names.

set(TAPER_XNNPACK_ROOT "" CACHE PATH "XNNPACK's headers and static libraries; empty: from the cache")
set(xnnpack_root "${TAPER_XNNPACK_ROOT}")
set(xnnpack_target)  # The machine, as the script names it; this one if empty.
if(TAPER_SANITIZE STREQUAL "thread")
  set(xnnpack_target tsan)
elseif(TAPER_SANITIZE MATCHES address)
  set(xnnpack_target asan)
elseif(ANDROID)
  set(xnnpack_target android)
elseif(WIN32)
  set(xnnpack_target windows)
elseif(CMAKE_CROSSCOMPILING)
  set(xnnpack_target ${CMAKE_SYSTEM_PROCESSOR})
endif()
if(NOT xnnpack_root)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/xnnpack.sh where ${xnnpack_target}
    OUTPUT_VARIABLE xnnpack_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${xnnpack_root}/include/xnnpack.h" OR NOT EXISTS "${xnnpack_root}/lib/libXNNPACK.a")
  set(script "deps.sh xnnpack")
  if(xnnpack_target)
    set(script "xnnpack.sh ${xnnpack_target}")
  endif()
  taper_backend_missing("XNNPACK is missing: run scripts/${script} or set TAPER_XNNPACK_ROOT")
  return()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
add_library(taper_xnnpack_library INTERFACE)
add_library(taper::xnnpack_library ALIAS taper_xnnpack_library)
target_include_directories(taper_xnnpack_library SYSTEM INTERFACE
  $<BUILD_INTERFACE:${xnnpack_root}/include>)
set(installed)
set(archives)  # Their paths in this build and in an installed package.
foreach(name XNNPACK microkernels-prod pthreadpool cpuinfo)
  list(APPEND installed ${xnnpack_root}/lib/lib${name}.a)
  list(APPEND archives $<BUILD_INTERFACE:${xnnpack_root}/lib/lib${name}.a>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/lib/taper/lib${name}.a>)
endforeach()
# Identifies the library: weights packed by another one cannot be used.
file(SHA256 ${xnnpack_root}/lib/libXNNPACK.a xnnpack_hash)
target_compile_definitions(taper_xnnpack_library INTERFACE TAPER_XNNPACK_LIBRARY="${xnnpack_hash}")
target_link_libraries(taper_xnnpack_library INTERFACE
  -Wl,--start-group ${archives} -Wl,--end-group Threads::Threads m)

# Their licences lie beside the libraries; scripts/xnnpack.sh names the versions.
foreach(part "xnnpack BSD-3-Clause google/XNNPACK" "pthreadpool BSD-2-Clause Maratyszcza/pthreadpool"
    "cpuinfo BSD-2-Clause pytorch/cpuinfo" "fp16 MIT Maratyszcza/FP16"
    "fxdiv MIT Maratyszcza/FXdiv" "psimd MIT Maratyszcza/psimd")
  separate_arguments(part)
  list(POP_FRONT part name license project)
  file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/xnnpack.sh version REGEX "^[0-9a-f]+ ${name}_")
  string(REGEX REPLACE ".*${name}_(.*)\\.orig.*" "\\1" version "${version}")
  taper_component(${name} ${license} https://github.com/${project}
    VERSION "${version}" TEXT ${xnnpack_root}/licenses/${name})
endforeach()

if(TAPER_HAS_OPTIMIZED)  # Some stages use it.
  set(optimized taper_kernels_optimized)
  set(without)
else()
  set(optimized)
  set(without)
  foreach(stage own planes bytes/byte_planes winograd taps depthwise grouped bfloat fused/fused
          fused/expanded fused/image_norm fused/plane_convolution fused/plane_layer attention
          arm/byte_depthwise arm/product)
    list(APPEND without ${backend_folder}/runtime/stages/${stage}_stage.cpp)
  endforeach()
  list(APPEND without ${backend_folder}/runtime/stages/fused/epilogue.cpp)
endif()
taper_backend_device(LINK taper::xnnpack_library ${optimized} EXCLUDE ${without}
  TARGETS taper_xnnpack_library ARCHIVES ${installed} PACKAGES Threads
  LIBRARY_HEADERS xnnpack.h pthreadpool.h
  HEADERS descriptor.h runtime/xnnpack_backend.h runtime/xnnpack_threads.h)
