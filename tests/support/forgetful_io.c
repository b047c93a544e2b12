#include "support/forgetful_io.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum op_kind {
    OP_OPEN,
    OP_WRITE,
    OP_TRUNCATE,
    OP_SYNC,
    OP_MAKE_DIR,
    OP_RENAME,
    OP_REMOVE,
    OP_SYNC_DIR
};

/* Files are known by their descriptor while the store runs, and by the path that they were
 * opened with when it is replayed: the store renames files only when they are closed. */
struct cn_forgetful_op {
    enum op_kind kind;
    char *path, *to;
    uint64_t off, len;
    uint8_t *data;
    size_t synced_at; /* the operation that made it permanent; SIZE_MAX: none */
};

/* Whether `sync` makes an operation before it permanent. */
static bool is_made_permanent(const struct cn_forgetful_op *op,
                              const struct cn_forgetful_op *sync)
{
    bool is_name = op->kind == OP_OPEN || op->kind == OP_MAKE_DIR ||
                   op->kind == OP_RENAME || op->kind == OP_REMOVE;
    size_t len = strlen(sync->path);

    if (sync->kind == OP_SYNC_DIR)
        return is_name && strncmp(op->path, sync->path, len) == 0 &&
               op->path[len] == '/' && !strchr(op->path + len + 1, '/');
    /* Syncing a new file makes its name permanent too, on the file systems that matter. */
    return op->kind != OP_MAKE_DIR && op->kind != OP_RENAME && op->kind != OP_REMOVE &&
           strcmp(op->path, sync->path) == 0;
}

static struct cn_forgetful_op *add(struct cn_forgetful *forgetful, enum op_kind kind,
                                   const char *path)
{
    forgetful->ops = cn_grow(forgetful->ops, forgetful->count, &forgetful->capacity,
                             sizeof(*forgetful->ops));
    forgetful->ops[forgetful->count] = (struct cn_forgetful_op){
        .kind = kind, .path = cn_strdup(path), .synced_at = SIZE_MAX};
    return &forgetful->ops[forgetful->count++];
}

static void add_sync(struct cn_forgetful *forgetful, enum op_kind kind, const char *path)
{
    const struct cn_forgetful_op *sync = add(forgetful, kind, path);

    for (size_t i = 0; i + 1 < forgetful->count; i++)
        if (forgetful->ops[i].synced_at == SIZE_MAX &&
            is_made_permanent(&forgetful->ops[i], sync))
            forgetful->ops[i].synced_at = forgetful->count - 1;
}

static const char *path_of(int fd, char path[static PATH_MAX])
{
    char link[64];
    char cwd[PATH_MAX];
    ssize_t len;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    len = readlink(link, path, PATH_MAX - 1);
    assert(len > 0 && getcwd(cwd, sizeof(cwd)));
    path[len] = '\0';
    assert(strncmp(path, cwd, strlen(cwd)) == 0);
    return path + strlen(cwd) + 1;
}

static bool fake_open(void *arg, const char *path, int *fd, struct cn_error *err)
{
    (void)add(arg, OP_OPEN, path);
    return cn_disk_files.open(NULL, path, fd, err);
}

static bool fake_write(void *arg, int fd, uint64_t off, const void *data, size_t len,
                       struct cn_error *err)
{
    char path[PATH_MAX];
    struct cn_forgetful_op *op = add(arg, OP_WRITE, path_of(fd, path));

    op->off = off;
    op->len = len;
    op->data = cn_alloc(len, 1);
    if (len)
        memcpy(op->data, data, len);
    return cn_disk_files.write(NULL, fd, off, data, len, err);
}

static bool fake_truncate(void *arg, int fd, uint64_t len, struct cn_error *err)
{
    char path[PATH_MAX];

    add(arg, OP_TRUNCATE, path_of(fd, path))->len = len;
    return cn_disk_files.truncate(NULL, fd, len, err);
}

static bool fake_sync(void *arg, int fd, struct cn_error *err)
{
    char path[PATH_MAX];

    (void)err;
    add_sync(arg, OP_SYNC, path_of(fd, path));
    return true;
}

static bool fake_close(void *arg, int fd)
{
    (void)arg;
    return cn_disk_files.close(NULL, fd);
}

static bool fake_make_dir(void *arg, const char *path, struct cn_error *err)
{
    (void)add(arg, OP_MAKE_DIR, path);
    return cn_disk_files.make_dir(NULL, path, err);
}

static bool fake_rename(void *arg, const char *from, const char *to, struct cn_error *err)
{
    add(arg, OP_RENAME, from)->to = cn_strdup(to);
    return cn_disk_files.rename(NULL, from, to, err);
}

static bool fake_remove(void *arg, const char *path, struct cn_error *err)
{
    (void)add(arg, OP_REMOVE, path);
    return cn_disk_files.remove(NULL, path, err);
}

static bool fake_sync_dir(void *arg, const char *path, struct cn_error *err)
{
    (void)err;
    add_sync(arg, OP_SYNC_DIR, path);
    return true;
}

void cn_forgetful_init(struct cn_forgetful *forgetful)
{
    *forgetful = (struct cn_forgetful){
        .io = {.arg = forgetful,
               .open = fake_open,
               .write = fake_write,
               .truncate = fake_truncate,
               .sync = fake_sync,
               .close = fake_close,
               .make_dir = fake_make_dir,
               .rename = fake_rename,
               .remove = fake_remove,
               .sync_dir = fake_sync_dir},
    };
}

void cn_forgetful_done(struct cn_forgetful *forgetful)
{
    for (size_t i = 0; i < forgetful->count; i++) {
        free(forgetful->ops[i].path);
        free(forgetful->ops[i].to);
        free(forgetful->ops[i].data);
    }
    free(forgetful->ops);
    *forgetful = (struct cn_forgetful){0};
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void rebase(const char *path, const char *from, const char *to,
                   char out[static PATH_MAX])
{
    size_t len = strlen(from);

    assert(strncmp(path, from, len) == 0);
    (void)snprintf(out, PATH_MAX, "%s%s", to, path + len);
}

/* The first `part` of `of` pieces of an operation. */
static void apply(const struct cn_forgetful_op *op, unsigned part, unsigned of,
                  const char *from, const char *to)
{
    char path[PATH_MAX], target[PATH_MAX];
    int fd;

    rebase(op->path, from, to, path);
    switch (op->kind) {
    case OP_MAKE_DIR:
        (void)mkdir(path, 0777);
        return;
    case OP_RENAME:
        rebase(op->to, from, to, target);
        (void)rename(path, target);
        return;
    case OP_REMOVE:
        (void)unlink(path);
        return;
    case OP_SYNC:
    case OP_SYNC_DIR:
        return;
    case OP_OPEN:
    case OP_WRITE:
    case OP_TRUNCATE:
    default:
        break;
    }
    fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0)
        return; /* its directory was lost */
    if (op->kind == OP_WRITE)
        (void)!pwrite(fd, op->data, op->len * part / of, (off_t)op->off);
    if (op->kind == OP_TRUNCATE && part == of)
        (void)!ftruncate(fd, (off_t)op->len);
    (void)close(fd);
}

/* The number of operations that a failure after the first `count` may undo, and the last of
 * them; SIZE_MAX: none. */
static size_t find_open(const struct cn_forgetful *forgetful, size_t count, size_t *last)
{
    size_t open = 0;

    *last = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (forgetful->ops[i].synced_at >= count && forgetful->ops[i].kind != OP_SYNC &&
            forgetful->ops[i].kind != OP_SYNC_DIR) {
            *last = i;
            open++;
        }
    return open;
}

bool cn_forgetful_differs(const struct cn_forgetful *forgetful, size_t count,
                          enum cn_forget kind)
{
    size_t last, open = find_open(forgetful, count, &last);

    switch (kind) {
    case CN_FORGET_NONE:
        return open > 0;
    case CN_FORGET_TEAR: /* nothing but a write can be done by half */
        return open > 0 && forgetful->ops[last].kind == OP_WRITE;
    case CN_FORGET_LAST:
    case CN_FORGET_RANDOM:
        return open > 1;
    case CN_FORGET_ALL:
    case CN_FORGET_KINDS:
    default:
        return true;
    }
}

void cn_forgetful_replay(const struct cn_forgetful *forgetful, size_t count,
                         enum cn_forget kind, uint64_t seed, const char *from,
                         const char *to)
{
    uint64_t state = seed;
    size_t last;

    (void)find_open(forgetful, count, &last);
    (void)mkdir(to, 0777);
    for (size_t i = 0; i < count; i++) {
        unsigned part = 2;

        if (forgetful->ops[i].synced_at >= count) {
            if (kind == CN_FORGET_ALL || (kind == CN_FORGET_LAST && i == last))
                part = 0;
            else if (kind == CN_FORGET_TEAR && i == last)
                part = 1;
            else if (kind == CN_FORGET_RANDOM)
                part = (unsigned)(next_random(&state) % 3);
        }
        if (part > 0)
            apply(&forgetful->ops[i], part, 2, from, to);
    }
}
