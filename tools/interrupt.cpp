// A handler that removes files and lets the signal end the program as it would have. It only calls
// what a handler may call, and may run on any thread.

#include "tools/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tools/system.h"

namespace taper::tools {
namespace {

// What the handler finds, or the signal that came while signals had to wait.
constexpr int kReady = 0, kWaiting = -1, kEnding = -2;
std::atomic<int> state{kReady};

}  // namespace

// The list only grows, so that the handler can walk it at any time.
struct RemovedOnSignal::Entry {
  const std::string path;
  std::atomic<bool> exists{true};
  Entry* const next;

  static std::atomic<Entry*> all;

  static void remove_all() {
    for (const Entry* each = all; each != nullptr; each = each->next) {
      if (each->exists) system::remove_file(each->path);
    }
  }

  static void on_signal(int signal) {
    int found = kWaiting;
    if (state.compare_exchange_strong(found, signal) || found != kReady) return;
    found = kReady;
    if (!state.compare_exchange_strong(found, kEnding)) return on_signal(signal);
    remove_all();
    system::end_by(signal);
  }

  static void on_lost_memory(int) {
    constexpr std::string_view kText =
        "taper: error: a file became shorter, or could not be read, while it was in use\n";
    [[maybe_unused]] const auto written = ::write(2, kText.data(), kText.size());
    remove_all();
    std::_Exit(1);
  }

  // Whoever has ignored or taken over a signal keeps it.
  static void install() {
    static const bool is_installed = (system::on_ending(on_signal), true);
    static_cast<void>(is_installed);
  }
};

std::atomic<RemovedOnSignal::Entry*> RemovedOnSignal::Entry::all{nullptr};

RemovedOnSignal::RemovedOnSignal(const std::string& path) {
  Entry::install();
  entry_ = new Entry{path, {true}, Entry::all};
  Entry::all = entry_;
}

RemovedOnSignal::~RemovedOnSignal() { entry_->exists = false; }

void end_when_a_file_shrinks() { system::on_lost_memory(RemovedOnSignal::Entry::on_lost_memory); }

// Listens first: what the caller makes now must not outlive a signal that comes before it is noted.
SignalsWait::SignalsWait() {
  RemovedOnSignal::Entry::install();
  int found = kReady;
  while (!state.compare_exchange_weak(found, kWaiting)) {
    if (found == kEnding) system::wait_forever();  // Another thread has begun to end the program.
    found = kReady;
    std::this_thread::yield();
  }
}

SignalsWait::~SignalsWait() {
  const int waited = state.exchange(kReady);
  if (waited > 0) system::send_again(waited);
}

}  // namespace taper::tools
