#include "support/v8_image.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"

enum {
    MAP_TYPE = 255,
    FUNCTION_TYPE = 2066,
    SHARED_TYPE = 262,
    SCOPE_TYPE = 261,
    SCRIPT_TYPE = 167,
    ARRAY_TYPE = 175,
    WEAK_ARRAY_TYPE = 240,
    BYTES_TYPE = 190,
    BYTECODES_TYPE = 191,
    CODE_TYPE = 245,
    STREAM_TYPE = 252,
    ONE_BYTE_TYPE = 40,
    TWO_BYTE_TYPE = 32,
    CONS_TYPE = 41,
    SLICED_TYPE = 43,
    THIN_TYPE = 45,
    EXTERNAL_TYPE = 42,
    BUILTIN_LEN = 256,
};

static const struct {
    const char *symbol;
    int32_t value;
} symbols[] = {
    {"TaggedSize", 8},
    {"SmiShiftSize", 31},
    {"off_fp_context_or_frame_type", -8},
    {"off_fp_function", -16},
    {"off_fp_bytecode_array", -32},
    {"off_fp_bytecode_offset", -40},
    {"frametype_EntryFrame", 1},
    {"frametype_ConstructEntryFrame", 2},
    {"JSFunctionRegister", 1},
    {"InterpreterBytecodeOffsetRegister", 19},
    {"class_Map__instance_type__uint16_t", 12},
    {"type_Map__MAP_TYPE", MAP_TYPE},
    {"type_JSFunction__JS_FUNCTION_TYPE", FUNCTION_TYPE},
    {"class_JSFunction__shared__SharedFunctionInfo", 24},
    {"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", SHARED_TYPE},
    {"class_SharedFunctionInfo__name_or_scope_info__Object", 16},
    {"class_SharedFunctionInfo__script_or_debug_info__HeapObject", 32},
    {"type_ScopeInfo__SCOPE_INFO_TYPE", SCOPE_TYPE},
    {"scopeinfo_idx_ncontextlocals", 2},
    {"scopeinfo_idx_first_vars", 3},
    {"type_Script__SCRIPT_TYPE", SCRIPT_TYPE},
    {"class_Script__source__Object", 8},
    {"class_Script__name__Object", 16},
    {"FirstNonstringType", 128},
    {"StringRepresentationMask", 7},
    {"StringEncodingMask", 8},
    {"SeqStringTag", 0},
    {"ConsStringTag", 1},
    {"ExternalStringTag", 2},
    {"SlicedStringTag", 3},
    {"ThinStringTag", 5},
    {"class_String__length__int32_t", 12},
    {"class_SeqOneByteString__chars__char", 16},
    {"class_SeqTwoByteString__chars__char", 16},
    {"class_ConsString__first__String", 16},
    {"class_ConsString__second__String", 24},
    {"class_SlicedString__parent__String", 16},
    {"class_SlicedString__offset__SMI", 24},
    {"class_ThinString__actual__String", 16},
    {"class_ExternalString__resource__Object", 16},
    {"class_FixedArrayBase__length__SMI", 8},
    {"class_FixedArray__data__uintptr_t", 16},
    {"type_FixedArray__FIXED_ARRAY_TYPE", ARRAY_TYPE},
    {"type_WeakFixedArray__WEAK_FIXED_ARRAY_TYPE", WEAK_ARRAY_TYPE},
    {"type_ByteArray__BYTE_ARRAY_TYPE", BYTES_TYPE},
    {"type_BytecodeArray__BYTECODE_ARRAY_TYPE", BYTECODES_TYPE},
    {"class_BytecodeArray__data__uintptr_t", 54},
    {"type_Code__CODE_TYPE", CODE_TYPE},
    {"type_InstructionStream__INSTRUCTION_STREAM_TYPE", STREAM_TYPE},
    {"class_InstructionStream__instruction_start__uintptr_t", 16},
};

void cn_v8_image_set(struct cn_v8_image *image, uint64_t address, uint64_t word)
{
    cn_u64_put(image->bytes + (address - CN_V8_IMAGE_BASE), word);
}

static uint64_t take(struct cn_v8_image *image, uint64_t len)
{
    uint64_t at = CN_V8_IMAGE_BASE + image->used;

    image->used += len;
    return at;
}

static uint64_t map_of(struct cn_v8_image *image, unsigned type)
{
    unsigned slot = type % 512;

    if (image->types[slot] == 0) {
        uint64_t map = take(image, 32);

        image->types[slot] = map + 1;
        cn_v8_image_set(image, map, type == MAP_TYPE ? map + 1 : map_of(image, MAP_TYPE));
        cn_u16_put(image->bytes + (map + 12 - CN_V8_IMAGE_BASE), (uint16_t)type);
    }
    return image->types[slot];
}

/* An object with the words after its map. */
static uint64_t add(struct cn_v8_image *image, unsigned type, const uint64_t *words,
                    size_t count)
{
    uint64_t map = map_of(image, type), at = take(image, 8 + 8 * (uint64_t)count);

    cn_v8_image_set(image, at, map);
    for (size_t i = 0; i < count; i++)
        cn_v8_image_set(image, at + 8 + 8 * (uint64_t)i, words[i]);
    return at + 1;
}

static uint64_t number(int32_t value)
{
    return (uint64_t)(uint32_t)value << 32;
}

static uint64_t add_bytes(struct cn_v8_image *image, unsigned type, uint64_t len_word,
                          const void *bytes, size_t len)
{
    uint64_t at = add(image, type, &len_word, 1);

    memcpy(image->bytes + image->used, bytes, len);
    image->used += (len + 7) / 8 * 8;
    return at;
}

static uint64_t add_string(struct cn_v8_image *image, const char *text)
{
    return add_bytes(image, ONE_BYTE_TYPE, (uint64_t)strlen(text) << 32, text,
                     strlen(text));
}

static void add_names(struct cn_v8_image *image)
{
    static const char wide[] = "o\0u\0t\0e\0r";
    uint64_t len = UINT64_C(5) << 32, hash_len = len;
    uint64_t text = add_string(image, "the outer one"), plain;

    plain = image->names[0] = add_string(image, "outer");
    image->names[1] = add_bytes(image, TWO_BYTE_TYPE, len, wide, sizeof(wide));
    image->names[2] =
        add(image, CONS_TYPE,
            (uint64_t[]){hash_len, add_string(image, "ou"), add_string(image, "ter")}, 3);
    image->names[3] = add(image, SLICED_TYPE, (uint64_t[]){hash_len, text, number(4)}, 3);
    image->names[4] = add(image, THIN_TYPE, (uint64_t[]){hash_len, plain}, 2);
    image->names[5] =
        add(image, EXTERNAL_TYPE, (uint64_t[]){hash_len, 0, plain - 1 + 16}, 3);
}

static uint64_t add_shared(struct cn_v8_image *image, uint64_t name, int32_t begin)
{
    /* A name that is not a variable, then where it begins and ends. */
    uint64_t scope = add(image, SCOPE_TYPE,
                         (uint64_t[]){number(3 << 12 | 2), 0, 0, name, number(-1),
                                      number(begin), number(begin + 2)},
                         7);

    return add(image, SHARED_TYPE, (uint64_t[]){0, scope, 0, image->script, 0, 0}, 6);
}

/* Differences of offset and position, of expressions. */
static const uint8_t positions[] = {
    /* -1 - -2: offset 0, in the first line */
    0x01 | 1 << 1, 2 * (1 + 1) << 1,
    /* 16 further, in the third line, inlined at the first index */
    0x01 | 16 << 1, 0xa0, 0x80, 0x80, 0x80, 0x10};

static const uint8_t bytecode_positions[] = {0x01 | 1 << 1, 2 * (1 + 1) << 1,
                                             /* 4 further, in the second line */
                                             0x01 | 4 << 1, 2 * 4 << 1};

static void add_code(struct cn_v8_image *image)
{
    uint8_t inlined[16] = {0};
    uint64_t stream = CN_V8_IMAGE_CODE - 16, table, literals, deopt;

    /* Called in the second line, as the first literal. */
    cn_u64_put(inlined, 2 * (5 + 1));
    literals = add(image, WEAK_ARRAY_TYPE, (uint64_t[]){number(1), image->inlined}, 2);
    table = add_bytes(image, BYTES_TYPE, number(sizeof(positions)), positions,
                      sizeof(positions));
    deopt = add(image, ARRAY_TYPE,
                (uint64_t[]){number(8), 0, number(1), literals, 0, 0, 0, image->shared,
                             add_bytes(image, BYTES_TYPE, number(sizeof(inlined)),
                                       inlined, sizeof(inlined))},
                9);
    image->code = add(image, CODE_TYPE,
                      (uint64_t[]){0, deopt, table, stream + 1, CN_V8_IMAGE_CODE, 13,
                                   CN_V8_IMAGE_CODE_LEN},
                      7);
    cn_v8_image_set(image, stream, map_of(image, STREAM_TYPE));
    cn_v8_image_set(image, stream + 8, image->code);
}

void cn_v8_image_fill(struct cn_v8_image *image)
{
    uint64_t table;

    *image = (struct cn_v8_image){.len = CN_V8_IMAGE_LEN};
    (void)map_of(image, MAP_TYPE);
    add_names(image);
    image->script = add(image, SCRIPT_TYPE,
                        (uint64_t[]){add_string(image, "one\ntwo\nthree\n"),
                                     add_string(image, "file:///x/words.js"), number(0)},
                        3);
    image->shared = add_shared(image, image->names[0], 1);
    image->inlined = add_shared(image, add_string(image, "inner"), 9);
    image->function =
        add(image, FUNCTION_TYPE, (uint64_t[]){0, 0, image->shared, 0, 0, 0}, 6);
    table = add_bytes(image, BYTES_TYPE, number(sizeof(bytecode_positions)),
                      bytecode_positions, sizeof(bytecode_positions));
    image->bytecodes =
        add(image, BYTECODES_TYPE, (uint64_t[]){number(8), 0, 0, table, 0, 0, 0}, 7);
    add_code(image);
}

static bool copy(void *arg, uint64_t address, void *out, size_t len)
{
    const struct cn_v8_image *image = arg;
    struct cn_bytes part;

    /* Blocks that are read may be longer. */
    if (address < CN_V8_IMAGE_BASE ||
        !cn_bytes_slice((struct cn_bytes){image->bytes, image->len},
                        address - CN_V8_IMAGE_BASE, len, &part))
        return false;
    memcpy(out, part.ptr, len);
    return true;
}

void cn_v8_image_open(struct cn_v8_image *image, struct cn_v8 *v8,
                      struct cn_memory *memory, struct cn_stored_names *names)
{
    static const enum cn_v8_kind kinds[] = {CN_V8_HANDLER, CN_V8_HANDLER, CN_V8_BUILTIN};

    memory->copy = copy;
    memory->arg = image;
    cn_memory_begin(memory, 0, 1 << 18);
    cn_v8_begin(v8, memory, names);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
        cn_v8_layout_set(&v8->layout, symbols[i].symbol, symbols[i].value);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        CN_PUSH(v8->builtins, v8->builtin_count, v8->builtin_capacity,
                (struct cn_v8_builtin){CN_V8_IMAGE_BUILTINS + BUILTIN_LEN * i, kinds[i]});
    v8->builtins_begin = CN_V8_IMAGE_BUILTINS;
    v8->builtins_end = CN_V8_IMAGE_BUILTINS + 3 * BUILTIN_LEN;
    CN_PUSH(v8->ranges, v8->range_count, v8->range_capacity,
            (struct cn_v8_range){CN_V8_IMAGE_BASE, CN_V8_IMAGE_BASE + CN_V8_IMAGE_LEN,
                                 CN_V8_COMPILED, 0});
}
