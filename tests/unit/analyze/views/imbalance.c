/* An imbalance is found among those that do the same, if it matters. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/context_index.h"
#include "analyze/views/imbalance.h"
#include "analyze/waits.h"
#include "base/text.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"
#include "model/labels/context.h"

enum { THREAD_MAX = 4 };

struct worker {
    uint32_t rank, process, thread; /* rank 0: none */
    const char *function;
    double running, blocked;
};

struct situation {
    bool has_waits, is_found, is_by_rank;
    uint64_t most;
    size_t count;
    struct worker workers[THREAD_MAX];
};

static uint32_t call(struct cn_import *import, uint32_t parent, const char *name)
{
    return cn_import_call(
        import, parent,
        cn_import_frame(import, &(struct cn_import_frame){
                                    .name = name, .module = "/bin/prog", .file = ""}));
}

static void add(struct cn_import *import, uint32_t thread, uint32_t context,
                const char *metric, double seconds)
{
    struct cn_error err;
    uint32_t id;

    assert_true(cn_import_metric(import, metric, &id, &err));
    if (seconds > 0)
        assert_true(cn_import_add(import, thread, context, id, seconds, &err));
}

static void add_worker(struct cn_import *import, const struct situation *situation,
                       const struct worker *worker)
{
    struct cn_import_identity identity = {.name = ""};
    uint32_t context = call(import, call(import, 0, "start"), worker->function), thread;
    struct cn_error err;
    size_t count = 0;

    if (worker->rank > 0) {
        identity.kinds[count] = "RANK";
        identity.numbers[count++] = worker->rank;
    }
    identity.kinds[count] = "PROCESS";
    identity.numbers[count++] = worker->process;
    identity.kinds[count] = "THREAD";
    identity.numbers[count] = worker->thread;
    assert_true(cn_import_thread(import, &identity, &thread, &err));
    if (situation->has_waits) {
        add(import, thread, context, CN_TIME_NAME, worker->running + worker->blocked);
        add(import, thread, context, CN_BLOCKED_TIME_NAME, worker->blocked);
    }
    add(import, thread, context, CN_CPU_TIME_NAME, worker->running);
}

/* The hot path is start > work. */
static uint32_t find_context(struct cn_database *db, const char *name)
{
    struct cn_context_index index = {0};
    struct cn_error err;
    uint32_t found = CN_NONE;

    assert_true(cn_context_index_build(&index, db, &err));
    for (uint32_t i = 0; i < index.count && found == CN_NONE; i++) {
        struct cn_context context;
        struct cn_text label = {0};

        assert_true(cn_context_at(db, index.nodes[i].at, &context, &err));
        assert_true(cn_label_context(db, &context, &label, &err));
        if (strcmp(cn_text_str(&label), name) == 0)
            found = context.id;
        cn_text_done(&label);
    }
    cn_context_index_done(&index);
    assert_int_not_equal(found, CN_NONE);
    return found;
}

static void check(const struct situation *situation)
{
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_imbalance found;
    struct cn_database *db;
    struct cn_error err = {0};
    uint32_t path[2];

    for (size_t i = 0; i < THREAD_MAX && situation->workers[i].function; i++)
        add_worker(import, situation, &situation->workers[i]);
    assert_true(cn_import_finish(import, &db, &err));
    path[0] = find_context(db, "start");
    path[1] = find_context(db, "work");
    assert_true(cn_imbalance_find(&found, db, CN_CPU_TIME_NAME, path, 2, &err));
    assert_int_equal(found.is_found, situation->is_found);
    if (found.is_found) {
        assert_int_equal(found.is_by_rank, situation->is_by_rank);
        assert_int_equal(found.most, situation->most);
        assert_int_equal(found.count, situation->count);
        assert_int_equal(found.context, path[1]);
        assert_true(fabs(found.max - 10) < 1e-9);
    }
    cn_database_close(db);
}

static void compares_those_that_do_the_same(void **state)
{
    static const struct situation situations[] = {
        /* Threads of one process, nothing known about waiting. */
        {.is_found = true,
         .most = 1,
         .count = 3,
         .workers = {{0, 7, 1, "work", 10, 0},
                     {0, 7, 2, "work", 4, 0},
                     {0, 7, 3, "work", 4, 0},
                     {0, 7, 4, "help", 1, 0}}},
        /* Processes that do the same, but are not ranks. */
        {.workers = {{0, 7, 1, "work", 10, 0},
                     {0, 8, 2, "work", 4, 0},
                     {0, 9, 3, "work", 4, 0}}},
        /* Ranks, which have processes of their own. */
        {.is_found = true,
         .is_by_rank = true,
         .most = 2,
         .count = 2,
         .workers = {{1, 7, 1, "work", 4, 0},
                     {2, 8, 2, "work", 6, 0},
                     {2, 8, 3, "work", 4, 0}}},
        /* Helper threads. */
        {.workers = {{0, 7, 1, "work", 10, 0},
                     {0, 7, 2, "help", 1, 0},
                     {0, 7, 3, "help", 1, 0}}},
        /* Nearly equal. */
        {.workers = {{0, 7, 1, "work", 10, 0}, {0, 7, 2, "work", 9, 0}}},
        /* The others wait for the one that is slower. */
        {.has_waits = true,
         .is_found = true,
         .most = 1,
         .count = 3,
         .workers = {{0, 7, 1, "work", 10, 0},
                     {0, 7, 2, "work", 4, 5},
                     {0, 7, 3, "work", 5, 5}}},
        /* They do not wait. */
        {.has_waits = true,
         .workers = {{0, 7, 1, "work", 10, 3},
                     {0, 7, 2, "work", 4, 0},
                     {0, 7, 3, "work", 5, 0.5}}},
        {.workers = {{0, 7, 1, "work", 10, 0}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(situations) / sizeof(*situations); i++)
        check(&situations[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_those_that_do_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
