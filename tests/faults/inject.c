/* Run a command on a disk that fails: the n-th of its writing system calls below a folder fails, in whichever
 * process, thread or library it is made.
 *
 *     inject -l LOG [-n NUMBER] [-e EIO|ENOSPC|HALF|SIGCHLD] [-a] -u FOLDER... [-s PATH]... -- COMMAND...
 *
 * Calls on paths below a FOLDER of -u are counted, unless the path is a PATH of -s. LOG gets a line for each:
 * number, system call, path, and "fails" for the one that failed. With -a all later ones fail that need space.
 * With HALF the call, if it writes, writes half of its bytes and returns their number. With SIGCHLD every call
 * that names a path, any path, also to read, is interrupted once by that signal, in processes that catch it: file
 * systems on a network allow it. The status is that of the command; 125: the kernel does not support it (SECCOMP_RET_USER_NOTIF is of Linux 5.5).
 *
 * The kernel asks this process before each of these calls. Nothing is loaded into the command, so that
 * sanitizers, static programs and the buffers of stdio do not matter.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    UNSUPPORTED = 125,
    PATHS = 16,
    WAIT_KILLABLE_RECV = 1 << 5, /* of Linux 5.19 */
};

/* Where a system call has what it changes: an argument that is a descriptor, or a path, with the directory of a
 * relative one before it. */
enum where { DESCRIPTOR, PATH, PATH_AT };

static const struct call {
    int number;
    const char *name;
    enum where where;
    int argument;
    bool needs_space;
} calls[] = {
    {SYS_write, "write", DESCRIPTOR, 0, true},
    {SYS_pwrite64, "pwrite", DESCRIPTOR, 0, true},
    {SYS_writev, "writev", DESCRIPTOR, 0, true},
    {SYS_pwritev, "pwritev", DESCRIPTOR, 0, true},
    {SYS_sendfile, "sendfile", DESCRIPTOR, 0, true},
    {SYS_copy_file_range, "copy_file_range", DESCRIPTOR, 2, true},
    {SYS_fallocate, "fallocate", DESCRIPTOR, 0, true},
    {SYS_ftruncate, "ftruncate", DESCRIPTOR, 0, false},
    {SYS_truncate, "truncate", PATH, 0, false},
    {SYS_fsync, "fsync", DESCRIPTOR, 0, false},
    {SYS_fdatasync, "fdatasync", DESCRIPTOR, 0, false},
    {SYS_close, "close", DESCRIPTOR, 0, false},
    {SYS_mmap, "mmap", DESCRIPTOR, 4, false},
    {SYS_openat, "open", PATH_AT, 1, true},
    {SYS_mkdirat, "mkdir", PATH_AT, 1, true},
    {SYS_linkat, "link", PATH_AT, 3, true},
    {SYS_symlinkat, "symlink", PATH_AT, 2, true},
#ifdef SYS_renameat
    {SYS_renameat, "rename", PATH_AT, 3, false},
#endif
    {SYS_renameat2, "rename", PATH_AT, 3, false},
#ifdef SYS_open
    {SYS_open, "open", PATH, 0, true},
    {SYS_creat, "open", PATH, 0, true},
    {SYS_mkdir, "mkdir", PATH, 0, true},
    {SYS_link, "link", PATH, 1, true},
    {SYS_symlink, "symlink", PATH, 1, true},
    {SYS_rename, "rename", PATH, 1, false},
#endif
};

static struct {
    FILE *log;
    long number, error; /* error 0: write half */
    bool all_later, interrupts;
    const char *under[PATHS], *spared[PATHS];
    size_t under_count, spared_count;
} options;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(UNSUPPORTED);
}

/* The calls of the table ask; all others are made at once. */
static int listen_to_calls(void)
{
    struct sock_filter filter[2 * sizeof(calls) / sizeof(*calls) + 2];
    struct sock_fprog program = {0, filter};

    filter[program.len++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        filter[program.len++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        filter[program.len++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[program.len++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* Unless signals are wanted, a call that is counted is made: it is not interrupted and asked again. */
    if (!options.interrupts) {
        int listener =
            (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                         SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV, &program);

        if (listener >= 0 || errno != EINVAL)
            return listener;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void send_descriptor(int to, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};

    control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
                                    .cmsg_level = SOL_SOCKET,
                                    .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    if (sendmsg(to, &message, 0) < 0)
        _exit(UNSUPPORTED);
}

static int receive_descriptor(int from)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte;
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int fd = -1;

    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 &&
        message.msg_controllen >= CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
    return fd;
}

static bool read_link(char *out, const char *format, unsigned pid, int fd)
{
    char link[64];
    ssize_t len;

    snprintf(link, sizeof(link), format, pid, fd);
    len = readlink(link, out, PATH_MAX - 1);
    out[len < 0 ? 0 : len] = '\0';
    return len > 0;
}

/* The path that a call is about; false if there is none, or if it changes nothing. */
static bool path_of(const struct call *call, const struct seccomp_notif *asked,
                    char *path)
{
    const uint64_t *args = (const uint64_t *)asked->data.args;
    char name[PATH_MAX] = {0}, folder[PATH_MAX] = "";
    struct iovec here = {name, PATH_MAX - 1}, there = {(void *)args[call->argument], 0};
    const char *cwd = "/proc/%u/cwd", *other = "/proc/%u/fd/%d";
    int at = call->where == PATH_AT ? (int)args[call->argument - 1] : AT_FDCWD;

    if (call->number == SYS_mmap &&
        (!(args[2] & PROT_WRITE) || !(args[3] & MAP_SHARED) || args[3] & MAP_ANONYMOUS))
        return false;
    if (call->where == DESCRIPTOR)
        return read_link(path, other, asked->pid, (int)args[call->argument]);
    if (!strcmp(call->name, "open") &&
        !(args[call->argument + 1] & (O_WRONLY | O_RDWR | O_CREAT)))
        return false;
    /* Up to the end of the page first: the next one may not exist. */
    there.iov_len = here.iov_len = 4096 - args[call->argument] % 4096;
    if (process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) <= 0)
        return false;
    if (!memchr(name, '\0', there.iov_len) && there.iov_len < PATH_MAX - 1) {
        here = (struct iovec){name + there.iov_len, PATH_MAX - 1 - there.iov_len};
        there = (struct iovec){(char *)there.iov_base + there.iov_len, here.iov_len};
        if (process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) <= 0)
            return false;
    }
    if (name[0] != '/' && !(at == AT_FDCWD ? read_link(folder, cwd, asked->pid, 0)
                                           : read_link(folder, other, asked->pid, at)))
        return false;
    return snprintf(path, PATH_MAX, "%s%s%s", folder, name[0] == '/' ? "" : "/", name) >
           0;
}

static bool is_counted(const char *path)
{
    for (size_t i = 0; i < options.spared_count; i++)
        if (!strcmp(path, options.spared[i]))
            return false;
    for (size_t i = 0; i < options.under_count; i++)
        if (!strncmp(path, options.under[i], strlen(options.under[i])))
            return true;
    return false;
}

/* A file that was opened for reading is closed without consequences. */
static bool is_written(unsigned pid, int fd)
{
    char path[64], line[128];
    unsigned flags = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%u/fdinfo/%d", pid, fd);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file) &&
           sscanf(line, "flags: %o", &flags) != 1)
        ;
    if (file)
        fclose(file);
    return flags & (O_WRONLY | O_RDWR);
}

/* The mask of signals that a thread catches. */
static unsigned long long caught_by(unsigned tid)
{
    char path[64], line[128];
    unsigned long long caught = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%u/status", tid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file) &&
           sscanf(line, "SigCgt: %llx", &caught) != 1)
        ;
    if (file)
        fclose(file);
    return caught;
}

/* Interrupt a call by a signal, but not the same call when it is made again. True if that happened: the
 * kernel then drops the question, and an answer would fail. */
static bool interrupt(const struct seccomp_notif *asked, int listener)
{
    static struct seccomp_notif last;
    const struct call *call = calls;
    bool is_again =
        last.pid == asked->pid && !memcmp(&last.data, &asked->data, sizeof(last.data));

    last = *asked;
    while (call->number != asked->data.nr)
        call++;
    if (is_again || call->where == DESCRIPTOR ||
        !(caught_by(asked->pid) >> (SIGCHLD - 1) & 1) ||
        syscall(SYS_tkill, asked->pid, SIGCHLD) != 0)
        return false;
    for (int i = 0; i < 1000; i++) { /* it may have blocked the signal */
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked->id) != 0)
            return true;
        usleep(1000);
    }
    return false;
}

/* Write half of what the call would have written, at the same place; negative if it writes nothing. */
static long write_half(const struct seccomp_notif *asked)
{
    const uint64_t *args = (const uint64_t *)asked->data.args;
    size_t len = args[2] / 2;
    struct iovec there = {(void *)args[1], len}, here = {malloc(len + 1), len};
    int pidfd, fd;
    ssize_t done = -1;

    if ((asked->data.nr != SYS_write && asked->data.nr != SYS_pwrite64) || len == 0)
        return -1;
    pidfd = (int)syscall(SYS_pidfd_open, asked->pid, 0);
    if (pidfd < 0) { /* a thread: descriptors are those of its process */
        char path[64], line[128];
        int leader = (int)asked->pid;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%u/status", asked->pid);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof(line), file) &&
               sscanf(line, "Tgid: %d", &leader) != 1)
            ;
        if (file)
            fclose(file);
        pidfd = (int)syscall(SYS_pidfd_open, leader, 0);
    }
    fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)args[0], 0);
    if (fd >= 0 &&
        process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) == (ssize_t)len)
        done = asked->data.nr == SYS_write
                   ? write(fd, here.iov_base, len)
                   : pwrite(fd, here.iov_base, len, (off_t)args[3]);
    free(here.iov_base);
    close(fd);
    close(pidfd);
    return done;
}

/* A file without a name: programs have another way where a file system cannot make one. */
static bool is_temporary(const struct call *call, const struct seccomp_notif *asked)
{
    return !strcmp(call->name, "open") &&
           (asked->data.args[call->argument + 1] & O_TMPFILE) == O_TMPFILE;
}

/* A close() that fails has closed the file: put another one in its place, which stays open. */
static void close_for(const struct seccomp_notif *asked, int listener)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct seccomp_notif_addfd other = {.id = asked->id,
                                        .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                        .srcfd = (unsigned)null,
                                        .newfd = (unsigned)asked->data.args[0],
                                        .newfd_flags = O_CLOEXEC};

    ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &other);
    close(null);
}

/* What to answer to the kernel: make the call, or return an error. */
static void decide(const struct seccomp_notif *asked, struct seccomp_notif_resp *answer,
                   int listener)
{
    static long count;
    static bool has_failed;
    const struct call *call = calls;
    char path[2 * PATH_MAX];
    bool fails;
    long half = -1;

    *answer = (struct seccomp_notif_resp){.id = asked->id,
                                          .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    while (call->number != asked->data.nr)
        call++;
    if (!path_of(call, asked, path) || !is_counted(path) ||
        (call->number == SYS_close && !is_written(asked->pid, (int)asked->data.args[0])))
        return;
    fails = ++count == options.number ||
            (has_failed && options.all_later && call->needs_space);
    if (fails && options.error == 0)
        fails = (half = write_half(asked)) >= 0;
    has_failed |= fails;
    fprintf(options.log, "%ld %s %s%s\n", count,
            is_temporary(call, asked) ? "tmpfile" : call->name, path,
            fails ? " fails" : "");
    if (fails && call->number == SYS_close)
        close_for(asked, listener);
    if (fails)
        *answer =
            (struct seccomp_notif_resp){.id = asked->id,
                                        .val = half >= 0 ? half : 0,
                                        .error = half >= 0 ? 0 : -(int)options.error};
}

static void serve(int listener)
{
    struct pollfd poll_for = {.fd = listener, .events = POLLIN};
    struct seccomp_notif asked;
    struct seccomp_notif_resp answer;

    while (poll(&poll_for, 1, -1) > 0 && poll_for.revents & POLLIN) {
        memset(&asked, 0, sizeof(asked));
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
            continue; /* it was killed before it was asked for */
        if (options.interrupts && interrupt(&asked, listener))
            continue;
        decide(&asked, &answer, listener);
        fflush(options.log);
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

static void parse(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "+l:n:e:au:s:")) != -1;) {
        if (option == 'l')
            options.log = fopen(optarg, "we");
        else if (option == 'n')
            options.number = atol(optarg);
        else if (option == 'e' && !strcmp(optarg, "SIGCHLD"))
            options.interrupts = true;
        else if (option == 'e')
            options.error = !strcmp(optarg, "EIO")      ? EIO
                            : !strcmp(optarg, "ENOSPC") ? ENOSPC
                                                        : 0;
        else if (option == 'a')
            options.all_later = true;
        else if (option == 'u' && options.under_count < PATHS)
            options.under[options.under_count++] = optarg;
        else if (option == 's' && options.spared_count < PATHS)
            options.spared[options.spared_count++] = optarg;
    }
    if (!options.log || !argv[optind])
        fail("usage");
}

int main(int argc, char **argv)
{
    int ends[2], status, listener;
    pid_t child;

    parse(argc, argv);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
        (child = fork()) < 0)
        fail("cannot start");
    if (child == 0) {
        listener = listen_to_calls();
        if (listener < 0)
            _exit(UNSUPPORTED);
        send_descriptor(ends[1], listener);
        syscall(SYS_close_range, listener, listener, 0);
        execvp(argv[optind], argv + optind);
        _exit(127);
    }
    syscall(SYS_close_range, ends[1], ends[1], 0);
    listener = receive_descriptor(ends[0]);
    if (listener < 0)
        fail("the kernel asks no other process about system calls");
    serve(listener);
    if (waitpid(child, &status, 0) != child)
        fail("waitpid");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
