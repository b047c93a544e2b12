#include "store/search/match.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search/match_words.h"
#include "store/search/query.h"
#include "store/segment/index.h"

enum { FULL_EVERY = 16 }; /* check after so many lists whether the set is full */

/* Rows of the entries with keys from `first` to `last` whose word or name matches. */
struct match_selection {
    const struct cn_store_index *index;
    cn_posting_key first, last;
    struct cn_word_match *words; /* NULL: every word matches */
    struct cn_word_match *names; /* NULL: no name matches */
    struct cn_rows *rows;
};

static bool is_selected(const struct match_selection *selection, cn_posting_key key,
                        bool *out, struct cn_error *err)
{
    *out = true;
    if (!selection->words)
        return true;
    if (!cn_word_match(selection->words, cn_posting_word(key), out, err))
        return false;
    if (*out || !selection->names)
        return true;
    return cn_word_match(selection->names, cn_posting_name(key), out, err);
}

/* Add the rows of the selected entries of a block, until all its rows are in the set. */
static bool select_in_block(const struct match_selection *selection,
                            const struct cn_posting_block *block, struct cn_error *err)
{
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    unsigned added = 0;
    enum cn_step step;
    bool is_wanted;

    if (!cn_posting_walk_begin(&walk, block, selection->first, err))
        return false;
    while ((step = cn_posting_walk_next(&walk, &entry, err)) == CN_ITEM) {
        if (entry.key > selection->last)
            return true;
        if (!is_selected(selection, entry.key, &is_wanted, err) ||
            (is_wanted && !cn_posting_rows_add(block, &entry, selection->rows, err)))
            return false;
        if (is_wanted && ++added % FULL_EVERY == 0 &&
            cn_rows_has_range(selection->rows, block->first_row,
                              block->first_row + block->row_count))
            return true;
    }
    return step == CN_END;
}

static bool select_rows(const struct match_selection *selection, struct cn_error *err)
{
    for (size_t i = 0; i < selection->index->block_count; i++) {
        if (!select_in_block(selection, &selection->index->blocks[i], err))
            return false;
    }
    return true;
}

static bool is_between(struct cn_query_number value, const struct cn_query_term *term)
{
    const struct cn_query_number *first = &term->first, *last = &term->last;

    return (value.high > first->high ||
            (value.high == first->high && value.low >= first->low)) &&
           (value.high < last->high ||
            (value.high == last->high && value.low <= last->low));
}

static void set_row(void *arg, uint32_t row)
{
    cn_rows_set(arg, row);
}

static bool match_id(const struct cn_store_index *index, const struct cn_query_term *term,
                     struct cn_rows *rows, struct cn_error *err)
{
    struct cn_store_column high, low;

    if (term->first.high == term->last.high && term->first.low == term->last.low &&
        cn_columns_find_trace(index->columns, term->first.high, term->first.low, set_row,
                              rows))
        return true;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    for (uint32_t row = 0; row < rows->count; row++) {
        struct cn_query_number id = {cn_store_column_at(&high, row),
                                     cn_store_column_at(&low, row)};

        if (is_between(id, term))
            cn_rows_set(rows, row);
    }
    return true;
}

/* The rows of a trace and of the spans inside of it: of each, the errors without those of spans
 * inside of it. Such a span is called by another one of the trace, or by its first. */
struct own_errors {
    struct cn_store_column errors, flags, spans, parents;
    uint64_t *own; /* by row of the trace */
    size_t capacity;
};

static bool own_errors_open(struct own_errors *own, const struct cn_columns *columns,
                            struct cn_error *err)
{
    *own = (struct own_errors){0};
    return cn_columns_field(columns, CN_STORE_FIELD_errors, &own->errors, err) &&
           cn_columns_field(columns, CN_STORE_FIELD_flags, &own->flags, err) &&
           cn_columns_field(columns, CN_STORE_FIELD_span_id, &own->spans, err) &&
           cn_columns_field(columns, CN_STORE_FIELD_parent_id, &own->parents, err);
}

/* Fill in `own` for the rows of the trace at `first`, and return the row after them. */
static uint32_t own_errors_of(struct own_errors *own, uint32_t first, uint32_t count)
{
    uint32_t end = first + 1;

    while (end < count && (cn_store_column_at(&own->flags, end) & CN_ROW_EMBEDDED))
        end++;
    CN_GROW_TO(own->own, (size_t)end - first, own->capacity);
    for (uint32_t row = first; row < end; row++)
        own->own[row - first] = cn_store_column_at(&own->errors, row);
    for (uint32_t row = first + 1; row < end; row++) {
        uint64_t errors = cn_store_column_at(&own->errors, row);
        uint64_t parent_id = cn_store_column_at(&own->parents, row);
        uint32_t caller = row - 1;

        if (errors == 0)
            continue;
        while (caller > first && cn_store_column_at(&own->spans, caller) != parent_id)
            caller--;
        own->own[caller - first] -=
            errors < own->own[caller - first] ? errors : own->own[caller - first];
    }
    return end;
}

/* A span has the errors of its own calls. */
static bool match_errors(const struct cn_store_index *index, uint64_t first_error,
                         uint64_t width, struct cn_rows *rows, struct cn_error *err)
{
    struct own_errors own;

    if (!own_errors_open(&own, index->columns, err))
        return false;
    for (uint32_t first = 0, end; first < rows->count; first = end) {
        end = own_errors_of(&own, first, rows->count);
        for (uint32_t row = first; row < end; row++)
            if (own.own[row - first] - first_error <= width)
                cn_rows_set(rows, row);
    }
    free(own.own);
    return true;
}

/* The rows whose value is at most `width` above `first`. */
static void match_values(const struct cn_store_column *column, uint64_t first,
                         uint64_t width, struct cn_rows *rows)
{
    enum { AT_ONCE = 256 };
    uint64_t values[AT_ONCE];

    for (uint32_t row = 0, count; row < rows->count; row += count) {
        count = rows->count - row < AT_ONCE ? rows->count - row : AT_ONCE;
        cn_store_column_read(column, row, count, values);
        for (uint32_t i = 0; i < count; i++)
            if (values[i] - first <= width)
                cn_rows_set(rows, row + i);
    }
}

static bool match_number(const struct cn_store_index *index,
                         const struct cn_query_term *term, struct cn_rows *rows,
                         struct cn_error *err)
{
    static const enum cn_store_field fields[] = {
        [CN_QUERY_TIME] = CN_STORE_FIELD_time_ns,
        [CN_QUERY_DURATION] = CN_STORE_FIELD_duration_ns,
        [CN_QUERY_ERRORS] = CN_STORE_FIELD_errors,
        [CN_QUERY_CALLS] = CN_STORE_FIELD_calls,
        [CN_QUERY_RECORDS] = CN_STORE_FIELD_records,
        [CN_QUERY_SPAN] = CN_STORE_FIELD_span_id,
        [CN_QUERY_PARENT] = CN_STORE_FIELD_parent_id,
    };
    struct cn_store_column column;
    uint64_t first = term->first.low, width = term->last.low - first;

    if (term->field == CN_QUERY_ID)
        return match_id(index, term, rows, err);
    if (term->first.low > term->last.low)
        return true;
    if (!cn_columns_field(index->columns, fields[term->field], &column, err))
        return false;
    if (term->field != CN_QUERY_ERRORS)
        match_values(&column, first, width, rows);
    else if (!match_errors(index, first, width, rows, err))
        return false;
    for (size_t i = 0; i < index->joined.trace_count; i++) {
        uint32_t row = index->joined.traces[i].row;
        uint64_t value = cn_joined_number(&index->joined, fields[term->field], row,
                                          cn_store_column_at(&column, row));

        cn_rows_clear(rows, row);
        if (value - first <= width)
            cn_rows_set(rows, row);
    }
    return true;
}

static bool match_column_words(struct cn_word_match *match, enum cn_store_field field,
                               struct cn_rows *rows, struct cn_error *err)
{
    struct cn_store_column column;
    uint32_t last_word = 0;
    bool is_match = false;

    if (!cn_columns_field(match->index->columns, field, &column, err))
        return false;
    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t word = (uint32_t)cn_store_column_at(&column, row);

        /* A row without a type or service never matches. */
        if (word == 0)
            continue;
        if (word != last_word && !cn_word_match(match, word, &is_match, err))
            return false;
        last_word = word;
        if (is_match)
            cn_rows_set(rows, row);
    }
    return true;
}

static bool match_column(const struct cn_store_index *index,
                         const struct cn_query_term *term, enum cn_store_field field,
                         struct cn_rows *rows, struct cn_error *err)
{
    struct cn_word_match match;

    cn_word_match_init(&match, index, term,
                       field == CN_STORE_FIELD_method ? CN_WORD_AS_NAME
                                                      : CN_WORD_AS_TEXT);
    bool ok = match_column_words(&match, field, rows, err);
    cn_word_match_done(&match);
    return ok;
}

static bool select_kind(const struct cn_store_index *index,
                        const struct cn_query_term *term, enum cn_posting_kind kind,
                        enum cn_word_aspect aspect, struct cn_rows *rows,
                        struct cn_error *err)
{
    struct cn_word_match match;
    struct match_selection selection = {
        .index = index,
        .first = cn_posting_key_of(kind, 0, 0),
        .last = cn_posting_key_of(kind, CN_POSTING_NAME_MAX, UINT32_MAX),
        .words = &match,
        .rows = rows,
    };

    cn_word_match_init(&match, index, term, aspect);
    bool ok = select_rows(&selection, err);
    cn_word_match_done(&match);
    return ok;
}

/* Rows of a block with this name and one of these values. */
static bool seek_words(const struct match_selection *selection, enum cn_posting_kind kind,
                       uint32_t name, const struct cn_posting_block *block,
                       const struct cn_found_words *values, struct cn_error *err)
{
    struct cn_posting_entry entry;
    bool is_found;

    for (size_t i = 0; i < values->count; i++) {
        cn_posting_key key = cn_posting_key_of(kind, name, values->words[i]);

        if (!cn_posting_block_find(block, key, &entry, &is_found, err) ||
            (is_found && !cn_posting_rows_add(block, &entry, selection->rows, err)))
            return false;
    }
    return true;
}

static bool match_names(const struct cn_store_index *index,
                        const struct cn_query_term *term, enum cn_posting_kind kind,
                        const struct cn_found_words *names, struct cn_rows *rows,
                        struct cn_error *err)
{
    struct cn_word_match match = {0};
    struct cn_found_words values = {0};
    struct match_selection selection = {.index = index, .rows = rows};
    bool ok = true;

    if (term->op == CN_QUERY_EQUAL) {
        ok = cn_store_index_find(index, term->text, cn_found_words_note, &values, err);
    } else if (term->op != CN_QUERY_EXISTS && names->count > 0) {
        cn_word_match_init(&match, index, term, CN_WORD_AS_TEXT);
        selection.words = &match;
    }
    for (size_t i = 0; ok && i < names->count; i++) {
        if (names->words[i] > CN_POSTING_NAME_MAX)
            continue;
        selection.first = cn_posting_key_of(kind, names->words[i], 0);
        selection.last = cn_posting_key_of(kind, names->words[i], UINT32_MAX);
        if (term->op != CN_QUERY_EQUAL)
            ok = select_rows(&selection, err);
        else
            for (size_t k = 0; ok && k < index->block_count; k++)
                ok = seek_words(&selection, kind, names->words[i], &index->blocks[k],
                                &values, err);
    }
    if (match.index)
        cn_word_match_done(&match);
    free(values.words);
    return ok;
}

static bool match_attribute(const struct cn_store_index *index,
                            const struct cn_query_term *term, enum cn_posting_kind kind,
                            struct cn_rows *rows, struct cn_error *err)
{
    struct cn_bytes name = cn_bytes_of(term->name);
    struct cn_found_words names = {0};
    bool ok = cn_store_index_find(index, name, cn_found_words_note, &names, err) &&
              match_names(index, term, kind, &names, rows, err);

    free(names.words);
    return ok;
}

/* Rows that have one of a few words under any name: seek each word under each name. */
static bool seek_attributes(const struct match_selection *selection,
                            enum cn_posting_kind kind,
                            const struct cn_posting_block *block,
                            const struct cn_found_words *words, struct cn_error *err)
{
    struct match_selection part = {.index = selection->index, .rows = selection->rows};
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    bool is_match = false;
    enum cn_step step;

    for (uint32_t name = 0; name <= CN_POSTING_NAME_MAX; name++) {
        if (!cn_posting_walk_begin(&walk, block, cn_posting_key_of(kind, name, 0), err))
            return false;
        step = cn_posting_walk_next(&walk, &entry, err);
        if (step != CN_ITEM || cn_posting_kind(entry.key) != kind)
            return step != CN_FAIL;
        name = cn_posting_name(entry.key);
        if (!cn_word_match(selection->names, name, &is_match, err))
            return false;
        part.first = cn_posting_key_of(kind, name, 0);
        part.last = part.first | UINT32_MAX;
        if (!(is_match ? select_in_block(&part, block, err)
                       : seek_words(&part, kind, name, block, words, err)))
            return false;
    }
    return true;
}

static bool seek_in_block(const struct match_selection *selection,
                          const struct cn_posting_block *block,
                          const struct cn_found_words *words, struct cn_error *err)
{
    return seek_attributes(selection, CN_POSTING_ROOT_ATTRIBUTE, block, words, err) &&
           seek_attributes(selection, CN_POSTING_ATTRIBUTE, block, words, err) &&
           seek_words(selection, CN_POSTING_EXCEPTION_CLASS, 0, block, words, err) &&
           seek_words(selection, CN_POSTING_EXCEPTION_MESSAGE, 0, block, words, err);
}

static bool walk_block(const struct match_selection *selection,
                       const struct cn_posting_block *block, struct cn_error *err)
{
    struct match_selection part = *selection;

    part.first = cn_posting_key_of(CN_POSTING_ROOT_ATTRIBUTE, 0, 0);
    part.last = cn_posting_key_of(CN_POSTING_ATTRIBUTE, CN_POSTING_NAME_MAX, UINT32_MAX);
    if (!select_in_block(&part, block, err))
        return false;
    part.first = cn_posting_key_of(CN_POSTING_EXCEPTION_CLASS, 0, 0);
    part.last = cn_posting_key_of(CN_POSTING_EXCEPTION_MESSAGE, 0, UINT32_MAX);
    part.names = NULL;
    return select_in_block(&part, block, err);
}

/* Rows of attributes and exceptions with a matching word. */
static bool select_words(const struct cn_store_index *index, struct cn_word_match *match,
                         struct cn_rows *rows, struct cn_error *err)
{
    struct match_selection selection = {
        .index = index,
        .words = match,
        .names = match,
        .rows = rows,
    };
    struct cn_found_words words = {0};
    bool ok = true;

    for (uint32_t word = 0; word <= match->word_count; word++) {
        if (match->known[word] == 2)
            cn_found_words_note(&words, word);
    }
    /* A block has some ten names, and finding an entry takes as long as reading sixty. */
    for (size_t i = 0; ok && i < index->block_count; i++)
        ok = words.count < index->blocks[i].key_count / 640
                 ? seek_in_block(&selection, &index->blocks[i], &words, err)
                 : walk_block(&selection, &index->blocks[i], err);
    free(words.words);
    return ok;
}

static bool match_text(const struct cn_store_index *index,
                       const struct cn_query_term *term, struct cn_rows *rows,
                       struct cn_error *err)
{
    struct cn_word_match match;
    uint32_t count;

    cn_word_match_init(&match, index, term, CN_WORD_AS_TEXT);
    bool ok =
        cn_word_match_all(&match, &count, err) &&
        (count == 0 || (select_words(index, &match, rows, err) &&
                        match_column_words(&match, CN_STORE_FIELD_type, rows, err) &&
                        match_column_words(&match, CN_STORE_FIELD_service, rows, err)));
    cn_word_match_done(&match);
    return ok &&
           select_kind(index, term, CN_POSTING_METHOD, CN_WORD_AS_METHOD_TEXT, rows, err);
}

static void match_found(const struct cn_store_index *index,
                        const struct cn_query_found *found, struct cn_rows *rows)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->segments[i] == index->segment && found->rows[i].words)
            cn_rows_or(rows, &found->rows[i]);
}

/* Add the rows that match, without is_negated. */
static bool match_rows(const struct cn_store_index *index,
                       const struct cn_query_term *term, struct cn_rows *rows,
                       struct cn_error *err)
{
    switch (term->field) {
    case CN_QUERY_TIME:
    case CN_QUERY_DURATION:
    case CN_QUERY_ERRORS:
    case CN_QUERY_CALLS:
    case CN_QUERY_RECORDS:
    case CN_QUERY_ID:
    case CN_QUERY_SPAN:
    case CN_QUERY_PARENT:
        return match_number(index, term, rows, err);
    case CN_QUERY_TYPE:
        return match_column(index, term, CN_STORE_FIELD_type, rows, err);
    case CN_QUERY_SERVICE:
        return match_column(index, term, CN_STORE_FIELD_service, rows, err);
    case CN_QUERY_ROOT:
        return match_column(index, term, CN_STORE_FIELD_method, rows, err);
    case CN_QUERY_METHOD:
        return select_kind(index, term, CN_POSTING_METHOD, CN_WORD_AS_NAME, rows, err);
    case CN_QUERY_CLASS:
        return select_kind(index, term, CN_POSTING_METHOD, CN_WORD_AS_CLASS, rows, err);
    case CN_QUERY_EXCEPTION:
    case CN_QUERY_EXCEPTION_CLASS:
    case CN_QUERY_EXCEPTION_MESSAGE:
        return (term->field == CN_QUERY_EXCEPTION_MESSAGE ||
                select_kind(index, term, CN_POSTING_EXCEPTION_CLASS, CN_WORD_AS_NAME,
                            rows, err)) &&
               (term->field == CN_QUERY_EXCEPTION_CLASS ||
                select_kind(index, term, CN_POSTING_EXCEPTION_MESSAGE, CN_WORD_AS_TEXT,
                            rows, err));
    case CN_QUERY_ATTRIBUTE:
        return match_attribute(index, term, CN_POSTING_ROOT_ATTRIBUTE, rows, err) &&
               match_attribute(index, term, CN_POSTING_ATTRIBUTE, rows, err);
    case CN_QUERY_ROOT_ATTRIBUTE:
        return match_attribute(index, term, CN_POSTING_ROOT_ATTRIBUTE, rows, err);
    case CN_QUERY_TEXT:
        return match_text(index, term, rows, err);
    case CN_QUERY_FOUND:
        match_found(index, term->found, rows);
        return true;
    }
    return false;
}

/* Rows may have been found by keys of spans inside them: look at their own. */
static bool keep_own(const struct cn_store_index *index, const struct cn_query_term *term,
                     struct cn_rows *rows, struct cn_error *err)
{
    struct cn_store_index own;
    struct cn_rows nested, found;
    bool ok;

    cn_rows_init(&nested, rows->count);
    cn_rows_or(&nested, rows);
    ok = cn_store_index_keep_nested(index, &nested, err);
    if (ok && !cn_rows_is_empty(&nested)) {
        cn_rows_init(&found, rows->count);
        ok = cn_store_index_open_rows(&own, index, &nested, err);
        if (ok) {
            ok = match_rows(&own, term, &found, err);
            cn_store_index_close_rows(&own);
        }
        cn_rows_and(&found, &nested);
        cn_rows_not(&nested);
        cn_rows_and(rows, &nested);
        cn_rows_or(rows, &found);
        cn_rows_done(&found);
    }
    cn_rows_done(&nested);
    return ok;
}

/* Numbers of rows are already those of whole traces. */
static bool match_field(const struct cn_store_index *index,
                        const struct cn_query_term *term, bool is_rough,
                        struct cn_rows *rows, struct cn_error *err)
{
    if (!match_rows(index, term, rows, err) ||
        (!is_rough && term->field >= CN_QUERY_METHOD && term->field != CN_QUERY_FOUND &&
         cn_store_index_is_nested(index) && !keep_own(index, term, rows, err)))
        return false;
    if (term->field > CN_QUERY_PARENT)
        cn_joined_fold(&index->joined, rows);
    return true;
}

/* "!=" matches rows that have a value for which the comparison does not hold. */
static bool match_term(const struct cn_store_index *index,
                       const struct cn_query_term *term, bool is_rough,
                       struct cn_rows *rows, struct cn_error *err)
{
    struct cn_query_term exists = *term;
    struct cn_rows having;

    if (!match_field(index, term, is_rough && !term->is_negated, rows, err))
        return false;
    if (!term->is_negated)
        return true;
    cn_rows_not(rows);
    if (term->field <= CN_QUERY_PARENT)
        return true;
    exists.op = CN_QUERY_EXISTS;
    cn_rows_init(&having, rows->count);
    bool ok = match_field(index, &exists, false, &having, err);
    cn_rows_and(rows, &having);
    cn_rows_done(&having);
    return ok;
}

struct stack {
    struct cn_rows *sets;
    size_t depth, capacity;
};

static struct cn_rows *push(struct stack *stack, uint32_t row_count)
{
    CN_GROW(stack->sets, stack->depth, stack->capacity);
    cn_rows_init(&stack->sets[stack->depth], row_count);
    return &stack->sets[stack->depth++];
}

static bool evaluate(const struct cn_store_index *index, const struct cn_query *query,
                     bool is_rough, struct stack *stack, struct cn_error *err)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];
        struct cn_rows *top = stack->depth > 0 ? &stack->sets[stack->depth - 1] : NULL;

        switch (step->kind) {
        case CN_QUERY_STEP_TERM:
            top = push(stack, index->columns->row_count);
            if (!match_term(index, &step->term, is_rough, top, err))
                return false;
            break;
        case CN_QUERY_STEP_AND:
            cn_rows_and(top - 1, top);
            cn_rows_done(&stack->sets[--stack->depth]);
            break;
        case CN_QUERY_STEP_OR:
            cn_rows_or(top - 1, top);
            cn_rows_done(&stack->sets[--stack->depth]);
            break;
        case CN_QUERY_STEP_NOT:
            cn_rows_not(top);
            break;
        case CN_QUERY_STEP_SKIP:
            if (cn_rows_is_empty(top))
                i = step->target - 1;
            break;
        }
    }
    return true;
}

bool cn_match(const struct cn_store_index *index, const struct cn_query *query,
              bool is_rough, struct cn_rows *out, struct cn_error *err)
{
    struct stack stack = {0};
    bool ok = (query->count == 0 || cn_store_index_postings(index, err)) &&
              evaluate(index, query, is_rough, &stack, err);

    if (ok && query->count == 0)
        cn_rows_not(push(&stack, index->columns->row_count));
    if (ok) {
        cn_joined_drop(&index->joined, &stack.sets[0]);
        *out = stack.sets[0];
        stack.sets[0] = (struct cn_rows){0};
    }
    for (size_t i = 0; i < stack.depth; i++)
        cn_rows_done(&stack.sets[i]);
    free(stack.sets);
    return ok;
}
