// Findings: merges the problems of several stages into one list.

#include "exir/ir/failure.h"

#include <algorithm>

namespace taper::exir {
namespace {

constexpr size_t kMost = 200;

}  // namespace

Diagnostic::Diagnostic() noexcept = default;
Diagnostic::Diagnostic(std::string id, std::string message, std::string where, std::string source,
                       std::string remedy, std::string expected, std::string actual)
    : id(std::move(id)),
      message(std::move(message)),
      where(std::move(where)),
      source(std::move(source)),
      remedy(std::move(remedy)),
      expected(std::move(expected)),
      actual(std::move(actual)) {}
Diagnostic::Diagnostic(const Diagnostic&) = default;
Diagnostic::Diagnostic(Diagnostic&&) noexcept = default;
Diagnostic& Diagnostic::operator=(const Diagnostic&) = default;
Diagnostic& Diagnostic::operator=(Diagnostic&&) noexcept = default;
Diagnostic::~Diagnostic() = default;

Failure::Failure(const std::string& summary) : std::runtime_error(summary) {}
Failure::Failure(const std::string& summary, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(summary), diagnostics_(std::move(diagnostics)) {}
Failure::Failure(const Failure&) = default;
Failure::~Failure() = default;

void Findings::add(const std::string& stage, const Failure& failure) {
  if (failure.diagnostics().empty()) {
    Diagnostic plain;
    plain.id = "refused";
    plain.message = failure.what();
    if (all_.empty()) summary_ = failure.what();
    add(stage, std::vector<Diagnostic>{std::move(plain)});
    return;
  }
  if (all_.empty()) summary_ = failure.what();
  add(stage, failure.diagnostics());
}

void Findings::add(const std::string& stage, std::vector<Diagnostic> diagnostics) {
  const size_t before = all_.size();
  for (Diagnostic& fresh : diagnostics) {
    const auto same = [&](const Diagnostic& d) {
      return d.where == fresh.where && (!d.where.empty() || d.message == fresh.message);
    };
    const bool known = std::any_of(all_.begin(), all_.begin() + static_cast<long>(before), same);
    if (known || all_.size() >= kMost) continue;
    if (fresh.stage.empty()) fresh.stage = stage;
    all_.push_back(std::move(fresh));
  }
  if (all_.size() == before) return;
  if (summary_.empty()) summary_ = all_[0].message;
  ++failures_;
}

void Findings::throw_if_any() const {
  if (all_.empty()) return;
  if (failures_ == 1) throw Failure(summary_, all_);
  throw Failure(std::to_string(all_.size()) + " problems", all_);
}

}  // namespace taper::exir
