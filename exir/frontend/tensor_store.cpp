// Loads saved tensors: checks each window into its storage, and copies what is not dense or not
// aligned.

#include "exir/frontend/tensor_store.h"

#include <cstring>

#include "exir/frontend/tensor_meta.h"

namespace taper::exir {
namespace {

// The alignment that malloc guarantees; no element type needs more.
constexpr uintptr_t kAlignment = 16;

[[noreturn]] void bad_weights(const std::string& message) { refuse("bad-weights", message); }

// Reads {"as_int": number}.
int64_t static_int(Json value, std::string_view what) {
  const JsonVariant variant = json_variant(value, what);
  if (variant.key != "as_int") bad_weights("has a size that is not a plain number");
  return json_int(variant.value, what);
}

std::vector<int64_t> static_ints(Json owner, std::string_view key) {
  const JsonArray items = json_array(json_need(owner, key), key);
  std::vector<int64_t> out;
  for (const Json item : items) {
    if (out.size() == kHighestRank) bad_weights("has too many dimensions");
    out.push_back(static_int(item, key));
  }
  return out;
}

// Returns the number of elements. Checks that sizes, strides and offset are valid and that the
// window ends within the storage's `room` elements.
uint64_t check_window(const TensorView& view, uint64_t room) {
  if (view.sizes.size() != view.strides.size() || view.sizes.size() > kHighestRank) {
    bad_weights("has more strides than sizes or fewer, or too many dimensions");
  }
  int64_t numel = 1, last = view.offset;
  bool fits = view.offset >= 0, empty = false;
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    const int64_t size = view.sizes[d], stride = view.strides[d];
    int64_t reach = 0;
    fits = fits && size >= 0 && stride >= 0;
    empty |= size == 0;
    fits = fits && !__builtin_mul_overflow(numel, size == 0 ? 1 : size, &numel);
    fits = fits && !__builtin_mul_overflow(size > 0 ? size - 1 : 0, stride, &reach);
    fits = fits && !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits) bad_weights("has impossible sizes, strides or offset");
  if (empty) return 0;
  if (room == 0) {
    refuse("missing-weights", "has no data: the model was exported with fake tensors", {},
           "load real weights into the model before exporting it");
  }
  if (static_cast<uint64_t>(last) >= room) {
    bad_weights("needs " + std::to_string(last + 1) + " elements, but its storage holds only " +
                std::to_string(room));
  }
  return static_cast<uint64_t>(numel);
}

std::vector<Sym> to_syms(const std::vector<int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

// Gathers the elements of a strided window in row-major order.
void gather(const TensorView& view, const uint8_t* from, size_t item, uint8_t* to) {
  const size_t rank = view.sizes.size();
  std::vector<int64_t> index(rank, 0), strides = view.strides;
  for (size_t d = 0; d < rank; ++d) {
    if (view.sizes[d] == 1) strides[d] = 0;  // Never stepped along: the file may state any stride.
  }
  int64_t at = view.offset;
  while (true) {
    std::memcpy(to, from + static_cast<uint64_t>(at) * item, item);
    to += item;
    size_t d = rank;
    while (d-- > 0) {
      at += strides[d];
      if (++index[d] < view.sizes[d]) break;
      at -= strides[d] * view.sizes[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

std::string window_key(const TensorView& view) {
  std::string key = view.storage + '\n' + std::to_string(static_cast<int>(view.dtype)) + '\n' +
                    std::to_string(view.offset);
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    key += ' ' + std::to_string(view.sizes[d]) + '/' + std::to_string(view.strides[d]);
  }
  return key;
}

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/') + 1));
}

}  // namespace

void TensorStore::open_config(const ZipArchive& archive, const ZipMember& config) {
  archive_ = &archive;
  folder_ = folder_of(config.name);
  config_ = std::make_unique<JsonDocument>(archive.read_text(config), config.name);
  for (const auto field : json_object(json_need(config_->root(), "config"), "config")) {
    if (!entries_.emplace(field.key, Entry{field.value, 0}).second) {
      bad_weights(in_quotes(field.key) + " is listed twice");
    }
  }
}

void TensorStore::open_pickle(const ZipArchive& archive, const ZipMember& member) {
  if (archive.read(member).bytes.empty()) return;
  const PickleObject& root = open_archive(archive, member, Objects::kRefused);
  if (root.kind != PickleKind::kDict) {
    refuse("bad-pickle", "does not hold a dictionary of tensors", member.name);
  }
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const PickleObject& key = (*pickle_)[root.items[i]];
    if (key.kind == PickleKind::kText) entries_[key.text] = Entry{{}, root.items[i + 1]};
  }
}

const PickleObject& TensorStore::open_archive(const ZipArchive& archive, const ZipMember& member,
                                              Objects objects) {
  Blob bytes = archive.read(member);
  if (!looks_like_zip(bytes.bytes)) {
    refuse("bad-archive", "is not what torch.save writes", member.name);
  }
  inner_ = std::make_unique<ZipArchive>(std::move(bytes), *budget_);
  archive_ = inner_.get();
  constexpr std::string_view kProgram = "data.pkl";
  for (const ZipMember& inner : inner_->members()) {
    const bool is_program = inner.name == kProgram || inner.name.ends_with("/data.pkl");
    if (!is_program) continue;
    folder_ = folder_of(inner.name);
    pickle_ = std::make_unique<Pickle>(inner_->read_text(inner), *budget_, member.name, objects);
    break;
  }
  if (!pickle_) refuse("bad-archive", "holds no data.pkl", member.name);
  const ZipMember* order = inner_->find(folder_ + "byteorder");
  if (order && inner_->read(*order).text() != "little") {
    refuse("big-endian", "was written on a big-endian machine, which cannot be read", member.name);
  }
  return pickle_->root();
}

bool TensorStore::is_object(std::string_view name) const {
  const Entry& entry = entries_.at(name);
  if (pickle_) return false;
  const std::optional<Json> pickled = json_find(entry.config, "use_pickle");
  return pickled && json_bool(*pickled, "use_pickle");
}

std::unique_ptr<TensorStore> TensorStore::open_object(std::string_view name) const {
  const std::string_view path =
      json_text(json_need(entries_.at(name).config, "path_name"), "path_name");
  const ZipMember* member = archive_->find(folder_ + std::string(path));
  if (!member) bad_weights("lies in " + in_quotes(path) + ", which the archive does not hold");
  auto store = std::make_unique<TensorStore>(*budget_);
  const PickleObject& root = store->open_archive(*archive_, *member, Objects::kDescribed);
  if (root.kind != PickleKind::kObject) bad_weights("is not a tensor");
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const PickleObject& key = (*store->pickle_)[root.items[i]];
    if (key.kind == PickleKind::kText) store->entries_[key.text] = Entry{{}, root.items[i + 1]};
  }
  return store;
}

std::string_view TensorStore::class_name() const { return pickle_->root().text; }

const PickleObject* TensorStore::attribute(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &(*pickle_)[found->second.pickled];
}

bool TensorStore::has_attribute(std::string_view name) const {
  const PickleObject* object = attribute(name);
  return object != nullptr && object->kind != PickleKind::kNone;
}

std::optional<int64_t> TensorStore::number(std::string_view name) const {
  const PickleObject* object = attribute(name);
  const bool is_number =
      object != nullptr && (object->kind == PickleKind::kInt || object->kind == PickleKind::kBool);
  return is_number ? std::optional(object->number) : std::nullopt;
}

TensorView TensorStore::view_of(const Entry& entry) const {
  if (pickle_) {
    const PickleObject& object = (*pickle_)[entry.pickled];
    if (object.kind != PickleKind::kTensor) bad_weights("is not a tensor");
    return pickle_->tensor(object);
  }
  const std::optional<Json> pickled = json_find(entry.config, "use_pickle");
  const std::optional<Json> meta = json_find(entry.config, "tensor_meta");
  if (!meta || (pickled && json_bool(*pickled, "use_pickle"))) {
    refuse("unsupported-weights",
           "is saved as a Python object (a tensor subclass or a custom class)"
           "; only plain dense tensors can be read",
           {},
           "if it is a weight of torchao, call run_decompositions() on the exported program before "
           "saving it, or torchao.utils.unwrap_tensor_subclass(model) before exporting it");
  }
  TensorView view;
  view.sizes = static_ints(*meta, "sizes");
  view.strides = static_ints(*meta, "strides");
  view.offset = static_int(json_need(*meta, "storage_offset"), "storage_offset");
  view.storage = std::string(json_text(json_need(entry.config, "path_name"), "path_name"));
  set_elements(view, json_int(json_need(*meta, "dtype"), "dtype"));
  return view;
}

const Blob& TensorStore::storage(const std::string& path) {
  const auto known = storages_.find(path);
  if (known != storages_.end()) return known->second;
  const ZipMember* member = archive_->find(folder_ + path);
  if (!member) bad_weights("lies in " + in_quotes(path) + ", which the archive does not hold");
  return storages_.emplace(path, archive_->read(*member)).first->second;
}

TensorData TensorStore::copy_dense(const TensorView& view, const Blob& storage, uint64_t numel) {
  TensorData& copy = copies_[window_key(view)];
  if (copy.data) return copy;
  const size_t item = element_size(view.dtype);
  if (numel > UINT64_MAX / item) bad_weights("has impossible sizes");
  budget_->take_bytes(numel * item, view.storage);
  std::vector<uint8_t> bytes(numel * item);
  gather(view, storage.bytes.data(), item, bytes.data());
  return copy = own_bytes(std::move(bytes));
}

// The number of storage elements that the window spans, from its first element to its last.
// REQUIRES: check_window passed, and no size is 0.
static size_t span_of(const TensorView& view) {
  size_t last = 0;
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    last += static_cast<size_t>(view.sizes[d] - 1) * static_cast<size_t>(view.strides[d]);
  }
  return last + 1;
}

TensorStore::Tensor TensorStore::load(std::string_view name) {
  const TensorView view = view_of(entries_.at(name));
  Tensor out{TensorType(view.dtype, to_syms(view.sizes)), {}, view.float8};
  out.type.pairs = view.pairs;
  const size_t item = element_size(view.dtype);
  const Blob& bytes = storage(view.storage);
  const uint64_t numel = check_window(view, bytes.bytes.size() / item);
  if (numel == 0) return out;
  const std::optional<std::vector<uint8_t>> order = dense_order(view.sizes, view.strides);
  const uint8_t* start = bytes.bytes.data() + static_cast<uint64_t>(view.offset) * item;
  if (order && reinterpret_cast<uintptr_t>(start) % kAlignment == 0) {
    out.type.dim_order = *order;
    out.data = {start, static_cast<size_t>(numel) * item, bytes.owner};
    return out;
  }
  if (!order) {
    out.data = copy_dense(view, bytes, numel);
    out.data.home = start;
    out.data.home_bytes = span_of(view) * item;
    out.data.dense = false;
    return out;
  }
  TensorView line = view;  // Dense but misaligned: copied in its own order.
  line.sizes = {static_cast<int64_t>(numel)};
  line.strides = {1};
  out.type.dim_order = *order;
  out.data = copy_dense(line, bytes, numel);
  out.data.home = start;
  out.data.home_bytes = numel * item;
  return out;
}

}  // namespace taper::exir
