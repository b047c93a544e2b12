#include "support/tiny_elf.h"

#include "unwind/format.h"

enum { FRAMES_OFF = 0x200, BASE = 0x401000, SECTION_COUNT = 3 };

static void put(struct cn_text *text, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        cn_text_char(text, (char)(value >> (8 * i)));
}

static void put_codes(struct cn_text *text, const uint8_t *codes, size_t len)
{
    cn_text_add(text, (const char *)codes, len);
}

/* The length of an entry is known at its end. */
static void end_entry(struct cn_text *text, size_t begin)
{
    while ((text->len - begin) % 4 != 0)
        put(text, CN_CFA_NOP, 1);
    cn_u32_put((uint8_t *)text->chars + begin, (uint32_t)(text->len - begin - 4));
}

static size_t put_cie(struct cn_text *text, bool is_arm, bool is_signal)
{
    static const uint8_t x86[] = {CN_CFA_DEF_CFA, 7, 8, CN_CFA_OFFSET | 16, 1};
    static const uint8_t arm[] = {CN_CFA_DEF_CFA, 31, 0};
    size_t begin = text->len;

    put(text, 0, 8);
    put(text, 1, 1);
    cn_text_add(text, is_signal ? "zRS" : "zR", is_signal ? 4 : 3);
    put(text, is_arm ? 4 : 1, 1);
    put(text, 0x78, 1); /* -8 */
    put(text, is_arm ? 30 : 16, 1);
    put(text, 1, 1);
    put(text, CN_EH_PC_RELATIVE | CN_EH_S4, 1);
    if (is_arm)
        put_codes(text, arm, sizeof(arm));
    else
        put_codes(text, x86, sizeof(x86));
    end_entry(text, begin);
    return begin;
}

static void put_fde(struct cn_text *text, size_t cie, uint64_t begin, uint64_t len,
                    const uint8_t *codes, size_t code_len)
{
    size_t at = text->len;

    put(text, 0, 4);
    put(text, at + 4 - cie, 4);
    put(text, begin - (BASE + text->len), 4);
    put(text, len, 4);
    put(text, 0, 1);
    put_codes(text, codes, code_len);
    end_entry(text, at);
}

static void put_frames(struct cn_text *text, bool is_arm)
{
    /* push %rbp; mov %rsp,%rbp; ...; leave; ret with a second return. */
    static const uint8_t x86[] = {CN_CFA_ADVANCE | 1,
                                  CN_CFA_DEF_CFA_OFFSET,
                                  16,
                                  CN_CFA_OFFSET | 6,
                                  2,
                                  CN_CFA_ADVANCE | 3,
                                  CN_CFA_DEF_CFA_REGISTER,
                                  6,
                                  CN_CFA_ADVANCE1,
                                  0x1c,
                                  CN_CFA_REMEMBER_STATE,
                                  CN_CFA_DEF_CFA,
                                  7,
                                  8,
                                  CN_CFA_RESTORE | 6,
                                  CN_CFA_ADVANCE | 8,
                                  CN_CFA_RESTORE_STATE};
    /* paciasp; stp x29, x30, [sp, #-32]!; str x19, [sp, #16] */
    static const uint8_t arm[] = {CN_CFA_ADVANCE | 1,
                                  CN_CFA_NEGATE_RA_STATE,
                                  CN_CFA_ADVANCE | 1,
                                  CN_CFA_DEF_CFA_OFFSET,
                                  32,
                                  CN_CFA_OFFSET | 29,
                                  4,
                                  CN_CFA_OFFSET | 30,
                                  3,
                                  CN_CFA_ADVANCE | 1,
                                  CN_CFA_OFFSET | 19,
                                  2};
    /* CFA: the word at rsp + 160; rip: the word at rsp + 168. */
    static const uint8_t signal[] = {
        CN_CFA_DEF_CFA_EXPRESSION, 4,  0x77, 0xa0, 0x01, 0x06,
        CN_CFA_EXPRESSION,         16, 3,    0x77, 0xa8, 0x01};
    /* CFA: rsp; rip: the word at 0x9000. */
    static const uint8_t replaced[] = {
        CN_CFA_DEF_CFA, 7, 0, CN_CFA_VAL_EXPRESSION, 16, 4, 0x0a, 0x00, 0x90, 0x06};
    size_t cie = put_cie(text, is_arm, false);

    put_fde(text, cie, CN_TEST_ELF_CODE, 0x40, is_arm ? arm : x86,
            is_arm ? sizeof(arm) : sizeof(x86));
    cie = put_cie(text, is_arm, true);
    put_fde(text, cie, CN_TEST_ELF_SIGNAL, 0x10, signal, is_arm ? 0 : sizeof(signal));
    if (!is_arm)
        put_fde(text, cie, CN_TEST_ELF_REPLACED, 0x10, replaced, sizeof(replaced));
    put(text, 0, 4);
}

static void put_segment(struct cn_text *text, uint32_t type, uint64_t off, uint64_t len)
{
    struct cn_elf_segment segment = {.type = type,
                                     .flags = CN_ELF_EXECUTABLE,
                                     .file_off = off,
                                     .address = BASE + off,
                                     .file_len = len,
                                     .memory_len = len};
    uint8_t bytes[cn_elf_segment_size];

    cn_elf_segment_encode(&segment, bytes);
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

static void put_section(struct cn_text *text, uint32_t name_off, uint64_t address,
                        uint64_t off, uint64_t len)
{
    struct cn_elf_section section = {
        .name_off = name_off, .type = 1, .address = address, .file_off = off, .len = len};
    uint8_t bytes[cn_elf_section_size];

    cn_elf_section_encode(&section, bytes);
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

struct cn_text cn_test_elf(enum cn_unwind_machine machine, bool has_sections)
{
    static const char names[] = "\0.eh_frame\0.shstrtab";
    /* The system calls rt_sigreturn. */
    static const uint8_t x86_return[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t arm_return[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4, 0};
    bool is_arm = machine == CN_UNWIND_AARCH64;
    struct cn_elf_header header = {.magic = CN_ELF_MAGIC,
                                   .width = 2,
                                   .order = 1,
                                   .machine = is_arm ? CN_ELF_AARCH64 : CN_ELF_X86_64,
                                   .segments_off = cn_elf_header_size,
                                   .segment_len = cn_elf_segment_size,
                                   .segment_count = 2};
    struct cn_text frames = {0}, text = {0};
    uint8_t bytes[cn_elf_header_size];
    size_t hdr_off, names_off;

    /* Addresses of frames count from where they are in the file. */
    cn_text_fill(&frames, '\0', FRAMES_OFF);
    put_frames(&frames, is_arm);
    hdr_off = frames.len;
    names_off = hdr_off + 8;
    if (has_sections) {
        header.sections_off = names_off + sizeof(names);
        header.section_len = cn_elf_section_size;
        header.section_count = SECTION_COUNT;
        header.names_section = SECTION_COUNT - 1;
    }
    cn_elf_header_encode(&header, bytes);
    cn_text_add(&text, (const char *)bytes, sizeof(bytes));
    put_segment(&text, CN_ELF_LOAD, 0, names_off);
    put_segment(&text, CN_ELF_EH_FRAME_HDR, hdr_off, 8);
    cn_text_add(&text, frames.chars + text.len, frames.len - text.len);
    text.chars[CN_TEST_ELF_AFTER_CALL - BASE - 5] = (char)0xe8;
    text.chars[CN_TEST_ELF_REPLACED_CALL - BASE - 5] = (char)0xe8;
    memcpy(text.chars + (CN_TEST_ELF_RETURN - BASE), is_arm ? arm_return : x86_return, 9);
    put(&text, 0xffff1b01, 4); /* version 1, relative to this word */
    put(&text, FRAMES_OFF - (hdr_off + 4), 4);
    cn_text_add(&text, names, sizeof(names));
    if (has_sections) {
        put_section(&text, 0, 0, 0, 0);
        put_section(&text, 1, BASE + FRAMES_OFF, FRAMES_OFF, hdr_off - FRAMES_OFF);
        put_section(&text, 11, 0, names_off, sizeof(names));
    }
    cn_text_done(&frames);
    return text;
}
