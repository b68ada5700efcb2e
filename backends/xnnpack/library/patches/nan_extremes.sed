# Makes maximum and minimum of floats keep NaN in either operand on x86: replaces the instructions by the
# functions of nan_extremes.h.
#
# Rewrites 129 lines of 25 files in src/f32-vbinary src/f32-maxpool

/_mm(256|512)?_m(ax|in)_ps|_mm512_maskz_m(ax|in)_ps/ {
  s/^/#include "backends\/xnnpack\/library\/nan_extremes.h"\n/
  s/_mm512_maskz_(max|min)_ps\(vmask, /taper_\1_512(/g
  s/_mm_(max|min)_ps/taper_\1_128/g
  s/_mm(256|512)_(max|min)_ps/taper_\2_\1/g
}
