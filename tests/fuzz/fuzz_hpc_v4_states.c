/* Any bytes as states.db of an HPCToolkit v4 database, as they are and with sound checksums: what
 * opens has states in the order of time, and is verified. */
#include <assert.h>

#include "base/files/blocks.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "model/contexts/database.h"
#include "model/heap_history.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"
#include "model/locks.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"
#include "support/fuzz.h"
#include "support/fuzz_blocks.h"
#include "support/tiny_v4.h"

static void ignore(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    assert(finding->text[0] != '\0');
}

static void check(const struct cn_thread_states *states)
{
    for (size_t i = 0; i < states->count; i++) {
        struct cn_state_change change = cn_thread_states_at(states, i);

        assert(change.state < CN_TASK_STATES);
        assert(i == 0 || cn_thread_states_at(states, i - 1).time_ns <= change.time_ns);
    }
}

static void check_runs(const struct cn_thread_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct cn_thread_run run = cn_thread_runs_at(runs, i);

        assert(run.begin_ns < run.end_ns);
        assert(i == 0 || cn_thread_runs_at(runs, i - 1).end_ns <= run.begin_ns);
        assert(run.processor < CN_PROCESSOR_MAX);
    }
}

static void check_heap(const struct cn_database *db, const struct cn_heap_history *heap)
{
    for (size_t i = 0; heap && i < heap->change_count; i++) {
        const struct cn_heap_change *change = &heap->changes[i];

        assert(i == 0 || heap->changes[i - 1].time_ns <= change->time_ns);
        assert(change->process < heap->process_count);
        assert(change->profile > 0 && change->profile < db->profile_count);
    }
    for (size_t i = 0; heap && i < heap->process_count; i++)
        assert(heap->processes[i].profile > 0 &&
               heap->processes[i].profile < db->profile_count);
}

static void check_io(const struct cn_database *db)
{
    const struct cn_io_calls *io = db->io;

    for (size_t i = 0; io && i < io->count; i++) {
        const struct cn_io_call *call = &io->list[i];

        assert(i == 0 || io->list[i - 1].begin_ns <= call->begin_ns);
        assert(call->end_ns == 0 || call->begin_ns <= call->end_ns);
        assert(call->profile > 0 && call->profile < db->profile_count);
        assert(call->target == CN_NONE || call->target < io->target_count);
        assert(call->call < cn_system_call_count());
    }
}

static void check_locks(const struct cn_database *db)
{
    const struct cn_locks *locks = db->locks;

    for (size_t i = 0; locks && i < locks->count; i++)
        assert(locks->list[i].variable);
    for (size_t i = 0; locks && i < locks->wait_count; i++)
        assert(locks->waits[i].lock < locks->count && locks->waits[i].profile > 0 &&
               locks->waits[i].profile < db->profile_count);
}

static void check_launches(const struct cn_database *db)
{
    for (size_t i = 0; i < db->launch_count; i++)
        assert(db->launches[i].from_profile < db->profile_count &&
               db->launches[i].to_profile < db->profile_count);
}

static void read_states(const struct cn_tiny_v4 *tiny, struct cn_bytes states)
{
    struct cn_hpc_v4_files files;
    struct cn_error err = {0};
    struct cn_database *db;

    cn_tiny_v4_files(tiny, &files);
    files.states = states;
    files.has_states = true;
    if (cn_hpc_v4_open_bytes(&db, &files, &err)) {
        for (uint32_t i = 0; db->states && i < db->profile_count; i++)
            check(&db->states[i]);
        for (uint32_t i = 0; db->runs && i < db->profile_count; i++)
            check_runs(&db->runs[i]);
        for (size_t i = 0; i < db->wakeups.count; i++)
            assert(cn_wakeups_at(&db->wakeups, i).from < db->profile_count &&
                   cn_wakeups_at(&db->wakeups, i).to < db->profile_count);
        check_heap(db, db->heap);
        check_heap(db, db->gpu_memory);
        check_io(db);
        check_locks(db);
        check_launches(db);
        cn_database_close(db);
    }
    assert(cn_hpc_v4_verify_bytes(&files, NULL, ignore, NULL, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes input = {data, len};
    struct cn_text wrapped = {0};
    struct cn_tiny_v4 tiny;

    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    read_states(&tiny, input);
    cn_fuzz_blocks_wrap(input, CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, &wrapped);
    read_states(&tiny, (struct cn_bytes){(const uint8_t *)wrapped.chars, wrapped.len});
    cn_text_done(&wrapped);
    cn_tiny_v4_done(&tiny);
    return 0;
}

/* The sections of a file that is made, and their places. */
struct seed {
    struct cn_text places, bytes;
    unsigned count;
};

/* Append bytes to the section that was begun last. */
static void add(struct seed *seed, const void *bytes, size_t len)
{
    cn_text_add(&seed->bytes, bytes, len);
}

/* End the section that began at `from`. */
static void place(struct seed *seed, enum cn_hpc_states_section id, size_t from)
{
    cn_fuzz_blocks_place(&seed->places, id, cn_block_file_header_size + from,
                         seed->bytes.len - from);
    seed->count++;
}

static void add_section(struct seed *seed, enum cn_hpc_states_section id,
                        const void *bytes, size_t len)
{
    size_t from = seed->bytes.len;

    add(seed, bytes, len);
    place(seed, id, from);
}

/* Three changes and three runs of each profile except the summary, and a wake-up. */
static void add_threads(struct seed *seed)
{
    static const struct cn_hpc_states_change changes[] = {{10, 0}, {20, 1}, {30, 3}};
    uint8_t bytes[cn_hpc_states_run_size];
    size_t from = seed->bytes.len;

    for (unsigned i = 0; i < CN_TINY_PROFILES; i++) {
        cn_hpc_states_profile_encode(&(struct cn_hpc_states_profile){3UL * i}, bytes);
        add(seed, bytes, cn_hpc_states_profile_size);
    }
    place(seed, CN_HPC_STATES_PROFILES, from);
    place(seed, CN_HPC_STATES_RUN_PROFILES, from);
    from = seed->bytes.len;
    for (unsigned i = 0; i < 3 * (CN_TINY_PROFILES - 1); i++) {
        cn_hpc_states_change_encode(&changes[i % 3], bytes);
        add(seed, bytes, cn_hpc_states_change_size);
    }
    place(seed, CN_HPC_STATES_CHANGES, from);
    from = seed->bytes.len;
    for (unsigned i = 0; i < 3 * (CN_TINY_PROFILES - 1); i++) {
        cn_hpc_states_run_encode(
            &(struct cn_hpc_states_run){10 + 10 * (i % 3), 20 + 10 * (i % 3), i % 2},
            bytes);
        add(seed, bytes, cn_hpc_states_run_size);
    }
    place(seed, CN_HPC_STATES_RUNS, from);
    cn_hpc_states_wakeup_encode(&(struct cn_hpc_states_wakeup){15, 1, 1}, bytes);
    add_section(seed, CN_HPC_STATES_WAKEUPS, bytes, cn_hpc_states_wakeup_size);
}

/* An allocation of a process, or of a GPU. */
static void add_heap(struct seed *seed, bool is_of_gpus)
{
    uint8_t process[cn_hpc_states_gpu_memory_size], tick[cn_hpc_states_heap_tick_size],
        change[cn_hpc_states_heap_change_size];

    if (is_of_gpus)
        cn_hpc_states_gpu_memory_encode(&(struct cn_hpc_states_gpu_memory){15, 100, 1, 0},
                                        process);
    else
        cn_hpc_states_heap_process_encode(
            &(struct cn_hpc_states_heap_process){15, 100, 1}, process);
    cn_hpc_states_heap_change_encode(
        &(struct cn_hpc_states_heap_change){15, 100, 0, 1, 1}, change);
    cn_hpc_states_heap_tick_encode(&(struct cn_hpc_states_heap_tick){1}, tick);
    add_section(
        seed, is_of_gpus ? CN_HPC_STATES_GPU_MEMORIES : CN_HPC_STATES_HEAP_PROCESSES,
        process,
        is_of_gpus ? cn_hpc_states_gpu_memory_size : cn_hpc_states_heap_process_size);
    add_section(seed, is_of_gpus ? CN_HPC_STATES_GPU_CHANGES : CN_HPC_STATES_HEAP_CHANGES,
                change, sizeof(change));
    add_section(seed, is_of_gpus ? CN_HPC_STATES_GPU_TICK : CN_HPC_STATES_HEAP_TICK, tick,
                sizeof(tick));
}

/* A call whose end is known, and one whose is not. */
static void add_io(struct seed *seed)
{
    static const char names[] = "read\0/home/notes";
    uint8_t bytes[2 * cn_hpc_states_io_call_size];

    for (uint64_t i = 0; i < 2; i++)
        cn_hpc_states_io_call_encode(&(struct cn_hpc_states_io_call){.begin_ns = 10 + i,
                                                                     .end_ns = 12 * i,
                                                                     .result = 100,
                                                                     .profile = 1,
                                                                     .caller = 1,
                                                                     .context = 1,
                                                                     .target = 1,
                                                                     .descriptor = 3},
                                     bytes + i * cn_hpc_states_io_call_size);
    add_section(seed, CN_HPC_STATES_IO_CALLS, bytes, sizeof(bytes));
    add_section(seed, CN_HPC_STATES_IO_NAMES, names, sizeof(names));
}

/* Two locks, the second in no variable, and a wait for it. */
static void add_locks(struct seed *seed)
{
    static const char names[] = "queue_lock\0";
    uint8_t locks[2 * cn_hpc_states_lock_size], wait[cn_hpc_states_lock_wait_size];

    cn_hpc_states_lock_encode(&(struct cn_hpc_states_lock){0x1000, 7, 8, 0}, locks);
    cn_hpc_states_lock_encode(
        &(struct cn_hpc_states_lock){0x2000, 7, 0, sizeof("queue_lock")},
        locks + cn_hpc_states_lock_size);
    cn_hpc_states_lock_wait_encode(&(struct cn_hpc_states_lock_wait){20, 1, 1}, wait);
    add_section(seed, CN_HPC_STATES_LOCKS, locks, sizeof(locks));
    add_section(seed, CN_HPC_STATES_LOCK_WAITS, wait, sizeof(wait));
    add_section(seed, CN_HPC_STATES_LOCK_NAMES, names, sizeof(names));
}

static void add_launch(struct seed *seed)
{
    uint8_t bytes[cn_hpc_states_launch_size];

    cn_hpc_states_launch_encode(&(struct cn_hpc_states_launch){10, 12, 1, 2}, bytes);
    add_section(seed, CN_HPC_STATES_LAUNCHES, bytes, sizeof(bytes));
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct seed seed = {0};
    struct cn_text file = {0};

    add_threads(&seed);
    add_heap(&seed, false);
    add_io(&seed);
    add_locks(&seed);
    add_launch(&seed);
    add_heap(&seed, true);
    cn_text_char(&file, (char)seed.count);
    cn_text_add(&file, seed.places.chars, seed.places.len);
    cn_text_add(&file, seed.bytes.chars, seed.bytes.len);
    emit((const uint8_t *)file.chars, file.len);
    cn_text_done(&file);
    cn_text_done(&seed.places);
    cn_text_done(&seed.bytes);
}
