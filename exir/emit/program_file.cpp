// Emits all methods into one flatbuffer, then lays the header, the segments and their padding
// around it.

#include "exir/emit/program_file.h"

#include <algorithm>
#include <cstring>

#include "exir/emit/signature.h"
#include "schema/extended_header.h"
#include "schema/flat_tensor_generated.h"

namespace taper::exir {
namespace {

constexpr uint64_t kSegmentAlignment = 128;
constexpr uint64_t kConstantAlignment = 16;

uint64_t align(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// The layout of a segment of constants: blobs one after another, each aligned.
struct Packed {
  std::vector<uint64_t> offsets = {0};  // Index 0 is reserved.
  uint64_t bytes = 0;
};

Packed pack(const std::vector<TensorData>& blobs) {
  Packed out;
  for (const TensorData& blob : blobs) {
    out.bytes = align(out.bytes, kConstantAlignment);
    out.offsets.push_back(out.bytes);
    out.bytes += blob.bytes;
  }
  return out;
}

void add_blobs(FilePieces& file, const std::vector<TensorData>& blobs) {
  const uint64_t start = file.size();
  for (const TensorData& blob : blobs) {
    const uint64_t at = align(file.size() - start, kConstantAlignment);
    file.add_owned(std::vector<uint8_t>(start + at - file.size()));
    file.add({blob.data, blob.bytes});
  }
}

// The finished flatbuffer with `block` bytes of room after its identifier.
std::vector<uint8_t> with_room(const flatbuffers::FlatBufferBuilder& builder, size_t block) {
  const uint8_t* bytes = builder.GetBufferPointer();
  const size_t size = builder.GetSize();
  std::vector<uint8_t> out(size + block, 0);
  std::memcpy(out.data(), bytes, wire::kHeaderOffset);
  std::memcpy(out.data() + wire::kHeaderOffset + block, bytes + wire::kHeaderOffset,
              size - wire::kHeaderOffset);
  wire::write_u32(out.data(), wire::read_u32(bytes) + static_cast<uint32_t>(block));
  return out;
}

struct NamedText {
  std::string key, text;
};

struct Segments {
  Packed constants, mutable_data;
  uint32_t constants_index = 0, mutable_index = 0;
  std::vector<flatbuffers::Offset<wire::DataSegment>> table;
  std::vector<flatbuffers::Offset<wire::NamedData>> named;
  uint64_t bytes = 0;
};

// Data of delegates that are also constants of kernels, such as a table of embeddings that is the
// weight of a layer, too, are a segment within that of the constants.
Segments lay_out_segments(const Pools& pools, const std::vector<NamedText>& texts,
                          flatbuffers::FlatBufferBuilder& builder) {
  Segments out;
  out.constants = pack(pools.constants.blobs());
  out.mutable_data = pack(pools.mutable_data.blobs());
  const auto add_at = [&](uint64_t at, uint64_t bytes) {
    out.table.push_back(wire::CreateDataSegment(builder, at, bytes));
    out.bytes = std::max(out.bytes, at + bytes);
    return static_cast<uint32_t>(out.table.size()) - 1;
  };
  const auto add = [&](uint64_t bytes) {
    return add_at(align(out.bytes, kSegmentAlignment), bytes);
  };
  for (const auto& payload : pools.payloads) add(payload.size());
  const uint64_t constants_at = align(out.bytes, kSegmentAlignment);
  if (!pools.constants.empty()) out.constants_index = add(out.constants.bytes);
  if (!pools.mutable_data.empty()) out.mutable_index = add(out.mutable_data.bytes);
  const auto add_named = [&](const std::string& key, uint32_t segment) {
    out.named.push_back(wire::CreateNamedDataDirect(builder, key.c_str(), segment));
  };
  for (const NamedText& named : texts) add_named(named.key, add(named.text.size()));
  for (const auto& [key, data] : pools.named.entries()) {
    const uint32_t known = pools.constants.find(data);
    add_named(key, known == 0 ? add(data.bytes)
                              : add_at(constants_at + out.constants.offsets[known], data.bytes));
  }
  return out;
}

void finish_program(const std::vector<flatbuffers::Offset<wire::ExecutionPlan>>& plans,
                    const Segments& segments, const Pools& pools,
                    flatbuffers::FlatBufferBuilder& builder) {
  const auto constants = wire::CreateSubsegmentOffsetsDirect(builder, segments.constants_index,
                                                             &segments.constants.offsets);
  std::vector<flatbuffers::Offset<wire::SubsegmentOffsets>> mutable_data;
  if (!pools.mutable_data.empty()) {
    mutable_data.push_back(wire::CreateSubsegmentOffsetsDirect(builder, segments.mutable_index,
                                                               &segments.mutable_data.offsets));
  }
  const std::vector<flatbuffers::Offset<wire::Buffer>> no_buffers;
  const std::vector<flatbuffers::Offset<wire::BackendDelegateInlineData>> no_inline;
  const auto program = wire::CreateProgramDirect(
      builder, 0, &plans, &no_buffers, &no_inline, &segments.table, constants,
      mutable_data.empty() ? nullptr : &mutable_data, &segments.named);
  wire::FinishProgramBuffer(builder, program);
}

FilePieces write_pte(const flatbuffers::FlatBufferBuilder& builder, const Segments& segments,
                     const Pools& pools, const std::vector<NamedText>& texts) {
  FilePieces file;
  if (segments.bytes == 0) {
    file.add_owned(with_room(builder, 0));
    file.pad(kSegmentAlignment);  // Readers expect at least 64 bytes.
    return file;
  }
  std::vector<uint8_t> head = with_room(builder, wire::kHeaderBytes);
  wire::ExtendedHeader header;
  header.program_size = head.size();
  header.segment_base_offset = align(head.size(), kSegmentAlignment);
  header.segment_data_size = segments.bytes;
  wire::write_header(head.data() + wire::kHeaderOffset, header);
  file.add_owned(std::move(head));
  for (const auto& payload : pools.payloads) {
    file.pad(kSegmentAlignment);
    file.add(payload);
  }
  file.pad(kSegmentAlignment);
  add_blobs(file, pools.constants.blobs());
  if (!pools.mutable_data.empty()) {
    file.pad(kSegmentAlignment);
    add_blobs(file, pools.mutable_data.blobs());
  }
  for (const NamedText& named : texts) {
    file.pad(kSegmentAlignment);
    file.add_owned({named.text.begin(), named.text.end()});
  }
  for (const auto& [key, data] : pools.named.entries()) {
    if (pools.constants.find(data) != 0) continue;
    file.pad(kSegmentAlignment);
    file.add({data.data, data.bytes});
  }
  return file;
}

// Without what is between its parts.
uint64_t program_bytes(const Pools& pools, const flatbuffers::FlatBufferBuilder& builder) {
  uint64_t bytes = builder.GetSize();
  for (const auto& payload : pools.payloads) bytes += payload.size();
  for (const TensorData& blob : pools.constants.blobs()) bytes += blob.bytes;
  for (const TensorData& blob : pools.mutable_data.blobs()) bytes += blob.bytes;
  for (const auto& [key, data] : pools.named.entries()) {
    if (pools.constants.find(data) == 0) bytes += data.bytes;
  }
  for (const ExternalWeight& weight : pools.external.sorted()) bytes += weight.data.bytes;
  return bytes;
}

bool is_wanted(const std::vector<NamedText>& debug, DebugLevel level, uint64_t bytes) {
  uint64_t own = 0;
  for (const NamedText& each : debug) own += each.text.size();
  constexpr uint64_t kPerCent = 3;
  return level == DebugLevel::kFull ||
         (level == DebugLevel::kIfSmall && own * 100 <= bytes * kPerCent);
}

FilePieces write_ptd(const ExternalWeights& weights) {
  namespace ptd = wire::ptd;
  flatbuffers::FlatBufferBuilder builder;
  ConstantPool pool;
  std::vector<flatbuffers::Offset<ptd::NamedData>> names;
  for (const ExternalWeight& weight : weights.sorted()) {
    std::vector<uint8_t> order = contiguous_order(weight.sizes.size());
    const auto layout = ptd::CreateTensorLayoutDirect(
        builder, static_cast<wire::ScalarType>(weight.dtype), &weight.sizes, &order);
    names.push_back(
        ptd::CreateNamedDataDirect(builder, weight.key.c_str(), pool.add(weight.data) - 1, layout));
  }
  std::vector<flatbuffers::Offset<ptd::DataSegment>> segments;
  uint64_t bytes = 0;
  for (const TensorData& blob : pool.blobs()) {
    bytes = align(bytes, kSegmentAlignment);
    segments.push_back(ptd::CreateDataSegment(builder, bytes, blob.bytes));
    bytes += blob.bytes;
  }
  ptd::FinishFlatTensorBuffer(builder, ptd::CreateFlatTensorDirect(builder, 0, &segments, &names));
  const size_t block = align(wire::kPtdHeaderBytes, kConstantAlignment);
  std::vector<uint8_t> head = with_room(builder, block);
  wire::PtdHeader header;
  header.flatbuffer_offset = block;
  header.flatbuffer_size = builder.GetSize();
  header.segment_base_offset = align(head.size(), kSegmentAlignment);
  header.segment_data_size = bytes;
  wire::write_ptd_header(head.data() + wire::kHeaderOffset, header);
  FilePieces file;
  file.add_owned(std::move(head));
  file.pad(kSegmentAlignment);  // Also without segments, the file reaches to where they begin.
  for (const TensorData& blob : pool.blobs()) {
    file.pad(kSegmentAlignment);
    file.add({blob.data, blob.bytes});
  }
  return file;
}

}  // namespace

FileInMemory::FileInMemory(std::span<const std::span<const uint8_t>> pieces) {
  for (const auto piece : pieces) size_ += piece.size();
  lines_ = std::make_unique_for_overwrite<Line[]>(size_ / sizeof(Line) + 1);
  uint8_t* to = lines_[0].bytes;
  for (const auto piece : pieces) to = std::copy(piece.begin(), piece.end(), to);
}

FileInMemory::FileInMemory(std::string_view bytes)
    : FileInMemory({{{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}}) {}

void FilePieces::add(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  pieces_.push_back(bytes);
  size_ += bytes.size();
}

void FilePieces::add_owned(std::vector<uint8_t> bytes) {
  owned_.push_back(std::move(bytes));
  add(owned_.back());
}

void FilePieces::pad(uint64_t alignment) {
  add_owned(std::vector<uint8_t>(align(size_, alignment) - size_));
}

std::string FilePieces::joined() const {
  std::string out;
  out.reserve(size_);
  for (std::span<const uint8_t> piece : pieces_) {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return out;
}

ProgramFiles emit_program(std::vector<const PlannedMethod*> methods, const EmitOptions& options) {
  std::sort(methods.begin(), methods.end(),
            [](const PlannedMethod* a, const PlannedMethod* b) { return a->name < b->name; });
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  Pools pools;
  pools.weights_outside = options.weights_outside;
  std::vector<flatbuffers::Offset<wire::ExecutionPlan>> plans;
  std::vector<NamedText> texts, origins;
  for (const PlannedMethod* method : methods) {
    DebugInfo debug;
    plans.push_back(emit_method(*method, pools, builder, debug));
    origins.push_back({std::string(kDebugKey) + method->name, debug_text(debug)});
    if (method->signature.empty()) continue;
    texts.push_back({std::string(kSignatureKey) + method->name, method->signature});
  }
  if (is_wanted(origins, options.debug, program_bytes(pools, builder))) {
    std::move(origins.begin(), origins.end(), std::back_inserter(texts));
  }
  const Segments segments = lay_out_segments(pools, texts, builder);
  finish_program(plans, segments, pools, builder);
  ProgramFiles out;
  out.pte = write_pte(builder, segments, pools, texts);
  if (options.weights_outside) out.ptd = write_ptd(pools.external);
  return out;
}

}  // namespace taper::exir
