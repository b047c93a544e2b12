#include "store/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/query.h"
#include "store/query_term.h"
#include "store/search_segments.h"

/* A row in a group. */
struct member {
    uint32_t group; /* word of its value */
    uint32_t row;
    uint64_t duration_ns;
    bool has_errors;
};

struct grouping {
    struct cn_query_term by;
    struct cn_words values;
    struct member *members;
    size_t count, capacity;

    /* Of the segment at hand. */
    const struct cn_store_index *index;
    const struct cn_rows *rows;
    struct cn_store_column duration, errors;
    size_t segment_begin;  /* its first member */
    uint32_t group;        /* of the entry at hand */
    unsigned source_count; /* names and places that gave members */
    bool has_synonyms;     /* words that differ in kind only */
    uint32_t *words;       /* per group: the word of this segment */
    size_t word_capacity;
    struct cn_text text;
};

static void add_member(struct grouping *grouping, uint32_t row)
{
    const struct cn_joined *joined = &grouping->index->joined;

    if (grouping->count == grouping->capacity)
        grouping->members = cn_grow(grouping->members, grouping->count,
                                    &grouping->capacity, sizeof(*grouping->members));
    grouping->members[grouping->count++] = (struct member){
        .group = grouping->group,
        .row = row,
        .duration_ns = cn_joined_number(joined, CN_STORE_FIELD_duration_ns, row,
                                        cn_store_column_at(&grouping->duration, row)),
        .has_errors = cn_joined_number(joined, CN_STORE_FIELD_errors, row,
                                       cn_store_column_at(&grouping->errors, row)) > 0,
    };
}

/* Remember which word a group stands for, and whether it is not the only one. */
static void note_word(struct grouping *grouping, uint32_t word)
{
    size_t needed = (size_t)grouping->group + 1, old = grouping->word_capacity;

    if (needed > old) {
        grouping->word_capacity = 2 * needed;
        grouping->words = cn_realloc(grouping->words, grouping->word_capacity,
                                     sizeof(*grouping->words));
        memset(grouping->words + old, 0,
               (grouping->word_capacity - old) * sizeof(*grouping->words));
    }
    if (grouping->words[grouping->group] != 0 && grouping->words[grouping->group] != word)
        grouping->has_synonyms = true;
    grouping->words[grouping->group] = word;
}

/* The group of a word: words with the same text, of any segment, are one. */
static bool choose_group(struct grouping *grouping, uint32_t word, struct cn_error *err)
{
    struct cn_bytes text;

    cn_text_clear(&grouping->text);
    if (!cn_store_index_print(grouping->index, word, &grouping->text, err))
        return false;
    text = (struct cn_bytes){(const uint8_t *)cn_text_str(&grouping->text),
                             grouping->text.len};
    grouping->group = cn_words_add(&grouping->values, CN_WORD_TEXT, text);
    note_word(grouping, word);
    return true;
}

static bool group_by_column(struct grouping *grouping, enum cn_store_field field,
                            struct cn_error *err)
{
    uint32_t word_count = cn_store_index_word_count(grouping->index);
    uint32_t *groups = cn_alloc((size_t)word_count + 1, sizeof(*groups));
    struct cn_store_column column;
    bool ok = cn_columns_field(grouping->index->columns, field, &column, err);

    for (uint32_t row = cn_rows_next(grouping->rows, 0);
         ok && row < grouping->rows->count; row = cn_rows_next(grouping->rows, row + 1)) {
        uint32_t word = (uint32_t)cn_store_column_at(&column, row);

        if (word == 0 || word > word_count)
            continue;
        if (groups[word] == 0) {
            ok = choose_group(grouping, word, err);
            groups[word] = grouping->group;
        }
        grouping->group = groups[word];
        add_member(grouping, row);
    }
    free(groups);
    return ok;
}

static void visit_row(void *arg, uint32_t row)
{
    struct grouping *grouping = arg;

    if (cn_rows_has(grouping->rows, row))
        add_member(grouping, row);
}

/* All values of a name in a block. */
static bool group_block(struct grouping *grouping, const struct cn_posting_block *block,
                        enum cn_posting_kind kind, uint32_t name, struct cn_error *err)
{
    cn_posting_key first = cn_posting_key_of(kind, name, 0);
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    enum cn_step step;

    if (!cn_posting_walk_begin(&walk, block, first, err))
        return false;
    while ((step = cn_posting_walk_next(&walk, &entry, err)) == CN_ITEM) {
        if (entry.key > (first | UINT32_MAX))
            return true;
        /* Most values of an attribute with many are in one row, which seldom matches. */
        if (entry.form == CN_POSTING_ONE &&
            !cn_rows_has(grouping->rows, block->first_row + entry.row))
            continue;
        if (!choose_group(grouping, cn_posting_word(entry.key), err) ||
            !cn_posting_rows_walk(block, &entry, visit_row, grouping, err))
            return false;
    }
    return step == CN_END;
}

/* All values of a name, at the root or below it. */
static bool group_source(struct grouping *grouping, enum cn_posting_kind kind,
                         uint32_t name, struct cn_error *err)
{
    const struct cn_store_index *index = grouping->index;
    size_t before = grouping->count;

    for (size_t i = 0; i < index->block_count; i++) {
        if (!group_block(grouping, &index->blocks[i], kind, name, err))
            return false;
    }
    grouping->source_count += grouping->count > before;
    return true;
}

struct names {
    struct grouping *grouping;
    struct cn_error *err;
    bool is_ok;
};

static void group_by_name(void *arg, uint32_t name)
{
    struct names *names = arg;
    bool is_deep = names->grouping->by.field == CN_QUERY_ATTRIBUTE;

    names->is_ok =
        names->is_ok &&
        group_source(names->grouping, CN_POSTING_ROOT_ATTRIBUTE, name, names->err) &&
        (!is_deep ||
         group_source(names->grouping, CN_POSTING_ATTRIBUTE, name, names->err));
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* A value that a row has at its root and below, or under two names, counts once. */
static void drop_repeated(struct grouping *grouping)
{
    struct member *members = grouping->members + grouping->segment_begin;
    size_t count = grouping->count - grouping->segment_begin, kept = 0;

    if (grouping->source_count < 2 && !grouping->has_synonyms)
        return;
    qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_members(&members[kept - 1], &members[i]) != 0)
            members[kept++] = members[i];
    }
    grouping->count = grouping->segment_begin + kept;
}

static bool group_segment(void *arg, uint32_t segment, const struct cn_store_index *index,
                          const struct cn_rows *rows, struct cn_error *err)
{
    struct grouping *grouping = arg;
    const struct cn_query_term *by = &grouping->by;
    struct names names = {grouping, err, true};
    struct cn_bytes name;

    (void)segment;
    grouping->index = index;
    grouping->rows = rows;
    grouping->segment_begin = grouping->count;
    grouping->source_count = 0;
    grouping->has_synonyms = false;
    if (grouping->word_capacity > 0)
        memset(grouping->words, 0, grouping->word_capacity * sizeof(*grouping->words));
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_duration_ns, &grouping->duration,
                          err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_errors, &grouping->errors, err))
        return false;
    if (by->field == CN_QUERY_TYPE)
        return group_by_column(grouping, CN_STORE_FIELD_type, err);
    if (by->field == CN_QUERY_SERVICE)
        return group_by_column(grouping, CN_STORE_FIELD_service, err);
    if (by->field == CN_QUERY_METHOD || by->field == CN_QUERY_ROOT)
        return group_by_column(grouping, CN_STORE_FIELD_method, err);
    name = (struct cn_bytes){(const uint8_t *)by->name, strlen(by->name)};
    if (!cn_store_index_find(index, name, group_by_name, &names, err) || !names.is_ok)
        return false;
    drop_repeated(grouping);
    return true;
}

static int compare_durations(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The smallest duration that so many percent of all do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, unsigned percent)
{
    return sorted[(count * percent + 99) / 100 - 1];
}

static void summarize(struct cn_group *group, uint64_t *durations)
{
    size_t count = (size_t)group->count;

    qsort(durations, count, sizeof(*durations), compare_durations);
    for (size_t i = 0; i < count; i++)
        group->total_ns += durations[i];
    group->p50_ns = percentile(durations, count, 50);
    group->p90_ns = percentile(durations, count, 90);
    group->p99_ns = percentile(durations, count, 99);
    group->max_ns = durations[count - 1];
}

/* Durations of each group one after the other, by counting. */
static void summarize_all(const struct grouping *grouping, struct cn_groups *groups)
{
    uint64_t *durations = cn_alloc(grouping->count, sizeof(*durations));
    size_t *ends = cn_alloc(groups->count, sizeof(*ends)), sum = 0;

    for (size_t i = 0; i < groups->count; i++) {
        ends[i] = sum;
        sum += (size_t)groups->list[i].count;
    }
    for (size_t i = 0; i < grouping->count; i++)
        durations[ends[grouping->members[i].group]++] = grouping->members[i].duration_ns;
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->list[i].count > 0)
            summarize(&groups->list[i],
                      durations + (ends[i] - (size_t)groups->list[i].count));
    }
    free(durations);
    free(ends);
}

struct ranked {
    struct cn_group group;
    struct cn_bytes value;
};

static int compare_groups(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    size_t len = x->value.len < y->value.len ? x->value.len : y->value.len;
    int order;

    if (x->group.count != y->group.count)
        return x->group.count > y->group.count ? -1 : 1;
    order = len > 0 ? memcmp(x->value.ptr, y->value.ptr, len) : 0;
    if (order != 0)
        return order;
    return x->value.len < y->value.len ? -1 : x->value.len > y->value.len;
}

static void rank(struct cn_groups *groups)
{
    struct ranked *ranked = cn_alloc(groups->count, sizeof(*ranked));
    size_t count = 0;

    for (size_t i = 0; i < groups->count; i++) {
        if (groups->list[i].count > 0)
            ranked[count++] = (struct ranked){
                groups->list[i], cn_word_bytes(&groups->values, groups->list[i].value)};
    }
    if (count > 0)
        qsort(ranked, count, sizeof(*ranked), compare_groups);
    for (size_t i = 0; i < count; i++)
        groups->list[i] = ranked[i].group;
    groups->count = count;
    free(ranked);
}

/* Numbers of words become places in the list; the empty text is 0. */
static void take_groups(struct grouping *grouping, struct cn_groups *out)
{
    *out = (struct cn_groups){.values = grouping->values};
    out->count = (size_t)grouping->values.count + 1;
    out->list = cn_alloc(out->count, sizeof(*out->list));
    for (uint32_t i = 0; i < out->count; i++)
        out->list[i].value = i;
    for (size_t i = 0; i < grouping->count; i++) {
        struct cn_group *group = &out->list[grouping->members[i].group];

        group->count++;
        group->error_count += grouping->members[i].has_errors;
    }
    summarize_all(grouping, out);
    rank(out);
}

bool cn_search_group(struct cn_search *search, const struct cn_query *query,
                     const char *by, struct cn_groups *out, struct cn_error *err)
{
    struct grouping grouping = {.by = {.op = CN_QUERY_EXISTS}};
    bool ok;

    if (!cn_query_term_init(&grouping.by, by, NULL, 0, err))
        return false;
    if (grouping.by.field <= CN_QUERY_PARENT ||
        (grouping.by.field >= CN_QUERY_CLASS &&
         grouping.by.field <= CN_QUERY_EXCEPTION_MESSAGE) ||
        grouping.by.field == CN_QUERY_TEXT)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' cannot be grouped by, but type, service, method and "
                       "attributes can",
                       by);
    ok = cn_search_walk(search, query, NULL, group_segment, &grouping, err);
    if (ok)
        take_groups(&grouping, out);
    else
        cn_words_done(&grouping.values);
    cn_text_done(&grouping.text);
    free(grouping.members);
    free(grouping.words);
    return ok;
}

void cn_groups_done(struct cn_groups *groups)
{
    cn_words_done(&groups->values);
    free(groups->list);
    *groups = (struct cn_groups){0};
}
