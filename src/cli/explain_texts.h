#pragma once

#include <string>
#include <vector>

#include <planegate/core/contract.h>

namespace planegate::cli {

/// `1960 bytes of 0x00`: the bytes that no field covers, and their value; `none`.
std::string padding_text(const Contract& plane, const Shape& shape);

/// `row`, `k`, `token`.
const char* axis_text(Axis axis);

/// `4b 0..15`, `16b f16`.
std::string value_text(const Field& field);

/// `row:id  sb:256  k:1` in bound strides; sub-byte ones as `4 bits`.
std::string bound_text(Size stride_bits, const Shape& shape);

/// `od*id = 35840`; a constant stands alone.
std::string size_text(Size size_bytes, const Shape& shape);

/// `2 weights`, `1 token`.
std::string counted(int64_t count, const std::string& what);

/// The contract of one plane at one shape, term by term.
std::string explain_plane(const Contract& plane, const Shape& shape);

/// Two planes at one shape: the terms in which they differ, and what comes of reading `plane`
/// with the pages of `beside` (misread.h), with one window of values drawn.
/// @pre plane.role == beside.role.
std::string explain_beside(const Contract& plane, const Contract& beside, const Shape& shape);

}  // namespace planegate::cli
