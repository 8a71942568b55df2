#include "gates/faults.h"

#include <vector>

#include <planegate/devices/host_device.h>
#if PLANEGATE_HAVE_CUDA
#include <planegate/devices/cuda_device.h>
#endif

namespace planegate::gates {
namespace {

void flip_in(std::span<std::byte> bytes, BitFlip flip) {
  bytes[static_cast<size_t>(flip.byte)] ^= std::byte{1} << flip.bit;
}

template <class Base>
class FlippingDevice final : public Base {
 public:
  FlippingDevice(std::string buffer, BitFlip flip) : buffer_(std::move(buffer)), flip_(flip) {}

  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override {
    if (flipped_ || to.name() != buffer_) {
      Base::upload(to, from);
      return;
    }
    flipped_ = true;
    std::vector<std::byte> bytes(from.begin(), from.end());
    flip_in(bytes, flip_);
    Base::upload(to, bytes);
  }

 private:
  std::string buffer_;
  BitFlip flip_;
  bool flipped_ = false;
};

}  // namespace

ProducerSpec flipping(const ProducerSpec& producer, BitFlip flip) {
  ProducerSpec faulty = producer;
  faulty.write = [write = producer.write, flip](const RawTensor& raw, std::span<std::byte> plane) {
    write(raw, plane);
    flip_in(plane, flip);
  };
  return faulty;
}

std::unique_ptr<Device> make_flipping_device(DeviceKind kind, std::string buffer, BitFlip flip,
                                             std::string& why_not) {
  if (kind == DeviceKind::kHost) {
    return std::make_unique<FlippingDevice<HostDevice>>(std::move(buffer), flip);
  }
#if PLANEGATE_HAVE_CUDA
  if (make_cuda_device(why_not) == nullptr) return nullptr;
  return std::make_unique<FlippingDevice<CudaDevice>>(std::move(buffer), flip);
#else
  return make_cuda_device(why_not);
#endif
}

}  // namespace planegate::gates
