/* The records of ELF files that are read: 64-bit, little endian.
 * Threads: constants.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_ELF_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_ELF_FORMAT_H

#include "base/bytes/record.h"

#define CN_ELF_HEADER(F)                          \
    F(0x28, u64, sections_off, "section headers") \
    F(0x3a, u16, section_len, "bytes of each")    \
    F(0x3c, u16, section_count, "how many")
CN_RECORD(cn_elf_header, CN_ELF_HEADER, 0x40);

#define CN_ELF_SECTION(F)                               \
    F(0x04, u32, type, "2 symbols, 11 dynamic symbols") \
    F(0x18, u64, off, "in the file")                    \
    F(0x20, u64, len, "bytes")                          \
    F(0x28, u32, link, "section of the strings")
CN_RECORD(cn_elf_section, CN_ELF_SECTION, 0x40);

#define CN_ELF_SYMBOL(F)                          \
    F(0x00, u32, name, "offset of the string")    \
    F(0x04, u8, info, "low 4 bits: type")         \
    F(0x06, u16, section, "0: defined elsewhere") \
    F(0x08, u64, value, "address")                \
    F(0x10, u64, size, "bytes")
CN_RECORD(cn_elf_symbol, CN_ELF_SYMBOL, 0x18);

#endif
