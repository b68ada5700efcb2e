// What all shaders begin with. An element is a word: a float32, or an int32 for integers and
// booleans.

#extension GL_EXT_spirv_intrinsics : require
// NaN, infinity and the sign of zero are computed with as IEEE 754 says.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);

#define NAN uintBitsToFloat(0x7fc00000u)
#define INFINITY uintBitsToFloat(0x7f800000u)

// Compilers may assume that floats are not NaN; bits do not lie.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

// Some drivers' own make numbers or infinity of NaN and of the logarithm of a negative number.
float exp_of(float x) { return is_nan(x) ? x : exp(x); }
float log_of(float x) { return is_nan(x) || x < 0.0 ? NAN : log(x); }

// The number of this workgroup, where Call::groups_for() spread them over x and y.
#define FLAT_GROUP (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x)
