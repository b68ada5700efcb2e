# Finds libsodium, which does the arithmetic of signatures: taper::sodium. TAPER_HAS_SIGNING says
# whether signing/ is built. Its archive is linked where there is one, so that programs do not need the
# library at run time.

set(TAPER_SIGNING AUTO CACHE STRING "Build signing: ON, OFF, or AUTO when libsodium is found")
find_path(TAPER_SODIUM_INCLUDE sodium.h)
find_library(TAPER_SODIUM_LIBRARY NAMES libsodium.a sodium)
mark_as_advanced(TAPER_SODIUM_INCLUDE TAPER_SODIUM_LIBRARY)
set(TAPER_HAS_SIGNING ${TAPER_SIGNING})
if(TAPER_SIGNING STREQUAL "AUTO")
  set(TAPER_HAS_SIGNING ${TAPER_HOST})
  if(TAPER_SODIUM_INCLUDE AND TAPER_SODIUM_LIBRARY)
    set(TAPER_HAS_SIGNING ON)
  endif()
endif()

if(TAPER_HAS_SIGNING AND NOT (TAPER_SODIUM_INCLUDE AND TAPER_SODIUM_LIBRARY))
  message(FATAL_ERROR "libsodium is missing: run scripts/deps.sh")
elseif(TAPER_HAS_SIGNING)
  add_library(taper::sodium UNKNOWN IMPORTED GLOBAL)
  set_target_properties(taper::sodium PROPERTIES IMPORTED_LOCATION ${TAPER_SODIUM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${TAPER_SODIUM_INCLUDE})
  taper_component(libsodium ISC https://libsodium.org DEBIAN libsodium-dev)
endif()
