#include "base/files/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "base/text.h"

/* Where a file cannot be made without a name, it loses it at once. */
static int open_and_unlink(const char *folder)
{
    struct cn_text path = {0};
    int fd;

    cn_text_printf(&path, "%s/.cairn-XXXXXX", folder);
    fd = mkostemp(path.chars, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path.chars);
    cn_text_done(&path);
    return fd;
}

static bool open_alone(struct cn_spool *spool, unsigned file, struct cn_error *err)
{
    int fd = open(spool->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        fd = open_and_unlink(spool->folder);
    if (fd < 0)
        return cn_fail_errno(err, "%s: temporary file", spool->folder);
    spool->fds[file] = fd;
    return true;
}

bool cn_spool_add_lanes(struct cn_spool *spool, unsigned count, struct cn_error *err)
{
    if (spool->count > 1 || count < 2)
        return true;
    spool->fds = cn_realloc(spool->fds, count, sizeof(*spool->fds));
    spool->lane_ends = cn_alloc(count, sizeof(*spool->lane_ends));
    for (; spool->count < count; spool->count++) {
        spool->lane_ends[spool->count] = (uint64_t)spool->count << CN_SPOOL_RANK_SHIFT;
        if (!open_alone(spool, spool->count, err))
            return false;
    }
    return true;
}

/* Files that others have to open need names until they have done so. */
static bool open_named(struct cn_spool *spool, const char *dir, unsigned rank, int flags,
                       struct cn_error *err)
{
    struct cn_text path = {0};

    cn_text_printf(&path, "%s/%u", dir, rank);
    spool->fds[rank] = open(path.chars, O_RDWR | O_CLOEXEC | flags, 0600);
    if (spool->fds[rank] < 0) {
        spool->fds[rank] = 0;
        (void)cn_fail_errno(err, "%s: temporary file", path.chars);
    }
    cn_text_done(&path);
    return spool->fds[rank] > 0;
}

static bool open_others(struct cn_spool *spool, const char *dir, unsigned rank,
                        struct cn_error *err)
{
    for (unsigned i = 0; i < spool->count; i++)
        if (i != rank && !open_named(spool, dir, i, 0, err))
            return false;
    return true;
}

static void remove_named(const char *dir, unsigned rank)
{
    struct cn_text path = {0};

    cn_text_printf(&path, "%s/%u", dir, rank);
    (void)unlink(path.chars);
    cn_text_done(&path);
}

/* A folder for the names, made by rank 0. */
static bool make_folder(const struct cn_spool *spool, struct cn_ranks *ranks,
                        struct cn_text *dir, struct cn_error *err)
{
    bool ok = true;

    if (cn_ranks_is_first(ranks)) {
        cn_text_printf(dir, "%s/.cairn-XXXXXX", spool->folder);
        ok = mkdtemp(dir->chars) ||
             cn_fail_errno(err, "%s: temporary folder", spool->folder);
    }
    return cn_ranks_agree(ranks, ok, err) && cn_ranks_broadcast(ranks, dir, err);
}

static bool open_together(struct cn_spool *spool, struct cn_ranks *ranks,
                          struct cn_error *err)
{
    struct cn_text dir = {0};
    bool ok = make_folder(spool, ranks, &dir, err);

    if (ok) {
        const char *path = cn_text_str(&dir);

        ok = cn_ranks_agree(ranks,
                            open_named(spool, path, ranks->rank, O_CREAT | O_EXCL, err),
                            err) &&
             cn_ranks_agree(ranks, open_others(spool, path, ranks->rank, err), err);
        remove_named(path, ranks->rank);
        ok = cn_ranks_agree(ranks, ok, err);
        if (cn_ranks_is_first(ranks))
            (void)rmdir(path);
    }
    cn_text_done(&dir);
    return ok;
}

bool cn_spool_open_together(struct cn_spool *spool, const char *folder,
                            struct cn_ranks *ranks, struct cn_error *err)
{
    *spool = (struct cn_spool){
        .fds = cn_alloc(ranks->size, sizeof(*spool->fds)),
        .count = ranks->size,
        .folder = folder,
        .end_off = (uint64_t)ranks->rank << CN_SPOOL_RANK_SHIFT,
    };
    if (ranks->size == 1 ? open_alone(spool, 0, err) : open_together(spool, ranks, err))
        return true;
    cn_spool_close(spool);
    return false;
}

bool cn_spool_open(struct cn_spool *spool, const char *folder, struct cn_error *err)
{
    return cn_spool_open_together(spool, folder, &cn_ranks_alone, err);
}

static int file_at(const struct cn_spool *spool, uint64_t off)
{
    return spool->fds[off >> CN_SPOOL_RANK_SHIFT];
}

static off_t place_at(uint64_t off)
{
    return (off_t)(off & CN_SPOOL_PLACE_MASK);
}

uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len)
{
    return atomic_fetch_add(&spool->end_off, len);
}

uint64_t cn_spool_reserve_in(struct cn_spool *spool, unsigned lane, uint64_t len)
{
    return spool->lane_ends && lane > 0 ? atomic_fetch_add(&spool->lane_ends[lane], len)
                                        : cn_spool_reserve(spool, len);
}

uint64_t cn_spool_file_len(const struct cn_spool *spool, unsigned file)
{
    uint64_t end_off =
        spool->lane_ends && file > 0 ? spool->lane_ends[file] : spool->end_off;

    return end_off & CN_SPOOL_PLACE_MASK;
}

bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                    size_t len, struct cn_error *err)
{
    const char *at = data;

    while (len > 0) {
        ssize_t written = pwrite(file_at(spool, off), at, len, place_at(off));

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cn_fail_errno(err, "%s: temporary file", spool->folder);
        at += written;
        off += (uint64_t)written;
        len -= (size_t)written;
    }
    return true;
}

bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data, size_t len,
                   struct cn_error *err)
{
    char *at = data;

    while (len > 0) {
        ssize_t got = pread(file_at(spool, off), at, len, place_at(off));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cn_fail_errno(err, "%s: temporary file", spool->folder);
        if (got == 0)
            return cn_fail(err, CN_ERR_IO, "%s: temporary file ends early",
                           spool->folder);
        at += got;
        off += (uint64_t)got;
        len -= (size_t)got;
    }
    return true;
}

static void close_file(void *arg, size_t file, unsigned worker)
{
    const struct cn_spool *spool = arg;

    (void)worker;
    if (spool->fds[file] > 0)
        (void)close(spool->fds[file]);
}

/* Closing a file frees its pages, 50 ms a gigabyte. */
void cn_spool_close(struct cn_spool *spool)
{
    cn_pool_run(&(struct cn_jobs){.count = spool->count, .arg = spool, .run = close_file},
                spool->lane_ends ? cn_pool_default_workers() : 1);
    free(spool->fds);
    free(spool->lane_ends);
    *spool = (struct cn_spool){0};
}
