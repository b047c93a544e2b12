/* What the sources use of Linux and wasi-libc does not declare; included before each of them.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_PORT_H
#define CN_WASM_PORT_PORT_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#ifndef O_TMPFILE
#define O_TMPFILE 0 /* a folder does not open for writing, so a named file is made */
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif
/* One processor. */
typedef int cpu_set_t;
#define CPU_COUNT(set) 1

int sched_getaffinity(int process, size_t len, cpu_set_t *set);

#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE  (1 << 1)

/* Fails with EINVAL, as on file systems that know no flags. */
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

/* Fails: there are no blocks. */
int fallocate(int file, int mode, off_t off, off_t len);

#define MADV_DONTNEED 4

int madvise(void *begin, size_t len, int advice);
mode_t umask(mode_t mask);
int chmod(const char *path, mode_t mode);
uid_t geteuid(void);
char *mkdtemp(char *name);
int mkostemp(char *name, int flags);
int fchmod(int file, mode_t mode);
char *realpath(const char *path, char *out); /* `out` is not NULL */

/* That of glibc, which returns the text. */
static inline char *cn_port_strerror_r(int number, char *buffer, size_t len)
{
    (void)buffer;
    (void)len;
    return strerror(number);
}
#define strerror_r cn_port_strerror_r

/* Stable, as those of glibc: answers do not depend on where they are computed. */
typedef int (*cn_port_compare)(const void *a, const void *b, void *arg);
void qsort_r(void *list, size_t count, size_t size, cn_port_compare compare, void *arg);
void cn_port_sort(void *list, size_t count, size_t size,
                  int (*compare)(const void *, const void *));
#define qsort cn_port_sort

#endif
