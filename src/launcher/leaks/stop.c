#include "launcher/leaks/stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/alloc.h"

/* What a thread that has been seized stops with; not in all headers. */
#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

enum { WAIT_MS = 30000, ROUNDS_MAX = 100, REGISTERS_LEN = 2048 };

static bool is_known(const struct cn_stopped *stopped, pid_t tid)
{
    for (size_t i = 0; i < stopped->count; i++)
        if (stopped->threads[i].tid == tid)
            return true;
    return false;
}

/* Look for a change of a thread. The end of the first one is its parent's to see, who learns the status
 * of the process; that of others is only seen here. True if there was one. */
static bool look(const struct cn_stopped *stopped, pid_t tid, bool *has_ended,
                 int *signal)
{
    siginfo_t info = {0};
    int status;

    *has_ended = false;
    if (tid == stopped->pid) {
        if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) != 0 ||
            info.si_pid != tid)
            return false;
        status = info.si_status << 8 | 0x7f;
    } else {
        pid_t done = waitpid(tid, &status, __WALL | WNOHANG);

        *has_ended = done < 0 && errno == ECHILD;
        if (done != tid)
            return *has_ended;
        *has_ended = !WIFSTOPPED(status);
    }
    *signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    return true;
}

/* Wait until the thread has stopped. 1: it has, 0: it has ended, -1: neither in time. */
static int wait_for(const struct cn_stopped *stopped, struct cn_stopped_thread *thread)
{
    const struct timespec moment = {0, 1000000};
    bool has_ended;

    for (int i = 0; i < WAIT_MS; i++) {
        if (look(stopped, thread->tid, &has_ended, &thread->signal))
            return !has_ended;
        (void)nanosleep(&moment, NULL);
    }
    return -1;
}

static void add_words(struct cn_stopped *stopped, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= len; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, bytes + at, sizeof(word));
        CN_PUSH(stopped->words, stopped->word_count, stopped->word_capacity, word);
    }
}

static bool read_set(pid_t tid, int set, uint8_t *out, size_t *len)
{
    struct iovec into = {out, REGISTERS_LEN};

    memset(out, 0, REGISTERS_LEN);
    if (ptrace(PTRACE_GETREGSET, tid, (void *)(intptr_t)set, &into) != 0)
        return false;
    *len = into.iov_len;
    return true;
}

static bool read_registers(struct cn_stopped *stopped, struct cn_stopped_thread *thread)
{
    uint8_t bytes[REGISTERS_LEN];
    struct user_regs_struct registers;
    size_t len;

    if (!read_set(thread->tid, NT_PRSTATUS, bytes, &len))
        return false;
    add_words(stopped, bytes, len);
    memcpy(&registers, bytes, sizeof(registers));
#if defined(__x86_64__)
    thread->stack = registers.rsp;
    thread->local = registers.fs_base;
#else
    thread->stack = registers.sp;
    if (read_set(thread->tid, NT_ARM_TLS, bytes, &len))
        memcpy(&thread->local, bytes, sizeof(thread->local));
#endif
    if (read_set(thread->tid, NT_PRFPREG, bytes, &len))
        add_words(stopped, bytes, len);
    return true;
}

/* Stop a thread. One that ends meanwhile is none. */
static bool stop(struct cn_stopped *stopped, pid_t tid, struct cn_error *err)
{
    struct cn_stopped_thread thread = {.tid = tid};

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return errno == ESRCH || cn_fail_errno(err, "cannot stop thread %d", (int)tid);
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return errno == ESRCH || cn_fail_errno(err, "cannot stop thread %d", (int)tid);
    int state = wait_for(stopped, &thread);
    if (state == 0)
        return true;
    CN_PUSH(stopped->threads, stopped->count, stopped->capacity, thread);
    if (state < 0)
        return cn_fail(err, CN_ERR_BUSY, "thread %d did not stop within %d s", (int)tid,
                       WAIT_MS / 1000);
    return read_registers(stopped, &stopped->threads[stopped->count - 1]) ||
           cn_fail_errno(err, "cannot read the registers of thread %d", (int)tid);
}

/* Stop the threads that are not yet; *is_complete if there were none. */
static bool stop_others(struct cn_stopped *stopped, bool *is_complete,
                        struct cn_error *err)
{
    char path[64];
    bool ok = true;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)stopped->pid);
    DIR *listing = opendir(path);
    if (!listing)
        return cn_fail_errno(err, "%s", path);
    *is_complete = true;
    for (struct dirent *entry; ok && (entry = readdir(listing));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid <= 0 || is_known(stopped, tid))
            continue;
        *is_complete = false;
        ok = stop(stopped, tid, err);
    }
    (void)closedir(listing);
    return ok;
}

/* A thread that runs may start others, so until no round finds a new one. */
bool cn_stopped_begin(struct cn_stopped *stopped, pid_t pid, struct cn_error *err)
{
    bool ok = true, is_complete = false;

    *stopped = (struct cn_stopped){.pid = pid};
    for (int i = 0; ok && !is_complete && i < ROUNDS_MAX; i++)
        ok = stop_others(stopped, &is_complete, err);
    if (ok && !is_complete)
        ok = cn_fail(err, CN_ERR_BUSY, "threads begin faster than they can be stopped");
    if (!ok)
        cn_stopped_end(stopped);
    return ok;
}

/* Only a thread that has stopped can be detached; one that was killed is looked at until it is gone, as
 * its process ends after it. */
static void let_run(const struct cn_stopped *stopped, struct cn_stopped_thread *thread)
{
    bool has_ended = false;

    for (int i = 0; i < ROUNDS_MAX && !has_ended; i++) {
        if (ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)thread->signal) ==
                0 ||
            thread->tid == stopped->pid)
            return;
        if (!look(stopped, thread->tid, &has_ended, &thread->signal))
            (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

void cn_stopped_end(struct cn_stopped *stopped)
{
    for (size_t i = 0; i < stopped->count; i++)
        let_run(stopped, &stopped->threads[i]);
    free(stopped->threads);
    free(stopped->words);
    *stopped = (struct cn_stopped){0};
}
