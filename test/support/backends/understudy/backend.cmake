# The understudy needs no library except the portable kernels.

taper_backend_device(LINK taper_kernels_portable)
