# Refuses a folder that is only part of a backend, so that it does not go unnoticed.

# Checks that the folders in PARENT, a path from ROOT, are those of LIST, and that each has all
# parts of a backend.
function(taper_check_backends root parent list)
  file(GLOB folders RELATIVE ${root} ${root}/${parent}/*)
  foreach(folder IN LISTS folders list)
    if(NOT IS_DIRECTORY ${root}/${folder})
      if(folder IN_LIST list)
        message(FATAL_ERROR "backends/backends.cmake lists ${folder}, which is not a folder")
      endif()
      continue()
    endif()
    foreach(file descriptor.h backend.cmake README.md aot/descriptor.cpp runtime/descriptor.cpp)
      if(NOT EXISTS ${root}/${folder}/${file})
        message(FATAL_ERROR
          "${folder} has no ${file}: backends/README.md says what a backend consists of")
      endif()
    endforeach()
    if(NOT folder IN_LIST list)
      message(FATAL_ERROR "${folder} is not in backends/backends.cmake: add a line for it")
    endif()
  endforeach()
endfunction()
