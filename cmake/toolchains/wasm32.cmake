# WebAssembly with Debian's clang 22, wasi-libc and libc++ (scripts/deps.sh wasm); clang 14 compiles
# some vector code wrongly for it. The instructions are those that every browser since 2023 has:
# vectors of 128 bits, memory.copy, saturating conversions.

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-22)
set(CMAKE_RANLIB llvm-ranlib-22)
set(CMAKE_C_FLAGS_INIT "-msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext -matomics")
# The first for errno, where there are no threads; the second since the C library still lies under
# the target's old name.
string(APPEND CMAKE_C_FLAGS_INIT " -ftls-model=local-exec -Wno-deprecated")
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_FIND_ROOT_PATH /usr/lib/wasm32-wasi)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_INCLUDE_PATH /usr/include)  # For libraries of headers alone, which are asked for by name.
