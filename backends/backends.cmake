# Every backend: a new one is its folder and one line here. The command line names them in this order.

set(TAPER_BACKEND_FOLDERS
  backends/xnnpack
  backends/vulkan
)

# Backends for tests alone.
set(TAPER_TEST_BACKEND_FOLDERS
  test/support/backends/understudy
)
