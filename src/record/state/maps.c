#include "record/state/maps.h"

#include <fcntl.h>
#include <stddef.h>

#include "record/process.h"
#include "record/shared.h"
#include "record/syscalls.h"
#include "record/text.h"

enum { READ_LEN = 1024, PATH_LEN = 1024 };

/* Parses lines "start-end rwxp offset dev inode path", character by character. */
struct maps_walk {
    cn_rec_mapping_visit visit;
    void *arg;
    struct cn_rec_mapping file; /* the current file; its path is in `path` */
    char path[PATH_LEN];

    bool is_emulated;
    uintptr_t start, end; /* of the current line */
    bool is_code;
    unsigned
        field; /* 0 start, 1 end, 2 permissions, 3 offset, 4 device, 5 inode, 6 path */
    uint32_t path_len;
    char line_path[PATH_LEN];
};

static uintptr_t add_digit(uintptr_t value, char c)
{
    return value * 16 + (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void hand_out(struct maps_walk *walk)
{
    if (walk->file.path)
        walk->visit(&walk->file, walk->arg);
    walk->file = (struct cn_rec_mapping){0};
}

static void end_line(struct maps_walk *walk)
{
    const char *path = walk->line_path;

    walk->line_path[walk->path_len] = '\0';
    /* Readers take the address of the stack as the end of user addresses. */
    bool is_file = path[0] == '/' || (path[0] == '[' && path[1] == 's' && path[2] == 't');
    if (is_file && walk->file.path && cn_rec_text_is_same(walk->path, path)) {
        walk->file.end = walk->end;
        /* Emulators show no executable segments: several are those of a program then. */
        walk->file.is_code |= walk->is_code || walk->is_emulated;
    } else if (is_file) {
        hand_out(walk);
        for (uint32_t i = 0; i <= walk->path_len; i++)
            walk->path[i] = walk->line_path[i];
        walk->file =
            (struct cn_rec_mapping){walk->start, walk->end, walk->is_code, walk->path};
    }
    walk->start = walk->end = 0;
    walk->is_code = false;
    walk->field = 0;
    walk->path_len = 0;
}

static void take(struct maps_walk *walk, char c)
{
    if (c == '\n')
        end_line(walk);
    else if (walk->field == 6 && (c != ' ' || walk->path_len > 0)) {
        if (walk->path_len < PATH_LEN - 1)
            walk->line_path[walk->path_len++] = c;
    } else if (c == ' ')
        walk->field += walk->field < 6;
    else if (walk->field == 0 && c == '-')
        walk->field = 1;
    else if (walk->field == 0)
        walk->start = add_digit(walk->start, c);
    else if (walk->field == 1)
        walk->end = add_digit(walk->end, c);
    else if (walk->field == 2)
        walk->is_code |= c == 'x';
}

bool cn_rec_maps_walk(cn_rec_mapping_visit visit, void *arg)
{
    struct maps_walk walk;
    char buffer[READ_LEN];
    long fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)"/proc/self/maps",
                              O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long len;

    if (fd < 0)
        return false;
    walk.visit = visit;
    walk.arg = arg;
    walk.file = (struct cn_rec_mapping){0};
    walk.is_emulated = cn_rec_process.shared->machine != CN_REC_MACHINE;
    walk.start = walk.end = 0;
    walk.is_code = false;
    walk.field = 0;
    walk.path_len = 0;
    while ((len = cn_rec_syscall3(SYS_read, fd, (long)buffer, READ_LEN)) > 0) {
        for (long i = 0; i < len; i++)
            take(&walk, buffer[i]);
    }
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    hand_out(&walk);
    return len == 0;
}
