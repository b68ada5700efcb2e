# What an extension of Python needs on Windows, where there is no Python to link with: the headers of
# this machine's, beside a pyconfig.h for Windows, and a library that names what python3.dll has.
# That DLL forwards Python's stable ABI to the interpreter's own DLL of whatever version.

execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('include'), end='')"
  OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
set(Python_INCLUDE_DIRS ${CMAKE_CURRENT_BINARY_DIR}/include)
file(COPY ${headers}/ DESTINATION ${Python_INCLUDE_DIRS} PATTERN pyconfig.h EXCLUDE)
file(COPY windows/pyconfig.h DESTINATION ${Python_INCLUDE_DIRS})

find_program(TAPER_DLLTOOL x86_64-w64-mingw32-dlltool REQUIRED)
set(names ${CMAKE_CURRENT_SOURCE_DIR}/windows/python3.def)
set(python3 ${CMAKE_CURRENT_BINARY_DIR}/libpython3.a)
add_custom_command(OUTPUT ${python3} DEPENDS ${names}
  COMMAND ${TAPER_DLLTOOL} --input-def ${names} --output-lib ${python3})
add_custom_target(taper_python3 DEPENDS ${python3})
