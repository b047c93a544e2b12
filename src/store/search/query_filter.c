#include "store/search/query_filter.h"

#include <string.h>

#include "store/index/word_filter.h"
#include "store/search/query.h"

static bool may_have(struct cn_bytes filter, struct cn_bytes word)
{
    return word.len == 0 || cn_word_filter_may_have(filter, word);
}

/* Terms that compare with words that the segment must have; all others may match. */
static bool term_may_match(const struct cn_query_term *term, struct cn_bytes filter)
{
    bool is_equal = term->op == CN_QUERY_EQUAL && !term->is_negated;

    if (term->field == CN_QUERY_ID)
        return term->is_negated || term->first.high != term->last.high ||
               term->first.low != term->last.low ||
               cn_word_filter_may_have_id(filter, term->first.high, term->first.low);
    if (term->field == CN_QUERY_TYPE || term->field == CN_QUERY_SERVICE)
        return !is_equal || may_have(filter, term->text);
    if (term->field != CN_QUERY_ATTRIBUTE && term->field != CN_QUERY_ROOT_ATTRIBUTE)
        return true;
    /* "!=" also needs a value. */
    return may_have(filter, cn_bytes_of(term->name)) &&
           (!is_equal || may_have(filter, term->text));
}

bool cn_query_may_match(const struct cn_query *query, struct cn_bytes filter)
{
    bool stack[CN_QUERY_STEPS_MAX] = {true};
    size_t depth = 0;

    if (filter.len == 0)
        return true;
    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];

        switch (step->kind) {
        case CN_QUERY_STEP_TERM:
            stack[depth++] = term_may_match(&step->term, filter);
            break;
        case CN_QUERY_STEP_AND:
            depth--;
            stack[depth - 1] = stack[depth - 1] && stack[depth];
            break;
        case CN_QUERY_STEP_OR:
            depth--;
            stack[depth - 1] = stack[depth - 1] || stack[depth];
            break;
        case CN_QUERY_STEP_NOT:
            stack[depth - 1] = true;
            break;
        case CN_QUERY_STEP_SKIP: /* saves work only */
            break;
        }
    }
    return stack[0];
}
