// Opens the Vulkan loader, chooses a device, and allocates its memory.

// NOLINTBEGIN(readability-identifier-naming): volk's names.
#define VOLK_IMPLEMENTATION
#define VK_NO_PROTOTYPES
// NOLINTEND(readability-identifier-naming)
#include "backends/vulkan/runtime/gpu/device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "backends/vulkan/runtime/gpu/byte_products.h"
#include "backends/vulkan/runtime/gpu/matrix_units.h"

namespace taper::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kHostMemory =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint64_t kGpuSeconds = 60, kProcessorSeconds = 600;  // For one execution.

// 0: not taken unless it is asked for by name.
int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 3;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 1;
    default:
      return 0;
  }
}

// The first queue family that computes; -1: none. Sets how many bits its timestamps have.
int compute_queue(VkPhysicalDevice device, uint32_t& timestamp_bits) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    timestamp_bits = families[i].timestampValidBits;
    return static_cast<int>(i);
  }
  return -1;
}

// Whether the device computes with NaN and infinity as shaders ask.
bool keeps_nan(VkPhysicalDevice device) {
  VkPhysicalDeviceFloatControlsProperties controls = {};
  controls.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &controls;
  vkGetPhysicalDeviceProperties2(device, &properties);
  return controls.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE;
}

#define TAPER_VK(call, error, text) TAPER_REQUIRE((call) == VK_SUCCESS, error, text)

// The instance of this process, which stays: making one loads all drivers. volk keeps its functions
// in global variables.
Result<VkInstance> shared_instance() {
  static std::mutex mutex;
  static VkInstance instance = VK_NULL_HANDLE;
  const std::lock_guard<std::mutex> lock(mutex);
  if (instance != VK_NULL_HANDLE) return instance;
  TAPER_VK(volkInitialize(), Error::kNotFound, "there is no Vulkan loader");
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "Taper";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  TAPER_VK(vkCreateInstance(&info, nullptr, &instance), Error::kNotFound,
           "no Vulkan instance can be made");
  volkLoadInstanceOnly(instance);
  return instance;
}

}  // namespace

void Buffer::free() {
  if (device_ == nullptr || device_->is_stuck()) return;
  const VolkDeviceTable& vk = device_->vk();
  vk.vkDestroyBuffer(device_->handle(), buffer_, nullptr);
  vk.vkFreeMemory(device_->handle(), memory_, nullptr);
  buffer_ = VK_NULL_HANDLE;
  memory_ = VK_NULL_HANDLE;
  mapped_ = nullptr;
  bytes_ = 0;
}

Result<std::unique_ptr<GpuDevice>> GpuDevice::open(const DeviceChoice& choice) {
  const Result<VkInstance> instance = shared_instance();
  TAPER_TRY(instance.status());
  std::unique_ptr<GpuDevice> device(new (std::nothrow) GpuDevice());
  TAPER_REQUIRE(device != nullptr, Error::kMemoryAllocationFailed, "there is no memory");
  device->instance_ = *instance;
  TAPER_TRY(device->choose(choice));
  TAPER_TRY(device->make_device(choice.is_robust));
  device->read_limits();
  const bool is_discrete = device->properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  device->poll_us_ = is_discrete ? choice.poll_us : 0;
  return device;
}

GpuDevice::~GpuDevice() {
  if (device_ != VK_NULL_HANDLE && !is_stuck_) vk_.vkDestroyDevice(device_, nullptr);
}

Status GpuDevice::choose(const DeviceChoice& choice) {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  int best = 0;
  for (const VkPhysicalDevice each : devices) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(each, &properties);
    uint32_t timestamp_bits = 0;
    const int queue = compute_queue(each, timestamp_bits);
    if (queue < 0 || properties.apiVersion < VK_API_VERSION_1_2 || !keeps_nan(each)) continue;
    const bool is_named =
        !choice.name.empty() &&
        std::string_view(properties.deviceName).find(choice.name) != std::string_view::npos;
    const int rank = is_named ? 4 : choice.name.empty() ? rank_of(properties.deviceType) : 0;
    if (rank <= best) continue;
    best = rank;
    physical_ = each;
    properties_ = properties;
    queue_family_ = static_cast<uint32_t>(queue);
    timestamp_bits_ = timestamp_bits;
  }
  TAPER_REQUIRE(best > 0, Error::kNotFound, "there is no GPU with Vulkan 1.2");
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
  return {};
}

Status GpuDevice::make_device(bool is_robust) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceFeatures features = {};
  features.robustBufferAccess = is_robust ? VK_TRUE : VK_FALSE;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.pEnabledFeatures = &features;
  MatrixUnits units(instance_, physical_);
  ByteProducts bytes(physical_);
  info.pNext = bytes.features(units.features());
  std::vector<const char*> extensions;
  if (units.are_there()) extensions.push_back(MatrixUnits::kExtension);
  if (bytes.are_there()) extensions.push_back(ByteProducts::kExtension);
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  limits_.matrix_units = units.are_for_halves();
  limits_.subgroup = units.subgroup();
  limits_.byte_products = bytes.are_there();
  std::copy_n(units.byte_fragment().begin(), 3, limits_.byte_fragment);
  const VkResult made = vkCreateDevice(physical_, &info, nullptr, &device_);
  const Status status = check(made, "the GPU cannot be opened");
  if (status.error() == Error::kDelegateMemoryAllocationFailed) return status;
  TAPER_REQUIRE(status.ok(), Error::kNotFound, "the GPU cannot be opened");
  volkLoadDeviceTable(&vk_, device_);
  vk_.vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
  return {};
}

void GpuDevice::read_limits() {
  const VkPhysicalDeviceLimits& from = properties_.limits;
  for (size_t i = 0; i < 3; ++i) limits_.groups[i] = from.maxComputeWorkGroupCount[i];
  limits_.range = from.maxStorageBufferRange;
  limits_.alignment =
      std::max<uint32_t>(256, static_cast<uint32_t>(from.minStorageBufferOffsetAlignment));
  limits_.bytes = 0;
  for (uint32_t i = 0; i < memory_.memoryHeapCount; ++i) {
    if ((memory_.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      limits_.bytes = std::max<uint64_t>(limits_.bytes, memory_.memoryHeaps[i].size);
    }
  }
}

// Of the types that a buffer allows, the first with most of what its use prefers; -1: none will do.
int GpuDevice::memory_type(uint32_t allowed, Use use) const {
  const bool is_for_gpu = use == Use::kGpu;
  int best = -1, most = -1;
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    const VkMemoryType& type = memory_.memoryTypes[i];
    const bool is_local = (type.propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    const bool is_cached = (type.propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    const bool is_mapped = (type.propertyFlags & kHostMemory) == kHostMemory;
    if ((allowed >> i & 1) == 0 || (!is_for_gpu && !is_mapped)) continue;
    // Where the host sees a part of the memory only, that is left to what it has to write.
    const bool is_scarce = is_mapped && memory_.memoryHeaps[type.heapIndex].size < limits_.bytes;
    const int points = is_for_gpu ? 4 * is_local + (is_scarce ? 0 : 1 + is_mapped + is_cached)
                       : use == Use::kReadBack ? is_cached
                                               : is_local;
    if (points > most) best = static_cast<int>(i);
    most = std::max(most, points);
  }
  return best;
}

Status GpuDevice::allocate(uint64_t bytes, Use use, Buffer& buffer) const {
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = std::max<uint64_t>(bytes, 4);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  buffer.device_ = this;
  buffer.bytes_ = info.size;
  TAPER_TRY(check(vk_.vkCreateBuffer(device_, &info, nullptr, &buffer.buffer_),
                  "the GPU makes no buffer of that size"));
  VkMemoryRequirements needs;
  vk_.vkGetBufferMemoryRequirements(device_, buffer.buffer_, &needs);
  const int type = memory_type(needs.memoryTypeBits, use);
  TAPER_REQUIRE(type >= 0, Error::kDelegateMemoryAllocationFailed,
                "the GPU has no memory of the kind that is needed");
  VkMemoryAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = static_cast<uint32_t>(type);
  constexpr char kTooLittle[] = "the GPU does not have that much memory";
  TAPER_TRY(
      check(vk_.vkAllocateMemory(device_, &allocation, nullptr, &buffer.memory_), kTooLittle));
  TAPER_TRY(check(vk_.vkBindBufferMemory(device_, buffer.buffer_, buffer.memory_, 0), kTooLittle));
  const VkMemoryPropertyFlags flags = memory_.memoryTypes[type].propertyFlags;
  if ((flags & kHostMemory) != kHostMemory) return {};
  buffer.is_cached_ = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
  return check(vk_.vkMapMemory(device_, buffer.memory_, 0, VK_WHOLE_SIZE, 0, &buffer.mapped_),
               "the memory of the GPU cannot be mapped");
}

Status GpuDevice::check(VkResult result, const char* text) const {
  switch (result) {
    case VK_SUCCESS:
      return {};
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED:
      return Status(Error::kDelegateMemoryAllocationFailed, text);
    case VK_ERROR_DEVICE_LOST:
      is_lost_ = true;
      return Status(Error::kOutOfResources, "the GPU was lost");
    default:
      return Status(Error::kDelegateInvalidCompatibility, text);
  }
}

// Sleeps until shortly before the end that is expected, then asks for a while.
VkResult GpuDevice::poll(VkFence fence, const WaitTime& time, bool& overslept) const {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const double margin = poll_us_ * 1e-6;
  double late = 0;
  {
    const std::lock_guard<std::mutex> lock(queue_mutex_);
    late = lateness_.value();
  }
  const double asleep = time.sleep(margin + late);
  late = 0;
  if (asleep > 0) {
    const auto start = Clock::now();
    std::this_thread::sleep_for(Seconds(asleep));
    late = Seconds(Clock::now() - start).count() - asleep;
  }
  {
    const std::lock_guard<std::mutex> lock(queue_mutex_);
    lateness_.note(late);
  }
  const auto end = Clock::now() + Seconds(3 * margin);
  VkResult status = vk_.vkGetFenceStatus(device_, fence);
  overslept = asleep > 0 && status == VK_SUCCESS;
  while (status == VK_NOT_READY && Clock::now() < end) {
    status = vk_.vkGetFenceStatus(device_, fence);
  }
  return status;
}

VkResult GpuDevice::wait(VkFence fence, const WaitTime& time, bool& overslept) const {
  if (poll_us_ != 0) {
    const VkResult polled = poll(fence, time, overslept);
    if (polled != VK_NOT_READY) return polled;
  }
  const bool is_processor = properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const uint64_t seconds = is_processor ? kProcessorSeconds : kGpuSeconds;
  return vk_.vkWaitForFences(device_, 1, &fence, VK_TRUE, seconds * 1000000000);
}

Status GpuDevice::run(VkCommandBuffer commands, VkFence fence, WaitTime& time) const {
  TAPER_REQUIRE(!is_lost_, Error::kOutOfResources, "the GPU was lost in an earlier call");
  const auto start = std::chrono::steady_clock::now();
  TAPER_TRY(check(vk_.vkResetFences(device_, 1, &fence), "there is no memory for a fence"));
  {
    const std::lock_guard<std::mutex> lock(queue_mutex_);
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    TAPER_TRY(check(vk_.vkQueueSubmit(queue_, 1, &info, fence), "the GPU does not take work"));
  }
  bool overslept = false;
  const VkResult waited = wait(fence, time, overslept);
  if (waited != VK_SUCCESS) {  // What it still does with the memory is not known.
    is_lost_ = true;
    is_stuck_ = waited != VK_ERROR_DEVICE_LOST;
    return Status(Error::kOutOfResources,
                  waited == VK_TIMEOUT ? "the GPU does not come to an end" : "the GPU was lost");
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  time.note(passed.count(), overslept);
  return {};
}

}  // namespace taper::vulkan
