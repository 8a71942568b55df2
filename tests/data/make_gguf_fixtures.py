#!/usr/bin/env python3
"""Writes the GGUF fixtures beside this script with an outside writer: the package gguf (0.19).

Byte i of tensor t is (7*i + 13*t + 1) mod 256, t counted from 0 in the order of the calls.
"""

import math
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Ggml
from gguf import GGUFEndian, GGUFValueType as Value, GGUFWriter

HERE = Path(__file__).parent


def payload(t, size):
    return ((7 * np.arange(size) + 13 * t + 1) % 256).astype(np.uint8)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_metadata(writer):
    scalars = [
        ("u8", 255, Value.UINT8),
        ("i8", -128, Value.INT8),
        ("u16", 65535, Value.UINT16),
        ("i16", -32768, Value.INT16),
        ("u32", 4294967295, Value.UINT32),
        ("i32", -2147483648, Value.INT32),
        ("f32", 1.5, Value.FLOAT32),
        ("bool", True, Value.BOOL),
        ("string", "grüße", Value.STRING),
        ("empty", "", Value.STRING),
        ("u64", 18446744073709551615, Value.UINT64),
        ("i64", -9223372036854775808, Value.INT64),
        ("f64", math.pi, Value.FLOAT64),
    ]
    for name, value, kind in scalars:
        writer.add_key_value(f"test.{name}", value, kind)
    arrays = [
        ("u8", [1, 2, 255], Value.UINT8),
        ("i8", [-1, 0, 127], Value.INT8),
        ("u16", [1, 65535], Value.UINT16),
        ("i16", [-2, 32767], Value.INT16),
        ("u32", [7, 8, 9], Value.UINT32),
        ("i32", [-7, 8], Value.INT32),
        ("f32", [0.5, -2.0], Value.FLOAT32),
        ("bool", [True, False, True], Value.BOOL),
        ("string", ["a", "", "ccc"], Value.STRING),
        ("u64", [1 << 40], Value.UINT64),
        ("i64", [-(1 << 40), 3], Value.INT64),
        ("f64", [0.25, 1e300], Value.FLOAT64),
    ]
    for name, values, kind in arrays:
        writer.add_key_value(f"test.array.{name}", values, Value.ARRAY, sub_type=kind)
    writer.add_key_value("test.array.nested", [[1, 2], [3]], Value.ARRAY)


def write_mixed(path):
    writer = GGUFWriter(path, "test")
    add_metadata(writer)
    # name, encoded shape in bytes (rows first), type
    tensors = [
        ("blk.0.ffn_down.weight", (3, 2 * 210), Ggml.Q6_K),
        ("blk.0.attn_norm.weight", (5 * 4,), Ggml.F32),
        ("blk.0.attn_q.weight", (2, 2 * 18), Ggml.Q4_0),
        ("blk.0.ffn_exps.weight", (2, 3, 34), Ggml.Q8_0),
        ("four.dims", (2, 2, 2, 3 * 2), Ggml.F16),
        ("n" * 64, (1, 144), Ggml.Q4_K),
    ]
    for t, (name, shape, kind) in enumerate(tensors):
        data = payload(t, int(np.prod(shape))).reshape(shape)
        writer.add_tensor(name, data, raw_dtype=kind)
    finish(writer)


def write_aligned(path):
    writer = GGUFWriter(path, "test")
    writer.add_custom_alignment(128)
    for t in range(2):
        writer.add_tensor(f"t{t}", payload(t, 34).reshape(1, 34), raw_dtype=Ggml.Q8_0)
    finish(writer)


def write_every_type(path):
    """Alignment 1, so that neighbouring offsets are one encoded block apart."""
    writer = GGUFWriter(path, "test")
    writer.add_custom_alignment(1)
    for t, (kind, (_, block_bytes)) in enumerate(GGML_QUANT_SIZES.items()):
        writer.add_tensor(kind.name, payload(t, block_bytes), raw_dtype=kind)
    finish(writer)


def q6_k_payload(t, od, nsb):
    """As payload(), with d = 2^-6 in every block, so that the values are finite."""
    blocks = payload(t, od * nsb * 210).reshape(od, nsb, 210).copy()
    blocks[:, :, 208:] = np.array([0x00, 0x24], np.uint8)
    return blocks.reshape(od, nsb * 210)


def write_split(path):
    """split-00001-of-00003.gguf and so on: two tensors, two, one."""
    writer = GGUFWriter(path, "test", split_max_tensors=2)
    tensors = [
        ("blk.0.ffn_down.weight", q6_k_payload(0, 3, 2), Ggml.Q6_K),
        ("blk.0.attn_norm.weight", payload(1, 5 * 4), Ggml.F32),
        ("blk.1.attn_norm.weight", payload(2, 5 * 4), Ggml.F32),
        ("blk.1.ffn_down.weight", q6_k_payload(3, 2, 2), Ggml.Q6_K),
        ("output.weight", q6_k_payload(4, 5, 1), Ggml.Q6_K),
    ]
    for name, data, kind in tensors:
        writer.add_tensor(name, data, raw_dtype=kind)
    finish(writer)


def write_scalar(path):
    """A tensor without dimensions."""
    writer = GGUFWriter(path, "test")
    writer.add_tensor("s", np.array(2.5, np.float32))
    finish(writer)


def write_big_endian(path):
    writer = GGUFWriter(path, "test", endianess=GGUFEndian.BIG)
    writer.add_uint32("test.u32", 7)
    finish(writer)


if __name__ == "__main__":
    write_mixed(HERE / "mixed.gguf")
    write_aligned(HERE / "aligned_128.gguf")
    write_every_type(HERE / "every_type.gguf")
    write_split(HERE / "split.gguf")
    write_scalar(HERE / "scalar.gguf")
    write_big_endian(HERE / "big_endian.gguf")
