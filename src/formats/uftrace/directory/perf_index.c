/* The events of all processors, sorted by task and time, and the names of tasks. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/perf_index.h"
#include "formats/uftrace/text/scan.h"

/* Called for each event of a known task. */
typedef void (*event_fn)(void *arg, uint32_t task, uint64_t record,
                         const struct cn_uft_perf_event *event);

static void each_event(struct cn_uft_directory *dir, bool is_first, event_fn visit,
                       void *arg)
{
    struct cn_uft_perf_event event;
    struct cn_error err = {0};

    for (size_t i = 0; i < dir->perf_file_count; i++) {
        uint64_t off = 0, at;
        enum cn_step step;

        while (at = off,
               (step = cn_uft_perf_next(dir->perf_files[i], dir->rec.is_big_endian, &off,
                                        &event, &err)) == CN_ITEM) {
            uint32_t task =
                event.id == 0 ? CN_NONE : cn_recording_find_task(&dir->rec, event.tid);

            if (task != CN_NONE)
                visit(arg, task, (uint64_t)i << 48 | at / CN_UFT_PERF_ALIGN, &event);
        }
        if (step == CN_FAIL && is_first)
            cn_recording_warn(
                &dir->rec, true, "%s: %s",
                dir->sources[dir->source_count - dir->perf_file_count + i].name,
                err.text);
    }
}

bool cn_uft_perf_event_at(const struct cn_uft_directory *dir, uint64_t record,
                          struct cn_uft_perf_event *out)
{
    struct cn_error ignored;
    uint64_t off = (record & ((UINT64_C(1) << 48) - 1)) * CN_UFT_PERF_ALIGN;

    return cn_uft_perf_next(dir->perf_files[record >> 48], dir->rec.is_big_endian, &off,
                            out, &ignored) == CN_ITEM;
}

uint16_t cn_uft_perf_processor(const struct cn_uft_directory *dir, uint64_t record)
{
    uint32_t number = dir->perf_cpus[record >> 48];

    return number < UINT16_MAX ? (uint16_t)(number + 1) : 0;
}

bool cn_uft_perf_is_out(const struct cn_uft_perf_event *event)
{
    return event->id == CN_EVENT_SCHED_OUT || event->id == CN_EVENT_SCHED_OUT_PREEMPT;
}

static bool is_before(const void *dir, uint64_t index, uint64_t time_ns)
{
    const struct cn_uft_directory *d = dir;
    struct cn_uft_perf_event event = {0};

    (void)cn_uft_perf_event_at(d, d->perf_records[index], &event);
    return event.time_ns < time_ns;
}

bool cn_uft_perf_is_waiting(const struct cn_uft_directory *dir, uint32_t task,
                            uint64_t time_ns)
{
    struct cn_uft_perf_event out = {0}, in = {0};

    if (!dir->perf_begins)
        return false;
    uint64_t begin = dir->perf_begins[task];
    uint64_t end = dir->perf_begins[task + 1];
    uint64_t next = cn_search(begin, end, is_before, dir, time_ns);
    return next > begin && next < end &&
           cn_uft_perf_event_at(dir, dir->perf_records[next - 1], &out) &&
           cn_uft_perf_event_at(dir, dir->perf_records[next], &in) &&
           cn_uft_perf_is_out(&out) && in.id == CN_EVENT_SCHED_IN;
}

struct index_counting {
    struct cn_uft_directory *dir;
    uint64_t *name_times; /* of the last name of each task */
};

/* First pass: count the events of each task, and set its name and start. */
static void count_event(void *arg, uint32_t task, uint64_t record,
                        const struct cn_uft_perf_event *event)
{
    struct index_counting *c = arg;
    struct cn_task *t = &c->dir->tasks[task];

    (void)record;
    c->dir->perf_begins[task + 1]++;
    t->is_renamed = t->is_renamed || event->id == CN_EVENT_TASK_NAME;
    if (event->id == CN_EVENT_TASK_NAME && event->time_ns >= c->name_times[task]) {
        t->name = cn_uft_text_copy(&c->dir->rec.arena, event->name);
        c->name_times[task] = event->time_ns;
    }
    if ((event->id == CN_EVENT_TASK_NAME || event->id == CN_EVENT_TASK_NEW) &&
        (event->time_ns < t->time_ns || t->time_ns == 0))
        t->time_ns = event->time_ns;
}

/* Second pass: store the events; `fill` is the index of the next event of each task. */
struct index_filling {
    uint64_t *records;
    size_t *fill;
};

static void place_event(void *arg, uint32_t task, uint64_t record,
                        const struct cn_uft_perf_event *event)
{
    struct index_filling *f = arg;

    (void)event;
    f->records[f->fill[task]++] = record;
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct cn_uft_directory *dir = arg;
    const uint64_t *x = a, *y = b;
    struct cn_uft_perf_event first = {0}, second = {0};

    (void)cn_uft_perf_event_at(dir, *x, &first);
    (void)cn_uft_perf_event_at(dir, *y, &second);
    if (first.time_ns != second.time_ns)
        return first.time_ns < second.time_ns ? -1 : 1;
    return *x < *y ? -1 : 1;
}

static bool is_sorted(const struct cn_uft_directory *dir, const uint64_t *records,
                      size_t count)
{
    struct cn_uft_perf_event event = {0};
    uint64_t last = 0;

    for (size_t i = 0; i < count; i++) {
        (void)cn_uft_perf_event_at(dir, records[i], &event);
        if (event.time_ns < last)
            return false;
        last = event.time_ns;
    }
    return true;
}

void cn_uft_perf_build(struct cn_uft_directory *dir)
{
    struct index_counting counting = {.dir = dir};
    struct index_filling filling = {0};
    struct cn_uft_cpu_file *files =
        cn_uft_cpu_files(dir, "perf-cpu", CN_SOURCE_PERF, &dir->perf_file_count);
    size_t total = 0;

    dir->perf_files = cn_alloc(dir->perf_file_count, sizeof(*dir->perf_files));
    dir->perf_cpus = cn_alloc(dir->perf_file_count, sizeof(*dir->perf_cpus));
    for (size_t i = 0; i < dir->perf_file_count; i++) {
        dir->perf_files[i] = files[i].bytes;
        dir->perf_cpus[i] = files[i].cpu;
    }
    free(files);
    if (dir->perf_file_count == 0)
        return;
    dir->perf_begins = cn_alloc(dir->task_count + 1, sizeof(*dir->perf_begins));
    counting.name_times = cn_alloc(dir->task_count, sizeof(*counting.name_times));
    each_event(dir, true, count_event, &counting);
    free(counting.name_times);
    filling.fill = cn_alloc(dir->task_count, sizeof(*filling.fill));
    for (size_t i = 0; i < dir->task_count; i++) {
        filling.fill[i] = total;
        total += dir->perf_begins[i + 1];
        dir->perf_begins[i + 1] = total;
    }
    dir->perf_records = filling.records = cn_alloc(total, sizeof(*filling.records));
    each_event(dir, false, place_event, &filling);
    free(filling.fill);
    for (size_t i = 0; i < dir->task_count; i++) {
        uint64_t *records = dir->perf_records + dir->perf_begins[i];
        size_t count = dir->perf_begins[i + 1] - dir->perf_begins[i];

        if (!is_sorted(dir, records, count))
            qsort_r(records, count, sizeof(*records), by_time, dir);
    }
}
