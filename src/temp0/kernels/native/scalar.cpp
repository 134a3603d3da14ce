#include "scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace temp0 {
namespace {

constexpr double kLn2High = 0.693147180559945286227;
constexpr double kLn2Low = 2.319046813846299558e-17;
constexpr double kHalfPiHigh = 1.57079632679489655800;
constexpr double kHalfPiLow = 6.12323399573676603587e-17;

double power_of_two(int64_t exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// e^x for |x| below 700, by reduction to |r| <= ln2 / 2 and a Taylor polynomial of degree 14.
double natural_exponential(double x) {
  const double n = std::floor(x / kLn2High + 0.5);
  const double r = std::fma(-n, kLn2Low, std::fma(-n, kLn2High, x));
  double sum = 1.0;
  for (int i = 14; i > 0; --i) sum = std::fma(sum, r / i, 1.0);
  return sum * power_of_two(static_cast<int64_t>(n));
}

struct CosineSine {
  double cosine, sine;
};

// Taylor polynomials on |r| <= pi/4, to terms below 2^-60.
CosineSine on_first_octant(double r) {
  const double square = r * r;
  double cosine = 1.0, sine = 1.0;
  for (int i = 18; i > 0; i -= 2) cosine = std::fma(-cosine * square, 1.0 / (i * (i - 1)), 1.0);
  for (int i = 18; i > 0; i -= 2) sine = std::fma(-sine * square, 1.0 / (i * (i + 1)), 1.0);
  return {cosine, sine * r};
}

CosineSine cosine_and_sine(double angle) {
  const double quarter = std::floor(angle / kHalfPiHigh + 0.5);
  const double r = std::fma(-quarter, kHalfPiLow, std::fma(-quarter, kHalfPiHigh, angle));
  const CosineSine base = on_first_octant(r);
  switch (static_cast<int64_t>(quarter) & 3) {
    case 0: return base;
    case 1: return {-base.sine, base.cosine};
    case 2: return {-base.cosine, -base.sine};
    default: return {base.sine, -base.cosine};
  }
}

}  // namespace

double natural_log(double x) {
  if (!(x > 0.0) || x > std::numeric_limits<double>::max()) return std::numeric_limits<double>::quiet_NaN();
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double mantissa = x * power_of_two(-exponent);
  if (mantissa > 1.41421356237309504880) {
    mantissa *= 0.5;
    exponent += 1;
  }
  // ln m = 2 artanh s with s = (m-1)/(m+1), |s| <= 0.172
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double sum = 0.0;
  for (int i = 25; i > 0; i -= 2) sum = std::fma(sum, square, 1.0 / i);
  const double scaled = static_cast<double>(exponent);
  return std::fma(scaled, kLn2High, std::fma(scaled, kLn2Low, 2.0 * s * sum));
}

void fill_rotary_tables(int64_t positions, int64_t half, double theta, float* cosines, float* sines) {
  const double log_theta = natural_log(theta);
  std::vector<double> frequencies(static_cast<size_t>(half));
  for (int64_t i = 0; i < half; ++i)
    frequencies[i] = natural_exponential(-static_cast<double>(i) / static_cast<double>(half) * log_theta);
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const CosineSine turn = cosine_and_sine(static_cast<double>(position) * frequencies[i]);
      cosines[position * half + i] = static_cast<float>(turn.cosine);
      sines[position * half + i] = static_cast<float>(turn.sine);
    }
  }
}

}  // namespace temp0
