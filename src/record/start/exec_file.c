#include "record/start/exec_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "record/shared.h"
#include "record/syscalls.h"

enum { SCRIPTS_MAX = 4 }; /* whose interpreters are scripts, as in the kernel */

static uint64_t read_at(int fd, void *out, uint64_t len, uint64_t off)
{
    long done = cn_rec_syscall6(SYS_pread64, fd, (long)out, (long)len, (long)off, 0, 0);

    return done < 0 ? 0 : (uint64_t)done;
}

static bool begins_with(const char *text, const char *start)
{
    while (*start && *text == *start) {
        text++;
        start++;
    }
    return !*start;
}

/* It runs with the rights of another user. */
static bool is_setuid(int fd)
{
    struct stat status;

    if (cn_rec_syscall3(SYS_fstat, fd, (long)&status, 0) < 0)
        return false;
    return ((status.st_mode & S_ISUID) &&
            status.st_uid != (uid_t)cn_rec_syscall3(SYS_getuid, 0, 0, 0)) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
            status.st_gid != (gid_t)cn_rec_syscall3(SYS_getgid, 0, 0, 0));
}

/* The offset in the file of a link address; UINT64_MAX: none. */
static uint64_t offset_of(const Elf64_Phdr *segments, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    }
    return UINT64_MAX;
}

static void find_sanitizer(struct cn_rec_exec_file *file, int fd,
                           const Elf64_Phdr *segments, size_t count,
                           const Elf64_Phdr *dynamic)
{
    uint64_t len = dynamic->p_filesz, names_off = UINT64_MAX;
    const Elf64_Dyn *entries = (const Elf64_Dyn *)(const void *)file->dynamic;

    len = len < sizeof(file->dynamic) ? len : sizeof(file->dynamic);
    size_t entry_count =
        read_at(fd, file->dynamic, len, dynamic->p_offset) / sizeof(*entries);
    for (size_t i = 0; i < entry_count; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            names_off = offset_of(segments, count, entries[i].d_un.d_ptr);
    }
    for (size_t i = 0; names_off != UINT64_MAX && i < entry_count; i++) {
        if (entries[i].d_tag != DT_NEEDED)
            continue;
        uint64_t done = read_at(fd, file->sanitizer, sizeof(file->sanitizer) - 1,
                                names_off + entries[i].d_un.d_val);
        file->sanitizer[done] = '\0';
        if (begins_with(file->sanitizer, "libasan.so") ||
            begins_with(file->sanitizer, "libtsan.so"))
            return;
    }
    file->sanitizer[0] = '\0';
}

/* What the loader of a program is; the end of the path of a very long one is not read. */
static enum cn_rec_exec_kind kind_of_loader(struct cn_rec_exec_file *file, int fd,
                                            const Elf64_Phdr *segment)
{
    uint64_t max = sizeof(file->dynamic) - 1;
    uint64_t len = segment->p_filesz < max ? segment->p_filesz : max;

    file->dynamic[read_at(fd, file->dynamic, len, segment->p_offset)] = '\0';
    return cn_rec_is_known_loader(file->dynamic) ? CN_REC_EXEC_LOADED : CN_REC_EXEC_LIBC;
}

static void read_elf(struct cn_rec_exec_file *file, int fd, uint64_t len)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file->head;
    const Elf64_Phdr *segments, *dynamic = NULL;

    if (is_setuid(fd)) {
        file->kind = CN_REC_EXEC_SETUID;
        return;
    }
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != CN_REC_MACHINE) {
        file->kind = CN_REC_EXEC_FOREIGN;
        return;
    }
    if (head->e_phentsize != sizeof(*segments) || head->e_phoff > len ||
        head->e_phoff % sizeof(uint64_t) != 0 ||
        head->e_phnum > (len - head->e_phoff) / sizeof(*segments))
        return;
    segments = (const Elf64_Phdr *)(const void *)(file->head + head->e_phoff);
    file->kind = CN_REC_EXEC_STATIC;
    for (size_t i = 0; i < head->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP)
            file->kind = kind_of_loader(file, fd, &segments[i]);
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = &segments[i];
    }
    if (file->kind == CN_REC_EXEC_LOADED && dynamic)
        find_sanitizer(file, fd, segments, head->e_phnum, dynamic);
}

/* The interpreter in the first line of a script, as the kernel finds it; NULL: none. */
static const char *find_interpreter(struct cn_rec_exec_file *file, uint64_t len)
{
    char *path = file->head + 2, *end;

    if (!begins_with(file->head, "#!"))
        return NULL;
    file->head[len < sizeof(file->head) ? len : sizeof(file->head) - 1] = '\0';
    while (*path == ' ' || *path == '\t')
        path++;
    for (end = path; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
        continue;
    *end = '\0';
    return path;
}

static long open_at(int dir_fd, const char *path)
{
    return cn_rec_syscall6(SYS_openat, dir_fd, (long)path,
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
}

/* A script is what its interpreter is, but its own bits do not count. */
static void read_all(struct cn_rec_exec_file *file, int fd, int scripts)
{
    uint64_t len = read_at(fd, file->head, sizeof(file->head), 0);

    file->kind = CN_REC_EXEC_UNKNOWN;
    file->sanitizer[0] = '\0';
    if (len >= sizeof(Elf64_Ehdr) && begins_with(file->head, ELFMAG)) {
        read_elf(file, fd, len);
        return;
    }
    const char *interpreter =
        scripts < SCRIPTS_MAX && len > 2 ? find_interpreter(file, len) : NULL;
    long next = interpreter ? open_at(AT_FDCWD, interpreter) : -1;
    if (next < 0)
        return;
    read_all(file, (int)next, scripts + 1);
    (void)cn_rec_syscall3(SYS_close, next, 0, 0);
}

void cn_rec_exec_file_read(struct cn_rec_exec_file *file, int fd)
{
    read_all(file, fd, 0);
}

void cn_rec_exec_file_find(struct cn_rec_exec_file *file, int dir_fd, const char *path)
{
    long fd = open_at(dir_fd, path);

    file->kind = CN_REC_EXEC_UNKNOWN;
    file->sanitizer[0] = '\0';
    if (fd < 0)
        return;
    cn_rec_exec_file_read(file, (int)fd);
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
}
