#include "store/groups/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/groups/grouping.h"
#include "store/groups/key_numbers.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/search/state.h"

static void add_member(struct cn_grouping *grouping, uint32_t row)
{
    CN_PUSH(grouping->members, grouping->count, grouping->capacity,
            (struct cn_grouping_member){grouping->group, row});
}

/* Note the word of a group in this segment, and if it has more than one. */
static void note_word(struct cn_grouping *grouping, uint32_t word)
{
    size_t old = grouping->word_capacity;

    CN_GROW_TO(grouping->words, (size_t)grouping->group + 1, grouping->word_capacity);
    memset(grouping->words + old, 0,
           (grouping->word_capacity - old) * sizeof(*grouping->words));
    if (grouping->words[grouping->group] != 0 && grouping->words[grouping->group] != word)
        grouping->has_synonyms = true;
    grouping->words[grouping->group] = word;
}

/* The group of a word. Words of the same text are one group, in all segments. */
static bool choose_group(struct cn_grouping *grouping, uint32_t word,
                         struct cn_error *err)
{
    struct cn_bytes text;

    if (cn_store_index_is_text(grouping->index, word)) {
        if (!cn_store_index_text(grouping->index, word, &text, err))
            return false;
    } else {
        cn_text_clear(&grouping->text);
        if (!cn_store_index_print(grouping->index, word, &grouping->text, err))
            return false;
        text = (struct cn_bytes){(const uint8_t *)cn_text_str(&grouping->text),
                                 grouping->text.len};
    }
    grouping->group = cn_words_add(&grouping->all.values, CN_WORD_TEXT, text);
    note_word(grouping, word);
    return true;
}

/* The same, looked up once per word of a segment. */
static bool find_group(struct cn_grouping *grouping, uint32_t word, struct cn_error *err)
{
    if (word > grouping->word_count)
        return choose_group(grouping, word, err);
    if (grouping->group_of_word[word] == 0) {
        if (!choose_group(grouping, word, err))
            return false;
        grouping->group_of_word[word] = grouping->group + 1;
    }
    grouping->group = grouping->group_of_word[word] - 1;
    return true;
}

/* The group of an operation; `known` has those of this segment, by both words. */
static bool choose_operation(struct cn_grouping *grouping, uint32_t service,
                             uint32_t method, struct cn_map *known, struct cn_error *err)
{
    uint32_t *group = cn_map_at(known, (uint64_t)service << 32 | method, CN_NONE);

    if (*group == CN_NONE) {
        cn_text_clear(&grouping->text);
        if (service != 0) {
            if (!cn_store_index_print(grouping->index, service, &grouping->text, err))
                return false;
            cn_text_str_add(&grouping->text, ": ");
        }
        if (!cn_store_index_print(grouping->index, method, &grouping->text, err))
            return false;
        *group =
            cn_words_add(&grouping->all.values, CN_WORD_TEXT,
                         (struct cn_bytes){(const uint8_t *)cn_text_str(&grouping->text),
                                           grouping->text.len});
    }
    grouping->group = *group;
    return true;
}

/* Groups rows by the word in a column or, for operations, in two. Parts of the rows are read on all
 * processors; the groups of their words are then found in order. */
struct column_grouping {
    struct cn_grouping *grouping;
    struct cn_store_column words, services; /* the latter of operations */
    struct cn_map operations;               /* groups, by both words */
    bool is_ok;
    struct cn_error *err;
    struct column_part {
        struct cn_grouping_member *members; /* their groups are numbers of keys */
        uint64_t *keys;
        size_t count, key_count, key_capacity;
    } * parts;
};

enum { COLUMN_PART_ROWS = 1 << 15 };

static void read_column(void *arg, size_t job, unsigned worker)
{
    const struct column_grouping *columns = arg;
    const struct cn_grouping *grouping = columns->grouping;
    struct column_part *part = &columns->parts[job];
    uint64_t words[CN_COLUMN_GROUP_ROWS], services[CN_COLUMN_GROUP_ROWS] = {0};
    size_t word = job * (COLUMN_PART_ROWS / CN_COLUMN_GROUP_ROWS);
    size_t end = word + COLUMN_PART_ROWS / CN_COLUMN_GROUP_ROWS;
    struct cn_key_numbers numbering = {0};

    (void)worker;
    end = end < cn_rows_word_count(grouping->rows) ? end
                                                   : cn_rows_word_count(grouping->rows);
    part->members = cn_alloc(COLUMN_PART_ROWS, sizeof(*part->members));
    for (; word < end; word++) {
        uint64_t bits = grouping->rows->words[word];
        uint32_t first_row = (uint32_t)word * CN_COLUMN_GROUP_ROWS;

        if (!bits)
            continue;
        cn_store_column_read_bits(&columns->words, first_row, bits, words);
        if (grouping->is_operation)
            cn_store_column_read_bits(&columns->services, first_row, bits, services);
        for (unsigned i = 0; bits; bits &= bits - 1, i++) {
            if (!grouping->is_operation &&
                (words[i] == 0 || words[i] > grouping->word_count))
                continue;
            uint64_t key = services[i] << 32 | (uint32_t)words[i];
            uint32_t number = cn_key_number_of(&numbering, key);
            if (number == part->key_count)
                CN_PUSH(part->keys, part->key_count, part->key_capacity, key);
            part->members[part->count++] = (struct cn_grouping_member){
                number, first_row + (uint32_t)__builtin_ctzll(bits)};
        }
    }
    cn_key_numbers_done(&numbering);
}

static bool find_column_group(struct column_grouping *columns, uint64_t key)
{
    struct cn_grouping *grouping = columns->grouping;

    return grouping->is_operation
               ? choose_operation(grouping, (uint32_t)(key >> 32), (uint32_t)key,
                                  &columns->operations, columns->err)
               : find_group(grouping, (uint32_t)key, columns->err);
}

static void take_column(void *arg, size_t job, unsigned worker)
{
    struct column_grouping *columns = arg;
    struct cn_grouping *grouping = columns->grouping;
    struct column_part *part = &columns->parts[job];
    uint32_t *groups = cn_alloc(part->key_count, sizeof(*groups));

    (void)worker;
    for (size_t i = 0; columns->is_ok && i < part->key_count; i++) {
        columns->is_ok = find_column_group(columns, part->keys[i]);
        groups[i] = grouping->group;
    }
    CN_GROW_TO(grouping->members, grouping->count + part->count, grouping->capacity);
    for (size_t i = 0; columns->is_ok && i < part->count; i++)
        grouping->members[grouping->count++] = (struct cn_grouping_member){
            groups[part->members[i].group], part->members[i].row};
    free(groups);
    free(part->members);
    free(part->keys);
    *part = (struct column_part){0};
}

static bool group_by_column(struct cn_grouping *grouping, enum cn_store_field field,
                            struct cn_error *err)
{
    struct column_grouping columns = {.grouping = grouping, .is_ok = true, .err = err};
    const struct cn_columns *from = grouping->index->columns;
    struct cn_jobs jobs = {.arg = &columns, .run = read_column, .take = take_column};

    if (!cn_columns_field(from, field, &columns.words, err) ||
        (grouping->is_operation &&
         !cn_columns_field(from, CN_STORE_FIELD_service, &columns.services, err)))
        return false;
    jobs.count =
        ((size_t)grouping->rows->count + COLUMN_PART_ROWS - 1) / COLUMN_PART_ROWS;
    columns.parts = cn_alloc(jobs.count, sizeof(*columns.parts));
    cn_pool_run(&jobs, cn_pool_default_workers());
    free(columns.parts);
    cn_map_done(&columns.operations);
    return columns.is_ok;
}

static void visit_row(void *arg, uint32_t row)
{
    struct cn_grouping *grouping = arg;

    if (cn_rows_has(grouping->rows, row))
        add_member(grouping, row);
}

/* All values of a name in a block. */
static bool group_block(struct cn_grouping *grouping,
                        const struct cn_posting_block *block, enum cn_posting_kind kind,
                        uint32_t name, struct cn_error *err)
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
        if (!find_group(grouping, cn_posting_word(entry.key), err) ||
            !cn_posting_rows_walk(block, &entry, visit_row, grouping, err))
            return false;
    }
    return step == CN_END;
}

/* All values of a name, at the root or below it. */
static bool group_source(struct cn_grouping *grouping, enum cn_posting_kind kind,
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

struct group_names {
    struct cn_grouping *grouping;
    struct cn_error *err;
    bool is_ok;
};

static void group_by_name(void *arg, uint32_t name)
{
    struct group_names *names = arg;
    bool is_deep = names->grouping->by.field == CN_QUERY_ATTRIBUTE;

    names->is_ok =
        names->is_ok &&
        group_source(names->grouping, CN_POSTING_ROOT_ATTRIBUTE, name, names->err) &&
        (!is_deep ||
         group_source(names->grouping, CN_POSTING_ATTRIBUTE, name, names->err));
}

static int compare_members(const void *a, const void *b)
{
    const struct cn_grouping_member *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* A value that a row has twice, at its root and below or under two names, counts once. */
static void drop_repeated(struct cn_grouping *grouping)
{
    struct cn_grouping_member *members = grouping->members;
    size_t kept = 0;

    if (grouping->count < 2 || (grouping->source_count < 2 && !grouping->has_synonyms))
        return;
    qsort(members, grouping->count, sizeof(*members), compare_members);
    for (size_t i = 0; i < grouping->count; i++) {
        if (kept == 0 || compare_members(&members[kept - 1], &members[i]) != 0)
            members[kept++] = members[i];
    }
    grouping->count = kept;
}

static bool find_members(struct cn_grouping *grouping, struct cn_error *err)
{
    const struct cn_query_term *by = &grouping->by;
    struct group_names names = {grouping, err, true};
    struct cn_bytes name;

    if (grouping->is_operation)
        return group_by_column(grouping, CN_STORE_FIELD_method, err);
    if (by->field == CN_QUERY_TYPE)
        return group_by_column(grouping, CN_STORE_FIELD_type, err);
    if (by->field == CN_QUERY_SERVICE)
        return group_by_column(grouping, CN_STORE_FIELD_service, err);
    if (by->field == CN_QUERY_METHOD || by->field == CN_QUERY_ROOT)
        return group_by_column(grouping, CN_STORE_FIELD_method, err);
    name = cn_bytes_of(by->name);
    if (!cn_store_index_find(grouping->index, name, group_by_name, &names, err) ||
        !names.is_ok)
        return false;
    drop_repeated(grouping);
    return true;
}

/* Find members where rows also have keys of spans inside them: of these rows by their own. */
static bool find_own_members(struct cn_grouping *grouping, const struct cn_rows *rows,
                             struct cn_error *err)
{
    const struct cn_store_index *index = grouping->index;
    struct cn_store_index own = {0};
    struct cn_rows nested, others;
    bool ok;

    cn_rows_init(&nested, rows->count);
    cn_rows_or(&nested, rows);
    cn_rows_init(&others, rows->count);
    ok = cn_store_index_keep_nested(index, &nested, err) &&
         cn_store_index_open_rows(&own, index, &nested, err);
    cn_rows_or(&others, &nested);
    cn_rows_not(&others);
    cn_rows_and(&others, rows);
    grouping->rows = &others;
    ok = ok && find_members(grouping, err);
    grouping->rows = &nested;
    grouping->index = &own;
    ok = ok && find_members(grouping, err);
    grouping->rows = rows;
    grouping->index = index;
    cn_store_index_close_rows(&own);
    cn_rows_done(&nested);
    cn_rows_done(&others);
    return ok;
}

static bool group_segment(void *arg, uint32_t segment, const struct cn_store_index *index,
                          const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_grouping *grouping = arg;
    bool ok;

    if (!cn_store_index_postings(index, err))
        return false;
    grouping->segment = segment;
    grouping->weights = cn_segment_weights(index->segment);
    grouping->index = index;
    grouping->rows = rows;
    grouping->count = 0;
    grouping->source_count = 0;
    grouping->has_synonyms = false;
    if (grouping->word_capacity > 0)
        memset(grouping->words, 0, grouping->word_capacity * sizeof(*grouping->words));
    grouping->word_count = cn_store_index_word_count(index);
    grouping->group_of_word =
        cn_alloc((size_t)grouping->word_count + 1, sizeof(*grouping->group_of_word));
    ok = (grouping->traces || !cn_store_index_is_nested(index)
              ? find_members(grouping, err)
              : find_own_members(grouping, rows, err)) &&
         cn_grouping_add_members(grouping, err);
    free(grouping->group_of_word);
    grouping->group_of_word = NULL;
    return ok;
}

bool cn_grouping_new(struct cn_grouping **out, struct cn_search *search,
                     const struct cn_query *query, enum cn_search_unit unit,
                     const char *by, struct cn_error *err)
{
    struct cn_query_term term = {.op = CN_QUERY_EXISTS};
    const struct cn_trace_table *traces = NULL;
    bool is_operation = strcmp(by, "operation") == 0;
    struct cn_grouping *grouping;

    if (!cn_query_term_init(&term, by, NULL, 0, err))
        return false;
    if (term.field <= CN_QUERY_PARENT ||
        (term.field >= CN_QUERY_CLASS && term.field <= CN_QUERY_EXCEPTION_MESSAGE) ||
        term.field == CN_QUERY_TEXT)
        return cn_fail(err, CN_ERR_USAGE,
                       "cannot group by '%s'; use type, service, method, operation or an "
                       "attribute",
                       by);
    bool is_of_traces = unit == CN_SEARCH_TRACES && !is_operation;
    /* Of all rows, the table of traces tells faster which are of spans that are stored twice. */
    bool has_table = is_of_traces || (query->count == 0 && search->overlap_count > 0);
    if (has_table &&
        !cn_search_trace_table(search, NULL,
                               is_of_traces ? CN_TRACE_TABLE_ALL : CN_TRACE_TABLE_DOUBLES,
                               &traces, err))
        return false;
    grouping = cn_alloc(1, sizeof(*grouping));
    grouping->traces = is_of_traces ? traces : NULL;
    grouping->has_table = has_table;
    grouping->is_operation = is_operation;
    grouping->search = search;
    grouping->query = query;
    grouping->by = term;
    if (term.name)
        grouping->by.name = grouping->name = cn_strdup(term.name);
    *out = grouping;
    return true;
}

void cn_grouping_free(struct cn_grouping *grouping)
{
    if (!grouping)
        return;
    cn_group_members_done(&grouping->all);
    cn_map_done(&grouping->seen);
    free(grouping->is_split);
    free(grouping->last);
    cn_search_seen_done(&grouping->spans);
    cn_text_done(&grouping->text);
    free(grouping->name);
    free(grouping->members);
    free(grouping->words);
    free(grouping->steps);
    free(grouping);
}

void cn_grouping_count_steps(struct cn_grouping *grouping, size_t count)
{
    uint64_t first_ns, last_ns;

    cn_search_times(grouping->search, grouping->query, &first_ns, &last_ns);
    if (first_ns > last_ns)
        return;
    grouping->step_count = count;
    grouping->first_ns = first_ns;
    grouping->step_ns = (last_ns - first_ns) / count + 1;
}

enum cn_step cn_grouping_next(struct cn_grouping *grouping, struct cn_error *err)
{
    struct cn_search_visitor visitor = {
        .kind = grouping->has_table ? CN_SEARCH_WHOLE : CN_SEARCH_MATCHES,
        .visit = group_segment,
        .arg = grouping,
        .seen = &grouping->spans,
    };

    return cn_search_visit_next(grouping->search, grouping->query, &visitor,
                                &grouping->position, err);
}

void cn_grouping_groups(struct cn_grouping *grouping, size_t limit, struct cn_groups *out)
{
    size_t count = grouping->step_count;

    cn_group_members_rank(&grouping->all, limit, out);
    if (count == 0)
        return;
    out->step_count = count;
    out->first_ns = grouping->first_ns;
    out->step_ns = grouping->step_ns;
    out->steps = cn_alloc(out->count * count, sizeof(*out->steps));
    for (size_t i = 0; i < out->count; i++) {
        struct cn_bytes value = cn_word_bytes(&out->values, out->list[i].value);
        size_t group = value.len == 0
                           ? 0
                           : cn_words_find(&grouping->all.values, CN_WORD_TEXT, value);

        if ((group + 1) * count <= grouping->step_capacity)
            memcpy(out->steps + i * count, grouping->steps + group * count,
                   count * sizeof(*out->steps));
    }
}

bool cn_search_group(struct cn_search *search, const struct cn_query *query,
                     enum cn_search_unit unit, const char *by, size_t limit,
                     struct cn_groups *out, struct cn_error *err)
{
    struct cn_grouping *grouping;
    enum cn_step step;

    if (!cn_grouping_new(&grouping, search, query, unit, by, err))
        return false;
    while ((step = cn_grouping_next(grouping, err)) == CN_ITEM)
        continue;
    if (step == CN_END)
        cn_grouping_groups(grouping, limit, out);
    cn_grouping_free(grouping);
    return step == CN_END;
}

void cn_groups_done(struct cn_groups *groups)
{
    cn_words_done(&groups->values);
    free(groups->list);
    free(groups->steps);
    *groups = (struct cn_groups){0};
}
