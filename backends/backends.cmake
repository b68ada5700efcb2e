# The list of backends: a new one is a folder and a line here. The command line lists them in this
# order.

set(TAPER_BACKEND_FOLDERS
  backends/xnnpack
  backends/vulkan
)

# Backends that only tests use.
set(TAPER_TEST_BACKEND_FOLDERS
  test/support/backends/understudy
)
