#pragma clang diagnostic ignored "-Wunused-parameter"

#include "wasm/port/port.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    errno = EINVAL;
    return -1;
}

int sched_getaffinity(int process, size_t len, cpu_set_t *set)
{
    *set = 1;
    return 0;
}

int fallocate(int file, int mode, off_t off, off_t len)
{
    errno = EINVAL;
    return -1;
}

int madvise(void *begin, size_t len, int advice)
{
    return 0; /* copies of files are not read again */
}

/* The end of what malloc() has. Memory grows in large steps: each makes the page's JavaScript look at it
 * anew, and its collector run. */
void *sbrk(intptr_t increment)
{
    enum { PAGE = 1 << 16, PAGES_MAX = (1 << 16) - 1, STEP_MIN = 256 };
    static size_t end;
    size_t pages = __builtin_wasm_memory_size(0), step;
    size_t size = (pages < PAGES_MAX ? pages : PAGES_MAX) * PAGE;

    if (end == 0)
        end = size;
    if (increment > 0 && (size_t)increment > size - end) {
        size_t missing = ((size_t)increment - (size - end)) / PAGE + 1;

        step = pages / 4 > STEP_MIN ? pages / 4 : STEP_MIN;
        if (pages + missing > PAGES_MAX ||
            ((missing > step || __builtin_wasm_memory_grow(0, step) == SIZE_MAX) &&
             __builtin_wasm_memory_grow(0, missing) == SIZE_MAX)) {
            errno = ENOMEM;
            return (void *)-1;
        }
    }
    end += (size_t)increment;
    return (void *)(end - (size_t)increment);
}

mode_t umask(mode_t mask)
{
    return 0;
}

int chmod(const char *path, mode_t mode)
{
    return 0;
}

uid_t geteuid(void)
{
    return 0;
}

/* Replace the six X at the end of a name; the next call has other letters. */
static void fill_in(char *name)
{
    static unsigned made;
    unsigned rest = made++;
    char *at = name + strlen(name);

    for (int i = 0; i < 6; i++, rest /= 26)
        *--at = (char)('a' + rest % 26);
}

char *mkdtemp(char *name)
{
    fill_in(name);
    return mkdir(name, 0700) == 0 ? name : NULL;
}

int mkostemp(char *name, int flags)
{
    fill_in(name);
    return open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}

/* There are no symbolic links: only "." and ".." and "//" are resolved. */
char *realpath(const char *path, char *out)
{
    size_t len = 0;
    struct stat st;

    if (stat(path, &st) < 0)
        return NULL;
    while (*path) {
        size_t part = strcspn(path, "/");

        if (part == 2 && path[0] == '.' && path[1] == '.') {
            while (len > 0 && out[--len] != '/') {
            }
        } else if (part > 0 && !(part == 1 && path[0] == '.')) {
            if (part + 1 >= PATH_MAX - len) {
                errno = ENAMETOOLONG;
                return NULL;
            }
            out[len++] = '/';
            memcpy(out + len, path, part);
            len += part;
        }
        path += part + (path[part] == '/');
    }
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return out;
}

struct port_sorting {
    char *list, *spare;
    size_t size;
    cn_port_compare compare;
    void *arg;
};

/* Merge two sorted runs; of equal elements the left one is first. */
static void merge(const struct port_sorting *sorting, size_t begin, size_t middle,
                  size_t end)
{
    const char *list = sorting->list;
    size_t size = sorting->size, left = begin, right = middle;
    char *out = sorting->spare;

    if (sorting->compare(list + (middle - 1) * size, list + middle * size,
                         sorting->arg) <= 0)
        return;
    while (left < middle || right < end) {
        bool takes_left =
            right == end ||
            (left < middle && sorting->compare(list + left * size, list + right * size,
                                               sorting->arg) <= 0);

        memcpy(out, list + (takes_left ? left++ : right++) * size, size);
        out += size;
    }
    memcpy(sorting->list + begin * size, sorting->spare, (end - begin) * size);
}

void qsort_r(void *list, size_t count, size_t size, cn_port_compare compare, void *arg)
{
    struct port_sorting sorting = {list, NULL, size, compare, arg};

    if (count < 2)
        return;
    sorting.spare = cn_alloc(count, size);
    for (size_t run = 1; run < count; run *= 2)
        for (size_t begin = 0; begin + run < count; begin += 2 * run)
            merge(&sorting, begin, begin + run,
                  begin + 2 * run < count ? begin + 2 * run : count);
    free(sorting.spare);
}

static int compare_alone(const void *a, const void *b, void *arg)
{
    int (*const *compare)(const void *, const void *) = arg;

    return (*compare)(a, b);
}

void cn_port_sort(void *list, size_t count, size_t size,
                  int (*compare)(const void *, const void *))
{
    qsort_r(list, count, size, compare_alone, &compare);
}
