#include "transformers/text/line_reader.h"

#include <cerrno>
#include <cstring>

#include "accelerate/base/utf8.h"

namespace transformers::text {

LineReader::LineReader(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) accelerate::fail(path_.string(), ": is a directory; give a file");
  file_.open(path_, std::ios::binary);
  if (!file_) accelerate::fail(path_.string(), ": cannot be read: ", std::strerror(errno));
}

bool LineReader::next(std::string& line) {
  if (!std::getline(file_, line)) {
    if (file_.bad()) fail_at(line_number_ + 1, "cannot be read: ", std::strerror(errno));
    return false;
  }
  ++line_number_;
  if (line_number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (auto position = accelerate::find_broken_utf8(line)) {
    fail_at(line_number_, "byte ", *position + 1,
            " of the line is not UTF-8; convert the file, for example with iconv");
  }
  return true;
}

}  // namespace transformers::text
