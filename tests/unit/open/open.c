/* The one entry to data: every kind of source by everything that can be wanted of it, and the cache
 * of analyses. */

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/run/progress.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/open.h"
#include "store/write/writer.h"
#include "support/exchange_inputs.h"
#include "support/made_traces.h"
#include "support/perf_inputs.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/scratch.h"
#include "support/tiny_meas.h"

enum { LOST = 6 }; /* records of the sample recording */

static const char views[] = "cache/cairn/views";

/* A scratch with a cache of its own. */
static int enter(void **state)
{
    char folder[4096];

    (void)cn_scratch_setup(state);
    assert_non_null(getcwd(folder, sizeof(folder) - 8));
    strcat(folder, "/cache");
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_int_equal(mkdir("tmp", 0700), 0);
    folder[strlen(folder) - strlen("cache")] = '\0';
    strcat(folder, "tmp");
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    assert_int_equal(unsetenv("CAIRN_CACHE_MIB"), 0);
    return 0;
}

/* Nothing temporary is left, and nothing that was not finished. */
static int leave(void **state)
{
    DIR *dir = opendir(views);
    const struct dirent *entry;

    assert_int_equal(cn_scratch_count("tmp"), 0);
    while (dir && (entry = readdir(dir)))
        assert_true(entry->d_name[0] != '.' || strcmp(entry->d_name, ".") == 0 ||
                    strcmp(entry->d_name, "..") == 0);
    if (dir)
        (void)closedir(dir);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    return cn_scratch_teardown(state);
}

#define OPEN_TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static void write_recording(const char *path)
{
    struct cn_error err;

    if (!cn_sample_recording_write(path, &err))
        fail_msg("%s", err.text);
}

static void write_store(const char *path)
{
    struct cn_words words = {0};
    struct cn_store_writer *writer;
    struct cn_trace trace = {0};
    struct cn_error err;

    assert_true(cn_store_init(path, NULL, &err));
    assert_true(cn_store_writer_open(&writer, path, NULL, &err));
    for (uint32_t i = 0; i < 4; i++) {
        cn_made_trace(&trace, &words, i);
        if (!cn_store_writer_add(writer, &trace, NULL, &err))
            fail_msg("%s", err.text);
    }
    assert_true(cn_store_writer_close(writer, &err));
    cn_trace_done(&trace);
    cn_words_done(&words);
}

/* One source of each kind. */
static void write_all(void)
{
    struct cn_tiny_meas_options thread = {0};
    struct cn_error err;
    size_t len;
    uint8_t *perf = cn_test_perf(CN_TEST_PERF_FILE, &len);

    assert_true(cn_sample_write("database", &err));
    write_recording("recording");
    write_store("store");
    cn_tiny_meas_write(&thread, "measured");
    cn_scratch_write("samples", cn_test_folded, strlen(cn_test_folded));
    cn_scratch_write("perf", perf, len);
    cn_scratch_write("spans", cn_test_zipkin, strlen(cn_test_zipkin));
    cn_scratch_write("calls", cn_test_chrome, strlen(cn_test_chrome));
    assert_int_equal(mkdir("ranks", 0700), 0);
    write_recording("ranks/rank.0");
    write_recording("ranks/rank.1");
    free(perf);
}

static void opens_everything_as_everything(void **state)
{
    static const struct {
        const char *path;
        unsigned contains, wants; /* that can be had */
        bool is_analysed;
    } sources[] = {
        {"database", CN_CONTEXTS, CN_CONTEXTS, false},
        {"samples", CN_CONTEXTS, CN_CONTEXTS, false},
        {"perf", CN_CONTEXTS, CN_CONTEXTS, true},
        {"measured", CN_CONTEXTS, CN_CONTEXTS, true},
        {"ranks", CN_CONTEXTS, CN_CONTEXTS, true},
        {"recording", CN_CALLS, CN_CALLS | CN_CONTEXTS, true},
        {"calls", CN_CALLS, CN_CALLS | CN_CONTEXTS, true},
        {"spans", CN_CALLS, CN_CALLS | CN_CONTEXTS, true},
        {"store", CN_CALLS | CN_TRACES, CN_CALLS | CN_CONTEXTS | CN_TRACES, true},
    };

    (void)state;
    write_all();
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
        for (unsigned wants = 0; wants < 8; wants++) {
            bool can = (wants & ~sources[i].wants) == 0;
            struct cn_opened opened;
            struct cn_error err;

            if (cn_open(&opened, sources[i].path, wants, NULL, &err) != can)
                fail_msg("%s %u: %s", sources[i].path, wants, can ? err.text : "opens");
            if (!can) {
                assert_int_equal(err.kind, CN_ERR_USAGE);
                assert_non_null(strstr(err.text, sources[i].path));
                continue;
            }
            assert_int_equal(opened.contains, sources[i].contains);
            assert_int_equal(cn_opened_is_analysed(&opened), sources[i].is_analysed);
            assert_int_equal(opened.rec != NULL, (wants & CN_CALLS) != 0);
            assert_int_equal(opened.db != NULL, (wants & CN_CONTEXTS) != 0);
            assert_int_equal(opened.store != NULL, (wants & CN_TRACES) != 0);
            assert_int_equal(opened.folder.path != NULL,
                             opened.db && sources[i].is_analysed);
            cn_opened_close(&opened);
        }
    /* Each analysis was made once. */
    assert_int_equal(cn_scratch_count(views), 7);
}

static void opens_what_a_source_is(void **state)
{
    static const char *const paths[] = {"database", "measured", "recording", "spans",
                                        "store"};

    (void)state;
    write_all();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct cn_opened opened;
        struct cn_error err;

        if (!cn_open(&opened, paths[i], CN_OWN, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(opened.db != NULL, i < 2);
        assert_int_equal(opened.rec != NULL, i == 2 || i == 3);
        assert_int_equal(opened.store != NULL, i == 4);
        assert_int_equal(opened.is_of_traces, i >= 3);
        cn_opened_close(&opened);
    }
}

static void says_what_it_cannot_open(void **state)
{
    struct cn_open_options query = {.query = "errors"};
    struct cn_opened opened;
    struct cn_error err;

    (void)state;
    assert_false(cn_open(&opened, "nosuch", CN_CONTEXTS, NULL, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_string_equal(err.text, "nosuch: no such file or directory");
    cn_scratch_write("text", "x", 1);
    assert_false(cn_open(&opened, "text", 0, NULL, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "text: not a format cairn can read; it reads: hpc"));
    write_recording("recording");
    assert_false(cn_open(&opened, "recording", CN_CALLS, &query, &err));
    assert_string_equal(err.text, "recording is not a store; a query is for stores");
}

struct count {
    struct cn_progress progress;
    unsigned reports;
};

static bool on_report(void *arg, const char *what, uint64_t done, uint64_t total,
                      const char *unit)
{
    (void)what;
    (void)done;
    (void)total;
    (void)unit;
    ((struct count *)arg)->reports++;
    return true;
}

/* Open the contexts; returns how often the analysis reported progress: 0 if there was none. */
static unsigned open_contexts(struct cn_opened *opened, const char *path,
                              const struct cn_open_options *options)
{
    struct count count = {.progress = {.report = on_report, .arg = &count}};
    struct cn_error err;

    if (!cn_open(opened, path, 0, options, &err) ||
        !cn_opened_load(opened, CN_CONTEXTS, &count.progress, &err))
        fail_msg("%s", err.text);
    return count.reports;
}

static void analyses_once(void **state)
{
    static const char *const paths[] = {"recording", "store", "measured", "perf",
                                        "ranks",     "spans", "calls"};
    struct cn_open_options raw = {.is_raw = true};
    struct cn_opened opened;

    (void)state;
    write_all();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        assert_true(open_contexts(&opened, paths[i], NULL) > 0);
        cn_opened_close(&opened);
        assert_int_equal(open_contexts(&opened, paths[i], NULL), 0);
        cn_opened_close(&opened);
    }
    /* Recorded times are another analysis. */
    assert_true(open_contexts(&opened, "recording", &raw) > 0);
    cn_opened_close(&opened);
    assert_int_equal(open_contexts(&opened, "recording", NULL), 0);
    cn_opened_close(&opened);
}

static void analyses_again_what_changed(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct cn_opened before, after;

    (void)state;
    write_recording("run.data");
    (void)open_contexts(&before, "run.data", NULL);
    cn_opened_close(&before);
    assert_int_equal(utimensat(AT_FDCWD, "run.data/info", times, 0), 0);
    assert_true(open_contexts(&before, "run.data", NULL) > 0);
    assert_int_equal(cn_scratch_count(views), 1);
    /* An earlier analysis stays as long as it is open. */
    cn_scratch_write("run.data/more", "x", 1);
    assert_true(open_contexts(&after, "run.data", NULL) > 0);
    assert_int_equal(cn_scratch_count(views), 2);
    assert_int_equal(before.db->profile_count, after.db->profile_count);
    cn_opened_close(&before);
    cn_opened_close(&after);
}

static void knows_what_was_lost_every_time(void **state)
{
    struct cn_opened opened;

    (void)state;
    write_recording("run.data");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_contexts(&opened, "run.data", NULL) > 0, i == 0);
        assert_int_equal(opened.about.analysis.lost_count, LOST);
        assert_false(cn_opened_is_damaged(&opened));
        cn_opened_close(&opened);
    }
}

/* Cut the records of the first task off in the middle of one. */
static void damage(const char *folder)
{
    char path[64];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/100.dat", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 5), 0);
}

static void warns_of_damage_every_time(void **state)
{
    struct cn_opened opened;

    (void)state;
    write_recording("run.data");
    damage("run.data");
    for (int i = 0; i < 2; i++) {
        const struct cn_warning *warning;

        assert_int_equal(open_contexts(&opened, "run.data", NULL) > 0, i == 0);
        warning = cn_opened_warnings(&opened);
        assert_non_null(warning);
        assert_true(warning->is_damage);
        assert_non_null(strstr(warning->text, "task 100: 100.dat: "));
        assert_non_null(strstr(warning->text, "; what could be read is analysed"));
        assert_null(warning->next);
        assert_true(cn_opened_is_damaged(&opened));
        cn_opened_close(&opened);
    }
}

/* The file of the only analysis in the cache. */
static void find_cached(const char *name, char path[static 4096])
{
    DIR *dir = opendir(views);
    const struct dirent *entry;

    path[0] = '\0';
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            (void)snprintf(path, 4096, "%s/%s/%s", views, entry->d_name, name);
    assert_non_null(dir);
    (void)closedir(dir);
}

static void replaces_what_cannot_be_read(void **state)
{
    static const char *const names[] = {"about.json", "calls.db/meta.db"};
    struct cn_opened opened;

    (void)state;
    write_recording("run.data");
    (void)open_contexts(&opened, "run.data", NULL);
    cn_opened_close(&opened);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char path[4096];

        find_cached(names[i], path);
        assert_int_equal(truncate(path, 20), 0);
        assert_true(open_contexts(&opened, "run.data", NULL) > 0);
        cn_opened_close(&opened);
        assert_int_equal(open_contexts(&opened, "run.data", NULL), 0);
        cn_opened_close(&opened);
    }
}

static void looks_again_for_programs(void **state)
{
    struct cn_opened opened;
    char path[4096], text[8192], *at;
    FILE *file;
    size_t len;

    (void)state;
    write_recording("run.data");
    (void)open_contexts(&opened, "run.data", NULL);
    cn_opened_close(&opened);
    find_cached("about.json", path);
    file = fopen(path, "r+");
    assert_non_null(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    at = strstr(text, "\"missing\": [");
    assert_non_null(at); /* the programs of the sample do not exist */
    strcpy(at, "\"missing\": [\"/\"]}\n");
    rewind(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(ftruncate(fileno(file), (off_t)strlen(text)), 0);
    assert_int_equal(fclose(file), 0);
    assert_true(open_contexts(&opened, "run.data", NULL) > 0);
    cn_opened_close(&opened);
    assert_int_equal(open_contexts(&opened, "run.data", NULL), 0);
    cn_opened_close(&opened);
}

/* Let `input` be standard input; returns what was. */
static int set_input(const char *input)
{
    int old = dup(STDIN_FILENO), fd = open(input, O_RDONLY);

    assert_true(old >= 0 && fd >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    (void)close(fd);
    return old;
}

static void reads_standard_input(void **state)
{
    static const char *const paths[] = {"samples", "calls", "perf"};
    struct cn_opened opened;
    struct cn_error err;
    int old;

    (void)state;
    write_all();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        old = set_input(paths[i]);
        (void)open_contexts(&opened, "-", NULL);
        assert_string_equal(opened.path, "-");
        assert_true(opened.db->profile_count > 1);
        cn_opened_close(&opened);
        assert_int_equal(cn_scratch_count("tmp"), 0);
        assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
        (void)close(old);
    }
    assert_false(cn_scratch_exists(views)); /* it is gone when it was read */
    old = set_input("/dev/null");
    assert_false(cn_open(&opened, "-", CN_CONTEXTS, NULL, &err));
    assert_non_null(strstr(err.text, "standard input: not a format cairn can read"));
    assert_int_equal(truncate("perf", 200), 0);
    assert_true(set_input("perf") >= 0);
    assert_false(cn_open(&opened, "-", CN_CONTEXTS, NULL, &err));
    assert_int_equal(strncmp(err.text, "standard input: ", 16), 0);
    assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
    (void)close(old);
}

static void two_processes_make_the_same(void **state)
{
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    struct cn_opened opened;
    int start[2], status;
    char byte;

    (void)state;
    write_recording("run.data");
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] > 0)
            continue;
        (void)close(start[1]);
        (void)!read(start[0], &byte, 1); /* until all are there */
        (void)open_contexts(&opened, "run.data", NULL);
        status = opened.db->profile_count > 1 && opened.about.analysis.lost_count == LOST;
        cn_opened_close(&opened);
        _exit(status ? 0 : 1);
    }
    (void)close(start[0]);
    (void)close(start[1]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(cn_scratch_count(views), 1);
    assert_int_equal(open_contexts(&opened, "run.data", NULL), 0);
    cn_opened_close(&opened);
}

static void works_without_a_cache(void **state)
{
    struct cn_opened opened;

    (void)state;
    write_recording("run.data");
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(open_contexts(&opened, "run.data", NULL) > 0);
        assert_int_equal(cn_scratch_count("tmp"), 1);
        assert_int_equal(opened.about.analysis.lost_count, LOST);
        cn_opened_close(&opened);
        assert_int_equal(cn_scratch_count("tmp"), 0);
    }
}

/* Status of a child: 77 if there may be no small disk. */
static int fill_disk(void)
{
    struct cn_opened opened;

    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mkdir("cache", 0700) != 0 || mount("none", "cache", "tmpfs", 0, "size=32k") != 0)
        return 77;
    if (open_contexts(&opened, "run.data", NULL) == 0 || opened.folder.target ||
        opened.about.analysis.lost_count != LOST)
        return 1;
    cn_opened_close(&opened);
    return cn_scratch_count(views) == 0 ? 0 : 2;
}

static void works_where_the_cache_is_full(void **state)
{
    pid_t child;
    int status;

    (void)state;
    write_recording("run.data");
    child = fork();
    if (child == 0)
        _exit(fill_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) {
        print_message("skipped: this machine mounts no small disk\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static void keeps_what_is_open(void **state)
{
    struct cn_opened first, second;

    (void)state;
    write_recording("a");
    write_recording("b");
    assert_int_equal(setenv("CAIRN_CACHE_MIB", "0", 1), 0);
    (void)open_contexts(&first, "a", NULL);
    (void)open_contexts(&second, "b", NULL);
    assert_int_equal(cn_scratch_count(views), 2);
    assert_true(cn_scratch_exists(first.folder.path));
    cn_opened_close(&first);
    cn_opened_close(&second);
    assert_true(open_contexts(&first, "a", &(struct cn_open_options){.is_raw = true}) >
                0);
    assert_int_equal(cn_scratch_count(views), 1);
    cn_opened_close(&first);
}

static void loads_more_later(void **state)
{
    struct cn_opened opened;
    struct cn_recording *rec;
    struct cn_error err;

    (void)state;
    write_recording("run.data");
    assert_true(cn_open(&opened, "run.data", CN_CALLS, NULL, &err));
    rec = opened.rec;
    assert_false(cn_opened_load(&opened, CN_TRACES, NULL, &err));
    assert_ptr_equal(opened.rec, rec);
    assert_true(cn_opened_load(&opened, CN_CONTEXTS | CN_CALLS, NULL, &err));
    assert_ptr_equal(opened.rec, rec);
    assert_non_null(opened.db);
    rec = cn_opened_take_recording(&opened);
    assert_null(opened.db);
    assert_int_equal(rec->warnings == NULL, true);
    cn_recording_close(rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPEN_TEST(opens_everything_as_everything),
        OPEN_TEST(opens_what_a_source_is),
        OPEN_TEST(says_what_it_cannot_open),
        OPEN_TEST(analyses_once),
        OPEN_TEST(analyses_again_what_changed),
        OPEN_TEST(knows_what_was_lost_every_time),
        OPEN_TEST(warns_of_damage_every_time),
        OPEN_TEST(replaces_what_cannot_be_read),
        OPEN_TEST(looks_again_for_programs),
        OPEN_TEST(reads_standard_input),
        OPEN_TEST(two_processes_make_the_same),
        OPEN_TEST(works_without_a_cache),
        OPEN_TEST(works_where_the_cache_is_full),
        OPEN_TEST(keeps_what_is_open),
        OPEN_TEST(loads_more_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
