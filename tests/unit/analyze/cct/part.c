/* A task read in parts is the task read as a whole: on real recordings, cut at any
 * record. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cct/part.h"
#include "analyze/cct/replay.h"
#include "base/alloc.h"
#include "base/text.h"
#include "open/open.h"
#include "support/data.h"
#include "support/effort.h"
#include "support/listing.h"
#include "support/same_views.h"

/* Samples of a timeline that are kept. */
enum { FEW = 11 };

struct subject {
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    struct cn_cct_task_options options;
};

/* A recording, or what a filter shows of it. */
static void open_subject(struct subject *s, const char *name, const char *only)
{
    struct cn_text data = {0};
    struct cn_error err;
    char *path;

    *s = (struct subject){0};
    cn_text_printf(&data, "uftrace/%s", name);
    path = cn_test_data(data.chars);
    assert_true(cn_open_recording(path, NULL, &s->rec, &err));
    cn_text_done(&data);
    free(path);
    cn_call_filter_init(&s->filter, s->rec);
    s->filter.depth = UINT32_MAX;
    assert_true(!only || cn_call_filter_add(&s->filter, CN_FILTER_ONLY, only,
                                            CN_MATCH_REGEX, &err));
    cn_call_filter_ready(&s->filter);
    s->query =
        (struct cn_call_query){s->rec, &s->filter, cn_time_always, NULL, 0, false, NULL};
    s->options = (struct cn_cct_task_options){
        .query = &s->query, .resolution_ns = 1, .sample_max = FEW};
}

static void close_subject(struct subject *s)
{
    cn_call_filter_done(&s->filter);
    cn_recording_close(s->rec);
}

/* Where the records of a task begin, and when. */
struct cuts {
    uint64_t *offs, *times_ns;
    size_t count, capacity, time_capacity;
    uint64_t end_off;
};

static void find_cuts(struct cuts *cuts, const struct cn_recording *rec, uint32_t task)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err;
    uint32_t source = 0;

    *cuts = (struct cuts){0};
    while (rec->sources[source].task != task)
        source++;
    assert_true(cn_recording_source_open(rec, source, &stream, &err));
    while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            cuts->offs =
                cn_grow(cuts->offs, cuts->count, &cuts->capacity, sizeof(uint64_t));
            cuts->times_ns = cn_grow(cuts->times_ns, cuts->count, &cuts->time_capacity,
                                     sizeof(uint64_t));
            cuts->times_ns[cuts->count] = batch.calls[i].time_ns;
            cuts->offs[cuts->count++] = cuts->end_off;
            cuts->end_off += batch.raw[i].len;
        }
    cn_call_stream_close(stream);
    cuts->end_off = rec->tasks[task].data_len;
}

static void cuts_done(struct cuts *cuts)
{
    free(cuts->offs);
    free(cuts->times_ns);
}

/* Pieces that begin at the records `at`, and at the first. */
static size_t make_parts(const struct cuts *cuts, const size_t *at, size_t count,
                         struct cn_call_part *out)
{
    for (size_t i = 0; i <= count; i++)
        out[i] = (struct cn_call_part){
            .begin_ns = i == 0 ? 0 : cuts->times_ns[at[i - 1]],
            .begin_off = i == 0 ? 0 : cuts->offs[at[i - 1]],
            .end_ns = i == count ? UINT64_MAX : cuts->times_ns[at[i]],
            .end_off = i == count ? cuts->end_off : cuts->offs[at[i]],
        };
    return count + 1;
}

/* Returns how many parts were guessed wrong. */
static size_t count_in_parts(struct cn_cct_task *task,
                             const struct cn_cct_task_options *options,
                             const struct cn_call_part *parts, size_t count)
{
    struct cn_cct_shared_costs shared;
    struct cn_error err;
    size_t wrong = 0;

    cn_cct_task_init(task, options);
    cn_cct_shared_costs_init(&shared);
    for (size_t i = 0; i < count; i++) {
        cn_cct_id *nodes;
        struct cn_call_span all = {&parts[i], 0, UINT64_MAX}, before = all, rest = all;
        struct cn_cct_task part;

        cn_cct_task_mark(task, &parts[i]);
        if (i == 0) {
            assert_true(cn_cct_task_count(task, &all, NULL, false, &err));
            continue;
        }
        cn_cct_part_init(&part, options);
        assert_true(cn_cct_task_count(&part, &all, NULL, false, &err));
        before.end = rest.first = part.guess->left_out;
        assert_true(cn_cct_task_count(task, &before, NULL, false, &err));
        nodes = cn_cct_task_join(task, &part);
        if (nodes) {
            cn_cct_shared_costs_add(&shared, &part, nodes);
        } else {
            assert_true(cn_cct_task_count(task, &rest, NULL, false, &err));
            wrong++;
        }
        cn_cct_task_done(&part);
    }
    cn_cct_shared_costs_end(&shared, task);
    return wrong;
}

static void assert_same_costs(const struct cn_cct_task *a, const struct cn_cct_task *b,
                              cn_cct_id node)
{
    struct cn_cct_cost x = cn_cct_costs_at(&a->costs, node);
    struct cn_cct_cost y = cn_cct_costs_at(&b->costs, node);
    struct cn_cct_buckets p = {0}, q = {0};

    assert_int_equal(x.self_ns, y.self_ns);
    assert_int_equal(cn_cct_costs_calls(&a->costs, node),
                     cn_cct_costs_calls(&b->costs, node));
    assert_int_equal(cn_cct_costs_buckets(&a->costs, node, &p),
                     cn_cct_costs_buckets(&b->costs, node, &q));
    assert_memory_equal(p.calls, q.calls, sizeof(p.calls));
    if (x.max_ns > 0 || y.max_ns > 0) {
        assert_int_equal(x.min_ns, y.min_ns);
        assert_int_equal(x.max_ns, y.max_ns);
    }
}

static void assert_same_readings(const struct cn_cct_task *a, const struct cn_cct_task *b,
                                 cn_cct_id node)
{
    const uint64_t *x = cn_cct_readings_find(&a->readings, node);
    const uint64_t *y = cn_cct_readings_find(&b->readings, node);

    assert_int_equal(x != NULL, y != NULL);
    if (x && y)
        assert_memory_equal(x, y, CN_COUNTER_COUNT * sizeof(*x));
}

static void assert_same(const struct cn_cct_task *a, const struct cn_cct_task *b)
{
    assert_int_equal(a->record_count, b->record_count);
    assert_int_equal(a->sample_count, b->sample_count);
    assert_int_equal(a->lost_count, b->lost_count);
    assert_int_equal(a->follow.last_ns, b->follow.last_ns);
    assert_int_equal(a->follow.node, b->follow.node);
    assert_int_equal(a->follow.stack.count, b->follow.stack.count);
    assert_int_equal(a->is_damaged, b->is_damaged);
    assert_int_equal(a->tree.count, b->tree.count);
    for (size_t i = 0; i < a->tree.count; i++) {
        assert_int_equal(a->tree.links[i].parent, b->tree.links[i].parent);
        assert_int_equal(a->tree.links[i].key, b->tree.links[i].key);
        assert_same_costs(a, b, (cn_cct_id)i);
        assert_same_readings(a, b, (cn_cct_id)i);
    }
}

static void assert_kept(const struct cn_cct_task *task, const struct cn_thinner *thinned)
{
    const struct cn_thinner *kept = &task->thinner;

    assert_int_equal(kept->resolution_ns, thinned->resolution_ns);
    assert_int_equal(kept->count, thinned->count);
    for (size_t i = 0; i < kept->count; i++) {
        assert_int_equal(kept->list[i].time_ns, thinned->list[i].time_ns);
        assert_int_equal(kept->list[i].context, thinned->list[i].context);
    }
}

/* The timeline of each part is that part of the whole one, and samples that were kept are those
 * of it that few samples have. */
static void assert_same_samples(const struct cn_cct_task *whole,
                                const struct cn_cct_task *parted)
{
    struct cn_thinner thinned = {.resolution_ns = 1, .sample_max = FEW};
    uint64_t kept_count = whole->sample_count - (whole->follow.node != 0);
    struct cn_cct_replay one, other;
    struct cn_error err;

    assert_true(cn_cct_replay_open(&one, whole, &whole->tree, 0, &err));
    for (size_t part = 0; part < parted->part_count; part++) {
        uint64_t end = part + 1 < parted->part_count
                           ? parted->starts[part + 1].first_sample
                           : parted->sample_count;

        assert_true(cn_cct_replay_open(&other, parted, &parted->tree, part, &err));
        while (other.done_count < end) {
            struct cn_sample a, b;

            assert_true(cn_cct_replay_next(&one, &a, 1, &err));
            assert_true(cn_cct_replay_next(&other, &b, 1, &err));
            assert_int_equal(a.time_ns, b.time_ns);
            assert_int_equal(a.context, b.context);
            if (one.done_count <= kept_count)
                cn_thinner_put(&thinned, a);
        }
        cn_cct_replay_close(&other);
    }
    assert_int_equal(one.done_count, whole->sample_count);
    cn_cct_replay_close(&one);
    cn_thinner_end(&thinned);
    assert_kept(whole, &thinned);
    assert_kept(parted, &thinned);
    free(thinned.list);
}

enum { PARTS_MAX = 8 };

/* A task read as a whole: before its end, and after. */
struct whole {
    struct cn_cct_task_options options;
    struct cn_cct_task open, ended;
};

static void whole_init(struct whole *whole, const struct subject *s, uint32_t number)
{
    struct cn_error err;

    whole->options = s->options;
    whole->options.task = number;
    assert_true(cn_cct_task_is_divisible(&whole->options));
    cn_cct_task_init(&whole->open, &whole->options);
    cn_cct_task_init(&whole->ended, &whole->options);
    assert_true(cn_cct_task_count(&whole->open, NULL, NULL, false, &err));
    assert_true(cn_cct_task_count(&whole->ended, NULL, NULL, false, &err));
    cn_cct_task_end(&whole->ended);
    cn_thinner_end(&whole->ended.thinner);
}

static void whole_done(struct whole *whole)
{
    cn_cct_task_done(&whole->open);
    cn_cct_task_done(&whole->ended);
}

/* Cut a task at these records. Returns how many parts were guessed wrong. */
static size_t check_cut(const struct whole *whole, const struct cuts *cuts,
                        const size_t *at, size_t count)
{
    struct cn_call_part parts[PARTS_MAX + 1];
    struct cn_cct_task parted;
    size_t wrong = count_in_parts(&parted, &whole->options, parts,
                                  make_parts(cuts, at, count, parts));

    assert_same(&whole->open, &parted);
    cn_cct_task_end(&parted);
    cn_thinner_end(&parted.thinner);
    assert_same_samples(&whole->ended, &parted);
    cn_cct_task_done(&parted);
    return wrong;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static int compare_sizes(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* Two parts, cut at each of the first records; several, cut anywhere. */
static void check_task(const struct subject *s, uint32_t number, size_t *part_total,
                       size_t *wrong_count)
{
    const size_t first = cn_test_is_thorough() ? 40 : 12;
    const unsigned times = cn_test_is_thorough() ? 10 : 3;
    uint32_t random = number + 1;
    struct whole whole;
    struct cuts cuts;

    whole_init(&whole, s, number);
    find_cuts(&cuts, s->rec, number);
    for (size_t i = 1; i < cuts.count && i < first; i++) {
        *wrong_count += check_cut(&whole, &cuts, &i, 1);
        ++*part_total;
    }
    for (unsigned i = 0; cuts.count > PARTS_MAX && i < times; i++) {
        size_t at[PARTS_MAX];

        for (size_t k = 0; k < PARTS_MAX; k++)
            at[k] = 1 + next_random(&random) % (cuts.count - 1);
        qsort(at, PARTS_MAX, sizeof(*at), compare_sizes);
        *wrong_count += check_cut(&whole, &cuts, at, PARTS_MAX);
        *part_total += PARTS_MAX;
    }
    cuts_done(&cuts);
    whole_done(&whole);
}

/* Functions of the kernel and events from elsewhere are in files of their own, and are not divided. */
static bool is_divisible(const struct subject *s, uint32_t task)
{
    struct cn_cct_task_options options = s->options;

    options.task = task;
    return cn_cct_task_is_divisible(&options);
}

/* With `call_ps` > 0 as if the recorder took that much for a call. */
static void check_recording(const char *name, uint64_t call_ps, size_t *part_total,
                            size_t *wrong_count)
{
    struct subject s;

    open_subject(&s, name, NULL);
    s.rec->call_cost = (struct cn_hook_cost){call_ps, call_ps / 3};
    s.rec->libcall_cost = (struct cn_hook_cost){call_ps * 2, call_ps};
    for (uint32_t i = 0; i < s.rec->task_count; i++)
        if (s.rec->tasks[i].data_len > 0 && is_divisible(&s, i))
            check_task(&s, i, part_total, wrong_count);
    close_subject(&s);
}

/* Parts of about so many bytes that begin at any record. */
static size_t cut_anywhere(const struct cn_recording *rec, uint32_t task,
                           uint64_t part_len, struct cn_call_part **out)
{
    struct cuts cuts;
    size_t *at, count = 0;

    if (rec->tasks[task].data_len == 0)
        return 0;
    find_cuts(&cuts, rec, task);
    at = cn_alloc(cuts.count, sizeof(*at));
    for (size_t i = 1; i < cuts.count; i++)
        if (cuts.offs[i] - (count > 0 ? cuts.offs[at[count - 1]] : 0) >= part_len)
            at[count++] = i;
    *out = cn_alloc(count + 1, sizeof(**out));
    (void)make_parts(&cuts, at, count, *out);
    free(at);
    cuts_done(&cuts);
    return count + 1;
}

/* The report and the graph of a recording, in parts of one record and of more. */
static void check_views(const char *name, uint64_t call_ps)
{
    struct cn_recording_ops ops;
    struct subject s;
    uint32_t *tasks;

    open_subject(&s, name, NULL);
    s.rec->call_cost = (struct cn_hook_cost){call_ps, call_ps / 3};
    s.rec->libcall_cost = (struct cn_hook_cost){call_ps * 2, call_ps};
    ops = *s.rec->ops;
    ops.parts = cut_anywhere;
    s.rec->ops = &ops;
    tasks = cn_alloc(s.rec->task_count, sizeof(*tasks));
    for (uint32_t i = 0; i < s.rec->task_count; i++)
        tasks[i] = i;
    s.query.tasks = tasks;
    s.query.task_count = s.rec->task_count;
    for (uint64_t records = 1; records < 1000; records *= 8)
        cn_assert_same_views(&s.query, 3, 16 * records);
    free(tasks);
    close_subject(&s);
}

static void check_all(uint64_t call_ps)
{
    size_t part_total = 0, wrong_count = 0;
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);

    for (size_t i = 0; i < recordings.count; i++)
        check_recording(recordings.names[i], call_ps, &part_total, &wrong_count);
    cn_listing_done(&recordings);
    free(folder);
    /* Guesses are there to be right. */
    assert_true(part_total > 200);
    assert_true(wrong_count < part_total / 3);
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    check_all(0);
}

/* A cost that is taken off sooner or later, and one that is more than calls took. */
static void parts_make_the_whole_with_corrected_times(void **state)
{
    (void)state;
    check_all(31250);
    check_all(1234567);
}

static void views_in_parts_are_those_of_the_whole(void **state)
{
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);

    (void)state;
    for (size_t i = 0; i < recordings.count; i++) {
        check_views(recordings.names[i], 0);
        check_views(recordings.names[i], 31250);
    }
    cn_listing_done(&recordings);
    free(folder);
}

static void guesses_are_right_where_calls_nest(void **state)
{
    size_t part_total = 0, wrong_count = 0;

    (void)state;
    check_recording("no-event", 0, &part_total, &wrong_count);
    check_recording("no-event", 31250, &part_total, &wrong_count);
    assert_true(part_total > 10);
    assert_int_equal(wrong_count, 0);
}

static void what_depends_on_the_past_is_not_divided(void **state)
{
    struct subject s;

    (void)state;
    open_subject(&s, "single", NULL);
    assert_true(cn_cct_task_is_divisible(&s.options));
    s.options.is_collapsed = true;
    assert_false(cn_cct_task_is_divisible(&s.options));
    s.options.is_collapsed = false;
    s.query.range.first_ns = 1;
    assert_false(cn_cct_task_is_divisible(&s.options));
    close_subject(&s);
    open_subject(&s, "single", "main");
    assert_false(cn_cct_task_is_divisible(&s.options));
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(parts_make_the_whole_with_corrected_times),
        cmocka_unit_test(views_in_parts_are_those_of_the_whole),
        cmocka_unit_test(guesses_are_right_where_calls_nest),
        cmocka_unit_test(what_depends_on_the_past_is_not_divided),
    };

    return CN_TEST_ON_DATA(tests);
}
