# What the compiler and the command line need, as Debian 12 ships it:
#
#   taper::zip      zlib      inflates and checks the members of .pt2 archives
#   taper::json     simdjson  reads the program inside one
#   taper::options  cxxopts   command lines; headers only, leaves only

find_package(PkgConfig REQUIRED)

function(taper_package alias module)
  pkg_check_modules(${module} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${module}_FOUND)
    message(FATAL_ERROR "${module} is missing: run scripts/deps.sh")
  endif()
  add_library(taper::${alias} ALIAS PkgConfig::${module})
endfunction()

taper_package(zip zlib)
taper_package(json simdjson)
taper_package(options cxxopts)
taper_component(zlib Zlib https://zlib.net DEBIAN zlib1g-dev)
taper_component(simdjson Apache-2.0 https://github.com/simdjson/simdjson DEBIAN libsimdjson-dev)
taper_component(cxxopts MIT https://github.com/jarro2783/cxxopts DEBIAN libcxxopts-dev)
