#include "record/track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "record/clock.h"
#include "record/process.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    NAP_NS = 50000,      /* requested; the kernel sleeps at least twice as long */
    NAPS_PER_CHECK = 40, /* then check whether the writer is alive */
    ABSENT_MAX = 50,     /* checks: the standby process needs time to take over */
    FALLOC_KEEP_SIZE = 1,
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

static void file_name(uint32_t tid, struct cn_rec_text *name)
{
    cn_rec_text_str(name, cn_rec_process.shared->dir);
    cn_rec_text_str(name, "/");
    cn_rec_text_u64(name, tid);
    cn_rec_text_str(name, ".dat");
}

static uint64_t file_len(uint32_t tid)
{
    char space[CN_REC_NAME_MAX];
    struct cn_rec_text name = {space, sizeof(space), 0, false};
    struct stat status;

    file_name(tid, &name);
    if (cn_rec_syscall6(SYS_newfstatat, AT_FDCWD, (long)name.chars, (long)&status, 0, 0,
                        0) < 0)
        return 0;
    return (uint64_t)status.st_size;
}

/* The last writer may have died before it updated `drained`: correct it by the length of
 * the file. */
static void skip_written(struct cn_rec_track *track, long fd)
{
    struct stat status;
    uint64_t known = track->file_len + atomic_load(&track->drained);
    uint64_t left = cn_rec_track_end(track) - atomic_load(&track->drained), more;

    if (cn_rec_syscall3(SYS_fstat, fd, (long)&status, 0) < 0 ||
        (uint64_t)status.st_size <= known)
        return;
    more = (uint64_t)status.st_size - known;
    atomic_fetch_add(&track->drained, more < left ? more : left);
}

/* Count drained bytes, and stop at the size limit: the launcher may check too late. */
static void count_written(struct cn_rec_shared *shared, uint64_t len)
{
    uint64_t all = atomic_fetch_add(&shared->byte_count, len) + len;
    uint32_t running = CN_REC_RUNNING;

    if (shared->size_limit > 0 && all >= shared->size_limit)
        (void)atomic_compare_exchange_strong(&shared->stop, &running, CN_REC_STOP_SIZE);
}

/* Write all records to the file. On failure the recording ends. */
static bool write_out(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t ring_len = shared->ring_len;
    char space[CN_REC_NAME_MAX];
    struct cn_rec_text name = {space, sizeof(space), 0, false};
    long fd;

    if (atomic_load(&shared->is_over)) {
        atomic_store(&track->drained, cn_rec_track_end(track));
        return true;
    }
    file_name(track->tid, &name);
    fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)name.chars,
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644, 0, 0);
    if (fd < 0)
        return false;
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
        long done;

        if (len == 0)
            break;
        done = cn_rec_syscall3(SYS_writev, fd, (long)parts, 2);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            break;
        atomic_store(&track->drained, drained + (uint64_t)done);
        count_written(shared, (uint64_t)done);
    }
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    return atomic_load(&track->drained) == cn_rec_track_end(track);
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

        if (recorded - drained <= shared->ring_len / 2 || drained >= end)
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

bool cn_rec_track_make_room(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    bool ok;

    if (!shared->has_own_writing)
        return wait_for_launcher(track);
    if (!lock(track))
        return false;
    ok = write_out(track, ring);
    atomic_store(&track->writer, 0);
    if (!ok && !atomic_load(&shared->stop))
        atomic_store(&shared->stop, CN_REC_STOP_DISK);
    return ok;
}

void cn_rec_track_close(struct cn_rec_track *track, const uint8_t *ring)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    bool is_empty;

    atomic_store(&track->unfinished, UINT64_MAX);
    if (shared->has_own_writing && lock(track)) {
        (void)write_out(track, ring);
        atomic_store(&track->writer, 0);
    }
    is_empty = atomic_load(&track->drained) == atomic_load(&track->recorded);
    if (is_empty)
        atomic_fetch_add(&shared->lost_count, atomic_exchange(&track->lost, 0));
    if (!atomic_load(&shared->is_over))
        atomic_fetch_add(&shared->extra_len, atomic_exchange(&track->extra_len, 0));
    atomic_store(&track->state, is_empty ? CN_REC_FREE : CN_REC_CLOSED);
    if (!is_empty)
        cn_rec_track_ring_bell();
}

/* Close the track of the program that an exec replaced. */
static void finish_earlier(uint32_t tid)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    for (uint32_t i = 0; i < atomic_load(&shared->track_count); i++) {
        struct cn_rec_track *track = &cn_rec_process.tracks[i];
        uint32_t open = CN_REC_OPEN;

        if (atomic_load(&track->state) == CN_REC_OPEN && track->tid == tid &&
            atomic_compare_exchange_strong(&track->state, &open, CN_REC_TAKEN))
            cn_rec_track_close(track, cn_rec_process.rings + i * shared->ring_len);
    }
}

/* Allocate the ring: touching it on a full file system would kill the program. */
static bool back_with_memory(uint64_t i)
{
    uint64_t len = cn_rec_process.shared->ring_len;
    long fd, result;

    fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)cn_rec_process.path,
                         O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return false;
    result = cn_rec_syscall6(SYS_fallocate, fd, FALLOC_KEEP_SIZE,
                             (long)(CN_REC_RINGS_OFF + i * len), (long)len, 0, 0);
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    return result >= 0 || result == -EOPNOTSUPP;
}

/* Take a released track, else a new one. */
static struct cn_rec_track *find_free(void)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    for (;;) {
        uint32_t count = atomic_load(&shared->track_count);

        for (uint32_t i = 0; i < count; i++) {
            struct cn_rec_track *track = &cn_rec_process.tracks[i];
            uint32_t unused = CN_REC_FREE;

            if (atomic_load(&track->state) == CN_REC_FREE &&
                atomic_compare_exchange_strong(&track->state, &unused, CN_REC_TAKEN))
                return track;
        }
        if (count >= CN_REC_TRACK_COUNT)
            return NULL;
        (void)atomic_compare_exchange_strong(&shared->track_count, &count, count + 1);
    }
}

struct cn_rec_track *cn_rec_track_take(uint32_t tid)
{
    struct cn_rec_process *process = &cn_rec_process;
    struct cn_rec_track *track;

    if (!process->is_earlier_finished) {
        process->is_earlier_finished = true;
        finish_earlier(tid);
    }
    track = find_free();
    if (!track)
        return NULL;
    if (!back_with_memory((uint64_t)(track - process->tracks))) {
        atomic_store(&track->state, CN_REC_FREE);
        return NULL;
    }
    track->tid = tid;
    track->pid = cn_rec_pid();
    track->file_len = file_len(tid);
    atomic_store(&track->recorded, 0);
    atomic_store(&track->drained, 0);
    atomic_store(&track->lost, 0);
    atomic_store(&track->extra_len, 0);
    atomic_store(&track->unfinished, UINT64_MAX);
    track->given_up_at = 0;
    track->packed[0] = (struct cn_rec_packed){0};
    atomic_store(&track->packed_index, 0);
    atomic_store(&track->writer, 0);
    atomic_store(&track->state, CN_REC_OPEN);
    return track;
}
