#include "store/search/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/suggest.h"
#include "base/text.h"
#include "store/index/word_filter.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/search/state.h"

enum { CANDIDATES_MAX = 10000 }; /* names that a suggestion is chosen from */

static void add_word(const struct cn_store_index *index, uint32_t word,
                     struct cn_text *text, struct cn_names *out)
{
    struct cn_error ignored;

    cn_text_clear(text);
    if (cn_store_index_print(index, word, text, &ignored) && text->len > 0)
        (void)cn_names_add(out, cn_text_str(text));
}

/* The names are the middle of the keys of postings: seek from one to the next. */
static void add_names_of(const struct cn_store_index *index,
                         const struct cn_posting_block *block, enum cn_posting_kind kind,
                         size_t max, struct cn_names *out)
{
    struct cn_text text = {0};
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    struct cn_error ignored;

    for (uint32_t name = 0; name <= CN_POSTING_NAME_MAX && out->count < max; name++) {
        if (!cn_posting_walk_begin(&walk, block, cn_posting_key_of(kind, name, 0),
                                   &ignored) ||
            cn_posting_walk_next(&walk, &entry, &ignored) != CN_ITEM ||
            cn_posting_kind(entry.key) != kind)
            break;
        name = cn_posting_name(entry.key);
        add_word(index, name, &text, out);
    }
    cn_text_done(&text);
}

/* Of a segment in object storage, words tell most of it, and postings need not be fetched: types and
 * services are among these names. */
static void add_keywords(const struct cn_segment *segment, size_t max,
                         struct cn_names *out)
{
    const struct cn_words *words = cn_segment_words(segment);
    struct cn_text text = {0};

    for (uint32_t i = 1; i <= words->count && out->count < max; i++) {
        if (cn_word_kind(words, i) != CN_WORD_KEYWORD)
            continue;
        cn_text_clear(&text);
        cn_words_print(words, i, &text);
        (void)cn_names_add(out, cn_text_str(&text));
    }
    cn_text_done(&text);
}

void cn_search_names(struct cn_search *search, size_t max, struct cn_names *out)
{
    for (size_t i = 0; i < search->count && out->count < max; i++) {
        uint32_t number = search->newest[i].segment;
        const struct cn_segment *segment = cn_store_segment(search->store, number);
        const struct cn_store_index *index;
        struct cn_error ignored;

        if (cn_segment_filter(segment).len > 0) {
            add_keywords(segment, max, out);
            continue;
        }
        if (!cn_search_index(search, number, &index, &ignored) ||
            !cn_store_index_postings(index, &ignored))
            continue;
        for (size_t k = 0; k < index->block_count; k++) {
            const struct cn_posting_block *block = &index->blocks[k];

            add_names_of(index, block, CN_POSTING_ROOT_ATTRIBUTE, max, out);
            add_names_of(index, block, CN_POSTING_ATTRIBUTE, max, out);
        }
    }
}

static void add_services_of(struct cn_search *search, uint32_t number, size_t max,
                            struct cn_names *out)
{
    const struct cn_store_index *index;
    struct cn_store_column column;
    struct cn_text text = {0};
    struct cn_error ignored;
    struct cn_map seen = {0};
    uint32_t last = 0;

    if (!cn_search_index(search, number, &index, &ignored) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_service, &column, &ignored))
        return;
    for (uint32_t row = 0; row < index->columns->row_count && out->count < max; row++) {
        uint32_t word = (uint32_t)cn_store_column_at(&column, row), *is_seen;

        if (word == 0 || word == last)
            continue;
        last = word;
        is_seen = cn_map_at(&seen, word, 0);
        if (!*is_seen)
            add_word(index, word, &text, out);
        *is_seen = 1;
    }
    cn_map_done(&seen);
    cn_text_done(&text);
}

void cn_search_service_names(struct cn_search *search, size_t max, struct cn_names *out)
{
    for (size_t i = 0; i < search->count && out->count < max; i++)
        add_services_of(search, search->newest[i].segment, max, out);
}

/* Whether postings have a key with this name. */
static bool has_name(const struct cn_store_index *index, uint32_t name)
{
    static const enum cn_posting_kind kinds[] = {CN_POSTING_ROOT_ATTRIBUTE,
                                                 CN_POSTING_ATTRIBUTE};
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    struct cn_error ignored;

    for (size_t i = 0; i < index->block_count; i++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (!cn_posting_walk_begin(&walk, &index->blocks[i],
                                       cn_posting_key_of(kinds[k], name, 0), &ignored))
                return true; /* damaged: not known */
            if (cn_posting_walk_next(&walk, &entry, &ignored) == CN_ITEM &&
                cn_posting_kind(entry.key) == kinds[k] &&
                cn_posting_name(entry.key) == name)
                return true;
        }
    }
    return false;
}

struct name_search {
    const struct cn_store_index *index;
    bool is_known;
};

static void note_name(void *arg, uint32_t word)
{
    struct name_search *find = arg;

    find->is_known = find->is_known || has_name(find->index, word);
}

/* Whether a segment may have the attribute; true if that cannot be told. */
static bool is_known_in(struct cn_search *search, uint32_t number, struct cn_bytes name)
{
    struct cn_bytes filter = cn_segment_filter(cn_store_segment(search->store, number));
    struct name_search find = {0};
    struct cn_error ignored;

    if (filter.len > 0)
        return cn_word_filter_may_have(filter, name);
    if (!cn_search_index(search, number, &find.index, &ignored) ||
        !cn_store_index_postings(find.index, &ignored) ||
        !cn_store_index_find(find.index, name, note_name, &find, &ignored))
        return true;
    return find.is_known;
}

static bool is_known(struct cn_search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++)
        if (is_known_in(search, search->newest[i].segment, cn_bytes_of(name)))
            return true;
    return false;
}

static bool is_listed(const struct cn_unknown_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i].name, name) == 0)
            return true;
    return false;
}

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

static bool begins_with(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/* The shortest name that goes on after the typed one, as "http.status_code" after "http.status"; else
 * one whose last part does: "http.response.status_code". */
static const char *find_longer(const struct cn_names *known, const char *typed)
{
    enum { PART_MIN = 4 }; /* letters that tell something */
    const char *best = NULL, *part = last_part(typed);
    bool is_best_whole = false, is_telling = strlen(part) >= PART_MIN;

    for (size_t i = 0; i < known->count; i++) {
        const char *name = known->list[i];
        bool is_whole = begins_with(name, typed);

        if ((!is_whole && !(is_telling && begins_with(last_part(name), part))) ||
            (best && is_best_whole > is_whole) ||
            (best && is_best_whole == is_whole && strlen(name) >= strlen(best)))
            continue;
        best = name;
        is_best_whole = is_whole;
    }
    return best;
}

static char *suggest(const struct cn_names *known, const char *typed)
{
    struct cn_suggestion near = {.typed = typed};
    const char *name;

    for (size_t i = 0; (name = cn_query_field_name(i)); i++)
        cn_suggestion_offer(&near, name);
    for (size_t i = 0; i < known->count; i++)
        cn_suggestion_offer(&near, known->list[i]);
    if (!near.best)
        near.best = find_longer(known, typed);
    return near.best ? cn_strdup(near.best) : NULL;
}

void cn_search_unknown_names(struct cn_search *search, const struct cn_query *query,
                             struct cn_unknown_names *out)
{
    struct cn_names known = {0};

    *out = (struct cn_unknown_names){0};
    for (size_t i = 0; search->row_count > 0 && i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];

        if (step->kind != CN_QUERY_STEP_TERM || !step->term.name ||
            is_listed(out, step->term.name) || is_known(search, step->term.name))
            continue;
        if (known.count == 0)
            cn_search_names(search, CANDIDATES_MAX, &known);
        struct cn_unknown_name unknown = {
            .name = step->term.name,
            .at = step->at,
            .suggestion = suggest(&known, step->term.name),
        };
        CN_PUSH(out->list, out->count, out->capacity, unknown);
    }
    cn_names_done(&known);
}

void cn_unknown_names_done(struct cn_unknown_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i].suggestion);
    free(names->list);
    *names = (struct cn_unknown_names){0};
}

void cn_unknown_name_print(const struct cn_unknown_name *name, struct cn_text *out)
{
    cn_text_printf(out, "no attribute '%s'", name->name);
    if (name->suggestion)
        cn_text_printf(out, "; did you mean %s", name->suggestion);
}

void cn_search_print_unknown(struct cn_search *search, const struct cn_query *query,
                             struct cn_text *out)
{
    struct cn_unknown_names names;

    cn_search_unknown_names(search, query, &names);
    for (size_t i = 0; i < names.count; i++) {
        cn_text_str_add(out, i > 0 ? "; " : "");
        cn_unknown_name_print(&names.list[i], out);
    }
    cn_unknown_names_done(&names);
}
