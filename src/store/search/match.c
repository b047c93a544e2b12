#include "store/search/match.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search/match_terms.h"
#include "store/search/query.h"
#include "store/segment/index.h"

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
        return cn_match_number(index, term, rows, err);
    case CN_QUERY_TYPE:
        return cn_match_column(index, term, CN_STORE_FIELD_type, rows, err);
    case CN_QUERY_SERVICE:
        return cn_match_column(index, term, CN_STORE_FIELD_service, rows, err);
    case CN_QUERY_ROOT:
        return cn_match_column(index, term, CN_STORE_FIELD_method, rows, err);
    case CN_QUERY_METHOD:
    case CN_QUERY_CLASS:
        return cn_match_method(index, term, rows, err);
    case CN_QUERY_EXCEPTION:
        return cn_match_exception(index, term, CN_POSTING_EXCEPTION_CLASS, rows, err) &&
               cn_match_exception(index, term, CN_POSTING_EXCEPTION_MESSAGE, rows, err);
    case CN_QUERY_EXCEPTION_CLASS:
        return cn_match_exception(index, term, CN_POSTING_EXCEPTION_CLASS, rows, err);
    case CN_QUERY_EXCEPTION_MESSAGE:
        return cn_match_exception(index, term, CN_POSTING_EXCEPTION_MESSAGE, rows, err);
    case CN_QUERY_ATTRIBUTE:
        return cn_match_attribute(index, term, CN_POSTING_ROOT_ATTRIBUTE, rows, err) &&
               cn_match_attribute(index, term, CN_POSTING_ATTRIBUTE, rows, err);
    case CN_QUERY_ROOT_ATTRIBUTE:
        return cn_match_attribute(index, term, CN_POSTING_ROOT_ATTRIBUTE, rows, err);
    case CN_QUERY_TEXT:
        return cn_match_text(index, term, rows, err);
    }
    return false;
}

/* Numbers are those of whole traces already. */
static bool match_field(const struct cn_store_index *index,
                        const struct cn_query_term *term, struct cn_rows *rows,
                        struct cn_error *err)
{
    if (!match_rows(index, term, rows, err))
        return false;
    if (term->field > CN_QUERY_PARENT)
        cn_joined_fold(&index->joined, rows);
    return true;
}

/* "!=": of the rows that have a value, those where the comparison does not hold. */
static bool match_term(const struct cn_store_index *index,
                       const struct cn_query_term *term, struct cn_rows *rows,
                       struct cn_error *err)
{
    struct cn_query_term exists = *term;
    struct cn_rows having;
    bool ok;

    if (!match_field(index, term, rows, err))
        return false;
    if (!term->is_negated)
        return true;
    cn_rows_not(rows);
    if (term->field <= CN_QUERY_PARENT)
        return true;
    exists.op = CN_QUERY_EXISTS;
    cn_rows_init(&having, rows->count);
    ok = match_field(index, &exists, &having, err);
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
    if (stack->depth == stack->capacity)
        stack->sets =
            cn_grow(stack->sets, stack->depth, &stack->capacity, sizeof(*stack->sets));
    cn_rows_init(&stack->sets[stack->depth], row_count);
    return &stack->sets[stack->depth++];
}

static bool evaluate(const struct cn_store_index *index, const struct cn_query *query,
                     struct stack *stack, struct cn_error *err)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];
        struct cn_rows *top = stack->depth > 0 ? &stack->sets[stack->depth - 1] : NULL;

        switch (step->kind) {
        case CN_QUERY_STEP_TERM:
            top = push(stack, index->columns->row_count);
            if (!match_term(index, &step->term, top, err))
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
              struct cn_rows *out, struct cn_error *err)
{
    struct stack stack = {0};
    bool ok = evaluate(index, query, &stack, err);

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
