#include "formats/exchange/perf/memory.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/heap_history.h"
#include "model/memory/use.h"

static const double BYTES_PER_MIB = 1 << 20;

/* In the place of a stack that was not taken. */
#define NO_PATH "<path not recorded>"
/* Below the function that asked the kernel for memory, not the allocator. */
#define MAPPING "mmap"

void cn_perf_memory_init(struct cn_perf_heap *heap, struct cn_import *import,
                         struct cn_perf_threads *threads, cn_perf_context_fn context_of,
                         void *arg)
{
    *heap = (struct cn_perf_heap){
        .import = import, .threads = threads, .context_of = context_of, .arg = arg};
}

void cn_perf_memory_done(struct cn_perf_heap *heap)
{
    cn_heap_use_free(heap->use);
    heap->use = NULL;
}

static uint64_t process_key(const struct cn_perf_memory *body)
{
    return (uint64_t)body->pid << 32 | body->image;
}

/* How many allocations of a size a sampled one stands for: the inverse of the chance that at least
 * one of its bytes is sampled. */
static double calls_of(uint64_t size, uint64_t interval)
{
    return interval == 0 ? 1
                         : -1 / expm1(-(double)(size > 0 ? size : 1) / (double)interval);
}

static uint32_t call_named(struct cn_perf_heap *heap, uint32_t parent, const char *name)
{
    return cn_import_call(
        heap->import, parent,
        cn_import_frame(heap->import, &(struct cn_import_frame){
                                          .name = name, .module = "", .file = ""}));
}

static bool thread_of(struct cn_perf_heap *heap, const struct cn_perf_memory *body,
                      uint32_t *out, struct cn_error *err)
{
    struct cn_perf_sample sample = {
        .pid = body->pid, .tid = body->tid, .cpu = UINT32_MAX};

    if (!cn_perf_threads_of(heap->threads, &sample, out, err))
        return false;
    *out = cn_perf_threads_number(heap->threads, *out);
    return true;
}

static bool take_alloc(struct cn_perf_heap *heap, const struct cn_perf_memory *body,
                       struct cn_bytes addresses, struct cn_error *err)
{
    uint32_t thread;

    if (!thread_of(heap, body, &thread, err))
        return false;
    uint32_t context = heap->context_of(heap->arg, body->pid, addresses, CN_NONE, 0);
    if (context == CN_NONE)
        context = call_named(heap, 0, NO_PATH);
    if (body->flags & CN_PERF_MEMORY_IS_MAPPING)
        context = call_named(heap, context, MAPPING);
    cn_heap_use_alloc(heap->use, &(struct cn_heap_block){
                                     .process = process_key(body),
                                     .address = body->address,
                                     .time_ns = body->time_ns,
                                     .size = body->size,
                                     .usable_size = body->usable_size,
                                     .old_size = body->old_size,
                                     .calls = calls_of(body->size, body->interval),
                                     .thread = thread,
                                     .context = context,
                                     .is_sampled = body->interval > 0,
                                 });
    heap->interval = body->interval;
    heap->sample_count++;
    return true;
}

static bool take_release(struct cn_perf_heap *heap, const struct cn_perf_memory *body,
                         struct cn_error *err)
{
    uint32_t thread;

    if (!thread_of(heap, body, &thread, err))
        return false;
    (void)cn_heap_use_release(heap->use,
                              &(struct cn_heap_release){
                                  .process = process_key(body),
                                  .address = body->address,
                                  .time_ns = body->time_ns,
                                  .thread = thread,
                                  .is_next = body->flags & CN_PERF_MEMORY_IS_NEXT,
                                  .has_root = true,
                              });
    return true;
}

bool cn_perf_memory_is(const struct cn_perf_record *record)
{
    struct cn_perf_memory body;

    return cn_perf_memory_decode(record->body, &body) &&
           body.magic == CN_PERF_MEMORY_MAGIC;
}

bool cn_perf_memory_take(struct cn_perf_heap *heap, const struct cn_perf_record *record,
                         struct cn_error *err)
{
    struct cn_perf_memory body;
    struct cn_bytes addresses;

    if (!cn_perf_memory_decode(record->body, &body) ||
        !cn_bytes_array(record->body, cn_perf_memory_size, body.address_count, 8,
                        &addresses)) {
        heap->bad_count++;
        return true;
    }
    if (!heap->use) {
        heap->use = cn_heap_use_new();
        cn_heap_use_keep_history(heap->use);
        heap->first_ns = body.time_ns;
    }
    heap->time_ns = body.time_ns;
    if (body.kind == CN_PERF_IS_ALLOC)
        return take_alloc(heap, &body, addresses, err);
    if (body.kind == CN_PERF_IS_RELEASE)
        return take_release(heap, &body, err);
    if (body.kind == CN_PERF_IS_CHECKED)
        heap->has_checked = true;
    if (body.kind == CN_PERF_IS_LEAK)
        cn_heap_use_leak(heap->use, process_key(&body), body.address);
    if (body.kind == CN_PERF_IS_MEMORY_END) {
        heap->lost_count += body.size;
        heap->is_cut = heap->is_cut || body.flags & CN_PERF_MEMORY_IS_CUT;
    }
    return true;
}

struct heap_adding {
    struct cn_import *import;
    uint32_t metrics[CN_HEAP_METRIC_COUNT];
};

static bool add_values(void *arg, uint32_t thread, uint32_t context,
                       const double values[CN_HEAP_METRIC_COUNT], struct cn_error *err)
{
    struct heap_adding *a = arg;

    for (size_t i = 0; i < CN_HEAP_METRIC_COUNT; i++)
        if (values[i] > 0 &&
            !cn_import_add(a->import, thread, context, a->metrics[i], values[i], err))
            return false;
    return true;
}

/* "memory is estimated from 41 sampled allocations, one in 512 KiB: peak 20.5 MiB (± 16 %), ..." */
static void warn_estimate(struct cn_perf_heap *heap, const struct cn_heap_peak *peak)
{
    bool is_kib = heap->interval % 1024 == 0;
    struct cn_text text = {0};

    cn_text_printf(&text,
                   "memory is estimated from %" PRIu64 " sampled %s, one in %" PRIu64
                   " %s: peak %.1f MiB",
                   heap->sample_count,
                   cn_plural(heap->sample_count, "allocation", "allocations"),
                   is_kib ? heap->interval / 1024 : heap->interval,
                   is_kib ? "KiB" : "bytes", peak->bytes / BYTES_PER_MIB);
    if (peak->bytes > 0)
        cn_text_printf(&text, " (± %.0f %%)", 100 * peak->error / peak->bytes);
    if (peak->time_ns > heap->first_ns)
        cn_text_printf(&text, " after %.3g s",
                       (double)(peak->time_ns - heap->first_ns) / 1e9);
    cn_text_printf(&text, ", at the end %.1f MiB", peak->end_bytes / BYTES_PER_MIB);
    if (peak->process_count > 1)
        cn_text_printf(&text,
                       ", of process %" PRIu64 "; the peaks of %" PRIu64
                       " processes, each at its own time, add up to %.1f MiB",
                       peak->process >> 32, peak->process_count,
                       peak->sum / BYTES_PER_MIB);
    cn_import_warn(heap->import, false, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

static void add_warnings(struct cn_perf_heap *heap)
{
    struct cn_heap_peak peak;

    if (heap->interval > 0 && cn_heap_use_peak(heap->use, &peak))
        warn_estimate(heap, &peak);
    if (heap->lost_count > 0)
        cn_import_warn(heap->import, false,
                       "%" PRIu64 " sampled %s lost: what they stand for is missing; "
                       "choose a larger --memory-interval",
                       heap->lost_count,
                       cn_plural(heap->lost_count, "allocation was", "allocations were"));
    if (heap->has_checked)
        cn_import_warn(heap->import, false,
                       "what leaked is estimated from below: memory that was not sampled "
                       "counts as reachable");
    if (heap->is_cut)
        cn_import_warn(heap->import, false,
                       "frees of sampled allocations were lost: too much looks live");
    if (heap->bad_count > 0)
        cn_import_warn(heap->import, true,
                       "records of allocations that cannot be read: %" PRIu64,
                       heap->bad_count);
}

static void add_history(struct cn_perf_heap *heap)
{
    struct cn_heap_history *history = cn_import_heap(heap->import, heap->use);
    uint64_t epoch_ns = heap->threads->epoch_ns;
    uint32_t outside = cn_import_entry(heap->import, CN_ENTRY_UNKNOWN);

    for (size_t i = 0; i < history->change_count; i++) {
        struct cn_heap_change *change = &history->changes[i];

        change->time_ns = cn_u64_sum(epoch_ns, change->time_ns);
        change->profile++;
        change->context = change->context ? change->context : outside;
    }
    for (size_t i = 0; i < history->process_count; i++) {
        history->processes[i].peak_ns =
            cn_u64_sum(epoch_ns, history->processes[i].peak_ns);
        history->processes[i].profile++;
    }
}

bool cn_perf_memory_finish(struct cn_perf_heap *heap, struct cn_error *err)
{
    struct heap_adding a = {.import = heap->import};

    if (heap->bad_count > 0 && !heap->use)
        heap->use = cn_heap_use_new();
    if (!heap->use)
        return true;
    add_warnings(heap);
    if (heap->sample_count == 0)
        return true;
    for (unsigned i = 0; i < CN_HEAP_METRIC_COUNT; i++)
        if ((heap->has_checked || (i != CN_HEAP_LEAKED && i != CN_HEAP_LEAKED_CALLS)) &&
            !cn_import_metric(heap->import, cn_heap_metric_name((enum cn_heap_metric)i),
                              &a.metrics[i], err))
            return false;
    if (!cn_heap_use_visit(heap->use, add_values, &a, err))
        return false;
    add_history(heap);
    return true;
}
