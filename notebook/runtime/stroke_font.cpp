#include "notebook/runtime/drawing.h"

#include <algorithm>
#include <string_view>

namespace accelerate::notebook {

namespace {

// Each letter from ' ' to '~' on a grid: two digits are the x and y of a point, points in a row are a line, and one
// alone is a dot. Capital letters go from y = 0 down to the baseline at y = 6, small ones begin at y = 2.
constexpr std::string_view kGlyphs[] = {
    "",                                     // space
    "0004 06",                              // !
    "0002 2022",                            // "
    "1016 3036 0242 0444",                  // #
    "413010010213334445361605 2026",        // $
    "0010110100 3545463635 0640",           // %
    "4612112031320405162644",               // &
    "0002",                                 // '
    "10010516",                             // (
    "00111506",                             // )
    "2125 0244 0442",                       // *
    "2125 0343",                            // +
    "151607",                               // ,
    "0333",                                 // -
    "06",                                   // .
    "0630",                                 // /
    "103041453616050110",                   // 0
    "022026",                               // 1
    "01103041420646",                       // 2
    "0110304142334445361605 2333",          // 3
    "36300444",                             // 4
    "400002324345361605",                   // 5
    "413010010516364544331304",             // 6
    "004016",                               // 7
    "103041423313020110 1304051636454433",  // 8
    "051636454130100102133342",             // 9
    "03 06",                                // :
    "13 151607",                            // ;
    "410345",                               // <
    "0242 0444",                            // =
    "014305",                               // >
    "01103041422324 26",                    // ?
    "56260402204062645444 44424232233444",  // @
    "062046 1434",                          // A
    "06003041423303 3344453606",            // B
    "4130100105163645",                     // C
    "00304145360600",                       // D
    "40000646 0333",                        // E
    "400006 0333",                          // F
    "41301001051636454323",                 // G
    "0006 4046 0343",                       // H
    "0006",                                 // I
    "3035261605",                           // J
    "0006 4004 1346",                       // K
    "000646",                               // L
    "0600244046",                           // M
    "06004640",                             // N
    "104051554616050110",                   // O
    "06003041423303",                       // P
    "104051554616050110 3456",              // Q
    "06003041423303 2346",                  // R
    "413010010213334445361605",             // S
    "0040 2026",                            // T
    "000516364540",                         // U
    "002640",                               // V
    "0016315660",                           // W
    "0046 4006",                            // X
    "002340 2326",                          // Y
    "00400646",                             // Z
    "10000616",                             // [
    "0036",                                 // backslash
    "00101606",                             // ]
    "022042",                               // ^
    "0747",                                 // _
    "0011",                                 // `
    "3322120305162635 3236",                // a
    "0006 0312223335261605",                // b
    "3322120305162635",                     // c
    "3036 3322120305162635",                // d
    "04343322120305162635",                 // e
    "30201116 0222",                        // f
    "3322120305162635 3237281807",          // g
    "0006 0312223336",                      // h
    "0206 00",                              // i
    "121708 10",                            // j
    "0006 3205 1436",                       // k
    "000516",                               // l
    "0206 03122326 23324346",               // m
    "0206 0312223336",                      // n
    "122233352616050312",                   // o
    "0208 0312223335261605",                // p
    "3238 3322120305162635",                // q
    "0206 031222",                          // r
    "3212031424352606",                     // s
    "101526 0222",                          // t
    "0205162635 3236",                      // u
    "022642",                               // v
    "0216233642",                           // w
    "0236 3206",                            // x
    "0226 421808",                          // y
    "02320636",                             // z
    "20111203141526",                       // {
    "0007",                                 // |
    "00111223141506",                       // }
    "04133443",                             // ~
};
constexpr std::string_view kBox = "0040460600";

constexpr double kColumn = 0.1;  // of the grid, in font sizes
constexpr double kRow = 0.125;
constexpr double kGap = 0.19;    // between two letters
constexpr double kSpace = 0.17;  // width of a space
constexpr int kBaseline = 6;

/// The glyphs of a text in UTF-8.
std::vector<std::string_view> glyphs_of(std::string_view words) {
  std::vector<std::string_view> glyphs;
  for (char c : words) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U) continue;  // not the first of its character
    bool known = byte >= ' ' && byte <= '~';
    glyphs.push_back(known ? kGlyphs[byte - ' '] : kBox);
  }
  return glyphs;
}

double width_of(std::string_view glyph) {
  if (glyph.empty()) return kSpace;
  char widest = '0';
  for (size_t i = 0; i < glyph.size(); i += glyph[i] == ' ' ? 1 : 2) widest = std::max(widest, glyph[i]);
  return (widest - '0') * kColumn;
}

double width_of(const std::vector<std::string_view>& glyphs) {
  double width = 0;
  for (auto glyph : glyphs) width += width_of(glyph) + kGap;
  return std::max(0.0, width - kGap);
}

}  // namespace

std::vector<std::vector<Point>> strokes_of(const Label& label) {
  auto glyphs = glyphs_of(label.words);
  double width = width_of(glyphs);
  double x = label.anchor == Anchor::Start ? 0 : label.anchor == Anchor::Middle ? -width / 2 : -width;
  std::vector<std::vector<Point>> strokes;
  for (auto glyph : glyphs) {
    for (size_t i = 0; i < glyph.size();) {
      if (i == 0 || glyph[i] == ' ') strokes.emplace_back();
      if (glyph[i] == ' ') ++i;
      double right = (x + (glyph[i] - '0') * kColumn) * label.font_size;
      double down = (glyph[i + 1] - '0' - kBaseline) * kRow * label.font_size;
      strokes.back().push_back(label.upwards ? Point{label.place.x + down, label.place.y - right}
                                             : Point{label.place.x + right, label.place.y + down});
      i += 2;
    }
    x += width_of(glyph) + kGap;
  }
  return strokes;
}

}  // namespace accelerate::notebook
