/* states.db: written beside the files of HPCToolkit, read back, and damaged. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/blocks.h"
#include "base/files/file.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/read/stacks/import.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "model/contexts/database.h"
#include "model/heap_history.h"
#include "model/memory/use.h"
#include "model/thread_runs.h"
#include "support/perf_inputs.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

static struct cn_database *made_of(uint8_t *bytes, size_t len)
{
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_error err = {0};
    struct cn_database *db;

    assert_true(cn_perf_read(import, (struct cn_bytes){bytes, len}, &err));
    assert_true(cn_import_finish(import, &db, &err));
    free(bytes);
    return db;
}

static struct cn_database *made(void)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_switches(&len);

    return made_of(bytes, len);
}

static void count_finding(void *arg, const struct cn_finding *finding)
{
    (void)finding;
    ++*(unsigned *)arg;
}

static unsigned findings_of(const char *path)
{
    struct cn_error err;
    unsigned count = 0;

    assert_true(cn_hpc_v4_verify(path, NULL, count_finding, &count, &err));
    return count;
}

static void a_database_has_the_states_of_its_source(void **state)
{
    struct cn_database *from = made(), *to;

    (void)state;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    assert_int_equal(findings_of("db"), 0);
    to = cn_v4_must_open("db");
    assert_int_equal(to->begin_ns, from->begin_ns);
    assert_int_equal(to->end_ns, from->end_ns);
    for (uint32_t i = 0; i < from->profile_count; i++) {
        assert_int_equal(to->states[i].count, from->states[i].count);
        for (size_t k = 0; k < from->states[i].count; k++) {
            struct cn_state_change change = cn_thread_states_at(&to->states[i], k);

            assert_int_equal(change.time_ns, from->states[i].list[k].time_ns);
            assert_int_equal(change.state, from->states[i].list[k].state);
            assert_int_equal(change.context, from->states[i].list[k].context);
        }
    }
    cn_database_close(to);
    cn_database_close(from);
}

static void a_database_has_the_runs_and_wake_ups_of_its_source(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_processors(false, &len);
    struct cn_database *from = made_of(bytes, len), *to;

    (void)state;
    cn_v4_must_write(from, "runs", (struct cn_write_options){.workers = 1});
    assert_int_equal(findings_of("runs"), 0);
    to = cn_v4_must_open("runs");
    assert_null(to->states);
    assert_int_equal(cn_database_run_count(to), 3);
    for (uint32_t i = 0; i < from->profile_count; i++) {
        assert_int_equal(to->runs[i].count, from->runs[i].count);
        for (size_t k = 0; k < from->runs[i].count; k++) {
            struct cn_thread_run run = cn_thread_runs_at(&to->runs[i], k);

            assert_int_equal(run.begin_ns, from->runs[i].list[k].begin_ns);
            assert_int_equal(run.end_ns, from->runs[i].list[k].end_ns);
            assert_int_equal(run.processor, from->runs[i].list[k].processor);
        }
    }
    assert_int_equal(to->wakeups.count, 1);
    struct cn_wakeup wakeup = cn_wakeups_at(&to->wakeups, 0);
    assert_memory_equal(&wakeup, from->wakeups.list, sizeof(wakeup));
    cn_database_close(to);
    cn_database_close(from);
}

static struct cn_database *made_with_memory(void)
{
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_heap_use *use = cn_heap_use_new();
    struct cn_error err = {0};
    struct cn_database *db;
    uint32_t time;

    assert_true(cn_import_metric(import, "time (sec)", &time, &err));
    cn_heap_use_keep_history(use);
    for (unsigned thread = 0; thread < 2; thread++) {
        uint32_t number, context = cn_import_unknown(import);

        assert_true(cn_import_thread(
            import, &(struct cn_import_identity){{"THREAD"}, {1 + thread}, ""}, &number,
            &err));
        assert_true(cn_import_add(import, number, context, time, 1, &err));
        cn_import_sample(import, number, 1000, context);
        cn_import_sample(import, number, 2000, context);
    }
    for (unsigned i = 0; i < 10; i++)
        cn_heap_use_alloc(use, &(struct cn_heap_block){.process = 1 + i % 2,
                                                       .address = 64 * (i / 2 % 2),
                                                       .time_ns = 10 + i,
                                                       .size = 100 + i,
                                                       .calls = 1,
                                                       .thread = i % 2,
                                                       .context = 1});
    struct cn_heap_history *heap = cn_import_heap(import, use);
    for (size_t i = 0; i < heap->change_count; i++)
        heap->changes[i].profile++;
    for (size_t i = 0; i < heap->process_count; i++)
        heap->processes[i].profile++;
    cn_heap_use_free(use);
    assert_true(cn_import_finish(import, &db, &err));
    return db;
}

static void assert_same_memory(const struct cn_heap_history *from,
                               const struct cn_heap_history *to)
{
    assert_non_null(to);
    assert_int_equal(to->resolution_ns, 1);
    assert_true(to->change_count >= 10);
    assert_int_equal(to->change_count, from->change_count);
    for (size_t i = 0; i < to->change_count; i++) {
        const struct cn_heap_change *a = &from->changes[i], *b = &to->changes[i];

        assert_true(a->time_ns == b->time_ns && a->bytes == b->bytes &&
                    a->process == b->process && a->profile == b->profile &&
                    a->context == b->context);
    }
    assert_int_equal(to->process_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct cn_heap_process *a = &from->processes[i], *b = &to->processes[i];

        assert_true(a->peak_ns == b->peak_ns && a->peak_bytes == b->peak_bytes &&
                    a->device == b->device && a->profile == i + 1 && b->profile == i + 1);
    }
}

static void a_database_has_the_memory_over_time_of_its_source(void **state)
{
    const struct cn_launch launches[] = {{100, 200, 1, 2}, {150, 120, 2, 1}};
    struct cn_database *from = made_with_memory(), *to;
    struct cn_heap_history gpu_memory = *from->heap;
    struct cn_heap_process gpus[2] = {from->heap->processes[0], from->heap->processes[1]};

    (void)state;
    gpus[0].device = 3;
    gpus[1].device = 7;
    gpu_memory.processes = gpus;
    gpu_memory.is_of_gpus = true;
    from->gpu_memory = &gpu_memory;
    from->launches = launches;
    from->launch_count = 2;
    cn_v4_must_write(from, "heap", (struct cn_write_options){.workers = 1});
    assert_int_equal(findings_of("heap"), 0);
    to = cn_v4_must_open("heap");
    assert_same_memory(from->heap, to->heap);
    assert_same_memory(&gpu_memory, to->gpu_memory);
    assert_true(to->gpu_memory->is_of_gpus && !to->heap->is_of_gpus);
    assert_int_equal(to->launch_count, 2);
    assert_memory_equal(to->launches, launches, sizeof(launches));
    cn_database_close(to);
    cn_database_close(from);
}

static bool is_read(struct cn_bytes file, uint32_t profile_count)
{
    struct cn_hpc_states states;
    struct cn_arena arena = {0};
    struct cn_error err;
    bool ok = cn_hpc_states_read(file, profile_count, false, &arena, &states, &err);

    cn_arena_done(&arena);
    return ok;
}

static void every_flipped_byte_and_truncation_is_noticed(void **state)
{
    struct cn_database *from = made(), *to;
    uint32_t count = from->profile_count;
    struct cn_file file = {0};
    struct cn_error err;
    uint8_t *copy;
    size_t len;

    (void)state;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    assert_true(cn_file_open_at(&file, "db", CN_HPC_STATES_NAME, &err));
    len = file.bytes.len;
    copy = cn_alloc(len, 1);
    memcpy(copy, file.bytes.ptr, len);
    assert_true(is_read((struct cn_bytes){copy, len}, count));
    assert_false(is_read((struct cn_bytes){copy, len}, count + 1));
    for (size_t i = 0; i < len; i++) {
        assert_false(is_read((struct cn_bytes){copy, i}, count));
        copy[i] ^= 0x10;
        assert_false(is_read((struct cn_bytes){copy, len}, count));
        copy[i] ^= 0x10;
    }
    copy[len / 3] ^= 1;
    cn_scratch_write("db/" CN_HPC_STATES_NAME, copy, len);
    assert_int_equal(findings_of("db"), 1);
    to = cn_v4_must_open("db");
    assert_null(to->states);
    assert_non_null(to->warnings);
    cn_database_close(to);
    free(copy);
    cn_file_close(&file);
    cn_database_close(from);
}

/* The file of a database, read, and then overwritten with one byte, as if another program did it. */
static void must_change_after_reading(struct cn_database *from, int byte,
                                      struct cn_hpc_states *out, uint8_t **bytes,
                                      struct cn_arena *arena)
{
    struct cn_file file = {0};
    struct cn_error err;

    cn_scratch_remove("db");
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    assert_true(cn_file_open_at(&file, "db", CN_HPC_STATES_NAME, &err));
    *bytes = cn_alloc(file.bytes.len, 1);
    memcpy(*bytes, file.bytes.ptr, file.bytes.len);
    assert_true(cn_hpc_states_read((struct cn_bytes){*bytes, file.bytes.len},
                                   from->profile_count, false, arena, out, &err));
    memset(*bytes, byte, file.bytes.len);
    cn_file_close(&file);
}

static void numbers_of_a_file_that_changed_after_its_check_are_limited(void **state)
{
    struct cn_database *from = made();
    struct cn_arena arena = {0};
    struct cn_hpc_states states;
    uint8_t *bytes;
    size_t len;

    (void)state;
    must_change_after_reading(from, 0xff, &states, &bytes, &arena);
    for (uint32_t i = 0; i < from->profile_count; i++)
        for (size_t k = 0; k < states.states[i].count; k++)
            assert_int_equal(cn_thread_states_at(&states.states[i], k).state,
                             CN_TASK_UNKNOWN);
    free(bytes);
    cn_database_close(from);
    bytes = cn_test_perf_processors(false, &len);
    from = made_of(bytes, len);
    must_change_after_reading(from, 0xff, &states, &bytes, &arena);
    for (uint32_t i = 0; i < from->profile_count; i++)
        for (size_t k = 0; k < states.runs[i].count; k++)
            assert_true(cn_thread_runs_at(&states.runs[i], k).processor <
                        CN_PROCESSOR_MAX);
    assert_int_equal(states.wakeups.count, 1);
    struct cn_wakeup wakeup = cn_wakeups_at(&states.wakeups, 0);
    assert_true(wakeup.from < from->profile_count && wakeup.to < from->profile_count &&
                wakeup.source < CN_WAKEUP_SOURCES);
    free(bytes);
    cn_arena_done(&arena);
    cn_database_close(from);
}

/* Profiles with these ends, and these changes, with sound checksums. */
static bool is_read_with(const uint64_t *ends, uint32_t end_count,
                         const struct cn_hpc_states_change *changes, size_t change_count)
{
    struct cn_block_writer out;
    struct cn_file file = {0};
    struct cn_error err;
    uint8_t bytes[cn_hpc_states_change_size];
    bool ok;

    assert_true(cn_block_writer_open(&out, &cn_disk_files, ".", CN_HPC_STATES_NAME,
                                     CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, &err));
    assert_true(cn_block_writer_section(&out, CN_HPC_STATES_PROFILES, &err));
    for (uint32_t i = 0; i < end_count; i++) {
        cn_hpc_states_profile_encode(&(struct cn_hpc_states_profile){ends[i]}, bytes);
        assert_true(cn_block_writer_add(&out, bytes, cn_hpc_states_profile_size, &err));
    }
    assert_true(cn_block_writer_section(&out, CN_HPC_STATES_CHANGES, &err));
    for (size_t i = 0; i < change_count; i++) {
        cn_hpc_states_change_encode(&changes[i], bytes);
        assert_true(cn_block_writer_add(&out, bytes, sizeof(bytes), &err));
    }
    assert_true(cn_block_writer_commit(&out, &err));
    assert_true(cn_file_open_at(&file, ".", CN_HPC_STATES_NAME, &err));
    ok = is_read(file.bytes, end_count);
    cn_file_close(&file);
    return ok;
}

static void wrong_changes_are_refused(void **state)
{
    static const struct cn_hpc_states_change good[] = {{10, 0}, {20, 1}, {20, 3}},
                                             back[] = {{10, 0}, {9, 1}, {20, 3}},
                                             open[] = {{10, 0}, {20, 1}, {20, 2}},
                                             unknown[] = {{10, 4}, {20, 1}, {20, 3}};
    static const uint64_t ends[] = {0, 3}, long_ends[] = {0, 4}, mixed[] = {3, 2};

    (void)state;
    assert_true(is_read_with(ends, 2, good, 3));
    assert_false(is_read_with(ends, 2, back, 3));
    assert_false(is_read_with(ends, 2, open, 3));
    assert_false(is_read_with(ends, 2, unknown, 3));
    assert_false(is_read_with(long_ends, 2, good, 3));
    assert_false(is_read_with(mixed, 2, good, 3));
}

/* One profile without states, and a wake-up of it from this source; CN_WAKEUP_SOURCES and more: none. */
static bool is_read_from(uint8_t source, bool has_wakers)
{
    uint8_t bytes[cn_hpc_states_wakeup_size];
    struct cn_block_writer out;
    struct cn_file file = {0};
    struct cn_error err;

    assert_true(cn_block_writer_open(&out, &cn_disk_files, ".", CN_HPC_STATES_NAME,
                                     CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, &err));
    assert_true(cn_block_writer_section(&out, CN_HPC_STATES_PROFILES, &err));
    cn_hpc_states_profile_encode(&(struct cn_hpc_states_profile){0}, bytes);
    assert_true(cn_block_writer_add(&out, bytes, cn_hpc_states_profile_size, &err));
    assert_true(cn_block_writer_section(&out, CN_HPC_STATES_CHANGES, &err));
    assert_true(cn_block_writer_section(&out, CN_HPC_STATES_WAKEUPS, &err));
    cn_hpc_states_wakeup_encode(&(struct cn_hpc_states_wakeup){10, 0, 0}, bytes);
    assert_true(cn_block_writer_add(&out, bytes, cn_hpc_states_wakeup_size, &err));
    if (has_wakers) {
        assert_true(cn_block_writer_section(&out, CN_HPC_STATES_WAKERS, &err));
        cn_hpc_states_waker_encode(&(struct cn_hpc_states_waker){7, source}, bytes);
        assert_true(cn_block_writer_add(&out, bytes, cn_hpc_states_waker_size, &err));
    }
    assert_true(cn_block_writer_commit(&out, &err));
    assert_true(cn_file_open_at(&file, ".", CN_HPC_STATES_NAME, &err));
    bool ok = is_read(file.bytes, 1);
    cn_file_close(&file);
    return ok;
}

static void add_section(struct cn_block_writer *out, unsigned section,
                        const uint8_t *bytes, size_t len)
{
    struct cn_error err;

    assert_true(cn_block_writer_section(out, section, &err));
    assert_true(len == 0 || cn_block_writer_add(out, bytes, len, &err));
}

/* Begin a file of two profiles without states. */
static void begin_file(struct cn_block_writer *out)
{
    uint8_t bytes[2 * cn_hpc_states_profile_size] = {0};
    struct cn_error err;

    assert_true(cn_block_writer_open(out, &cn_disk_files, ".", CN_HPC_STATES_NAME,
                                     CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, &err));
    add_section(out, CN_HPC_STATES_PROFILES, bytes, sizeof(bytes));
    add_section(out, CN_HPC_STATES_CHANGES, NULL, 0);
}

static bool is_file_read(struct cn_block_writer *out)
{
    struct cn_file file = {0};
    struct cn_error err;

    assert_true(cn_block_writer_commit(out, &err));
    assert_true(cn_file_open_at(&file, ".", CN_HPC_STATES_NAME, &err));
    bool ok = is_read(file.bytes, 2);
    cn_file_close(&file);
    return ok;
}

/* A process of the second profile, and two changes, one of which is this; the same of a GPU. */
static bool is_read_after(struct cn_hpc_states_heap_change change, uint32_t profile)
{
    struct cn_hpc_states_heap_change before = {
        .time_ns = 10, .len = 5, .profile = 1, .context = 1};
    uint8_t changes[2 * cn_hpc_states_heap_change_size],
        process[cn_hpc_states_heap_process_size], gpu[cn_hpc_states_gpu_memory_size],
        tick[cn_hpc_states_heap_tick_size];
    struct cn_block_writer out;

    cn_hpc_states_heap_process_encode(
        &(struct cn_hpc_states_heap_process){.profile = profile}, process);
    cn_hpc_states_gpu_memory_encode(
        &(struct cn_hpc_states_gpu_memory){.profile = profile}, gpu);
    cn_hpc_states_heap_change_encode(&before, changes);
    cn_hpc_states_heap_change_encode(&change, changes + cn_hpc_states_heap_change_size);
    cn_hpc_states_heap_tick_encode(&(struct cn_hpc_states_heap_tick){1}, tick);
    begin_file(&out);
    add_section(&out, CN_HPC_STATES_HEAP_PROCESSES, process, sizeof(process));
    add_section(&out, CN_HPC_STATES_HEAP_CHANGES, changes, sizeof(changes));
    add_section(&out, CN_HPC_STATES_HEAP_TICK, tick, sizeof(tick));
    bool ok = is_file_read(&out);
    begin_file(&out);
    add_section(&out, CN_HPC_STATES_GPU_MEMORIES, gpu, sizeof(gpu));
    add_section(&out, CN_HPC_STATES_GPU_CHANGES, changes, sizeof(changes));
    add_section(&out, CN_HPC_STATES_GPU_TICK, tick, sizeof(tick));
    assert_int_equal(is_file_read(&out), ok);
    return ok;
}

static void wrong_changes_of_memory_are_refused(void **state)
{
    struct cn_hpc_states_heap_change good = {
        .time_ns = 10, .len = 5, .profile = 1, .context = 99};
    struct cn_hpc_states_heap_change back = good, process = good, summary = good,
                                     profile = good;

    (void)state;
    back.time_ns = 9;
    process.process = 1;
    summary.profile = 0;
    profile.profile = 2;
    assert_true(is_read_after(good, 1));
    assert_false(is_read_after(back, 1));
    assert_false(is_read_after(process, 1));
    assert_false(is_read_after(summary, 1));
    assert_false(is_read_after(profile, 1));
    assert_false(is_read_after(good, 0));
    assert_false(is_read_after(good, 2));
}

static void launches_are_of_profiles_of_the_database(void **state)
{
    (void)state;
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++) {
            uint8_t bytes[cn_hpc_states_launch_size];
            struct cn_block_writer out;

            cn_hpc_states_launch_encode(&(struct cn_hpc_states_launch){5, 6, from, to},
                                        bytes);
            begin_file(&out);
            add_section(&out, CN_HPC_STATES_LAUNCHES, bytes, sizeof(bytes));
            assert_int_equal(is_file_read(&out), from < 2 && to < 2);
        }
}

static void a_wake_up_has_a_known_source_or_is_of_an_older_file(void **state)
{
    (void)state;
    for (uint8_t source = 0; source < CN_WAKEUP_SOURCES; source++)
        assert_true(is_read_from(source, true));
    assert_false(is_read_from(CN_WAKEUP_SOURCES, true));
    assert_false(is_read_from(255, true));
    assert_true(is_read_from(255, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_database_has_the_states_of_its_source),
        CN_SCRATCH_TEST(a_database_has_the_runs_and_wake_ups_of_its_source),
        CN_SCRATCH_TEST(a_database_has_the_memory_over_time_of_its_source),
        CN_SCRATCH_TEST(wrong_changes_of_memory_are_refused),
        CN_SCRATCH_TEST(launches_are_of_profiles_of_the_database),
        CN_SCRATCH_TEST(every_flipped_byte_and_truncation_is_noticed),
        CN_SCRATCH_TEST(numbers_of_a_file_that_changed_after_its_check_are_limited),
        CN_SCRATCH_TEST(wrong_changes_are_refused),
        CN_SCRATCH_TEST(a_wake_up_has_a_known_source_or_is_of_an_older_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
