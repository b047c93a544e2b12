/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/ranks.h"
#include "base/run/progress.h"
#include "model/contexts/memory.h"
#include "model/contexts/transpose.h"
#include "support/rank_group.h"

enum { THREADS = 37, CONTEXTS = 1200, METRICS = 5, WORKERS_MAX = 5, RANKS_MAX = 4 };

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 27;
}

/* About a third of all values are there, some of them zero; context 0 and a few ids have
 * none, one context has them all. Profile 0 is a summary and must not show up. */
static struct cn_database *make_database(void)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");

    for (uint32_t p = 1; p <= THREADS; p++)
        (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    for (uint32_t p = 0; p <= THREADS; p++)
        for (uint32_t c = 1; c < CONTEXTS; c++)
            for (uint16_t k = 0; k < METRICS; k++) {
                uint64_t dice = scramble(((uint64_t)p << 40) + (c << 8) + k);

                if (c % 100 != 99 && (c == 500 || dice % 3 == 0))
                    cn_memory_database_add_value(m, p, c, (uint16_t)(k * 7),
                                                 (double)(dice % 50));
            }
    return cn_memory_database_finish(m);
}

/* All values in the order in which `take` saw them. */
struct collected {
    struct cn_value *values;
    uint32_t *contexts;
    size_t count, value_capacity, context_capacity;
};

struct collector {
    struct collected own[WORKERS_MAX], all;
    uint32_t next_context; /* ranges arrive in order and without gaps */
    size_t range_count, finish_count[WORKERS_MAX];
    uint32_t fail_at;   /* context, or 0 */
    const char *folder; /* for nameless files, or NULL */
};

static void append(struct collected *to, uint32_t context, struct cn_value value)
{
    to->values = cn_grow(to->values, to->count, &to->value_capacity, sizeof(*to->values));
    to->contexts =
        cn_grow(to->contexts, to->count, &to->context_capacity, sizeof(*to->contexts));
    to->values[to->count] = value;
    to->contexts[to->count++] = context;
}

static bool begin(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err)
{
    struct collector *c = arg;

    (void)range;
    (void)err;
    c->own[worker].count = 0;
    return true;
}

static bool context(void *arg, unsigned worker, uint32_t id, struct cn_value_batch plane,
                    struct cn_error *err)
{
    struct collector *c = arg;

    if (c->fail_at != 0 && id >= c->fail_at)
        return cn_fail(err, CN_ERR_IO, "context %u fails", id);
    for (size_t i = 0; i < plane.count; i++)
        append(&c->own[worker], id, plane.values[i]);
    return true;
}

static bool take(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err)
{
    struct collector *c = arg;
    struct collected *own = &c->own[worker];

    if (range->first != c->next_context || own->count != range->value_count)
        return cn_fail(err, CN_ERR_FORMAT, "range %u does not follow %u", range->first,
                       c->next_context);
    c->next_context = range->last + 1;
    c->range_count++;
    for (size_t i = 0; i < own->count; i++)
        append(&c->all, own->contexts[i], own->values[i]);
    return true;
}

static bool finish(void *arg, unsigned worker, const struct cn_context_range *range,
                   struct cn_error *err)
{
    (void)range;
    (void)err;
    ((struct collector *)arg)->finish_count[worker]++;
    return true;
}

static bool run(struct cn_database *db, unsigned workers, size_t memory_len,
                const struct cn_progress *progress, struct collector *c,
                struct cn_error *err)
{
    struct cn_transpose_options options = {
        .workers = workers,
        .memory_len = memory_len,
        .what = "sorting",
        .folder = c->folder,
        .progress = progress,
    };
    struct cn_transpose_sink sink = {
        .arg = c, .begin = begin, .context = context, .take = take, .finish = finish};

    return cn_transpose_run(db, &options, &sink, err);
}

static void release(struct collector *c)
{
    for (size_t i = 0; i < WORKERS_MAX; i++) {
        free(c->own[i].values);
        free(c->own[i].contexts);
    }
    free(c->all.values);
    free(c->all.contexts);
}

/* What was collected is what the planes of contexts hold. */
static void check(struct cn_database *db, const struct collector *c)
{
    struct cn_error err = {0};
    size_t at = 0;

    for (uint32_t id = 0; id < db->context_limit; id++) {
        struct cn_value_cursor cursor;
        struct cn_value_batch batch;

        assert_true(cn_context_values(db, id, &cursor, &err));
        while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++) {
                if (batch.values[i].value == 0)
                    continue;
                assert_true(at < c->all.count);
                assert_int_equal(c->all.contexts[at], id);
                assert_int_equal(c->all.values[at].key, batch.values[i].key);
                assert_int_equal(c->all.values[at].metric, batch.values[i].metric);
                assert_float_equal(c->all.values[at].value, batch.values[i].value, 0);
                at++;
            }
    }
    assert_int_equal(at, c->all.count);
    assert_int_equal(c->next_context, db->context_limit);
}

static void check_run(struct cn_database *db, unsigned workers, size_t memory_len,
                      const char *folder)
{
    struct collector c = {.folder = folder};
    struct cn_error err = {0};
    size_t finished = 0;

    assert_true(run(db, workers, memory_len, NULL, &c, &err));
    check(db, &c);
    for (size_t w = 0; w < WORKERS_MAX; w++)
        finished += c.finish_count[w];
    assert_int_equal(finished, c.range_count);
    if (memory_len == 1)
        assert_int_equal(c.range_count, db->context_limit);
    /* Memory needs one range; several workers must have work. */
    if (memory_len == 0 && workers == 1)
        assert_int_equal(c.range_count, 1);
    else if (memory_len == 0)
        assert_true(c.range_count >= workers);
    release(&c);
}

static void gives_the_planes_of_contexts(void **state)
{
    static const unsigned workers[] = {1, 2, 5};
    static const size_t memory_lens[] = {0, 1, 4096, 100000};
    struct cn_database *db = make_database();

    (void)state;
    for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
        for (size_t k = 0; k < sizeof(memory_lens) / sizeof(*memory_lens); k++) {
            check_run(db, workers[i], memory_lens[k], NULL);
            check_run(db, workers[i], memory_lens[k], ".");
        }
    cn_database_close(db);
}

/* A sink that gets values with their indices. */
struct placed {
    const struct cn_cells *cells;
    size_t *starts; /* of planes, by context */
    struct cn_value *values;
    uint32_t *contexts;
    size_t count;
    _Atomic size_t put_count;
};

/* Several processes, threads here, that transpose together: each has some of the threads, and
 * writes the values of its ranges where they belong. */
struct team {
    struct cn_value *values; /* of all ranges */
    uint32_t *contexts;
    size_t memory_len;
    const char *folder;
    uint32_t fail_at; /* context, or 0 */
    bool ok[RANKS_MAX];
    struct cn_error errs[RANKS_MAX];
};

struct member {
    struct team *team;
    struct cn_ranks *ranks;
    struct cn_ranks_turns turns;
    const struct cn_transpose_rank *rank;
    struct collected own[WORKERS_MAX];
    uint64_t offs[WORKERS_MAX];
};

static bool add_counts(void *arg, bool ok, uint32_t *counts, size_t count,
                       struct cn_error *err)
{
    return cn_ranks_add_counts(((struct member *)arg)->ranks, ok, counts, count, err);
}

static bool open_spool(void *arg, struct cn_spool *spool, struct cn_error *err)
{
    return cn_ranks_spool_open(((struct member *)arg)->ranks, spool, ".", 2, err);
}

static bool share(void *arg, bool ok, const struct cn_text *message,
                  cn_wire_take on_message, void *take_arg, struct cn_error *err)
{
    struct cn_ranks *ranks = ((struct member *)arg)->ranks;

    return cn_ranks_agree(ranks, ok, err) &&
           cn_ranks_share(ranks, message, on_message, take_arg, err);
}

static bool reserve(void *arg, bool is_last, bool ok, uint64_t len, uint64_t *off,
                    struct cn_error *err)
{
    return cn_ranks_turns_reserve(&((struct member *)arg)->turns, is_last, ok, len, off,
                                  err);
}

static bool member_begin(void *arg, unsigned worker, const struct cn_context_range *range,
                         struct cn_error *err)
{
    (void)range;
    (void)err;
    ((struct member *)arg)->own[worker].count = 0;
    return true;
}

static bool member_context(void *arg, unsigned worker, uint32_t id,
                           struct cn_value_batch plane, struct cn_error *err)
{
    struct member *member = arg;

    if (member->team->fail_at != 0 && id == member->team->fail_at)
        return cn_fail(err, CN_ERR_IO, "context %u fails", id);
    for (size_t i = 0; i < plane.count; i++)
        append(&member->own[worker], id, plane.values[i]);
    return true;
}

static bool member_take(void *arg, unsigned worker, const struct cn_context_range *range,
                        struct cn_error *err)
{
    struct member *member = arg;

    return member->rank->reserve(member->rank->arg, range->last + 1 == CONTEXTS, true,
                                 member->own[worker].count, &member->offs[worker], err);
}

static bool member_finish(void *arg, unsigned worker,
                          const struct cn_context_range *range, struct cn_error *err)
{
    struct member *member = arg;
    const struct collected *own = &member->own[worker];
    struct cn_value *values = member->team->values + member->offs[worker];

    (void)range;
    (void)err;
    for (size_t i = 0; i < own->count; i++) {
        values[i] = own->values[i];
        member->team->contexts[member->offs[worker] + i] = own->contexts[i];
    }
    return true;
}

static void transpose_part(struct cn_ranks *ranks, void *arg)
{
    struct member member = {.team = arg, .ranks = ranks, .turns = {.ranks = ranks}};
    struct cn_transpose_rank rank = {.number = ranks->rank,
                                     .count = ranks->size,
                                     .workers = 2,
                                     .arg = &member,
                                     .add_counts = add_counts,
                                     .open_spool = open_spool,
                                     .share = share,
                                     .reserve = reserve};
    struct cn_transpose_options options = {.workers = 2,
                                           .rank = &rank,
                                           .memory_len = member.team->memory_len,
                                           .what = "sorting",
                                           .folder = member.team->folder};
    struct cn_transpose_sink sink = {.arg = &member,
                                     .begin = member_begin,
                                     .context = member_context,
                                     .take = member_take,
                                     .finish = member_finish};
    struct cn_database *db = make_database();
    struct cn_error *err = &member.team->errs[ranks->rank];

    member.rank = &rank;
    db->own_first = ranks->rank == 0 ? 0 : 1 + THREADS * ranks->rank / ranks->size;
    db->own_end = 1 + THREADS * (ranks->rank + 1) / ranks->size;
    member.team->ok[ranks->rank] = cn_transpose_run(db, &options, &sink, err);
    cn_database_close(db);
    for (size_t i = 0; i < WORKERS_MAX; i++) {
        free(member.own[i].values);
        free(member.own[i].contexts);
    }
}

static void check_team(const struct collected *all, unsigned size, size_t memory_len,
                       const char *folder, uint32_t fail_at)
{
    struct team team = {
        .values = cn_alloc(all->count, sizeof(*team.values)),
        .contexts = cn_alloc(all->count, sizeof(*team.contexts)),
        .memory_len = memory_len,
        .folder = folder,
        .fail_at = fail_at,
    };
    unsigned failed_count = 0;

    cn_rank_group_run(size, transpose_part, &team);
    for (unsigned i = 0; i < size; i++) {
        failed_count += !team.ok[i];
        assert_true(fail_at != 0 || team.ok[i]);
        /* A process that stops because another has failed has no message of its own. */
        assert_true(team.errs[i].kind == CN_ERR_NONE ||
                    strcmp(team.errs[i].text, "context 500 fails") == 0);
    }
    assert_true(fail_at == 0 || failed_count >= 1);
    for (size_t i = 0; fail_at == 0 && i < all->count; i++) {
        assert_int_equal(team.contexts[i], all->contexts[i]);
        assert_int_equal(team.values[i].key, all->values[i].key);
        assert_int_equal(team.values[i].metric, all->values[i].metric);
        assert_float_equal(team.values[i].value, all->values[i].value, 0);
    }
    free(team.values);
    free(team.contexts);
}

static void processes_do_parts_of_it(void **state)
{
    struct cn_database *db = make_database();
    struct collector c = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(run(db, 1, 0, NULL, &c, &err));
    for (unsigned size = 1; size <= RANKS_MAX; size++) {
        check_team(&c.all, size, 0, NULL, 0);
        check_team(&c.all, size, 4096, NULL, 0);
        check_team(&c.all, size, 4096, ".", 0);
        check_team(&c.all, size, 4096, ".", 500);
    }
    release(&c);
    cn_database_close(db);
}

static const struct cn_cells *known_cells;

static const struct cn_cells *get_cells(const struct cn_database *db)
{
    (void)db;
    return known_cells;
}

static bool lay_out(void *arg, const struct cn_cells *cells, struct cn_error *err)
{
    struct placed *p = arg;

    (void)err;
    p->cells = cells;
    p->starts = cn_alloc(CONTEXTS + 1, sizeof(*p->starts));
    for (size_t i = 0; i < cells->count; i++)
        p->starts[cells->list[i].context + 1] += cells->list[i].count;
    for (size_t i = 0; i < CONTEXTS; i++)
        p->starts[i + 1] += p->starts[i];
    p->count = p->starts[CONTEXTS];
    p->values = cn_alloc(p->count, sizeof(*p->values));
    p->contexts = cn_alloc(p->count, sizeof(*p->contexts));
    return true;
}

static void put(void *arg, unsigned worker, const struct cn_placed_value *values,
                size_t count)
{
    struct placed *p = arg;

    (void)worker;
    for (size_t i = 0; i < count; i++) {
        size_t at = p->starts[values[i].context] + values[i].index;

        assert_true(at < p->starts[values[i].context + 1]);
        p->values[at] = (struct cn_value){values[i].value, values[i].profile, 0};
        p->contexts[at] = values[i].context;
    }
    p->put_count += count;
}

static bool run_placed(struct cn_database *db, unsigned workers, size_t memory_len,
                       const char *folder, struct placed *p, struct cn_error *err)
{
    struct cn_transpose_options options = {.workers = workers,
                                           .memory_len = memory_len,
                                           .what = "sorting",
                                           .folder = folder};
    struct cn_transpose_sink sink = {.arg = p, .layout = lay_out, .put = put};
    bool ok = cn_transpose_run(db, &options, &sink, err);

    free(p->starts);
    return ok;
}

/* The cells of what was collected. */
static struct cn_cells count_cells(const struct collected *all)
{
    struct cn_cells cells = {cn_alloc(all->count, sizeof(*cells.list)), 0};

    for (size_t i = 0; i < all->count; i++) {
        struct cn_cell *last = &cells.list[cells.count];

        if (i == 0 || last[-1].context != all->contexts[i] ||
            last[-1].metric != all->values[i].metric)
            cells.list[cells.count++] =
                (struct cn_cell){all->contexts[i], 0, all->values[i].metric};
        cells.list[cells.count - 1].count++;
    }
    return cells;
}

static void check_placed(struct cn_database *db, const struct collected *all,
                         unsigned workers, size_t memory_len, const char *folder)
{
    struct placed p = {0};
    struct cn_error err = {0};

    assert_true(run_placed(db, workers, memory_len, folder, &p, &err));
    assert_int_equal(p.put_count, all->count);
    assert_int_equal(p.count, all->count);
    assert_memory_equal(p.contexts, all->contexts, p.count * sizeof(*p.contexts));
    for (size_t i = 0; i < p.count; i++) {
        assert_int_equal(p.values[i].key, all->values[i].key);
        assert_float_equal(p.values[i].value, all->values[i].value, 0);
    }
    free(p.values);
    free(p.contexts);
}

static void puts_values_in_the_planes_that_cells_give(void **state)
{
    struct cn_database *db = make_database();
    const struct cn_database_ops *ops = db->ops;
    struct cn_database_ops with_cells = *ops;
    struct collector c = {0};
    struct cn_cells cells;
    struct cn_error err = {0};
    struct placed p = {0};

    (void)state;
    assert_true(run(db, 1, 0, NULL, &c, &err));
    cells = count_cells(&c.all);
    known_cells = &cells;
    with_cells.cells = get_cells;
    db->ops = &with_cells;
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers += 2) {
        check_placed(db, &c.all, workers, 0, NULL);
        check_placed(db, &c.all, workers, 4096, NULL);
        check_placed(db, &c.all, workers, 4096, ".");
    }
    /* Cells that are not those of the values. */
    cells.list[7].count++;
    assert_false(run_placed(db, 2, 4096, ".", &p, &err));
    assert_string_equal(err.text, "changed while it was being read");
    free(p.values);
    free(p.contexts);
    cells.list[cells.count - 1].context = CONTEXTS;
    p = (struct placed){0};
    assert_false(run_placed(db, 2, 4096, ".", &p, &err));
    assert_string_equal(err.text, "value for context 1200, but ids end at 1199");
    db->ops = ops;
    free(cells.list);
    release(&c);
    cn_database_close(db);
}

static void a_folder_for_nameless_files_must_exist(void **state)
{
    struct cn_database *db = make_database();
    struct collector c = {.folder = "no such folder"};
    struct cn_error err = {0};

    (void)state;
    assert_false(run(db, 2, 1, NULL, &c, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    release(&c);
    cn_database_close(db);
}

static void an_empty_database_has_no_values(void **state)
{
    struct cn_database *db = cn_memory_database_finish(cn_memory_database_new("t", "d"));
    struct collector c = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(run(db, 2, 0, NULL, &c, &err));
    assert_int_equal(c.all.count, 0);
    assert_int_equal(c.next_context, db->context_limit);
    release(&c);
    cn_database_close(db);
}

static void refuses_two_values_for_one_place(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    struct collector c = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(m, 1, 3, 2, 1.5);
    cn_memory_database_add_value(m, 1, 3, 2, 2.5);
    db = cn_memory_database_finish(m);
    assert_false(run(db, 2, 0, NULL, &c, &err));
    assert_string_equal(err.text, "profile 1: context 3 has two values for metric 2");
    release(&c);
    cn_database_close(db);
}

static void refuses_values_beyond_the_largest_id(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    struct collector c = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(m, 1, 30, 0, 1);
    db = cn_memory_database_finish(m);
    db->context_limit = 30;
    assert_false(run(db, 1, 0, NULL, &c, &err));
    assert_string_equal(err.text, "profile 1: value for context 30, but ids end at 30");
    release(&c);
    cn_database_close(db);
}

static void refuses_absurd_ids(void **state)
{
    struct cn_database *db = make_database();
    uint32_t limit = db->context_limit;
    struct collector c = {0};
    struct cn_error err = {0};

    (void)state;
    db->context_limit = UINT32_MAX;
    assert_false(run(db, 1, 0, NULL, &c, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    db->context_limit = limit;
    release(&c);
    cn_database_close(db);
}

static void reports_the_earliest_failure(void **state)
{
    struct cn_database *db = make_database();

    (void)state;
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
        struct collector c = {.fail_at = 700};
        struct cn_error err = {0};

        assert_false(run(db, workers, 1, NULL, &c, &err));
        assert_string_equal(err.text, "context 700 fails");
        assert_int_equal(c.next_context, 700);
        release(&c);
    }
    cn_database_close(db);
}

static bool stop_soon(void *arg, const char *what, uint64_t done, uint64_t total,
                      const char *unit)
{
    (void)arg;
    (void)total;
    (void)unit;
    return strcmp(what, "sorting") != 0 || done < 1000;
}

static void stops_when_asked(void **state)
{
    struct cn_progress progress = {.report = stop_soon};
    struct cn_database *db = make_database();
    struct collector c = {0};
    struct cn_error err = {0};

    (void)state;
    assert_false(run(db, 2, 4096, &progress, &c, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_true(c.next_context < db->context_limit);
    release(&c);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_planes_of_contexts),
        cmocka_unit_test(processes_do_parts_of_it),
        cmocka_unit_test(puts_values_in_the_planes_that_cells_give),
        cmocka_unit_test(a_folder_for_nameless_files_must_exist),
        cmocka_unit_test(an_empty_database_has_no_values),
        cmocka_unit_test(refuses_two_values_for_one_place),
        cmocka_unit_test(refuses_values_beyond_the_largest_id),
        cmocka_unit_test(refuses_absurd_ids),
        cmocka_unit_test(reports_the_earliest_failure),
        cmocka_unit_test(stops_when_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
