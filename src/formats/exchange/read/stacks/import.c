#include "formats/exchange/read/stacks/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/run/progress.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/tree.h"
#include "model/contexts/memory.h"
#include "model/contexts/points.h"
#include "model/gpu/memory.h"
#include "model/gpu/metrics.h"
#include "model/heap_history.h"
#include "model/io/calls.h"
#include "model/locks.h"
#include "model/memory/metrics.h"
#include "model/memory/use.h"
#include "model/origin.h"
#include "model/thread_runs.h"

enum {
    SCOPE_COUNT = 4, /* ids of a metric in a thread; the first is the point scope */
};

/* The first character of a warning. */
enum { DAMAGE = 'd', NOTE = 'n' };

/* Threads times contexts times metrics: the cost of propagation. */
#define WORK_MAX (UINT64_C(1) << 33)

struct import_value {
    double value;
    uint32_t context;
    uint16_t thread;
    uint8_t metric;
};

struct import_location {
    uint32_t file, line;
};

/* Keys of contexts are numbers of frames, or of locations with one of these. */
#define IS_LOOP (UINT32_C(1) << 31)
#define IS_LINE (UINT32_C(1) << 30)

struct timed {
    uint64_t time_ns;
    uint32_t thread, context;
};

/* The clock that samples a thread, and its last sample. */
struct clock {
    uint64_t tick_ns; /* 0: unknown */
    uint64_t last_ns;
    bool waits; /* since then */
};

struct cn_import {
    struct cn_memory_database *memory;
    struct cn_names modules, files, frames, metrics, threads, kinds;
    const char *descriptions[CN_IMPORT_METRIC_MAX]; /* by metric; NULL: its name */
    struct cn_tree contexts;                        /* numbered as in `memory` */
    struct cn_map value_at;   /* (thread, metric, context): in `values` */
    uint8_t *frame_relations; /* by frame */
    size_t relation_capacity;
    struct cn_map location_at;         /* (file, line): in `locations` */
    struct import_location *locations; /* of loops and lines */
    size_t location_count, location_capacity;
    struct import_value *values;
    size_t value_count, value_capacity;
    struct timed *timed;
    size_t timed_count, timed_capacity;
    uint64_t sample_count;
    struct clock *clocks; /* by thread; those after the last are unknown */
    size_t clock_count, clock_capacity;
    struct cn_text scratch, key, warnings;
    struct cn_launch *launches;
    size_t launch_count, launch_capacity;
    struct cn_database_loss *losses;
    size_t loss_count, loss_capacity;
    const char *copied_as;
    const struct cn_progress *progress; /* NULL: none */
    uint64_t reported;       /* how much was read when that was last reported */
    struct cn_origin origin; /* texts are in the arena */
    bool has_origin;
    struct cn_heap_history *heap, *gpu_memory; /* in the arena */
    struct cn_io_calls *io;                    /* likewise */
    struct cn_arena arena;
};

struct cn_import *cn_import_new(const char *title, const char *description)
{
    struct cn_import *import = cn_alloc(1, sizeof(*import));

    import->memory = cn_memory_database_new(title, description);
    cn_tree_init(&import->contexts);
    cn_memory_database_add_usual_scopes(import->memory);
    /* Kind 0 is the summary in the databases this may be written to. */
    (void)cn_names_add(&import->kinds, "SUMMARY");
    (void)cn_memory_database_add_kind(import->memory, "SUMMARY");
    return import;
}

void cn_import_free(struct cn_import *import)
{
    if (!import)
        return;
    cn_memory_database_free(import->memory);
    cn_names_done(&import->modules);
    cn_names_done(&import->files);
    cn_names_done(&import->frames);
    cn_names_done(&import->metrics);
    cn_names_done(&import->threads);
    cn_names_done(&import->kinds);
    cn_tree_done(&import->contexts);
    cn_map_done(&import->value_at);
    free(import->frame_relations);
    cn_map_done(&import->location_at);
    free(import->locations);
    free(import->values);
    free(import->timed);
    free(import->clocks);
    cn_text_done(&import->scratch);
    cn_text_done(&import->key);
    cn_text_done(&import->warnings);
    free(import->losses);
    free(import->launches);
    cn_arena_done(&import->arena);
    free(import);
}

/* Add a name; true if it is new. */
static bool add_name(struct cn_names *names, const char *name, uint32_t *out)
{
    size_t known = names->count;

    *out = cn_names_add(names, name);
    return *out == known;
}

bool cn_import_metric(struct cn_import *import, const char *name, uint32_t *out,
                      struct cn_error *err)
{
    if (!add_name(&import->metrics, name, out))
        return true;
    if (*out == CN_IMPORT_METRIC_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d metrics", CN_IMPORT_METRIC_MAX);
    (void)cn_memory_database_add_usual_metric(import->memory, name);
    return true;
}

void cn_import_describe(struct cn_import *import, uint32_t metric,
                        const char *description)
{
    import->descriptions[metric] = description;
}

static uint8_t kind_of(struct cn_import *import, const char *name)
{
    size_t count = import->kinds.count;
    uint32_t kind;

    /* Names come from the input, and a kind is a byte. */
    if (count == CN_KINDS_MAX - 1)
        name = import->kinds.list[count - 1];
    if (add_name(&import->kinds, name, &kind))
        (void)cn_memory_database_add_kind(import->memory, name);
    return (uint8_t)kind;
}

bool cn_import_thread(struct cn_import *import, const struct cn_import_identity *identity,
                      uint32_t *out, struct cn_error *err)
{
    uint32_t next = (uint32_t)import->threads.count;
    struct cn_identity_tuple tuple = {0};

    cn_text_clear(&import->key);
    for (size_t i = 0; i < CN_IMPORT_KIND_MAX && identity->kinds[i]; i++) {
        uint64_t number = identity->numbers[i];
        bool is_physical = number > UINT32_MAX;

        cn_text_printf(&import->key, "%s %" PRIu64 " ", identity->kinds[i], number);
        tuple.ids[tuple.count++] = (struct cn_identity){
            .kind = kind_of(import, identity->kinds[i]),
            .is_physical = is_physical,
            .logical = is_physical ? next : (uint32_t)number,
            .physical = number,
        };
    }
    cn_text_str_add(&import->key, identity->name);
    if (!add_name(&import->threads, cn_text_str(&import->key), out))
        return true;
    if (*out == CN_IMPORT_THREAD_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d threads", CN_IMPORT_THREAD_MAX);
    (void)cn_memory_database_add_profile(import->memory, tuple);
    return true;
}

void cn_import_name_thread(struct cn_import *import, uint32_t thread, const char *name)
{
    cn_memory_database_name_profile(import->memory, 1 + thread, name);
}

/* Another build of the same file is another module. */
static uint32_t module_of(struct cn_import *import, const char *path,
                          const char *build_id)
{
    uint32_t module = CN_NONE;

    if (!path[0])
        return CN_NONE;
    cn_text_clear(&import->key);
    cn_text_printf(&import->key, "%s\n%s", path, build_id ? build_id : "");
    if (!add_name(&import->modules, cn_text_str(&import->key), &module))
        return module;
    (void)cn_memory_database_add_module(import->memory, path);
    if (build_id && build_id[0])
        cn_memory_database_set_build_id(import->memory, module, build_id);
    return module;
}

static uint32_t file_of(struct cn_import *import, const char *path)
{
    uint32_t file = CN_NONE;

    if (path[0] && add_name(&import->files, path, &file))
        (void)cn_memory_database_add_file(import->memory, path, false);
    return file;
}

uint32_t cn_import_frame(struct cn_import *import, const struct cn_import_frame *frame)
{
    const char *name = frame->name[0] ? frame->name : CN_IMPORT_UNKNOWN;
    uint32_t number;

    cn_text_clear(&import->key);
    cn_text_printf(&import->key, "%s\n%s\n%s\n%" PRIu32 "\n%" PRIx64 "\n%d\n",
                   frame->module, frame->build_id ? frame->build_id : "", frame->file,
                   frame->line, frame->offset, frame->is_inlined);
    cn_text_str_add(&import->key, name);
    if (!add_name(&import->frames, cn_text_str(&import->key), &number))
        return number;
    CN_GROW(import->frame_relations, number, import->relation_capacity);
    import->frame_relations[number] = frame->is_inlined ? CN_INLINED_CALL : CN_CALL;
    (void)cn_memory_database_add_function(
        import->memory, (struct cn_function){
                            .name = name,
                            .module = module_of(import, frame->module, frame->build_id),
                            .offset = frame->offset,
                            .file = file_of(import, frame->file),
                            .line = frame->line,
                        });
    return number;
}

/* The context with this key below `parent`, made from `context` when new. */
static uint32_t context_at(struct cn_import *import, uint32_t parent, uint32_t key,
                           struct cn_context context)
{
    size_t known = import->contexts.count;
    uint32_t id = cn_tree_child(&import->contexts, parent, key);

    if (id == known)
        (void)cn_memory_database_add_context(import->memory, parent, context);
    return id;
}

uint32_t cn_import_entry(struct cn_import *import, enum cn_entry entry)
{
    return context_at(import, 0, (uint32_t)entry,
                      (struct cn_context){.kind = CN_CONTEXT_ENTRY,
                                          .relation = CN_LEXICAL,
                                          .entry = (uint16_t)entry,
                                          .entry_name = cn_entry_name(entry)});
}

static uint32_t top_of(struct cn_import *import)
{
    return cn_import_entry(import, CN_ENTRY_UNKNOWN);
}

static uint32_t location_of(struct cn_import *import, uint32_t file, uint32_t line)
{
    uint32_t *at = cn_map_at(&import->location_at, (uint64_t)file << 32 | line,
                             (uint32_t)import->location_count);

    if (*at == import->location_count) {
        CN_PUSH(import->locations, import->location_count, import->location_capacity,
                (struct import_location){file, line});
    }
    return *at;
}

uint32_t cn_import_loop(struct cn_import *import, const char *file, uint32_t line)
{
    return IS_LOOP | location_of(import, file_of(import, file), line);
}

/* A loop or line. */
static uint32_t located(struct cn_import *import, uint32_t parent, uint32_t key,
                        enum cn_context_kind kind)
{
    struct import_location location = import->locations[key & ~(IS_LOOP | IS_LINE)];

    return context_at(import, parent, key,
                      (struct cn_context){.kind = (uint8_t)kind,
                                          .relation = CN_LEXICAL,
                                          .propagation = 1,
                                          .has_source = true,
                                          .file = location.file,
                                          .line = location.line});
}

uint32_t cn_import_call(struct cn_import *import, uint32_t parent, uint32_t frame)
{
    uint32_t above = parent ? parent : top_of(import);

    if (frame & IS_LOOP)
        return located(import, above, frame, CN_CONTEXT_LOOP);
    return context_at(import, above, frame,
                      (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                          .relation = import->frame_relations[frame],
                                          .has_function = true,
                                          .function = frame});
}

uint32_t cn_import_unknown(struct cn_import *import)
{
    return cn_import_call(
        import, 0,
        cn_import_frame(import,
                        &(struct cn_import_frame){.name = "", .module = "", .file = ""}));
}

uint32_t cn_import_line(struct cn_import *import, uint32_t parent, const char *file,
                        uint32_t line)
{
    uint32_t number = file_of(import, file);

    if (number == CN_NONE || parent == 0)
        return parent;
    return located(import, parent, IS_LINE | location_of(import, number, line),
                   CN_CONTEXT_LINE);
}

bool cn_import_add(struct cn_import *import, uint32_t thread, uint32_t context,
                   uint32_t metric, double value, struct cn_error *err)
{
    uint32_t above = context ? context : top_of(import), *at;
    uint64_t key = (uint64_t)thread << 48 | (uint64_t)metric << 40 | above;

    if (above >= UINT32_MAX || import->value_count >= UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu32 " values", UINT32_MAX);
    at = cn_map_at(&import->value_at, key, (uint32_t)import->value_count);
    if (*at == import->value_count) {
        CN_PUSH(import->values, import->value_count, import->value_capacity,
                (struct import_value){0, above, (uint16_t)thread, (uint8_t)metric});
    }
    import->values[*at].value += value;
    return true;
}

uint32_t cn_import_point(struct cn_import *import, uint32_t context, const char *module,
                         const char *build_id, uint64_t offset)
{
    return cn_points_at(cn_memory_database_points(import->memory),
                        (struct cn_point){
                            .offset = offset,
                            .module = module_of(import, module, build_id),
                            .context = context,
                        });
}

void cn_import_add_point(struct cn_import *import, uint32_t thread, uint32_t point,
                         uint32_t metric, double value)
{
    cn_points_add(cn_memory_database_points(import->memory), point, 1 + thread, metric,
                  value);
}

static void add_timed(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context)
{
    CN_PUSH(import->timed, import->timed_count, import->timed_capacity,
            (struct timed){time_ns, thread, context});
}

void cn_import_resume(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context)
{
    add_timed(import, thread, time_ns, context ? context : top_of(import));
}

void cn_import_sample(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context)
{
    cn_import_resume(import, thread, time_ns, context);
    import->sample_count++;
}

void cn_import_wait(struct cn_import *import, uint32_t thread, uint64_t time_ns)
{
    add_timed(import, thread, time_ns, 0);
}

void cn_import_states(struct cn_import *import, uint32_t thread,
                      struct cn_thread_states *states)
{
    cn_memory_database_take_states(import->memory, 1 + thread, states);
}

void cn_import_runs(struct cn_import *import, uint32_t thread,
                    struct cn_thread_runs *runs)
{
    cn_memory_database_take_runs(import->memory, 1 + thread, runs);
}

void cn_import_wakeup(struct cn_import *import, const struct cn_wakeup *wakeup)
{
    struct cn_wakeup added = *wakeup;

    added.from = wakeup->from == CN_NONE ? 0 : 1 + wakeup->from;
    added.to++;
    cn_memory_database_add_wakeup(import->memory, added);
}

uint32_t cn_import_lock(struct cn_import *import, const struct cn_waited_lock *lock)
{
    return cn_memory_database_add_lock(import->memory, *lock);
}

void cn_import_lock_wait(struct cn_import *import, const struct cn_lock_wait *wait)
{
    struct cn_lock_wait added = *wait;

    added.profile++;
    cn_memory_database_add_lock_wait(import->memory, added);
}

struct cn_heap_history *cn_import_heap(struct cn_import *import, struct cn_heap_use *use)
{
    import->heap = cn_heap_use_history(use, &import->arena);
    return import->heap;
}

void cn_import_io(struct cn_import *import, const struct cn_io_calls *calls)
{
    import->io = cn_io_calls_copy(calls, &import->arena);
}

void cn_import_gpu_memory(struct cn_import *import, const struct cn_gpu_work *work,
                          uint64_t epoch_ns)
{
    struct cn_heap_history *history = cn_gpu_memory_history(work, &import->arena);

    for (size_t i = 0; history && i < history->change_count; i++) {
        history->changes[i].time_ns = cn_u64_sum(history->changes[i].time_ns, epoch_ns);
        history->changes[i].profile++;
    }
    for (size_t i = 0; history && i < history->process_count; i++) {
        history->processes[i].peak_ns =
            cn_u64_sum(history->processes[i].peak_ns, epoch_ns);
        history->processes[i].profile++;
    }
    import->gpu_memory = history;
}

void cn_import_tick(struct cn_import *import, uint32_t thread, uint64_t tick_ns)
{
    while (import->clock_count <= thread) {
        CN_PUSH(import->clocks, import->clock_count, import->clock_capacity,
                (struct clock){0});
    }
    if (import->clocks[thread].tick_ns < tick_ns)
        import->clocks[thread].tick_ns = tick_ns;
}

void cn_import_launch(struct cn_import *import, uint32_t from_thread, uint64_t from_ns,
                      uint32_t to_thread, uint64_t to_ns)
{
    if (import->launch_count < CN_LAUNCH_MAX) {
        CN_PUSH(import->launches, import->launch_count, import->launch_capacity,
                (struct cn_launch){from_ns, to_ns, 1 + from_thread, 1 + to_thread});
    }
}

void cn_import_warn(struct cn_import *import, bool is_damage, const char *fmt, ...)
{
    char line[240];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    cn_text_char(&import->warnings, is_damage ? DAMAGE : NOTE);
    cn_text_add(&import->warnings, line, strlen(line) + 1);
}

void cn_import_lose(struct cn_import *import, const char *what, uint64_t count)
{
    if (count > 0) {
        CN_PUSH(import->losses, import->loss_count, import->loss_capacity,
                (struct cn_database_loss){what, count});
    }
}

void cn_import_origin(struct cn_import *import, const struct cn_origin *origin)
{
    if (!import->has_origin)
        import->origin = cn_origin_copy(origin, &import->arena);
    import->has_origin = true;
}

void cn_import_copied_as(struct cn_import *import, const char *copied_as)
{
    import->copied_as = copied_as;
}

/* Add a sample to its timeline, and before it, if the clock of the thread missed a tick, that it
 * waited. */
static void add_to_timeline(struct cn_import *import, const struct timed *sample)
{
    struct clock none = {0}, *clock = sample->thread < import->clock_count
                                          ? &import->clocks[sample->thread]
                                          : &none;
    uint64_t ran_until = clock->last_ns + clock->tick_ns;

    if (clock->tick_ns > 0 && clock->last_ns > 0 && !clock->waits &&
        sample->time_ns > ran_until && sample->time_ns - ran_until > clock->tick_ns)
        cn_memory_database_add_sample(import->memory, 1 + sample->thread,
                                      (struct cn_sample){ran_until, 0});
    cn_memory_database_add_sample(import->memory, 1 + sample->thread,
                                  (struct cn_sample){sample->time_ns, sample->context});
    clock->last_ns = sample->time_ns;
    clock->waits = sample->context == 0;
}

/* Add the values and samples to the database. */
static void add_values(struct cn_import *import)
{
    for (size_t i = 0; i < import->value_count; i++) {
        const struct import_value *value = &import->values[i];

        cn_memory_database_add_value(import->memory, 1u + value->thread, value->context,
                                     (uint16_t)(value->metric * SCOPE_COUNT),
                                     value->value);
    }
    CN_SORT(import->timed, import->timed_count, CN_UP(struct timed, time_ns));
    for (size_t i = 0; i < import->timed_count; i++)
        add_to_timeline(import, &import->timed[i]);
}

static void describe(const struct cn_import *import, struct cn_taxonomy *taxonomy,
                     struct cn_arena *arena)
{
    struct cn_presented_metric *roots =
        cn_arena_dup(arena, taxonomy->roots, taxonomy->root_count, sizeof(*roots));

    for (size_t i = 0; i < import->metrics.count; i++)
        for (size_t k = 0; import->descriptions[i] && k < taxonomy->root_count; k++)
            if (strcmp(roots[k].name, import->metrics.list[i]) == 0)
                roots[k].description = import->descriptions[i];
    taxonomy->roots = roots;
}

bool cn_import_finish(struct cn_import *import, struct cn_database **out,
                      struct cn_error *err)
{
    uint64_t work = (uint64_t)import->threads.count * (import->metrics.count + 1);
    bool ok;

    if (work > WORK_MAX / import->contexts.count) {
        ok = cn_fail(err, CN_ERR_LIMIT,
                     "too many values: %zu threads with %zu metrics in %zu contexts",
                     import->threads.count, import->metrics.count,
                     import->contexts.count - 1);
    } else {
        ok = cn_progress_report(import->progress, "adding up costs", 0, 1, "", err);
        if (ok) {
            add_values(import);
            ok = cn_memory_database_propagate(import->memory, err);
        }
    }
    if (ok) {
        *out = cn_memory_database_finish(import->memory);
        cn_gpu_taxonomy(&(*out)->taxonomy, &(*out)->arena);
        cn_heap_taxonomy(&(*out)->taxonomy, &(*out)->arena);
        describe(import, &(*out)->taxonomy, &(*out)->arena);
        (*out)->sample_count = import->sample_count;
        (*out)->copied_as = import->copied_as;
        (*out)->origin = cn_origin_copy(&import->origin, &(*out)->arena);
        (*out)->loss_count = import->loss_count;
        if (import->loss_count > 0)
            (*out)->losses = cn_arena_dup(&(*out)->arena, import->losses,
                                          import->loss_count, sizeof(*import->losses));
        (*out)->launch_count = import->launch_count;
        if (import->launch_count > 0)
            (*out)->launches =
                cn_arena_dup(&(*out)->arena, import->launches, import->launch_count,
                             sizeof(*import->launches));
        (*out)->heap = cn_heap_history_copy(import->heap, &(*out)->arena);
        (*out)->gpu_memory = cn_heap_history_copy(import->gpu_memory, &(*out)->arena);
        (*out)->io = cn_io_calls_copy(import->io, &(*out)->arena);
        import->memory = NULL;
        for (size_t at = 0; at < import->warnings.len;
             at += strlen(import->warnings.chars + at) + 1)
            cn_database_warn(*out, import->warnings.chars[at] == DAMAGE, "%s",
                             import->warnings.chars + at + 1);
    }
    cn_import_free(import);
    return ok;
}

void cn_import_set_progress(struct cn_import *import, const struct cn_progress *progress)
{
    import->progress = progress;
}

bool cn_import_report(struct cn_import *import, uint64_t done, uint64_t total,
                      const char *unit, struct cn_error *err)
{
    enum { EACH = 1024 };

    if (!import->progress || (done < import->reported + EACH && done < total))
        return true;
    import->reported = done;
    return cn_progress_report(import->progress, "reading samples", done, total, unit,
                              err);
}

const char *cn_import_str(struct cn_import *import, struct cn_bytes text)
{
    cn_text_clear(&import->scratch);
    cn_text_add(&import->scratch, (const char *)text.ptr,
                text.len < CN_IMPORT_NAME_MAX ? text.len : CN_IMPORT_NAME_MAX);
    return cn_text_str(&import->scratch);
}
