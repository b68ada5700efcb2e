// Reads the text of operator cases; see op_case_file.h for the format.

#include "test/support/op_case_file.h"

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

namespace taper::test {
namespace {

struct TypeName {
  const char* name;
  ScalarType type;
};

constexpr TypeName kTypeNames[] = {
    {"u8", ScalarType::kByte},          {"i8", ScalarType::kChar},
    {"i16", ScalarType::kShort},        {"i32", ScalarType::kInt},
    {"i64", ScalarType::kLong},         {"f16", ScalarType::kHalf},
    {"f32", ScalarType::kFloat},        {"f64", ScalarType::kDouble},
    {"bool", ScalarType::kBool},        {"bf16", ScalarType::kBFloat16},
    {"u16", ScalarType::kUInt16},       {"u32", ScalarType::kUInt32},
    {"u64", ScalarType::kUInt64},       {"c32", ScalarType::kComplexHalf},
    {"c64", ScalarType::kComplexFloat}, {"c128", ScalarType::kComplexDouble},
};

struct TagName {
  const char* name;
  Tag tag;
};

constexpr TagName kTagNames[] = {
    {"none", Tag::kNone},          {"int", Tag::kInt},
    {"float", Tag::kDouble},       {"bool", Tag::kBool},
    {"string", Tag::kString},      {"ints", Tag::kIntList},
    {"floats", Tag::kDoubleList},  {"bools", Tag::kBoolList},
    {"tensors", Tag::kTensorList}, {"optional_tensors", Tag::kOptionalTensorList},
};

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <typename T>
std::vector<T> parse_numbers(const std::string& text) {
  std::vector<T> numbers;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    numbers.push_back(static_cast<T>(std::atoi(item.c_str())));
  }
  return numbers;
}

class Reader {
 public:
  explicit Reader(std::istream& stream) : stream_(stream) {}

  bool read(std::vector<OpCase>* cases) {
    while (next_line()) {
      if (line_[0] != ' ') {
        cases->emplace_back();
        cases->back().kernel = words_[0];
        cases->back().line = number_;
      } else if (cases->empty() || !read_item(&cases->back())) {
        return false;
      }
    }
    return true;
  }

  std::string place() const { return "line " + std::to_string(number_) + ": " + line_; }

 private:
  bool next_line() {
    while (std::getline(stream_, line_)) {
      ++number_;
      words_ = split(line_);
      if (!words_.empty() && words_[0][0] != '#') return true;
    }
    return false;
  }

  bool read_item(OpCase* out) {
    const std::string& word = words_[0];
    const size_t count = words_.size();
    if (word == "->") return read_value(1, &out->results.emplace_back());
    if (word == "refused") {
      out->refused = true;
      return true;
    }
    if (word == "tolerance" && count == 3) {
      out->relative = std::atof(words_[1].c_str());
      out->absolute = std::atof(words_[2].c_str());
      return true;
    }
    if (word == "after" && count > 2) {
      out->after.emplace_back(std::atoi(words_[1].c_str()), CaseValue());
      return read_value(2, &out->after.back().second);
    }
    return read_value(0, &out->args.emplace_back());
  }

  bool read_value(size_t first, CaseValue* out) {
    if (first >= words_.size()) return false;
    if (words_[first].find('[') != std::string::npos) {
      out->tag = Tag::kTensor;
      out->present.push_back(true);
      return read_tensor(first, &out->tensors.emplace_back());
    }
    for (const TagName& entry : kTagNames) {
      if (words_[first] != entry.name) continue;
      out->tag = entry.tag;
      out->words.assign(words_.begin() + static_cast<long>(first) + 1, words_.end());
      const bool list = entry.tag == Tag::kTensorList || entry.tag == Tag::kOptionalTensorList;
      return !list || read_tensors(out);
    }
    return false;
  }

  bool read_tensors(CaseValue* out) {
    const int count = out->words.empty() ? 0 : std::atoi(out->words[0].c_str());
    for (int i = 0; i < count; ++i) {
      if (!next_line()) return false;
      const bool present = words_[0] != "none";
      out->present.push_back(present);
      CaseTensor& tensor = out->tensors.emplace_back();
      if (present && !read_tensor(0, &tensor)) return false;
    }
    return true;
  }

  // type[sizes] or type[sizes]@order, then the values.
  bool read_tensor(size_t first, CaseTensor* out) {
    const std::string& head = words_[first];
    const size_t open = head.find('[');
    const size_t close = head.find(']');
    if (open == std::string::npos || close == std::string::npos) return false;
    out->sizes = parse_numbers<int32_t>(head.substr(open + 1, close - open - 1));
    out->dim_order.resize(out->sizes.size());
    std::iota(out->dim_order.begin(), out->dim_order.end(), uint8_t{0});
    if (close + 1 < head.size()) out->dim_order = parse_numbers<uint8_t>(head.substr(close + 2));
    out->values.assign(words_.begin() + static_cast<long>(first) + 1, words_.end());
    for (const TypeName& entry : kTypeNames) {
      if (head.substr(0, open) != entry.name) continue;
      out->type = entry.type;
      return true;
    }
    return false;
  }

  std::istream& stream_;
  std::string line_;
  std::vector<std::string> words_;
  int number_ = 0;
};

}  // namespace

std::vector<OpCase> read_op_cases(const std::string& path, std::string* problem) {
  std::vector<OpCase> cases;
  std::ifstream stream(path);
  if (!stream) {
    *problem = path + ": cannot be read";
    return cases;
  }
  Reader reader(stream);
  if (!reader.read(&cases)) *problem = path + ": " + reader.place();
  return cases;
}

}  // namespace taper::test
