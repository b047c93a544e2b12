#include "launcher/shared_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "record/clock.h"

enum { PAIR_TRIES = 20 };

/* Calibrating over this time gives a rate that is right to about 1 ppm. */
#define MEASURE_NS_MIN 4000000u

static int create_in(const char *folder, struct cn_text *path)
{
    int fd;

    cn_text_clear(path);
    cn_text_printf(path, "%s/.cairn-record-XXXXXX", folder);
    fd = mkostemp(path->chars, O_CLOEXEC);
    if (fd < 0)
        cn_text_clear(path);
    return fd;
}

bool cn_shared_memory_open(struct cn_shared_memory *memory, const char *dir,
                           uint64_t ring_len, struct cn_error *err)
{
    struct cn_text path = {0};
    size_t len = CN_REC_RINGS_OFF + CN_REC_TRACK_COUNT * ring_len;
    int fd = create_in("/dev/shm", &path);
    char *at = MAP_FAILED;

    if (fd < 0)
        fd = create_in(dir, &path);
    if (fd >= 0 && ftruncate(fd, (off_t)len) == 0)
        at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        (void)cn_fail_errno(err, "cannot share memory with the program");
        if (fd >= 0) {
            (void)unlink(cn_text_str(&path));
            (void)close(fd);
        }
        cn_text_done(&path);
        return false;
    }
    (void)close(fd);
    *memory = (struct cn_shared_memory){
        .path = cn_strdup(cn_text_str(&path)),
        .head = (struct cn_rec_shared *)at,
        .rules = (struct cn_rec_rule *)(at + CN_REC_RULES_OFF),
        .values = (struct cn_rec_value *)(at + CN_REC_VALUES_OFF),
        .tracks = (struct cn_rec_track *)(at + CN_REC_TRACKS_OFF),
        .rings = (uint8_t *)at + CN_REC_RINGS_OFF,
        .len = len,
    };
    cn_text_done(&path);
    memory->head->magic = CN_REC_MAGIC;
    memory->head->ring_len = ring_len;
    memory->head->launcher_pid = (uint32_t)getpid();
    memory->head->is_on = 1;
    return true;
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
    cn_text_printf(&link, "%s.dir", memory->path);
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
        struct timespec now = {0};
        uint64_t before = cn_rec_clock_counter(), after;

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        after = cn_rec_clock_counter();
        if (after - before >= best)
            continue;
        best = after - before;
        *counter = before + best / 2;
        *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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
    if (memory->head)
        (void)munmap(memory->head, memory->len);
    if (memory->path)
        (void)unlink(memory->path);
    if (memory->dir_link)
        (void)unlink(memory->dir_link);
    free(memory->path);
    free(memory->dir_link);
    *memory = (struct cn_shared_memory){0};
}
