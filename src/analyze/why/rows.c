#include "analyze/why/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/significance.h"
#include "base/alloc.h"
#include "base/sort.h"

#define EXPLAINED_SHARE 0.9

const char *const cn_why_kind_names[CN_WHY_KINDS] = {
    [CN_WHY_RUNNING] = "running",
    [CN_WHY_BLOCKED] = "blocked",
    [CN_WHY_PREEMPTED] = "pre-empted",
    [CN_WHY_LOCK] = "lock",
    [CN_WHY_IO] = "I/O",
    [CN_WHY_SLEEP] = "sleep",
    [CN_WHY_MEMORY] = "memory",
};

/* Functions of the C library, system calls and the C++ library, without prefixes; "*": and
 * all that begin so. */
static const struct {
    enum cn_why_kind kind;
    const char *name;
} known_names[] = {
    {CN_WHY_LOCK, "pthread_mutex_*"},
    {CN_WHY_LOCK, "pthread_rwlock_*"},
    {CN_WHY_LOCK, "pthread_spin_*"},
    {CN_WHY_LOCK, "pthread_cond_*"},
    {CN_WHY_LOCK, "pthread_barrier_*"},
    {CN_WHY_LOCK, "pthread_join"},
    {CN_WHY_LOCK, "sem_*"},
    {CN_WHY_LOCK, "futex*"},
    {CN_WHY_LOCK, "do_futex"},
    {CN_WHY_LOCK, "lll_lock*"},
    {CN_WHY_LOCK, "mtx_*"},
    {CN_WHY_LOCK, "cnd_*"},
    {CN_WHY_LOCK, "std::mutex::*"},
    {CN_WHY_LOCK, "std::condition_variable::*"},
    {CN_WHY_LOCK, "flock"},
    {CN_WHY_LOCK, "mutex_lock*"},
    {CN_WHY_IO, "read"},
    {CN_WHY_IO, "pread*"},
    {CN_WHY_IO, "readv"},
    {CN_WHY_IO, "write"},
    {CN_WHY_IO, "pwrite*"},
    {CN_WHY_IO, "writev"},
    {CN_WHY_IO, "fsync"},
    {CN_WHY_IO, "fdatasync"},
    {CN_WHY_IO, "sync*"},
    {CN_WHY_IO, "msync"},
    {CN_WHY_IO, "poll"},
    {CN_WHY_IO, "ppoll"},
    {CN_WHY_IO, "select"},
    {CN_WHY_IO, "pselect*"},
    {CN_WHY_IO, "epoll_*"},
    {CN_WHY_IO, "recv"},
    {CN_WHY_IO, "recvfrom"},
    {CN_WHY_IO, "recvmsg"},
    {CN_WHY_IO, "recvmmsg"},
    {CN_WHY_IO, "send"},
    {CN_WHY_IO, "sendto"},
    {CN_WHY_IO, "sendmsg"},
    {CN_WHY_IO, "sendmmsg"},
    {CN_WHY_IO, "sendfile*"},
    {CN_WHY_IO, "accept*"},
    {CN_WHY_IO, "connect"},
    {CN_WHY_IO, "getaddrinfo"},
    {CN_WHY_IO, "open"},
    {CN_WHY_IO, "openat*"},
    {CN_WHY_IO, "close"},
    {CN_WHY_IO, "rename*"},
    {CN_WHY_IO, "unlink*"},
    {CN_WHY_IO, "fopen*"},
    {CN_WHY_IO, "fclose"},
    {CN_WHY_IO, "fread*"},
    {CN_WHY_IO, "fwrite*"},
    {CN_WHY_IO, "fflush*"},
    {CN_WHY_IO, "fgets*"},
    {CN_WHY_IO, "fputs*"},
    {CN_WHY_IO, "fprintf"},
    {CN_WHY_IO, "vfprintf"},
    {CN_WHY_IO, "getline"},
    {CN_WHY_IO, "io_uring_*"},
    {CN_WHY_SLEEP, "nanosleep"},
    {CN_WHY_SLEEP, "clock_nanosleep"},
    {CN_WHY_SLEEP, "usleep"},
    {CN_WHY_SLEEP, "sleep"},
    {CN_WHY_SLEEP, "sched_yield"},
    {CN_WHY_MEMORY, "malloc"},
    {CN_WHY_MEMORY, "calloc"},
    {CN_WHY_MEMORY, "realloc"},
    {CN_WHY_MEMORY, "free"},
    {CN_WHY_MEMORY, "posix_memalign"},
    {CN_WHY_MEMORY, "aligned_alloc"},
    {CN_WHY_MEMORY, "mmap*"},
    {CN_WHY_MEMORY, "munmap"},
    {CN_WHY_MEMORY, "brk"},
    {CN_WHY_MEMORY, "operator new*"},
    {CN_WHY_MEMORY, "operator delete*"},
};

static bool fits(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);

    return pattern[len - 1] == '*' ? strncmp(name, pattern, len - 1) == 0
                                   : strcmp(name, pattern) == 0;
}

enum cn_why_kind cn_why_kind_of(const char *name)
{
    static const char *const prefixes[] = {
        "__x64_sys_", "__arm64_sys_", "__se_sys_", "ksys_",
        "sys_",       "__GI_",        "__libc_",   "__"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t len = strlen(prefixes[i]);

        if (strncmp(name, prefixes[i], len) == 0) {
            name += len;
            break;
        }
    }
    for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
        if (fits(known_names[i].name, name))
            return known_names[i].kind;
    return CN_WHY_RUNNING;
}

/* Waiting, and functions called by a known one, are of its kind; pre-emption hits any. */
static enum cn_why_kind kind_of(const struct cn_why_context *context,
                                enum cn_why_kind above)
{
    if (!context->name)
        return context->is_preempted     ? CN_WHY_PREEMPTED
               : above != CN_WHY_RUNNING ? above
                                         : CN_WHY_BLOCKED;
    enum cn_why_kind own = cn_why_kind_of(context->name);
    return own != CN_WHY_RUNNING ? own : above;
}

static double mean(uint64_t sum, uint64_t count)
{
    return count > 0 ? (double)sum / (double)count : 0;
}

/* The variance of the mean of a group's self times in a context. */
static double mean_variance(const struct cn_why_cost *cost, uint64_t calls)
{
    double count = (double)calls, sum = (double)cost->self_ns;

    return fmax(cn_call_squares_sum(&cost->squares) - sum * sum / count, 0) /
           (count - 1) / count;
}

/* Processors differ in the last digits. */
static double whole_ps(double ns)
{
    return round(ns * 1000) / 1000;
}

/* Adds the variance of the difference of a row's means, and its square by degrees of freedom. */
static void add_variance(double *variance, double *rest, double more, double freedom)
{
    *variance += more;
    *rest += more * more / freedom;
}

/* The difference of a row with its error: `inner` calls are those that the context makes, per call
 * of the function. */
static struct cn_difference test_row(const struct cn_why_row *row,
                                     const struct cn_why *why,
                                     const double inner[CN_WHY_GROUPS])
{
    /* Of the recorder's cost, and how well that is known: as in call_evidence.c. */
    const double share_unknown = 0.1, recorder_freedom = 4;
    double inside_ns = (double)why->recorder.inner_ps / 1000;
    double outside_ns = (double)why->recorder.call_ps / 1000 - inside_ns;
    double recorder_ns =
        share_unknown *
        (inside_ns * (row->calls[CN_WHY_SLOW] - row->calls[CN_WHY_TYPICAL]) +
         outside_ns * (inner[CN_WHY_SLOW] - inner[CN_WHY_TYPICAL]));
    double variance = 0, rest = 0;

    for (int k = 0; k < CN_WHY_GROUPS; k++) {
        uint64_t calls = why->groups[k].count;

        if (calls < 2)
            return (struct cn_difference){row->difference_ns, NAN, 1};
        add_variance(&variance, &rest,
                     mean_variance(&why->contexts[row->context].costs[k], calls),
                     (double)(calls - 1));
    }
    add_variance(&variance, &rest, recorder_ns * recorder_ns, recorder_freedom);
    return cn_sum_test(row->difference_ns, variance, rest);
}

/* The errors of the differences, and which of them are noise: of those that are not, at most a
 * share `level` is wrong, however many contexts there are. That slow calls take longer is certain,
 * and there may be no more than five: so `level` is larger than that of comparisons of runs. */
static void find_errors(struct cn_why_rows *rows, const struct cn_why *why)
{
    static const double level = 0.05;
    double(*inner)[CN_WHY_GROUPS] = cn_alloc(rows->count, sizeof(*inner));
    double *p = cn_alloc(rows->count, sizeof(*p)),
           *tested = cn_alloc(rows->count, sizeof(*tested)), limit;
    size_t tested_count = 0;

    for (size_t i = rows->count; i-- > 1;)
        for (int k = 0; k < CN_WHY_GROUPS && why->contexts[i].name; k++)
            inner[why->contexts[i].parent][k] += rows->list[i].calls[k];
    for (size_t i = 0; i < rows->count; i++) {
        struct cn_why_row *row = &rows->list[i];
        const struct cn_why_cost *costs = why->contexts[i].costs;
        struct cn_difference found = test_row(row, why, inner[i]);

        row->error_ns = whole_ps(found.half_width);
        row->is_noise = !isnan(found.half_width) && (costs[CN_WHY_SLOW].calls > 0) ==
                                                        (costs[CN_WHY_TYPICAL].calls > 0);
        p[i] = found.p;
        if (row->is_noise)
            tested[tested_count++] = found.p;
    }
    limit = cn_significant_p(tested, tested_count, level);
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].is_noise = rows->list[i].is_noise && p[i] > limit;
    free(inner);
    free(p);
    free(tested);
}

void cn_why_rows_build(struct cn_why_rows *rows, const struct cn_why *why,
                       const char *name)
{
    double whole, explained = 0;

    *rows = (struct cn_why_rows){
        .list = cn_alloc(why->context_count, sizeof(*rows->list)),
        .count = why->context_count,
    };
    for (int k = 0; k < CN_WHY_GROUPS; k++)
        rows->mean_ns[k] = mean(why->groups[k].total_ns, why->groups[k].count);
    whole = rows->mean_ns[CN_WHY_SLOW] - rows->mean_ns[CN_WHY_TYPICAL];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cn_why_context *context = &why->contexts[i];
        struct cn_why_row *row = &rows->list[i];

        row->context = i;
        /* Parents come first, and the list is in the order of contexts. */
        row->kind = i == 0 ? cn_why_kind_of(name)
                           : kind_of(context, rows->list[context->parent].kind);
        for (int k = 0; k < CN_WHY_GROUPS; k++) {
            row->self_ns[k] = mean(context->costs[k].self_ns, why->groups[k].count);
            row->calls[k] = mean(context->costs[k].calls, why->groups[k].count);
            rows->kinds_ns[row->kind][k] += row->self_ns[k];
            row->total_ns[k] = row->self_ns[k];
            if (i > 0 && context->name)
                rows->inner_calls[k] += row->calls[k];
        }
        row->difference_ns = row->self_ns[CN_WHY_SLOW] - row->self_ns[CN_WHY_TYPICAL];
        row->share = whole > 0 ? row->difference_ns / whole : 0;
    }
    for (size_t i = rows->count; i-- > 1;)
        for (int k = 0; k < CN_WHY_GROUPS; k++)
            rows->list[why->contexts[i].parent].total_ns[k] += rows->list[i].total_ns[k];
    find_errors(rows, why);
    CN_SORT(rows->list, rows->count, CN_UP(struct cn_why_row, is_noise),
            CN_DOWN(struct cn_why_row, difference_ns), CN_UP(struct cn_why_row, context));
    while (rows->explaining_count < rows->count && explained < EXPLAINED_SHARE &&
           !rows->list[rows->explaining_count].is_noise &&
           rows->list[rows->explaining_count].share > 0)
        explained += rows->list[rows->explaining_count++].share;
    rows->explained = explained;
}

const struct cn_why_row *cn_why_rows_narrow(const struct cn_why_rows *rows,
                                            const struct cn_why *why, double share)
{
    double whole = rows->mean_ns[CN_WHY_SLOW] - rows->mean_ns[CN_WHY_TYPICAL];
    const struct cn_why_row **of = cn_alloc(rows->count, sizeof(*of)), *found;
    uint32_t at = 0;

    for (size_t i = 0; i < rows->count; i++)
        of[rows->list[i].context] = &rows->list[i];
    /* At most one child has more than half; children come after their parents. */
    for (uint32_t i = 1; i < rows->count; i++)
        if (why->contexts[i].parent == at &&
            of[i]->total_ns[CN_WHY_SLOW] - of[i]->total_ns[CN_WHY_TYPICAL] >=
                share * whole)
            at = i;
    found = rows->count > 0 ? of[at] : NULL;
    free(of);
    return found;
}

void cn_why_rows_done(struct cn_why_rows *rows)
{
    free(rows->list);
    *rows = (struct cn_why_rows){0};
}
