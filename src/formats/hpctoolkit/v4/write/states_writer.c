#include "formats/hpctoolkit/v4/write/writing.h"

#include <string.h>

#include "base/files/blocks.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/write/states_io.h"
#include "model/heap_history.h"
#include "model/locks.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

static bool write_profiles(const struct cn_database *db, struct cn_block_writer *out,
                           struct cn_error *err)
{
    struct cn_hpc_states_profile profile = {0};
    uint8_t bytes[cn_hpc_states_profile_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_PROFILES, err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++) {
        profile.end += db->states ? db->states[i].count : 0;
        cn_hpc_states_profile_encode(&profile, bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_changes(const struct cn_thread_states *states,
                          struct cn_block_writer *out, struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_change_size];

    for (size_t i = 0; i < states->count; i++) {
        struct cn_state_change change = cn_thread_states_at(states, i);

        cn_hpc_states_change_encode(
            &(struct cn_hpc_states_change){change.time_ns, (uint8_t)change.state}, bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_runs_of(const struct cn_thread_runs *runs, struct cn_block_writer *out,
                          struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_run_size];

    for (size_t i = 0; i < runs->count; i++) {
        struct cn_thread_run run = cn_thread_runs_at(runs, i);

        cn_hpc_states_run_encode(
            &(struct cn_hpc_states_run){run.begin_ns, run.end_ns, run.processor}, bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_runs(const struct cn_database *db, struct cn_block_writer *out,
                       struct cn_error *err)
{
    struct cn_hpc_states_profile profile = {0};
    uint8_t bytes[cn_hpc_states_profile_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_RUN_PROFILES, err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++) {
        profile.end += db->runs[i].count;
        cn_hpc_states_profile_encode(&profile, bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    if (!cn_block_writer_section(out, CN_HPC_STATES_RUNS, err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++)
        if (!write_runs_of(&db->runs[i], out, err))
            return false;
    return true;
}

static bool write_wakeups(const struct cn_database *db, struct cn_block_writer *out,
                          struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_wakeup_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_WAKEUPS, err))
        return false;
    for (size_t i = 0; i < db->wakeups.count; i++) {
        struct cn_wakeup wakeup = cn_wakeups_at(&db->wakeups, i);

        cn_hpc_states_wakeup_encode(
            &(struct cn_hpc_states_wakeup){wakeup.time_ns, wakeup.from, wakeup.to},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_contexts(const struct cn_database *db, struct cn_block_writer *out,
                           struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_context_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_CONTEXTS, err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++)
        for (size_t k = 0; k < db->states[i].count; k++) {
            cn_hpc_states_context_encode(
                &(struct cn_hpc_states_context){
                    cn_thread_states_at(&db->states[i], k).context},
                bytes);
            if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
                return false;
        }
    return true;
}

static bool write_wakers(const struct cn_database *db, struct cn_block_writer *out,
                         struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_waker_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_WAKERS, err))
        return false;
    for (size_t i = 0; i < db->wakeups.count; i++) {
        struct cn_wakeup wakeup = cn_wakeups_at(&db->wakeups, i);

        cn_hpc_states_waker_encode(
            &(struct cn_hpc_states_waker){wakeup.context, (uint8_t)wakeup.source}, bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_processes(const struct cn_heap_history *heap,
                            struct cn_block_writer *out, struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_heap_process_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_HEAP_PROCESSES, err))
        return false;
    for (size_t i = 0; i < heap->process_count; i++) {
        const struct cn_heap_process *process = &heap->processes[i];

        cn_hpc_states_heap_process_encode(
            &(struct cn_hpc_states_heap_process){
                process->peak_ns, (uint64_t)process->peak_bytes, process->profile},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_memories(const struct cn_heap_history *heap,
                           struct cn_block_writer *out, struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_gpu_memory_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_GPU_MEMORIES, err))
        return false;
    for (size_t i = 0; i < heap->process_count; i++) {
        const struct cn_heap_process *device = &heap->processes[i];

        cn_hpc_states_gpu_memory_encode(
            &(struct cn_hpc_states_gpu_memory){device->peak_ns,
                                               (uint64_t)device->peak_bytes,
                                               device->profile, device->device},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

/* Changes, and the tick after them, in the sections from `first` on. */
static bool write_heap_changes(const struct cn_heap_history *heap,
                               enum cn_hpc_states_section first,
                               struct cn_block_writer *out, struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_heap_change_size], tick[cn_hpc_states_heap_tick_size];

    if (!cn_block_writer_section(out, first, err))
        return false;
    for (size_t i = 0; i < heap->change_count; i++) {
        const struct cn_heap_change *change = &heap->changes[i];

        cn_hpc_states_heap_change_encode(
            &(struct cn_hpc_states_heap_change){
                change->time_ns, (uint64_t)(int64_t)change->bytes, change->process,
                change->profile, change->context},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    cn_hpc_states_heap_tick_encode(&(struct cn_hpc_states_heap_tick){heap->resolution_ns},
                                   tick);
    return cn_block_writer_section(out, first + 1, err) &&
           cn_block_writer_add(out, tick, sizeof(tick), err);
}

static bool write_lock_list(const struct cn_locks *locks, struct cn_block_writer *out,
                            struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_lock_size];
    size_t name = 0;

    if (!cn_block_writer_section(out, CN_HPC_STATES_LOCKS, err))
        return false;
    for (size_t i = 0; i < locks->count; i++) {
        const struct cn_waited_lock *lock = &locks->list[i];

        cn_hpc_states_lock_encode(
            &(struct cn_hpc_states_lock){lock->address, lock->process, lock->offset,
                                         (uint32_t)name},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
        name += strlen(lock->variable) + 1;
    }
    return name <= UINT32_MAX ||
           cn_fail(err, CN_ERR_LIMIT, "names of locks take %zu bytes", name);
}

static bool write_locks(const struct cn_locks *locks, struct cn_block_writer *out,
                        struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_lock_wait_size];

    if (!write_lock_list(locks, out, err) ||
        !cn_block_writer_section(out, CN_HPC_STATES_LOCK_WAITS, err))
        return false;
    for (size_t i = 0; i < locks->wait_count; i++) {
        cn_hpc_states_lock_wait_encode(
            &(struct cn_hpc_states_lock_wait){
                locks->waits[i].time_ns, locks->waits[i].profile, locks->waits[i].lock},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    if (!cn_block_writer_section(out, CN_HPC_STATES_LOCK_NAMES, err))
        return false;
    for (size_t i = 0; i < locks->count; i++)
        if (!cn_block_writer_add(out, locks->list[i].variable,
                                 strlen(locks->list[i].variable) + 1, err))
            return false;
    return true;
}

static bool write_launches(const struct cn_database *db, struct cn_block_writer *out,
                           struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_launch_size];

    if (!cn_block_writer_section(out, CN_HPC_STATES_LAUNCHES, err))
        return false;
    for (size_t i = 0; i < db->launch_count; i++) {
        const struct cn_launch *launch = &db->launches[i];

        cn_hpc_states_launch_encode(
            &(struct cn_hpc_states_launch){launch->from_ns, launch->to_ns,
                                           launch->from_profile, launch->to_profile},
            bytes);
        if (!cn_block_writer_add(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

/* What is known of memory and of GPUs. */
static bool write_memory(const struct cn_database *db, struct cn_block_writer *out,
                         struct cn_error *err)
{
    return (!db->heap ||
            (write_processes(db->heap, out, err) &&
             write_heap_changes(db->heap, CN_HPC_STATES_HEAP_CHANGES, out, err))) &&
           (db->launch_count == 0 || write_launches(db, out, err)) &&
           (!db->gpu_memory ||
            (write_memories(db->gpu_memory, out, err) &&
             write_heap_changes(db->gpu_memory, CN_HPC_STATES_GPU_CHANGES, out, err)));
}

bool cn_hpc_states_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    const struct cn_database *db = w->db;
    struct cn_disk disk = cn_hpc_unsynced_disk();
    struct cn_block_writer out = {0};
    bool ok;

    if ((!db->states && !db->runs && !db->heap && !db->io && !db->gpu_memory &&
         db->wakeups.count + db->launch_count == 0) ||
        w->options->without_timelines)
        return true;
    ok = cn_block_writer_open(&out, &disk, w->dir, CN_HPC_STATES_NAME,
                              CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, err) &&
         write_profiles(db, &out, err) &&
         cn_block_writer_section(&out, CN_HPC_STATES_CHANGES, err);
    for (uint32_t i = 0; ok && db->states && i < db->profile_count; i++)
        ok = write_changes(&db->states[i], &out, err);
    ok = ok && (!db->runs || write_runs(db, &out, err)) &&
         (db->wakeups.count == 0 ||
          (write_wakeups(db, &out, err) && write_wakers(db, &out, err))) &&
         (!db->states || write_contexts(db, &out, err)) && write_memory(db, &out, err) &&
         (!db->io || cn_hpc_states_write_io(db->io, &out, err)) &&
         (!db->locks || write_locks(db->locks, &out, err));
    ok = ok && cn_block_writer_commit(&out, err);
    cn_block_writer_abandon(&out);
    return ok || cn_fail_in(err, CN_HPC_STATES_NAME);
}
