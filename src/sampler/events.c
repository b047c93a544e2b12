#include "sampler/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

#define CACHE(cache, op, result) \
    ((uint64_t)(cache) | (uint64_t)(op) << 8 | (uint64_t)(result) << 16)

enum {
    READ = PERF_COUNT_HW_CACHE_OP_READ,
    ALL = PERF_COUNT_HW_CACHE_RESULT_ACCESS,
    MISS = PERF_COUNT_HW_CACHE_RESULT_MISS,
    EVENTS_MAX = 32,
};

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} known[] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_L1D, READ, ALL)},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
     CACHE(PERF_COUNT_HW_CACHE_L1D, READ, MISS)},
    {"L1-icache-load-misses", PERF_TYPE_HW_CACHE,
     CACHE(PERF_COUNT_HW_CACHE_L1I, READ, MISS)},
    {"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_LL, READ, ALL)},
    {"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_LL, READ, MISS)},
    {"dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_DTLB, READ, ALL)},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_DTLB, READ, MISS)},
    {"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_ITLB, READ, MISS)},
};

/* A raw event of the processor: r1a8, as perf writes it. */
static bool parse_raw(const char *name, uint64_t *config)
{
    char *end;

    if (name[0] != 'r' || !name[1])
        return false;
    errno = 0;
    *config = strtoull(name + 1, &end, 16);
    return *end == '\0' && errno == 0;
}

/* Open a file of tracepoints where tracefs is not mounted: root can have one of its own, which is in
 * no folder and ends with the call. NULL: it cannot. */
static FILE *open_unmounted(const char *path)
{
#if defined(SYS_fsopen) && defined(SYS_fsmount)
    int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount = -1, fd;
    FILE *file;

    if (context >= 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
    fd = mount >= 0 ? openat(mount, path, O_RDONLY | O_CLOEXEC) : -1;
    file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !file)
        (void)close(fd);
    if (mount >= 0)
        (void)close(mount);
    if (context >= 0)
        (void)close(context);
    return file;
#else
    (void)path;
    return NULL;
#endif
}

bool cn_sample_tracepoint(const char *name, uint64_t *config, struct cn_error *err)
{
    static const char *const roots[] = {"/sys/kernel/tracing",
                                        "/sys/kernel/debug/tracing"};
    const char *colon = strchr(name, ':');
    struct cn_text path = {0};
    FILE *file = NULL;
    char line[32] = "", *end;
    int error = ENOENT;

    if (strstr(name, ".."))
        return cn_fail(err, CN_ERR_USAGE, "-e '%s': not an event", name);
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]) && !file; i++) {
        cn_text_clear(&path);
        cn_text_printf(&path, "%s/events/%.*s/%s/id", roots[i], (int)(colon - name), name,
                       colon + 1);
        file = fopen(cn_text_str(&path), "re");
        error = file || error == EACCES ? error : errno;
    }
    if (!file) {
        cn_text_clear(&path);
        cn_text_printf(&path, "events/%.*s/%s/id", (int)(colon - name), name, colon + 1);
        file = open_unmounted(cn_text_str(&path));
    }
    cn_text_done(&path);
    /* Where tracefs is not mounted, root can read it all the same. */
    if (!file && (error == EACCES ||
                  (geteuid() != 0 && access("/sys/kernel/tracing/events", F_OK) &&
                   access("/sys/kernel/debug/tracing/events", F_OK))))
        return cn_fail(
            err, CN_ERR_IO,
            "-e '%s': tracepoints are for root: sudo cairn sample ..., or sudo "
            "mount -o remount,mode=755 /sys/kernel/tracing",
            name);
    if (!file)
        return cn_fail(err, CN_ERR_USAGE,
                       "-e '%s': no such tracepoint in /sys/kernel/tracing/events (is "
                       "tracefs mounted? sudo mount -t tracefs nodev "
                       "/sys/kernel/tracing)",
                       name);
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
    *config = strtoull(line, &end, 10);
    return end != line || cn_fail(err, CN_ERR_IO, "-e '%s': its id is unreadable", name);
}

static bool add_event(struct cn_sample_events *events, const char *name,
                      struct cn_error *err)
{
    struct cn_sample_event event = {.attr.size = sizeof(event.attr)};
    const size_t known_count = sizeof(known) / sizeof(known[0]);
    size_t i = 0;
    uint64_t config;

    if (events->count == EVENTS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "-e: more than %d events", EVENTS_MAX);
    while (i < known_count && strcmp(known[i].name, name) != 0)
        i++;
    if (i < known_count) {
        event.attr.type = known[i].type;
        event.attr.config = known[i].config;
    } else if (strchr(name, ':')) {
        if (!cn_sample_tracepoint(name, &config, err))
            return false;
        event.attr.type = PERF_TYPE_TRACEPOINT;
        event.attr.config = config;
        event.attr.sample_period = 1;
        event.is_waking = strcmp(name, CN_SAMPLE_WAKING) == 0;
        event.attr.sample_type = event.is_waking ? PERF_SAMPLE_RAW : 0;
    } else if (parse_raw(name, &config)) {
        event.attr.type = PERF_TYPE_RAW;
        event.attr.config = config;
    } else {
        return cn_fail(err, CN_ERR_USAGE,
                       "-e: unknown event '%s'; cpu-clock, page-faults, cycles, "
                       "instructions, cache-misses and tracepoints such as "
                       "sched:sched_switch are known",
                       name);
    }
    event.needs_pmu =
        event.attr.type != PERF_TYPE_SOFTWARE && event.attr.type != PERF_TYPE_TRACEPOINT;
    event.is_clock = event.attr.type == PERF_TYPE_SOFTWARE &&
                     (event.attr.config == PERF_COUNT_SW_CPU_CLOCK ||
                      event.attr.config == PERF_COUNT_SW_TASK_CLOCK);
    event.is_switch = event.attr.type == PERF_TYPE_SOFTWARE &&
                      event.attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
    event.name = cn_strdup(name);
    CN_PUSH(events->list, events->count, events->capacity, event);
    return true;
}

bool cn_sample_events_add(struct cn_sample_events *events, const char *names,
                          struct cn_error *err)
{
    char *copy = cn_strdup(names), *rest = copy, *name;
    bool ok = true;

    while (ok && (name = strsep(&rest, ",")))
        ok = add_event(events, name, err);
    free(copy);
    return ok;
}

void cn_sample_events_done(struct cn_sample_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        free(events->list[i].name);
    free(events->list);
    *events = (struct cn_sample_events){0};
}
