#include "base/files/ranks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/spool.h"
#include "base/run/ranks.h"
#include "base/text.h"

/* Files that others have to open need names until they have done so. */
static bool open_named(struct cn_spool *spool, const char *dir, unsigned rank, int flags,
                       struct cn_error *err)
{
    char *path = cn_strprintf("%s/%u", dir, rank);

    spool->fds[rank] = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (spool->fds[rank] < 0) {
        spool->fds[rank] = 0;
        (void)cn_fail_errno(err, "%s: temporary file", path);
    }
    free(path);
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
    char *path = cn_strprintf("%s/%u", dir, rank);

    (void)unlink(path);
    free(path);
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

bool cn_ranks_spool_open(struct cn_ranks *ranks, struct cn_spool *spool,
                         const char *folder, unsigned files, struct cn_error *err)
{
    if (ranks->size == 1)
        return cn_spool_open(spool, folder, err) && cn_spool_add_files(spool, files, err);
    *spool = (struct cn_spool){
        .fds = cn_alloc(ranks->size, sizeof(*spool->fds)),
        .count = ranks->size,
        .folder = folder,
        .end_off = (uint64_t)ranks->rank << CN_SPOOL_FILE_SHIFT,
    };
    if (open_together(spool, ranks, err))
        return true;
    cn_spool_close(spool);
    return false;
}
