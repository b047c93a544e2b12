/* The call chain of a sample is a context, its period a value of the metric of its event, its time
 * a sample of the timeline of its thread. */

#include "formats/exchange/perf/reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/exchange/perf/address_space.h"
#include "formats/exchange/perf/gpu.h"
#include "formats/exchange/perf/hints.h"
#include "formats/exchange/perf/io.h"
#include "formats/exchange/perf/locks.h"
#include "formats/exchange/perf/memory.h"
#include "formats/exchange/perf/names.h"
#include "formats/exchange/perf/read.h"
#include "formats/exchange/perf/stack.h"
#include "formats/exchange/perf/threads.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"
#include "symbols/program/resolver.h"

#define NS_PER_S UINT64_C(1000000000)

/* What a call chain stands for. */
struct perf_chain {
    struct cn_perf_spot spot;
    bool is_of_time; /* the same chain may be another one later */
    bool is_futex;   /* it waits for a lock, if it waits */
    bool is_whole;   /* it reaches the start of its thread */
    const char
        *unnamed; /* the module of its innermost function without a name, or NULL */
};

struct perf_reading {
    struct cn_import *import;
    struct cn_perf_file file;
    struct cn_perf_spaces spaces;
    struct cn_perf_names names;
    struct cn_perf_threads threads;
    uint32_t metrics[CN_PERF_EVENT_MAX];
    double scales[CN_PERF_EVENT_MAX];
    enum cn_perf_sample_kind kinds[CN_PERF_EVENT_MAX];
    enum cn_perf_sched_kind sched[CN_PERF_EVENT_MAX];
    enum cn_perf_io_kind io_kinds[CN_PERF_EVENT_MAX];
    struct cn_map
        chain_of; /* by call chain, mode and generation of the process: `chains` */
    struct perf_chain *chains;
    size_t chain_count, chain_capacity;
    uint64_t lost_count;
    uint64_t good_count, bad_count; /* samples */
    uint64_t whole_count;           /* of the good ones */
    struct cn_error damage;         /* of the first bad one */
    struct cn_perf_stacks stacks;
    struct cn_perf_locks locks;
    struct cn_perf_counters counters;
    struct cn_perf_hints hints;
    struct cn_perf_gpu_work gpu;
    struct cn_perf_heap heap;
    struct cn_perf_io io;
};

/* Stripped C libraries have no names of what starts a thread: __libc_start_call_main below
 * _start and __libc_start_main, start_thread below clone3. They say nothing of a program. */
static bool is_start_of_libc(const char *module, size_t callers)
{
    return callers <= 2 && strncmp(cn_path_name(module), "libc.so", 7) == 0;
}

/* The context of a sample: its call chain, and the line of the innermost frame. A chain
 * begins with the innermost address. The others are return addresses: the call is before
 * them. The first address of the user below those of the kernel was interrupted; the innermost one is
 * a return address as well if `is_interrupted` is false: the chain of a call. The outermost one is
 * below `base`; CN_NONE: below the start of its thread, and the ranges of `node` there. */
static struct perf_chain resolve_chain(struct perf_reading *r,
                                       const struct cn_perf_sample *sample,
                                       const struct cn_perf_process *process,
                                       bool is_kernel, bool is_interrupted, uint32_t base,
                                       uint32_t node)
{
    size_t count = sample->chain.len / 8, depth = 0;
    uint32_t stack[CN_IMPORT_DEPTH_MAX], context;
    struct cn_perf_frames innermost = {0}, outermost = {0};
    struct perf_chain chain = {0};
    bool is_below_start = false; /* stripped programs have no name of their start */
    bool has_line = is_interrupted;
    struct cn_perf_futex_signs signs = {0};
    size_t frames = 0, unnamed_at = 0;

    for (size_t i = 0; i < (count ? count : 1); i++) {
        uint64_t ip = count ? cn_u64_get(sample->chain.ptr + 8 * i) : sample->ip;

        if (ip >= CN_PERF_CONTEXT_FIRST) {
            is_kernel = ip == CN_PERF_CONTEXT_KERNEL || ip == CN_PERF_CONTEXT_HV;
            is_interrupted = true;
            continue;
        }
        ip -= !is_interrupted && ip > 0;
        is_interrupted = false;
        is_below_start = outermost.is_main_caller;
        outermost = is_kernel ? *cn_perf_names_kernel(&r->names, ip)
                              : *cn_perf_names_user(&r->names, sample->pid, process, ip,
                                                    sample->time_ns);
        chain.is_of_time = chain.is_of_time || outermost.is_of_time;
        cn_perf_futex_see(&signs, &outermost, is_kernel);
        if (depth == 0)
            innermost = outermost;
        frames++;
        if (!chain.unnamed && outermost.unnamed) {
            chain.unnamed = outermost.unnamed;
            unnamed_at = frames;
        }
        for (uint32_t k = outermost.count; k-- > 0 && depth < CN_IMPORT_DEPTH_MAX;)
            stack[depth++] = r->names.frames[outermost.first + k];
    }
    if (depth == CN_IMPORT_DEPTH_MAX)
        outermost.entry = CN_ENTRY_UNKNOWN;
    else if (is_below_start)
        outermost.entry = CN_ENTRY_MAIN_THREAD;
    if (unnamed_at > 1 && is_start_of_libc(chain.unnamed, frames - unnamed_at))
        chain.unnamed = NULL;
    chain.is_futex = cn_perf_futex_is(&signs);
    chain.is_whole = outermost.entry != CN_ENTRY_UNKNOWN;
    context = base != CN_NONE
                  ? base
                  : cn_perf_gpu_range_context(
                        &r->gpu, cn_import_entry(r->import, outermost.entry), node);
    while (depth > 0)
        context = cn_import_call(r->import, context, stack[--depth]);
    if (innermost.file && has_line)
        context = cn_import_line(r->import, context, innermost.file, innermost.line);
    chain.spot.context = context;
    if (innermost.module && !innermost.is_of_time && has_line)
        chain.spot.point = 1 + cn_import_point(r->import, context, innermost.module,
                                               innermost.build_id, innermost.offset);
    return chain;
}

/* Chains are repeated: each is resolved once. */
static struct perf_chain chain_of(struct perf_reading *r,
                                  const struct cn_perf_sample *sample, bool is_kernel)
{
    const struct cn_perf_process *process = cn_perf_process_at(&r->spaces, sample->pid);
    uint32_t node =
        cn_perf_gpu_ranges_at(&r->gpu, sample->pid, sample->tid, sample->time_ns);
    uint64_t seed = ((uint64_t)process->generation << 1 | is_kernel) ^ (uint64_t)node
                                                                           << 32;
    uint64_t key = sample->chain.len > 0
                       ? XXH3_64bits_withSeed(sample->chain.ptr, sample->chain.len, seed)
                       : XXH3_64bits_withSeed(&sample->ip, sizeof(sample->ip), seed);
    uint32_t at = cn_map_find(&r->chain_of, key, UINT32_MAX);

    if (at != UINT32_MAX)
        return r->chains[at];
    struct perf_chain chain =
        resolve_chain(r, sample, process, is_kernel, true, CN_NONE, node);
    if (!chain.is_of_time) {
        *cn_map_at(&r->chain_of, key, 0) = (uint32_t)r->chain_count;
        CN_PUSH(r->chains, r->chain_count, r->chain_capacity, chain);
    }
    return chain;
}

static bool add_value(struct perf_reading *r, uint32_t thread, struct cn_perf_spot spot,
                      struct cn_perf_counted counted, struct cn_error *err)
{
    uint32_t number = cn_perf_threads_number(&r->threads, thread);
    uint32_t metric = r->metrics[counted.event];
    double value = (double)counted.value * r->scales[counted.event];

    if (spot.point > 0)
        cn_import_add_point(r->import, number, spot.point - 1, metric, value);
    return cn_import_add(r->import, number, spot.context, metric, value, err);
}

/* Clocks count nanoseconds. Counters of the processor are read as often as their frequency says, at
 * least while their period follows it. */
static uint64_t tick_of(const struct perf_reading *r, const struct cn_perf_sample *sample)
{
    const struct cn_perf_attr *attr = &r->file.events[sample->event].attr;

    if (r->kinds[sample->event] == CN_PERF_OF_CLOCK)
        return sample->period;
    return r->kinds[sample->event] == CN_PERF_OF_WORK &&
                   attr->type != CN_PERF_TYPE_TRACEPOINT &&
                   attr->flags & CN_PERF_FLAG_FREQ && attr->sample_period > 0
               ? NS_PER_S / attr->sample_period
               : 0;
}

/* A wake-up of a file whose threads are known from switches: it belongs to the thread that ran, and what
 * an interrupt stopped is no work of it. */
static bool add_waking(struct perf_reading *r, const struct cn_perf_sample *sample,
                       bool is_kernel, struct cn_error *err)
{
    bool is_known = cn_perf_threads_knows(&r->threads, sample->tid);
    struct cn_perf_spot spot = chain_of(r, sample, is_kernel).spot;
    uint32_t thread;

    cn_perf_threads_schedule(&r->threads, sample, CN_PERF_SCHED_WAKE, spot.context);
    return !is_known ||
           (cn_perf_threads_of(&r->threads, sample, &thread, err) &&
            add_value(r, thread, spot,
                      (struct cn_perf_counted){sample->event, sample->period}, err));
}

/* A system call has a context if it is shown. */
static bool add_io(struct perf_reading *r, enum cn_perf_io_kind kind,
                   const struct cn_perf_sample *sample, bool is_kernel,
                   struct cn_error *err)
{
    bool is_shown = cn_perf_io_is_shown(&r->io, kind, sample);
    uint32_t thread;

    /* It ends in a thread that it has nothing to do with. */
    if (kind == CN_PERF_IO_COMPLETE) {
        cn_perf_io_take(&r->io, kind, sample, 0, 0);
        return true;
    }
    if (!cn_perf_threads_of(&r->threads, sample, &thread, err))
        return false;
    cn_perf_io_take(&r->io, kind, sample, cn_perf_threads_number(&r->threads, thread),
                    is_shown ? chain_of(r, sample, is_kernel).spot.context : 0);
    return true;
}

static bool add_sample(struct perf_reading *r, const struct cn_perf_record *record,
                       struct cn_error *err)
{
    bool is_kernel = (record->head.misc & CN_PERF_MODE_MASK) == CN_PERF_MODE_KERNEL;
    bool has_counters = false;
    struct cn_perf_counted counted;
    struct cn_perf_sample sample;
    uint32_t thread;

    if (!cn_perf_sample_decode(&r->file, record, &sample, err))
        return false;
    cn_perf_threads_identify(&r->threads, &sample, r->sched[sample.event]);
    cn_perf_stack_complete(&r->stacks, &r->file, &r->spaces, &sample);
    if (r->io_kinds[sample.event] != CN_PERF_NOT_IO)
        return add_io(r, r->io_kinds[sample.event], &sample, is_kernel, err);
    if (r->sched[sample.event] == CN_PERF_SCHED_WAKE && r->threads.has_states)
        return add_waking(r, &sample, is_kernel, err);
    if (!cn_perf_threads_of(&r->threads, &sample, &thread, err))
        return false;
    struct perf_chain chain = chain_of(r, &sample, is_kernel);
    struct cn_perf_spot spot = chain.spot;
    r->whole_count += chain.is_whole;
    cn_perf_hints_count(&r->hints, chain.unnamed);
    cn_perf_threads_sample(&r->threads, thread, &sample, r->kinds[sample.event],
                           tick_of(r, &sample), spot);
    if (chain.is_futex && r->kinds[sample.event] == CN_PERF_OF_SWITCH)
        cn_perf_threads_lock(&r->threads, thread,
                             cn_perf_lock_of(&r->locks, &r->names, &sample));
    if (r->sched[sample.event] != CN_PERF_NOT_SCHED)
        cn_perf_threads_schedule(&r->threads, &sample, r->sched[sample.event],
                                 spot.context);
    /* Counters that were read are exact, and those of other events of the group too. */
    while (cn_perf_read_next(&r->counters, &r->file, &sample, &counted)) {
        has_counters = true;
        if (counted.value > 0 && !add_value(r, thread, spot, counted, err))
            return false;
    }
    counted = (struct cn_perf_counted){sample.event, sample.period};
    return has_counters || add_value(r, thread, spot, counted, err);
}

/* The length of a name without modifiers: "cpu-clock" of "cpu-clock:pppH". Tracepoints have
 * a colon as well: "sched:sched_switch". */
static size_t base_len(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon && colon[1 + strspn(colon + 1, "ukhIGHpPSDWeb")] == '\0'
               ? (size_t)(colon - name)
               : strlen(name);
}

/* How much was counted between two samples is in each of them, or the same for all. */
static bool has_period(const struct cn_perf_attr *attr)
{
    return attr->sample_type & CN_PERF_HAS_PERIOD || !(attr->flags & CN_PERF_FLAG_FREQ);
}

static bool is_switch(const struct cn_perf_attr *attr, const char *name)
{
    return (attr->type == CN_PERF_TYPE_SOFTWARE &&
            attr->config == CN_PERF_SOFTWARE_SWITCHES) ||
           cn_perf_sched_named(name) == CN_PERF_SCHED_SWITCH;
}

/* Clocks count nanoseconds. */
static bool add_metric(struct perf_reading *r, uint32_t event, struct cn_error *err)
{
    const struct cn_perf_attr *attr = &r->file.events[event].attr;
    const char *name = r->file.events[event].name;
    struct cn_text text = {0};
    bool is_clock, ok;

    cn_text_add(&text, name, base_len(name));
    is_clock =
        strcmp(text.chars, "cpu-clock") == 0 || strcmp(text.chars, "task-clock") == 0;
    r->scales[event] = is_clock ? 1e-9 : 1;
    r->kinds[event] = is_clock ? has_period(attr) ? CN_PERF_OF_CLOCK : CN_PERF_OF_WORK
                      : is_switch(attr, text.chars) ? CN_PERF_OF_SWITCH
                                                    : CN_PERF_OF_OTHER;
    r->sched[event] = cn_perf_sched_of(&r->file.events[event]);
    if (is_clock)
        cn_text_str_add(&text, " (sec)");
    ok = cn_import_metric(r->import, text.chars, &r->metrics[event], err);
    cn_text_done(&text);
    return ok;
}

/* An event that only carries records is no metric: it has no samples. System calls have metrics of
 * their own. */
static bool has_no_metric(const struct perf_reading *r, uint32_t event)
{
    const struct cn_perf_attr *attr = &r->file.events[event].attr;

    return r->io_kinds[event] != CN_PERF_NOT_IO ||
           (attr->type == CN_PERF_TYPE_SOFTWARE &&
            attr->config == CN_PERF_SOFTWARE_DUMMY);
}

static bool add_metrics(struct perf_reading *r, struct cn_error *err)
{
    bool has_clock = false;

    for (uint32_t i = 0; i < r->file.event_count; i++) {
        r->io_kinds[i] = cn_perf_io_of(&r->file, i);
        r->spaces.has_memory = r->spaces.has_memory ||
                               r->io_kinds[i] == CN_PERF_IO_MINOR ||
                               r->io_kinds[i] == CN_PERF_IO_MAJOR;
        if (has_no_metric(r, i))
            r->kinds[i] = CN_PERF_OF_OTHER;
        else if (!add_metric(r, i, err))
            return false;
        has_clock = has_clock || r->kinds[i] == CN_PERF_OF_CLOCK ||
                    r->kinds[i] == CN_PERF_OF_WORK;
    }
    /* Without a clock, the first event that counts says where a thread spends its time. */
    for (uint32_t i = 0; i < r->file.event_count && !has_clock; i++)
        if (r->kinds[i] == CN_PERF_OF_OTHER && !has_no_metric(r, i)) {
            r->kinds[i] = CN_PERF_OF_WORK;
            has_clock = true;
        }
    return true;
}

/* A damaged sample does not hide the others. */
static bool take_sample(struct perf_reading *r, const struct cn_perf_record *record,
                        struct cn_error *err)
{
    bool ok = add_sample(r, record, err);

    r->good_count += ok;
    if (ok)
        return true;
    (void)cn_perf_fail_at(&r->file, record->off, err);
    if (err->kind != CN_ERR_FORMAT)
        return false;
    if (r->bad_count++ == 0)
        r->damage = *err;
    return true;
}

/* The context of a call, from return addresses. */
static uint32_t call_context(struct perf_reading *r, uint64_t time_ns, uint32_t pid,
                             struct cn_bytes addresses, uint32_t base, uint32_t node)
{
    struct cn_perf_sample sample = {.pid = pid, .chain = addresses, .time_ns = time_ns};

    if (addresses.len == 0)
        return CN_NONE;
    return resolve_chain(r, &sample, cn_perf_process_at(&r->spaces, pid), false, false,
                         base, node)
        .spot.context;
}

static uint32_t launch_context(void *arg, uint32_t pid, struct cn_bytes addresses,
                               uint32_t base, uint32_t node)
{
    struct perf_reading *r = arg;

    return call_context(r, r->gpu.time_ns, pid, addresses, base, node);
}

static uint32_t alloc_context(void *arg, uint32_t pid, struct cn_bytes addresses,
                              uint32_t base, uint32_t node)
{
    struct perf_reading *r = arg;

    return call_context(r, r->heap.time_ns, pid, addresses, base, node);
}

/* Of the rest of the file: ranges are recorded after samples that were taken in them. */
static bool read_ranges(struct perf_reading *r, struct cn_error *err)
{
    size_t next = r->file.next;
    struct cn_perf_record record;
    enum cn_step step;
    bool ok = true;

    while (ok && (step = cn_perf_next(&r->file, &record, err)) == CN_ITEM)
        if (record.head.type == CN_PERF_HEADER_EVENT_TYPE &&
            !cn_perf_memory_is(&record) && !cn_perf_io_is(&record))
            ok = cn_perf_gpu_ranges_take(&r->gpu, &record, err);
    r->file.next = next;
    cn_perf_gpu_ranges_end(&r->gpu);
    return ok && step == CN_END;
}

/* True if a record is for system calls alone. */
static bool take_io_record(struct perf_reading *r, const struct cn_perf_record *record)
{
    bool is_name =
        record->head.type == CN_PERF_HEADER_EVENT_TYPE && cn_perf_io_is(record);

    if (record->head.type != CN_PERF_HEADER_EVENT_TYPE || is_name)
        cn_perf_io_take_record(&r->io, &r->file, record);
    return is_name;
}

static bool read_records(struct perf_reading *r, struct cn_error *err)
{
    struct cn_perf_record record;
    enum cn_step step;

    while ((step = cn_perf_next(&r->file, &record, err)) == CN_ITEM) {
        if (!cn_import_report(r->import, r->file.next, r->file.order_count, "records",
                              err))
            return false;
        if (record.head.type != CN_PERF_SAMPLE && take_io_record(r, &record))
            continue;
        if (record.head.type == CN_PERF_LOST && record.body.len >= 16)
            r->lost_count += cn_u64_get(record.body.ptr + 8);
        else if (record.head.type == CN_PERF_LOST_SAMPLES && record.body.len >= 8)
            r->lost_count += cn_u64_get(record.body.ptr);
        else if (record.head.type == CN_PERF_SAMPLE && !take_sample(r, &record, err))
            return false;
        else if (record.head.type == CN_PERF_HEADER_EVENT_TYPE) {
            if (cn_perf_memory_is(&record)) {
                if (!cn_perf_memory_take(&r->heap, &record, err))
                    return false;
            } else if (!cn_perf_gpu_take(&r->gpu, &record, err) ||
                       (cn_perf_gpu_wants_ranges(&r->gpu) && !read_ranges(r, err))) {
                return false;
            }
        } else if (record.head.type != CN_PERF_SAMPLE) {
            cn_perf_spaces_take(&r->spaces, &r->file, &record);
            cn_perf_threads_take(&r->threads, &r->file, &record);
        }
    }
    if (step == CN_END && r->good_count == 0 && r->bad_count > 0) {
        *err = r->damage;
        return false;
    }
    return step == CN_END && cn_perf_threads_finish(&r->threads, err) &&
           cn_perf_gpu_finish(&r->gpu, err) && cn_perf_memory_finish(&r->heap, err) &&
           cn_perf_io_finish(&r->io, err);
}

static void add_hints(const struct perf_reading *r)
{
    struct cn_text lines = {0};
    char *rest, *line;

    cn_perf_hints_print(&r->hints, &lines);
    cn_resolver_hint(r->names.symbols->resolver, &lines);
    if (r->names.symbols->hints)
        cn_text_str_add(r->names.symbols->hints, cn_text_str(&lines));
    rest = lines.chars;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            cn_import_warn(r->import, false, "%s", line);
    cn_text_done(&lines);
}

static void add_warnings(const struct perf_reading *r)
{
    if (r->file.damage.kind != CN_ERR_NONE)
        cn_import_warn(r->import, true, "%s; read up to there", r->file.damage.text);
    if (r->bad_count > 0)
        cn_import_warn(r->import, true,
                       "samples that cannot be read: %" PRIu64 ", the first: %s",
                       r->bad_count, r->damage.text);
    if (r->file.bad_feature.kind != CN_ERR_NONE)
        cn_import_warn(r->import, true,
                       "%s; names and facts stored in the file are missing",
                       r->file.bad_feature.text);
    if (r->file.cut_len > 0)
        cn_import_warn(r->import, true,
                       "the last %" PRIu64 " bytes are not read: the file is cut off, or "
                       "the program that wrote it was killed",
                       r->file.cut_len);
    if (r->lost_count > 0)
        cn_import_warn(r->import, false, "%" PRIu64 " %s lost while recording",
                       r->lost_count,
                       cn_plural(r->lost_count, "record was", "records were"));
    cn_perf_stacks_warn(&r->stacks, r->import);
    cn_perf_names_warn(&r->names);
    add_hints(r);
}

/* Some event asked for records of switches. */
static bool has_switches(const struct cn_perf_file *file)
{
    for (uint32_t i = 0; i < file->event_count; i++)
        if (file->events[i].attr.flags & CN_PERF_FLAG_SWITCH)
            return true;
    return false;
}

static bool has_monotonic_clock(const struct cn_perf_file *file)
{
    return file->event_count > 0 &&
           file->events[0].attr.flags & CN_PERF_FLAG_USE_CLOCKID &&
           file->events[0].attr.clockid == CN_PERF_CLOCK_MONOTONIC;
}

/* How complete the stacks are; which of them are whole is better known by who took them. */
static void count_stacks(struct perf_reading *r)
{
    struct cn_origin *origin = &r->file.origin;

    if (origin->stack_count == 0) {
        origin->stack_count = r->good_count;
        origin->whole_count = r->whole_count;
    }
    origin->unnamed_count = 0;
    for (size_t i = 0; i < r->hints.modules.count; i++)
        origin->unnamed_count += r->hints.counts[i];
    if (origin->unnamed_count > origin->stack_count)
        origin->unnamed_count = origin->stack_count;
    if (r->lost_count > origin->lost_count)
        origin->lost_count = r->lost_count;
}

bool cn_perf_read_rank(struct cn_import *import, struct cn_perf_symbols *symbols,
                       struct cn_perf_latency *latency, struct cn_bytes bytes,
                       const struct cn_perf_part *parts, size_t part_count, uint64_t rank,
                       struct cn_error *err)
{
    struct perf_reading r = {.import = import};

    if (!cn_perf_file_open(&r.file, bytes, parts, part_count, err))
        return false;
    cn_perf_gpu_init(&r.gpu, import, &r.threads, launch_context, &r);
    r.gpu.finds_names = symbols->kept != NULL;
    cn_perf_memory_init(&r.heap, import, &r.threads, alloc_context, &r);
    cn_perf_io_init(&r.io, import, &r.file, &r.spaces);
    /* Compressed files have no build-ids: perf does not read their samples. */
    cn_perf_names_init(
        &r.names, import, symbols, &r.spaces, &r.file,
        cn_kernel_is_running(cn_perf_build_id(&r.file, "[kernel.kallsyms]"),
                             r.file.origin.kernel ? r.file.origin.kernel : ""),
        has_monotonic_clock(&r.file));
    bool ok =
        cn_perf_threads_init(&r.threads, import, latency,
                             has_switches(&r.file) || cn_perf_sched_is_whole(&r.file),
                             rank, r.file.epoch_ns, err) &&
        add_metrics(&r, err) && read_records(&r, err);
    if (ok) {
        latency->has_lost = latency->has_lost || r.lost_count > 0;
        add_warnings(&r);
        count_stacks(&r);
        cn_import_origin(import, &r.file.origin);
    }
    cn_map_done(&r.chain_of);
    free(r.chains);
    cn_perf_names_done(&r.names);
    cn_perf_threads_done(&r.threads);
    cn_perf_gpu_done(&r.gpu);
    cn_perf_memory_done(&r.heap);
    cn_perf_io_done(&r.io);
    cn_perf_stacks_done(&r.stacks);
    cn_perf_locks_done(&r.locks);
    cn_perf_counters_done(&r.counters);
    cn_perf_hints_done(&r.hints);
    cn_perf_spaces_done(&r.spaces);
    cn_perf_file_close(&r.file);
    return ok;
}
