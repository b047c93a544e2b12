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

enum { FORGET_LEN = 1 << 24 };

/* Give the pages of what was read up to `at` back, when they are many. */
static void forget(struct cn_bytes *kept, const uint8_t *at, bool is_mapped)
{
    size_t len = (size_t)(at - kept->ptr);
    struct cn_bytes read;

    if (is_mapped && len >= FORGET_LEN && cn_bytes_take(kept, len, &read))
        cn_file_forget(read);
}

static bool check_section(struct cn_hpc_states_file *file, struct cn_bytes section,
                          struct cn_error *err)
{
    struct cn_bytes rest = section, kept = section, part;

    while (cn_bytes_take(&rest, FORGET_LEN, &part)) {
        if (!cn_block_file_check(&file->blocks, part, err))
            return false;
        forget(&kept, rest.ptr, file->is_mapped);
    }
    return cn_block_file_check(&file->blocks, rest, err);
}

/* Later versions have added sections: an older file lacks them. */
static bool take_section(struct cn_hpc_states_file *file, enum cn_hpc_states_section id,
                         bool is_needed, struct cn_bytes *out, struct cn_error *err)
{
    struct cn_error missing;

    if (!cn_block_file_section(&file->blocks, id, out, is_needed ? err : &missing)) {
        *out = (struct cn_bytes){(const uint8_t *)"", 0};
        return !is_needed;
    }
    return check_section(file, *out, err);
}

bool cn_hpc_states_open(struct cn_hpc_states_file *out, struct cn_bytes file,
                        bool is_mapped, struct cn_error *err)
{
    struct cn_block_file *blocks = &out->blocks;

    out->is_mapped = is_mapped;
    if (!cn_block_file_init(blocks, file, CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION,
                            err))
        return false;
    if (take_section(out, CN_HPC_STATES_PROFILES, true, &out->profiles, err) &&
        take_section(out, CN_HPC_STATES_CHANGES, true, &out->changes, err) &&
        take_section(out, CN_HPC_STATES_RUN_PROFILES, false, &out->run_profiles, err) &&
        take_section(out, CN_HPC_STATES_RUNS, false, &out->runs, err) &&
        take_section(out, CN_HPC_STATES_WAKEUPS, false, &out->wakeups, err) &&
        take_section(out, CN_HPC_STATES_CONTEXTS, false, &out->contexts, err) &&
        take_section(out, CN_HPC_STATES_WAKERS, false, &out->wakers, err) &&
        take_section(out, CN_HPC_STATES_HEAP_PROCESSES, false, &out->heap_processes,
                     err) &&
        take_section(out, CN_HPC_STATES_HEAP_CHANGES, false, &out->heap_changes, err) &&
        take_section(out, CN_HPC_STATES_HEAP_TICK, false, &out->heap_tick, err) &&
        take_section(out, CN_HPC_STATES_IO_CALLS, false, &out->io_calls, err) &&
        take_section(out, CN_HPC_STATES_IO_NAMES, false, &out->io_names, err) &&
        take_section(out, CN_HPC_STATES_LOCKS, false, &out->locks, err) &&
        take_section(out, CN_HPC_STATES_LOCK_WAITS, false, &out->lock_waits, err) &&
        take_section(out, CN_HPC_STATES_LOCK_NAMES, false, &out->lock_names, err) &&
        take_section(out, CN_HPC_STATES_LAUNCHES, false, &out->launches, err) &&
        take_section(out, CN_HPC_STATES_GPU_MEMORIES, false, &out->gpu_memories, err) &&
        take_section(out, CN_HPC_STATES_GPU_CHANGES, false, &out->gpu_changes, err) &&
        take_section(out, CN_HPC_STATES_GPU_TICK, false, &out->gpu_tick, err))
        return true;
    cn_block_file_close(blocks);
    return false;
}

/* States, runs and wake-ups are decoded whenever they are asked for, and the file may be overwritten after it
 * was checked. So what is used as an index is limited when it is read: times may then be wrong, but no index is.
 * Records that were counted are all there. */
static struct cn_hpc_states_change decode_change(const struct cn_thread_states *states,
                                                 size_t at)
{
    struct cn_hpc_states_change change = {0};

    (void)cn_hpc_states_change_decode(
        cn_bytes_element(states->changes, at, cn_hpc_states_change_size), &change);
    return change;
}

static struct cn_state_change read_change(const struct cn_thread_states *states,
                                          size_t at)
{
    struct cn_hpc_states_change change = decode_change(states, at);
    struct cn_hpc_states_context context = {0};

    if (states->contexts.len > 0)
        (void)cn_hpc_states_context_decode(
            cn_bytes_element(states->contexts, at, cn_hpc_states_context_size), &context);
    return (struct cn_state_change){.time_ns = change.time_ns,
                                    .state = change.state < CN_TASK_STATES
                                                 ? (enum cn_task_state)change.state
                                                 : CN_TASK_UNKNOWN,
                                    .context = context.context};
}

static bool check_change(const struct cn_hpc_states_change *change, uint64_t before_ns,
                         bool is_last, struct cn_error *err)
{
    if (change->state > CN_TASK_UNKNOWN || (is_last && change->state != CN_TASK_UNKNOWN))
        return cn_fail(err, CN_ERR_FORMAT, "state %u at %" PRIu64,
                       (unsigned)change->state, change->time_ns);
    return change->time_ns >= before_ns ||
           cn_fail(err, CN_ERR_FORMAT, "time runs backwards: %" PRIu64 " after %" PRIu64,
                   change->time_ns, before_ns);
}

/* The records of the next profile, of which there must be enough in `rest`: `out`, `*count` of them. */
static bool take_records(struct cn_bytes *profiles, struct cn_bytes *rest, size_t size,
                         uint64_t *end, struct cn_bytes *out, size_t *count,
                         struct cn_error *err)
{
    struct cn_hpc_states_profile profile;

    if (!cn_hpc_states_profile_take_first(profiles, &profile) || profile.end < *end ||
        profile.end - *end > rest->len / size ||
        !cn_bytes_take(rest, (size_t)(profile.end - *end) * size, out))
        return cn_fail(err, CN_ERR_FORMAT, "its changes do not fit the section");
    *count = (size_t)(profile.end - *end);
    *end = profile.end;
    return true;
}

/* A pass over a section, whose pages are given back as it goes. */
struct states_pass {
    struct cn_hpc_states_file *file;
    struct cn_bytes changes, contexts, runs; /* whose pages are there yet */
    uint64_t end, run_end;
};

static bool take_states(struct states_pass *p, struct cn_thread_states *out,
                        struct cn_error *err)
{
    struct cn_hpc_states_file *file = p->file;
    struct cn_thread_states states = {.read = read_change};
    uint64_t before_ns = 0;
    struct cn_bytes rest;

    if (!take_records(&file->profiles, &file->changes, cn_hpc_states_change_size, &p->end,
                      &states.changes, &states.count, err))
        return false;
    /* Files of earlier versions lack contexts. */
    if (!cn_bytes_take(&file->contexts, states.count * cn_hpc_states_context_size,
                       &states.contexts))
        (void)cn_bytes_take(&file->contexts, file->contexts.len, &rest);
    for (size_t i = 0; i < states.count; i++) {
        struct cn_hpc_states_change change = decode_change(&states, i);

        if (!check_change(&change, before_ns, i + 1 == states.count, err))
            return false;
        before_ns = change.time_ns;
        forget(&p->changes, states.changes.ptr + i * cn_hpc_states_change_size,
               file->is_mapped);
    }
    forget(&p->contexts, file->contexts.ptr, file->is_mapped);
    *out = states;
    return true;
}

static struct cn_hpc_states_run decode_run(const struct cn_thread_runs *runs, size_t at)
{
    struct cn_hpc_states_run run = {0};

    (void)cn_hpc_states_run_decode(
        cn_bytes_element(runs->stored, at, cn_hpc_states_run_size), &run);
    return run;
}

static struct cn_thread_run read_run(const struct cn_thread_runs *runs, size_t at)
{
    struct cn_hpc_states_run run = decode_run(runs, at);

    return (struct cn_thread_run){
        .begin_ns = run.begin_ns,
        .end_ns = run.end_ns,
        .processor = run.processor < CN_PROCESSOR_MAX ? run.processor : 0};
}

static bool check_run(const struct cn_hpc_states_run *run, uint64_t before_ns,
                      struct cn_error *err)
{
    if (run->processor >= CN_PROCESSOR_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "processor %" PRIu32 " at %" PRIu64,
                       run->processor, run->begin_ns);
    return (run->end_ns > run->begin_ns && run->begin_ns >= before_ns) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "a run from %" PRIu64 " to %" PRIu64 " is not in order", run->begin_ns,
                   run->end_ns);
}

static bool take_runs(struct states_pass *p, struct cn_thread_runs *out,
                      struct cn_error *err)
{
    struct cn_hpc_states_file *file = p->file;
    struct cn_thread_runs runs = {.read = read_run};
    uint64_t before_ns = 0;

    if (!take_records(&file->run_profiles, &file->runs, cn_hpc_states_run_size,
                      &p->run_end, &runs.stored, &runs.count, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        struct cn_hpc_states_run run = decode_run(&runs, i);

        if (!check_run(&run, before_ns, err))
            return false;
        before_ns = run.end_ns;
        forget(&p->runs, runs.stored.ptr + i * cn_hpc_states_run_size, file->is_mapped);
    }
    *out = runs;
    return true;
}

struct stored_wakeup {
    struct cn_hpc_states_wakeup threads;
    struct cn_hpc_states_waker waker;
};

/* Files of earlier versions lack wakers: all wake-ups are of threads. */
static struct stored_wakeup decode_wakeup(const struct cn_wakeups *wakeups, size_t at)
{
    struct stored_wakeup out = {0};

    (void)cn_hpc_states_wakeup_decode(
        cn_bytes_element(wakeups->stored, at, cn_hpc_states_wakeup_size), &out.threads);
    if (at < wakeups->wakers.len / cn_hpc_states_waker_size)
        (void)cn_hpc_states_waker_decode(
            cn_bytes_element(wakeups->wakers, at, cn_hpc_states_waker_size), &out.waker);
    return out;
}

static uint32_t limit_profile(const struct cn_wakeups *wakeups, uint32_t profile)
{
    return profile < wakeups->profile_count ? profile : 0;
}

static struct cn_wakeup read_wakeup(const struct cn_wakeups *wakeups, size_t at)
{
    struct stored_wakeup wakeup = decode_wakeup(wakeups, at);

    return (struct cn_wakeup){.time_ns = wakeup.threads.time_ns,
                              .from = limit_profile(wakeups, wakeup.threads.from),
                              .to = limit_profile(wakeups, wakeup.threads.to),
                              .context = wakeup.waker.context,
                              .source = wakeup.waker.source < CN_WAKEUP_SOURCES
                                            ? (enum cn_wakeup_source)wakeup.waker.source
                                            : CN_WOKEN_BY_OTHER};
}

static bool take_wakeups(const struct cn_hpc_states_file *file, uint32_t profile_count,
                         struct cn_wakeups *out, struct cn_error *err)
{
    struct cn_bytes kept = file->wakeups, wakers_kept = file->wakers;
    struct cn_wakeups wakeups = {.count = kept.len / cn_hpc_states_wakeup_size,
                                 .read = read_wakeup,
                                 .stored = kept,
                                 .wakers = wakers_kept,
                                 .profile_count = profile_count};

    for (size_t i = 0; i < wakeups.count; i++) {
        struct stored_wakeup wakeup = decode_wakeup(&wakeups, i);

        if (wakeup.threads.from >= profile_count || wakeup.threads.to >= profile_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "wake-up %zu is of profiles that profile.db does not have", i);
        if (wakeup.waker.source >= CN_WAKEUP_SOURCES)
            return cn_fail(err, CN_ERR_FORMAT, "source %u of a wake-up at %" PRIu64,
                           (unsigned)wakeup.waker.source, wakeup.threads.time_ns);
        forget(&kept, file->wakeups.ptr + i * cn_hpc_states_wakeup_size, file->is_mapped);
    }
    forget(&wakers_kept, file->wakers.ptr + file->wakers.len, file->is_mapped);
    *out = wakeups;
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

static bool read_file(struct cn_hpc_states_file *file, uint32_t profile_count,
                      struct cn_arena *arena, struct cn_hpc_states *out,
                      struct cn_error *err)
{
    struct states_pass pass = {.file = file,
                               .changes = file->changes,
                               .contexts = file->contexts,
                               .runs = file->runs};
    bool has_runs = file->run_profiles.len > 0;
    struct cn_thread_states *states =
        cn_arena_alloc(arena, (size_t)profile_count + 1, sizeof(*states));
    struct cn_thread_runs *runs =
        cn_arena_alloc(arena, (size_t)profile_count + 1, sizeof(*runs));

    if (!check_profiles(file->profiles, profile_count, err) ||
        (has_runs && !check_profiles(file->run_profiles, profile_count, err)))
        return false;
    for (uint32_t i = 0; i < profile_count; i++)
        if (!take_states(&pass, &states[i], err) ||
            (has_runs && !take_runs(&pass, &runs[i], err)))
            return cn_fail_in(err, "profile %" PRIu32, i);
    out->states = pass.end > 0 ? states : NULL;
    out->runs = pass.run_end > 0 ? runs : NULL;
    return take_wakeups(file, profile_count, &out->wakeups, err) &&
           take_heap(file, false, profile_count, arena, &out->heap, err) &&
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

    if (!cn_hpc_states_open(&opened, file, is_mapped, err))
        return false;
    ok = read_file(&opened, profile_count, arena, &states, err);
    if (is_mapped)
        cn_file_forget(file);
    cn_block_file_close(&opened.blocks);
    if (ok)
        *out = states;
    return ok;
}
