/* Any text as TraceQL: it is understood or refused, its expressions need no more room than they have, and
 * what the indexes are asked is a query. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/query.h"
#include "store/traceql/program.h"
#include "support/fuzz.h"

/* Follow the steps with a stack of numbers. */
static void check_steps(const struct cn_tql_program *program,
                        const struct cn_tql_expr *expr)
{
    size_t depth = 0;

    assert(expr->first + expr->count <= program->step_count);
    for (uint32_t i = expr->first; i < expr->first + expr->count; i++) {
        const struct cn_tql_step *step = &program->steps[i];

        switch (step->kind) {
        case CN_TQL_FIELD:
            assert(step->field < program->field_count);
            depth++;
            break;
        case CN_TQL_PUSH:
            depth++;
            break;
        case CN_TQL_BINARY:
            assert(depth >= 2);
            depth--;
            break;
        case CN_TQL_UNARY:
            assert(depth >= 1);
            break;
        case CN_TQL_SKIP:
            assert(depth >= 1 && step->target > i &&
                   step->target <= expr->first + expr->count);
            break;
        }
        assert(depth < CN_TQL_STACK_MAX);
    }
    assert(depth == (expr->count > 0 ? 1 : 0));
}

static void check_program(const struct cn_tql_program *program)
{
    for (size_t i = 0; i < program->filter_count; i++) {
        const struct cn_tql_filter *filter = &program->filters[i];
        struct cn_query *query;
        struct cn_error err = {0};

        check_steps(program, &filter->expr);
        assert(strlen(filter->condition) < CN_QUERY_LEN_MAX);
        if (cn_query_parse(&query, filter->condition, 0, &err))
            cn_query_free(query);
        else /* nothing but its depth may be wrong with it */
            assert(strstr(err.text, "too deeply") || strstr(err.text, "pattern"));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_error err = {0};
    struct cn_tql_program *program;
    char *text = cn_alloc(len + 1, 1);

    if (len > 0)
        memcpy(text, data, len);
    if (cn_tql_parse(&program, text, &err)) {
        check_program(program);
        cn_tql_program_free(program);
    } else {
        assert(err.text[0]);
    }
    free(text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "{}",
        "{ span.http.status_code >= 500 && resource.\"a b\" =~ `x.*` || !(.c = nil) }",
        "{ name = \"a\\n\" } >> ({ status = error } &~ { -duration < -1h30m }) | "
        "by(kind)",
        "{ 1 + 2 * .a ^ 3 % 2 > 4.5e3 } | count() > 3 | coalesce() | select(event:name)",
        "({} | rate() by (name, .x) | topk(3) > 1) / 2 + ({} | count_over_time())",
        "{ trace:id = \"00af\" } | quantile_over_time(duration, 0.5, .99) "
        "with(exemplars=5)",
        "({ kind = server } | max(duration)) >= ({} | avg(parent.x))",
        "{} | compare({ link:spanID != \"\" }, 5, 1, 2) // a comment",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
