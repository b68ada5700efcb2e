# What others wrote and Taper links: each part is named where the build finds it, and whoever installs
# Taper gets the texts of the licences (share/doc/taper/licenses) and a list in SPDX's form
# (share/doc/taper/taper.spdx). The component `licenses` of an installation is both in one folder, for
# packages that scripts put together; scripts/check_licenses.sh compares them in each package.
#
#   taper_component(NAME LICENSE URL DEBIAN package)           text and version are the package's
#   taper_component(NAME LICENSE URL [VERSION version] TEXT file)
#
# LICENSE is an identifier of SPDX's list. On a system other than Debian, where a package's text is
# not found, the list still names the part.

include(GNUInstallDirs)

define_property(GLOBAL PROPERTY TAPER_COMPONENTS BRIEF_DOCS "SPDX packages" FULL_DOCS "SPDX packages")

# taper_install_license(FILE NAME): into the packages that are not installed with CMake.
function(taper_install_license file name)
  install(FILES ${file} DESTINATION licenses RENAME ${name} COMPONENT licenses EXCLUDE_FROM_ALL)
  if(TAPER_PYTHON)
    install(FILES ${file} DESTINATION taper/licenses RENAME ${name} COMPONENT python)
  endif()
endfunction()

function(taper_component name license url)
  cmake_parse_arguments(arg "" "DEBIAN;VERSION;TEXT" "" ${ARGN})
  if(arg_DEBIAN)
    set(arg_TEXT /usr/share/doc/${arg_DEBIAN}/copyright)
    execute_process(COMMAND dpkg-query -W -f "\${Version}" ${arg_DEBIAN}
      OUTPUT_VARIABLE arg_VERSION ERROR_QUIET)
  endif()
  if(NOT arg_VERSION)
    set(arg_VERSION NOASSERTION)
  endif()
  if(EXISTS ${arg_TEXT})
    install(FILES ${arg_TEXT} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses RENAME ${name})
    taper_install_license(${arg_TEXT} ${name})
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY TAPER_COMPONENTS "
PackageName: ${name}
SPDXID: SPDXRef-${name}
PackageVersion: ${arg_VERSION}
PackageDownloadLocation: ${url}
FilesAnalyzed: false
PackageLicenseConcluded: ${license}
PackageLicenseDeclared: ${license}
PackageCopyrightText: NOASSERTION
Relationship: SPDXRef-taper DEPENDS_ON SPDXRef-${name}
")
endfunction()

# What the linker takes from the compiler's own libraries: into all programs for Windows, elsewhere into
# what has to run with any version of the C++ library (-static-libstdc++).
function(taper_compiler_components)
  if(MINGW OR (CMAKE_SYSTEM_NAME STREQUAL "Linux" AND (TAPER_PYTHON OR TAPER_JAVA)))
    # Debian's text is of all that belongs to GCC.
    taper_component(gcc-runtime "GPL-3.0-or-later WITH GCC-exception-3.1" https://gcc.gnu.org
      TEXT ${PROJECT_SOURCE_DIR}/cmake/gcc_runtime.txt)
  endif()
  if(MINGW)
    taper_component(mingw-w64-runtime "ZPL-2.1 AND MIT AND BSD-3-Clause" https://www.mingw-w64.org
      DEBIAN mingw-w64-x86-64-dev)
  elseif(ANDROID AND TAPER_JAVA)
    taper_component(libcxx "Apache-2.0 WITH LLVM-exception" https://libcxx.llvm.org
      VERSION "${ANDROID_NDK_REVISION}" TEXT ${ANDROID_NDK}/NOTICE)
  endif()
endfunction()

# Writes the list and installs it. Call it once, after the last component. The time is that of
# SOURCE_DATE_EPOCH where it is set, so that a build can be repeated.
function(taper_install_licenses)
  taper_compiler_components()
  get_property(components GLOBAL PROPERTY TAPER_COMPONENTS)
  string(TIMESTAMP now "%Y-%m-%dT%H:%M:%SZ" UTC)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/taper.spdx @ONLY CONTENT "SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: taper-@PROJECT_VERSION@
DocumentNamespace: https://spdx.org/spdxdocs/taper-@PROJECT_VERSION@
Creator: Tool: cmake
Created: @now@
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-taper

PackageName: taper
SPDXID: SPDXRef-taper
PackageVersion: @PROJECT_VERSION@
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: BSD-3-Clause
PackageLicenseDeclared: BSD-3-Clause
PackageCopyrightText: Copyright (c) The Taper authors.
@components@")
  install(FILES ${PROJECT_BINARY_DIR}/package/taper.spdx DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses RENAME taper)
  taper_install_license(${PROJECT_BINARY_DIR}/package/taper.spdx taper.spdx)
  taper_install_license(LICENSE taper)
endfunction()
