#include "store/search/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/search/segments.h"
#include "store/search/state.h"

/* The number of three numbers: the next one if they are new. */
static uint32_t number_of(struct cn_map *pairs, struct cn_map *triples, uint32_t a,
                          uint32_t b, uint32_t c)
{
    uint32_t pair = *cn_map_at(pairs, (uint64_t)a << 32 | b, (uint32_t)pairs->count);

    return *cn_map_at(triples, (uint64_t)pair << 32 | c, (uint32_t)triples->count);
}

static uint32_t name_of(const struct cn_store_index *index, uint32_t word,
                        struct cn_text *text, struct cn_names *names)
{
    struct cn_error ignored;

    cn_text_clear(text);
    if (word != 0 && !cn_store_index_print(index, word, text, &ignored))
        cn_text_clear(text);
    return cn_names_add(names, cn_text_str(text));
}

static void add(struct cn_operations *out, const struct cn_store_index *index,
                const uint32_t words[3], struct cn_text *text)
{
    uint32_t service = name_of(index, words[0], text, &out->names);
    uint32_t name = name_of(index, words[1], text, &out->names);
    uint32_t kind = name_of(index, words[2], text, &out->names);

    if (number_of(&out->pairs, &out->triples, service, name, kind) < out->count)
        return;
    CN_PUSH(out->list, out->count, out->capacity,
            ((struct cn_operation){out->names.list[service], out->names.list[name],
                                   out->names.list[kind]}));
}

static void add_segment(struct cn_search *search, uint32_t number, size_t max,
                        struct cn_operations *out)
{
    static const enum cn_store_field fields[] = {
        CN_STORE_FIELD_service, CN_STORE_FIELD_method, CN_STORE_FIELD_type};
    struct cn_store_column columns[3];
    struct cn_map pairs = {0}, triples = {0};
    uint32_t words[3], last[3] = {0};
    const struct cn_store_index *index;
    struct cn_text text = {0};
    struct cn_error ignored;

    if (!cn_search_index(search, number, &index, &ignored))
        return;
    for (size_t i = 0; i < 3; i++)
        if (!cn_columns_field(index->columns, fields[i], &columns[i], &ignored))
            return;
    for (uint32_t row = 0; row < index->columns->row_count && out->count < max; row++) {
        for (size_t i = 0; i < 3; i++)
            words[i] = (uint32_t)cn_store_column_at(&columns[i], row);
        if (words[1] == 0 || memcmp(words, last, sizeof(last)) == 0)
            continue;
        memcpy(last, words, sizeof(last));
        size_t known = triples.count;
        if (number_of(&pairs, &triples, words[0], words[1], words[2]) == known)
            add(out, index, words, &text);
    }
    cn_map_done(&pairs);
    cn_map_done(&triples);
    cn_text_done(&text);
}

void cn_search_operations(struct cn_search *search, size_t max, struct cn_operations *out)
{
    *out = (struct cn_operations){0};
    for (size_t i = 0; i < search->count && out->count < max; i++)
        add_segment(search, search->newest[i].segment, max, out);
    CN_SORT(out->list, out->count, CN_UP(struct cn_operation, service),
            CN_UP(struct cn_operation, name), CN_UP(struct cn_operation, kind));
}

void cn_operations_done(struct cn_operations *operations)
{
    cn_names_done(&operations->names);
    cn_map_done(&operations->pairs);
    cn_map_done(&operations->triples);
    free(operations->list);
    *operations = (struct cn_operations){0};
}
