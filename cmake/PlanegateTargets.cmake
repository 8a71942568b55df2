# Targets of the project: one function per kind, usage requirements instead of global flags.

add_library(planegate_options INTERFACE)
target_compile_features(planegate_options INTERFACE cxx_std_20)
# Host arithmetic is IEEE f32, one rounding an operation: what the bounds are derived from.
target_compile_options(planegate_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
if(PLANEGATE_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "PLANEGATE_FUZZERS=ON, but ${CMAKE_CXX_COMPILER} is no clang++")
endif()
if(PLANEGATE_SANITIZE OR PLANEGATE_FUZZERS)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined
                 -fno-omit-frame-pointer)
  if(PLANEGATE_FUZZERS)
    list(APPEND sanitizers -fsanitize=fuzzer-no-link)
  endif()
  target_compile_options(planegate_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitizers}>)
  target_link_options(planegate_options INTERFACE ${sanitizers})
endif()

add_library(planegate_warnings INTERFACE)
target_compile_options(planegate_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps and overreads inside std::string and std::equal that are not there.
  target_compile_options(planegate_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread -Wno-restrict>)
endif()

# planegate_library(name SOURCES ... LINK ...): static library planegate_<name>, alias
# planegate::<name>. Headers under src/ are <planegate/...>; oracle/, kernels/ and gates/ are
# spelled from the top level.
function(planegate_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(planegate_${name} STATIC ${arg_SOURCES})
  add_library(planegate::${name} ALIAS planegate_${name})
  target_include_directories(planegate_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR})
  target_link_libraries(planegate_${name} PUBLIC planegate_options ${arg_LINK}
                                          PRIVATE planegate_warnings)
endfunction()

# CUDA is optional: without nvcc everything but the cuda device is built.
macro(planegate_find_cuda)
  set(PLANEGATE_HAVE_CUDA OFF)
  if(NOT PLANEGATE_CUDA STREQUAL "OFF")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)
      endif()
      enable_language(CUDA)
      find_package(CUDAToolkit REQUIRED)
      set(PLANEGATE_HAVE_CUDA ON)
    elseif(PLANEGATE_CUDA STREQUAL "ON")
      message(FATAL_ERROR "PLANEGATE_CUDA=ON, but no nvcc was found")
    endif()
  endif()
  message(STATUS "planegate: cuda device ${PLANEGATE_HAVE_CUDA}")
endmacro()

# planegate_cuda_sources(target SOURCES...): adds the cuda half to a target.
function(planegate_cuda_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wall>)
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
endfunction()
