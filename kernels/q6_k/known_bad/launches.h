#pragma once

#include "kernels/q6_k/known_bad/pipelines.h"

/// Right kernels launched wrongly: grids, and stamps that say something else.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// w_exp/cp_async whose request or instance is changed before the launch.
template <class Change>
struct ChangedRequest : KnownBad<WExpCpAsync> {
  static void launch(simt::Binder& binder, const LaunchRequest& request, uint32_t instance) {
    LaunchRequest changed = request;
    Change::apply(changed, instance);
    WExpCpAsync::launch(binder, changed, instance);
  }
  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = WExpCpAsync::described(std::move(name), rank);
    consumer.policies.push_back({"launch", Change::kWhy});
    return consumer;
  }
};
struct StampsOff {
  static constexpr const char* kWhy = "stamps off";
  static void apply(LaunchRequest& request, uint32_t&) { request.stamps = nullptr; }
};
struct OtherInstance {
  static constexpr const char* kWhy = "stamps of another instance";
  static void apply(LaunchRequest&, uint32_t& instance) { instance ^= 1; }
};
struct OldGeneration {
  static constexpr const char* kWhy = "stamps of an older generation";
  static void apply(LaunchRequest& request, uint32_t&) {
    for (BoundPlane& plane : request.planes) --plane.generation;
  }
};

/// w_exp/cp_async on another grid; the spec counts its blocks as the shipped one does, or believes
/// the same mistake.
template <class Grid_, bool kSpecAgrees>
struct ChangedGrid : KnownBad<WExpCpAsync> {
  using Kernel = WExpCpAsync::Kernel;

  static void launch(simt::Binder& binder, const LaunchRequest& request, uint32_t instance) {
    binder.template launch<Kernel>(Grid_::grid(request.shape),
                                   Kernel::bind(request, binder, instance, *request.y));
  }
  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = WExpCpAsync::described(std::move(name), rank);
    consumer.policies.push_back({"launch", Grid_::kWhy});
    if (kSpecAgrees) consumer.blocks = [](const Shape& s) { return Grid_::grid(s).blocks(); };
    return consumer;
  }
};
struct RowTilesOf256 {
  static constexpr const char* kWhy = "row tiles of 256 for a kernel of 128";
  static simt::Grid grid(const Shape& shape) {
    return {(shape.od() + 255) / 256, WExpCpAsync::Kernel::grid(shape).y};
  }
};
struct WholeTokenTilesOf64 {
  static constexpr const char* kWhy = "whole token tiles only";
  static simt::Grid grid(const Shape& shape) {
    const int64_t tiles = shape.nt() / 64;
    return {WExpCpAsync::Kernel::grid(shape).x, tiles > 0 ? tiles : 1};
  }
};
struct Transposed {
  static constexpr const char* kWhy = "x and y of the grid exchanged";
  static simt::Grid grid(const Shape& shape) {
    const simt::Grid right = WExpCpAsync::Kernel::grid(shape);
    return {right.y, right.x};
  }
};

struct LaunchUnstamped : ChangedRequest<StampsOff> {
  static constexpr const char* kName = "w_exp/cp_async+stamps_off";
};
struct LaunchOtherInstance : ChangedRequest<OtherInstance> {
  static constexpr const char* kName = "w_exp/cp_async+other_instance";
};
struct LaunchOldGeneration : ChangedRequest<OldGeneration> {
  static constexpr const char* kName = "w_exp/cp_async+old_generation";
};
struct LaunchFewRowTiles : ChangedGrid<RowTilesOf256, false> {
  static constexpr const char* kName = "w_exp/cp_async+row_tiles_256";
};
struct LaunchFewRowTilesAgreed : ChangedGrid<RowTilesOf256, true> {
  static constexpr const char* kName = "w_exp/cp_async+row_tiles_256_agreed";
};
struct LaunchWholeTokenTiles : ChangedGrid<WholeTokenTilesOf64, false> {
  static constexpr const char* kName = "w_exp/cp_async+whole_token_tiles";
};
struct LaunchTransposed : ChangedGrid<Transposed, false> {
  static constexpr const char* kName = "w_exp/cp_async+grid_transposed";
};

using BadLaunches =
    VariantList<LaunchUnstamped, LaunchOtherInstance, LaunchOldGeneration, LaunchFewRowTiles,
                LaunchFewRowTilesAgreed, LaunchWholeTokenTiles, LaunchTransposed>;

using BadExecution = Joined<BadPipelines, BadLaunches>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
