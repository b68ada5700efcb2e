// Input tensors of executor_runner; see inputs.h.

#include "inputs.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace taper::example {
namespace {

// A file of elements: raw, or a .npy with its header.
struct Elements {
  std::string bytes;
  std::string header;
};

Elements split(std::string bytes) {
  if (bytes.compare(0, 6, "\x93NUMPY") != 0 || bytes.size() < 12) return {std::move(bytes), ""};
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  size_t start = 10 + byte(8) + byte(9) * 256;
  if (bytes[6] != 1) start += 2 + byte(10) * 65536 + byte(11) * 16777216;
  if (start > bytes.size()) return {};
  return {bytes.substr(start), bytes.substr(0, start)};
}

// Makes a dynamic input as large as the header says: "'shape': (3, 4), ". What does not fit is left
// as it is, so that the number of bytes tells.
void take_sizes(const std::string& header, const TensorInfo& info, std::vector<int32_t>& sizes) {
  const size_t start = header.find("'shape': (");
  if (info.shape_dynamism() == ShapeDynamism::kStatic || start == header.npos) return;
  std::vector<int32_t> given;
  const char* at = header.c_str() + start + 10;
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const unsigned long long size = std::strtoull(at, &end, 10);
    if (given.size() == sizes.size() || size > static_cast<uint64_t>(sizes[given.size()])) return;
    given.push_back(static_cast<int32_t>(size));
    for (at = end; *at == ',' || *at == ' ';) ++at;
  }
  if (given.size() == sizes.size()) sizes = given;
}

void fill_with_ones(Tensor& tensor) {
  std::string one(element_size(tensor.scalar_type()), '\0');
  switch (tensor.scalar_type()) {
    case ScalarType::kHalf:
      one = std::string("\x00\x3c", 2);
      break;
    case ScalarType::kBFloat16:
      one = std::string("\x80\x3f", 2);
      break;
    case ScalarType::kFloat:
      one = std::string("\x00\x00\x80\x3f", 4);
      break;
    case ScalarType::kDouble:
      one = std::string("\x00\x00\x00\x00\x00\x00\xf0\x3f", 8);
      break;
    default:
      one[0] = 1;
  }
  auto* data = static_cast<char*>(tensor.mutable_data());
  for (size_t at = 0; at < tensor.nbytes(); at += one.size()) {
    std::memcpy(data + at, one.data(), one.size());
  }
}

std::string fill(Tensor& tensor, const std::string& bytes, const std::string& path) {
  if (bytes.size() != tensor.nbytes()) {
    return "'" + path + "': expected " + std::to_string(tensor.nbytes()) + " bytes of " +
           to_string(tensor.scalar_type()) + ", given " + std::to_string(bytes.size());
  }
  auto* data = static_cast<char*>(tensor.mutable_data());
  std::memcpy(data, bytes.data(), bytes.size());
  if (tensor.scalar_type() != ScalarType::kBool) return "";
  for (size_t i = 0; i < bytes.size(); ++i) data[i] = data[i] != 0;
  return "";
}

}  // namespace

Inputs::Held& Inputs::add_tensor(const TensorInfo& info, const std::string& header) {
  std::vector<int32_t> sizes(info.sizes().begin(), info.sizes().end());
  take_sizes(header, info, sizes);
  tensors_.push_back({std::move(sizes),
                      std::vector<int32_t>(info.sizes().size()),
                      {info.dim_order().begin(), info.dim_order().end()},
                      Block(info.nbytes()),
                      Tensor()});
  Held& held = tensors_.back();
  held.tensor = Tensor(info.scalar_type(), held.sizes.size(), held.sizes.data(),
                       held.dim_order.data(), held.strides.data(), held.block.span().data());
  return held;
}

std::string Inputs::prepare(const MethodMeta& meta, const std::vector<std::string>& files) {
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    if (meta.input_tag(i).value() != Tag::kTensor) {
      values_.push_back(meta.input_value(i).value());
      continue;
    }
    const std::string path = tensors_.size() < files.size() ? files[tensors_.size()] : "";
    std::ifstream in(path, std::ios::binary);
    if (!path.empty() && !in) return "cannot read '" + path + "'";
    const Elements given =
        path.empty() ? Elements() : split({std::istreambuf_iterator<char>(in), {}});
    Held& held = add_tensor(meta.input_tensor_meta(i).value(), given.header);
    values_.push_back(EValue(&held.tensor));
    if (path.empty()) {
      fill_with_ones(held.tensor);
    } else {
      std::string problem = fill(held.tensor, given.bytes, path);
      if (!problem.empty()) return problem;
    }
  }
  if (!files.empty() && files.size() != tensors_.size()) {
    return "expected " + std::to_string(tensors_.size()) + " input files, given " +
           std::to_string(files.size());
  }
  return "";
}

}  // namespace taper::example
