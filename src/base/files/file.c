#include "base/files/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* `fd` becomes -1 if it belongs to the file now. */
static bool map_descriptor(struct cn_file *file, int *fd, const char *path,
                           bool is_content, struct cn_error *err)
{
    struct stat st;

    if (fstat(*fd, &st) < 0)
        return cn_fail_errno(err, "%s", path);
    if (S_ISDIR(st.st_mode))
        return cn_fail(err, CN_ERR_IO, "%s: is a directory", path);
    if (!S_ISREG(st.st_mode))
        return cn_fail(err, CN_ERR_IO, "%s: not a regular file", path);
    if (st.st_size == 0) {
        file->bytes = (struct cn_bytes){(const uint8_t *)"", 0};
        return true;
    }
    if (is_content && (file->ranges = cn_ranges_open(*fd, path, (uint64_t)st.st_size))) {
        *fd = -1;
        return true;
    }
    if (st.st_size > PTRDIFF_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: %.1f GB do not fit into memory", path,
                       (double)st.st_size / 1e9);
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, *fd, 0);
    if (map == MAP_FAILED)
        return cn_fail_errno(err, "%s", path);
    file->bytes = (struct cn_bytes){map, (size_t)st.st_size};
    return true;
}

static bool open_path(struct cn_file *file, const char *path, bool is_content,
                      struct cn_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not wait for its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *file = (struct cn_file){0};
    if (fd < 0)
        return cn_fail_errno(err, "%s", path);
    bool ok = map_descriptor(file, &fd, path, is_content, err);
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

static bool open_at(struct cn_file *file, const char *dir, const char *name,
                    bool is_content, struct cn_error *err)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir, name);
    return open_path(file, path, is_content, err);
}

bool cn_file_open(struct cn_file *file, const char *path, struct cn_error *err)
{
    return open_path(file, path, false, err);
}

bool cn_file_open_at(struct cn_file *file, const char *dir, const char *name,
                     struct cn_error *err)
{
    return open_at(file, dir, name, false, err);
}

bool cn_file_open_content(struct cn_file *file, const char *path, struct cn_error *err)
{
    return open_path(file, path, true, err);
}

bool cn_file_open_content_at(struct cn_file *file, const char *dir, const char *name,
                             struct cn_error *err)
{
    return open_at(file, dir, name, true, err);
}

bool cn_file_open_from(struct cn_file *file, struct cn_file_source *source,
                       const char *dir, const char *name, struct cn_error *err)
{
    return source ? source->open(source, name, file, err)
                  : cn_file_open_at(file, dir, name, err);
}

void cn_file_forget(struct cn_bytes part)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)part.ptr + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)part.ptr + part.len) & ~(page - 1);

    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void cn_file_close(struct cn_file *file)
{
    cn_ranges_close(file->ranges);
    if (file->bytes.len && !file->source)
        (void)munmap((void *)(uintptr_t)file->bytes.ptr, file->bytes.len);
    *file = (struct cn_file){0};
}
