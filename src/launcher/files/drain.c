#include "launcher/files/drain.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/run/clock.h"
#include "base/text.h"
#include "formats/memory/format.h"
#include "launcher/files/recording_dir.h"

enum {
    LOOK_FOR_DEAD_STEPS = 8,
    LEAST_LEN = 64 << 10, /* bytes of a running thread that are worth a system call */
    REST_NS_MAX = 10000000,
    REST_FACTOR = 4,  /* rest this many times as long as a step took */
    DEAD_FACTOR = 40, /* and look for dead threads less often */
};

/* The last writer may have died before it updated `drained`: correct it by the length of
 * the file. */
static bool skip_written(struct cn_rec_track *track, int fd, struct cn_error *err)
{
    struct stat status;
    uint64_t left = cn_rec_track_end(track) - atomic_load(&track->drained), known;

    if (fstat(fd, &status) != 0)
        return cn_fail_errno(err, "cannot read the length of %u.dat", track->tid);
    if (track->file_len == UINT64_MAX)
        track->file_len = (uint64_t)status.st_size;
    known = track->file_len + atomic_load(&track->drained);
    if ((uint64_t)status.st_size > known) {
        uint64_t more = (uint64_t)status.st_size - known;

        atomic_fetch_add(&track->drained, more < left ? more : left);
    }
    return true;
}

/* Write up to `end` only: chasing a thread that keeps recording would take ever smaller
 * steps, each with a system call. */
static bool write_ring(struct cn_drain *drain, struct cn_rec_track *track, int fd,
                       uint64_t end, struct cn_error *err)
{
    const uint8_t *ring = cn_shared_memory_ring(drain->memory, track, err);
    uint64_t ring_len = cn_shared_memory_ring_len(drain->memory, track);

    if (!ring)
        return false;
    for (;;) {
        uint64_t drained = atomic_load(&track->drained);
        uint64_t len = drained < end ? end - drained : 0;
        uint64_t at = drained & (ring_len - 1), to_end = ring_len - at;
        struct iovec parts[2] = {
            {(void *)(uintptr_t)(ring + at), len < to_end ? len : to_end},
            {(void *)(uintptr_t)ring, len < to_end ? 0 : len - to_end},
        };

        if (len == 0)
            return true;
        if (len > ring_len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "%u.dat: the program overwrote the recorder's memory",
                           track->tid);
        ssize_t done = writev(fd, parts, 2);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return cn_fail_errno(err, "cannot write %u.dat", track->tid);
        atomic_fetch_add(&track->drained, (uint64_t)done);
        (void)cn_rec_count_drained(drain->memory->head, track->is_heap, (uint64_t)done);
    }
}

static bool write_plain(struct cn_drain *drain, struct cn_rec_track *track,
                        struct cn_error *err)
{
    uint64_t end = cn_rec_track_end(track);
    char name[16];

    (void)snprintf(name, sizeof(name), "%u%s", track->tid,
                   track->is_heap ? CN_MEMORY_SUFFIX : ".dat");
    int fd = cn_recording_dir_append(drain->dir, name, err);
    if (fd < 0)
        return false;
    bool ok = skip_written(track, fd, err) && write_ring(drain, track, fd, end, err);
    (void)close(fd);
    return ok;
}

static bool write_packed(struct cn_drain *drain, struct cn_rec_track *track,
                         struct cn_error *err)
{
    const uint8_t *ring = cn_shared_memory_ring(drain->memory, track, err);

    return ring && cn_packed_files_write(&drain->packed, track, ring, err);
}

static bool write_out(struct cn_drain *drain, struct cn_rec_track *track, bool gone,
                      struct cn_error *err)
{
    uint32_t writer = 0;

    if (atomic_load(&drain->memory->head->is_over))
        return true;
    /* A thread that has ended does not need its lock. */
    if (gone)
        atomic_store(&track->writer, drain->memory->head->launcher_pid);
    else if (!atomic_compare_exchange_strong(&track->writer, &writer,
                                             drain->memory->head->launcher_pid))
        return true;
    bool ok = drain->is_packed && !track->is_heap ? write_packed(drain, track, err)
                                                  : write_plain(drain, track, err);
    atomic_store(&track->writer, 0);
    return ok;
}

static bool release(struct cn_drain *drain, struct cn_rec_track *track,
                    struct cn_error *err)
{
    uint32_t state = atomic_load(&track->state);

    /* The same task may be taking over its own track after an exec. */
    if (!atomic_compare_exchange_strong(&track->state, &state, CN_REC_TAKEN))
        return true;
    atomic_store(&track->unfinished, UINT64_MAX);
    if (!write_out(drain, track, true, err))
        return false;
    atomic_fetch_add(cn_rec_lost_count(drain->memory->head, track),
                     atomic_load(&track->lost));
    if (!atomic_load(&drain->memory->head->is_over))
        atomic_fetch_add(&drain->memory->head->extra_len, atomic_load(&track->extra_len));
    atomic_store(&track->state, CN_REC_FREE);
    atomic_store(&drain->memory->head->free_hint,
                 (uint32_t)(track - drain->memory->tracks));
    atomic_fetch_add(&drain->memory->head->free_count, 1);
    return true;
}

/* Add the line of task.txt that is missing. */
static void list_task(struct cn_drain *drain, struct cn_rec_track *track)
{
    if (!atomic_exchange(&track->is_unlisted, 0))
        return;
    cn_text_printf(&drain->lines, "%s timestamp=%" PRIu64 ".%09" PRIu64,
                   track->task_parent ? "FORK" : "TASK", track->task_ns / 1000000000,
                   track->task_ns % 1000000000);
    if (track->task_parent)
        cn_text_printf(&drain->lines, " pid=%u ppid=%u\n", track->pid,
                       track->task_parent);
    else
        cn_text_printf(&drain->lines, " tid=%u pid=%u\n", track->tid, track->pid);
}

static bool write_lines(struct cn_drain *drain, struct cn_error *err)
{
    struct cn_text *lines = &drain->lines;

    if (lines->len == 0)
        return true;
    int fd = cn_recording_dir_append(drain->dir, "task.txt", err);
    bool ok = fd >= 0 && (write(fd, lines->chars, lines->len) == (ssize_t)lines->len ||
                          cn_fail_errno(err, "cannot write task.txt"));
    if (fd >= 0)
        (void)close(fd);
    cn_text_clear(lines);
    return ok;
}

/* True for an orphan that has ended; its new parent may take long to wait for it. */
static bool is_zombie(const struct cn_rec_track *track)
{
    char path[64], line[512] = "";

    (void)snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", track->pid, track->tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
    const char *state = strrchr(line, ')');
    return state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

static bool is_gone(const struct cn_drain *drain, const struct cn_rec_track *track)
{
    if (syscall(SYS_tgkill, track->pid, track->tid, 0) != 0 && errno == ESRCH)
        return true;
    return drain->looks_for_zombies && is_zombie(track);
}

static bool look_at(struct cn_drain *drain, struct cn_rec_track *track,
                    bool looks_for_dead, struct cn_error *err)
{
    uint32_t state = atomic_load(&track->state);
    uint64_t len, least_len = cn_shared_memory_ring_len(drain->memory, track) / 8;

    if (state != CN_REC_CLOSED && state != CN_REC_OPEN)
        return true;
    list_task(drain, track);
    if (state == CN_REC_CLOSED)
        return release(drain, track, err);
    if (looks_for_dead && is_gone(drain, track))
        return release(drain, track, err);
    drain->open_count++;
    len = cn_rec_track_end(track) - atomic_load(&track->drained);
    if (least_len > LEAST_LEN)
        least_len = LEAST_LEN;
    /* A thread that cannot record more must not wait. */
    if (atomic_load(&track->unfinished) != UINT64_MAX)
        least_len = 1;
    return len < least_len || write_out(drain, track, false, err);
}

bool cn_drain_step(struct cn_drain *drain, struct cn_error *err)
{
    bool looks_for_dead = drain->step_count % LOOK_FOR_DEAD_STEPS == 0 &&
                          cn_clock_ns() >= drain->next_dead_ns;
    uint32_t count = atomic_load(&drain->memory->head->track_count);
    uint64_t begin_ns = cn_clock_read_ns(CLOCK_THREAD_CPUTIME_ID), rest_ns;
    bool ok = true;

    drain->bell = atomic_load(&drain->memory->head->bell);
    cn_shared_memory_reserve_tracks(drain->memory);
    /* Ten thousand threads would keep this process busy, and take a processor from them. */
    if (cn_clock_ns() < drain->next_ns && drain->step_count > 0)
        return true;
    drain->step_count++;
    drain->open_count = 0;
    /* A task that started a program has closed a track: its records are before those of the next. */
    for (uint32_t i = 0; i < count && i < CN_REC_TRACK_COUNT && ok; i++)
        if (atomic_load(&drain->memory->tracks[i].state) == CN_REC_CLOSED)
            ok = look_at(drain, &drain->memory->tracks[i], looks_for_dead, err);
    for (uint32_t i = 0; i < count && i < CN_REC_TRACK_COUNT && ok; i++)
        ok = look_at(drain, &drain->memory->tracks[i], looks_for_dead, err);
    ok = write_lines(drain, err) && ok;
    rest_ns = REST_FACTOR * (cn_clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
    if (looks_for_dead)
        drain->next_dead_ns = cn_clock_ns() + DEAD_FACTOR * rest_ns;
    drain->next_ns = cn_clock_ns() + (rest_ns < REST_NS_MAX ? rest_ns : REST_NS_MAX);
    if (!ok && !atomic_load(&drain->memory->head->stop))
        atomic_store(&drain->memory->head->stop, CN_REC_STOP_DISK);
    return ok;
}

/* Threads check `stop` when a quarter of their ring is full, which may be much later. */
bool cn_drain_end(struct cn_drain *drain, struct cn_error *err)
{
    struct cn_rec_shared *head = drain->memory->head;
    uint32_t count = atomic_load(&head->track_count);
    bool ok = true;

    for (uint32_t i = 0; i < count && i < CN_REC_TRACK_COUNT && ok; i++) {
        struct cn_rec_track *track = &drain->memory->tracks[i];
        uint32_t state = atomic_load(&track->state);

        if (state != CN_REC_FREE)
            list_task(drain, track);
        if (state == CN_REC_CLOSED)
            ok = release(drain, track, err);
        if (state != CN_REC_OPEN)
            continue;
        atomic_fetch_add(&head->extra_len, atomic_exchange(&track->extra_len, 0));
        ok = write_out(drain, track, false, err);
    }
    ok = write_lines(drain, err) && ok;
    atomic_store(&head->is_over, 1);
    return ok;
}

bool cn_drain_memory(struct cn_drain *drain, uint32_t pid, struct cn_error *err)
{
    uint32_t count = atomic_load(&drain->memory->head->track_count);
    bool ok = true;

    for (uint32_t i = 0; i < count && i < CN_REC_TRACK_COUNT && ok; i++) {
        struct cn_rec_track *track = &drain->memory->tracks[i];
        uint32_t state = atomic_load(&track->state);

        if (!track->is_heap || track->pid != pid)
            continue;
        if (state == CN_REC_CLOSED)
            ok = release(drain, track, err);
        if (state != CN_REC_OPEN)
            continue;
        ok = write_out(drain, track, false, err) &&
             (atomic_load(&track->drained) == cn_rec_track_end(track) ||
              cn_fail(err, CN_ERR_BUSY, "thread %u was writing its records",
                      track->tid)) &&
             (atomic_load(&track->lost) == 0 ||
              cn_fail(err, CN_ERR_LIMIT, "records of memory were lost"));
    }
    return ok;
}

bool cn_drain_take_over(struct cn_drain *drain, struct cn_error *err)
{
    struct cn_rec_shared *head = drain->memory->head;
    uint32_t before = head->launcher_pid, count = atomic_load(&head->track_count);
    bool ok = true;

    head->launcher_pid = (uint32_t)getpid();
    for (uint32_t i = 0; i < count && i < CN_REC_TRACK_COUNT; i++) {
        struct cn_rec_track *track = &drain->memory->tracks[i];
        uint32_t writer = before;

        if (drain->is_packed && !track->is_heap &&
            atomic_load(&track->state) != CN_REC_FREE)
            ok = cn_packed_files_resume(&drain->packed, track, err) && ok;
        (void)atomic_compare_exchange_strong(&track->writer, &writer, 0);
    }
    return ok;
}

/* Rest before the next step, unless threads wait for memory: they wake this process, others do
 * not. */
static void rest(const struct cn_drain *drain)
{
    struct cn_rec_shared *head = drain->memory->head;
    uint64_t now_ns = cn_clock_ns();

    while (now_ns < drain->next_ns && atomic_load(&head->waiting_count) == 0) {
        uint32_t bell = atomic_load(&head->bell);
        struct timespec rest = {.tv_nsec = (long)(drain->next_ns - now_ns)};

        if (syscall(SYS_futex, &head->bell, FUTEX_WAIT, bell, &rest, NULL, 0) == 0 ||
            errno == EINTR)
            return;
        now_ns = cn_clock_ns();
    }
}

void cn_drain_wait(struct cn_drain *drain, uint32_t timeout_ms)
{
    struct cn_rec_shared *head = drain->memory->head;
    struct timespec timeout = {
        .tv_sec = timeout_ms / 1000,
        .tv_nsec = (long)(timeout_ms % 1000) * 1000000,
    };

    rest(drain);
    atomic_store(&head->is_asleep, 1);
    if (syscall(SYS_futex, &head->bell, FUTEX_WAIT, drain->bell, &timeout, NULL, 0) !=
            0 &&
        errno == ETIMEDOUT)
        drain->step_count = 0;
    atomic_store(&head->is_asleep, 0);
}

void cn_drain_look_now(struct cn_drain *drain)
{
    drain->step_count = 0;
    drain->next_dead_ns = 0;
}

bool cn_drain_finish(struct cn_drain *drain, struct cn_error *err)
{
    cn_drain_look_now(drain);
    return cn_drain_step(drain, err) &&
           (!drain->is_packed || cn_packed_files_finish(&drain->packed, err));
}

void cn_drain_done(struct cn_drain *drain)
{
    cn_packed_files_done(&drain->packed);
    cn_text_done(&drain->lines);
}
