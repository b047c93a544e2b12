/* Power failures at every moment, processes killed at any, and a disk that fails: what was acknowledged is there
 * afterwards, once, and can be found. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/maintenance/maintenance.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/lanes.h"
#include "store/write/writer.h"
#include "support/forgetful_io.h"
#include "support/made_traces.h"
#include "support/scratch.h"

enum { TRACES = 26, COMMITS = 400 };

static uint64_t count_hits(struct cn_search *search, const char *text)
{
    struct cn_query *query;
    struct cn_error err = {0};
    uint64_t count = 0;

    if (!cn_query_parse(&query, text, 0, &err) ||
        !cn_search_count(search, query, &count, &err))
        fail_msg("%s: %s", text, err.text);
    cn_query_free(query);
    return count;
}

/* Every one of the first `acknowledged` traces is found by id, attribute and text, once; of the
 * others none is there twice. */
static void check_store(const char *path, uint32_t acknowledged, uint32_t written)
{
    struct cn_store *store;
    struct cn_search *search;
    struct cn_error err = {0};

    if (!cn_store_open(&store, path, &err) || !cn_search_open(&search, store, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < written; i++) {
        char queries[3][100];

        (void)snprintf(queries[0], sizeof(queries[0]), "id = %016llx%016llx parent = 0",
                       0xabcdef0000000000ULL + i, ~(unsigned long long)i);
        (void)snprintf(queries[1], sizeof(queries[1]), "request.id = r%u", i);
        (void)snprintf(queries[2], sizeof(queries[2]), "\"no item %u\" parent = 0", i);
        for (int q = 0; q < 3; q++) {
            uint64_t hits;

            if (q == 2 && (i % 5 != 0 || i % 13 < 3))
                continue; /* has no exception */
            hits = count_hits(search, queries[q]);
            if (q == 2 && hits > 1)
                continue; /* "no item 1" is in "no item 10" */
            if (hits > 1 || (hits == 0 && i < acknowledged))
                fail_msg("%s: %u acknowledged, %llu hits for %s", path, acknowledged,
                         (unsigned long long)hits, queries[q]);
        }
    }
    if (!cn_search_check(search, &err))
        fail_msg("%s: a crash is taken for damage: %s", path, err.text);
    cn_search_close(search);
    cn_store_close(store);
}

static void refuse_errors(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    if (finding->is_error)
        fail_msg("%s at %llu: %s: %s", finding->file, (unsigned long long)finding->off,
                 finding->rule, finding->text);
}

/* What a crash leaves is no error. */
static void verify_store(const char *path)
{
    struct cn_error err = {0};

    assert_true(cn_store_verify(path, NULL, refuse_errors, NULL, &err));
}

/* How many traces had been acknowledged when an operation began. */
struct history {
    struct cn_forgetful disk;
    size_t ops[COMMITS];
    uint32_t acknowledged[COMMITS];
    size_t count;
    uint32_t written;
};

static void acknowledge(struct history *history, uint32_t count)
{
    history->ops[history->count] = history->disk.count;
    history->acknowledged[history->count++] = count;
}

/* Deal them to the lanes one after the other. */
static void add_traces(const struct cn_store_lanes *lanes, unsigned count, uint32_t first,
                       uint32_t end)
{
    struct cn_trace trace = {0};
    struct cn_error err = {0};

    for (uint32_t i = first; i < end; i++) {
        struct cn_store_writer *writer = cn_store_lane(lanes, i % count);
        struct cn_words *words;

        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_made_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
    }
    cn_trace_done(&trace);
}

static void commit(const struct cn_store_lanes *lanes, unsigned count)
{
    struct cn_error err = {0};

    for (unsigned i = 0; i < count; i++)
        assert_true(cn_store_writer_commit(cn_store_lane(lanes, i), &err));
}

static void run_store(struct history *history, uint32_t commit_every, uint64_t rotate_len,
                      unsigned count)
{
    struct cn_store_options options = {.io = &history->disk.io, .rotate_len = rotate_len};
    struct cn_store_lanes *lanes;
    struct cn_error err = {0};

    cn_forgetful_init(&history->disk);
    assert_true(cn_store_init("run", &options, &err));
    acknowledge(history, 0);
    assert_true(cn_store_lanes_open(&lanes, "run", count, &options, &err));
    for (uint32_t i = 0; i < TRACES; i++) {
        add_traces(lanes, count, i, i + 1);
        if ((i + 1) % commit_every == 0) {
            commit(lanes, count);
            acknowledge(history, i + 1);
        }
    }
    assert_true(cn_store_lanes_close(lanes, &err));
    acknowledge(history, TRACES);
    history->written = TRACES;
}

static uint32_t acknowledged_at(const struct history *history, size_t ops)
{
    uint32_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->ops[i] <= ops)
            count = history->acknowledged[i];
    return count;
}

/* After the crash, all that was acknowledged is there; the client adds the rest again, perhaps
 * with another number of lanes, and then every trace is there once. */
static void check_crash(const struct history *history, size_t ops, enum cn_forget kind,
                        unsigned count)
{
    uint32_t acknowledged = acknowledged_at(history, ops);
    struct cn_forgetful unsynced; /* waiting for the disk would be most of the time */
    struct cn_store_options options = {.io = &unsynced.io};
    struct cn_store_lanes *lanes;
    struct cn_error err = {0};

    cn_scratch_remove("after");
    cn_forgetful_init(&unsynced);
    cn_forgetful_replay(&history->disk, ops, kind, ops * 17 + 3, "run", "after");
    check_store("after", acknowledged, history->written);
    if (ops % 8 == (size_t)kind)
        verify_store("after");
    if (!cn_store_lanes_open(&lanes, "after", count, &options, &err))
        fail_msg("after %zu operations, kind %d: %s", ops, (int)kind, err.text);
    add_traces(lanes, count, acknowledged, history->written);
    assert_true(cn_store_lanes_close(lanes, &err));
    cn_forgetful_done(&unsynced);
    check_store("after", history->written, history->written);
}

static void survives_power_failures(uint32_t commit_every, uint64_t rotate_len,
                                    unsigned lanes)
{
    struct history history = {0};

    run_store(&history, commit_every, rotate_len, lanes);
    for (size_t ops = history.ops[0]; ops <= history.disk.count; ops++)
        for (int kind = 0; kind < CN_FORGET_KINDS; kind++)
            /* Several lanes do much the same one after the other: a quarter is enough. */
            if (cn_forgetful_differs(&history.disk, ops, (enum cn_forget)kind) &&
                (lanes == 1 || (ops + (size_t)kind) % 4 == 0))
                check_crash(&history, ops, (enum cn_forget)kind,
                            lanes == 1 ? 1 : 1 + (unsigned)(ops % 3));
    cn_forgetful_done(&history.disk);
}

static void a_power_failure_loses_nothing_acknowledged(void **state)
{
    (void)state;
    survives_power_failures(9, 0, 1);
}

static void nor_does_it_while_the_segments_of_lanes_rotate(void **state)
{
    (void)state;
    survives_power_failures(9, 1250, 2);
}

/* Adds traces from `first` on and says after each commit how many there are; never returns. Each
 * commit takes a byte from `permits` and waits until there is one. */
static void keep_writing(const char *path, int out, int permits, uint32_t first,
                         uint64_t rotate_len, unsigned count)
{
    struct cn_store_options options = {.rotate_len = rotate_len};
    char permit;
    struct cn_store_lanes *lanes;
    struct cn_error err = {0};

    if (!cn_store_lanes_open(&lanes, path, count, &options, &err))
        _exit(3);
    for (uint32_t i = first;; i++) {
        add_traces(lanes, count, i, i + 1);
        if (i % 3 != 0)
            continue;
        if (read(permits, &permit, 1) != 1)
            _exit(7);
        commit(lanes, count);
        if (write(out, &i, sizeof(i)) != sizeof(i))
            _exit(6);
    }
}

static void a_killed_writer_loses_nothing_acknowledged(void **state)
{
    const char *runs_text = getenv("CAIRN_STORE_KILLS");
    unsigned runs = runs_text ? (unsigned)atoi(runs_text) : 15;
    uint32_t acknowledged = 0;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("killed", NULL, &err));
    for (unsigned run = 0; run < runs; run++) {
        struct timespec pause = {.tv_nsec = 1000000L * (1 + (long)(run * 7919) % 40)};
        static const char many[40] = {0}; /* more would only make it long to check them */
        int fds[2], permits[2], status;
        uint32_t last;
        pid_t child;

        assert_int_equal(pipe(fds) + pipe(permits), 0);
        assert_int_equal(write(permits[1], many, sizeof(many)), sizeof(many));
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(fds[0]);
            keep_writing("killed", fds[1], permits[0], acknowledged, 60000, 1 + run % 3);
        }
        (void)close(fds[1]);
        (void)nanosleep(&pause, NULL);
        (void)kill(child, SIGKILL);
        while (read(fds[0], &last, sizeof(last)) == sizeof(last))
            acknowledged = last + 1;
        (void)close(fds[0]);
        (void)close(permits[0]);
        (void)close(permits[1]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
    }
    check_store("killed", acknowledged, acknowledged + 3);
    verify_store("killed");
}

/* All rows of all segments, each of which can be loaded. */
static uint32_t load_all(struct cn_segment_loader *loader, struct cn_trace *trace)
{
    struct cn_store *store;
    struct cn_error err = {0};
    uint32_t rows = 0;

    if (!cn_store_open(&store, "shared", &err))
        fail_msg("%s", err.text);
    for (size_t s = 0; s < cn_store_segment_count(store); s++) {
        const struct cn_segment *segment = cn_store_segment(store, s);
        uint32_t count = cn_segment_row_count(segment);

        for (uint32_t i = 0; i < count; i += 1 + count / 20)
            if (!cn_segment_load(loader, segment, i, trace, &err))
                fail_msg("%s", err.text);
        rows += count;
    }
    cn_store_close(store);
    return rows;
}

static void readers_see_a_whole_store_while_it_is_written(void **state)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    uint32_t rows = 0, last;
    int fds[2], permits[2], status;
    pid_t child;

    (void)state;
    assert_true(cn_store_init("shared", NULL, &err));
    assert_int_equal(pipe(fds) + pipe(permits), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(fds[0]);
        (void)close(permits[1]);
        keep_writing("shared", fds[1], permits[0], 0, 8000, 2);
    }
    (void)close(fds[1]);
    (void)close(permits[0]);
    for (int i = 0; i < 60; i++) {
        uint32_t now;

        /* The writer goes on while the store is read, but not so far that reading never ends. */
        assert_int_equal(write(permits[1], "......", 6), 6);
        assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
        now = load_all(loader, &trace);
        assert_true(now >= rows && now > last);
        rows = now;
    }
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(fds[0]);
    (void)close(permits[1]);
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
}

/* A disk whose operation number `failing` fails, in whichever thread it is, and all after it. */
struct failing {
    struct cn_disk io;
    _Atomic(unsigned) count;
    unsigned failing;
    pthread_t owner;
    _Atomic(bool) has_failed_behind; /* the first that failed was of another thread */
};

static bool works(void *arg, struct cn_error *err)
{
    struct failing *disk = arg;
    unsigned number = ++disk->count;

    if (number < disk->failing)
        return true;
    if (number == disk->failing && !pthread_equal(pthread_self(), disk->owner))
        disk->has_failed_behind = true;
    return cn_fail(err, CN_ERR_IO, "the disk fails");
}

static bool failing_open(void *arg, const char *path, int *fd, struct cn_error *err)
{
    return works(arg, err) && cn_disk_files.open(NULL, path, fd, err);
}

static bool failing_write(void *arg, int fd, uint64_t off, const void *data, size_t len,
                          struct cn_error *err)
{
    /* Half of it is written, as on a disk that is full. */
    return works(arg, err) ? cn_disk_files.write(NULL, fd, off, data, len, err)
                           : cn_disk_files.write(NULL, fd, off, data, len / 2,
                                                 &(struct cn_error){0}) &&
                                 false;
}

static bool failing_sync(void *arg, int fd, struct cn_error *err)
{
    return works(arg, err) && cn_disk_files.sync(NULL, fd, err);
}

static bool failing_rename(void *arg, const char *from, const char *to,
                           struct cn_error *err)
{
    return works(arg, err) && cn_disk_files.rename(NULL, from, to, err);
}

static bool failing_sync_dir(void *arg, const char *path, struct cn_error *err)
{
    return works(arg, err) && cn_disk_files.sync_dir(NULL, path, err);
}

static void failing_init(struct failing *disk, unsigned failing)
{
    disk->io = cn_disk_files;
    disk->io.arg = disk;
    disk->io.open = failing_open;
    disk->io.write = failing_write;
    disk->io.sync = failing_sync;
    disk->io.rename = failing_rename;
    disk->io.sync_dir = failing_sync_dir;
    disk->count = 0;
    disk->failing = failing;
    disk->owner = pthread_self();
    disk->has_failed_behind = false;
}

/* Traces are added, each third commit by the owner, until a step fails; how many were acknowledged. */
static uint32_t add_until_failure(struct cn_store_writer *writer, uint32_t count,
                                  uint32_t *added, struct cn_error *err)
{
    struct cn_trace trace = {0};
    uint32_t acknowledged = 0;
    bool ok = true;

    for (*added = 0; ok && *added < count; *added += ok) {
        struct cn_words *words;

        ok = cn_store_writer_begin(writer, &words, err);
        if (!ok)
            break;
        cn_made_trace(&trace, words, *added);
        ok = cn_store_writer_add(writer, &trace, NULL, err);
        if (ok && *added % 32 == 31) {
            ok = cn_store_writer_commit(writer, err);
            acknowledged = ok ? *added + 1 : acknowledged;
        }
    }
    cn_trace_done(&trace);
    return acknowledged;
}

/* False if the disk did not fail. */
static bool fails_behind(unsigned failing, unsigned *behind_count)
{
    enum { COUNT = 96, COMMIT_LEN = 1500 };
    struct failing disk;
    struct cn_store_options options = {
        .io = &disk.io, .commit_len = COMMIT_LEN, .saves_behind = true};
    struct cn_store_lanes *lanes;
    struct cn_error err = {0}, reported = {0};
    uint32_t acknowledged, added = 0;

    cn_scratch_remove("behind");
    assert_true(cn_store_init("behind", NULL, &err));
    failing_init(&disk, failing);
    if (!cn_store_lanes_open(&lanes, "behind", 1, &options, &reported)) {
        assert_non_null(strstr(reported.text, "the disk fails"));
        return true;
    }
    acknowledged = add_until_failure(cn_store_lane(lanes, 0), COUNT, &added, &reported);
    bool is_closed = cn_store_lanes_close(lanes, reported.text[0] ? &err : &reported);
    bool has_failed = disk.count >= failing;
    *behind_count += disk.has_failed_behind;
    /* What failed is reported, by the step that saw it first, and those after it fail as well. */
    if (has_failed && (is_closed || !strstr(reported.text, "the disk fails")))
        fail_msg("operation %u: closed %d, reported '%s'", failing, is_closed,
                 reported.text);
    check_store("behind", is_closed ? COUNT : acknowledged, COUNT);
    verify_store("behind");
    /* The sender repeats it all. */
    options = (struct cn_store_options){0};
    assert_true(cn_store_lanes_open(&lanes, "behind", 1, &options, &err));
    add_traces(lanes, 1, 0, COUNT);
    assert_true(cn_store_lanes_close(lanes, &err));
    check_store("behind", COUNT, COUNT);
    return has_failed;
}

static void a_save_behind_that_fails_is_reported_and_loses_nothing(void **state)
{
    unsigned failing = 1, behind_count = 0;

    (void)state;
    while (fails_behind(failing, &behind_count))
        failing++;
    assert_true(failing > 30);
    assert_true(behind_count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_save_behind_that_fails_is_reported_and_loses_nothing),
        CN_SCRATCH_TEST(a_power_failure_loses_nothing_acknowledged),
        CN_SCRATCH_TEST(nor_does_it_while_the_segments_of_lanes_rotate),
        CN_SCRATCH_TEST(a_killed_writer_loses_nothing_acknowledged),
        CN_SCRATCH_TEST(readers_see_a_whole_store_while_it_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
