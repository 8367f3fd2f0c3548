#include "notebook/runtime/png.h"

#include <zlib.h>

#include <string_view>

#include "accelerate/base/error.h"
#include "accelerate/formats/png.h"

namespace accelerate::notebook {

namespace {

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string compressed(size, '\0');
  int status = compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status != Z_OK) fail("a picture of ", bytes.size(), " bytes cannot be compressed: zlib's error ", status);
  compressed.resize(size);
  return compressed;
}

}  // namespace

std::string encode_png(const Bitmap& bitmap) {
  return formats::encode_png(bitmap.height, bitmap.width, bitmap.channels, bitmap.bytes, deflated);
}

}  // namespace accelerate::notebook
