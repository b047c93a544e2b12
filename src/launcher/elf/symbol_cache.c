#include "launcher/elf/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cache/directory.h"

enum {
    FILES_MAX = 512,
    HEAD_LEN = 48,       /* "cairn-sym-3 HASH LEN", padded */
    LEN_MIN = 16 << 10,  /* shorter texts are not cached */
    LEN_MAX = 256 << 20, /* of a cached file */
    READ_TRIES = 64,
};

static bool open_folder(int *out)
{
    char path[PATH_MAX];

    if (!cn_cache_dir("/sym", path))
        return false;
    *out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0) {
        cn_cache_dir_make(path);
        *out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return *out >= 0;
}

static void print_head(char head[static HEAD_LEN + 1], const char *text, size_t len)
{
    (void)snprintf(head, HEAD_LEN + 1, "cairn-sym-3 %016" PRIx64 " %-18zu\n",
                   (uint64_t)XXH3_64bits(text, len), len);
}

static bool read_all(int fd, char *to, size_t len)
{
    for (int i = 0; i < READ_TRIES && len > 0; i++) {
        ssize_t got = read(fd, to, len);

        if (got <= 0 && errno != EINTR)
            return false;
        to += got > 0 ? got : 0;
        len -= got > 0 ? (size_t)got : 0;
    }
    return len == 0;
}

/* Read a cached file, and check it against its first line. */
static bool read_checked(int fd, struct cn_text *text)
{
    char head[HEAD_LEN], expected[HEAD_LEN + 1];
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || status.st_size < HEAD_LEN ||
        status.st_size > LEN_MAX || !read_all(fd, head, sizeof(head)))
        return false;
    size_t len = (size_t)status.st_size - HEAD_LEN;
    char *to = cn_text_room(text, len);
    if (!read_all(fd, to, len))
        return false;
    print_head(expected, to, len);
    if (memcmp(head, expected, HEAD_LEN) != 0)
        return false;
    cn_text_advance(text, len);
    return true;
}

bool cn_symbol_cache_find(const char *build_id, struct cn_text *text)
{
    int folder, fd;

    if (!open_folder(&folder))
        return false;
    fd = openat(folder, build_id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = fd >= 0 && read_checked(fd, text);
    if (fd >= 0)
        (void)close(fd);
    (void)close(folder);
    return ok;
}

/* Evict the oldest file if there are too many. */
static void make_room(int folder)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    char oldest[NAME_MAX + 1] = "";
    struct dirent *entry;
    struct timespec when = {0};
    size_t count = 0;

    while (dir && (entry = readdir(dir))) {
        struct stat status;

        if (entry->d_name[0] == '.' ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (count++ == 0 || status.st_mtim.tv_sec < when.tv_sec) {
            when = status.st_mtim;
            (void)snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
        }
    }
    if (count >= FILES_MAX)
        (void)unlinkat(folder, oldest, 0);
    if (dir)
        (void)closedir(dir);
    else if (again >= 0)
        (void)close(again);
}

static bool write_whole(int folder, const char *name, const struct cn_text *text)
{
    char head[HEAD_LEN + 1];
    int fd =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return false;
    print_head(head, text->chars, text->len);
    bool ok = write(fd, head, HEAD_LEN) == HEAD_LEN &&
              write(fd, text->chars, text->len) == (ssize_t)text->len;
    return close(fd) == 0 && ok;
}

void cn_symbol_cache_add(const char *build_id, const struct cn_text *text)
{
    char part[64];
    int folder;

    if (text->len < LEN_MIN || text->len > LEN_MAX - HEAD_LEN || !open_folder(&folder))
        return;
    make_room(folder);
    (void)snprintf(part, sizeof(part), ".%.16s.%d", build_id, (int)getpid());
    if (!write_whole(folder, part, text) || renameat(folder, part, folder, build_id) != 0)
        (void)unlinkat(folder, part, 0);
    (void)close(folder);
}
