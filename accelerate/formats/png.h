#pragma once

// Images as PNG files.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace accelerate::formats {

/// A zlib stream of bytes.
using ZlibPacker = std::string (*)(std::string_view bytes);

/// The stream that holds the bytes as they are, without compression.
std::string zlib_stored(std::string_view bytes);

/// The bytes of a PNG file with 8 bits per channel. `pixels` holds height x width x channels values, row by row from
/// the top; channels are 1 (grey), 3 (RGB) or 4 (RGBA). Unless someone brings a packer they are stored, which costs
/// space and saves a training the time. Throws Error when the numbers do not fit together.
std::string encode_png(int64_t height, int64_t width, int64_t channels, std::span<const uint8_t> pixels,
                       ZlibPacker pack = zlib_stored);

}  // namespace accelerate::formats
