#!/usr/bin/env python3
"""Writes the q6_K and q8_0 pins beside this script with an outside decoder: gguf 0.19."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Ggml
from gguf import quants

HERE = Path(__file__).parent
Q6_K_BLOCKS = 32
Q8_0_CHUNKS = 64


def write(name, array):
    (HERE / name).write_bytes(np.ascontiguousarray(array).tobytes())


def q6_k(rng):
    blocks = rng.integers(0, 256, (Q6_K_BLOCKS, 210), dtype=np.uint8)
    sign = rng.integers(0, 2, Q6_K_BLOCKS) << 15
    d = sign | rng.integers(0, 0x7C00, Q6_K_BLOCKS)  # every finite f16 alike, subnormals too
    d[:3] = [0x0001, 0x83FF, 0x7BFF]
    blocks[:, 208:] = d.astype("<u2").view(np.uint8).reshape(-1, 2)
    write("q6_k_blocks.bin", blocks)
    write("q6_k_values.f32", quants.dequantize(blocks, Ggml.Q6_K).astype("<f4"))


def q8_0(rng):
    x = rng.standard_normal((Q8_0_CHUNKS, 32)) * 10.0 ** rng.uniform(-6, 6, (Q8_0_CHUNKS, 1))
    x = x.astype(np.float32)
    x[5] = 0
    amax = np.abs(x).max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        scaled = np.abs(x * np.where(amax == 0, np.float32(0), 1 / (amax / 127)))
    # gguf rounds ties away from zero, the definition here to even: no ties, no difference.
    assert scaled.dtype == np.float32 and not np.any(scaled - np.floor(scaled) == 0.5)
    chunks = quants.quantize(x, Ggml.Q8_0)
    write("q8_0_inputs.f32", x.astype("<f4"))
    write("q8_0_chunks.bin", chunks)
    write("q8_0_values.f32", quants.dequantize(chunks, Ggml.Q8_0).astype("<f4"))


if __name__ == "__main__":
    rng = np.random.default_rng(20261130)
    q6_k(rng)
    q8_0(rng)
