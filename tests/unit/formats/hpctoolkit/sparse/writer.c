/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/sparse/format.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "model/contexts/memory.h"
#include "open/formats.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/sparse_database.h"

/* Two threads, contexts 0 to 4, two metrics: 2 and 6. */
static struct cn_database *small_database(void)
{
    struct cn_memory_database *m = cn_memory_database_new("small", "");
    struct cn_identity_tuple thread = {.count = 1, .ids = {{.kind = 3}}};

    for (uint32_t i = 1; i <= 2; i++) {
        thread.ids[0].logical = i;
        thread.ids[0].physical = i;
        (void)cn_memory_database_add_profile(m, thread);
        cn_memory_database_add_value(m, i, 0, 2, i);
        cn_memory_database_add_value(m, i, 3, 2, 10 * i);
        cn_memory_database_add_value(m, i, 3, 6, 100 * i);
        cn_memory_database_add_value(m, i, 4, 6, 0);
    }
    cn_memory_database_add_value(m, 0, 3, 5, 30);
    cn_memory_database_add_sample(m, 2, (struct cn_sample){1000, 3});
    cn_memory_database_add_sample(m, 2, (struct cn_sample){2000, 0});
    cn_memory_database_add_sample(m, 2, (struct cn_sample){3000, 3});
    return cn_memory_database_finish(m);
}

struct written {
    struct cn_file files[3];
    struct cn_hpc_database db;
};

static void open_written(struct written *w, bool has_trace, uint32_t idle)
{
    static const char *const names[] = {"profile.db", "cct.db", "trace.db"};
    struct cn_hpc_sparse_files files = {.has_cct = true, .has_trace = has_trace};
    struct cn_hpc_sparse_options options = {.listed_count = 100, .idle_context = idle};
    struct cn_error err = {0};

    *w = (struct written){0};
    for (size_t i = 0; i < (has_trace ? 3 : 2); i++)
        if (!cn_file_open_at(&w->files[i], ".", names[i], &err))
            fail_msg("%s", err.text);
    files.profile = w->files[0].bytes;
    files.cct = w->files[1].bytes;
    files.trace = w->files[2].bytes;
    if (!cn_sparse_database_open(&w->db, &files, &options, &err))
        fail_msg("%s", err.text);
    assert_null(w->db.base.warnings);
}

static void close_written(struct written *w)
{
    cn_sparse_database_done(&w->db);
    for (size_t i = 0; i < 3; i++)
        cn_file_close(&w->files[i]);
}

static void must_write(struct cn_hpc_sparse_writing *w)
{
    static const struct cn_write_options options = {0};
    struct cn_error err = {0};

    if (!w->options)
        w->options = &options;
    w->dir = ".";
    w->workers = 2;
    w->listed_count = 5;
    if (!cn_hpc_sparse_write(w, &err))
        fail_msg("%s", err.text);
}

static void must_hold(char *found, const char *expected)
{
    assert_string_equal(found, expected);
    free(found);
}

static void the_layout_is_that_of_its_time(void **state)
{
    struct cn_hpc_sparse_writing writing = {.db = small_database(), .largest_listed = 6};
    struct cn_hpc_plane_record summary, first, empty, full;
    struct cn_hpc_sparse_profile_index end;
    struct written w;
    uint64_t end_off;

    (void)state;
    must_write(&writing);
    open_written(&w, true, 0);
    summary = cn_hpc_planes_record(&w.db.values.profiles, 0);
    first = cn_hpc_planes_record(&w.db.values.profiles, 1);
    /* Tuples and blocks start at the next multiple of 8; the summary's block is the
     * last, then the footer. */
    assert_int_equal(first.tuple_off - summary.tuple_off, 20);
    assert_int_equal(summary.tuple_off % 8, 0);
    assert_int_equal(first.values_off, cn_align_up(summary.tuple_off + 3 * 20, 8));
    assert_int_equal(first.value_count, 3);
    assert_int_equal(first.key_count, 2);
    assert_int_equal(summary.values_off, first.values_off + 2 * (3 * 10 + 3 * 12));
    end_off = summary.values_off + 10 + 12;
    assert_int_equal(w.files[0].bytes.len, end_off + 12 + 8);
    assert_true(cn_hpc_sparse_profile_index_decode(
        (struct cn_bytes){w.files[0].bytes.ptr + end_off, 12}, &end));
    assert_int_equal(end.context, CN_HPC_SPARSE_PROFILE_END);
    assert_int_equal(end.start, 1);
    assert_memory_equal(w.files[0].bytes.ptr + end_off + 12, "tfBDFORP", 8);
    /* A context without values has no block and points at the next one. */
    assert_int_equal(w.db.values.cct.records.count, 7);
    empty = cn_hpc_planes_record(&w.db.values.cct, 1);
    full = cn_hpc_planes_record(&w.db.values.cct, 3);
    assert_int_equal(empty.value_count, 0);
    assert_int_equal(empty.values_off, full.values_off);
    assert_int_equal(full.key_count, 2);
    /* No footer, no time range, lines without padding. */
    assert_int_equal(w.files[2].bytes.len,
                     cn_align_up(CN_HPC_SPARSE_HEADER_LEN + 2 * 22, 8) + 3 * 12);
    assert_int_equal(w.db.base.begin_ns, 0);
    close_written(&w);
    cn_database_close(writing.db);
}

static void values_come_back(void **state)
{
    struct cn_hpc_sparse_writing writing = {.db = small_database()};
    struct written w;

    (void)state;
    must_write(&writing);
    open_written(&w, true, 0);
    must_hold(cn_sparse_database_profile(&w.db, 0), "3 5 30\n");
    must_hold(cn_sparse_database_profile(&w.db, 2), "0 2 2\n3 2 20\n3 6 200\n");
    must_hold(cn_sparse_database_context(&w.db, 3), "1 2 10\n2 2 20\n1 6 100\n2 6 200\n");
    must_hold(cn_sparse_database_context(&w.db, 4), "");
    close_written(&w);
    cn_database_close(writing.db);
}

/* Ids that change, and one that is dropped. */
static void metric_ids_are_translated_and_dropped_values_counted(void **state)
{
    static const int32_t threads[] = {-1, -1, 4, -1, -1, -1, 9};
    uint64_t *dropped = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(*dropped));
    struct cn_hpc_sparse_writing writing = {
        .db = small_database(),
        .threads = {threads, 7},
        .summaries = {threads, 1},
        .dropped_summaries = dropped,
    };
    struct written w;

    (void)state;
    must_write(&writing);
    open_written(&w, true, 0);
    must_hold(cn_sparse_database_profile(&w.db, 0), "");
    must_hold(cn_sparse_database_profile(&w.db, 1), "0 4 1\n3 4 10\n3 9 100\n");
    must_hold(cn_sparse_database_context(&w.db, 3), "1 4 10\n2 4 20\n1 9 100\n2 9 200\n");
    assert_int_equal(dropped[5], 1);
    assert_int_equal(dropped[4], 0);
    close_written(&w);
    free(dropped);
    cn_database_close(writing.db);
}

static void idle_samples_get_a_context_of_their_own(void **state)
{
    struct cn_hpc_sparse_writing writing = {
        .db = small_database(), .idle_context = 4, .has_time_range = true};
    struct cn_timeline line;
    struct cn_sample samples[3];
    struct cn_error err = {0};
    struct written w;

    (void)state;
    must_write(&writing);
    open_written(&w, true, 0);
    assert_int_equal(w.db.base.begin_ns, 1000);
    assert_int_equal(w.db.base.end_ns, 3000);
    assert_int_equal(w.files[2].bytes.ptr[CN_HPC_SPARSE_MAGIC_LEN], 4);
    assert_true(cn_timeline_open(&w.db.base, 2, &line, &err));
    assert_int_equal(line.count, 3);
    assert_true(cn_timeline_read(&w.db.base, &line, 0, 3, samples, &err));
    assert_int_equal(samples[1].context, 4);
    close_written(&w);
    open_written(&w, true, 4);
    assert_true(cn_timeline_read(&w.db.base, &line, 0, 3, samples, &err));
    assert_int_equal(samples[0].context, 3);
    assert_int_equal(samples[1].context, 0);
    close_written(&w);
    cn_database_close(writing.db);
}

static void note_loss(void *arg, const char *what, uint64_t count)
{
    cn_text_printf(arg, "%llu %s\n", (unsigned long long)count, what);
}

static void without_timelines_there_is_no_trace_db(void **state)
{
    struct cn_text losses = {0};
    struct cn_write_options options = {
        .without_timelines = true, .on_loss = note_loss, .on_loss_arg = &losses};
    struct cn_hpc_sparse_writing writing = {.db = small_database(), .options = &options};
    struct written w;

    (void)state;
    must_write(&writing);
    assert_int_equal(cn_scratch_count("."), 2);
    open_written(&w, false, 0);
    assert_string_equal(cn_text_str(&losses), "");
    close_written(&w);
    cn_text_done(&losses);
    cn_database_close(writing.db);
}

static void ids_out_of_proportion_are_refused(void **state)
{
    static const struct cn_write_options options = {0};
    struct cn_hpc_sparse_writing writing = {
        .db = small_database(),
        .options = &options,
        .dir = ".",
        .workers = 1,
        .largest_listed = UINT32_MAX - 5,
    };
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_hpc_sparse_write(&writing, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    cn_database_close(writing.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(the_layout_is_that_of_its_time),
        CN_SCRATCH_TEST(values_come_back),
        CN_SCRATCH_TEST(metric_ids_are_translated_and_dropped_values_counted),
        CN_SCRATCH_TEST(idle_samples_get_a_context_of_their_own),
        CN_SCRATCH_TEST(without_timelines_there_is_no_trace_db),
        CN_SCRATCH_TEST(ids_out_of_proportion_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
