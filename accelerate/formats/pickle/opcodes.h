#pragma once

// The pickle opcodes that create values. Python's other opcodes are not supported.

namespace accelerate::formats {

enum class Opcode : unsigned char {
  Proto = 0x80,
  Frame = 0x95,
  Stop = '.',
  Mark = '(',

  None = 'N',
  NewTrue = 0x88,
  NewFalse = 0x89,
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  Long1 = 0x8a,
  Long4 = 0x8b,
  BinFloat = 'G',
  ShortBinString = 'U',  // a Python 2 string
  BinUnicode = 'X',
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes = 'B',
  ShortBinBytes = 'C',
  BinBytes8 = 0x8e,

  EmptyList = ']',
  Append = 'a',
  Appends = 'e',
  EmptyTuple = ')',
  Tuple = 't',
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  EmptyDict = '}',
  SetItem = 's',
  SetItems = 'u',
  EmptySet = 0x8f,
  AddItems = 0x90,

  BinPut = 'q',
  LongBinPut = 'r',
  Memoize = 0x94,
  BinGet = 'h',
  LongBinGet = 'j',

  Global = 'c',
  StackGlobal = 0x93,
  BinPersId = 'Q',
  Reduce = 'R',
  Build = 'b',
};

}  // namespace accelerate::formats
