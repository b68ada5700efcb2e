// The table of kinds.

#include "test/fuzz/kinds.h"

#include "test/fuzz/exercise.h"
#include "test/fuzz/mutate.h"
#include "test/fuzz/seeds.h"

namespace taper::fuzz {
namespace {

template <std::string (*kMutate)(std::string, Random&)>
std::string mutate_copy(const std::string& file, Random& random) {
  return kMutate(file, random);
}

constexpr Kind kKinds[] = {
    {"pte", 0, pte_seeds, mutate_copy<mutate_pte>, exercise_pte},
    {"pt2", 1, pt2_seeds, mutate_pt2, exercise_pt2},
    {"ptd", 0, ptd_seeds, mutate_pair, exercise_ptd},
    {"packed", 0, packed_seeds, mutate_packed_pair, exercise_packed},
    {"quantize", 2, quantize_seeds, mutate_pt2, exercise_quantize},
    {"npy", 0, npy_seeds, mutate_copy<mutate_npy>, exercise_npy},
    {"npz", 0, npz_seeds, mutate_npz, exercise_npz},
    {"signed", 0, signed_seeds, mutate_signed, exercise_signed},
    {"bpte", 0, bpte_seeds, mutate_copy<mutate_bytes>, exercise_bpte},
    {"etdp", 0, etdp_seeds, mutate_copy<mutate_etdp>, exercise_etdp},
};

}  // namespace

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

std::string kind_names() {
  std::string names;
  for (const Kind& kind : kKinds) names += (names.empty() ? "" : "|") + std::string(kind.name);
  return names;
}

}  // namespace taper::fuzz
