# Counts how often each line of the runtime and of the backends' device halves runs (preset
# coverage, for scripts/coverage.sh). Everything else is compiled as in the release preset.

option(TAPER_COVERAGE "Count the lines that run of what reads files (needs gcc)" OFF)
if(TAPER_COVERAGE)
  foreach(target taper_runtime ${TAPER_DEVICE_TARGETS})
    set(counted ${target})
    if(TARGET ${target}_planner)
      list(APPEND counted ${target}_planner)
    endif()
    foreach(each IN LISTS counted)
      # Processes of tests that run at the same time add to the same counts.
      target_compile_options(${each} PRIVATE --coverage -fprofile-update=atomic -O0)
      target_link_options(${each} PUBLIC --coverage)
    endforeach()
  endforeach()
endif()
