# Lets the wheel run on glibc 2.28, together with src/glibc.cpp. What lies in libc.so.6 since 2.34
# was in libraries of its own before, and the loaders of that time look nowhere else. So the wheel is
# linked with libraries of these names, which hold nothing but the names of the functions.

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(oldest GLIBC_2.17)
else()
  set(oldest GLIBC_2.2.5)
endif()

# taper_old_library(TARGET NAME VERSION FUNCTION...): links the target with libNAME.so.VERSION.
function(taper_old_library target name version)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/old_${name}.c)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/old_${name}.map)
  list(JOIN ARGN "(void) {}\nvoid " functions)
  list(JOIN ARGN ";\n  " names)
  file(CONFIGURE OUTPUT ${source} CONTENT "void ${functions}(void) {}\n")
  file(CONFIGURE OUTPUT ${map} CONTENT "${oldest} {\n  ${names};\n};\n")
  add_library(old_${name} SHARED ${source})
  target_compile_options(old_${name} PRIVATE -fno-builtin)
  target_link_options(old_${name} PRIVATE -nostdlib -Wl,--version-script,${map}
    -Wl,-soname,lib${name}.so.${version})
  set_target_properties(old_${name} PROPERTIES NO_SONAME ON LINK_DEPENDS ${map})
  add_dependencies(${target} old_${name})
  # First, and in any case: a library further on may be the first to call one of the functions.
  target_link_options(${target} PRIVATE
    -Wl,--push-state,--no-as-needed,$<TARGET_FILE:old_${name}>,--pop-state)
endfunction()

# The last eight are of parts of the C++ library that the wheel leaves out; gold names them even so.
taper_old_library(taper_python pthread 0 pthread_create pthread_join pthread_once
  pthread_detach pthread_getspecific pthread_key_create pthread_key_delete pthread_rwlock_rdlock
  pthread_rwlock_unlock pthread_rwlock_wrlock pthread_setspecific)
taper_old_library(taper_python dl 2 dlerror dlopen dlsym)
