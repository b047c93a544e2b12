#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/search.h"
#include "base/text.h"
#include "sampler/languages/v8.h"

/* What is read at most of one process, and of each object. */
enum {
    FUNCTIONS_MAX = 1 << 16,
    SCRIPTS_MAX = 1 << 14,
    NAME_LEN_MAX = 512,
    STRING_DEPTH_MAX = 16,
    STRING_PARTS_MAX = 32,
    SOURCE_LEN_MAX = 8 << 20,
    SOURCES_LEN_MAX = 32 << 20,
    SOURCE_PART_LEN = 1 << 16,
    POSITIONS_LEN_MAX = 1 << 18,
    UNCACHED =
        16, /* of the type of an external string: without a pointer to its characters */
};

/* Bits of the flags of a ScopeInfo, and what it may have. */
enum {
    SCOPE_HAS_CLASS_AT = 10,
    SCOPE_NAME_AT = 12,
    SCOPE_NAME_BITS = 2,
    SCOPE_HAS_INFERRED_AT = 14,
    SCOPE_LOCALS_MAX = 75, /* more are in a table of their own */
    SCOPE_WITH_FIXED_POSITION = 5,
};

void cn_v8_begin(struct cn_v8 *v8, struct cn_memory *memory,
                 struct cn_stored_names *names)
{
    *v8 =
        (struct cn_v8){.memory = memory, .names = names, .source_left = SOURCES_LEN_MAX};
    cn_v8_layout_begin(&v8->layout);
}

void cn_v8_done(struct cn_v8 *v8)
{
    for (size_t i = 0; i < v8->function_count; i++)
        free(v8->functions[i].positions.list);
    for (size_t i = 0; i < v8->script_count; i++)
        free(v8->scripts[i].line_ends);
    for (size_t i = 0; i < v8->code_count; i++) {
        free(v8->codes[i].positions.list);
        free(v8->codes[i].inlined);
    }
    free(v8->functions);
    free(v8->scripts);
    free(v8->codes);
    free(v8->builtins);
    free(v8->ranges);
    cn_map_done(&v8->function_of);
    cn_map_done(&v8->script_of);
    cn_map_done(&v8->last_of);
    cn_arena_done(&v8->arena);
}

static bool is_object(uint64_t word)
{
    return (word & 3) == 1;
}

static bool is_number(uint64_t word)
{
    return (word & UINT32_MAX) == 0;
}

static int32_t number_of(uint64_t word)
{
    return (int32_t)(word >> 32);
}

bool cn_v8_field(struct cn_v8 *v8, uint64_t object, int32_t off, uint64_t *out)
{
    return cn_memory_u64(v8->memory, object - 1 + (uint64_t)off, out);
}

bool cn_v8_type(struct cn_v8 *v8, uint64_t object, int32_t *out)
{
    uint64_t map, meta;
    uint16_t type, meta_type;

    /* The map of a map is one as well. */
    if (!is_object(object) || !cn_v8_field(v8, object, 0, &map) || !is_object(map) ||
        !cn_v8_field(v8, map, 0, &meta) || !is_object(meta) ||
        !cn_memory_u16(v8->memory, meta - 1 + (uint64_t)v8->layout.map_type,
                       &meta_type) ||
        meta_type != v8->layout.type_map ||
        !cn_memory_u16(v8->memory, map - 1 + (uint64_t)v8->layout.map_type, &type))
        return false;
    *out = type;
    return true;
}

static bool has_type(struct cn_v8 *v8, uint64_t object, int32_t type)
{
    int32_t found;

    return cn_v8_type(v8, object, &found) && found == type;
}

/* Strings. */

struct chars {
    uint64_t at;
    uint32_t count;
    bool is_wide;
};

/* The characters of a string, or of the one that it is a part of. False for one that was put
 * together of others. */
static bool find_chars(struct cn_v8 *v8, uint64_t string, struct chars *out)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint64_t first = 0, word;
    uint32_t count = UINT32_MAX;

    for (unsigned depth = 0; depth < STRING_DEPTH_MAX; depth++) {
        uint32_t len;
        int32_t type;

        if (!cn_v8_type(v8, string, &type) || type >= l->first_non_string ||
            !cn_memory_u32(v8->memory, string - 1 + (uint64_t)l->string_len, &len))
            return false;
        count = len < count ? len : count;
        int32_t kind = type & l->string_kind_mask;
        if (kind == l->string_sequential || kind == l->string_external) {
            bool is_wide = !(type & l->string_one_byte);
            uint64_t at =
                string - 1 + (uint64_t)(is_wide ? l->two_byte_chars : l->one_byte_chars);

            /* After the resource comes where its characters are. */
            if (first + count > len ||
                (kind == l->string_external &&
                 (type & UNCACHED ||
                  !cn_v8_field(v8, string, l->external_resource + 8, &at))))
                return false;
            *out = (struct chars){at + (first << is_wide), count, is_wide};
            return true;
        }
        if (kind == l->string_sliced) {
            if (!cn_v8_field(v8, string, l->sliced_offset, &word) || !is_number(word) ||
                number_of(word) < 0)
                return false;
            first += (uint32_t)number_of(word);
        } else if (kind != l->string_thin) {
            return false;
        }
        if (!cn_v8_field(v8, string,
                         kind == l->string_thin ? l->thin_actual : l->sliced_parent,
                         &string))
            return false;
    }
    return false;
}

static void add_char(struct cn_text *text, uint32_t c)
{
    if (c < 0x80) {
        cn_text_char(text, (char)c);
    } else if (c < 0x800) {
        cn_text_char(text, (char)(0xc0 | c >> 6));
        cn_text_char(text, (char)(0x80 | (c & 0x3f)));
    } else {
        /* Half of a pair stays what it is: an unknown character. */
        c = c >= 0xd800 && c < 0xe000 ? 0xfffd : c;
        cn_text_char(text, (char)(0xe0 | c >> 12));
        cn_text_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
        cn_text_char(text, (char)(0x80 | (c & 0x3f)));
    }
}

/* Append a string, cut off where it is long. A string that was put together of others is a tree;
 * `left` counts those that may still be looked at. */
static bool add_string(struct cn_v8 *v8, uint64_t string, struct cn_text *text,
                       unsigned *left)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint8_t bytes[2 * NAME_LEN_MAX];
    struct chars chars;
    uint64_t first, second;
    int32_t type;

    if (*left == 0 || text->len >= NAME_LEN_MAX)
        return true;
    (*left)--;
    if (!cn_v8_type(v8, string, &type) || type >= l->first_non_string)
        return false;
    if ((type & l->string_kind_mask) == l->string_cons)
        return cn_v8_field(v8, string, l->cons_first, &first) &&
               cn_v8_field(v8, string, l->cons_second, &second) &&
               add_string(v8, first, text, left) && add_string(v8, second, text, left);
    if (!find_chars(v8, string, &chars))
        return false;
    uint32_t count = chars.count < NAME_LEN_MAX ? chars.count : NAME_LEN_MAX;
    if (!cn_memory_read(v8->memory, chars.at, bytes, (size_t)count << chars.is_wide))
        return false;
    for (uint32_t i = 0; i < count; i++)
        add_char(text, chars.is_wide ? cn_u16_get(bytes + 2 * i) : bytes[i]);
    return true;
}

/* A copy of a string; NULL if it is none. */
static const char *read_string(struct cn_v8 *v8, uint64_t string)
{
    struct cn_text text = {0};
    unsigned left = STRING_PARTS_MAX;
    const char *copy = add_string(v8, string, &text, &left)
                           ? cn_arena_strdup(&v8->arena, cn_text_str(&text))
                           : NULL;

    cn_text_done(&text);
    return copy;
}

/* Scripts. */

static void add_line_ends(struct cn_v8_script *script, const uint8_t *bytes,
                          uint32_t first, uint32_t count, bool is_wide, size_t *capacity)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = is_wide ? cn_u16_get(bytes + 2 * i) : bytes[i];

        if (c == '\n')
            CN_PUSH(script->line_ends, script->line_count, *capacity, first + i);
    }
}

/* Where lines end. V8 finds that out only when it needs it. */
static void read_lines(struct cn_v8 *v8, struct cn_v8_script *script)
{
    struct chars chars;
    size_t capacity = 0;

    if (!find_chars(v8, script->source_word, &chars))
        return;
    uint32_t len = chars.count;
    uint64_t size = (uint64_t)len << chars.is_wide;
    if (len == 0 || size > SOURCE_LEN_MAX || size > v8->source_left)
        return;
    v8->source_left -= size;
    uint8_t *bytes = cn_alloc(SOURCE_PART_LEN, 1);
    uint32_t most = SOURCE_PART_LEN >> chars.is_wide;
    for (uint32_t at = 0; at < len; at += most) {
        uint32_t count = len - at < most ? len - at : most;
        size_t part = (size_t)count << chars.is_wide;

        /* Once for a script, beside what is read for each sample. */
        v8->memory->left += part + CN_MEMORY_BLOCK_LEN;
        if (!cn_memory_read(v8->memory, chars.at + ((uint64_t)at << chars.is_wide), bytes,
                            part)) {
            script->line_count = 0;
            break;
        }
        add_line_ends(script, bytes, at, count, chars.is_wide, &capacity);
        if (at + count == len)
            CN_PUSH(script->line_ends, script->line_count, capacity, len);
    }
    free(bytes);
}

/* The index of a script; UINT32_MAX if it is none. */
static uint32_t find_script(struct cn_v8 *v8, uint64_t object)
{
    const struct cn_v8_layout *l = &v8->layout;
    struct cn_v8_script script = {.address = object, .first_line = 1};
    uint32_t at = cn_map_find(&v8->script_of, object, UINT32_MAX);
    uint64_t line_word;

    if (!has_type(v8, object, l->type_script) ||
        !cn_v8_field(v8, object, l->script_name, &script.name_word) ||
        !cn_v8_field(v8, object, l->script_source, &script.source_word))
        return UINT32_MAX;
    if (at < v8->script_count && v8->scripts[at].name_word == script.name_word &&
        v8->scripts[at].source_word == script.source_word)
        return at;
    if (v8->script_count == SCRIPTS_MAX)
        return UINT32_MAX;
    script.file = read_string(v8, script.name_word);
    if (!script.file)
        script.file = "";
    /* Modules are named by URLs. */
    if (strncmp(script.file, "file:///", 8) == 0)
        script.file += 7;
    /* The name is followed by the line that it begins with, which is 0 for most. */
    if (cn_v8_field(v8, object, l->script_name + 8, &line_word) && is_number(line_word) &&
        number_of(line_word) > 0)
        script.first_line += (uint32_t)number_of(line_word);
    read_lines(v8, &script);
    *cn_map_at(&v8->script_of, object, 0) = (uint32_t)v8->script_count;
    CN_PUSH(v8->scripts, v8->script_count, v8->script_capacity, script);
    return (uint32_t)v8->script_count - 1;
}

uint32_t cn_v8_line(const struct cn_v8 *v8, const struct cn_v8_function *function,
                    int32_t source)
{
    if (function->script >= v8->script_count || source < 0)
        return 0;
    const struct cn_v8_script *script = &v8->scripts[function->script];
    size_t low = 0, high = script->line_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (script->line_ends[middle] < (uint32_t)source)
            low = middle + 1;
        else
            high = middle;
    }
    return low < script->line_count ? (uint32_t)low + script->first_line : 0;
}

/* Functions. */

static bool scope_field(struct cn_v8 *v8, uint64_t scope, int32_t index, uint64_t *out)
{
    return cn_v8_field(v8, scope, 8 * (1 + index), out);
}

/* Name and position of a function by its ScopeInfo: after the names and infos of variables come
 * the function's name, the one that was inferred, and where it begins and ends. */
static const char *read_scope(struct cn_v8 *v8, uint64_t scope, int32_t *source)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint64_t flags, word, begin, end;
    const char *name = NULL, *inferred = NULL;

    *source = -1;
    if (!scope_field(v8, scope, 0, &flags) ||
        !scope_field(v8, scope, l->scope_locals, &word) || !is_number(word) ||
        number_of(word) < 0 || number_of(word) > UINT16_MAX)
        return NULL;
    flags = flags >> 32 ? flags >> 32 : flags;
    int32_t locals = number_of(word);
    int32_t at = l->scope_first + (locals < SCOPE_LOCALS_MAX ? 2 * locals : 1 + locals) +
                 (int32_t)(flags >> SCOPE_HAS_CLASS_AT & 1);
    if (cn_bits(flags, SCOPE_NAME_AT, SCOPE_NAME_BITS) > 0) {
        if (scope_field(v8, scope, at, &word))
            name = read_string(v8, word);
        at += 2;
    }
    if (flags >> SCOPE_HAS_INFERRED_AT & 1) {
        if (scope_field(v8, scope, at, &word))
            inferred = read_string(v8, word);
        at++;
    }
    if (l->scope_first == SCOPE_WITH_FIXED_POSITION)
        at = l->scope_first - 2;
    if (scope_field(v8, scope, at, &begin) && scope_field(v8, scope, at + 1, &end) &&
        is_number(begin) && is_number(end) && number_of(begin) >= 0 &&
        number_of(end) >= number_of(begin))
        *source = number_of(begin);
    if (name && *name)
        return name;
    return inferred && *inferred ? inferred : "(anonymous)";
}

uint32_t cn_v8_shared_of(struct cn_v8 *v8, uint64_t shared)
{
    const struct cn_v8_layout *l = &v8->layout;
    struct cn_v8_function function = {.address = shared, .script = UINT32_MAX};
    uint32_t at = cn_map_find(&v8->function_of, shared, UINT32_MAX);
    int32_t source = -1, type;

    if (!has_type(v8, shared, l->type_shared) ||
        !cn_v8_field(v8, shared, l->shared_name, &function.name_word) ||
        !cn_v8_field(v8, shared, l->shared_script, &function.script_word))
        return UINT32_MAX;
    if (at < v8->function_count && v8->functions[at].name_word == function.name_word &&
        v8->functions[at].script_word == function.script_word)
        return at;
    if (v8->function_count == FUNCTIONS_MAX || !cn_v8_type(v8, function.name_word, &type))
        return UINT32_MAX;
    if (type == l->type_scope) {
        function.script = find_script(v8, function.script_word);
        function.name = read_scope(v8, function.name_word, &source);
    } else {
        function.name = read_string(v8, function.name_word);
    }
    if (!function.name)
        return UINT32_MAX;
    function.line = cn_v8_line(v8, &function, source);
    *cn_map_at(&v8->function_of, shared, 0) = (uint32_t)v8->function_count;
    CN_PUSH(v8->functions, v8->function_count, v8->function_capacity, function);
    return (uint32_t)v8->function_count - 1;
}

uint32_t cn_v8_function_of(struct cn_v8 *v8, uint64_t object)
{
    uint64_t shared;
    uint32_t function;
    int32_t type;
    uint8_t byte;

    /* A process that has ended: the one that was there. */
    if (!cn_memory_u8(v8->memory, object, &byte))
        return cn_v8_is_gone(v8) ? cn_map_find(&v8->last_of, object, UINT32_MAX)
                                 : UINT32_MAX;
    if (!cn_v8_type(v8, object, &type) || type < v8->layout.first_function ||
        type > v8->layout.last_function ||
        !cn_v8_field(v8, object, v8->layout.function_shared, &shared))
        return UINT32_MAX;
    function = cn_v8_shared_of(v8, shared);
    if (v8->last_of.count == FUNCTIONS_MAX)
        cn_map_done(&v8->last_of);
    if (function != UINT32_MAX)
        *cn_map_at(&v8->last_of, object, 0) = function;
    return function;
}

/* Positions: pairs of differences, in groups of 7 bits with the lowest first; the sign is the
 * lowest bit. A first difference below 0 is that of an expression, not a statement. */

static bool take_number(const uint8_t **at, const uint8_t *end, int64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (*at == end)
            return false;
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = (int64_t)(value >> 1 ^ (0 - (value & 1)));
            return true;
        }
    }
    return false;
}

void cn_v8_positions_read(struct cn_v8 *v8, uint64_t object, struct cn_v8_positions *out)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint64_t len_word;
    int32_t type;
    size_t capacity = 0;

    *out = (struct cn_v8_positions){0};
    if (!cn_v8_type(v8, object, &type) ||
        (type != l->type_bytes && type != l->type_trusted_bytes) ||
        !cn_v8_field(v8, object, l->array_len, &len_word) || !is_number(len_word) ||
        number_of(len_word) <= 0 || number_of(len_word) > POSITIONS_LEN_MAX)
        return;
    size_t len = (size_t)number_of(len_word);
    uint8_t *bytes = cn_alloc(len, 1);
    const uint8_t *at = bytes;
    int64_t off = -1, position = 0, off_step, step;
    if (!cn_memory_read(v8->memory, object - 1 + (uint64_t)l->array_data, bytes, len))
        len = 0;
    while (v8->position_count < CN_V8_POSITIONS_MAX &&
           take_number(&at, bytes + len, &off_step) &&
           take_number(&at, bytes + len, &step)) {
        off_step = off_step >= 0 ? off_step : -(off_step + 1);
        position = (int64_t)((uint64_t)position + (uint64_t)step);
        if (off_step > UINT32_MAX || off + off_step < 0 || off + off_step > UINT32_MAX)
            break;
        off += off_step;
        v8->position_count++;
        CN_PUSH(out->list, out->count, capacity,
                (struct cn_v8_position){
                    .off = (uint32_t)off,
                    .source = (int32_t)cn_bits((uint64_t)position, 1, 30) - 1,
                    .inlined = (int32_t)cn_bits((uint64_t)position, 31, 16) - 1,
                });
    }
    free(bytes);
}

void cn_v8_positions_free(struct cn_v8 *v8, struct cn_v8_positions *positions)
{
    free(positions->list);
    v8->position_count -= positions->count;
    *positions = (struct cn_v8_positions){0};
}

const struct cn_v8_position *cn_v8_position_at(const struct cn_v8_positions *positions,
                                               uint64_t off)
{
    if (positions->count == 0)
        return NULL;
    /* Offsets of 32 bits. */
    size_t i =
        cn_search_u32(&positions->list->off, positions->count, sizeof(*positions->list),
                      off < UINT32_MAX ? (uint32_t)off : UINT32_MAX);
    return i > 0 ? &positions->list[i - 1] : NULL;
}
