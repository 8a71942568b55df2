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
  FlippingDevice(std::string buffer, BitFlip flip, int nth)
      : buffer_(std::move(buffer)), flip_(flip), uploads_left_(nth) {}

  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override {
    if (to.name() != buffer_ || --uploads_left_ != 0) {
      Base::upload(to, from);
      return;
    }
    std::vector<std::byte> bytes(from.begin(), from.end());
    flip_in(bytes, flip_);
    Base::upload(to, bytes);
  }

 private:
  std::string buffer_;
  BitFlip flip_;
  int uploads_left_;
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
                                             std::string& why_not, int nth) {
  if (kind == DeviceKind::kHost) {
    return std::make_unique<FlippingDevice<HostDevice>>(std::move(buffer), flip, nth);
  }
#if PLANEGATE_HAVE_CUDA
  if (make_cuda_device(why_not) == nullptr) return nullptr;
  return std::make_unique<FlippingDevice<CudaDevice>>(std::move(buffer), flip, nth);
#else
  return make_cuda_device(why_not);
#endif
}

}  // namespace planegate::gates
