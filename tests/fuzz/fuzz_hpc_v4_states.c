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
        assert(states->list[i].state < CN_TASK_STATES);
        assert(i == 0 || states->list[i - 1].time_ns <= states->list[i].time_ns);
    }
}

static void check_runs(const struct cn_thread_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        assert(runs->list[i].begin_ns < runs->list[i].end_ns);
        assert(i == 0 || runs->list[i - 1].end_ns <= runs->list[i].begin_ns);
        assert(runs->list[i].processor < CN_PROCESSOR_MAX);
    }
}

static void check_heap(const struct cn_database *db)
{
    const struct cn_heap_history *heap = db->heap;

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
        for (size_t i = 0; i < db->wakeup_count; i++)
            assert(db->wakeups[i].from < db->profile_count &&
                   db->wakeups[i].to < db->profile_count);
        check_heap(db);
        check_io(db);
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

static void add_runs(struct cn_text *sections)
{
    uint8_t bytes[cn_hpc_states_run_size];

    for (unsigned i = 0; i < 3 * (CN_TINY_PROFILES - 1); i++) {
        cn_hpc_states_run_encode(
            &(struct cn_hpc_states_run){10 + 10 * (i % 3), 20 + 10 * (i % 3), i % 2},
            bytes);
        cn_text_add(sections, (const char *)bytes, sizeof(bytes));
    }
}

static void add_wakeup(struct cn_text *sections)
{
    uint8_t bytes[cn_hpc_states_wakeup_size];

    cn_hpc_states_wakeup_encode(&(struct cn_hpc_states_wakeup){15, 1, 1}, bytes);
    cn_text_add(sections, (const char *)bytes, sizeof(bytes));
}

static void add_heap(struct cn_text *sections)
{
    uint8_t bytes[cn_hpc_states_heap_change_size];

    cn_hpc_states_heap_process_encode(&(struct cn_hpc_states_heap_process){15, 100, 1},
                                      bytes);
    cn_text_add(sections, (const char *)bytes, cn_hpc_states_heap_process_size);
    cn_hpc_states_heap_change_encode(
        &(struct cn_hpc_states_heap_change){15, 100, 0, 1, 1}, bytes);
    cn_text_add(sections, (const char *)bytes, sizeof(bytes));
    cn_hpc_states_heap_tick_encode(&(struct cn_hpc_states_heap_tick){1}, bytes);
    cn_text_add(sections, (const char *)bytes, cn_hpc_states_heap_tick_size);
}

static const char io_names[] = "read\0/home/notes";

/* A call whose end is known, and one whose is not. */
static void add_io(struct cn_text *sections)
{
    uint8_t bytes[cn_hpc_states_io_call_size];

    for (uint64_t i = 0; i < 2; i++) {
        cn_hpc_states_io_call_encode(&(struct cn_hpc_states_io_call){.begin_ns = 10 + i,
                                                                     .end_ns = 12 * i,
                                                                     .result = 100,
                                                                     .profile = 1,
                                                                     .caller = 1,
                                                                     .context = 1,
                                                                     .target = 1,
                                                                     .descriptor = 3},
                                     bytes);
        cn_text_add(sections, (const char *)bytes, sizeof(bytes));
    }
    cn_text_add(sections, io_names, sizeof(io_names));
}

/* Three changes and three runs of each profile except the summary, a wake-up, an allocation and system
 * calls. */
void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const struct cn_hpc_states_change changes[] = {{10, 0}, {20, 1}, {30, 3}};
    size_t begin = cn_block_file_header_size, profiles_len, changes_end, runs_end,
           heap_begin, io_begin;
    struct cn_text sections = {0}, seed = {0};
    uint8_t bytes[cn_hpc_states_change_size];

    for (unsigned i = 0; i < CN_TINY_PROFILES; i++) {
        cn_hpc_states_profile_encode(&(struct cn_hpc_states_profile){3UL * i}, bytes);
        cn_text_add(&sections, (const char *)bytes, cn_hpc_states_profile_size);
    }
    profiles_len = sections.len;
    for (unsigned i = 0; i < 3 * (CN_TINY_PROFILES - 1); i++) {
        cn_hpc_states_change_encode(&changes[i % 3], bytes);
        cn_text_add(&sections, (const char *)bytes, sizeof(bytes));
    }
    changes_end = sections.len;
    add_runs(&sections);
    runs_end = sections.len;
    add_wakeup(&sections);
    heap_begin = sections.len;
    add_heap(&sections);
    io_begin = sections.len;
    add_io(&sections);
    cn_text_char(&seed, 10);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_PROFILES, begin, profiles_len);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_CHANGES, begin + profiles_len,
                         changes_end - profiles_len);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_RUN_PROFILES, begin, profiles_len);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_RUNS, begin + changes_end,
                         runs_end - changes_end);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_WAKEUPS, begin + runs_end,
                         heap_begin - runs_end);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_HEAP_PROCESSES, begin + heap_begin,
                         cn_hpc_states_heap_process_size);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_HEAP_CHANGES,
                         begin + heap_begin + cn_hpc_states_heap_process_size,
                         cn_hpc_states_heap_change_size);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_HEAP_TICK,
                         begin + io_begin - cn_hpc_states_heap_tick_size,
                         cn_hpc_states_heap_tick_size);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_IO_CALLS, begin + io_begin,
                         2 * cn_hpc_states_io_call_size);
    cn_fuzz_blocks_place(&seed, CN_HPC_STATES_IO_NAMES,
                         begin + sections.len - sizeof(io_names), sizeof(io_names));
    cn_text_add(&seed, sections.chars, sections.len);
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
    cn_text_done(&sections);
}
