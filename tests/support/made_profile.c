#include "support/made_profile.h"

#include <assert.h>
#include <stdlib.h>

#include "model/contexts/memory.h"

enum { TIME_POINT = 0, CALLS_POINT = 4 };

struct cn_database *cn_made_profile(const struct cn_made_call *calls, const char *metric)
{
    struct cn_memory_database *m = cn_memory_database_new("made", "");
    uint32_t path[CN_MADE_DEPTH_MAX + 1];
    struct cn_error err = {0};
    bool has_calls = false;

    for (const struct cn_made_call *c = calls; c->name; c++)
        has_calls |= c->calls > 0;
    (void)cn_memory_database_add_kind(m, "SUMMARY");
    (void)cn_memory_database_add_kind(m, "THREAD");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, metric);
    if (has_calls)
        (void)cn_memory_database_add_usual_metric(m, "calls");
    (void)cn_memory_database_add_profile(
        m, (struct cn_identity_tuple){.count = 1, .ids = {{1, false, 0, 0}}});
    path[0] = cn_memory_database_add_context(
        m, 0, (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"});
    for (const struct cn_made_call *c = calls; c->name; c++) {
        uint32_t function = cn_memory_database_add_function(
            m, (struct cn_function){c->name, CN_NONE, 0, CN_NONE, 0});
        uint32_t loop;

        assert(c->depth < CN_MADE_DEPTH_MAX);
        path[c->depth + 1] = cn_memory_database_add_context(
            m, path[c->depth],
            (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                .relation = CN_CALL,
                                .has_function = true,
                                .function = function});
        loop = cn_memory_database_add_context(m, path[c->depth + 1],
                                              (struct cn_context){.kind = CN_CONTEXT_LOOP,
                                                                  .relation = CN_LEXICAL,
                                                                  .propagation = 1,
                                                                  .file = CN_NONE});
        cn_memory_database_add_value(m, 1, path[c->depth + 1], TIME_POINT, c->self / 2);
        cn_memory_database_add_value(m, 1, loop, TIME_POINT, c->self / 2);
        if (has_calls)
            cn_memory_database_add_value(m, 1, path[c->depth + 1], CALLS_POINT, c->calls);
    }
    if (!cn_memory_database_propagate(m, &err))
        abort();
    return cn_memory_database_finish(m);
}
