# Finds the headers of Highway, which is all that kernels_optimized uses of it. TAPER_HAS_OPTIMIZED
# says whether kernels_optimized is built.

set(TAPER_OPTIMIZED AUTO CACHE STRING "Build kernels_optimized: ON, OFF, or AUTO when Highway is found")
taper_find_highway()
mark_as_advanced(TAPER_HIGHWAY_INCLUDE)
set(TAPER_HAS_OPTIMIZED ${TAPER_OPTIMIZED})
if(TAPER_OPTIMIZED STREQUAL "AUTO")
  set(TAPER_HAS_OPTIMIZED OFF)
  if(TAPER_HIGHWAY_INCLUDE)
    set(TAPER_HAS_OPTIMIZED ON)
  endif()
endif()

if(TAPER_HAS_OPTIMIZED AND NOT TAPER_HIGHWAY_INCLUDE)
  message(FATAL_ERROR "Highway is missing: run scripts/deps.sh, or set TAPER_HIGHWAY_INCLUDE")
elseif(NOT TAPER_HAS_OPTIMIZED)
  message(STATUS
    "Without kernels_optimized: portable kernels only (scripts/deps.sh installs Highway)")
else()
  message(STATUS "With kernels_optimized: Highway in ${TAPER_HIGHWAY_INCLUDE}")
  taper_component(highway Apache-2.0 https://github.com/google/highway DEBIAN libhwy-dev)
endif()
