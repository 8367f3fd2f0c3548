#include "accelerate/formats/png.h"

#include "accelerate/base/error.h"
#include "accelerate/formats/crc32.h"

namespace accelerate::formats {

namespace {

void append_big_endian(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
}

std::string chunk(std::string_view type, std::string_view data) {
  std::string bytes;
  append_big_endian(bytes, data.size());
  bytes.append(type).append(data);
  append_big_endian(bytes, crc32(std::string_view(bytes).substr(4)));
  return bytes;
}

uint32_t adler32(std::string_view bytes) {
  uint32_t low = 1, high = 0;
  for (unsigned char byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

char color_type_of(int64_t channels) {
  switch (channels) {
    case 1:
      return 0;
    case 3:
      return 2;
    case 4:
      return 6;
    default:
      fail("an image has ", channels, " channels; it can have 1 (grey), 3 (RGB) or 4 (RGBA)");
  }
}

}  // namespace

std::string zlib_stored(std::string_view bytes) {
  std::string stream = "\x78\x01";
  constexpr size_t kMaxBlock = 65535;
  for (size_t start = 0; start < bytes.size(); start += kMaxBlock) {
    auto block = bytes.substr(start, kMaxBlock);
    stream += start + block.size() == bytes.size() ? '\1' : '\0';
    for (size_t size : {block.size(), ~block.size()}) {
      stream += {static_cast<char>(size), static_cast<char>(size >> 8)};
    }
    stream += block;
  }
  append_big_endian(stream, adler32(bytes));
  return stream;
}

std::string encode_png(int64_t height, int64_t width, int64_t channels, std::span<const uint8_t> pixels,
                       ZlibPacker pack) {
  char color_type = color_type_of(channels);
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX) {
    fail("an image of ", height, " x ", width, " pixels cannot be stored");
  }
  if (static_cast<int64_t>(pixels.size()) != height * width * channels) {
    fail("an image of ", height, " x ", width, " pixels in ", channels, " channels needs ", height * width * channels,
         " values and has ", pixels.size());
  }
  std::string header;
  append_big_endian(header, width);
  append_big_endian(header, height);
  header += {8, color_type, 0, 0, 0};

  std::string rows;
  auto row_size = static_cast<size_t>(width * channels);
  for (size_t start = 0; start < pixels.size(); start += row_size) {
    rows.push_back(0);  // filter type None
    rows.append(reinterpret_cast<const char*>(pixels.data()) + start, row_size);
  }
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", pack(rows)) + chunk("IEND", "");
}

}  // namespace accelerate::formats
