// A copy of a file in memory, aligned as the runtime requires of a program.

#pragma once

#include <cstring>
#include <memory>
#include <string_view>

namespace taper::select {

class AlignedCopy {
 public:
  explicit AlignedCopy(std::string_view bytes)
      : words_(new Word[bytes.size() / sizeof(Word) + 1]), size_(bytes.size()) {
    std::memcpy(words_.get(), bytes.data(), bytes.size());
  }
  const void* data() const { return words_.get(); }
  size_t size() const { return size_; }

 private:
  struct alignas(64) Word {
    unsigned char bytes[64];
  };
  std::unique_ptr<Word[]> words_;
  size_t size_;
};

}  // namespace taper::select
