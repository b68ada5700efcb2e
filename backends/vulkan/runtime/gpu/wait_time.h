// How long a thread may sleep while the GPU is at work, so that it is awake when that ends: what
// was needed the last times, less a margin in which it asks again and again.
//
// A thread that has slept too long does not know when the end was, so it does not sleep the next
// time; and one slow execution does not make the next ones slow. So times never run away, however
// late a system wakes its threads.

#pragma once

#include <algorithm>

namespace taper::vulkan {

// Of one command buffer; in seconds.
class WaitTime {
 public:
  // 0: it should not sleep.
  double sleep(double margin) const {
    const double most = expected_ - margin;
    return most > kLeastSleep ? most : 0;
  }

  // `overslept`: the end was before the thread woke up.
  void note(double taken, bool overslept) {
    const double most = expected_ == 0 ? taken : expected_ * 1.25;
    expected_ = overslept ? 0 : std::min(taken, most);
  }

 private:
  static constexpr double kLeastSleep = 50e-6;

  double expected_ = 0;
};

// How late the system wakes threads; in seconds.
class Lateness {
 public:
  double value() const { return value_; }
  // Goes up at once, and down slowly, also while nobody sleeps.
  void note(double late) { value_ = late > value_ ? late : value_ * 0.995; }

 private:
  double value_ = 0;
};

}  // namespace taper::vulkan
