#include "launcher/rules/known_enums.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Values are those of this machine: they differ between processors. */
#define MEMBER(name)      \
    {                     \
        NULL, #name, name \
    }

/* A row with the name of an enum begins it. */
static const struct {
    const char *enumeration, *member;
    int64_t value;
} rows[] = {
    {"cairn_open", "O_RDONLY", O_RDONLY},
    MEMBER(O_WRONLY),
    MEMBER(O_RDWR),
    MEMBER(O_CREAT),
    MEMBER(O_EXCL),
    MEMBER(O_NOCTTY),
    MEMBER(O_TRUNC),
    MEMBER(O_APPEND),
    MEMBER(O_NONBLOCK),
    MEMBER(O_DSYNC),
    MEMBER(O_ASYNC),
    MEMBER(O_DIRECT),
    MEMBER(O_DIRECTORY),
    MEMBER(O_NOFOLLOW),
    MEMBER(O_NOATIME),
    MEMBER(O_CLOEXEC),
    MEMBER(O_SYNC),
    MEMBER(O_PATH),
    MEMBER(O_TMPFILE),

    {"cairn_prot", "PROT_NONE", PROT_NONE},
    MEMBER(PROT_READ),
    MEMBER(PROT_WRITE),
    MEMBER(PROT_EXEC),

    {"cairn_map", "MAP_SHARED", MAP_SHARED},
    MEMBER(MAP_PRIVATE),
    MEMBER(MAP_SHARED_VALIDATE),
    MEMBER(MAP_FIXED),
    MEMBER(MAP_ANON),
    MEMBER(MAP_GROWSDOWN),
    MEMBER(MAP_LOCKED),
    MEMBER(MAP_NORESERVE),
    MEMBER(MAP_POPULATE),
    MEMBER(MAP_NONBLOCK),
    MEMBER(MAP_STACK),
    MEMBER(MAP_HUGETLB),
    MEMBER(MAP_FIXED_NOREPLACE),

    {"cairn_madvise", "MADV_NORMAL", MADV_NORMAL},
    MEMBER(MADV_RANDOM),
    MEMBER(MADV_SEQUENTIAL),
    MEMBER(MADV_WILLNEED),
    MEMBER(MADV_DONTNEED),
    MEMBER(MADV_FREE),
    MEMBER(MADV_REMOVE),
    MEMBER(MADV_DONTFORK),
    MEMBER(MADV_DOFORK),
    MEMBER(MADV_MERGEABLE),
    MEMBER(MADV_UNMERGEABLE),
    MEMBER(MADV_HUGEPAGE),
    MEMBER(MADV_NOHUGEPAGE),
    MEMBER(MADV_DONTDUMP),
    MEMBER(MADV_DODUMP),

    {"cairn_fcntl", "F_DUPFD", F_DUPFD},
    MEMBER(F_GETFD),
    MEMBER(F_SETFD),
    MEMBER(F_GETFL),
    MEMBER(F_SETFL),
    MEMBER(F_GETLK),
    MEMBER(F_SETLK),
    MEMBER(F_SETLKW),
    MEMBER(F_SETOWN),
    MEMBER(F_GETOWN),
    MEMBER(F_DUPFD_CLOEXEC),
    MEMBER(F_SETPIPE_SZ),
    MEMBER(F_GETPIPE_SZ),

    {"cairn_seek", "SEEK_SET", SEEK_SET},
    MEMBER(SEEK_CUR),
    MEMBER(SEEK_END),
    MEMBER(SEEK_DATA),
    MEMBER(SEEK_HOLE),

    {"cairn_access", "F_OK", F_OK},
    MEMBER(X_OK),
    MEMBER(W_OK),
    MEMBER(R_OK),

    {"cairn_dlopen", "RTLD_LOCAL", RTLD_LOCAL},
    MEMBER(RTLD_LAZY),
    MEMBER(RTLD_NOW),
    MEMBER(RTLD_NOLOAD),
    MEMBER(RTLD_DEEPBIND),
    MEMBER(RTLD_GLOBAL),
    MEMBER(RTLD_NODELETE),

    {"cairn_domain", "AF_UNSPEC", AF_UNSPEC},
    MEMBER(AF_UNIX),
    MEMBER(AF_INET),
    MEMBER(AF_INET6),
    MEMBER(AF_NETLINK),
    MEMBER(AF_PACKET),
    MEMBER(AF_VSOCK),

    {"cairn_socket", "SOCK_STREAM", SOCK_STREAM},
    MEMBER(SOCK_DGRAM),
    MEMBER(SOCK_RAW),
    MEMBER(SOCK_SEQPACKET),
    MEMBER(SOCK_NONBLOCK),
    MEMBER(SOCK_CLOEXEC),

    {"cairn_shutdown", "SHUT_RD", SHUT_RD},
    MEMBER(SHUT_WR),
    MEMBER(SHUT_RDWR),

    {"cairn_signal", "SIGNULL", 0},
    MEMBER(SIGHUP),
    MEMBER(SIGINT),
    MEMBER(SIGQUIT),
    MEMBER(SIGILL),
    MEMBER(SIGTRAP),
    MEMBER(SIGABRT),
    MEMBER(SIGBUS),
    MEMBER(SIGFPE),
    MEMBER(SIGKILL),
    MEMBER(SIGUSR1),
    MEMBER(SIGSEGV),
    MEMBER(SIGUSR2),
    MEMBER(SIGPIPE),
    MEMBER(SIGALRM),
    MEMBER(SIGTERM),
    MEMBER(SIGSTKFLT),
    MEMBER(SIGCHLD),
    MEMBER(SIGCONT),
    MEMBER(SIGSTOP),
    MEMBER(SIGTSTP),
    MEMBER(SIGTTIN),
    MEMBER(SIGTTOU),
    MEMBER(SIGURG),
    MEMBER(SIGXCPU),
    MEMBER(SIGXFSZ),
    MEMBER(SIGVTALRM),
    MEMBER(SIGPROF),
    MEMBER(SIGWINCH),
    MEMBER(SIGPOLL),
    MEMBER(SIGPWR),
    MEMBER(SIGSYS),

    {"cairn_sigmask", "SIG_BLOCK", SIG_BLOCK},
    MEMBER(SIG_UNBLOCK),
    MEMBER(SIG_SETMASK),

    {"cairn_prctl", "PR_SET_PDEATHSIG", PR_SET_PDEATHSIG},
    MEMBER(PR_GET_PDEATHSIG),
    MEMBER(PR_GET_DUMPABLE),
    MEMBER(PR_SET_DUMPABLE),
    MEMBER(PR_SET_NAME),
    MEMBER(PR_GET_NAME),
    MEMBER(PR_GET_SECCOMP),
    MEMBER(PR_SET_SECCOMP),
    MEMBER(PR_SET_TIMERSLACK),
    MEMBER(PR_SET_CHILD_SUBREAPER),
    MEMBER(PR_SET_NO_NEW_PRIVS),
    MEMBER(PR_GET_NO_NEW_PRIVS),

    {"cairn_epoll", "EPOLL_CTL_ADD", EPOLL_CTL_ADD},
    MEMBER(EPOLL_CTL_DEL),
    MEMBER(EPOLL_CTL_MOD),

    {"cairn_locale", "LC_CTYPE", LC_CTYPE},
    MEMBER(LC_NUMERIC),
    MEMBER(LC_TIME),
    MEMBER(LC_COLLATE),
    MEMBER(LC_MONETARY),
    MEMBER(LC_MESSAGES),
    MEMBER(LC_ALL),

    {"cairn_clock", "CLOCK_REALTIME", CLOCK_REALTIME},
    MEMBER(CLOCK_MONOTONIC),
    MEMBER(CLOCK_PROCESS_CPUTIME_ID),
    MEMBER(CLOCK_THREAD_CPUTIME_ID),
    MEMBER(CLOCK_MONOTONIC_RAW),
    MEMBER(CLOCK_REALTIME_COARSE),
    MEMBER(CLOCK_MONOTONIC_COARSE),
    MEMBER(CLOCK_BOOTTIME),
};

void cn_known_enums_print(struct cn_text *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].enumeration)
            cn_text_printf(out, "%senum %s {", i > 0 ? "};" : "", rows[i].enumeration);
        cn_text_printf(out, "%s%s=%" PRId64, rows[i].enumeration ? "" : ",",
                       rows[i].member, rows[i].value);
    }
    cn_text_str_add(out, "};");
}
