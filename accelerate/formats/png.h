#pragma once

// Encodes images as PNG. Stored blocks need a header and two checksums only, so trackers write images without a
// dependency on libpng and zlib, and a training step does not wait for compression.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace accelerate::formats {

/// Converts bytes to a zlib stream.
using ZlibPacker = std::string (*)(std::string_view bytes);

/// A zlib stream of stored blocks, without compression.
std::string zlib_stored(std::string_view bytes);

/// A PNG file with 8 bits per channel. `pixels` holds height x width x channels values in row-major order from the top;
/// there are 1 (grey), 3 (RGB) or 4 (RGBA) channels. By default the data is not compressed, which costs space but saves
/// time during training. Throws Error if the sizes are inconsistent.
std::string encode_png(int64_t height, int64_t width, int64_t channels, std::span<const uint8_t> pixels,
                       ZlibPacker pack = zlib_stored);

}  // namespace accelerate::formats
