# No library beside the portable kernels.

taper_backend_device(LINK taper_kernels_portable)
