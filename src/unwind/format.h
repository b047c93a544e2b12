/* ELF files and call frame information, as far as they are read, and the cached tables.
 *
 * A cached table is a header, then: segments, addresses of rows (u32 each), rules of rows (u32
 * each), words of rules (u32 each), bytes of expressions. Integers are little endian. The
 * checksum is over everything after it.
 * Threads: immutable.
 */
#ifndef CN_UNWIND_FORMAT_H
#define CN_UNWIND_FORMAT_H

#include "base/bytes/record.h"

/* clang-format off */
#define CN_ELF_HEADER(F)                                    \
    F(0x00, u32, magic, "")                                 \
    F(0x04, u8, width, "2: 64 bits")                        \
    F(0x05, u8, order, "1: little endian")                  \
    F(0x12, u16, machine, "")                               \
    F(0x18, u64, entry, "address of the first instruction") \
    F(0x20, u64, segments_off, "")                          \
    F(0x28, u64, sections_off, "")                          \
    F(0x36, u16, segment_len, "")                           \
    F(0x38, u16, segment_count, "")                         \
    F(0x3a, u16, section_len, "")                           \
    F(0x3c, u16, section_count, "")                         \
    F(0x3e, u16, names_section, "")
CN_RECORD(cn_elf_header, CN_ELF_HEADER, 0x40);

#define CN_ELF_SEGMENT(F)           \
    F(0x00, u32, type, "")          \
    F(0x04, u32, flags, "")         \
    F(0x08, u64, file_off, "")      \
    F(0x10, u64, address, "")       \
    F(0x20, u64, file_len, "")      \
    F(0x28, u64, memory_len, "")
CN_RECORD(cn_elf_segment, CN_ELF_SEGMENT, 0x38);

#define CN_ELF_SECTION(F)           \
    F(0x00, u32, name_off, "")      \
    F(0x04, u32, type, "")          \
    F(0x08, u64, flags, "")         \
    F(0x10, u64, address, "")       \
    F(0x18, u64, file_off, "")      \
    F(0x20, u64, len, "")
CN_RECORD(cn_elf_section, CN_ELF_SECTION, 0x40);

#define CN_ELF_NOTE(F)              \
    F(0x00, u32, name_len, "")      \
    F(0x04, u32, data_len, "")      \
    F(0x08, u32, type, "")
CN_RECORD(cn_elf_note, CN_ELF_NOTE, 0x0c);

/* A symbol. */
#define CN_ELF_NAMED(F)                                 \
    F(0x00, u32, name_off, "in the table of strings")   \
    F(0x06, u16, section, "0: of another file")         \
    F(0x08, u64, address, "")                           \
    F(0x10, u64, len, "")
CN_RECORD(cn_elf_named, CN_ELF_NAMED, 0x18);

#define CN_UNWIND_FILE(F)                                               \
    F(0x00, u64, magic, "")                                             \
    F(0x08, u32, crc, "of everything after it")                         \
    F(0x0c, u32, machine, "")                                           \
    F(0x10, u64, base, "addresses of rows count from it")               \
    F(0x18, u64, entry, "address of the first instruction")             \
    F(0x20, u32, segment_count, "")                                     \
    F(0x24, u32, row_count, "")                                         \
    F(0x28, u32, word_count, "")                                        \
    F(0x2c, u32, expression_len, "")
CN_RECORD(cn_unwind_file, CN_UNWIND_FILE, 0x30);

#define CN_UNWIND_SEGMENT(F)    \
    F(0x00, u64, address, "")   \
    F(0x08, u64, file_off, "")  \
    F(0x10, u64, len, "")
CN_RECORD(cn_unwind_segment, CN_UNWIND_SEGMENT, 0x18);
/* clang-format on */

#define CN_UNWIND_FILE_MAGIC UINT64_C(0x33746e77756e7263) /* "crnuwnt3" */

enum {
    CN_ELF_MAGIC = 0x464c457f,
    CN_ELF_X86_64 = 62,
    CN_ELF_AARCH64 = 183,
    CN_ELF_LOAD = 1,
    CN_ELF_NOTES = 4,
    CN_ELF_EH_FRAME_HDR = 0x6474e550,
    CN_ELF_EXECUTABLE = 1,
    CN_ELF_NO_BITS = 8,
    CN_ELF_WRITABLE = 1 << 0,
    CN_ELF_COMPRESSED = 1 << 11,
    CN_ELF_NOTE_BUILD_ID = 3,
};

enum {
    CN_UNWIND_SEGMENT_MAX = 16, /* with code */
    CN_UNWIND_BUILD_ID_MAX = 64,
    CN_UNWIND_ROW_MAX = 1 << 24,
    CN_UNWIND_WORD_MAX = 1 << 24,
    CN_UNWIND_EXPRESSION_MAX = 1 << 20,   /* bytes of all expressions of a module */
    CN_UNWIND_PROGRAM_MAX = 1 << 12,      /* bytes of instructions of a CIE */
    CN_UNWIND_REMEMBER_MAX = 16,          /* nested remembered states */
    CN_UNWIND_FRAMES_LEN_MAX = 512 << 20, /* bytes of .eh_frame */
};

/* Encodings of pointers in .eh_frame. */
enum {
    CN_EH_ABSOLUTE = 0x00,
    CN_EH_ULEB = 0x01,
    CN_EH_U2 = 0x02,
    CN_EH_U4 = 0x03,
    CN_EH_U8 = 0x04,
    CN_EH_SLEB = 0x09,
    CN_EH_S2 = 0x0a,
    CN_EH_S4 = 0x0b,
    CN_EH_S8 = 0x0c,
    CN_EH_FORM = 0x0f,
    CN_EH_PC_RELATIVE = 0x10,
    CN_EH_DATA_RELATIVE = 0x30,
    CN_EH_RELATION = 0x70,
    CN_EH_OMITTED = 0xff,
};

/* Instructions of call frame information; the first three have an operand in the low bits. */
enum {
    CN_CFA_ADVANCE = 0x40,
    CN_CFA_OFFSET = 0x80,
    CN_CFA_RESTORE = 0xc0,
    CN_CFA_NOP = 0x00,
    CN_CFA_SET_LOC = 0x01,
    CN_CFA_ADVANCE1 = 0x02,
    CN_CFA_ADVANCE2 = 0x03,
    CN_CFA_ADVANCE4 = 0x04,
    CN_CFA_OFFSET_EXTENDED = 0x05,
    CN_CFA_RESTORE_EXTENDED = 0x06,
    CN_CFA_UNDEFINED = 0x07,
    CN_CFA_SAME_VALUE = 0x08,
    CN_CFA_REGISTER = 0x09,
    CN_CFA_REMEMBER_STATE = 0x0a,
    CN_CFA_RESTORE_STATE = 0x0b,
    CN_CFA_DEF_CFA = 0x0c,
    CN_CFA_DEF_CFA_REGISTER = 0x0d,
    CN_CFA_DEF_CFA_OFFSET = 0x0e,
    CN_CFA_DEF_CFA_EXPRESSION = 0x0f,
    CN_CFA_EXPRESSION = 0x10,
    CN_CFA_OFFSET_EXTENDED_SF = 0x11,
    CN_CFA_DEF_CFA_SF = 0x12,
    CN_CFA_DEF_CFA_OFFSET_SF = 0x13,
    CN_CFA_VAL_OFFSET = 0x14,
    CN_CFA_VAL_OFFSET_SF = 0x15,
    CN_CFA_VAL_EXPRESSION = 0x16,
    CN_CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CN_CFA_NEGATE_RA_STATE = 0x2d,
    CN_CFA_ARGS_SIZE = 0x2e,
    CN_CFA_NEGATIVE_OFFSET = 0x2f,
};

#endif
