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
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real)
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

set(PLANEGATE_CUDA_OPTIONS -std=c++20 --expt-relaxed-constexpr -lineinfo)
set(PLANEGATE_KERNEL_REPORTS ${PROJECT_BINARY_DIR}/kernel-reports)

# planegate_cuda_sources(target SOURCES...): adds the cuda half to a target.
function(planegate_cuda_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:${PLANEGATE_CUDA_OPTIONS};-Xcompiler=-Wall>")
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
endfunction()

# planegate_kernel_reports(target SOURCES...): beside the objects, what the compiler says of these
# sources for each real architecture of the build, in ${PLANEGATE_KERNEL_REPORTS}: SOURCE.sm_90.cubin
# (the code), .ptxas.txt (registers, stack, spills, shared memory), .sass.txt (the disassembly,
# where nvdisasm was found) and toolchain.txt.
function(planegate_kernel_reports target)
  find_program(PLANEGATE_NVDISASM nvdisasm HINTS ${CUDAToolkit_BIN_DIR}
               DOC "Disassembler of cubins; without it instructions are not checked")
  file(MAKE_DIRECTORY ${PLANEGATE_KERNEL_REPORTS})
  file(CONFIGURE OUTPUT ${PLANEGATE_KERNEL_REPORTS}/toolchain.txt
       CONTENT "nvcc ${CMAKE_CUDA_COMPILER_VERSION}\n")
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  # The compiler's own folder given once more would come before its C++ headers.
  set(includes $<REMOVE_DUPLICATES:$<FILTER:${includes},EXCLUDE,^/usr/include$>>)
  set(definitions $<REMOVE_DUPLICATES:${definitions}>)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${config}}")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER architectures EXCLUDE REGEX "-virtual$")
  set(reports "")
  set(stems "")
  foreach(source IN LISTS ARGN)
    get_filename_component(stem ${source} NAME_WE)
    foreach(architecture IN LISTS architectures)
      if(NOT architecture MATCHES "^[0-9]+[a-z]?(-real)?$")
        message(FATAL_ERROR "kernel reports need architectures by number (90-real), not ${architecture}")
      endif()
      string(REGEX REPLACE "-real$" "" number ${architecture})
      set(stem_path ${PLANEGATE_KERNEL_REPORTS}/${stem}.sm_${number})
      list(APPEND stems ${stem_path})
      add_custom_command(
        OUTPUT ${stem_path}.cubin ${stem_path}.ptxas.txt
        COMMAND ${CMAKE_CUDA_COMPILER} ${flags} ${PLANEGATE_CUDA_OPTIONS}
                "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
                "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
                -cubin -arch=sm_${number} -Xptxas=-v -MD -MF ${stem_path}.d
                ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${stem_path}.cubin
                > ${stem_path}.ptxas.txt 2>&1
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
        DEPFILE ${stem_path}.d
        COMMAND_EXPAND_LISTS VERBATIM
        COMMENT "Reporting on ${source} for sm_${number}")
      list(APPEND reports ${stem_path}.cubin)
      if(PLANEGATE_NVDISASM)
        add_custom_command(
          OUTPUT ${stem_path}.sass.txt
          COMMAND ${PLANEGATE_NVDISASM} -c ${stem_path}.cubin > ${stem_path}.sass.txt
          DEPENDS ${stem_path}.cubin VERBATIM
          COMMENT "Disassembling ${source} for sm_${number}")
        list(APPEND reports ${stem_path}.sass.txt)
      endif()
    endforeach()
  endforeach()
  # What an earlier configuration reported on is no part of this build.
  file(GLOB cubins ${PLANEGATE_KERNEL_REPORTS}/*.cubin)
  foreach(cubin IN LISTS cubins)
    string(REGEX REPLACE "\\.cubin$" "" stem_path ${cubin})
    if(NOT stem_path IN_LIST stems)
      file(REMOVE ${cubin} ${stem_path}.ptxas.txt ${stem_path}.sass.txt)
    endif()
  endforeach()
  add_custom_target(kernel_reports ALL DEPENDS ${reports})
endfunction()
