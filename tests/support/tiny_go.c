#include "support/tiny_go.h"

#include "base/bytes/record.h"
#include "unwind/format.h"

enum {
    CODE_OFF = 0x1000,
    TABLE_OFF = 0x1100,
    TABLE = 0x402100,
    MODULE_OFF = 0x1400,
    MODULE = 0x403400,
    TREES_OFF = 0x1600,
    TREES = 0x404600,
    SECTIONS_OFF = 0x1700,
    NAMES_OFF = 0x1680,
    HEADER_LEN = 72,
    UNITS = 0x90, /* offsets in the table */
    FILES = 0x98,
    VALUES = 0xc0,
    FUNCTIONS = 0x100,
};

static void put(struct cn_text *text, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        cn_text_char(text, (char)(value >> (8 * i)));
}

static void pad_to(struct cn_text *text, size_t off)
{
    cn_text_fill(text, '\0', off - text->len);
}

/* A change of a value, and for how many bytes of code it applies. */
static void put_value(struct cn_text *text, int change, unsigned len, unsigned quantum)
{
    put(text, (uint64_t)(change < 0 ? -2 * change - 1 : 2 * change), 1);
    put(text, len / quantum, 1);
}

struct values {
    uint32_t frame, none, file, line, inlined;
};

static struct values put_values(struct cn_text *text, size_t begin, unsigned quantum)
{
    struct values at;

    put(text, 0, 1); /* offset 0 means that there are none */
    at.frame = (uint32_t)(text->len - begin);
    put_value(text, 1, 8, quantum); /* they begin with -1 */
    put_value(text, CN_TEST_GO_FRAME, 0x30, quantum);
    put_value(text, -CN_TEST_GO_FRAME, 8, quantum);
    put(text, 0, 1);
    at.none = (uint32_t)(text->len - begin);
    put_value(text, 1, 0x10, quantum);
    put(text, 0, 1);
    at.file = (uint32_t)(text->len - begin);
    put_value(text, 1, 0x10, quantum);
    put_value(text, 1, 0x10, quantum);
    put_value(text, -1, 0x20, quantum);
    put(text, 0, 1);
    at.line = (uint32_t)(text->len - begin);
    put_value(text, 11, 8, quantum);
    put_value(text, 2, 8, quantum);
    put_value(text, 8, 0x10, quantum);
    put_value(text, -10, 0x20, quantum);
    put(text, 0, 1);
    at.inlined = (uint32_t)(text->len - begin);
    put_value(text, 0, 0x10, quantum);
    put_value(text, 1, 0x10, quantum);
    put_value(text, -1, 0x20, quantum);
    put(text, 0, 1);
    return at;
}

static void put_function(struct cn_text *text, uint32_t begin, uint32_t name,
                         const struct values *values, bool is_main, bool is_new)
{
    put(text, begin, 4);
    put(text, name, 4);
    put(text, 0, 8);
    put(text, is_main ? values->frame : values->none, 4);
    put(text, values->file, 4);
    put(text, values->line, 4);
    put(text, is_main ? 3 : 0, 4);
    put(text, 0, 4);
    if (is_new)
        put(text, 9, 4);
    put(text, 0, 1);
    put(text, is_main ? 0 : 1, 1);
    put(text, 0, 1);
    put(text, is_main ? 4 : 0, 1);
    for (unsigned i = 0; is_main && i < 3; i++)
        put(text, i == 2 ? values->inlined : 0, 4);
    for (unsigned i = 0; is_main && i < 4; i++)
        put(text, i == 3 ? 0 : UINT32_MAX, 4);
}

static void put_table(struct cn_text *text, unsigned quantum, bool is_new)
{
    size_t begin = text->len;

    put(text, is_new ? 0xfffffff1 : 0xfffffff0, 4);
    put(text, 0, 2);
    put(text, quantum, 1);
    put(text, 8, 1);
    put(text, 2, 8); /* functions */
    put(text, 2, 8); /* files */
    put(text, CN_TEST_GO_CODE, 8);
    put(text, HEADER_LEN, 8);
    put(text, UNITS, 8);
    put(text, FILES, 8);
    put(text, VALUES, 8);
    put(text, FUNCTIONS, 8);
    cn_text_add(text, "main.main\0runtime.goexit\0main.add", 34);
    pad_to(text, begin + UNITS);
    put(text, 0, 4);
    put(text, 13, 4);
    pad_to(text, begin + FILES);
    cn_text_add(text, "/src/main.go\0/src/add.go", 25);
    pad_to(text, begin + VALUES);
    struct values values = put_values(text, begin + VALUES, quantum);
    pad_to(text, begin + FUNCTIONS);
    put(text, 0, 4);
    put(text, 0x18, 4);
    put(text, 0x40, 4);
    put(text, 0x18 + (is_new ? 0x48 : 0x44), 4);
    put(text, 0x50, 8);
    put_function(text, 0, 0, &values, true, is_new);
    put_function(text, 0x40, 10, &values, false, is_new);
}

static void put_section(struct cn_text *text, uint32_t name, uint64_t flags,
                        uint64_t address, uint64_t off, uint64_t len)
{
    struct cn_elf_section section = {.name_off = name,
                                     .type = 1,
                                     .flags = flags,
                                     .address = address,
                                     .file_off = off,
                                     .len = len};

    cn_elf_section_encode(&section, (uint8_t *)cn_text_room(text, cn_elf_section_size));
    cn_text_advance(text, cn_elf_section_size);
}

struct cn_text cn_test_go(enum cn_unwind_machine machine, bool is_new)
{
    bool is_arm = machine == CN_UNWIND_AARCH64;
    unsigned tree_word = is_new ? 40 : 38;
    struct cn_elf_header header = {
        .magic = CN_ELF_MAGIC,
        .width = 2,
        .order = 1,
        .machine = is_arm ? CN_ELF_AARCH64 : CN_ELF_X86_64,
        .segments_off = cn_elf_header_size,
        .sections_off = SECTIONS_OFF,
        .segment_len = cn_elf_segment_size,
        .segment_count = 1,
        .section_len = cn_elf_section_size,
        .section_count = 5,
        .names_section = 4,
    };
    struct cn_elf_segment segment = {.type = CN_ELF_LOAD,
                                     .flags = CN_ELF_EXECUTABLE,
                                     .file_off = CODE_OFF,
                                     .address = CN_TEST_GO_CODE,
                                     .file_len = 0x50,
                                     .memory_len = 0x50};
    struct cn_text text = {0};

    cn_elf_header_encode(&header, (uint8_t *)cn_text_room(&text, cn_elf_header_size));
    cn_text_advance(&text, cn_elf_header_size);
    cn_elf_segment_encode(&segment, (uint8_t *)cn_text_room(&text, cn_elf_segment_size));
    cn_text_advance(&text, cn_elf_segment_size);
    pad_to(&text, TABLE_OFF);
    put_table(&text, is_arm ? 4 : 1, is_new);
    pad_to(&text, MODULE_OFF + 16);
    put(&text, TABLE, 8);
    put(&text, TABLE + HEADER_LEN, 8);
    pad_to(&text, MODULE_OFF + 16 + 8 * (size_t)tree_word);
    put(&text, TREES, 8);
    pad_to(&text, TREES_OFF);
    if (is_new) {
        put(&text, 0, 4);
        put(&text, 25, 4);
        put(&text, 8, 4);
        put(&text, 20, 4);
    } else {
        put(&text, 0, 8);
        put(&text, 0, 4);
        put(&text, 25, 4);
        put(&text, 8, 4);
    }
    pad_to(&text, NAMES_OFF);
    cn_text_add(&text, "\0.text\0.gopclntab\0.data\0.rodata\0.shstrtab", 42);
    pad_to(&text, SECTIONS_OFF);
    put_section(&text, 1, 0, CN_TEST_GO_CODE, CODE_OFF, 0x50);
    put_section(&text, 7, 0, TABLE, TABLE_OFF, MODULE_OFF - TABLE_OFF);
    put_section(&text, 18, CN_ELF_WRITABLE, MODULE, MODULE_OFF, TREES_OFF - MODULE_OFF);
    put_section(&text, 24, 0, TREES, TREES_OFF, NAMES_OFF - TREES_OFF);
    put_section(&text, 32, 0, 0, NAMES_OFF, 42);
    return text;
}
