#pragma once

// Encodes bitmaps as PNG files.

#include <cstdint>
#include <string>
#include <vector>

namespace accelerate::notebook {

/// Rows of pixels from the top, each of `channels` bytes: grey, or red, green and blue, or these with opacity.
struct Bitmap {
  int width = 0;
  int height = 0;
  int channels = 3;
  std::vector<uint8_t> bytes = {};
};

/// The bytes of a PNG file. Throws Error when channels are not 1, 3 or 4, or the sizes do not fit.
std::string encode_png(const Bitmap& bitmap);

}  // namespace accelerate::notebook
