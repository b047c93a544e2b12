/* The collector: callbacks, limits, and disks that fail.
 * Label: threads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/files/disk.h"
#include "formats/zorka/request.h"
#include "store/maintenance/maintenance.h"
#include "store/pipeline/collector.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"
#include "support/scratch.h"

enum { BODY_LEN = 32, PATIENCE_MS = 60000 };

/* A disk that blocks syncs, or is full, on demand. */
struct test_disk {
    struct cn_disk io;
    atomic_bool is_held, is_full;
    atomic_uint syncs;
};

static void sleep_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

static bool test_sync(void *arg, int fd, struct cn_error *err)
{
    struct test_disk *disk = arg;

    atomic_fetch_add(&disk->syncs, 1);
    while (atomic_load(&disk->is_held))
        sleep_ms(1);
    return cn_disk_files.sync(cn_disk_files.arg, fd, err);
}

/* Half of it fits. */
static bool test_write(void *arg, int fd, uint64_t off, const void *data, size_t len,
                       struct cn_error *err)
{
    struct test_disk *disk = arg;
    bool is_full = atomic_load(&disk->is_full);

    if (!cn_disk_files.write(cn_disk_files.arg, fd, off, data, is_full ? len / 2 : len,
                             err))
        return false;
    errno = ENOSPC;
    return !is_full || cn_fail_errno(err, "cannot write");
}

static void test_init(struct test_disk *disk)
{
    *disk = (struct test_disk){.io = cn_disk_files};
    disk->io.arg = disk;
    disk->io.sync = test_sync;
    disk->io.write = test_write;
}

/* Outcomes of requests. */
struct answers {
    atomic_uint safe, refused, not_saved;
};

static void on_answer(void *arg, enum cn_collected how, uint64_t rejected,
                      const struct cn_error *err)
{
    struct answers *answers = arg;

    (void)rejected;
    (void)err;
    atomic_fetch_add(how == CN_COLLECTED       ? &answers->safe
                     : how == CN_COLLECTED_NOT ? &answers->refused
                                               : &answers->not_saved,
                     1);
}

static void wait_for(const atomic_uint *count, unsigned expected)
{
    for (int ms = 0; ms < PATIENCE_MS && atomic_load(count) < expected; ms++)
        sleep_ms(1);
    assert_int_equal(atomic_load(count), expected);
}

static bool submit(struct cn_collector *collector, struct cn_bytes body, uint32_t id,
                   const char *who, struct answers *answers)
{
    struct cn_zorka_request request = {
        .session = "s",
        .is_agent = true,
        .has_trace_id = id > 0,
        .id_high = 1,
        .id_low = id,
        .body = body,
    };

    return cn_collector_submit(collector, CN_COLLECT_AGENT, &request, who, on_answer,
                               answers);
}

/* A string that is class, name and signature of a method, and the method. */
static bool submit_symbols_of(struct cn_collector *collector, const char *who,
                              struct answers *answers)
{
    static const uint8_t body[] = {0xc1, 0x82, 1, 0x61, 'x', 0xc2, 0x84, 1, 1, 1, 1};

    return submit(collector, (struct cn_bytes){body, sizeof(body)}, 0, who, answers);
}

static bool submit_symbols(struct cn_collector *collector, struct answers *answers)
{
    return submit_symbols_of(collector, "a", answers);
}

/* Traces that are one call each, and stay until the end of the test. */
static uint8_t bodies[4096][BODY_LEN];

static bool submit_trace(struct cn_collector *collector, uint32_t id, const char *who,
                         struct answers *answers)
{
    static const uint8_t begin[] = {0xc3, 0x9f, 0x19, 3, 0xe8, 1, 0xc5, 0x84,
                                    0x1a, 0x60, 0,    0, 0,    1, 0x1a},
                         end[] = {0, 0xc4, 0x82, 0x19, 7, 0xd0, 1, 0xff};
    uint8_t *body = bodies[id];
    size_t len = sizeof(begin);

    memcpy(body, begin, sizeof(begin));
    cn_u32_be_put(body + len, id);
    len += sizeof(uint32_t);
    memcpy(body + len, end, sizeof(end));
    return submit(collector, (struct cn_bytes){body, len + sizeof(end)}, id, who,
                  answers);
}

/* With one lane, unless the options say otherwise. */
static struct cn_collector *open_collector(const struct cn_collector_options *options)
{
    struct cn_collector_options used =
        options ? *options : (struct cn_collector_options){0};
    struct cn_collector *collector;
    struct cn_error err = {0};

    if (used.lanes == 0)
        used.lanes = 1;
    if (!cn_collector_open(&collector, "store", &used, &err))
        fail_msg("%s", err.text);
    return collector;
}

static void close_collector(struct cn_collector *collector)
{
    struct cn_error err = {0};

    if (!cn_collector_close(collector, &err))
        fail_msg("%s", err.text);
}

static uint64_t count_traces(void)
{
    struct cn_store *store;
    struct cn_search *search;
    struct cn_query *query;
    struct cn_error err = {0};
    uint64_t count = 0;

    assert_true(cn_store_open(&store, "store", &err));
    assert_true(cn_search_open(&search, store, &err));
    assert_true(cn_query_parse(&query, "method = x", 0, &err));
    assert_true(cn_search_count(search, query, &count, &err));
    cn_query_free(query);
    cn_search_close(search);
    cn_store_close(store);
    return count;
}

static void on_finding(void *arg, const struct cn_finding *finding)
{
    unsigned *count = arg;

    print_error("%s: %s: %s\n", finding->file, finding->rule, finding->text);
    *count += finding->is_error;
}

static void expect_sound_store(uint64_t trace_count)
{
    struct cn_error err = {0};
    unsigned findings = 0;

    assert_true(cn_store_verify("store", NULL, on_finding, &findings, &err));
    assert_int_equal(findings, 0);
    assert_int_equal(count_traces(), trace_count);
}

static void says_when_a_request_is_safe(void **state)
{
    struct cn_collector *collector = open_collector(NULL);
    struct answers answers = {0};

    (void)state;
    assert_true(submit_symbols(collector, &answers));
    for (uint32_t id = 1; id <= 100; id++)
        assert_true(submit_trace(collector, id, "a", &answers));
    wait_for(&answers.safe, 101);
    assert_int_equal(count_traces(), 100);
    assert_true(submit_trace(collector, 7, "a", &answers)); /* again */
    wait_for(&answers.safe, 102);
    assert_int_equal(cn_collector_counts(collector).known, 1);
    close_collector(collector);
    expect_sound_store(100);
}

static void refuses_malformed_requests_at_once(void **state)
{
    struct test_disk disk;
    struct cn_collector *collector;
    struct answers answers = {0};

    (void)state;
    test_init(&disk);
    collector = open_collector(&(struct cn_collector_options){.io = &disk.io});
    atomic_store(&disk.is_held, true);
    assert_true(submit_trace(collector, 1, "a", &answers)); /* without symbols */
    wait_for(&answers.refused, 1);
    atomic_store(&disk.is_held, false);
    close_collector(collector);
    expect_sound_store(0);
}

static void reads_on_while_the_disk_is_busy(void **state)
{
    struct test_disk disk;
    struct cn_collector *collector;
    struct answers answers = {0};
    unsigned before;

    (void)state;
    test_init(&disk);
    collector = open_collector(&(struct cn_collector_options){.io = &disk.io});
    assert_true(submit_symbols(collector, &answers));
    wait_for(&answers.safe, 1);
    before = atomic_load(&disk.syncs);
    atomic_store(&disk.is_held, true);
    assert_true(submit_trace(collector, 1, "a", &answers));
    wait_for(&disk.syncs, before + 1);
    for (uint32_t id = 2; id <= 50; id++)
        assert_true(submit_trace(collector, id, "a", &answers));
    for (int ms = 0; ms < PATIENCE_MS && cn_collector_counts(collector).traces < 50; ms++)
        sleep_ms(1);
    assert_int_equal(cn_collector_counts(collector).traces, 50);
    assert_int_equal(atomic_load(&answers.safe), 1);
    atomic_store(&disk.is_held, false);
    wait_for(&answers.safe, 51);
    /* All requests that came meanwhile are one commit. */
    assert_int_equal(cn_collector_counts(collector).commits, 2);
    close_collector(collector);
    expect_sound_store(50);
}

static void puts_off_requests_beyond_the_limits(void **state)
{
    struct test_disk disk;
    struct cn_collector *collector;
    struct answers answers = {0};

    (void)state;
    test_init(&disk);
    collector = open_collector(&(struct cn_collector_options){
        .io = &disk.io, .waiting_max = 5, .waiting_max_of_one = 3});
    assert_true(submit_symbols(collector, &answers));
    wait_for(&answers.safe, 1);
    atomic_store(&disk.is_held, true);
    for (uint32_t id = 1; id <= 3; id++)
        assert_true(submit_trace(collector, id, "a", &answers));
    assert_false(submit_trace(collector, 4, "a", &answers));
    assert_true(submit_trace(collector, 5, "b", &answers));
    assert_true(submit_trace(collector, 6, "b", &answers));
    assert_false(submit_trace(collector, 7, "c", &answers));
    assert_int_equal(cn_collector_counts(collector).put_off, 2);
    atomic_store(&disk.is_held, false);
    wait_for(&answers.safe, 6);
    assert_true(submit_trace(collector, 7, "a", &answers));
    wait_for(&answers.safe, 7);
    close_collector(collector);
    expect_sound_store(6);
}

static void a_full_disk_costs_nothing_acknowledged(void **state)
{
    struct test_disk disk;
    struct cn_collector *collector;
    struct answers answers = {0};

    (void)state;
    test_init(&disk);
    collector =
        open_collector(&(struct cn_collector_options){.io = &disk.io, .lanes = 2});
    assert_true(submit_symbols(collector, &answers));
    assert_true(submit_trace(collector, 1, "a", &answers));
    wait_for(&answers.safe, 2);
    atomic_store(&disk.is_full, true);
    assert_true(submit_trace(collector, 2, "a", &answers));
    wait_for(&answers.not_saved, 1);
    assert_true(submit_trace(collector, 3, "a", &answers));
    wait_for(&answers.not_saved, 2);
    atomic_store(&disk.is_full, false);
    sleep_ms(1100);
    /* The store is open again, without the symbols of agents. */
    assert_true(submit_trace(collector, 2, "a", &answers));
    wait_for(&answers.refused, 1);
    assert_true(submit_symbols(collector, &answers));
    assert_true(submit_trace(collector, 2, "a", &answers));
    wait_for(&answers.safe, 4);
    close_collector(collector);
    expect_sound_store(2);
}

static void the_segments_of_lanes_follow_each_other_under_load(void **state)
{
    static const char *const senders[] = {"a", "b", "c", "d", "e"};
    struct cn_store_options small = {.rotate_len = 20000};
    struct cn_collector *collector;
    struct answers answers = {0};
    struct cn_error err = {0};
    struct cn_store *store;
    unsigned open_count = 0;

    (void)state;
    assert_true(cn_store_init("store", &small, &err));
    collector = open_collector(&(struct cn_collector_options){.lanes = 3});
    for (int i = 0; i < 5; i++)
        assert_true(submit_symbols_of(collector, senders[i], &answers));
    for (uint32_t id = 1; id < 2000; id++) {
        while (!submit_trace(collector, id, senders[id % 5], &answers))
            sleep_ms(1);
        if (id % 100 == 0) /* otherwise all would be one commit */
            wait_for(&answers.safe, id + 5);
    }
    wait_for(&answers.safe, 1999 + 5);
    close_collector(collector);
    expect_sound_store(1999);
    assert_true(cn_store_open(&store, "store", &err));
    assert_true(cn_store_segment_count(store) > 3);
    for (size_t i = 0; i < cn_store_segment_count(store); i++)
        open_count += !cn_segment_is_sealed(cn_store_segment(store, i));
    assert_int_equal(open_count, 3);
    cn_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(says_when_a_request_is_safe),
        CN_SCRATCH_TEST(refuses_malformed_requests_at_once),
        CN_SCRATCH_TEST(reads_on_while_the_disk_is_busy),
        CN_SCRATCH_TEST(puts_off_requests_beyond_the_limits),
        CN_SCRATCH_TEST(a_full_disk_costs_nothing_acknowledged),
        CN_SCRATCH_TEST(the_segments_of_lanes_follow_each_other_under_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
