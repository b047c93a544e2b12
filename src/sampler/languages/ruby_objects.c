#include <string.h>

#include "base/bytes/record.h"
#include "sampler/languages/memory.h"
#include "sampler/languages/ruby.h"

/* What is the same in all versions that are known. */
enum {
    TYPE_MASK = 0x1f, /* of the flags of an object */
    TYPE_CLASS = 2,
    TYPE_MODULE = 3,
    TYPE_STRING = 5,
    TYPE_ARRAY = 7,
    TEXT_IS_LONG = 1 << 13,
    TEXT_SHORT_LEN_SHIFT = 14,
    TEXT_SHORT_LEN_MASK = 0x1f,
    TEXT_SHORT = 16, /* characters of a short string whose length is in the flags */
    TEXT_LEN = 16,
    TEXT_CHARS = 24, /* or a pointer to them */
    ARRAY_IS_SHORT = 1 << 13,
    ARRAY_SHORT_LEN_SHIFT = 15,
    ARRAY_SHORT_LEN_MASK = 3,
    ARRAY_SHORT = 16,
    ARRAY_LEN = 16,
    ARRAY_LIST = 32,
    CLASS_MORE = 24, /* pointer */
    MORE_VARIABLES = 8,
    TABLE_BEGIN = 32, /* of a table of variables: entries from here */
    TABLE_END = 40,   /* to here */
    TABLE_ENTRIES = 48,
    ENTRY_LEN = 24,
    ENTRY_KEY = 8,
    ENTRY_VALUE = 16,
    VARIABLES_MAX = 256,
    IDS_IN_BLOCK = 512,
    OPERATORS_MAX =
        170, /* ids up to here have no bits for their kind, which others have 4 of */
    SEARCH_LEFT = 64 << 10, /* bytes that must be left to read */
    SYMBOLS_MIN = 200,
    SYMBOLS_MAX = 1 << 24,
    BODY_SIZE = 4, /* instructions of an iseq */
    INSTRUCTIONS_MAX = 1 << 20,
    LINES_LEN_MAX = 256 << 10,
    LINES_DIRECT = 54, /* instructions whose index is in the first part of a table */
    LINES_DIRECT_LEN = 48,
    LINES_BLOCK = 512,
    LINES_BLOCK_LEN = 80,
};

static bool read_object(struct cn_ruby_objects *o, uint64_t value, unsigned type,
                        uint64_t *flags)
{
    /* Numbers and symbols are no objects. */
    return value != 0 && (value & 7) == 0 && cn_memory_u64(o->memory, value, flags) &&
           (*flags & TYPE_MASK) == type;
}

bool cn_ruby_text(struct cn_ruby_objects *o, uint64_t value, char out[CN_RUBY_TEXT_MAX])
{
    uint64_t flags, len, at = value + TEXT_CHARS;

    if (!read_object(o, value, TYPE_STRING, &flags))
        return false;
    if (o->layout->has_short && !(flags & TEXT_IS_LONG)) {
        len = flags >> TEXT_SHORT_LEN_SHIFT & TEXT_SHORT_LEN_MASK;
        at = value + TEXT_SHORT;
    } else if (!cn_memory_u64(o->memory, value + TEXT_LEN, &len) ||
               (flags & TEXT_IS_LONG &&
                !cn_memory_u64(o->memory, value + TEXT_CHARS, &at))) {
        return false;
    }
    len = len < CN_RUBY_TEXT_MAX ? len : CN_RUBY_TEXT_MAX - 1;
    if (!cn_memory_read(o->memory, at, out, len))
        return false;
    out[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
            out[i] = '?';
    return true;
}

static bool read_element(struct cn_ruby_objects *o, uint64_t array, uint64_t index,
                         uint64_t *out)
{
    uint64_t flags, len, list = array + ARRAY_SHORT;

    if (!read_object(o, array, TYPE_ARRAY, &flags))
        return false;
    if (flags & ARRAY_IS_SHORT) {
        len = flags >> ARRAY_SHORT_LEN_SHIFT & ARRAY_SHORT_LEN_MASK;
    } else if (!cn_memory_u64(o->memory, array + ARRAY_LEN, &len) ||
               !cn_memory_u64(o->memory, array + ARRAY_LIST, &list)) {
        return false;
    }
    return index < len && cn_memory_u64(o->memory, list + 8 * index, out);
}

bool cn_ruby_path(struct cn_ruby_objects *o, uint64_t value, char out[CN_RUBY_TEXT_MAX])
{
    enum { PATH, REAL_PATH };
    uint64_t text;

    if (cn_ruby_text(o, value, out))
        return true;
    return (read_element(o, value, REAL_PATH, &text) && cn_ruby_text(o, text, out)) ||
           (read_element(o, value, PATH, &text) && cn_ruby_text(o, text, out));
}

/* The string of a number in a list of symbols. */
static bool read_symbol(struct cn_ruby_objects *o, uint64_t list, uint64_t number,
                        char out[CN_RUBY_TEXT_MAX])
{
    uint64_t block, text;

    return read_element(o, list, number / IDS_IN_BLOCK, &block) &&
           read_element(o, block, 2 * (number % IDS_IN_BLOCK), &text) &&
           cn_ruby_text(o, text, out);
}

/* The operators of one character have its code as their number, in every version. */
static bool is_list(struct cn_ruby_objects *o, uint64_t list)
{
    static const char operators[] = "!+<`";
    char text[CN_RUBY_TEXT_MAX];

    for (size_t i = 0; operators[i]; i++)
        if (!read_symbol(o, list, (uint64_t)operators[i], text) ||
            text[0] != operators[i] || text[1] != '\0')
            return false;
    return true;
}

/* Find the list of symbols, which has no name in a stripped file, by what it contains: the number
 * of symbols, a table, the list. */
static void find_symbols(struct cn_ruby_objects *o)
{
    enum { STEP = 512, NEEDED = 3 };
    uint64_t words[STEP + NEEDED];

    for (; o->data_begin < o->data_end; o->data_begin += 8 * STEP) {
        uint64_t at = o->data_begin, count = (o->data_end - at) / 8;

        /* The rest is searched at the next sample. */
        if (o->memory->left < SEARCH_LEFT)
            return;

        count = count < STEP + NEEDED ? count : STEP + NEEDED;
        if (!cn_memory_read(o->memory, at, words, 8 * count))
            continue;
        for (size_t i = 0; i + NEEDED <= count; i++) {
            if (words[i] < SYMBOLS_MIN || words[i] > SYMBOLS_MAX || words[i + 1] == 0 ||
                words[i + 2] == 0 || (words[i + 1] | words[i + 2]) & 7 ||
                !is_list(o, words[i + 2]))
                continue;
            o->symbols = words[i + 2];
            return;
        }
    }
    o->has_no_symbols = true;
}

bool cn_ruby_id(struct cn_ruby_objects *o, uint64_t id, char out[CN_RUBY_TEXT_MAX])
{
    if (o->symbols == 0 && !o->has_no_symbols)
        find_symbols(o);
    if (o->symbols == 0)
        return false;
    return read_symbol(o, o->symbols, id > OPERATORS_MAX ? id >> 4 : id, out);
}

/* A variable that every class may have, by the name that only the interpreter uses. */
static bool read_variable(struct cn_ruby_objects *o, uint64_t class, const char *name,
                          uint64_t *known_id, uint64_t *out)
{
    uint64_t more, table, begin, end, entries, key;
    char text[CN_RUBY_TEXT_MAX];

    if (!cn_memory_u64(o->memory, class + CLASS_MORE, &more) ||
        !cn_memory_u64(o->memory, more + MORE_VARIABLES, &table) || table == 0 ||
        !cn_memory_u64(o->memory, table + TABLE_BEGIN, &begin) ||
        !cn_memory_u64(o->memory, table + TABLE_END, &end) ||
        !cn_memory_u64(o->memory, table + TABLE_ENTRIES, &entries))
        return false;
    for (uint64_t i = begin; i < end && i - begin < VARIABLES_MAX; i++) {
        if (!cn_memory_u64(o->memory, entries + ENTRY_LEN * i + ENTRY_KEY, &key))
            return false;
        if (*known_id == 0 && cn_ruby_id(o, key, text) && strcmp(text, name) == 0)
            *known_id = key;
        if (key == *known_id && key != 0)
            return cn_memory_u64(o->memory, entries + ENTRY_LEN * i + ENTRY_VALUE, out);
    }
    return false;
}

static bool read_field(struct cn_ruby_objects *o, uint64_t class, bool is_attached,
                       uint64_t *out)
{
    const struct cn_ruby_layout *l = o->layout;

    switch (l->classes) {
    case CN_RUBY_CLASS_VARIABLES:
        return is_attached ? read_variable(o, class, "__attached__", &o->attached_id, out)
                           : read_variable(o, class, "__classpath__", &o->class_id, out);
    case CN_RUBY_CLASS_FIELD:
        return cn_memory_u64(
            o->memory, class + (is_attached ? l->class_attached : l->class_name), out);
    case CN_RUBY_CLASS_UNKNOWN:
        break;
    }
    return false;
}

static bool read_class(struct cn_ruby_objects *o, uint64_t value, uint64_t *flags)
{
    return read_object(o, value, TYPE_CLASS, flags) ||
           read_object(o, value, TYPE_MODULE, flags);
}

void cn_ruby_class(struct cn_ruby_objects *o, uint64_t class, char out[CN_RUBY_TEXT_MAX])
{
    uint64_t flags, text;
    bool is_singleton;

    out[0] = '\0';
    if (!read_class(o, class, &flags))
        return;
    is_singleton = flags & o->layout->singleton;
    /* Of an object that is no class, its methods are those of the object alone. */
    if (is_singleton &&
        (!read_field(o, class, true, &class) || !read_class(o, class, &flags)))
        return;
    if (!read_field(o, class, false, &text) || !cn_ruby_text(o, text, out)) {
        out[0] = '\0';
        return;
    }
    if (!is_singleton && strcmp(out, "Object") == 0)
        out[0] = '\0';
    else if (strlen(out) + 2 <= CN_RUBY_TEXT_MAX)
        strcat(out, is_singleton ? "." : "#");
}

struct cn_ruby_lines cn_ruby_lines_read(struct cn_ruby_objects *o, uint64_t body,
                                        struct cn_arena *arena)
{
    const struct cn_ruby_layout *l = o->layout;
    struct cn_ruby_lines lines = {0};
    uint64_t entries, index, index_len = 0;
    uint32_t count, size;

    if (!cn_memory_u64(o->memory, body + l->lines, &entries) ||
        !cn_memory_u32(o->memory, body + l->line_count, &count) || count == 0 ||
        !cn_memory_u32(o->memory, body + BODY_SIZE, &size) || size > INSTRUCTIONS_MAX ||
        count > size)
        return lines;
    if (count > 1) {
        if (!cn_memory_u64(o->memory, body + l->line_index, &index))
            return lines;
        index_len = LINES_DIRECT_LEN;
        if (size > LINES_DIRECT)
            index_len +=
                LINES_BLOCK_LEN * (uint64_t)((size - LINES_DIRECT - 1) / LINES_BLOCK + 1);
    }
    uint64_t entries_len = (uint64_t)l->line_len * count;
    if (entries_len + index_len > LINES_LEN_MAX)
        return lines;
    uint8_t *bytes = cn_arena_alloc(arena, entries_len + index_len, 1);
    if (!cn_memory_read(o->memory, entries, bytes, entries_len) ||
        (index_len > 0 &&
         !cn_memory_read(o->memory, index, bytes + entries_len, index_len)))
        return lines;
    lines.entries = (struct cn_bytes){bytes, entries_len};
    lines.index = (struct cn_bytes){bytes + entries_len, index_len};
    return lines;
}

/* The index in the lines of an instruction: a number of 7 bits for the first ones, then a bit for
 * each instruction that begins a line, with the sums of those before. */
static bool find_index(struct cn_bytes index, uint64_t position, uint64_t *out)
{
    struct cn_bytes part;

    if (position < LINES_DIRECT) {
        if (!cn_bytes_slice(index, 8 * (position / 9), 8, &part))
            return false;
        *out = cn_u64_get(part.ptr) >> 7 * (position % 9) & 0x7f;
        return true;
    }
    position -= LINES_DIRECT;
    if (!cn_bytes_slice(index,
                        LINES_DIRECT_LEN + LINES_BLOCK_LEN * (position / LINES_BLOCK),
                        LINES_BLOCK_LEN, &part))
        return false;
    position %= LINES_BLOCK;
    unsigned small = (unsigned)(position / 64);
    uint64_t ranks = cn_u64_get(part.ptr + 8),
             bits = cn_u64_get(part.ptr + 16 + 8 * (size_t)small);
    *out = cn_u32_get(part.ptr) + (small == 0 ? 0 : ranks >> 9 * (small - 1) & 0x1ff) +
           (uint64_t)__builtin_popcountll(bits << (63 - position % 64));
    return true;
}

uint32_t cn_ruby_line(const struct cn_ruby_lines *lines,
                      const struct cn_ruby_layout *layout, uint64_t position)
{
    struct cn_bytes entry;
    uint64_t index = 1;

    if ((lines->index.len > 0 && !find_index(lines->index, position, &index)) ||
        index == 0 ||
        !cn_bytes_slice(lines->entries, layout->line_len * (index - 1), sizeof(uint32_t),
                        &entry))
        return 0;
    return cn_u32_get(entry.ptr);
}
