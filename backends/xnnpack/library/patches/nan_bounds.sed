# Makes clamping keep NaN on x86: the bound becomes the first operand of a float minimum or maximum.
#
# If an operand is NaN, these instructions return the second operand. In XNNPACK of 2024-11 that is the
# bound, so NaN becomes a number.
#
# Rewrites 756 lines of 74 files in src/f32-gemm src/f32-igemm src/f32-dwconv src/f32-avgpool src/f32-pavgpool src/f32-vmulcaddc

s/(_mm(256|512)?_m(ax|in)_ps)\((\w+), (v(output_)?m(in|ax))\)/\1(\5, \4)/g
