# Tests and how ctest sees them.

include(GoogleTest)

# planegate_test(name [OWN_MAIN] SOURCES ... LINK ... LABELS ... [PREFIX p]): one executable of
# tests, discovered with all its labels. (gtest_discover_tests of CMake 3.25 drops every label after
# the first, so they are set by a script that ctest includes after the discovered list.)
function(planegate_test name)
  cmake_parse_arguments(arg "OWN_MAIN" "PREFIX" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gmock planegate_warnings)
  if(NOT arg_OWN_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  target_compile_definitions(${name} PRIVATE
    PLANEGATE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    PLANEGATE_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden")
  gtest_discover_tests(${name} NO_PRETTY_VALUES TEST_PREFIX "${arg_PREFIX}" TEST_LIST ${name}_tests
                       DISCOVERY_MODE PRE_TEST)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${script}
       "set_tests_properties(\${${name}_tests} PROPERTIES LABELS \"${arg_LABELS}\" TIMEOUT 600)\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
