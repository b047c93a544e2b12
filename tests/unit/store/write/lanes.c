/* A store that was written with several lanes has the same answers, in the same order, as one
 * with a single lane; crashes, damage and care do not depend on lanes either.
 * Label: threads. */
#include <inttypes.h>
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

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "store/maintenance/maintenance.h"
#include "store/pipeline/ingest_files.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"
#include "store/write/ingest.h"
#include "store/write/lanes.h"
#include "store/write/writer.h"
#include "support/made_traces.h"
#include "support/requests.h"
#include "support/scratch.h"

enum { TRACES = 240, TIMES = 40, REQUESTS = 150, AGENTS = 3 };

static const unsigned lane_counts[] = {1, 2, 5};

/* Traces i, i + step, ... for a lane; many begin at the same time. */
struct writing {
    struct cn_store_lanes *lanes;
    unsigned count;
    bool rotates;
};

static void make_trace(struct cn_trace *trace, struct cn_words *words, uint32_t i)
{
    cn_made_trace(trace, words, i);
    for (uint32_t k = 0; k < trace->span_count; k++)
        trace->spans[k].time_ns = UINT64_C(1700000000000000000) + i % TIMES * 1000;
}

static void write_lane(void *arg, size_t job, unsigned worker)
{
    const struct writing *writing = arg;
    struct cn_store_writer *writer = cn_store_lane(writing->lanes, (unsigned)job);
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;

    (void)worker;
    for (uint32_t i = 0; i < TRACES; i++) {
        if (!cn_store_writer_begin(writer, &words, &err))
            fail_msg("%s", err.text);
        make_trace(&trace, words, i);
        if (cn_store_lane_of_trace(trace.id_high, trace.id_low, writing->count) != job)
            continue;
        if (!cn_store_writer_add(writer, &trace, NULL, &err) ||
            (writing->rotates && i % 100 < 50 / writing->count &&
             !cn_store_writer_rotate(writer, &err)))
            fail_msg("%s", err.text);
    }
    cn_trace_done(&trace);
}

static void write_store(const char *path, unsigned count, bool rotates)
{
    struct writing writing = {.count = count, .rotates = rotates};
    struct cn_jobs jobs = {.count = count, .arg = &writing, .run = write_lane};
    struct cn_error err = {0};

    if (access(path, F_OK) != 0)
        assert_true(cn_store_init(path, NULL, &err));
    if (!cn_store_lanes_open(&writing.lanes, path, count, NULL, &err))
        fail_msg("%s", err.text);
    cn_pool_run(&jobs, count);
    assert_true(cn_store_lanes_close(writing.lanes, &err));
}

/* The ids of all hits of some queries, in several orders and pages, as a text. */
static char *ask(const char *path)
{
    static const char *const texts[] = {"", "status = 200", "request.id = r7",
                                        "duration > 10us", "\"no item 1\""};
    static const struct cn_search_order orders[] = {
        {.sort = CN_SEARCH_BY_TIME, .limit = UINT64_MAX},
        {.sort = CN_SEARCH_BY_TIME, .is_reversed = true, .limit = UINT64_MAX},
        {.sort = CN_SEARCH_BY_TIME, .offset = 3, .limit = 20},
        {.sort = CN_SEARCH_BY_DURATION, .limit = 50},
        {.sort = CN_SEARCH_BY_ERRORS, .is_reversed = true, .limit = 33},
    };
    struct cn_text out = {0};
    struct cn_error err = {0};

    for (size_t t = 0; t < sizeof(texts) / sizeof(*texts); t++) {
        struct cn_store_query query;

        if (!cn_store_query_open(&query, path, texts[t], &err))
            fail_msg("%s", err.text);
        for (size_t o = 0; o < sizeof(orders) / sizeof(*orders); o++) {
            struct cn_search_hits hits;

            if (!cn_search_rows(query.search, query.query, &orders[o], &hits, &err))
                fail_msg("%s", err.text);
            cn_text_printf(&out, "%s %zu: %zu\n", texts[t], o, hits.count);
            for (size_t i = 0; i < hits.count; i++) {
                struct cn_store_row row;

                assert_true(cn_search_hit_row(query.search, &hits.list[i], &row, &err));
                cn_text_printf(&out, "%" PRIx64 "%" PRIx64 ".%" PRIx64 "\n",
                               row.trace_high, row.trace_low, row.span_id);
            }
            cn_search_hits_done(&hits);
        }
        if (!cn_search_check(query.search, &err))
            fail_msg("%s", err.text);
        cn_store_query_close(&query);
    }
    return out.chars;
}

static uint64_t count_traces(const char *path)
{
    struct cn_store_query query;
    struct cn_error err = {0};
    uint64_t count = 0;

    if (!cn_store_query_open(&query, path, "parent = 0", &err) ||
        !cn_search_count(query.search, query.query, &count, &err))
        fail_msg("%s", err.text);
    cn_store_query_close(&query);
    return count;
}

static void refuse_finding(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    if (finding->is_error)
        fail_msg("%s: %s", finding->file, finding->text);
}

static void verify(const char *path)
{
    struct cn_error err = {0};

    assert_true(cn_store_verify(path, NULL, refuse_finding, NULL, &err));
}

static void answers_do_not_depend_on_lanes(void **state)
{
    char *expected = NULL;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char path[20], *answers;

        (void)snprintf(path, sizeof(path), "lanes%u", lane_counts[i]);
        write_store(path, lane_counts[i], i > 0);
        verify(path);
        answers = ask(path);
        if (!expected) {
            expected = answers;
            continue;
        }
        assert_string_equal(answers, expected);
        free(answers);
    }
    free(expected);
}

/* Every lane knows what any lane had before. */
static void a_trace_is_stored_once_whatever_its_lane_was(void **state)
{
    uint64_t count;

    (void)state;
    write_store("store", 1, false);
    count = count_traces("store");
    write_store("store", 5, false);
    write_store("store", 2, false);
    write_store("store", 1, false);
    assert_int_equal(count_traces("store"), count);
    verify("store");
}

static void one_process_has_all_lanes(void **state)
{
    struct cn_store_lanes *lanes, *others;
    struct cn_store_writer *writer;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_lanes_open(&lanes, "store", 3, NULL, &err));
    assert_false(cn_store_lanes_open(&others, "store", 3, NULL, &err));
    assert_non_null(strstr(err.text, "is locked"));
    assert_false(cn_store_writer_open(&writer, "store", NULL, &err));
    assert_true(cn_store_lanes_close(lanes, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    assert_true(cn_store_writer_close(writer, &err));
}

/* Segments tell their lane; the first one has no name. */
static void segments_are_named_after_machine_and_lane(void **state)
{
    struct cn_store_config config;
    struct cn_error err = {0};
    char host[256] = "";

    (void)state;
    (void)gethostname(host, sizeof(host) - 1);
    write_store("store", 3, false);
    assert_true(cn_store_config_read(&config, "store/000000", &err));
    assert_string_equal(config.lane, "");
    assert_true(cn_store_config_read(&config, "store/000002", &err));
    assert_string_equal(config.lane + strlen(config.lane) - 2, "-2");
    assert_true(cn_store_lane_is_name(config.lane));
    if (cn_store_lane_is_name(host) && strlen(host) < 50)
        assert_int_equal(strncmp(config.lane, host, strlen(host)), 0);
    assert_true(cn_store_config_read(&config, "store", &err));
    assert_string_equal(config.lane, "");
}

/* A lane that fails is opened again while the others go on. */
static void a_lane_is_reopened_alone(void **state)
{
    struct cn_store_lanes *lanes;
    struct cn_trace trace = {0};
    struct cn_words *words;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_lanes_open(&lanes, "store", 2, NULL, &err));
    for (uint32_t i = 0; i < 12; i++) {
        struct cn_store_writer *writer = cn_store_lane(lanes, i % 2);

        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_made_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
        assert_true(cn_store_writer_commit(writer, &err));
        if (i == 5)
            assert_true(cn_store_lane_reopen(lanes, 1, &err));
        if (i == 7)
            assert_true(cn_store_writer_rotate(writer, &err));
        if (i == 9)
            assert_true(cn_store_lane_reopen(lanes, 1, &err));
    }
    for (uint32_t i = 1; i < 12; i += 2) {
        struct cn_store_added added = {0};

        assert_true(cn_store_writer_begin(cn_store_lane(lanes, 1), &words, &err));
        cn_made_trace(&trace, words, i);
        assert_true(cn_store_writer_add(cn_store_lane(lanes, 1), &trace, &added, &err));
        assert_int_equal(added.known, 1);
    }
    cn_trace_done(&trace);
    assert_true(cn_store_lanes_close(lanes, &err));
    assert_int_equal(count_traces("store"), 12);
    verify("store");
}

static void care_covers_all_lanes(void **state)
{
    struct cn_store_compaction compaction;
    struct cn_store_recovery recovery;
    struct cn_store_expiry expiry;
    struct cn_store_limits limits = {.before_ns = UINT64_C(1800000000000000000)};
    struct cn_error err = {0};
    char *before, *after;
    uint32_t sealed;
    uint64_t count;

    (void)state;
    write_store("store", 5, true);
    before = ask("store");
    count = count_traces("store");
    assert_true(cn_store_recover("store", &recovery, &err));
    verify("store");
    assert_int_equal(count_traces("store"), count);
    assert_true(cn_store_seal("store", &sealed, &err));
    if (!cn_store_compact("store", CN_STORE_FORM_DEFAULT, &compaction, &err))
        fail_msg("%s", err.text);
    assert_true(compaction.before > 5);
    assert_true(compaction.after <= 2);
    verify("store");
    after = ask("store");
    assert_string_equal(after, before);
    free(before);
    free(after);
    write_store("store", 5, false);
    assert_int_equal(count_traces("store"), count);
    /* Trace 3, and all others, are too old. */
    assert_true(
        cn_store_pin("store", 0xabcdef0000000000U + 3, ~UINT64_C(3), true, NULL, &err));
    assert_true(cn_store_expire("store", &limits, &expiry, &err));
    assert_int_equal(expiry.pinned_count, 1);
    assert_int_equal(count_traces("store"), 1);
    verify("store");
}

static void sealing_skips_what_a_crash_left(void **state)
{
    struct cn_error err = {0};
    uint32_t sealed;
    uint64_t count;

    (void)state;
    write_store("store", 2, false);
    count = count_traces("store");
    assert_int_equal(mkdir("store/0000ff", 0700), 0);
    assert_true(cn_store_seal("store", &sealed, &err));
    assert_int_equal(rmdir("store/0000ff"), 0);
    assert_int_equal(count_traces("store"), count);
}

static void note_file(void *arg, const struct cn_finding *finding)
{
    if (finding->is_error && strncmp(finding->file, "000003/", 7) != 0)
        fail_msg("%s: %s", finding->file, finding->text);
    *(unsigned *)arg += finding->is_error;
}

/* Damage in one lane costs its own traces, and is reported. All lanes can still be written. */
static void damage_stays_in_its_lane(void **state)
{
    struct cn_store_recovery recovery;
    struct cn_store_query query;
    struct cn_error err = {0};
    unsigned found = 0;
    uint64_t all;
    FILE *file;

    (void)state;
    write_store("store", 5, false);
    all = count_traces("store");
    file = fopen("store/000003/traces.dat", "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 200, SEEK_SET), 0);
    assert_int_equal(fwrite("damage", 1, 6, file), 6);
    assert_int_equal(fclose(file), 0);
    assert_true(cn_store_verify("store", NULL, note_file, &found, &err));
    assert_true(found > 0);
    assert_true(cn_store_recover("store", &recovery, &err));
    assert_int_equal(recovery.bad_chunks, 1);
    assert_in_range(count_traces("store"), all - all / 3, all - 1);
    write_store("store", 5, false); /* adds what was lost */
    assert_int_equal(count_traces("store"), all);
    assert_true(cn_store_query_open(&query, "store", "request.id = r3", &err));
    assert_true(cn_search_count(query.search, query.query, &all, &err));
    assert_false(cn_search_check(query.search, &err));
    assert_non_null(strstr(err.text, "000003/traces.dat"));
    cn_store_query_close(&query);
}

static void add_request(struct cn_text *out, const char *what, const char *headers,
                        const struct cn_text *body)
{
    cn_text_printf(out, "POST /agent/submit/%s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n",
                   what, headers, body->len);
    cn_text_add(out, cn_text_str(body), body->len);
}

static void write_file(const char *path, const struct cn_text *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(cn_text_str(text), 1, text->len, file), text->len);
    assert_int_equal(fclose(file), 0);
}

/* Requests of three agents that number their symbols differently; in the middle one of them is
 * started again. Some symbols are in the body of a trace, before or after it. */
static void make_requests(const char *path)
{
    struct cn_requests agents[AGENTS];
    struct cn_text out = {0};

    for (uint64_t i = 0; i < AGENTS; i++) {
        cn_requests_init(&agents[i], 100 + i);
        agents[i].calls_max = 12;
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct cn_requests *agent = &agents[i % AGENTS];
        struct cn_text both = {0};
        char headers[200];
        bool is_reset = i == REQUESTS / 3 * 2;
        int len;

        if (is_reset) {
            cn_requests_done(agent);
            cn_requests_init(agent, 7);
            agent->calls_max = 12;
        }
        cn_requests_next(agent);
        len = snprintf(headers, sizeof(headers), "X-Zorka-Session-Id: agent%u\r\n",
                       i % AGENTS);
        if (is_reset || agent->number == 1)
            (void)snprintf(headers + len, sizeof(headers) - (size_t)len,
                           "X-Zorka-Session-Reset: true\r\n");
        if (i % 2 == 0 && agent->symbols.len > 0)
            add_request(&out, "agd", headers, &agent->symbols);
        (void)snprintf(headers + len, sizeof(headers) - (size_t)len,
                       "X-Zorka-Trace-Id: %016" PRIx64 "%016" PRIx64 "\r\n",
                       agent->trace_id[0], agent->trace_id[1]);
        if (i % 2 != 0)
            cn_text_add(&both, cn_text_str(&agent->symbols), agent->symbols.len);
        cn_text_add(&both, cn_text_str(&agent->trace), agent->trace.len);
        /* A string that the next trace of this agent redefines. */
        if (i % 7 == 0)
            cn_text_add(&both, "\xc1\x82\x19\xff\x00\x61x", 7);
        add_request(&out, "trc", headers, &both);
        cn_text_done(&both);
    }
    write_file(path, &out);
    cn_text_done(&out);
    for (unsigned i = 0; i < AGENTS; i++)
        cn_requests_done(&agents[i]);
}

static void make_spans(const char *path, unsigned first)
{
    struct cn_text out = {0};

    cn_text_char(&out, '[');
    for (unsigned i = first; i < first + 60; i++)
        cn_text_printf(&out,
                       "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",\"name\":\"op%u\","
                       "\"timestamp\":1700000000000000,\"duration\":%u}",
                       i > first ? "," : "", i / 3 + 1, i + 1, i % 5, i % 9 + 1);
    cn_text_char(&out, ']');
    write_file(path, &out);
    cn_text_done(&out);
}

static char *stored_calls(const char *path)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_search_order order = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_trace trace = {0};
    struct cn_text out = {0};
    struct cn_error err = {0};
    struct cn_store_query query;
    struct cn_search_hits hits;

    assert_true(cn_store_query_open(&query, path, "", &err));
    assert_true(cn_search_rows(query.search, query.query, &order, &hits, &err));
    for (size_t i = 0; i < hits.count; i++) {
        const struct cn_segment *segment =
            cn_store_segment(query.store, hits.list[i].segment);

        assert_true(cn_segment_load(loader, segment, hits.list[i].row, &trace, &err));
        for (uint32_t n = 0; n < trace.node_count; n++) {
            cn_words_print(trace.words, trace.nodes[n].method, &out);
            cn_text_char(&out, '\n');
        }
    }
    cn_search_hits_done(&hits);
    cn_store_query_close(&query);
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    return out.chars;
}

static void files_give_the_same_store_with_any_number_of_lanes(void **state)
{
    char *expected = NULL;

    (void)state;
    make_requests("requests.http");
    make_spans("spans.json", 0);
    make_spans("more.json", 40);
    for (size_t i = 0; i < 3; i++) {
        static const char *const paths[] = {"requests.http", "spans.json", "more.json"};
        struct cn_store_options options = {.commit_len = 4096, .saves_behind = i > 0};
        struct cn_store_lanes *lanes;
        struct cn_store_added added;
        struct cn_error err = {0};
        char path[20], *calls;

        (void)snprintf(path, sizeof(path), "files%u", lane_counts[i]);
        assert_true(cn_store_init(path, NULL, &err));
        assert_true(cn_store_lanes_open(&lanes, path, lane_counts[i], &options, &err));
        if (!cn_store_ingest_files(lanes, lane_counts[i], paths, 3, &added, &err))
            fail_msg("%s", err.text);
        assert_int_equal(added.traces, REQUESTS + 100);
        assert_int_equal(added.known, 20);
        assert_true(cn_store_lanes_close(lanes, &err));
        calls = stored_calls(path);
        if (!expected) {
            expected = calls;
            continue;
        }
        assert_string_equal(calls, expected);
        free(calls);
    }
    free(expected);
}

/* All lanes stop at the first request that is refused; everything before it is there. */
static void a_refused_request_ends_all_lanes(void **state)
{
    struct cn_text bad = {0};

    (void)state;
    make_requests("requests.http");
    cn_text_str_add(&bad, "POST /agent/submit/trc HTTP/1.1\r\n"
                          "Content-Length: 3\r\n\r\n\xc3\x9f!");
    write_file("bad.http", &bad);
    cn_text_done(&bad);
    for (size_t i = 0; i < 3; i++) {
        static const char *const paths[] = {"requests.http", "bad.http", "missing.http"};
        struct cn_store_lanes *lanes;
        struct cn_store_added added;
        struct cn_error err = {0};
        char path[20];

        (void)snprintf(path, sizeof(path), "bad%u", lane_counts[i]);
        assert_true(cn_store_init(path, NULL, &err));
        assert_true(cn_store_lanes_open(&lanes, path, lane_counts[i], NULL, &err));
        assert_false(
            cn_store_ingest_files(lanes, lane_counts[i], paths, 3, &added, &err));
        assert_non_null(strstr(err.text, "bad.http: request at 0:"));
        assert_true(added.traces >= REQUESTS);
        assert_false(
            cn_store_ingest_files(lanes, lane_counts[i], paths + 2, 1, &added, &err));
        assert_non_null(strstr(err.text, "missing.http"));
        assert_true(cn_store_lanes_close(lanes, &err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(answers_do_not_depend_on_lanes),
        CN_SCRATCH_TEST(a_trace_is_stored_once_whatever_its_lane_was),
        CN_SCRATCH_TEST(one_process_has_all_lanes),
        CN_SCRATCH_TEST(segments_are_named_after_machine_and_lane),
        CN_SCRATCH_TEST(a_lane_is_reopened_alone),
        CN_SCRATCH_TEST(care_covers_all_lanes),
        CN_SCRATCH_TEST(sealing_skips_what_a_crash_left),
        CN_SCRATCH_TEST(damage_stays_in_its_lane),
        CN_SCRATCH_TEST(files_give_the_same_store_with_any_number_of_lanes),
        CN_SCRATCH_TEST(a_refused_request_ends_all_lanes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
