# Read by llama.cpp's CMakeLists.txt at its project() call. The build is meant
# to be short: many small sources are compiled in batches, because reading the
# same headers again is most of the work, and all but the arithmetic, where a
# token's time goes, is optimised lightly.
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.19)
  cmake_language(DEFER CALL set_target_properties
    llama llama-common mtmd server-context llama-server-impl
    PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  # These do not bear company: one specialises templates late, the others
  # refuse headers that their neighbours include.
  cmake_language(DEFER CALL set_source_files_properties
    ${CMAKE_SOURCE_DIR}/common/json.cpp
    TARGET_DIRECTORY llama-common PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  cmake_language(DEFER CALL set_source_files_properties
    ${CMAKE_SOURCE_DIR}/tools/mtmd/mtmd-helper.cpp ${CMAKE_SOURCE_DIR}/tools/mtmd/mtmd-helper-gen.cpp
    TARGET_DIRECTORY mtmd PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  cmake_language(DEFER CALL target_compile_options ggml-base PRIVATE -O3)
  cmake_language(DEFER CALL target_compile_options ggml-cpu PRIVATE -O3)
  # Sampling and grammars run once a token.
  cmake_language(DEFER CALL set_source_files_properties
    ${CMAKE_SOURCE_DIR}/src/llama-grammar.cpp ${CMAKE_SOURCE_DIR}/src/llama-sampler.cpp
    TARGET_DIRECTORY llama PROPERTIES COMPILE_OPTIONS -O3 SKIP_UNITY_BUILD_INCLUSION ON)
endif()
