#include "formats/exchange/perf/stored_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "formats/exchange/perf/format.h"
#include "model/contexts/context.h"

#define NO_STRING UINT32_MAX

enum { FLAG_INLINED = 1, FLAG_LOOP = 2, FLAG_MAIN_CALLER = 1, FLAG_PARTIAL = 2 };

void cn_stored_symbols_done(struct cn_stored_symbols *symbols)
{
    free(symbols->levels);
    free(symbols->list);
    free(symbols->keys);
    cn_map_done(&symbols->at);
    cn_names_done(&symbols->strings);
    cn_text_done(&symbols->text);
    *symbols = (struct cn_stored_symbols){0};
}

uint64_t cn_stored_symbols_key(const char *path, const char *build_id, uint64_t offset)
{
    return XXH3_64bits_withSeed(build_id, strlen(build_id),
                                XXH3_64bits_withSeed(path, strlen(path), offset));
}

/* A copy of the string that lives as long as the table. */
static const char *keep(struct cn_stored_symbols *symbols, const char *text)
{
    size_t count = symbols->strings.count;

    if (!text)
        return NULL;
    const char *copy = cn_names_keep(&symbols->strings, text);
    if (symbols->strings.count > count)
        symbols->string_len += strlen(copy) + 1;
    return copy;
}

void cn_stored_symbols_level(struct cn_stored_symbols *symbols,
                             const struct cn_stored_level *level)
{
    struct cn_stored_level copy = *level;

    copy.name = keep(symbols, level->name);
    copy.module = keep(symbols, level->module);
    copy.build_id = keep(symbols, level->build_id ? level->build_id : "");
    copy.file = keep(symbols, level->file);
    CN_PUSH(symbols->levels, symbols->level_count, symbols->level_capacity, copy);
}

/* The first level after those of the last address. */
static uint32_t first_free(const struct cn_stored_symbols *symbols)
{
    const struct cn_stored_symbol *last =
        symbols->count > 0 ? &symbols->list[symbols->count - 1] : NULL;

    return last ? last->first + last->count : 0;
}

void cn_stored_symbols_drop(struct cn_stored_symbols *symbols)
{
    symbols->level_count = first_free(symbols);
}

void cn_stored_symbols_add(struct cn_stored_symbols *symbols, uint64_t key,
                           const struct cn_stored_symbol *symbol)
{
    struct cn_stored_symbol copy = *symbol;
    size_t len = symbols->string_len + symbols->level_count * cn_perf_symbol_level_size +
                 (symbols->count + 1) * cn_perf_symbol_size;

    if (len > CN_STORED_SYMBOLS_MAX ||
        *cn_map_at(&symbols->at, key, (uint32_t)symbols->count) != symbols->count) {
        symbols->left_out += len > CN_STORED_SYMBOLS_MAX;
        cn_stored_symbols_drop(symbols);
        return;
    }
    copy.first = first_free(symbols);
    copy.count = (uint32_t)symbols->level_count - copy.first;
    copy.file = keep(symbols, symbol->file);
    copy.module = keep(symbols, symbol->module);
    copy.build_id = keep(symbols, symbol->build_id);
    CN_GROW(symbols->keys, symbols->count, symbols->key_capacity);
    symbols->keys[symbols->count] = key;
    CN_PUSH(symbols->list, symbols->count, symbols->capacity, copy);
}

/* The number of a string that was kept. */
static uint32_t number_of(struct cn_names *strings, const char *text)
{
    return text ? cn_names_add(strings, text) : NO_STRING;
}

void cn_stored_symbols_encode(const struct cn_stored_symbols *symbols,
                              struct cn_text *out)
{
    struct cn_names strings = symbols->strings; /* no string is new */
    struct cn_perf_symbols_head head = {
        .magic = CN_PERF_SYMBOLS_MAGIC,
        .string_len = symbols->string_len,
        .string_count = (uint32_t)strings.count,
        .level_count = (uint32_t)symbols->level_count,
        .symbol_count = (uint32_t)symbols->count,
    };

    cn_perf_symbols_head_encode(&head,
                                (uint8_t *)cn_text_room(out, cn_perf_symbols_head_size));
    cn_text_advance(out, cn_perf_symbols_head_size);
    for (size_t i = 0; i < strings.count; i++)
        cn_text_add(out, strings.list[i], strlen(strings.list[i]) + 1);
    for (size_t i = 0; i < symbols->level_count; i++) {
        const struct cn_stored_level *level = &symbols->levels[i];
        struct cn_perf_symbol_level record = {
            .name = number_of(&strings, level->name),
            .module = number_of(&strings, level->module),
            .build_id = number_of(&strings, level->build_id),
            .file = number_of(&strings, level->file),
            .offset = level->offset,
            .line = level->line,
            .flags = (level->is_inlined ? FLAG_INLINED : 0U) |
                     (level->is_loop ? FLAG_LOOP : 0U),
        };

        cn_perf_symbol_level_encode(
            &record, (uint8_t *)cn_text_room(out, cn_perf_symbol_level_size));
        cn_text_advance(out, cn_perf_symbol_level_size);
    }
    for (size_t i = 0; i < symbols->count; i++) {
        const struct cn_stored_symbol *symbol = &symbols->list[i];
        struct cn_perf_symbol record = {
            .key = symbols->keys[i],
            .offset = symbol->offset,
            .first = symbol->first,
            .count = symbol->count,
            .file = number_of(&strings, symbol->file),
            .line = symbol->line,
            .module = number_of(&strings, symbol->module),
            .build_id = number_of(&strings, symbol->build_id),
            .entry = symbol->entry,
            .flags = (symbol->is_main_caller ? FLAG_MAIN_CALLER : 0U) |
                     (symbol->is_partial ? FLAG_PARTIAL : 0U),
        };

        cn_perf_symbol_encode(&record, (uint8_t *)cn_text_room(out, cn_perf_symbol_size));
        cn_text_advance(out, cn_perf_symbol_size);
    }
}

/* The strings of a table that is read, by number. */
struct strings {
    const char **list;
    uint32_t count;
};

static bool split_strings(struct cn_bytes bytes, struct strings *out)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < out->count; i++) {
        out->list[i] = cn_bytes_string(bytes, at);
        if (!out->list[i])
            return false;
        at += strlen(out->list[i]) + 1;
    }
    return at == bytes.len;
}

/* Set *out; false if there is no such string. */
static bool string_at(const struct strings *strings, uint32_t number, bool may_lack,
                      const char **out)
{
    *out = number < strings->count ? strings->list[number] : NULL;
    return number < strings->count || (may_lack && number == NO_STRING);
}

static bool read_levels(struct cn_stored_symbols *symbols, struct cn_bytes bytes,
                        const struct strings *strings)
{
    struct cn_perf_symbol_level record;

    while (cn_perf_symbol_level_take_first(&bytes, &record)) {
        struct cn_stored_level level = {
            .offset = record.offset,
            .line = record.line,
            .is_inlined = record.flags & FLAG_INLINED,
            .is_loop = record.flags & FLAG_LOOP,
        };

        if (!string_at(strings, record.name, false, &level.name) ||
            !string_at(strings, record.module, false, &level.module) ||
            !string_at(strings, record.build_id, false, &level.build_id) ||
            !string_at(strings, record.file, false, &level.file))
            return false;
        CN_PUSH(symbols->levels, symbols->level_count, symbols->level_capacity, level);
    }
    return true;
}

static bool read_symbols(struct cn_stored_symbols *symbols, struct cn_bytes bytes,
                         const struct strings *strings)
{
    struct cn_perf_symbol record;

    while (cn_perf_symbol_take_first(&bytes, &record)) {
        struct cn_stored_symbol symbol = {
            .first = record.first,
            .count = record.count,
            .entry = record.entry,
            .line = record.line,
            .offset = record.offset,
            .is_main_caller = record.flags & FLAG_MAIN_CALLER,
            .is_partial = record.flags & FLAG_PARTIAL,
        };

        if (record.first > symbols->level_count ||
            record.count > symbols->level_count - record.first || record.count == 0 ||
            record.entry > CN_ENTRY_APPLICATION_THREAD ||
            !string_at(strings, record.file, true, &symbol.file) ||
            !string_at(strings, record.module, true, &symbol.module) ||
            !string_at(strings, record.build_id, true, &symbol.build_id))
            return false;
        *cn_map_at(&symbols->at, record.key, 0) = (uint32_t)symbols->count;
        CN_PUSH(symbols->list, symbols->count, symbols->capacity, symbol);
    }
    return true;
}

bool cn_stored_symbols_decode(struct cn_stored_symbols *out, struct cn_text *bytes)
{
    struct cn_stored_symbols symbols = {.text = *bytes};
    struct cn_bytes rest = cn_wire_view(&symbols.text), text, levels, list;
    struct cn_perf_symbols_head head;
    struct strings strings = {0};

    *bytes = (struct cn_text){0};
    bool ok =
        cn_perf_symbols_head_take_first(&rest, &head) &&
        head.magic == CN_PERF_SYMBOLS_MAGIC && head.string_len <= rest.len &&
        head.string_count <= head.string_len &&
        cn_bytes_take(&rest, (size_t)head.string_len, &text) &&
        cn_bytes_array(rest, 0, head.level_count, cn_perf_symbol_level_size, &levels) &&
        cn_bytes_take(&rest, levels.len, &levels) &&
        cn_bytes_array(rest, 0, head.symbol_count, cn_perf_symbol_size, &list);
    if (ok) {
        strings.list = cn_alloc(head.string_count + (size_t)1, sizeof(*strings.list));
        strings.count = head.string_count;
        ok = split_strings(text, &strings) && read_levels(&symbols, levels, &strings) &&
             read_symbols(&symbols, list, &strings);
    }
    free(strings.list);
    if (!ok)
        cn_stored_symbols_done(&symbols);
    *out = symbols;
    return ok;
}

const struct cn_stored_symbol *
cn_stored_symbols_find(const struct cn_stored_symbols *symbols, uint64_t key)
{
    uint32_t at = cn_map_find(&symbols->at, key, UINT32_MAX);

    return at < symbols->count ? &symbols->list[at] : NULL;
}
