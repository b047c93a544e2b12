/* Databases made from real recordings: sums, counts, and the same bytes on any
 * number of threads.
 * Label: threads. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calls/report.h"
#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/locations.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "base/map.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "model/contexts/walk.h"
#include "open/formats.h"
#include "open/open.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/scratch.h"

/* A recording, looked at as a whole. */
struct subject {
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t *tasks;
    struct cn_calls_options options;
    struct cn_database *db;
    struct cn_calls_result result;
    uint64_t few; /* samples of a timeline; 0: all */
};

static void open_subject(struct subject *s, const char *name)
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
    s->tasks = cn_alloc(s->rec->task_count, sizeof(*s->tasks));
    for (uint32_t i = 0; i < s->rec->task_count; i++)
        s->tasks[i] = i;
    s->query = (struct cn_call_query){
        s->rec, &s->filter, cn_time_always, s->tasks, s->rec->task_count, false, NULL};
    s->options = (struct cn_calls_options){
        .workers = 2, .folder = ".", .has_all_statistics = true};
}

static void analyse(struct subject *s)
{
    struct cn_error err = {0};

    cn_call_filter_ready(&s->filter);
    if (!cn_calls_to_database(&s->db, &s->query, 1, &s->options, &s->result, &err))
        fail_msg("%s", err.text);
}

static void close_subject(struct subject *s)
{
    if (s->db) {
        cn_calls_result_done(&s->result);
        cn_database_close(s->db);
    }
    cn_call_filter_done(&s->filter);
    free(s->tasks);
    cn_recording_close(s->rec);
}

/* The value of one metric and scope by context, in one profile. */
static double *values_of(struct cn_database *db, uint32_t profile, const char *metric,
                         const char *scope)
{
    int m = cn_metrics_find(&db->metrics, metric);
    int id = cn_metric_prop_id(&db->metrics.list[m],
                               (unsigned)cn_metrics_find_scope(&db->metrics, scope));
    double *values = cn_alloc(db->context_limit, sizeof(*values));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err;

    assert_true(cn_profile_values(db, profile, 0, UINT32_MAX, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == id)
                values[batch.values[i].key] = batch.values[i].value;
    return values;
}

static void check_sums(struct cn_database *db)
{
    for (uint32_t p = 1; p < db->profile_count; p++) {
        double *own = values_of(db, p, "time (sec)", "function");
        double *total = values_of(db, p, "time (sec)", "execution");
        double *point = values_of(db, p, "time (sec)", "point");
        struct cn_walk walk;
        enum cn_walk_event event;
        const struct cn_context *c;
        struct cn_error err;
        double own_sum = 0, root_sum = 0;

        assert_true(cn_walk_begin(&walk, db, &err));
        while (cn_walk_next(&walk, &event, &c, &err) == CN_ITEM) {
            if (event == CN_WALK_LEAVE)
                continue;
            own_sum += own[c->id];
            root_sum += walk.depth == 1 ? total[c->id] : 0;
            assert_true(own[c->id] == point[c->id]);
            assert_true(own[c->id] <= total[c->id]);
        }
        cn_walk_done(&walk);
        assert_true(fabs(own_sum - root_sum) <= 1e-9 * (1 + root_sum));
        assert_true(fabs(total[0] - root_sum) <= 1e-9 * (1 + root_sum));
        free(own);
        free(total);
        free(point);
    }
}

/* Every context: the time in all scopes is that of its states. */
static void check_states(struct cn_database *db)
{
    static const char *const scopes[] = {"point", "function", "lex_aware", "execution"};

    if (!cn_metrics_have_waits(&db->metrics))
        return;
    for (uint32_t p = 1; p < db->profile_count; p++)
        for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++) {
            double *time = values_of(db, p, CN_TIME_NAME, scopes[i]);
            double *cpu = values_of(db, p, CN_CPU_TIME_NAME, scopes[i]);
            double *blocked = values_of(db, p, CN_BLOCKED_TIME_NAME, scopes[i]);
            double *preempted = values_of(db, p, CN_PREEMPTED_TIME_NAME, scopes[i]);

            for (uint32_t c = 0; c < db->context_limit; c++)
                assert_true(llround(time[c] * 1e9) == llround(cpu[c] * 1e9) +
                                                          llround(blocked[c] * 1e9) +
                                                          llround(preempted[c] * 1e9));
            free(time);
            free(cpu);
            free(blocked);
            free(preempted);
        }
}

/* Calls of each function, over all contexts and threads, against what a report
 * counts. */
static void check_calls(struct subject *s)
{
    struct cn_names names = {0};
    uint64_t *calls = cn_alloc((size_t)s->db->function_count + 1, sizeof(*calls));
    struct cn_call_report_options plain = {0};
    struct cn_call_report report;
    struct cn_error err;

    for (uint32_t p = 1; p < s->db->profile_count; p++) {
        double *values = values_of(s->db, p, "calls", "point");
        struct cn_walk walk;
        enum cn_walk_event event;
        const struct cn_context *c;
        struct cn_function f;

        assert_true(cn_walk_begin(&walk, s->db, &err));
        while (cn_walk_next(&walk, &event, &c, &err) == CN_ITEM)
            if (event == CN_WALK_ENTER && c->has_function) {
                assert_true(cn_database_function(s->db, c->function, &f, &err));
                calls[cn_names_add(&names, f.name)] += (uint64_t)values[c->id];
            }
        cn_walk_done(&walk);
        free(values);
    }
    assert_true(cn_call_report_build(&report, &s->query, 1, plain, &err));
    for (size_t i = 0; i < report.row_count; i++) {
        size_t known = names.count;
        uint32_t at = cn_names_add(&names, report.rows[i].name);

        /* Waiting is no call in a database. */
        if (strncmp(report.rows[i].name, "linux:schedule", 14) == 0)
            continue;
        if (at == known || calls[at] != report.rows[i].cost.calls)
            fail_msg("%s: %s: %lu calls", s->rec->path, report.rows[i].name,
                     (unsigned long)report.rows[i].cost.calls);
        calls[at] = 0;
    }
    for (size_t i = 0; i < s->db->function_count && i < names.count; i++)
        assert_int_equal(calls[i], 0);
    cn_call_report_done(&report);
    cn_names_done(&names);
    free(calls);
}

static void on_finding(void *arg, const struct cn_finding *finding)
{
    unsigned *count = arg;

    if (finding->is_error) {
        print_error("%s: %s: %s\n", finding->file, finding->rule, finding->text);
        ++*count;
    }
}

static void write_as(struct subject *s, const char *path)
{
    const struct cn_format *format = cn_format_find("hpctoolkit-v4");
    struct cn_write_options options = {
        .workers = s->options.workers,
        .timeline_resolution_ns = s->few > 0,
        .timeline_sample_max = s->few,
    };
    struct cn_error err = {0};
    unsigned count = 0;

    if (!format->write_database(s->db, path, &options, &err) ||
        !format->verify(path, NULL, on_finding, &count, &err))
        fail_msg("%s", err.text);
    assert_int_equal(count, 0);
}

static void assert_same(const char *a, const char *b, const char *name)
{
    struct cn_file left = {0}, right = {0};
    struct cn_error err;
    bool has_left = cn_file_open_at(&left, a, name, &err);
    bool has_right = cn_file_open_at(&right, b, name, &err);

    assert_int_equal(has_left, has_right);
    assert_int_equal(left.bytes.len, right.bytes.len);
    if (left.bytes.len > 0)
        assert_memory_equal(left.bytes.ptr, right.bytes.ptr, left.bytes.len);
    cn_file_close(&left);
    cn_file_close(&right);
}

static void check_bytes(const char *name, const char *first, unsigned workers)
{
    static const char *const files[] = {"meta.db", "profile.db", "cct.db", "trace.db",
                                        "metrics/default.yaml"};
    struct subject s;
    struct cn_text path = {0};

    cn_text_printf(&path, "%s-%u.db", name, workers);
    open_subject(&s, name);
    s.options.workers = workers;
    analyse(&s);
    write_as(&s, path.chars);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        assert_same(first, path.chars, files[i]);
    close_subject(&s);
    cn_text_done(&path);
}

static void check_fixture(const char *name)
{
    struct subject s;
    struct cn_text path = {0};

    open_subject(&s, name);
    analyse(&s);
    check_sums(s.db);
    check_states(s.db);
    check_calls(&s);
    cn_text_printf(&path, "%s.db", name);
    write_as(&s, path.chars);
    close_subject(&s);
    check_bytes(name, path.chars, 1);
    check_bytes(name, path.chars, 5);
    cn_text_done(&path);
}

static void every_recording_becomes_a_sound_database(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);

    (void)state;
    for (size_t i = 0; i < recordings.count; i++)
        check_fixture(recordings.names[i]);
    cn_listing_done(&recordings);
    free(folder);
    cn_scratch_leave(scratch);
}

/* The thread runs in some context exactly as long as the contexts say. */
static void check_timeline(struct cn_database *db, uint32_t profile)
{
    struct cn_timeline line;
    struct cn_sample *list;
    uint64_t *ns = cn_alloc(db->context_limit, sizeof(*ns));
    bool has_waits = cn_metrics_have_waits(&db->metrics);
    double *own =
        values_of(db, profile, has_waits ? CN_CPU_TIME_NAME : CN_TIME_NAME, "point");
    struct cn_error err;

    assert_true(cn_timeline_open(db, profile, &line, &err));
    list = cn_alloc(line.count + 1, sizeof(*list));
    assert_true(cn_timeline_read(db, &line, 0, (size_t)line.count, list, &err));
    for (uint64_t i = 0; i + 1 < line.count; i++) {
        assert_true(list[i].time_ns <= list[i + 1].time_ns);
        ns[list[i].context] += list[i + 1].time_ns - list[i].time_ns;
    }
    assert_true(line.count == 0 || list[line.count - 1].context == 0);
    for (uint32_t c = 1; c < db->context_limit; c++)
        if (ns[c] > 0)
            assert_true(fabs(own[c] - (double)ns[c] / 1e9) < 2e-9);
    /* Again, a few at a time, and from the middle. */
    for (uint64_t i = line.count / 2; i < line.count; i += 5) {
        struct cn_sample one;

        assert_true(cn_timeline_read(db, &line, i, 1, &one, &err));
        assert_true(one.time_ns == list[i].time_ns && one.context == list[i].context);
    }
    free(list);
    free(ns);
    free(own);
}

static void timelines_agree_with_the_sums(void **state)
{
    struct subject s;

    (void)state;
    open_subject(&s, "threads");
    analyse(&s);
    for (uint32_t p = 1; p < s.db->profile_count; p++)
        check_timeline(s.db, p);
    close_subject(&s);
}

static void write_few(const char *name, bool are_kept, const char *path)
{
    enum { FEW = 20 };
    struct subject s;

    open_subject(&s, name);
    s.few = FEW;
    if (are_kept) {
        s.options.timeline_resolution_ns = 1;
        s.options.timeline_sample_max = FEW;
    }
    analyse(&s);
    write_as(&s, path);
    close_subject(&s);
}

static void few_samples_are_the_same_kept_or_read_again(void **state)
{
    static const char *const names[] = {"threads", "cxx", "longjmp"};
    struct cn_scratch *scratch = cn_scratch_enter();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct cn_text kept = {0}, read = {0};

        cn_text_printf(&kept, "%s-kept.db", names[i]);
        cn_text_printf(&read, "%s-read.db", names[i]);
        write_few(names[i], true, kept.chars);
        write_few(names[i], false, read.chars);
        assert_same(kept.chars, read.chars, "trace.db");
        cn_text_done(&kept);
        cn_text_done(&read);
    }
    cn_scratch_leave(scratch);
}

/* One thread switches all of them: what they did depends on the order of all. */
static void timelines_follow_switches_across_tasks(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    uint64_t count = 0;
    struct subject s;
    struct cn_error err;

    (void)state;
    open_subject(&s, "threads");
    assert_true(cn_call_filter_add(&s.filter, CN_FILTER_TRIGGER, "work@trace_on",
                                   CN_MATCH_REGEX, &err));
    s.filter.is_off = true;
    analyse(&s);
    assert_true(s.db->has_timelines);
    for (uint32_t p = 1; p < s.db->profile_count; p++) {
        struct cn_timeline line;

        check_timeline(s.db, p);
        assert_true(cn_timeline_open(s.db, p, &line, &err));
        count += line.count;
    }
    assert_true(count > 0);
    write_as(&s, "switched.db");
    close_subject(&s);
    cn_scratch_leave(scratch);
}

static void collapsed_recursion_keeps_calls_and_time(void **state)
{
    struct subject s, collapsed;
    double *total, *other;

    (void)state;
    open_subject(&s, "maxstack-1024");
    analyse(&s);
    open_subject(&collapsed, "maxstack-1024");
    collapsed.options.is_collapsed = true;
    analyse(&collapsed);
    assert_true(collapsed.db->context_limit < s.db->context_limit);
    check_sums(collapsed.db);
    check_calls(&collapsed);
    total = values_of(s.db, 1, "time (sec)", "execution");
    other = values_of(collapsed.db, 1, "time (sec)", "execution");
    assert_true(fabs(total[0] - other[0]) < 1e-9);
    free(total);
    free(other);
    close_subject(&s);
    close_subject(&collapsed);
}

static void what_took_too_little_counts_for_its_caller(void **state)
{
    struct subject s, pruned;
    double *total, *other;

    (void)state;
    open_subject(&s, "single");
    analyse(&s);
    open_subject(&pruned, "single");
    total = values_of(s.db, 1, "time (sec)", "execution");
    pruned.options.min_time_ns = (uint64_t)(total[0] * 1e9 / 20);
    analyse(&pruned);
    assert_true(pruned.db->context_limit < s.db->context_limit);
    check_sums(pruned.db);
    other = values_of(pruned.db, 1, "time (sec)", "execution");
    assert_true(fabs(total[0] - other[0]) < 1e-9);
    for (uint32_t c = 1; c < pruned.db->context_limit; c++)
        assert_true(other[c] * 1e9 + 1 >= (double)pruned.options.min_time_ns);
    free(total);
    free(other);
    close_subject(&s);
    close_subject(&pruned);
}

/* A hidden function's own time is its caller's. */
static void filters_hide_calls_but_not_time(void **state)
{
    struct subject s, outline;
    double *total, *other;
    struct cn_error err;

    (void)state;
    open_subject(&s, "single");
    analyse(&s);
    open_subject(&outline, "single");
    assert_true(
        cn_call_filter_add(&outline.filter, CN_FILTER_HIDE, "b", CN_MATCH_REGEX, &err));
    analyse(&outline);
    check_sums(outline.db);
    check_calls(&outline);
    total = values_of(s.db, 1, "time (sec)", "execution");
    other = values_of(outline.db, 1, "time (sec)", "execution");
    assert_true(fabs(total[0] - other[0]) < 1e-9);
    free(total);
    free(other);
    close_subject(&s);
    close_subject(&outline);
}

static void sleep_is_time_but_not_on_a_processor(void **state)
{
    struct subject s;
    double *time, *cpu;

    (void)state;
    open_subject(&s, "sched-events");
    analyse(&s);
    time = values_of(s.db, 1, "time (sec)", "execution");
    cpu = values_of(s.db, 1, "cpu time (sec)", "execution");
    assert_true(cpu[0] > 0 && cpu[0] < time[0]);
    check_states(s.db);
    free(time);
    free(cpu);
    close_subject(&s);
}

static void without_switches_all_time_is_on_a_processor(void **state)
{
    struct subject s;
    double *time, *cpu;

    (void)state;
    open_subject(&s, "no-event");
    s.rec->features &= ~(uint64_t)CN_FEATURE_PERF_EVENT;
    analyse(&s);
    assert_false(cn_metrics_have_waits(&s.db->metrics));
    close_subject(&s);
    open_subject(&s, "no-event");
    s.rec->features |= CN_FEATURE_PERF_EVENT;
    analyse(&s);
    time = values_of(s.db, 1, "time (sec)", "execution");
    cpu = values_of(s.db, 1, "cpu time (sec)", "execution");
    assert_true(time[0] > 0 && cpu[0] == time[0]);
    free(time);
    free(cpu);
    close_subject(&s);
}

static struct cn_cct_location no_location(void *arg, const struct cn_call_module *module,
                                          uint64_t offset)
{
    (void)arg;
    (void)module;
    (void)offset;
    return (struct cn_cct_location){0};
}

/* Every call comes from a function that was inlined. */
static size_t inlined_locations(void *arg, const struct cn_call_module *module,
                                uint64_t offset,
                                struct cn_inlined_location out[CN_LOCATION_DEPTH_MAX])
{
    (void)arg;
    (void)module;
    (void)offset;
    out[0] = (struct cn_inlined_location){NULL, {"/src/outer.c", 10}};
    out[1] = (struct cn_inlined_location){"helper", {"/src/inner.h", 20}};
    return 2;
}

static const char *no_source(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return NULL;
}

static void the_call_site_is_a_context(void **state)
{
    static const struct cn_cct_locations locations = {NULL, no_location,
                                                      inlined_locations, no_source};
    struct cn_scratch *scratch = cn_scratch_enter();
    struct subject s;
    struct cn_walk walk;
    enum cn_walk_event event;
    const struct cn_context *c;
    struct cn_function f;
    struct cn_error err;
    unsigned chain_count = 0;

    (void)state;
    open_subject(&s, "trigger-callsite");
    s.options.locations = &locations;
    analyse(&s);
    check_sums(s.db);
    check_calls(&s);
    assert_true(cn_walk_begin(&walk, s.db, &err));
    while (cn_walk_next(&walk, &event, &c, &err) == CN_ITEM) {
        const struct cn_context *line, *inlined;

        if (event == CN_WALK_LEAVE || c->kind != CN_CONTEXT_FUNCTION || walk.depth < 5 ||
            c->relation != CN_CALL)
            continue;
        line = cn_walk_path(&walk, walk.depth - 2);
        inlined = cn_walk_path(&walk, walk.depth - 3);
        if (line->kind != CN_CONTEXT_LINE)
            continue;
        chain_count++;
        assert_int_equal(line->line, 20);
        assert_int_equal(inlined->relation, CN_INLINED_CALL);
        assert_true(cn_database_function(s.db, inlined->function, &f, &err));
        assert_string_equal(f.name, "helper");
        assert_int_equal(cn_walk_path(&walk, walk.depth - 4)->line, 10);
    }
    cn_walk_done(&walk);
    assert_true(chain_count > 0);
    write_as(&s, "sites.db");
    close_subject(&s);
    cn_scratch_leave(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recording_becomes_a_sound_database),
        cmocka_unit_test(timelines_agree_with_the_sums),
        cmocka_unit_test(few_samples_are_the_same_kept_or_read_again),
        cmocka_unit_test(timelines_follow_switches_across_tasks),
        cmocka_unit_test(collapsed_recursion_keeps_calls_and_time),
        cmocka_unit_test(what_took_too_little_counts_for_its_caller),
        cmocka_unit_test(filters_hide_calls_but_not_time),
        cmocka_unit_test(the_call_site_is_a_context),
        cmocka_unit_test(sleep_is_time_but_not_on_a_processor),
        cmocka_unit_test(without_switches_all_time_is_on_a_processor),
    };

    return CN_TEST_ON_DATA(tests);
}
