# Clamping keeps NaN: the bound is the first operand of a minimum or maximum of floats, on x86.
#
# Of two operands, one of them NaN, these instructions give the second. XNNPACK of 2024-11 has the bound
# there, so that NaN becomes a number.
#
# Rewrites 756 lines of 74 files in src/f32-gemm src/f32-igemm src/f32-dwconv src/f32-avgpool src/f32-pavgpool src/f32-vmulcaddc

s/(_mm(256|512)?_m(ax|in)_ps)\((\w+), (v(output_)?m(in|ax))\)/\1(\5, \4)/g
