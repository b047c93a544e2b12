/* Write a database of threads that wake each other, as `cairn analyze` makes of samples with switches: pairs of
 * threads that pass work to each other, in many functions. Prints how many wake-ups it has. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/memory.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"
#include "open/formats.h"

enum {
    THREADS = 16, /* in pairs */
    FUNCTIONS = 200,
    ROUND_NS = 20000, /* from one wake-up of a pair to the next */
    READY_NS = 1500,  /* from its wake-up until a thread runs */
};

struct made {
    struct cn_memory_database *memory;
    uint32_t works[FUNCTIONS], waits[FUNCTIONS]; /* contexts */
    uint32_t profiles[THREADS];
};

static uint32_t add_context(struct made *m, uint32_t parent, const char *name)
{
    uint32_t function = cn_memory_database_add_function(
        m->memory,
        (struct cn_function){.name = name, .module = CN_NONE, .file = CN_NONE});

    return cn_memory_database_add_context(m->memory, parent,
                                          (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                              .relation = CN_CALL,
                                                              .has_function = true,
                                                              .function = function});
}

static void begin(struct made *m)
{
    char name[32];

    m->memory = cn_memory_database_new("wake-ups", "");
    cn_memory_database_add_usual_scopes(m->memory);
    (void)cn_memory_database_add_usual_metric(m->memory, "time (sec)");
    uint8_t process = cn_memory_database_add_kind(m->memory, "PROCESS");
    uint8_t thread = cn_memory_database_add_kind(m->memory, "THREAD");
    uint32_t main = add_context(m, 0, "main");
    for (int i = 0; i < FUNCTIONS; i++) {
        (void)snprintf(name, sizeof(name), "work_%d", i);
        m->works[i] = add_context(m, main, name);
        (void)snprintf(name, sizeof(name), "take_%d", i);
        m->waits[i] = add_context(m, add_context(m, main, name), "futex_wait_queue");
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        struct cn_identity_tuple identity = {
            .count = 2,
            .ids = {{.kind = process, .physical = 1},
                    {.kind = thread, .logical = i, .physical = 100 + i}}};

        m->profiles[i] = cn_memory_database_add_profile(m->memory, identity);
        (void)snprintf(name, sizeof(name), "%s %u", i % 2 == 0 ? "asks" : "answers",
                       i / 2);
        cn_memory_database_name_profile(m->memory, m->profiles[i], name);
    }
}

/* A thread waits in every other round, woken by its partner, that then waits. */
static void add_thread(struct made *m, uint32_t at, uint64_t rounds)
{
    uint32_t profile = m->profiles[at], partner = m->profiles[at ^ 1];
    uint64_t first_ns = UINT64_C(1000000000) + at / 2 * UINT64_C(777);
    struct cn_thread_states states = {0};
    struct cn_thread_runs runs = {0};

    for (uint64_t i = at % 2; i < rounds; i += 2) {
        uint64_t begin_ns = first_ns + i * ROUND_NS, end_ns = begin_ns + ROUND_NS;
        uint32_t work = m->works[i * 7 % FUNCTIONS], wait = m->waits[i * 11 % FUNCTIONS];

        cn_thread_states_add(&states, begin_ns + READY_NS, CN_TASK_RUNNING, 0);
        cn_thread_states_add(&states, end_ns + 1, CN_TASK_BLOCKED, wait);
        cn_thread_runs_add(&runs, begin_ns + READY_NS, end_ns + 1, at / 2);
        cn_memory_database_add_wakeup(m->memory,
                                      (struct cn_wakeup){.time_ns = end_ns,
                                                         .from = profile,
                                                         .to = partner,
                                                         .context = work,
                                                         .source = CN_WOKEN_BY_THREAD});
        if (i % 50 == at % 2)
            cn_memory_database_add_sample(m->memory, profile,
                                          (struct cn_sample){begin_ns + READY_NS, work});
    }
    cn_memory_database_add_value(m->memory, profile, m->works[at], 0, 1);
    cn_thread_states_add(&states, first_ns + (rounds + 1) * ROUND_NS, CN_TASK_UNKNOWN, 0);
    cn_memory_database_take_states(m->memory, profile, &states);
    cn_memory_database_take_runs(m->memory, profile, &runs);
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct cn_write_options options = {0};
    struct made m;
    struct cn_error err = {0};

    if (count < THREADS) {
        (void)fprintf(stderr, "usage: gen_wakeups DIR COUNT\n");
        return 2;
    }
    begin(&m);
    for (uint32_t i = 0; i < THREADS; i++)
        add_thread(&m, i, count / (THREADS / 2));
    if (!cn_memory_database_propagate(m.memory, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    struct cn_database *db = cn_memory_database_finish(m.memory);
    bool ok = cn_hpc_v4_write(db, argv[1], &options, &err);
    if (ok)
        printf("%zu wake-ups\n", db->wakeups.count);
    else
        (void)fprintf(stderr, "%s\n", err.text);
    cn_database_close(db);
    return ok ? 0 : 1;
}
