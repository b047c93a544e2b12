/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/text.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"
#include "store/write/writer.h"
#include "support/made_traces.h"
#include "support/scratch.h"

enum { TRACES = 60 };

static struct cn_store_writer *open_writer(const struct cn_store_options *options)
{
    struct cn_store_writer *writer;
    struct cn_error err = {0};

    if (access("store/config.props", F_OK) != 0)
        assert_true(cn_store_init("store", options, &err));
    if (!cn_store_writer_open(&writer, "store", options, &err))
        fail_msg("%s", err.text);
    return writer;
}

/* Add traces first..end-1 with words of their own or of the store. */
static void add_traces(struct cn_store_writer *writer, uint32_t first, uint32_t end,
                       bool is_direct)
{
    struct cn_words own = {0}, *words = &own;
    struct cn_trace trace = {0};
    struct cn_store_added added = {0};
    struct cn_error err = {0};

    for (uint32_t i = first; i < end; i++) {
        if (is_direct)
            assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_made_trace(&trace, words, i);
        if (!cn_store_writer_add(writer, &trace, &added, &err))
            fail_msg("%s", err.text);
    }
    assert_int_equal(added.traces, end - first);
    cn_trace_done(&trace);
    cn_words_done(&own);
}

static void close_writer(struct cn_store_writer *writer)
{
    struct cn_error err = {0};

    if (!cn_store_writer_close(writer, &err))
        fail_msg("%s", err.text);
}

/* How often each trace is in the store; every one is compared with what it should be. */
static void count_traces(unsigned counts[static TRACES])
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace expected = {0}, trace = {0};
    struct cn_words words = {0};
    struct cn_store *store;
    struct cn_store_row row;
    struct cn_error err = {0};

    memset(counts, 0, TRACES * sizeof(*counts));
    assert_true(cn_store_open(&store, "store", &err));
    for (size_t s = 0; s < cn_store_segment_count(store); s++) {
        const struct cn_segment *segment = cn_store_segment(store, s);

        for (uint32_t r = 0; r < cn_segment_row_count(segment); r++) {
            uint32_t i;

            assert_true(cn_segment_row(segment, r, &row, &err));
            i = (uint32_t)(row.trace_high & 0xffff);
            assert_true(i < TRACES);
            if (!cn_segment_load(loader, segment, r, &trace, &err))
                fail_msg("%s", err.text);
            if (row.flags & CN_ROW_EMBEDDED) {
                assert_int_equal(row.span_id, ((uint64_t)1 << 40) + i);
                assert_int_equal(row.records, trace.node_count);
                continue;
            }
            counts[i]++;
            cn_made_trace(&expected, &words, i);
            if (!cn_same_trace(&trace, &expected, &err))
                fail_msg("trace %u: %s", i, err.text);
        }
    }
    cn_store_close(store);
    cn_trace_done(&trace);
    cn_trace_done(&expected);
    cn_words_done(&words);
    cn_segment_loader_free(loader);
}

static void expect_traces(uint32_t end)
{
    unsigned counts[TRACES];

    count_traces(counts);
    for (uint32_t i = 0; i < TRACES; i++)
        if (counts[i] != (i < end))
            fail_msg("trace %u is there %u times", i, counts[i]);
}

static void print_finding(void *arg, const struct cn_finding *finding)
{
    unsigned *count = arg;

    ++*count;
    print_message("%s %llu %s: %s\n", finding->file, (unsigned long long)finding->off,
                  finding->rule, finding->text);
}

static unsigned findings(void)
{
    struct cn_error err = {0};
    unsigned count = 0;

    if (!cn_store_verify("store", NULL, print_finding, &count, &err))
        fail_msg("%s", err.text);
    return count;
}

static void gives_back_what_was_added(void **state)
{
    static const struct cn_store_options kinds[] = {
        {0},
        {.form = CN_STORE_LZ4},
        {.commit_len = 1},
        {.commit_len = 1, .rotate_len = 3000, .saves_behind = true}};

    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct cn_store_writer *writer = open_writer(&kinds[k]);

        add_traces(writer, 0, TRACES / 2, true);
        close_writer(writer);
        expect_traces(TRACES / 2);
        writer = open_writer(NULL);
        add_traces(writer, TRACES / 2, TRACES, false);
        close_writer(writer);
        expect_traces(TRACES);
        assert_int_equal(findings(), 0);
        cn_scratch_remove("store");
    }
}

static void rotates_and_seals(void **state)
{
    struct cn_store_options options = {.rotate_len = 3000, .commit_len = 1};
    struct cn_store_writer *writer = open_writer(&options);
    uint32_t *numbers;
    struct cn_error err = {0};
    size_t count;

    (void)state;
    add_traces(writer, 0, TRACES, true);
    close_writer(writer);
    assert_true(cn_segments_list("store", &numbers, &count, &err));
    assert_true(count > 3);
    free(numbers);
    assert_int_equal(access("store/000000/post.dat", F_OK), 0);
    assert_int_not_equal(access("store/000000/meta.log", F_OK), 0);
    expect_traces(TRACES);
    assert_int_equal(findings(), 0);
}

static void takes_no_trace_twice(void **state)
{
    struct cn_store_writer *writer = open_writer(NULL);
    struct cn_trace trace = {0};
    struct cn_words words = {0};
    struct cn_store_added added = {0};
    struct cn_error err = {0};

    (void)state;
    add_traces(writer, 0, 10, true);
    for (int round = 0; round < 3; round++) {
        cn_made_trace(&trace, &words, 4);
        assert_true(cn_store_writer_add(writer, &trace, &added, &err));
        assert_int_equal(added.known, round + 1);
        if (round == 0)
            assert_true(cn_store_writer_rotate(writer, &err));
        if (round == 1) {
            close_writer(writer);
            writer = open_writer(NULL);
        }
    }
    close_writer(writer);
    expect_traces(10);
    cn_trace_done(&trace);
    cn_words_done(&words);
}

static void has_one_writer_only(void **state)
{
    struct cn_store_writer *writer = open_writer(NULL), *other;
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_store_writer_open(&other, "store", NULL, &err));
    assert_string_equal(err.text, "store is locked: another process is writing to it");
    close_writer(writer);
    writer = open_writer(NULL);
    close_writer(writer);
}

static void readers_see_what_was_committed(void **state)
{
    struct cn_store_writer *writer = open_writer(NULL);
    struct cn_error err = {0};

    (void)state;
    add_traces(writer, 0, 7, true);
    expect_traces(0);
    assert_true(cn_store_writer_commit(writer, &err));
    expect_traces(7);
    add_traces(writer, 7, 9, true);
    expect_traces(7);
    cn_store_writer_abandon(writer);
    expect_traces(7);
    writer = open_writer(NULL);
    add_traces(writer, 7, 9, true);
    close_writer(writer);
    expect_traces(9);
}

static void flip(const char *path, long off)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, off, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, off, SEEK_SET), 0);
    (void)fputc(byte ^ 0x40, file);
    (void)fclose(file);
}

static void recovers_without_its_indexes(void **state)
{
    static const char *const lost[] = {"meta.log", "post.log", "meta.dat",
                                       "post.dat", "text.dat", "text.idx"};
    struct cn_store_recovery counts;
    struct cn_error err = {0};

    (void)state;
    for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
        struct cn_store_writer *writer = open_writer(NULL);

        add_traces(writer, 0, TRACES, true);
        if (is_sealed)
            assert_true(cn_store_writer_rotate(writer, &err));
        close_writer(writer);
        for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
            char path[64];

            (void)snprintf(path, sizeof(path), "store/000000/%s", lost[i]);
            (void)unlink(path);
        }
        expect_traces(TRACES); /* readers do without */
        assert_true(findings() > 0);
        if (!cn_store_recover("store", &counts, &err))
            fail_msg("%s", err.text);
        assert_int_equal(counts.rows, TRACES + TRACES / 3);
        assert_int_equal(findings(), 0);
        expect_traces(TRACES);
        cn_scratch_remove("store");
    }
}

static void a_bad_chunk_costs_that_chunk(void **state)
{
    struct cn_store_options options = {.commit_len = 1}; /* a chunk a trace */
    struct cn_store_writer *writer = open_writer(&options);
    struct cn_store_recovery counts;
    unsigned found[TRACES], missing = 0;
    struct cn_error err = {0};
    struct stat st;

    (void)state;
    add_traces(writer, 0, TRACES, true);
    close_writer(writer);
    assert_int_equal(stat("store/000000/traces.dat", &st), 0);
    flip("store/000000/traces.dat", st.st_size / 2);
    assert_true(findings() > 0);
    assert_true(cn_store_recover("store", &counts, &err));
    assert_int_equal(counts.bad_chunks, 1);
    count_traces(found);
    for (uint32_t i = 0; i < TRACES; i++)
        missing += found[i] == 0;
    assert_int_equal(missing, 1);
}

static void a_lost_string_shows_its_number(void **state)
{
    struct cn_store_options options = {.commit_len = 1};
    struct cn_store_writer *writer = open_writer(&options);
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_text text = {0};
    struct cn_store *store;
    struct cn_error err = {0};
    struct stat st;

    (void)state;
    add_traces(writer, 0, TRACES, true);
    close_writer(writer);
    assert_int_equal(stat("store/000000/text.log", &st), 0);
    flip("store/000000/text.log", 60); /* the first batch */
    assert_true(cn_store_open(&store, "store", &err));
    assert_true(cn_segment_is_damaged(cn_store_segment(store, 0)));
    assert_true(cn_segment_load(loader, cn_store_segment(store, 0), 0, &trace, &err));
    cn_words_print(trace.words, trace.nodes[0].method, &text);
    assert_int_equal(cn_text_str(&text)[0], '#');
    cn_text_done(&text);
    cn_trace_done(&trace);
    cn_store_close(store);
    cn_segment_loader_free(loader);
}

/* Traces keep speaking of it by that number: no string that comes later may take it. */
static void the_number_of_a_lost_string_is_not_given_again(void **state)
{
    struct cn_store_writer *writer = open_writer(NULL);
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_text text = {0};
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    add_traces(writer, 0, TRACES / 2, true);
    close_writer(writer);
    flip("store/000000/text.log", 60); /* the only batch */
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    add_traces(writer, TRACES / 2, TRACES, true);
    close_writer(writer);
    assert_true(cn_store_open(&store, "store", &err));
    assert_true(cn_segment_load(loader, cn_store_segment(store, 0), 0, &trace, &err));
    cn_words_print(trace.words, trace.nodes[0].method, &text);
    assert_int_equal(cn_text_str(&text)[0], '#');
    cn_text_done(&text);
    cn_trace_done(&trace);
    cn_store_close(store);
    cn_segment_loader_free(loader);
}

static void expires_whole_segments_and_keeps_pinned_traces(void **state)
{
    struct cn_store_options options = {.rotate_len = 3000, .commit_len = 1};
    struct cn_store_writer *writer = open_writer(&options);
    struct cn_store_limits limits = {.count_max = 20};
    struct cn_store_expiry counts;
    unsigned found[TRACES], kept = 0;
    struct cn_error err = {0};
    bool is_new;

    (void)state;
    add_traces(writer, 0, TRACES, true);
    close_writer(writer);
    assert_true(cn_store_pin("store", UINT64_C(0xabcdef0000000000) + 2, ~UINT64_C(2),
                             true, &is_new, &err));
    assert_true(is_new);
    if (!cn_store_expire("store", &limits, &counts, &err))
        fail_msg("%s", err.text);
    assert_true(counts.segments > 0);
    assert_int_equal(counts.pinned_count, 1);
    count_traces(found);
    for (uint32_t i = 0; i < TRACES; i++)
        kept += found[i];
    assert_int_equal(found[2], 1);
    assert_true(kept < TRACES && kept > 10);
    assert_int_equal(found[TRACES - 1], 1);
    limits = (struct cn_store_limits){.before_ns = UINT64_MAX};
    assert_true(cn_store_expire("store", &limits, &counts, &err));
    count_traces(found);
    for (uint32_t i = 0; i < TRACES; i++)
        assert_int_equal(found[i], i == 2);
}

static void compacts_small_segments(void **state)
{
    struct cn_store_options options = {.rotate_len = 3000, .commit_len = 1};
    struct cn_store_writer *writer = open_writer(&options);
    struct cn_store_compaction counts;
    struct cn_error err = {0};

    (void)state;
    add_traces(writer, 0, TRACES, true);
    close_writer(writer);
    assert_int_equal(system("sed -i 's/rotate.bytes.*/rotate.bytes = 100000000/' "
                            "store/config.props"),
                     0);
    if (!cn_store_compact("store", CN_STORE_FORM_DEFAULT, &counts, &err))
        fail_msg("%s", err.text);
    assert_int_equal(counts.after, 1);
    assert_true(counts.before > 3);
    assert_true(counts.len_after < counts.len_before);
    expect_traces(TRACES);
    assert_int_equal(findings(), 0);
    writer = open_writer(NULL);
    close_writer(writer);
    expect_traces(TRACES);
}

static void opens_after_every_truncation(void **state)
{
    static const char *const names[] = {"traces.dat", "text.log", "meta.log"};
    struct cn_store_options options = {.commit_len = 1};

    (void)state;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        struct cn_store_writer *writer = open_writer(&options);
        char path[64];
        struct stat st;

        add_traces(writer, 0, 6, true);
        close_writer(writer);
        (void)snprintf(path, sizeof(path), "store/000000/%s", names[n]);
        assert_int_equal(stat(path, &st), 0);
        for (off_t len = st.st_size; len >= 0; len -= 1 + len / 40) {
            unsigned counts[TRACES];

            assert_int_equal(truncate(path, len), 0);
            if (strcmp(names[n], "text.log") != 0)
                count_traces(counts);
            writer = open_writer(&options);
            close_writer(writer);
            if (strcmp(names[n], "meta.log") == 0)
                expect_traces(6);
        }
        cn_scratch_remove("store");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(gives_back_what_was_added),
        CN_SCRATCH_TEST(rotates_and_seals),
        CN_SCRATCH_TEST(takes_no_trace_twice),
        CN_SCRATCH_TEST(has_one_writer_only),
        CN_SCRATCH_TEST(readers_see_what_was_committed),
        CN_SCRATCH_TEST(recovers_without_its_indexes),
        CN_SCRATCH_TEST(a_bad_chunk_costs_that_chunk),
        CN_SCRATCH_TEST(a_lost_string_shows_its_number),
        CN_SCRATCH_TEST(the_number_of_a_lost_string_is_not_given_again),
        CN_SCRATCH_TEST(expires_whole_segments_and_keeps_pinned_traces),
        CN_SCRATCH_TEST(compacts_small_segments),
        CN_SCRATCH_TEST(opens_after_every_truncation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
