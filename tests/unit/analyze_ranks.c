/* Several ranks, threads here, make the bytes that one makes: of recordings and of
 * measurements; and what they tell each other is refused when it is damaged.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/cct/calls_to_database.h"
#include "analyze/samples/contexts.h"
#include "analyze/samples/database.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/database.h"
#include "open/formats.h"
#include "open/open.h"
#include "support/gpu_run.h"
#include "support/rank_group.h"
#include "support/sample_recording.h"
#include "support/scratch.h"
#include "support/tiny_meas.h"

enum { RANKS_MAX = 5, THREADS = 150 }; /* batches of 32 profiles for all ranks */

/* One run of some ranks. */
struct run {
    const char *target;
    const struct cn_sampled_options *options; /* of measurements */
    struct cn_text damages[RANKS_MAX];        /* told on each rank */
    struct cn_error errs[RANKS_MAX];
    bool ok[RANKS_MAX];
};

static bool write_database(struct cn_database *db, struct cn_ranks *ranks,
                           const char *target, struct cn_error *err)
{
    struct cn_write_options options = {.workers = 2};

    return cn_hpc_v4_write_together(db, ranks, target, &options, err);
}

static void note_damage(void *arg, const char *text)
{
    cn_text_printf(arg, "%s\n", text);
}

static void analyse_measurements(struct cn_ranks *ranks, void *arg)
{
    struct run *run = arg;
    unsigned rank = ranks->rank;
    struct cn_sampled_options options = *run->options;
    struct cn_measurements *m = NULL;
    struct cn_database *db = NULL;
    const char *dir = "many.m";

    options.ranks = ranks;
    options.workers = 2;
    options.spool_folder = ".";
    options.on_damage = note_damage;
    options.on_damage_arg = &run->damages[rank];
    run->ok[rank] = cn_hpc_meas_open(&m, &dir, 1, NULL, &run->errs[rank]) &&
                    cn_sampled_database_build(&db, m, &options, NULL, &run->errs[rank]) &&
                    write_database(db, ranks, run->target, &run->errs[rank]);
    cn_database_close(db);
    cn_measurements_close(m);
}

static void check_same_file(const char *left, const char *right, const char *name)
{
    struct cn_text paths[2] = {0};
    struct cn_file files[2] = {0};
    struct cn_error err;

    cn_text_printf(&paths[0], "%s/%s", left, name);
    cn_text_printf(&paths[1], "%s/%s", right, name);
    for (int i = 0; i < 2; i++)
        if (!cn_file_open(&files[i], cn_text_str(&paths[i]), &err))
            fail_msg("%s", err.text);
    assert_int_equal(files[0].bytes.len, files[1].bytes.len);
    assert_memory_equal(files[0].bytes.ptr, files[1].bytes.ptr, files[0].bytes.len);
    for (int i = 0; i < 2; i++) {
        cn_file_close(&files[i]);
        cn_text_done(&paths[i]);
    }
}

static void check_same(const char *left, const char *right)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db",
                                        "metrics/default.yaml"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        check_same_file(left, right, names[i]);
    /* Durations of calls: measurements have none. */
    if (access("0.data", F_OK) == 0)
        check_same_file(left, right, "latency.db");
}

/* Threads of several programs and hosts, some with less in them. */
static void write_measurements(void)
{
    for (uint32_t i = 0; i < THREADS; i++)
        cn_tiny_meas_write(
            &(struct cn_tiny_meas_options){.rank = i / 2,
                                           .thread = i % 2,
                                           .host = 9 - i / 4 % 9,
                                           .program = i > 4 ? "other" : NULL,
                                           .is_idle_in_work = i < 3},
            "many.m");
}

static void note_finding(void *arg, const struct cn_finding *finding)
{
    if (finding->is_error)
        cn_text_printf(arg, "%s: %s\n", finding->file, finding->text);
}

static void check_sound(const char *target)
{
    struct cn_error err = {0};
    struct cn_text findings = {0};

    assert_true(cn_format_find("hpctoolkit-v4")
                    ->verify(target, NULL, note_finding, &findings, &err));
    assert_string_equal(cn_text_str(&findings), "");
    cn_text_done(&findings);
}

static void run_all(cn_rank_fn analyse, const struct cn_sampled_options *options)
{
    for (unsigned size = 1; size <= RANKS_MAX; size++) {
        struct run run = {.target = size == 1 ? "one.db" : "some.db", .options = options};

        cn_rank_group_run(size, analyse, &run);
        for (unsigned i = 0; i < size; i++) {
            if (!run.ok[i])
                fail_msg("rank %u of %u: %s", i, size, run.errs[i].text);
            cn_text_done(&run.damages[i]);
        }
        if (size == 1)
            check_sound("one.db");
        if (size > 1) {
            check_same("one.db", "some.db");
            cn_scratch_remove("some.db");
        }
    }
}

static void measurements_give_the_same_bytes(void **state)
{
    struct cn_sampled_options options = {.statistics =
                                             CN_SAMPLED_NORMAL | CN_SAMPLED_EXTREMA};

    (void)state;
    write_measurements();
    run_all(analyse_measurements, &options);
}

static void run_gpu(const struct cn_made_run *run)
{
    struct cn_sampled_options options = {0};
    struct cn_text text = {0};

    write_measurements();
    cn_made_run_add(run, &text);
    /* First and last, so that several ranks meet the same functions. */
    cn_scratch_write("many.m/a.hpcrun", text.chars, text.len);
    cn_scratch_write("many.m/z.hpcrun", text.chars, text.len);
    cn_text_clear(&text);
    cn_gpu_structure_add(&text, "1", "0x600");
    cn_scratch_write("many.m/structs/kernels.hpcstruct", text.chars, text.len);
    cn_text_done(&text);
    run_all(analyse_measurements, &options);
}

static void so_do_those_of_gpus(void **state)
{
    struct cn_made_run run = cn_gpu_run();

    (void)state;
    run_gpu(&run);
}

/* They come from several profiles at once: rank 0 has to do all of it. */
static void so_do_ranges_of_gpus(void **state)
{
    struct cn_made_run run = cn_gpu_range_run();

    (void)state;
    run_gpu(&run);
}

enum { RECORDINGS = 3 };

/* A recording, looked at as a whole. */
struct subject {
    struct cn_recording *rec;
    struct cn_call_filter filter;
    uint32_t *tasks;
};

static bool open_subject(struct subject *s, size_t number, struct cn_call_query *query,
                         struct cn_error *err)
{
    char path[32];

    (void)snprintf(path, sizeof(path), "%zu.data", number);
    if (!cn_open_recording(path, NULL, &s->rec, err))
        return false;
    cn_call_filter_init(&s->filter, s->rec);
    s->filter.depth = UINT32_MAX;
    cn_call_filter_ready(&s->filter);
    s->tasks = cn_alloc(s->rec->task_count, sizeof(*s->tasks));
    for (uint32_t i = 0; i < s->rec->task_count; i++)
        s->tasks[i] = i;
    *query = (struct cn_call_query){
        s->rec, &s->filter, cn_time_always, s->tasks, s->rec->task_count, false, NULL};
    return true;
}

static void analyse_recordings(struct cn_ranks *ranks, void *arg)
{
    struct run *run = arg;
    unsigned rank = ranks->rank;
    struct cn_error *err = &run->errs[rank];
    struct subject subjects[RECORDINGS] = {0};
    struct cn_call_query queries[RECORDINGS];
    struct cn_calls_options options = {.workers = 2,
                                       .ranks = ranks,
                                       .folder = ".",
                                       .min_time_ns = 20,
                                       .has_all_statistics = true};
    struct cn_calls_result result = {0};
    struct cn_database *db = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < RECORDINGS; i++)
        ok = open_subject(&subjects[i], i, &queries[i], err);
    run->ok[rank] =
        ok && cn_calls_to_database(&db, queries, RECORDINGS, &options, &result, err) &&
        write_database(db, ranks, run->target, err);
    cn_calls_result_done(&result);
    cn_database_close(db);
    for (size_t i = 0; i < RECORDINGS; i++) {
        if (subjects[i].rec)
            cn_call_filter_done(&subjects[i].filter);
        cn_recording_close(subjects[i].rec);
        free(subjects[i].tasks);
    }
}

static void recordings_give_the_same_bytes(void **state)
{
    struct cn_error err;

    (void)state;
    for (int i = 0; i < RECORDINGS; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "%d.data", i);
        if (!cn_sample_recording_write(path, &err))
            fail_msg("%s", err.text);
    }
    run_all(analyse_recordings, NULL);
}

static void damage_is_told_on_rank_0_in_order(void **state)
{
    struct cn_sampled_options options = {0};
    char expected[512] = "";

    (void)state;
    write_measurements();
    cn_scratch_write("many.m/a-000000-000-0-0-0.hpcrun", "short", 5);
    cn_scratch_write("many.m/z-000000-000-0-0-0.hpcrun", "short too", 9);
    for (unsigned size = 1; size <= RANKS_MAX; size++) {
        struct run run = {.target = "bad.db", .options = &options};

        cn_rank_group_run(size, analyse_measurements, &run);
        assert_true(run.ok[0]);
        if (size == 1)
            (void)snprintf(expected, sizeof(expected), "%s",
                           cn_text_str(&run.damages[0]));
        assert_non_null(strstr(expected, "z-000000"));
        assert_string_equal(cn_text_str(&run.damages[0]), expected);
        for (unsigned i = 0; i < size; i++) {
            assert_true(i == 0 || run.damages[i].len == 0);
            cn_text_done(&run.damages[i]);
        }
        cn_scratch_remove("bad.db");
    }
}

static void damage_fails_everywhere_when_it_must(void **state)
{
    struct cn_sampled_options options = {.is_strict = true};

    (void)state;
    write_measurements();
    cn_scratch_write("many.m/z-000000-000-0-0-0.hpcrun", "short too", 9);
    for (unsigned size = 1; size <= RANKS_MAX; size++) {
        struct run run = {.target = "bad.db", .options = &options};
        FILE *file;

        cn_rank_group_run(size, analyse_measurements, &run);
        for (unsigned i = 0; i < size; i++) {
            assert_false(run.ok[i]);
            assert_string_equal(run.errs[i].text, run.errs[0].text);
        }
        assert_non_null(strstr(run.errs[0].text, "z-000000"));
        file = fopen("bad.db/meta.db", "r");
        assert_null(file);
    }
}

/* A log of contexts as one rank sends it. */
static void make_log(struct cn_measurements *m, struct cn_text *message)
{
    struct cn_sampled_contexts contexts;
    struct cn_sampled_expansion expansion;
    struct cn_sampled_log log = {0};
    struct cn_error err;
    struct cn_bytes path = {(const uint8_t *)"/bin/tiny", 9};
    uint32_t module, entry;

    cn_sampled_contexts_init(&contexts, m);
    contexts.log = &log;
    assert_true(cn_measurements_find_module(m, 0, path, &module, &err));
    cn_sampled_log_name(&log, module, 0, path);
    entry = cn_sampled_contexts_entry(&contexts, CN_ENTRY_MAIN_THREAD);
    assert_true(
        cn_sampled_contexts_expand(&contexts, entry, module, 0x204, &expansion, &err));
    (void)cn_sampled_contexts_placeholder(&contexts, expansion.last, 3);
    (void)cn_sampled_contexts_unknown(&contexts, entry);
    cn_sampled_log_encode(&log, &contexts, message);
    cn_sampled_log_done(&log);
    cn_sampled_contexts_done(&contexts);
}

static bool replay(struct cn_measurements *m, struct cn_bytes message)
{
    struct cn_sampled_contexts contexts;
    struct cn_error err;
    bool ok;

    cn_sampled_contexts_init(&contexts, m);
    ok = cn_sampled_log_replay(&contexts, message, true, &err);
    cn_sampled_contexts_done(&contexts);
    return ok;
}

static void a_damaged_log_is_refused(void **state)
{
    struct cn_measurements *m = NULL;
    const char *dir = "many.m";
    struct cn_text message = {0};
    struct cn_error err;

    (void)state;
    write_measurements();
    assert_true(cn_hpc_meas_open(&m, &dir, 1, NULL, &err));
    make_log(m, &message);
    assert_true(replay(m, cn_wire_view(&message)));
    for (size_t len = 0; len < message.len; len++) {
        uint8_t *copy = cn_alloc(len + 1, 1);

        memcpy(copy, message.chars, len);
        assert_false(replay(m, (struct cn_bytes){copy, len}));
        free(copy);
    }
    for (size_t i = 0; i < message.len * 8; i++) {
        message.chars[i / 8] = (char)(message.chars[i / 8] ^ 1 << i % 8);
        (void)replay(m, cn_wire_view(&message));
        message.chars[i / 8] = (char)(message.chars[i / 8] ^ 1 << i % 8);
    }
    cn_text_done(&message);
    cn_measurements_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(recordings_give_the_same_bytes),
        CN_SCRATCH_TEST(measurements_give_the_same_bytes),
        CN_SCRATCH_TEST(so_do_those_of_gpus),
        CN_SCRATCH_TEST(so_do_ranges_of_gpus),
        CN_SCRATCH_TEST(damage_is_told_on_rank_0_in_order),
        CN_SCRATCH_TEST(damage_fails_everywhere_when_it_must),
        CN_SCRATCH_TEST(a_damaged_log_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
