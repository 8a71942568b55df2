#pragma once

#include <planegate/core/catalog.h>

namespace planegate {

/// Everything that this build ships: producers, mirrors, formats, consumers. The one place that
/// names formats.
const Catalog& shipped_catalog();

/// The shipped catalog with consumers that are wrong on purpose, for `demo` and the tests.
Catalog catalog_with_known_bad();

}  // namespace planegate
