# CMake settings for cargo's build of HiGHS. Sixteen source files at a time are compiled as one,
# because most of the compile time is spent on the headers that they share.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16 CACHE STRING "")
