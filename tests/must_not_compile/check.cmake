# cmake -DCOMPILE="compiler|flag|flag" -DSOURCE=file -DPHRASE=regex -P check.cmake
#
# The file must compile as it is, and with -DPLANEGATE_BAD be refused by an error that says PHRASE.

string(REPLACE "|" ";" COMPILE "${COMPILE}")
execute_process(COMMAND ${COMPILE} -fsyntax-only ${SOURCE}
                RESULT_VARIABLE good ERROR_VARIABLE text OUTPUT_VARIABLE text)
if(NOT good EQUAL 0)
  message(FATAL_ERROR "the good line does not compile:\n${text}")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILE} -fsyntax-only -DPLANEGATE_BAD
                        ${SOURCE}
                RESULT_VARIABLE bad ERROR_VARIABLE text OUTPUT_VARIABLE text)
if(bad EQUAL 0)
  message(FATAL_ERROR "the bad line compiles")
endif()
if(NOT text MATCHES "error: [^\n]*(${PHRASE})")
  message(FATAL_ERROR "the bad line is refused, but no error says \"${PHRASE}\":\n${text}")
endif()
