// The few scalar functions in double precision that rows and tables need, ours so that no libm decides a bit.
//
// Invariant: compiled once, for the baseline processor, and shared by every path.
#pragma once

#include <cstdint>

namespace temp0 {

// ln x for positive finite x, otherwise NaN; within 2 ulp of double.
double natural_log(double x);

// Rows of cos and sin of position * theta^(-2i / head_dim), i < head_dim / 2, rounded from double to float.
void fill_rotary_tables(int64_t positions, int64_t half, double theta, float* cosines, float* sines);

}  // namespace temp0
