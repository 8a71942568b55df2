#include "gates/faults.h"

#include <map>
#include <utility>
#include <vector>

#include <planegate/core/errors.h>
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
class TamperingDevice final : public Base {
 public:
  explicit TamperingDevice(Tampering tampering) : tampering_(std::move(tampering)) {}

  DeviceBuffer allocate(std::string name, int64_t size_bytes, std::byte guard_fill) override {
    if (tampering_.allocate && meant(name)) size_bytes = tampering_.allocate(size_bytes);
    DeviceBuffer buffer = Base::allocate(name, size_bytes, guard_fill);
    places_[name] = {buffer.address(), size_bytes};
    return buffer;
  }

  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override {
    if (!meant(to.name())) return Base::upload(to, from);
    const int nth = ++uploads_[to.name()];
    std::vector<std::byte> bytes(from.begin(), from.end());
    if (tampering_.upload) tampering_.upload({to.name(), nth, bytes});
    if (nth == 1 && !tampering_.upload_into.empty()) {
      with_other(to, tampering_.upload_into,
                 [&](const DeviceBuffer& other) { Base::upload(other, bytes); });
    } else {
      Base::upload(to, bytes);
    }
  }

  /// Through read_back(), whatever shorter way the device has.
  void scan(const DeviceBuffer& from,
            const std::function<void(std::span<const std::byte>)>& on_piece) override {
    Device::scan(from, on_piece);
  }

  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override {
    if (!meant(from.name())) return Base::read_back(from, to);
    const int nth = ++read_backs_[from.name()];
    if (nth == 1 && !tampering_.read_back_from.empty()) {
      with_other(from, tampering_.read_back_from,
                 [&](const DeviceBuffer& other) { Base::read_back(other, to); });
    } else {
      Base::read_back(from, to);
    }
    if (tampering_.read_back) landing_.push_back({from.name(), nth, to});
  }

  void synchronise() override {
    const std::vector<Landing> landed = std::exchange(landing_, {});
    Base::synchronise();
    for (const Landing& at : landed) tampering_.read_back({at.buffer, at.nth, at.target});
  }

 protected:
  void free(DeviceAddress address) noexcept override {
    if (address != borrowed_) Base::free(address);
  }

 private:
  struct Place {
    DeviceAddress address = 0;
    int64_t size_bytes = 0;
  };
  struct Landing {
    std::string buffer;
    int nth = 0;
    std::span<std::byte> target;
  };

  bool meant(const std::string& name) const {
    return name.find(tampering_.buffer) != std::string::npos;
  }

  /// Calls use() with the latest buffer of that name, as large as `like`.
  template <class Use>
  void with_other(const DeviceBuffer& like, const std::string& name, Use use) {
    const auto found = places_.find(name);
    if (found == places_.end() || found->second.size_bytes != like.size_bytes()) {
      throw ContractError("buffer", name, "allocated before, of the size of " + like.name());
    }
    borrowed_ = found->second.address;
    use(DeviceBuffer(*this, name, borrowed_, like.size_bytes(), like.guard_fill()));
    borrowed_ = 0;
  }

  Tampering tampering_;
  std::map<std::string, int> uploads_, read_backs_;
  std::map<std::string, Place> places_;
  std::vector<Landing> landing_;
  DeviceAddress borrowed_ = 0;
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

std::unique_ptr<Device> make_tampering_device(DeviceKind kind, Tampering tampering,
                                              std::string& why_not) {
  if (kind == DeviceKind::kHost) {
    return std::make_unique<TamperingDevice<HostDevice>>(std::move(tampering));
  }
#if PLANEGATE_HAVE_CUDA
  if (make_cuda_device(why_not) == nullptr) return nullptr;
  return std::make_unique<TamperingDevice<CudaDevice>>(std::move(tampering));
#else
  return make_cuda_device(why_not);
#endif
}

std::unique_ptr<Device> make_flipping_device(DeviceKind kind, std::string buffer, BitFlip flip,
                                             std::string& why_not, int nth) {
  Tampering tampering{std::move(buffer)};
  tampering.upload = [flip, nth](const Transfer& copy) {
    if (copy.nth == nth) flip_in(copy.bytes, flip);
  };
  return make_tampering_device(kind, std::move(tampering), why_not);
}

}  // namespace planegate::gates
