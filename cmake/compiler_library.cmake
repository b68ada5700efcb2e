# libtaper_compiler.so: taper/compiler.h, and nothing else is visible.

list(TRANSFORM TAPER_BACKEND_NAMES REPLACE "(.+)" "taper_\\1_aot" OUTPUT_VARIABLE aot_halves)
foreach(library taper_exir taper_select taper_tools taper_commands taper_compiler_api
        taper_signing taper_backends_aot ${aot_halves})
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endforeach()
add_library(taper_compiler SHARED tools/library/c_compiler.cpp)
add_library(taper::compiler ALIAS taper_compiler)
set_target_properties(taper_compiler PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
taper_exports(taper_compiler taper_compiler.map)
target_compile_features(taper_compiler PRIVATE cxx_std_20)
target_include_directories(taper_compiler
  PRIVATE ${PROJECT_SOURCE_DIR}
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tools/include>
         $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>)
target_link_libraries(taper_compiler PRIVATE taper_commands taper_tools taper_backends_aot
  taper_backends taper::warnings taper::host)
