#include "catalog/catalog.h"

#include <planegate/producers/q6_k/producers.h>
#include <planegate/producers/q8_act/producers.h>

#include "kernels/q6_k/consumers.h"
#include "kernels/q6_k/makers.h"
#include "oracle/q6_k/q6_k.h"
#include "oracle/q8_act/q8_act.h"

namespace planegate {
namespace {

Catalog shipped() {
  Catalog catalog;
  producers::q6_k::register_producers(catalog);
  oracle::q6_k::register_oracle(catalog);
  kernels::q6_k::register_consumers(catalog);
  kernels::q6_k::register_makers(catalog);
  producers::q8_act::register_producers(catalog);
  oracle::q8_act::register_oracle(catalog);
  return catalog;
}

}  // namespace

const Catalog& shipped_catalog() {
  static const Catalog catalog = shipped();
  return catalog;
}

Catalog catalog_with_known_bad() {
  Catalog catalog = shipped();
  for (ConsumerSpec& consumer : kernels::q6_k::known_bad_consumers()) {
    catalog.add(std::move(consumer));
  }
  return catalog;
}

}  // namespace planegate
