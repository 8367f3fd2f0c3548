#include "notebook/runtime/png.h"

#include <zlib.h>

#include <string_view>

#include "accelerate/base/error.h"

namespace accelerate::notebook {

namespace {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255U);
  return bytes;
}

/// A part of the file: length, name, content and a checksum over the last two.
std::string part(std::string_view name, std::string_view content) {
  auto checked = std::string(name).append(content);
  auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + checked + big_endian(static_cast<uint32_t>(sum));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string compressed(size, '\0');
  int status = compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status != Z_OK) fail("a picture of ", bytes.size(), " bytes cannot be compressed: zlib's error ", status);
  compressed.resize(size);
  return compressed;
}

char color_type(int channels) {
  switch (channels) {
    case 1:
      return 0;
    case 3:
      return 2;
    case 4:
      return 6;
    default:
      fail("a picture has ", channels, " channels; it can have 1, 3 or 4");
  }
}

}  // namespace

std::string encode_png(const Bitmap& bitmap) {
  char color = color_type(bitmap.channels);
  auto row_bytes = static_cast<size_t>(bitmap.width) * static_cast<size_t>(bitmap.channels);
  if (bitmap.width < 1 || bitmap.height < 1 || bitmap.bytes.size() != row_bytes * static_cast<size_t>(bitmap.height)) {
    fail("a picture of ", bitmap.width, " x ", bitmap.height, " pixels with ", bitmap.channels,
         " channels cannot have ", bitmap.bytes.size(), " bytes");
  }
  std::string header =
      big_endian(static_cast<uint32_t>(bitmap.width)) + big_endian(static_cast<uint32_t>(bitmap.height));
  header += {8, color, 0, 0, 0};  // bits of a channel; compression, filter and order of the rows as ever
  std::string rows;
  for (size_t row = 0; row < static_cast<size_t>(bitmap.height); ++row) {
    rows += '\0';  // the row as it is, not its difference to another
    rows.append(reinterpret_cast<const char*>(bitmap.bytes.data()) + row * row_bytes, row_bytes);
  }
  return "\x89PNG\r\n\x1a\n" + part("IHDR", header) + part("IDAT", deflated(rows)) + part("IEND", "");
}

}  // namespace accelerate::notebook
