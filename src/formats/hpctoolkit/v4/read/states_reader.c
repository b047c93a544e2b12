#include "formats/hpctoolkit/v4/read/states_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/v4/read/states_io.h"
#include "formats/hpctoolkit/v4/states_format.h"

bool cn_hpc_states_is(struct cn_bytes file)
{
    struct cn_block_file_header header;

    return cn_block_file_header_decode(file, &header) &&
           header.magic == CN_HPC_STATES_MAGIC;
}

/* Later versions have added sections: an older file lacks them. */
static bool take_section(struct cn_block_file *blocks, enum cn_hpc_states_section id,
                         bool is_needed, struct cn_bytes *out, struct cn_error *err)
{
    struct cn_error missing;

    if (!cn_block_file_section(blocks, id, out, is_needed ? err : &missing)) {
        *out = (struct cn_bytes){(const uint8_t *)"", 0};
        return !is_needed;
    }
    return cn_block_file_check(blocks, *out, err);
}

bool cn_hpc_states_open(struct cn_hpc_states_file *out, struct cn_bytes file,
                        struct cn_error *err)
{
    struct cn_block_file *blocks = &out->blocks;

    if (!cn_block_file_init(blocks, file, CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION,
                            err))
        return false;
    if (take_section(blocks, CN_HPC_STATES_PROFILES, true, &out->profiles, err) &&
        take_section(blocks, CN_HPC_STATES_CHANGES, true, &out->changes, err) &&
        take_section(blocks, CN_HPC_STATES_RUN_PROFILES, false, &out->run_profiles,
                     err) &&
        take_section(blocks, CN_HPC_STATES_RUNS, false, &out->runs, err) &&
        take_section(blocks, CN_HPC_STATES_WAKEUPS, false, &out->wakeups, err) &&
        take_section(blocks, CN_HPC_STATES_CONTEXTS, false, &out->contexts, err) &&
        take_section(blocks, CN_HPC_STATES_WAKERS, false, &out->wakers, err) &&
        take_section(blocks, CN_HPC_STATES_HEAP_PROCESSES, false, &out->heap_processes,
                     err) &&
        take_section(blocks, CN_HPC_STATES_HEAP_CHANGES, false, &out->heap_changes,
                     err) &&
        take_section(blocks, CN_HPC_STATES_HEAP_TICK, false, &out->heap_tick, err) &&
        take_section(blocks, CN_HPC_STATES_IO_CALLS, false, &out->io_calls, err) &&
        take_section(blocks, CN_HPC_STATES_IO_NAMES, false, &out->io_names, err) &&
        take_section(blocks, CN_HPC_STATES_LOCKS, false, &out->locks, err) &&
        take_section(blocks, CN_HPC_STATES_LOCK_WAITS, false, &out->lock_waits, err) &&
        take_section(blocks, CN_HPC_STATES_LOCK_NAMES, false, &out->lock_names, err) &&
        take_section(blocks, CN_HPC_STATES_LAUNCHES, false, &out->launches, err) &&
        take_section(blocks, CN_HPC_STATES_GPU_MEMORIES, false, &out->gpu_memories,
                     err) &&
        take_section(blocks, CN_HPC_STATES_GPU_CHANGES, false, &out->gpu_changes, err) &&
        take_section(blocks, CN_HPC_STATES_GPU_TICK, false, &out->gpu_tick, err))
        return true;
    cn_block_file_close(blocks);
    return false;
}

static bool take_change(struct cn_bytes *changes, const struct cn_thread_states *before,
                        bool is_last, struct cn_state_change *out, struct cn_error *err)
{
    struct cn_hpc_states_change change;
    struct cn_bytes bytes;

    if (!cn_bytes_take(changes, cn_hpc_states_change_size, &bytes) ||
        !cn_hpc_states_change_decode(bytes, &change))
        return cn_fail(err, CN_ERR_FORMAT, "there are fewer changes than profiles have");
    if (change.state > CN_TASK_UNKNOWN || (is_last && change.state != CN_TASK_UNKNOWN))
        return cn_fail(err, CN_ERR_FORMAT, "state %u at %" PRIu64, change.state,
                       change.time_ns);
    if (before->count > 0 && change.time_ns < before->list[before->count - 1].time_ns)
        return cn_fail(err, CN_ERR_FORMAT,
                       "time runs backwards: %" PRIu64 " after %" PRIu64, change.time_ns,
                       before->list[before->count - 1].time_ns);
    *out = (struct cn_state_change){change.time_ns, (enum cn_task_state)change.state, 0};
    return true;
}

/* The number of records of the next profile, of which `rest` has room for. */
static bool take_count(struct cn_bytes *profiles, struct cn_bytes rest, size_t size,
                       uint64_t *end, uint64_t *out, struct cn_error *err)
{
    struct cn_hpc_states_profile profile;
    struct cn_bytes bytes;

    if (!cn_bytes_take(profiles, cn_hpc_states_profile_size, &bytes) ||
        !cn_hpc_states_profile_decode(bytes, &profile) || profile.end < *end ||
        profile.end - *end > rest.len / size)
        return cn_fail(err, CN_ERR_FORMAT, "its changes do not fit the section");
    *out = profile.end - *end;
    *end = profile.end;
    return true;
}

static bool take_states(struct cn_hpc_states_file *file, uint64_t *end,
                        struct cn_arena *arena, struct cn_thread_states *out,
                        struct cn_error *err)
{
    uint64_t count;

    if (!take_count(&file->profiles, file->changes, cn_hpc_states_change_size, end,
                    &count, err))
        return false;
    if (count > 0)
        out->list = cn_arena_alloc(arena, (size_t)count, sizeof(*out->list));
    for (; out->count < count; out->count++) {
        struct cn_hpc_states_context context;
        struct cn_bytes bytes;

        if (!take_change(&file->changes, out, out->count + 1 == count,
                         &out->list[out->count], err))
            return false;
        /* Files of earlier versions lack contexts. */
        if (cn_bytes_take(&file->contexts, cn_hpc_states_context_size, &bytes) &&
            cn_hpc_states_context_decode(bytes, &context))
            out->list[out->count].context = context.context;
    }
    return true;
}

static bool take_run(struct cn_bytes *runs, const struct cn_thread_runs *before,
                     struct cn_thread_run *out, struct cn_error *err)
{
    struct cn_hpc_states_run run;
    struct cn_bytes bytes;

    if (!cn_bytes_take(runs, cn_hpc_states_run_size, &bytes) ||
        !cn_hpc_states_run_decode(bytes, &run))
        return cn_fail(err, CN_ERR_FORMAT, "there are fewer runs than profiles have");
    if (run.processor >= CN_PROCESSOR_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "processor %" PRIu32 " at %" PRIu64,
                       run.processor, run.begin_ns);
    if (run.end_ns <= run.begin_ns ||
        (before->count > 0 && run.begin_ns < before->list[before->count - 1].end_ns))
        return cn_fail(err, CN_ERR_FORMAT,
                       "a run from %" PRIu64 " to %" PRIu64 " is not in order",
                       run.begin_ns, run.end_ns);
    *out = (struct cn_thread_run){run.begin_ns, run.end_ns, run.processor};
    return true;
}

static bool take_runs(struct cn_hpc_states_file *file, uint64_t *end,
                      struct cn_arena *arena, struct cn_thread_runs *out,
                      struct cn_error *err)
{
    uint64_t count;

    if (!take_count(&file->run_profiles, file->runs, cn_hpc_states_run_size, end, &count,
                    err))
        return false;
    if (count > 0)
        out->list = cn_arena_alloc(arena, (size_t)count, sizeof(*out->list));
    for (; out->count < count; out->count++)
        if (!take_run(&file->runs, out, &out->list[out->count], err))
            return false;
    return true;
}

/* Files of earlier versions lack wakers: all wake-ups are of threads. */
static bool take_waker(struct cn_bytes *wakers, struct cn_wakeup *wakeup,
                       struct cn_error *err)
{
    struct cn_hpc_states_waker waker;
    struct cn_bytes bytes;

    if (!cn_bytes_take(wakers, cn_hpc_states_waker_size, &bytes) ||
        !cn_hpc_states_waker_decode(bytes, &waker))
        return true;
    if (waker.source >= CN_WAKEUP_SOURCES)
        return cn_fail(err, CN_ERR_FORMAT, "source %u of a wake-up at %" PRIu64,
                       waker.source, wakeup->time_ns);
    wakeup->context = waker.context;
    wakeup->source = (enum cn_wakeup_source)waker.source;
    return true;
}

static bool take_wakeups(struct cn_bytes rest, struct cn_bytes wakers,
                         uint32_t profile_count, struct cn_arena *arena,
                         struct cn_hpc_states *out, struct cn_error *err)
{
    size_t count = rest.len / cn_hpc_states_wakeup_size;
    struct cn_wakeup *list = cn_arena_alloc(arena, count + 1, sizeof(*list));
    struct cn_hpc_states_wakeup wakeup;
    struct cn_bytes bytes;

    for (size_t i = 0; i < count; i++) {
        if (!cn_bytes_take(&rest, cn_hpc_states_wakeup_size, &bytes) ||
            !cn_hpc_states_wakeup_decode(bytes, &wakeup) ||
            wakeup.from >= profile_count || wakeup.to >= profile_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "wake-up %zu is of profiles that profile.db does not have", i);
        list[i] = (struct cn_wakeup){
            .time_ns = wakeup.time_ns, .from = wakeup.from, .to = wakeup.to};
        if (!take_waker(&wakers, &list[i], err))
            return false;
    }
    out->wakeups = list;
    out->wakeup_count = count;
    return true;
}

static bool take_process(size_t i, struct cn_heap_process process, uint64_t peak_len,
                         uint32_t profile_count, struct cn_heap_history *heap,
                         struct cn_error *err)
{
    const char *what = heap->is_of_gpus ? "GPU" : "process";

    if (process.profile == 0 || process.profile >= profile_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s %zu is of a profile that profile.db does not have", what, i);
    if (peak_len > INT64_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "%s %zu had %" PRIu64 " bytes", what, i,
                       peak_len);
    process.peak_bytes = (double)peak_len;
    heap->processes[i] = process;
    return true;
}

static bool take_processes(struct cn_bytes rest, uint32_t profile_count,
                           struct cn_heap_history *heap, struct cn_error *err)
{
    struct cn_hpc_states_heap_process p;
    struct cn_bytes bytes;

    for (size_t i = 0; i < heap->process_count; i++)
        if (!cn_bytes_take(&rest, cn_hpc_states_heap_process_size, &bytes) ||
            !cn_hpc_states_heap_process_decode(bytes, &p) ||
            !take_process(
                i, (struct cn_heap_process){.peak_ns = p.peak_ns, .profile = p.profile},
                p.peak_len, profile_count, heap, err))
            return false;
    return true;
}

static bool take_memories(struct cn_bytes rest, uint32_t profile_count,
                          struct cn_heap_history *heap, struct cn_error *err)
{
    struct cn_hpc_states_gpu_memory m;
    struct cn_bytes bytes;

    for (size_t i = 0; i < heap->process_count; i++)
        if (!cn_bytes_take(&rest, cn_hpc_states_gpu_memory_size, &bytes) ||
            !cn_hpc_states_gpu_memory_decode(bytes, &m) ||
            !take_process(i,
                          (struct cn_heap_process){.peak_ns = m.peak_ns,
                                                   .profile = m.profile,
                                                   .device = m.device},
                          m.peak_len, profile_count, heap, err))
            return false;
    return true;
}

static bool take_heap_changes(struct cn_bytes rest, uint32_t profile_count,
                              struct cn_heap_history *heap, struct cn_error *err)
{
    struct cn_hpc_states_heap_change change;
    struct cn_bytes bytes;

    for (size_t i = 0; i < heap->change_count; i++) {
        if (!cn_bytes_take(&rest, cn_hpc_states_heap_change_size, &bytes) ||
            !cn_hpc_states_heap_change_decode(bytes, &change) || change.profile == 0 ||
            change.profile >= profile_count || change.process >= heap->process_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "change %zu of live memory is of profile %" PRIu32
                           " of process %" PRIu32,
                           i, change.profile, change.process);
        if (i > 0 && change.time_ns < heap->changes[i - 1].time_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64,
                           change.time_ns, heap->changes[i - 1].time_ns);
        heap->changes[i] =
            (struct cn_heap_change){change.time_ns, (double)(int64_t)change.len,
                                    change.process, change.profile, change.context};
    }
    return true;
}

/* Of the heap, or of the memory of GPUs. Files of earlier versions lack it, and so do those of programs
 * whose allocations are unknown. */
static bool take_heap(const struct cn_hpc_states_file *file, bool is_of_gpus,
                      uint32_t profile_count, struct cn_arena *arena,
                      const struct cn_heap_history **out, struct cn_error *err)
{
    struct cn_bytes processes = is_of_gpus ? file->gpu_memories : file->heap_processes;
    struct cn_bytes changes = is_of_gpus ? file->gpu_changes : file->heap_changes;
    size_t process_size =
        is_of_gpus ? cn_hpc_states_gpu_memory_size : cn_hpc_states_heap_process_size;
    struct cn_hpc_states_heap_tick tick;
    struct cn_heap_history *heap;

    if (!cn_hpc_states_heap_tick_decode(is_of_gpus ? file->gpu_tick : file->heap_tick,
                                        &tick))
        return true;
    heap = cn_arena_alloc(arena, 1, sizeof(*heap));
    heap->process_count = processes.len / process_size;
    heap->change_count = changes.len / cn_hpc_states_heap_change_size;
    heap->processes =
        cn_arena_alloc(arena, heap->process_count + 1, sizeof(*heap->processes));
    heap->changes = cn_arena_alloc(arena, heap->change_count + 1, sizeof(*heap->changes));
    heap->resolution_ns = tick.resolution_ns;
    heap->is_of_gpus = is_of_gpus;
    if (!(is_of_gpus ? take_memories : take_processes)(processes, profile_count, heap,
                                                       err) ||
        !take_heap_changes(changes, profile_count, heap, err))
        return false;
    *out = heap;
    return true;
}

/* Files of earlier versions lack them. */
static bool take_launches(struct cn_bytes rest, uint32_t profile_count,
                          struct cn_arena *arena, struct cn_hpc_states *out,
                          struct cn_error *err)
{
    size_t count = rest.len / cn_hpc_states_launch_size;
    struct cn_launch *list = cn_arena_alloc(arena, count + 1, sizeof(*list));
    struct cn_hpc_states_launch launch;
    struct cn_bytes bytes;

    for (size_t i = 0; i < count; i++) {
        if (!cn_bytes_take(&rest, cn_hpc_states_launch_size, &bytes) ||
            !cn_hpc_states_launch_decode(bytes, &launch) ||
            launch.from_profile >= profile_count || launch.to_profile >= profile_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "launch %zu is of profiles that profile.db does not have", i);
        list[i] = (struct cn_launch){launch.from_ns, launch.to_ns, launch.from_profile,
                                     launch.to_profile};
    }
    out->launches = list;
    out->launch_count = count;
    return true;
}

static bool take_lock_waits(struct cn_bytes rest, uint32_t profile_count,
                            struct cn_locks *locks, struct cn_error *err)
{
    struct cn_hpc_states_lock_wait wait;
    struct cn_bytes bytes;

    for (size_t i = 0; i < locks->wait_count; i++) {
        if (!cn_bytes_take(&rest, cn_hpc_states_lock_wait_size, &bytes) ||
            !cn_hpc_states_lock_wait_decode(bytes, &wait) || wait.profile == 0 ||
            wait.profile >= profile_count || wait.lock >= locks->count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "wait %zu is of profile %" PRIu32 " for lock %" PRIu32, i,
                           wait.profile, wait.lock);
        locks->waits[i] = (struct cn_lock_wait){wait.time_ns, wait.profile, wait.lock};
    }
    return true;
}

/* Files of earlier versions lack them. */
static bool take_locks(const struct cn_hpc_states_file *file, uint32_t profile_count,
                       struct cn_arena *arena, struct cn_hpc_states *out,
                       struct cn_error *err)
{
    struct cn_bytes rest = file->locks, bytes;
    struct cn_locks *locks = cn_arena_alloc(arena, 1, sizeof(*locks));
    struct cn_hpc_states_lock lock;
    uint64_t named = 0; /* bytes of names that are used */

    locks->count = rest.len / cn_hpc_states_lock_size;
    locks->wait_count = file->lock_waits.len / cn_hpc_states_lock_wait_size;
    locks->list = cn_arena_alloc(arena, locks->count + 1, sizeof(*locks->list));
    locks->waits = cn_arena_alloc(arena, locks->wait_count + 1, sizeof(*locks->waits));
    for (size_t i = 0; i < locks->count; i++) {
        const char *name = NULL;

        if (cn_bytes_take(&rest, cn_hpc_states_lock_size, &bytes) &&
            cn_hpc_states_lock_decode(bytes, &lock) && lock.name >= named)
            name = cn_bytes_string(file->lock_names, lock.name);
        if (!name)
            return cn_fail(err, CN_ERR_FORMAT, "lock %zu has no name", i);
        named = lock.name + strlen(name) + 1;
        locks->list[i] = (struct cn_waited_lock){lock.address, lock.process, lock.offset,
                                                 cn_arena_strdup(arena, name)};
    }
    out->locks = locks->count > 0 ? locks : NULL;
    return take_lock_waits(file->lock_waits, profile_count, locks, err);
}

static bool check_profiles(struct cn_bytes profiles, uint32_t profile_count,
                           struct cn_error *err)
{
    if (profiles.len / cn_hpc_states_profile_size == profile_count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "%zu profiles, profile.db has %" PRIu32,
                   profiles.len / cn_hpc_states_profile_size, profile_count);
}

/* Give the pages of what was read back: the file may be larger than what is made of it. */
static void forget(struct cn_bytes section, struct cn_bytes rest, bool is_mapped)
{
    if (is_mapped)
        cn_file_forget((struct cn_bytes){section.ptr, section.len - rest.len});
}

static bool read_file(struct cn_hpc_states_file *file, uint32_t profile_count,
                      bool is_mapped, struct cn_arena *arena, struct cn_hpc_states *out,
                      struct cn_error *err)
{
    const struct cn_hpc_states_file whole = *file;
    bool has_runs = file->run_profiles.len > 0;
    struct cn_thread_states *states =
        cn_arena_alloc(arena, (size_t)profile_count + 1, sizeof(*states));
    struct cn_thread_runs *runs =
        cn_arena_alloc(arena, (size_t)profile_count + 1, sizeof(*runs));
    uint64_t end = 0, run_end = 0;

    if (!check_profiles(file->profiles, profile_count, err) ||
        (has_runs && !check_profiles(file->run_profiles, profile_count, err)))
        return false;
    for (uint32_t i = 0; i < profile_count; i++) {
        if (!take_states(file, &end, arena, &states[i], err) ||
            (has_runs && !take_runs(file, &run_end, arena, &runs[i], err)))
            return cn_fail_in(err, "profile %" PRIu32, i);
        forget(whole.changes, file->changes, is_mapped);
        forget(whole.contexts, file->contexts, is_mapped);
        forget(whole.runs, file->runs, is_mapped);
    }
    out->states = end > 0 ? states : NULL;
    out->runs = run_end > 0 ? runs : NULL;
    if (!take_wakeups(file->wakeups, file->wakers, profile_count, arena, out, err))
        return false;
    forget(file->wakeups, (struct cn_bytes){0}, is_mapped);
    forget(file->wakers, (struct cn_bytes){0}, is_mapped);
    return take_heap(file, false, profile_count, arena, &out->heap, err) &&
           take_launches(file->launches, profile_count, arena, out, err) &&
           take_heap(file, true, profile_count, arena, &out->gpu_memory, err) &&
           cn_hpc_states_read_io(file, profile_count, arena, &out->io, err) &&
           take_locks(file, profile_count, arena, out, err);
}

bool cn_hpc_states_read(struct cn_bytes file, uint32_t profile_count, bool is_mapped,
                        struct cn_arena *arena, struct cn_hpc_states *out,
                        struct cn_error *err)
{
    struct cn_hpc_states states = {0};
    struct cn_hpc_states_file opened;
    bool ok;

    if (!cn_hpc_states_open(&opened, file, err))
        return false;
    forget(file, (struct cn_bytes){0}, is_mapped);
    ok = read_file(&opened, profile_count, is_mapped, arena, &states, err);
    forget(file, (struct cn_bytes){0}, is_mapped);
    cn_block_file_close(&opened.blocks);
    if (ok)
        *out = states;
    return ok;
}
