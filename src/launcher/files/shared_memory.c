#include "launcher/files/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "record/clock.h"

enum { PAIR_TRIES = 20, RING_MIDDLE = 64 << 10 };

/* Calibrating over this time gives a rate that is right to about 1 ppm. */
#define MEASURE_NS_MIN 4000000u

/* A smaller /dev/shm is not used: 64 MB is usual in containers. */
#define ROOM_MIN (UINT64_C(512) << 20)

/* Memory that is allocated before threads need it. */
#define SPARE_LEN_MAX (UINT64_C(32) << 20)

static int create_in(const char *folder, struct cn_text *path)
{
    cn_text_clear(path);
    cn_text_printf(path, "%s/.cairn-record-XXXXXX", folder);
    int fd = mkostemp(path->chars, O_CLOEXEC);
    if (fd < 0)
        cn_text_clear(path);
    return fd;
}

static bool has_room(const char *folder)
{
    struct statvfs room;

    return statvfs(folder, &room) == 0 &&
           (uint64_t)room.f_bavail * room.f_frsize >= ROOM_MIN;
}

static bool reserve(const struct cn_shared_memory *memory, uint64_t off, uint64_t len)
{
    int result;

    do
        result = fallocate(memory->fd, FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EOPNOTSUPP;
}

static bool is_limited(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Everything, or with a limited address space everything but the rings. */
static bool map(struct cn_shared_memory *memory, uint64_t ring_len)
{
    struct cn_rec_shared lens = {.ring_lens = {ring_len}};
    uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
    char *at = MAP_FAILED;

    lens.ring_lens[1] = ring_len < RING_MIDDLE ? ring_len : RING_MIDDLE;
    lens.ring_lens[2] = page_len > CN_REC_RING_MIN ? page_len : CN_REC_RING_MIN;
    size_t all = cn_rec_ring_off(&lens, CN_REC_TRACK_COUNT);
    size_t len = is_limited() ? CN_REC_RINGS_OFF : all;
    if (ftruncate(memory->fd, (off_t)all) == 0 &&
        reserve(memory, 0, sizeof(struct cn_rec_shared)) &&
        cn_shared_memory_reserve_set(memory, 0) &&
        reserve(memory, CN_REC_RINGS_OFF, ring_len))
        at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  memory->fd, 0);
    if (at == MAP_FAILED)
        return false;
    memory->head = (struct cn_rec_shared *)at;
    memory->rules = (struct cn_rec_rule *)(at + CN_REC_RULES_OFF);
    memory->values = (struct cn_rec_value *)(at + CN_REC_VALUES_OFF);
    memory->patches = (struct cn_rec_patch *)(at + CN_REC_PATCHES_OFF);
    memory->tracks = (struct cn_rec_track *)(at + CN_REC_TRACKS_OFF);
    memory->has_rings = len == all;
    memory->len = len;
    memory->head->magic = CN_REC_MAGIC;
    memcpy(memory->head->ring_lens, lens.ring_lens, sizeof(lens.ring_lens));
    memory->head->launcher_pid = (uint32_t)getpid();
    memory->head->is_on = 1;
    cn_shared_memory_reserve_tracks(memory);
    return true;
}

bool cn_shared_memory_open(struct cn_shared_memory *memory, const char *dir,
                           uint64_t ring_len, struct cn_error *err)
{
    enum { IN_SHM, WITHOUT_NAME, IN_RECORDING, PLACES };
    struct cn_text path = {0};

    for (int place = IN_SHM; place < PLACES; place++) {
        *memory = (struct cn_shared_memory){.fd = -1};
        cn_text_clear(&path);
        if (place == WITHOUT_NAME)
            memory->fd = memfd_create("cairn-record", MFD_CLOEXEC);
        else if (place == IN_RECORDING || has_room("/dev/shm"))
            memory->fd = create_in(place == IN_SHM ? "/dev/shm" : dir, &path);
        if (memory->fd < 0)
            continue;
        memory->path = path.len > 0 ? cn_strdup(cn_text_str(&path)) : NULL;
        if (map(memory, ring_len)) {
            cn_text_done(&path);
            return true;
        }
        (void)cn_fail_errno(err, "cannot share memory with the program%s",
                            errno == EFBIG    ? ", limited by ulimit -f"
                            : errno == ENOMEM ? ", limited by ulimit -v"
                                              : "");
        cn_shared_memory_close(memory);
    }
    if (!err->text[0])
        (void)cn_fail_errno(err, "cannot share memory with the program");
    cn_text_done(&path);
    return false;
}

bool cn_shared_memory_reserve_set(struct cn_shared_memory *memory, uint32_t version)
{
    uint64_t len = sizeof(struct cn_rec_rule_set);

    return reserve(memory, CN_REC_SETS_OFF + version % CN_REC_SET_COUNT * len, len);
}

bool cn_shared_memory_reserve_rules(struct cn_shared_memory *memory, uint64_t first,
                                    uint64_t count)
{
    return reserve(memory, CN_REC_RULES_OFF + first * sizeof(struct cn_rec_rule),
                   count * sizeof(struct cn_rec_rule));
}

bool cn_shared_memory_reserve_values(struct cn_shared_memory *memory, uint64_t first,
                                     uint64_t count)
{
    return reserve(memory, CN_REC_VALUES_OFF + first * sizeof(struct cn_rec_value),
                   count * sizeof(struct cn_rec_value));
}

bool cn_shared_memory_reserve_patches(struct cn_shared_memory *memory, uint64_t first,
                                      uint64_t count)
{
    return reserve(memory, CN_REC_PATCHES_OFF + first * sizeof(struct cn_rec_patch),
                   count * sizeof(struct cn_rec_patch));
}

/* Twice as many as are in use, so that few threads wait. */
void cn_shared_memory_reserve_tracks(struct cn_shared_memory *memory)
{
    struct cn_rec_shared *head = memory->head;
    uint64_t used = atomic_load(&head->track_count),
             ready = atomic_load(&head->ready_count);
    uint64_t needed = used + atomic_load(&head->waiting_count), wanted = needed;
    uint64_t off = cn_rec_ring_off(head, ready);

    if (atomic_load(&head->is_full) || ready == CN_REC_TRACK_COUNT)
        return;
    while (wanted < needed + used + 2 && wanted < CN_REC_TRACK_COUNT &&
           cn_rec_ring_off(head, wanted) - cn_rec_ring_off(head, needed) < SPARE_LEN_MAX)
        wanted++;
    if (wanted > CN_REC_TRACK_COUNT)
        wanted = CN_REC_TRACK_COUNT;
    if (ready >= wanted)
        return;
    if (reserve(memory, CN_REC_TRACKS_OFF + ready * CN_REC_TRACK_LEN,
                (wanted - ready) * CN_REC_TRACK_LEN) &&
        reserve(memory, off, cn_rec_ring_off(head, wanted) - off))
        atomic_store(&head->ready_count, (uint32_t)wanted);
    else
        atomic_store(&head->is_full, 1);
    (void)syscall(SYS_futex, &head->ready_count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void unmap_ring(struct cn_shared_memory *memory)
{
    if (memory->ring)
        (void)munmap(memory->ring, memory->head->ring_lens[0]);
    memory->ring = NULL;
}

const uint8_t *cn_shared_memory_ring(struct cn_shared_memory *memory,
                                     const struct cn_rec_track *track,
                                     struct cn_error *err)
{
    uint64_t i = (uint64_t)(track - memory->tracks),
             off = cn_rec_ring_off(memory->head, i);

    if (memory->has_rings)
        return (const uint8_t *)memory->head + off;
    if (memory->ring && memory->ring_at == i)
        return memory->ring;
    unmap_ring(memory);
    void *at = mmap(NULL, memory->head->ring_lens[0], PROT_READ,
                    MAP_SHARED | MAP_NORESERVE, memory->fd, (off_t)off);
    if (at == MAP_FAILED) {
        (void)cn_fail_errno(
            err, "cannot map the buffer of thread %u, limited by ulimit -v", track->tid);
        return NULL;
    }
    memory->ring = at;
    memory->ring_at = i;
    return memory->ring;
}

uint64_t cn_shared_memory_ring_len(const struct cn_shared_memory *memory,
                                   const struct cn_rec_track *track)
{
    uint64_t most = cn_rec_ring_len(memory->head, (uint64_t)(track - memory->tracks));
    uint64_t len = track->ring_len;

    return len >= CN_REC_RING_MIN && len <= most && (len & (len - 1)) == 0 ? len : most;
}

char *cn_shared_memory_path(const struct cn_shared_memory *memory, pid_t pid)
{
    struct cn_text path = {0};

    if (memory->path)
        return cn_strdup(memory->path);
    cn_text_printf(&path, "/proc/%d/fd/%d", (int)pid, memory->fd);
    return path.chars;
}

bool cn_shared_memory_set_dir(struct cn_shared_memory *memory, const char *dir,
                              struct cn_error *err)
{
    struct cn_rec_shared *head = memory->head;
    struct cn_text link = {0};

    if (strlen(dir) < sizeof(head->dir)) {
        memcpy(head->dir, dir, strlen(dir) + 1);
        return true;
    }
    cn_text_printf(&link, "%s.dir",
                   memory->path ? memory->path : "/dev/shm/.cairn-record");
    if (link.len >= sizeof(head->dir) || symlink(dir, link.chars) != 0) {
        cn_text_done(&link);
        return cn_fail(err, CN_ERR_IO,
                       "'%s' is a path of %zu bytes, limit %zu where /dev/shm cannot be "
                       "written",
                       dir, strlen(dir), sizeof(head->dir) - 1);
    }
    memcpy(head->dir, link.chars, link.len + 1);
    memory->dir_link = link.chars;
    return true;
}

/* Read both clocks at nearly the same time: the closest pair of a few tries. */
static void read_pair(uint64_t *counter, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < PAIR_TRIES; i++) {
        uint64_t before = cn_rec_clock_counter(), now_ns = cn_clock_ns();
        uint64_t after = cn_rec_clock_counter();

        if (after - before >= best)
            continue;
        best = after - before;
        *counter = before + best / 2;
        *ns = now_ns;
    }
}

/* False for a counter that stops in idle states or changes with the core's frequency. */
static bool has_steady_counter(void)
{
#if defined(__x86_64__)
    FILE *file =
        fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
    char line[256] = "";

    if (file) {
        (void)!fgets(line, sizeof(line), file);
        (void)fclose(file);
    }
    return strstr(line, "tsc") != NULL;
#else
    return true;
#endif
}

void cn_shared_memory_clock_begin(struct cn_shared_memory *memory)
{
    struct cn_rec_shared *head = memory->head;

    head->machine = CN_REC_MACHINE;
    head->has_counter = has_steady_counter();
    read_pair(&memory->clock_start, &memory->clock_start_ns);
}

void cn_shared_memory_clock_end(struct cn_shared_memory *memory)
{
    struct cn_rec_shared *head = memory->head;
    uint64_t counter = 0, ns = 0;

    do
        read_pair(&counter, &ns);
    while (ns - memory->clock_start_ns < MEASURE_NS_MIN);
    if (counter <= memory->clock_start) {
        head->has_counter = 0;
        return;
    }
    head->clock_mult =
        cn_rec_clock_mult(ns - memory->clock_start_ns, counter - memory->clock_start);
    head->clock_base_ns = ns - cn_rec_clock_scale(counter, head->clock_mult);
}

bool cn_shared_memory_clock_pair(const struct cn_shared_memory *memory,
                                 struct cn_clock_pair *out)
{
    const struct cn_rec_shared *head = memory->head;
    uint64_t counter = 0;

    if (!head->has_counter)
        return false;
    read_pair(&counter, &out->kernel_ns);
    out->recorded_ns =
        cn_rec_clock_scale(counter, head->clock_mult) + head->clock_base_ns;
    return true;
}

void cn_shared_memory_close(struct cn_shared_memory *memory)
{
    if (memory->head) {
        unmap_ring(memory);
        (void)munmap(memory->head, memory->len);
    }
    if (memory->fd > 0)
        (void)close(memory->fd);
    if (memory->path)
        (void)unlink(memory->path);
    if (memory->dir_link)
        (void)unlink(memory->dir_link);
    free(memory->path);
    free(memory->dir_link);
    *memory = (struct cn_shared_memory){0};
}
