#include "support/java_image.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "sampler/languages/runtimes.h"

/* Offsets in the image. */
enum {
    VARIABLES = 0x0,
    HEAPS = 0x100, /* static fields */
    QUEUE = 0x108,
    CALL_STUB = 0x110,
    RELEASE = 0x118,
    VERSION = 0x120,
    THREAD_SLOT = 0x140, /* the loader writes there where variables of threads are */
    STRUCTS = 0x200,
    TYPES = 0x1000,
    INTS = 0x1200,
    STRINGS = 0x1400,
    ARRAY = 0x3000,
    ARRAY_DATA = 0x3020,
    HEAP = 0x3040,
    STUB_QUEUE = 0x3100,
    SEGMENTS = 0x3200,
    METHODS =
        0x3400, /* 0x120 bytes each: Method, then ConstMethod with bytecode, lines */
    METHOD_LEN = 0x120,
    CONST_OFF = 0x40,
    POOL = 0x3800,
    CLASS = 0x3900,
    SYMBOLS = 0x3940, /* 0x20 bytes each */
    SYMBOL_LEN = 0x20,
    CODE_HEAP = 0x4000,
    BLOB = CODE_HEAP + 16,
    SCOPES = 0x200, /* in the blob */
    PCS = 0x240,
    METADATA = 0x2a0,
    PCS_LEN = 36,
    BLOB_LEN = 0x2c0,
    IMMUTABLE = 0x5000, /* since 25: records and scopes of the blob */
    IMMUTABLE_PCS = 0x10,
    IMMUTABLE_LEN = 0x50,
    MUTABLE = 0x5100, /* relocations, then metadata */
    RELOCATION_LEN = 0x18,
    MUTABLE_LEN = 0x28,
    STUB_BLOB = 0x4400 + 16,
    STRUCT_LEN = 56,
    TYPE_LEN = 40,
    INT_LEN = 16,
    CONST_LEN = 32,
    POOL_LEN = 40,
};

static const struct field {
    const char *type, *name;
    int is_static;
    uint64_t value;
    enum cn_test_java_release only; /* 0: every one has it */
    const char *value_type;
} fields[] = {
    {"CodeCache", "_heaps", 1, CN_TEST_JAVA_BASE + HEAPS, 0, NULL},
    {"AbstractInterpreter", "_code", 1, CN_TEST_JAVA_BASE + QUEUE, 0, NULL},
    {"StubRoutines", "_call_stub_return_address", 1, CN_TEST_JAVA_BASE + CALL_STUB, 0,
     NULL},
    {"Abstract_VM_Version", "_vm_major_version", 1, CN_TEST_JAVA_BASE + VERSION, 0, NULL},
    {"Abstract_VM_Version", "_s_vm_release", 1, CN_TEST_JAVA_BASE + RELEASE, 0, NULL},
    {"GrowableArrayBase", "_len", 0, 4, 0, NULL},
    {"GrowableArray<int>", "_data", 0, 8, 0, NULL},
    {"CodeHeap", "_memory", 0, 8, 0, NULL},
    {"CodeHeap", "_segmap", 0, 48, 0, NULL},
    {"CodeHeap", "_log2_segment_size", 0, 96, 0, NULL},
    {"VirtualSpace", "_low", 0, 8, 0, NULL},
    {"VirtualSpace", "_high", 0, 16, 0, NULL},
    {"HeapBlock::Header", "_used", 0, 8, 0, NULL},
    {"StubQueue", "_stub_buffer", 0, 0, 0, NULL},
    {"StubQueue", "_buffer_limit", 0, 8, 0, NULL},
    {"CodeBlob", "_name", 0, 8, 0, NULL},
    {"CodeBlob", "_size", 0, 16, 0, NULL},
    {"CodeBlob", "_frame_complete_offset", 0, 20, CN_TEST_JAVA_17, "int"},
    {"CodeBlob", "_frame_complete_offset", 0, 20, CN_TEST_JAVA_25, "int16_t"},
    {"CodeBlob", "_frame_size", 0, 24, 0, NULL},
    {"CodeBlob", "_data_offset", 0, 28, 0, NULL},
    {"CodeBlob", "_code_begin", 0, 32, CN_TEST_JAVA_17, NULL},
    {"CodeBlob", "_code_end", 0, 40, CN_TEST_JAVA_17, NULL},
    {"CompiledMethod", "_method", 0, 48, CN_TEST_JAVA_17, NULL},
    {"CompiledMethod", "_scopes_data_begin", 0, 56, CN_TEST_JAVA_17, NULL},
    {"CompiledMethod", "_deopt_handler_begin", 0, 64, CN_TEST_JAVA_17, NULL},
    {"nmethod", "_compile_id", 0, 72, 0, NULL},
    {"nmethod", "_scopes_pcs_offset", 0, 76, 0, NULL},
    {"nmethod", "_dependencies_offset", 0, 80, CN_TEST_JAVA_17, NULL},
    {"nmethod", "_metadata_offset", 0, 84, CN_TEST_JAVA_17, NULL},
    {"nmethod", "_orig_pc_offset", 0, 88, 0, NULL},
    {"nmethod", "_verified_entry_point", 0, 96, CN_TEST_JAVA_17, NULL},
    {"CodeBlob", "_code_offset", 0, 32, CN_TEST_JAVA_25, NULL},
    {"CodeBlob", "_mutable_data", 0, 104, CN_TEST_JAVA_25, NULL},
    {"CodeBlob", "_mutable_data_size", 0, 112, CN_TEST_JAVA_25, NULL},
    {"CodeBlob", "_relocation_size", 0, 116, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_method", 0, 48, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_immutable_data", 0, 120, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_immutable_data_size", 0, 128, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_scopes_data_offset", 0, 132, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_deopt_handler_offset", 0, 64, CN_TEST_JAVA_25, NULL},
    {"nmethod", "_verified_entry_offset", 0, 96, CN_TEST_JAVA_25, NULL},
    {"PcDesc", "_pc_offset", 0, 0, 0, NULL},
    {"PcDesc", "_scope_decode_offset", 0, 4, 0, NULL},
    {"Method", "_constMethod", 0, 16, 0, NULL},
    {"ConstMethod", "_constants", 0, 0, 0, NULL},
    {"ConstMethod", "_flags", 0, 8, 0, NULL},
    {"ConstMethod", "_code_size", 0, 10, 0, NULL},
    {"ConstMethod", "_name_index", 0, 12, 0, NULL},
    {"ConstantPool", "_pool_holder", 0, 8, 0, NULL},
    {"ConstantPool", "_length", 0, 16, 0, NULL},
    {"ConstantPool", "_source_file_name_index", 0, 20, 0, NULL},
    {"Klass", "_name", 0, 24, 0, NULL},
    {"Symbol", "_length", 0, 4, 0, NULL},
    {"Symbol", "_body[0]", 0, 6, 0, NULL},
    {"CompilerThread", "_env", 0, 104, 0, NULL},
    {"JavaThread", "_stack_base", 0, 72, 0, NULL},
    {"JavaThread", "_stack_size", 0, 80, 0, NULL},
    {"ciEnv", "_task", 0, 40, 0, NULL},
    {"CompileTask", "_method", 0, 16, 0, NULL},
};

static const struct {
    const char *type;
    uint64_t size;
} types[] = {{"HeapBlock", 16},
             {"PcDesc", 12},
             {"ConstMethod", CONST_LEN},
             {"ConstantPool", POOL_LEN}};

/* In the order of the numbers in the pool, from 1. */
static const char *const symbols[] = {"Shop.java", "sell", "price", "main",
                                      "com/Shop+0x00ab"};

/* The image while it is written. */
struct making {
    enum cn_unwind_machine machine;
    enum cn_test_java_release release;
    uint8_t *image;
    size_t strings_len;
};

static uint64_t string_of(struct making *m, const char *text)
{
    uint64_t off = STRINGS + m->strings_len;

    assert(off + strlen(text) + 1 <= ARRAY);
    memcpy(m->image + off, text, strlen(text) + 1);
    m->strings_len += strlen(text) + 1;
    return CN_TEST_JAVA_BASE + off;
}

static void put(struct making *m, size_t off, uint64_t value)
{
    cn_u64_put(m->image + off, value);
}

static void put_tables(struct making *m)
{
    /* As the symbols of the library: a table, the length of its entries, offsets in them. */
    static const uint64_t variables[] = {CN_TEST_JAVA_BASE + STRUCTS,
                                         STRUCT_LEN,
                                         0,
                                         8,
                                         24,
                                         32,
                                         40,
                                         CN_TEST_JAVA_BASE + TYPES,
                                         TYPE_LEN,
                                         0,
                                         32,
                                         CN_TEST_JAVA_BASE + INTS,
                                         INT_LEN,
                                         0,
                                         8,
                                         16};
    size_t at = STRUCTS;

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        put(m, VARIABLES + 8 * i, variables[i]);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (fields[i].only != 0 && fields[i].only != m->release)
            continue;
        assert(at + 2 * STRUCT_LEN <= TYPES);
        put(m, at, string_of(m, fields[i].type));
        put(m, at + 8, string_of(m, fields[i].name));
        put(m, at + 24, (uint64_t)fields[i].is_static);
        put(m, at + (fields[i].is_static ? 40 : 32), fields[i].value);
        if (fields[i].value_type)
            put(m, at + 16, string_of(m, fields[i].value_type));
        at += STRUCT_LEN;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        put(m, TYPES + i * TYPE_LEN, string_of(m, types[i].type));
        put(m, TYPES + i * TYPE_LEN + 32, types[i].size);
    }
    put(m, INTS, string_of(m, "ConstMethod::_has_linenumber_table"));
    cn_u32_put(m->image + INTS + 8, 1);
}

static void put_heap(struct making *m)
{
    put(m, HEAPS, CN_TEST_JAVA_BASE + ARRAY);
    put(m, QUEUE, CN_TEST_JAVA_BASE + STUB_QUEUE);
    put(m, CALL_STUB, CN_TEST_JAVA_CALL_STUB);
    put(m, RELEASE, string_of(m, m->release == CN_TEST_JAVA_17 ? "17.0.9+9" : "25+36"));
    cn_u32_put(m->image + VERSION, m->release);
    /* A function, then how far from the thread pointer it is. */
    put(m, THREAD_SLOT, 1);
    put(m, THREAD_SLOT + 8, CN_TEST_JAVA_THREAD_AT);
    cn_u32_put(m->image + ARRAY + 4, 1);
    put(m, ARRAY + 8, CN_TEST_JAVA_BASE + ARRAY_DATA);
    put(m, ARRAY_DATA, CN_TEST_JAVA_BASE + HEAP);
    put(m, HEAP + 16, CN_TEST_JAVA_BASE + CODE_HEAP);
    put(m, HEAP + 24, CN_TEST_JAVA_BASE + CN_TEST_JAVA_LEN);
    put(m, HEAP + 56, CN_TEST_JAVA_BASE + SEGMENTS);
    cn_u32_put(m->image + HEAP + 96, 7);
    put(m, STUB_QUEUE, CN_TEST_JAVA_INTERPRETER);
    cn_u32_put(m->image + STUB_QUEUE + 8, 0x100);
    /* Two blocks, the first of 8 segments, and nothing after them. */
    memset(m->image + SEGMENTS, 0xff, 64);
    for (uint8_t i = 0; i < 16; i++)
        m->image[SEGMENTS + i] = i % 8 > 0;
    m->image[SEGMENTS + 7] = 7;
}

/* Numbers of one byte or several; since 20 none of their bytes is 0. */
static void put_numbers(const struct making *m, uint8_t *at, const uint8_t *bytes,
                        size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = (uint8_t)(bytes[i] + (m->release >= 20));
}

static void put_methods(struct making *m)
{
    /* Bytecode 0 is in the first line, 5 in the next, 40 388 lines later. */
    static const uint8_t numbers[] = {70, 200, 9};

    for (size_t i = 0; i < 3; i++) {
        size_t method = METHODS + i * METHOD_LEN, constants = method + CONST_OFF;
        uint8_t *at = m->image + constants + CONST_LEN + 48;

        put(m, method + 16, CN_TEST_JAVA_BASE + constants);
        put(m, constants, CN_TEST_JAVA_BASE + POOL);
        cn_u16_put(m->image + constants + 8, 1);
        cn_u16_put(m->image + constants + 10, 48);
        cn_u16_put(m->image + constants + 12, (uint16_t)(2 + i));
        /* Bytecode 0 and line 10, 20, 30, as signed numbers. */
        const uint8_t first[] = {0, (uint8_t)(2 * (10 + 10 * i))};
        at[0] = at[4] = 0xff;
        put_numbers(m, at + 1, first, sizeof(first));
        at[3] = 5 << 3 | 1;
        put_numbers(m, at + 5, numbers, sizeof(numbers));
    }
    put(m, POOL + 8, CN_TEST_JAVA_BASE + CLASS);
    cn_u32_put(m->image + POOL + 16, 6);
    cn_u16_put(m->image + POOL + 20, 1);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        size_t at = SYMBOLS + i * SYMBOL_LEN;

        put(m, POOL + POOL_LEN + 8 * (i + 1), CN_TEST_JAVA_BASE + at);
        cn_u16_put(m->image + at + 4, (uint16_t)strlen(symbols[i]));
        memcpy(m->image + at + 6, symbols[i], strlen(symbols[i]));
    }
    put(m, CLASS + 24, CN_TEST_JAVA_BASE + SYMBOLS + 4 * SYMBOL_LEN);
}

static void put_instructions(struct making *m)
{
    static const uint32_t arm[] = {0xd503201f, 0xd10083ff, 0xa9017bfd};
    static const uint8_t x86[] = {0x0f, 0x1f, 0x44, 0,    0,    0x55,
                                  0x48, 0x83, 0xec, 0x10, 0x66, 0x90};
    uint8_t *code = m->image + (CN_TEST_JAVA_CODE - CN_TEST_JAVA_BASE);

    if (m->machine == CN_UNWIND_AARCH64) {
        for (size_t i = 0; i < 3; i++)
            cn_u32_put(code + 4 * i, arm[i]);
        cn_u32_put(code + CN_TEST_JAVA_CODE_LEN - 4, 0xd65f03c0);
    } else {
        memcpy(code, x86, sizeof(x86));
        code[CN_TEST_JAVA_CODE_LEN - 8] = 0xc3;
    }
}

/* What is compiled at which instruction, and the methods that it names. */
static void put_scopes(struct making *m, uint8_t *pcs, uint8_t *scopes, uint8_t *metadata)
{
    /* Of sell: no caller, method 1, bytecode 5; of price: called there, method 2. */
    static const uint8_t numbers[] = {0, 1, 6, 1, 2, 6};

    scopes[0] = 0xff;
    put_numbers(m, scopes + 1, numbers, sizeof(numbers));
    cn_u32_put(pcs, UINT32_MAX);
    cn_u32_put(pcs + 12, 0x40);
    cn_u32_put(pcs + 16, 4);
    cn_u32_put(pcs + 24, 0x7fffffff);
    cn_u64_put(metadata, CN_TEST_JAVA_BASE + METHODS);
    cn_u64_put(metadata + 8, CN_TEST_JAVA_BASE + METHODS + METHOD_LEN);
}

static void put_code_17(struct making *m, uint8_t *blob)
{
    cn_u32_put(blob + 20, 12);
    cn_u64_put(blob + 32, CN_TEST_JAVA_CODE);
    cn_u64_put(blob + 40, CN_TEST_JAVA_CODE + CN_TEST_JAVA_CODE_LEN);
    cn_u64_put(blob + 56, CN_TEST_JAVA_BASE + BLOB + SCOPES);
    cn_u64_put(blob + 64, CN_TEST_JAVA_DEOPT);
    cn_u32_put(blob + 76, PCS);
    cn_u32_put(blob + 80, PCS + PCS_LEN);
    cn_u32_put(blob + 84, METADATA);
    cn_u64_put(blob + 96, CN_TEST_JAVA_CODE);
    put_scopes(m, blob + PCS, blob + SCOPES, blob + METADATA);
}

/* Other fields follow those of 16 bits. */
static void put_code_25(struct making *m, uint8_t *blob)
{
    enum { CODE_OFF = CN_TEST_JAVA_CODE - CN_TEST_JAVA_BASE - BLOB };

    cn_u32_put(blob + 20, 0x1230000 | 12);
    cn_u32_put(blob + 28, CODE_OFF + CN_TEST_JAVA_CODE_LEN);
    cn_u32_put(blob + 32, CODE_OFF);
    cn_u32_put(blob + 64, CN_TEST_JAVA_DEOPT - CN_TEST_JAVA_BASE - BLOB);
    cn_u32_put(blob + 76, IMMUTABLE_PCS);
    cn_u32_put(blob + 96, 0x1230000);
    cn_u64_put(blob + 104, CN_TEST_JAVA_BASE + MUTABLE);
    cn_u32_put(blob + 112, MUTABLE_LEN);
    cn_u32_put(blob + 116, RELOCATION_LEN);
    cn_u64_put(blob + 120, CN_TEST_JAVA_BASE + IMMUTABLE);
    cn_u32_put(blob + 128, IMMUTABLE_LEN);
    cn_u32_put(blob + 132, IMMUTABLE_PCS + PCS_LEN);
    put_scopes(m, m->image + IMMUTABLE + IMMUTABLE_PCS,
               m->image + IMMUTABLE + IMMUTABLE_PCS + PCS_LEN,
               m->image + MUTABLE + RELOCATION_LEN);
}

static void put_code(struct making *m)
{
    uint8_t *blob = m->image + BLOB;

    m->image[CODE_HEAP + 8] = 1;
    cn_u64_put(blob + 8, string_of(m, "nmethod"));
    cn_u32_put(blob + 16, BLOB_LEN);
    cn_u32_put(blob + 24, 4);
    cn_u64_put(blob + 48, CN_TEST_JAVA_BASE + METHODS);
    cn_u32_put(blob + 72, 7);
    cn_u32_put(blob + 88, 8);
    if (m->release == CN_TEST_JAVA_17)
        put_code_17(m, blob);
    else
        put_code_25(m, blob);
    put_instructions(m);
    blob = m->image + STUB_BLOB;
    m->image[STUB_BLOB - 8] = 1;
    cn_u64_put(blob + 8, string_of(m, "copies"));
    cn_u32_put(blob + 16, 0x180);
    cn_u32_put(blob + 20, UINT32_MAX);
    if (m->release == CN_TEST_JAVA_17) {
        cn_u64_put(blob + 32, CN_TEST_JAVA_STUB);
        cn_u64_put(blob + 40, CN_TEST_JAVA_STUB + 0x40);
    } else {
        cn_u32_put(blob + 28, CN_TEST_JAVA_STUB + 0x40 - CN_TEST_JAVA_BASE - STUB_BLOB);
        cn_u32_put(blob + 32, CN_TEST_JAVA_STUB - CN_TEST_JAVA_BASE - STUB_BLOB);
    }
}

void cn_test_java_image(enum cn_unwind_machine machine, enum cn_test_java_release release,
                        uint8_t image[static CN_TEST_JAVA_LEN])
{
    struct making m = {machine, release, image, 0};

    memset(image, 0, CN_TEST_JAVA_LEN);
    put_tables(&m);
    put_heap(&m);
    put_methods(&m);
    put_code(&m);
}

/* A library with the symbols of the tables, whose code is before the image; its descriptor. */
static int make_library(void)
{
    static const char *const names[] = {
        "gHotSpotVMStructs",
        "gHotSpotVMStructEntryArrayStride",
        "gHotSpotVMStructEntryTypeNameOffset",
        "gHotSpotVMStructEntryFieldNameOffset",
        "gHotSpotVMStructEntryIsStaticOffset",
        "gHotSpotVMStructEntryOffsetOffset",
        "gHotSpotVMStructEntryAddressOffset",
        "gHotSpotVMTypes",
        "gHotSpotVMTypeEntryArrayStride",
        "gHotSpotVMTypeEntryTypeNameOffset",
        "gHotSpotVMTypeEntrySizeOffset",
        "gHotSpotVMIntConstants",
        "gHotSpotVMIntConstantEntryArrayStride",
        "gHotSpotVMIntConstantEntryNameOffset",
        "gHotSpotVMIntConstantEntryValueOffset",
        "gHotSpotVMStructEntryTypeStringOffset",
        "_ZN6Thread12_thr_currentE",
    };
    enum {
        COUNT = sizeof(names) / sizeof(*names),
        SECTIONS = 0x78,
        TABLE = 0x180,
        RELOCATION = 0x7e0,
        LEN = 0x800
    };
    uint8_t file[LEN] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    size_t strings = TABLE + 24 * COUNT, len = 1;
    int fd = memfd_create("libjvm.so", 0);

    cn_u64_put(file + 0x20, 0x40);
    cn_u64_put(file + 0x28, SECTIONS);
    cn_u16_put(file + 0x12, 62);
    cn_u16_put(file + 0x36, 56);
    cn_u16_put(file + 0x38, 1);
    cn_u16_put(file + 0x3a, 64);
    cn_u16_put(file + 0x3c, 4);
    cn_u32_put(file + 0x40, 1); /* a segment with code */
    cn_u32_put(file + 0x44, 5);
    cn_u64_put(file + 0x40 + 0x20, 0x1000);
    cn_u32_put(file + SECTIONS + 64 + 4, 11); /* symbols */
    cn_u64_put(file + SECTIONS + 64 + 0x18, TABLE);
    cn_u64_put(file + SECTIONS + 64 + 0x20, 24 * COUNT);
    cn_u32_put(file + SECTIONS + 64 + 0x28, 2);
    for (size_t i = 0; i < COUNT; i++) {
        cn_u32_put(file + TABLE + 24 * i, (uint32_t)len);
        cn_u16_put(file + TABLE + 24 * i + 6, 1);
        cn_u64_put(file + TABLE + 24 * i + 8, 0x1000 + VARIABLES + 8 * i);
        memcpy(file + strings + len, names[i], strlen(names[i]) + 1);
        len += strlen(names[i]) + 1;
    }
    /* The last one is a variable of threads, and a relocation without a symbol says where. */
    cn_u64_put(file + TABLE + 24 * (COUNT - 1) + 8, CN_TEST_JAVA_THREAD_OFF);
    cn_u32_put(file + SECTIONS + 192 + 4, 4);
    cn_u64_put(file + SECTIONS + 192 + 0x18, RELOCATION);
    cn_u64_put(file + SECTIONS + 192 + 0x20, 24);
    cn_u32_put(file + SECTIONS + 192 + 0x28, 1);
    cn_u64_put(file + RELOCATION, 0x1000 + THREAD_SLOT);
    cn_u64_put(file + RELOCATION + 8, 36);
    cn_u64_put(file + RELOCATION + 16, CN_TEST_JAVA_THREAD_OFF);
    assert(strings + len <= RELOCATION);
    cn_u64_put(file + SECTIONS + 128 + 0x18, strings);
    cn_u64_put(file + SECTIONS + 128 + 0x20, len);
    if (fd < 0 || write(fd, file, LEN) != LEN)
        assert(false);
    return fd;
}

static bool copy_image(void *arg, uint64_t address, void *out, size_t len)
{
    const struct cn_test_java *java = arg;
    struct cn_bytes bytes;

    /* The last block may be cut off. */
    memset(out, 0, len);
    if (address < CN_TEST_JAVA_BASE ||
        !cn_bytes_from((struct cn_bytes){java->image, java->image_len},
                       address - CN_TEST_JAVA_BASE, &bytes) ||
        bytes.len == 0)
        return false;
    memcpy(out, bytes.ptr, len < bytes.len ? len : bytes.len);
    return true;
}

void cn_test_java_open(struct cn_test_java *java, uint8_t *image, size_t image_len)
{
    static int library = -1;
    struct cn_text path = {0};

    if (library < 0)
        library = make_library();
    *java = (struct cn_test_java){.image = image, .image_len = image_len};
    java->memory.copy = copy_image;
    java->memory.arg = java;
    cn_text_printf(&path, "/proc/self/fd/%d", library);
    java->state = cn_language_java.open(
        &java->memory,
        &(struct cn_language_mapping){CN_TEST_JAVA_BASE - 0x1000, CN_TEST_JAVA_BASE, 0,
                                      cn_text_str(&path), 0},
        &java->names);
    cn_text_done(&path);
}

bool cn_test_java_undo(struct cn_test_java *java, struct cn_unwind_step *step)
{
    cn_memory_begin(&java->memory, 1, 1 << 18);
    step->frame_count = 0;
    return cn_language_java.undo(java->state, step);
}

void cn_test_java_close(struct cn_test_java *java)
{
    cn_language_java.close(java->state);
    cn_stored_names_done(&java->names);
}
