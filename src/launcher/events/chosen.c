#include "launcher/events/chosen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/name_filter.h"
#include "formats/uftrace/text/value_rules.h"
#include "launcher/elf/file.h"
#include "launcher/events/tracefs.h"
#include "model/calls/recording.h"

enum { REF_CTR_SHIFT = 32 }; /* of the semaphore in `config` of a uprobe */

static const char *const kind_names[] = {
    [CN_EVENT_KIND_SDT] = "SDT event",
    [CN_EVENT_KIND_SOFTWARE] = "software event",
    [CN_EVENT_KIND_TRACEPOINT] = "tracepoint",
};

static const struct {
    const char *name;
    uint64_t config;
} software[] = {
    {"software:page-faults", PERF_COUNT_SW_PAGE_FAULTS},
    {"software:minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"software:major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"software:context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"software:cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
    {"software:alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"software:emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
};

/* Events that need no perf event of their own: recorded by default, or by triggers. */
static const char *const scheduling[] = {"linux:schedule",  "linux:sched-in",
                                         "linux:sched-out", "linux:task-new",
                                         "linux:task-exit", "linux:task-name"};
static const char *const triggered[] = {"read:proc/statm", "read:page-fault",
                                        "diff:proc/statm", "diff:page-fault",
                                        "watch:cpu",       "watch:var"};

/* The type of uprobes; false when the kernel has none. */
static bool find_uprobe_type(uint32_t *out)
{
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    char line[32] = "", *end;

    if (file) {
        (void)!fgets(line, sizeof(line), file);
        (void)fclose(file);
    }
    *out = (uint32_t)strtoul(line, &end, 10);
    return end != line;
}

static struct cn_chosen_event *add(struct cn_chosen_events *events, const char *name,
                                   enum cn_event_kind kind)
{
    struct cn_chosen_event *event;

    CN_GROW(events->list, events->count, events->capacity);
    event = &events->list[events->count++];
    *event = (struct cn_chosen_event){.name = cn_strdup(name), .kind = kind};
    return event;
}

static void add_probes(struct cn_chosen_events *events, const char *program)
{
    size_t file_count = 0;
    struct cn_sdt_file *files = cn_sdt_files_read(program, &file_count);
    uint32_t type = 0;

    (void)find_uprobe_type(&type);
    for (size_t i = 0; i < file_count; i++) {
        for (size_t k = 0; k < files[i].count; k++) {
            const struct cn_sdt_probe *probe = &files[i].probes[k];
            struct cn_chosen_event *event = add(events, probe->name, CN_EVENT_KIND_SDT);

            event->path = cn_strdup(files[i].path);
            event->attr.type = type;
            event->attr.config = probe->semaphore_off << REF_CTR_SHIFT;
            event->attr.probe_offset = probe->off;
        }
    }
    cn_sdt_files_free(files, file_count);
}

static void add_software(struct cn_chosen_events *events)
{
    for (size_t i = 0; i < sizeof(software) / sizeof(software[0]); i++) {
        struct cn_chosen_event *event =
            add(events, software[i].name, CN_EVENT_KIND_SOFTWARE);

        event->attr.type = PERF_TYPE_SOFTWARE;
        event->attr.config = software[i].config;
    }
}

static bool add_tracepoints(struct cn_chosen_events *events, const char *root,
                            char **tracefs, struct cn_error *err)
{
    struct cn_text text = {0};
    char *rest, *line;
    bool ok = cn_tracefs_find(root, tracefs, err) &&
              cn_tracefs_read(*tracefs, "available_events", &text, err);

    rest = ok && text.len > 0 ? text.chars : NULL;
    while ((line = strsep(&rest, "\n"))) {
        if (strchr(line, ':'))
            (void)add(events, line, CN_EVENT_KIND_TRACEPOINT);
    }
    cn_text_done(&text);
    return ok;
}

static bool matches_any(const struct cn_name_filter *filter, const char *const *names,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cn_name_filter_matches(filter, names[i]))
            return true;
    return false;
}

/* Mark what a pattern chooses. */
static bool choose(struct cn_chosen_events *all, bool *is_chosen, const char *pattern,
                   bool is_glob, const struct cn_error *missing, struct cn_error *err)
{
    struct cn_name_filter filter = {0};
    bool has_found = false;

    if (!cn_name_filter_add(&filter, pattern, cn_uft_match_of(pattern, is_glob), err))
        return cn_fail_in(err, "--event");
    for (size_t i = 0; i < all->count; i++) {
        if (!is_chosen[i])
            is_chosen[i] = cn_name_filter_matches(&filter, all->list[i].name);
        has_found = has_found || is_chosen[i];
    }
    if (matches_any(&filter, scheduling, sizeof(scheduling) / sizeof(scheduling[0])))
        has_found = all->has_schedule = true;
    if (matches_any(&filter, triggered, sizeof(triggered) / sizeof(triggered[0])))
        has_found = true;
    cn_name_filter_done(&filter);
    if (!has_found)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "--event: no event matches '%s'%s%s; list events with "
                       "--list-event PROGRAM",
                       pattern,
                       missing->text[0] ? ", and there are no tracepoints: " : "",
                       missing->text);
    return true;
}

static void release(struct cn_chosen_event *event)
{
    free(event->name);
    free(event->path);
}

bool cn_chosen_events_find(struct cn_chosen_events *events, const char *program,
                           const char *const *patterns, size_t count, bool is_glob,
                           const char *tracefs, struct cn_error *err)
{
    struct cn_chosen_events all = {0};
    struct cn_error missing = {0};
    char *found = NULL;
    bool *is_chosen, ok = true;
    size_t kept = 0;

    add_probes(&all, program);
    add_software(&all);
    (void)!add_tracepoints(&all, tracefs, &found, &missing);
    is_chosen = cn_alloc(all.count + 1, sizeof(*is_chosen));
    for (size_t i = 0; i < count && ok; i++)
        ok = choose(&all, is_chosen, patterns[i], is_glob, &missing, err);
    for (size_t i = 0; i < all.count; i++) {
        struct cn_chosen_event *event = &all.list[i];

        if (!ok || !is_chosen[i]) {
            release(event);
            continue;
        }
        /* Consecutive numbers in the order of the list. */
        event->id = CN_EVENT_USER + (uint32_t)kept;
        for (size_t k = 0; k < kept; k++)
            if (strcmp(all.list[k].name, event->name) == 0)
                event->id = all.list[k].id;
        all.list[kept++] = *event;
    }
    all.count = kept;
    free(is_chosen);
    free(found);
    if (!ok) {
        cn_chosen_events_done(&all);
        return false;
    }
    *events = all;
    return true;
}

void cn_chosen_events_done(struct cn_chosen_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        release(&events->list[i]);
    free(events->list);
    *events = (struct cn_chosen_events){0};
}

int cn_chosen_event_open(const struct cn_chosen_event *event, pid_t pid, int cpu)
{
    struct perf_event_attr attr = event->attr;
    int fd;

    attr.size = sizeof(attr);
    attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.sample_period = 1;
    attr.disabled = attr.inherit = attr.enable_on_exec = attr.use_clockid = 1;
    attr.exclude_hv = 1;
    attr.clockid = CLOCK_MONOTONIC;
    if (event->path)
        attr.uprobe_path = (uint64_t)(uintptr_t)event->path;
    fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && (errno == EACCES || errno == EPERM) &&
        event->kind == CN_EVENT_KIND_SOFTWARE) {
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

bool cn_chosen_event_fail(const struct cn_chosen_event *event, struct cn_error *err)
{
    switch (errno) {
    case EACCES:
    case EPERM:
        return cn_fail(err, CN_ERR_IO, "cannot record %s: no permission; run as root%s",
                       event->name,
                       event->kind == CN_EVENT_KIND_SOFTWARE
                           ? ", or run: sysctl kernel.perf_event_paranoid=1"
                           : " or with the capability CAP_PERFMON");
    case EMFILE:
        return cn_fail(err, CN_ERR_LIMIT,
                       "cannot record %s: too many events; choose fewer, or raise ulimit "
                       "-n",
                       event->name);
    default:
        return cn_fail_errno(err, "cannot record %s", event->name);
    }
}

/* Why events of this kind cannot be recorded, if so. */
static void print_problem(const struct cn_chosen_events *all, enum cn_event_kind kind,
                          struct cn_text *out)
{
    struct cn_error err = {0};
    uint32_t type;
    int fd;

    for (size_t i = 0; i < all->count; i++) {
        struct cn_chosen_event event = all->list[i];

        if (event.kind != kind)
            continue;
        if (kind == CN_EVENT_KIND_SDT && !find_uprobe_type(&type)) {
            cn_text_printf(out, "[%s] cannot be recorded: the kernel has no uprobes\n",
                           kind_names[kind]);
            return;
        }
        fd = cn_chosen_event_open(&event, 0, -1);
        if (fd < 0) {
            (void)cn_chosen_event_fail(&event, &err);
            cn_text_printf(out, "[%s] %s\n", kind_names[kind], err.text);
        } else {
            (void)close(fd);
        }
        return;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct cn_chosen_event *x = a, *y = b;

    return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

void cn_chosen_events_print(const char *program, const char *tracefs, struct cn_text *out)
{
    struct cn_chosen_events all = {0};
    struct cn_error missing = {0};
    char *found = NULL;

    if (program)
        add_probes(&all, program);
    add_software(&all);
    bool has_tracepoints = add_tracepoints(&all, tracefs, &found, &missing);
    qsort(all.list, all.count, sizeof(*all.list), by_name);
    for (size_t i = 0; i < sizeof(scheduling) / sizeof(scheduling[0]); i++)
        cn_text_printf(out, "[kernel event] %s\n", scheduling[i]);
    for (size_t i = 0; i < all.count; i++)
        if (i == 0 || by_name(&all.list[i - 1], &all.list[i]) != 0)
            cn_text_printf(out, "[%s] %s\n", kind_names[all.list[i].kind],
                           all.list[i].name);
    print_problem(&all, CN_EVENT_KIND_SDT, out);
    print_problem(&all, CN_EVENT_KIND_SOFTWARE, out);
    if (!has_tracepoints)
        cn_text_printf(out, "[%s] none: %s\n", kind_names[CN_EVENT_KIND_TRACEPOINT],
                       missing.text);
    cn_chosen_events_done(&all);
    free(found);
}

void cn_chosen_events_print_ids(const struct cn_chosen_events *events,
                                struct cn_text *out)
{
    uint32_t next = CN_EVENT_USER;

    for (size_t i = 0; i < events->count; i++) {
        if (events->list[i].id < next || events->list[i].kind == CN_EVENT_KIND_TRACEPOINT)
            continue;
        cn_text_printf(out, "EVENT: %u %s\n", events->list[i].id, events->list[i].name);
        next = events->list[i].id + 1;
    }
}
