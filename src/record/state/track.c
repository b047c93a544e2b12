#include "record/state/track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "formats/memory/format.h"
#include "record/clock.h"
#include "record/process.h"
#include "record/state/memory.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    NAP_NS = 50000,      /* requested; the kernel sleeps at least twice as long */
    LOOK_NS = 100000000, /* then check whether to wait on */
    NAPS_PER_CHECK = 40, /* then check whether the writer is alive */
    ABSENT_MAX = 50,     /* checks: the standby process needs time to take over */
};

/* Then records are dropped: the launcher is stopped, or the disk hangs. */
#define PATIENCE_NS 5000000000u

static bool is_alive(uint32_t pid)
{
    return cn_rec_syscall3(SYS_kill, (long)pid, 0, 0) != -ESRCH;
}

void cn_rec_track_ring_bell(void)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    atomic_fetch_add(&shared->bell, 1);
    if (atomic_exchange(&shared->is_asleep, 0))
        (void)cn_rec_syscall3(SYS_futex, (long)&shared->bell, FUTEX_WAKE, 1);
}

static void file_name(uint32_t tid, bool is_heap, struct cn_rec_text *name)
{
    cn_rec_text_str(name, cn_rec_process.shared->dir);
    cn_rec_text_str(name, "/");
    cn_rec_text_u64(name, tid);
    cn_rec_text_str(name, is_heap ? CN_MEMORY_SUFFIX : ".dat");
}

/* The last writer may have died before it updated `drained`: correct it by the length of
 * the file, and its rights, which the umask may have reduced. */
static void skip_written(struct cn_rec_track *track, long fd)
{
    struct stat status;
    uint64_t left = cn_rec_track_end(track) - atomic_load(&track->drained), known, more;

    if (cn_rec_syscall3(SYS_fstat, fd, (long)&status, 0) < 0)
        return;
    if ((status.st_mode & 0777) != 0600)
        (void)cn_rec_syscall3(SYS_fchmod, fd, 0600, 0);
    if (track->file_len == UINT64_MAX)
        track->file_len = (uint64_t)status.st_size;
    known = track->file_len + atomic_load(&track->drained);
    if ((uint64_t)status.st_size <= known)
        return;
    more = (uint64_t)status.st_size - known;
    atomic_fetch_add(&track->drained, more < left ? more : left);
}

/* Count drained bytes, and stop at the size limit: the launcher may check too late. */
static void count_written(struct cn_rec_shared *shared, bool is_heap, uint64_t len)
{
    uint64_t all = cn_rec_count_drained(shared, is_heap, len);
    uint32_t running = CN_REC_RUNNING;

    if (shared->size_limit > 0 && all >= shared->size_limit)
        (void)atomic_compare_exchange_strong(&shared->stop, &running, CN_REC_STOP_SIZE);
}

/* Write all records to the file; 0, or -errno. Signals are blocked. */
static long write_out(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t ring_len = track->ring_len;
    char space[CN_REC_NAME_MAX];
    struct cn_rec_text name = {space, sizeof(space), 0, false};
    long fd, done = 0;

    if (atomic_load(&shared->is_over)) {
        atomic_store(&track->drained, cn_rec_track_end(track));
        return 0;
    }
    file_name(track->tid, track->is_heap, &name);
    fd = cn_rec_open_to_append(name.chars);
    if (fd < 0)
        return fd;
    skip_written(track, fd);
    for (;;) {
        uint64_t drained = atomic_load(&track->drained);
        uint64_t len = cn_rec_track_end(track) - drained;
        uint64_t at = drained & (ring_len - 1), to_end = ring_len - at;
        struct iovec parts[2] = {
            {.iov_base = (void *)(uintptr_t)(ring + at),
             .iov_len = len < to_end ? len : to_end},
            {.iov_base = (void *)(uintptr_t)ring,
             .iov_len = len < to_end ? 0 : len - to_end},
        };

        if (len == 0)
            break;
        done = cn_rec_syscall3(SYS_writev, fd, (long)parts, 2);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            break;
        atomic_store(&track->drained, drained + (uint64_t)done);
        count_written(shared, track->is_heap, (uint64_t)done);
    }
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    if (done == -EFBIG)
        cn_rec_forget_file_size_signal();
    return done < 0 ? done : 0;
}

void cn_rec_track_append(uint32_t tid, const uint64_t *words, uint32_t count)
{
    char space[CN_REC_NAME_MAX];
    struct cn_rec_text name = {space, sizeof(space), 0, false};
    uint64_t len = (uint64_t)count * sizeof(*words);

    file_name(tid, false, &name);
    long fd = cn_rec_append_to(name.chars);
    if (fd < 0)
        return;
    if (cn_rec_syscall3(SYS_write, fd, (long)words, (long)len) == (long)len)
        count_written(cn_rec_process.shared, false, len);
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
}

/* True if waiting may continue. A thread that waited in vain does not wait again, for
 * each record, until the launcher has drained something. */
static bool is_worth_waiting(struct cn_rec_track *track, uint32_t naps, uint64_t *end_ns)
{
    uint64_t drained = atomic_load(&track->drained);
    struct timespec nap = {.tv_nsec = NAP_NS};

    if (naps == 0)
        return true;
    if (cn_rec_track_is_stuck(track))
        return false;
    if (*end_ns == 0)
        *end_ns = cn_rec_clock_monotonic_ns() + PATIENCE_NS;
    if (naps % NAPS_PER_CHECK == 0 && cn_rec_clock_monotonic_ns() >= *end_ns) {
        track->given_up_at = drained + 1;
        return false;
    }
    (void)cn_rec_syscall3(SYS_nanosleep, (long)&nap, 0, 0);
    return true;
}

/* Lock the track. The launcher may be writing, or may have died while it was. */
static bool lock(struct cn_rec_track *track)
{
    uint64_t end_ns = 0;

    for (uint32_t naps = 0; is_worth_waiting(track, naps, &end_ns); naps++) {
        uint32_t writer = 0;

        if (atomic_compare_exchange_strong(&track->writer, &writer, track->tid))
            return true;
        if (naps % NAPS_PER_CHECK == NAPS_PER_CHECK - 1 && !is_alive(writer))
            (void)atomic_compare_exchange_strong(&track->writer, &writer, 0);
    }
    return false;
}

static bool wait_for_launcher(struct cn_rec_track *track)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t recorded = atomic_load(&track->recorded), end = cn_rec_track_end(track);
    uint64_t end_ns = 0;
    uint32_t absent = 0;

    for (uint32_t naps = 0; is_worth_waiting(track, naps, &end_ns); naps++) {
        uint64_t drained = atomic_load(&track->drained);

        if (recorded - drained <= track->ring_len / 2 || drained >= end)
            return true;
        if (atomic_load(&shared->stop))
            return false;
        if (naps % NAPS_PER_CHECK == NAPS_PER_CHECK - 1)
            absent = is_alive(shared->launcher_pid) ? 0 : absent + 1;
        if (absent == ABSENT_MAX) {
            track->given_up_at = drained + 1;
            return false;
        }
        cn_rec_track_ring_bell();
    }
    return false;
}

/* A process that may not open or write the file (limits, chroot, setuid) leaves it to the
 * launcher; a full disk ends the recording. */
bool cn_rec_track_make_room(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    if (!shared->has_own_writing)
        return wait_for_launcher(track);
    if (!lock(track))
        return false;
    long result = write_out(track, ring);
    atomic_store(&track->writer, 0);
    cn_rec_process_check_disk(result);
    if (result < 0 && atomic_load(&shared->stop) != CN_REC_STOP_DISK)
        return wait_for_launcher(track);
    return result == 0;
}

void cn_rec_track_close(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    atomic_store(&track->unfinished, UINT64_MAX);
    if (shared->has_own_writing && ring && lock(track)) {
        (void)write_out(track, ring);
        atomic_store(&track->writer, 0);
    }
    bool is_empty = atomic_load(&track->drained) == atomic_load(&track->recorded);
    if (is_empty)
        atomic_fetch_add(cn_rec_lost_count(shared, track),
                         atomic_exchange(&track->lost, 0));
    if (!atomic_load(&shared->is_over))
        atomic_fetch_add(&shared->extra_len, atomic_exchange(&track->extra_len, 0));
    if (is_empty && !atomic_load(&track->is_unlisted)) {
        cn_rec_track_release(track);
        return;
    }
    atomic_store(&track->state, CN_REC_CLOSED);
    cn_rec_track_ring_bell();
}

/* Close the track of the program that an exec replaced. */
static void finish_earlier(uint32_t tid)
{
    uint32_t count = atomic_load(&cn_rec_process.shared->track_count);

    if (!cn_rec_memory_tracks(count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct cn_rec_track *track = &cn_rec_process.tracks[i];
        uint32_t open = CN_REC_OPEN;

        if (atomic_load(&track->state) == CN_REC_OPEN && track->tid == tid &&
            atomic_compare_exchange_strong(&track->state, &open, CN_REC_TAKEN))
            cn_rec_track_close(track, cn_rec_memory_ring(track, NULL));
    }
}

static struct cn_rec_track *find_released(uint32_t count)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    uint32_t first = atomic_load(&shared->free_hint);

    for (uint32_t i = 0; i < count && atomic_load(&shared->free_count) > 0; i++) {
        struct cn_rec_track *track = &cn_rec_process.tracks[(first + i) % count];
        uint32_t unused = CN_REC_FREE;

        if (atomic_load(&track->state) == CN_REC_FREE &&
            atomic_compare_exchange_strong(&track->state, &unused, CN_REC_TAKEN)) {
            atomic_fetch_sub(&shared->free_count, 1);
            return track;
        }
    }
    return NULL;
}

/* Wait a moment for the launcher to allocate more than `ready` tracks. False if there will be none, or
 * not in time. */
static bool wait_for_memory(uint32_t ready, uint64_t *end_ns)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t now_ns = cn_rec_clock_monotonic_ns();
    struct timespec time = {.tv_nsec = LOOK_NS};

    if (*end_ns == 0)
        *end_ns = now_ns + PATIENCE_NS;
    if (atomic_load(&shared->is_full) || atomic_load(&shared->stop) || now_ns >= *end_ns)
        return false;
    atomic_fetch_add(&shared->waiting_count, 1);
    cn_rec_track_ring_bell();
    /* It may be resting. */
    (void)cn_rec_syscall3(SYS_futex, (long)&shared->bell, FUTEX_WAKE, 1);
    (void)cn_rec_syscall6(SYS_futex, (long)&shared->ready_count, FUTEX_WAIT, ready,
                          (long)&time, 0, 0);
    atomic_fetch_sub(&shared->waiting_count, 1);
    return true;
}

/* Take a released track, else a new one. On a busy machine threads may end before the launcher has
 * allocated more. */
static struct cn_rec_track *find_free(void)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    for (uint64_t end_ns = 0;;) {
        uint32_t count = atomic_load(&shared->track_count), unused = CN_REC_FREE, ready;
        struct cn_rec_track *track;

        if (count == CN_REC_TRACK_COUNT || !cn_rec_memory_tracks(count + 1))
            return NULL;
        track = find_released(count);
        if (track)
            return track;
        ready = atomic_load(&shared->ready_count);
        if (ready <= count) {
            if (!wait_for_memory(ready, &end_ns))
                return NULL;
            continue;
        }
        end_ns = 0; /* there was memory, though others may take it first */
        /* Others should not have to wait. */
        if (ready - count == count / 4)
            cn_rec_track_ring_bell();
        track = &cn_rec_process.tracks[count];
        if (!atomic_compare_exchange_strong(&shared->track_count, &count, count + 1))
            continue;
        if (atomic_compare_exchange_strong(&track->state, &unused, CN_REC_TAKEN))
            return track;
        atomic_fetch_add(&shared->free_count, 1); /* taken as if it had been released */
    }
}

struct cn_rec_track *cn_rec_track_take(uint32_t tid, bool is_heap)
{
    struct cn_rec_process *process = &cn_rec_process;

    if (!process->is_earlier_finished) {
        process->is_earlier_finished = true;
        finish_earlier(tid);
    }
    struct cn_rec_track *track = find_free();
    if (!track)
        return NULL;
    track->tid = tid;
    track->pid = cn_rec_pid();
    track->is_heap = is_heap;
    track->file_len = UINT64_MAX;
    atomic_store(&track->recorded, 0);
    atomic_store(&track->drained, 0);
    atomic_store(&track->lost, 0);
    atomic_store(&track->extra_len, 0);
    atomic_store(&track->unfinished, UINT64_MAX);
    track->given_up_at = 0;
    atomic_store(&track->is_unlisted, 0);
    track->packed[0] = (struct cn_rec_packed){0};
    atomic_store(&track->packed_index, 0);
    atomic_store(&track->writer, 0);
    return track;
}

void cn_rec_track_open(struct cn_rec_track *track)
{
    atomic_store(&track->state, CN_REC_OPEN);
}

void cn_rec_track_release(struct cn_rec_track *track)
{
    atomic_store(&track->state, CN_REC_FREE);
    atomic_store(&cn_rec_process.shared->free_hint,
                 (uint32_t)(track - cn_rec_process.tracks));
    atomic_fetch_add(&cn_rec_process.shared->free_count, 1);
}
