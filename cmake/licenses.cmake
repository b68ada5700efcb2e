# What others wrote and Taper links: each part is named where the build finds it, and whoever installs
# Taper gets the texts of the licences (share/doc/taper/licenses) and a list in SPDX's form
# (share/doc/taper/taper.spdx).
#
#   taper_component(NAME LICENSE URL DEBIAN package)           text and version are the package's
#   taper_component(NAME LICENSE URL VERSION version TEXT file)
#
# LICENSE is an identifier of SPDX's list. On a system other than Debian, where a package's text is
# not found, the list still names the part.

include(GNUInstallDirs)

define_property(GLOBAL PROPERTY TAPER_COMPONENTS BRIEF_DOCS "SPDX packages" FULL_DOCS "SPDX packages")

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
    if(TAPER_PYTHON)
      install(FILES ${arg_TEXT} DESTINATION taper/licenses RENAME ${name} COMPONENT python)
    endif()
    if(TAPER_WEB)
      install(FILES ${arg_TEXT} DESTINATION licenses RENAME ${name} COMPONENT web)
    endif()
    if(TAPER_JAVA)
      install(FILES ${arg_TEXT} DESTINATION licenses RENAME ${name} COMPONENT java)
    endif()
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

# Writes the list and installs it. Call it once, after the last component. The time is that of
# SOURCE_DATE_EPOCH where it is set, so that a build can be repeated.
function(taper_install_licenses)
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
  if(TAPER_PYTHON)
    install(FILES ${PROJECT_BINARY_DIR}/package/taper.spdx DESTINATION taper/licenses
      COMPONENT python)
    install(FILES LICENSE DESTINATION taper/licenses RENAME taper COMPONENT python)
  endif()
  if(TAPER_JAVA)
    install(FILES ${PROJECT_BINARY_DIR}/package/taper.spdx DESTINATION licenses COMPONENT java)
    install(FILES LICENSE DESTINATION licenses RENAME taper COMPONENT java)
  endif()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses RENAME taper)
endfunction()
