#include "record/start/exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/process.h"
#include "record/start/exec_file.h"
#include "record/state/thread.h"
#include "record/syscalls.h"
#include "record/text.h"

#define EXPORT  __attribute__((visibility("default")))
#define PRELOAD "LD_PRELOAD"

typedef int (*exec_fn)(const char *, char *const[], char *const[]);
typedef int (*exec_fd_fn)(int, char *const[], char *const[]);
typedef int (*exec_at_fn)(int, const char *, char *const[], char *const[], int);
typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const[], char *const[]);

static struct {
    exec_fn exec, exec_in_path;
    exec_fd_fn exec_fd;
    exec_at_fn exec_at;
    spawn_fn spawn, spawn_in_path;
} real;

/* The recorder's variables. */
static struct {
    char library[PATH_MAX];
    char path[sizeof(CN_REC_ENV "=" CN_REC_ENV_COMING) + PATH_MAX];
    char coming_path[sizeof(CN_REC_ENV "=" CN_REC_ENV_COMING) + PATH_MAX];
    bool is_known;
} own;

/* A program that is about to be started. Memory comes from the thread's own space, which
 * the child of a vfork() uses while its parent waits: nothing is leaked there. */
struct exec_start {
    char *const *env;
    struct cn_rec_exec_file *file;
    char *at, *end; /* the rest of the space */
    void *mapped;   /* a space of its own; NULL: that of the thread */
    uint64_t mapped_len;
    bool is_coming;                /* the launcher waits for it */
    enum cn_rec_exec_kind counted; /* as one that is not recorded; UNKNOWN: not */
};

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    __builtin_memcpy(function, &found, sizeof(found));
}

static void find_all(void)
{
    find("execvpe", &real.exec_in_path);
    find("fexecve", &real.exec_fd);
    find("execveat", &real.exec_at);
    find("posix_spawn", &real.spawn);
    find("posix_spawnp", &real.spawn_in_path);
    find("execve", &real.exec);
}

void cn_rec_exec_begin(const char *path)
{
    struct cn_rec_text library = {own.library, sizeof(own.library), 0, false};
    struct cn_rec_text plain = {own.path, sizeof(own.path), 0, false};
    struct cn_rec_text coming = {own.coming_path, sizeof(own.coming_path), 0, false};
    Dl_info info;

    find_all();
    if (!path || !dladdr(&own, &info) || !info.dli_fname)
        return;
    cn_rec_text_str(&library, info.dli_fname);
    cn_rec_text_str(&plain, CN_REC_ENV "=");
    cn_rec_text_str(&plain, path);
    cn_rec_text_str(&coming, CN_REC_ENV "=" CN_REC_ENV_COMING);
    cn_rec_text_str(&coming, path);
    own.is_known = !library.is_cut && !plain.is_cut && !coming.is_cut;
}

static uint64_t len_of(const char *text)
{
    uint64_t len = 0;

    while (text[len])
        len++;
    return len;
}

/* The value of a variable; NULL for another one. */
static const char *value_of(const char *variable, const char *name)
{
    while (*name && *variable == *name) {
        variable++;
        name++;
    }
    return !*name && *variable == '=' ? variable + 1 : NULL;
}

/* True if a list of libraries has this one; `is_first`: before all others. */
static bool has_library(const char *list, const char *library, bool is_first)
{
    while (*list) {
        uint64_t len = 0, i = 0;

        while (list[len] && list[len] != ':' && list[len] != ' ')
            len++;
        while (i < len && library[i] == list[i])
            i++;
        if (len > 0 && i == len && !library[i])
            return true;
        if (len > 0 && is_first)
            return false;
        list += len + (list[len] != '\0');
    }
    return false;
}

/* Write "LD_PRELOAD=" with the libraries of a list except the recorder; false if there are no
 * others. */
static bool copy_others(struct cn_rec_text *text, const char *list)
{
    cn_rec_text_str(text, PRELOAD "=");
    uint32_t begin = text->len;
    while (*list) {
        uint32_t before = text->len, at;

        cn_rec_text_str(text, text->len > begin ? ":" : "");
        at = text->len;
        while (*list && *list != ':' && *list != ' ')
            cn_rec_text_char(text, *list++);
        if (text->len == at || cn_rec_text_is_same(text->chars + at, own.library))
            text->len = before;
        list += *list != '\0';
    }
    text->chars[text->len] = '\0';
    return text->len > begin && !text->is_cut;
}

/* Take memory; false when there is none. */
static bool take_space(struct exec_start *start, uint64_t len)
{
    struct cn_rec_thread *self = cn_rec_self;
    uint32_t tid = cn_rec_tid();

    len = (len + CN_REC_PAGE_LEN - 1) & ~(uint64_t)(CN_REC_PAGE_LEN - 1);
    /* A signal handler may start a program while the thread does. */
    if (!self || self->is_shared || atomic_load(&self->space_owner) == tid) {
        start->mapped = cn_rec_map(len);
        start->mapped_len = len;
        start->at = start->mapped;
    } else {
        atomic_store(&self->space_owner, tid);
        if (self->space_len < len) {
            if (self->space)
                (void)cn_rec_syscall3(SYS_munmap, (long)self->space,
                                      (long)self->space_len, 0);
            self->space = cn_rec_map(len);
            self->space_len = self->space ? len : 0;
        }
        start->at = self->space;
        if (!start->at)
            atomic_store(&self->space_owner, 0);
    }
    start->end = start->at ? start->at + len : NULL;
    return start->at;
}

static void *take(struct exec_start *start, uint64_t len)
{
    void *taken = start->at;

    start->at += (len + 15) & ~UINT64_C(15);
    return taken;
}

/* Write "LD_PRELOAD=" with the recorder before `theirs`, after a sanitizer. */
static char *make_preload(struct exec_start *start, const char *theirs)
{
    struct cn_rec_text text = {start->at, (uint32_t)(start->end - start->at), 0, false};
    bool is_there = has_library(theirs, own.library, false);

    cn_rec_text_str(&text, PRELOAD "=");
    if (start->file->sanitizer[0]) {
        cn_rec_text_str(&text, start->file->sanitizer);
        cn_rec_text_str(&text, ":");
    }
    if (!is_there)
        cn_rec_text_str(&text, own.library);
    if (!is_there && *theirs)
        cn_rec_text_str(&text, ":");
    cn_rec_text_str(&text, theirs);
    return text.is_cut ? NULL : text.chars;
}

/* Copy the environment with the recorder's variables. */
static void make_environment(struct exec_start *start, char *const *env, uint64_t count)
{
    char **copy = take(start, (count + 3) * sizeof(*copy)), *preload;
    const char *theirs = "", *path = NULL, *value, *sanitizer = start->file->sanitizer;
    uint64_t preload_at = count, path_at = count + 1, used = count + 2;

    for (uint64_t i = 0; i < count; i++) {
        copy[i] = env[i];
        if ((value = value_of(env[i], PRELOAD))) {
            theirs = value;
            preload_at = i;
        } else if ((value = value_of(env[i], CN_REC_ENV))) {
            path = value;
            path_at = i;
        }
    }
    /* The program chose another recording, or none. */
    if (path && !cn_rec_text_is_same(path, own.path + sizeof(CN_REC_ENV "=") - 1)) {
        start->is_coming = false;
        return;
    }
    preload = copy[preload_at < count ? preload_at : 0];
    if (!has_library(theirs, own.library, false) ||
        (*sanitizer && !has_library(theirs, sanitizer, true)))
        preload = make_preload(start, theirs);
    else if (path && !start->is_coming)
        return;
    if (!preload)
        return;
    if (preload_at < count)
        path_at -= path_at == count + 1;
    used -= (preload_at < count ? 1u : 0u) + (path_at < count ? 1u : 0u);
    copy[preload_at] = preload;
    copy[path_at] = start->is_coming ? own.coming_path : own.path;
    copy[used] = NULL;
    start->env = copy;
}

/* The loader of the program fails, or complains, when it is to load the recorder: copy the
 * environment without it. */
static void leave_out_library(struct exec_start *start, char *const *env, uint64_t count)
{
    char **copy = take(start, (count + 1) * sizeof(*copy));
    struct cn_rec_text text = {start->at, (uint32_t)(start->end - start->at), 0, false};
    uint64_t used = 0;

    for (uint64_t i = 0; i < count; i++) {
        const char *list = value_of(env[i], PRELOAD);

        if (list && has_library(list, own.library, false)) {
            if (copy_others(&text, list))
                copy[used++] = text.chars;
        } else {
            copy[used++] = env[i];
        }
    }
    copy[used] = NULL;
    start->env = copy;
}

/* The program at `name` as execvp() finds it. Runs of colons are empty names of
 * folders. */
static void find_in_path(struct exec_start *start, const char *name)
{
    const char *folders = getenv("PATH");
    char *space = take(start, PATH_MAX);
    struct cn_rec_exec_file *file = start->file;
    bool is_last = false;

    if (!folders)
        folders = "/bin:/usr/bin";
    for (const char *at = name; *at; at++)
        is_last |= *at == '/';
    if (is_last) {
        cn_rec_exec_file_find(file, AT_FDCWD, name);
        return;
    }
    while (!is_last) {
        struct cn_rec_text path = {space, PATH_MAX, 0, false};

        while (*folders && *folders != ':')
            cn_rec_text_char(&path, *folders++);
        is_last = !*folders++;
        if (path.len > 0)
            cn_rec_text_char(&path, '/');
        cn_rec_text_str(&path, name);
        if (path.is_cut ||
            cn_rec_syscall6(SYS_faccessat, AT_FDCWD, (long)space, X_OK, 0, 0, 0) < 0)
            continue;
        cn_rec_exec_file_find(file, AT_FDCWD, space);
        return;
    }
}

/* How the program is named. */
enum exec_how { BY_PATH, IN_PATH, BY_FD, AT_FD };

static void look_at(struct exec_start *start, enum exec_how how, int fd, const char *name)
{
    if (how == BY_FD)
        cn_rec_exec_file_read(start->file, fd);
    else if (how == IN_PATH)
        find_in_path(start, name);
    else
        cn_rec_exec_file_find(start->file, how == AT_FD ? fd : AT_FDCWD, name);
}

/* The loader of the new program complains about a library that it cannot open, as after a
 * chroot(). */
static bool has_library_file(void)
{
    return cn_rec_syscall6(SYS_faccessat, AT_FDCWD, (long)own.library, R_OK, 0, 0, 0) >=
           0;
}

/* Before a program is started with `env`; start->env is the environment to give it.
 * `is_new`: it is a new process, which has no track. */
static void begin(struct exec_start *start, enum exec_how how, int fd, const char *name,
                  char *const *env, bool is_new)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    const struct cn_rec_thread *self = cn_rec_self;
    uint64_t count = 0, text_len = 0;

    *start = (struct exec_start){.env = env};
    if (!real.exec)
        find_all();
    if (!shared || !own.is_known || cn_rec_is_sandboxed ||
        atomic_load(&shared->is_over) || !has_library_file())
        return;
    for (; env && env[count]; count++)
        text_len += value_of(env[count], PRELOAD) ? len_of(env[count]) : 0;
    if (!take_space(start, sizeof(*start->file) + PATH_MAX + (count + 4) * sizeof(*env) +
                               text_len + sizeof(own.library) + 128))
        return;
    start->file = take(start, sizeof(*start->file));
    look_at(start, how, fd, name);
    start->is_coming = start->file->kind == CN_REC_EXEC_LOADED && self &&
                       (is_new || self->tid != cn_rec_tid());
    if (start->file->kind >= CN_REC_EXEC_STATIC) {
        start->counted = start->file->kind;
        atomic_fetch_add(&shared->unloaded[start->counted], 1);
    }
    if (start->file->kind <= CN_REC_EXEC_STATIC)
        make_environment(start, env, count);
    else if (start->file->kind != CN_REC_EXEC_SETUID)
        leave_out_library(start, env, count);
    if (start->env == env)
        start->is_coming = false;
    if (start->is_coming)
        atomic_fetch_add(&shared->coming_count, 1);
}

/* The program was started as a new process, or was not. */
static void end(const struct exec_start *start, bool is_started)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct cn_rec_thread *self = cn_rec_self;

    if (!start->at)
        return;
    if (!is_started && start->is_coming)
        atomic_fetch_sub(&shared->coming_count, 1);
    if (!is_started && start->counted)
        atomic_fetch_sub(&shared->unloaded[start->counted], 1);
    if (start->mapped)
        (void)cn_rec_syscall3(SYS_munmap, (long)start->mapped, (long)start->mapped_len,
                              0);
    else if (self)
        atomic_store(&self->space_owner, 0);
}

EXPORT int execve(const char *path, char *const words[], char *const env[])
{
    struct exec_start start;
    int result;

    begin(&start, BY_PATH, -1, path, env, false);
    result = real.exec(path, words, start.env);
    end(&start, false);
    return result;
}

EXPORT int execvpe(const char *name, char *const words[], char *const env[])
{
    struct exec_start start;
    int result;

    begin(&start, IN_PATH, -1, name, env, false);
    result = real.exec_in_path(name, words, start.env);
    end(&start, false);
    return result;
}

EXPORT int fexecve(int fd, char *const words[], char *const env[])
{
    struct exec_start start;
    int result;

    begin(&start, BY_FD, fd, "", env, false);
    result = real.exec_fd(fd, words, start.env);
    end(&start, false);
    return result;
}

EXPORT int execveat(int fd, const char *path, char *const words[], char *const env[],
                    int flags)
{
    struct exec_start start;
    int result = -1;

    begin(&start, flags & AT_EMPTY_PATH ? BY_FD : AT_FD, fd, path, env, false);
    if (real.exec_at)
        result = real.exec_at(fd, path, words, start.env, flags);
    else
        errno = ENOSYS;
    end(&start, false);
    return result;
}

EXPORT int execv(const char *path, char *const words[])
{
    return execve(path, words, environ);
}

EXPORT int execvp(const char *name, char *const words[])
{
    return execvpe(name, words, environ);
}

/* The arguments of execl() and its like become an array on the stack, as in the true
 * functions: exec must not fail for lack of memory. */
static size_t count_words(va_list rest)
{
    size_t count = 1;

    while (va_arg(rest, char *))
        count++;
    return count;
}

static void copy_words(char **words, const char *first, size_t count, va_list *rest)
{
    words[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        words[i] = va_arg(*rest, char *);
}

#define TAKE_WORDS(words, first, rest)                              \
    do {                                                            \
        va_list to_count;                                           \
        size_t count;                                               \
                                                                    \
        va_copy(to_count, rest);                                    \
        count = count_words(to_count);                              \
        va_end(to_count);                                           \
        (words) = __builtin_alloca((count + 1) * sizeof(*(words))); \
        copy_words(words, first, count, &(rest));                   \
    } while (0)

EXPORT int execl(const char *path, const char *first, ...)
{
    va_list rest;
    char **words;

    va_start(rest, first);
    TAKE_WORDS(words, first, rest);
    va_end(rest);
    return execve(path, words, environ);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
    va_list rest;
    char **words;

    va_start(rest, first);
    TAKE_WORDS(words, first, rest);
    va_end(rest);
    return execvpe(name, words, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    va_list rest;
    char **words, *const *env;

    va_start(rest, first);
    TAKE_WORDS(words, first, rest);
    env = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, words, env);
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const words[],
                       char *const env[])
{
    struct exec_start start;
    int result;

    begin(&start, BY_PATH, -1, path, env, true);
    result = real.spawn(pid, path, actions, attributes, words, start.env);
    end(&start, result == 0);
    return result;
}

EXPORT int posix_spawnp(pid_t *pid, const char *name,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const words[],
                        char *const env[])
{
    struct exec_start start;
    int result;

    begin(&start, IN_PATH, -1, name, env, true);
    result = real.spawn_in_path(pid, name, actions, attributes, words, start.env);
    end(&start, result == 0);
    return result;
}
