#include "formats/exchange/read/calls/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/exchange/read/calls/recording.h"
#include "formats/exchange/read/calls/strands.h"
#include "model/calls/recording.h"
#include "model/gpu/builder.h"

enum {
    BUFFERED_MAX = 1 << 21, /* items in memory: 48 MiB */
    NAME_LEN_MAX = 1 << 16,
    ITEM_MAX_LOG = 32,
};

struct cn_call_import {
    char *module;
    struct cn_names names;
    struct cn_map name_of;      /* by hash */
    struct cn_located *located; /* names that are functions with locations */
    size_t located_count, located_capacity;
    struct cn_names counters;
    struct cn_map counter_of; /* by hash */
    struct cn_names processes;
    struct cn_map process_of; /* by pid: name */
    struct cn_call_tracks tracks;
    struct cn_call_flows flows;
    struct cn_map track_of;        /* by hash of its ids and `what` */
    uint64_t buffered, item_count; /* items in memory, and all items */
    struct cn_text scratch;
    struct cn_gpu_builder *gpu; /* NULL: none */
};

struct cn_call_import *cn_call_import_new(const char *module)
{
    struct cn_call_import *import = cn_alloc(1, sizeof(*import));

    import->module = cn_strdup(module);
    return import;
}

void cn_call_import_free(struct cn_call_import *import)
{
    if (!import)
        return;
    cn_call_tracks_done(&import->tracks);
    cn_call_flows_done(&import->flows);
    free(import->module);
    cn_names_done(&import->names);
    for (size_t i = 0; i < import->located_count; i++) {
        free(import->located[i].name);
        free(import->located[i].file);
    }
    free(import->located);
    cn_names_done(&import->counters);
    cn_names_done(&import->processes);
    cn_map_done(&import->name_of);
    cn_map_done(&import->counter_of);
    cn_map_done(&import->process_of);
    cn_map_done(&import->track_of);
    cn_text_done(&import->scratch);
    cn_gpu_builder_free(import->gpu);
    free(import);
}

static const char *str_of(struct cn_call_import *import, struct cn_bytes text)
{
    cn_text_clear(&import->scratch);
    cn_text_add(&import->scratch, (const char *)text.ptr,
                text.len < NAME_LEN_MAX ? text.len : NAME_LEN_MAX);
    return cn_text_str(&import->scratch);
}

uint32_t cn_call_import_name(struct cn_call_import *import, struct cn_bytes name)
{
    uint32_t *known =
        cn_map_at(&import->name_of, XXH3_64bits(name.ptr, name.len), UINT32_MAX);

    if (*known != UINT32_MAX) {
        const char *found = import->names.list[*known];

        if (strncmp(found, (const char *)name.ptr, name.len) == 0 && !found[name.len])
            return *known;
    }
    uint32_t number = cn_names_add(&import->names, str_of(import, name));
    *known = number;
    return number;
}

uint32_t cn_call_import_function(struct cn_call_import *import, const char *name,
                                 const char *file, uint32_t line)
{
    size_t known = import->names.count;

    if (!file[0] && line == 0)
        return cn_call_import_name(
            import, (struct cn_bytes){(const uint8_t *)name, strlen(name)});
    cn_text_clear(&import->scratch);
    cn_text_printf(&import->scratch, "%s\n%s:%" PRIu32, name, file, line);
    uint32_t number = cn_names_add(&import->names, cn_text_str(&import->scratch));
    if (number == known) {
        CN_PUSH(import->located, import->located_count, import->located_capacity,
                (struct cn_located){number, line, cn_strdup(name), cn_strdup(file)});
    }
    return number;
}

bool cn_call_import_has_calls(const struct cn_call_import *import, uint32_t track)
{
    return import->tracks.list[track].first_ns != UINT64_MAX;
}

uint32_t cn_call_import_counter(struct cn_call_import *import, struct cn_bytes name)
{
    uint64_t hash = XXH3_64bits(name.ptr, name.len);
    uint32_t number = cn_map_find(&import->counter_of, hash, CN_NONE);

    if (number == CN_NONE && import->counters.count < CN_NAMED_COUNTER_MAX) {
        number = cn_names_add(&import->counters, str_of(import, name));
        *cn_map_at(&import->counter_of, hash, number) = number;
    }
    return number;
}

bool cn_call_import_track(struct cn_call_import *import, uint64_t pid, uint64_t tid,
                          struct cn_bytes what, uint32_t *out, struct cn_error *err)
{
    struct cn_call_tracks *tracks = &import->tracks;
    uint64_t key[3] = {pid, tid, what.len ? XXH3_64bits(what.ptr, what.len) : 0};
    uint32_t *at = cn_map_at(&import->track_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)tracks->count);

    if (*at == tracks->count) {
        if (*at == CN_CALL_TRACK_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d tracks of calls",
                           CN_CALL_TRACK_MAX);
        CN_PUSH(tracks->list, tracks->count, tracks->capacity,
                (struct cn_call_track){.input_pid = pid,
                                       .input_tid = tid,
                                       .is_thread = what.len == 0,
                                       .readings.has_readings = true,
                                       .first_ns = UINT64_MAX,
                                       .start_ns = UINT64_MAX});
    }
    *out = *at;
    return true;
}

void cn_call_import_track_name(struct cn_call_import *import, uint32_t track,
                               struct cn_bytes name)
{
    free(import->tracks.list[track].name);
    import->tracks.list[track].name = cn_strdup(str_of(import, name));
}

void cn_call_import_process_name(struct cn_call_import *import, uint64_t pid,
                                 struct cn_bytes name)
{
    *cn_map_at(&import->process_of, pid, 0) =
        cn_names_add(&import->processes, str_of(import, name));
}

static bool flush_track(struct cn_spool *spool, struct cn_call_runs *runs,
                        struct cn_error *err)
{
    size_t len = runs->item_count * sizeof(*runs->items);
    struct cn_call_run run = {.count = runs->item_count};

    if (len == 0)
        return true;
    cn_call_runs_sort(runs);
    run.off = cn_spool_reserve(spool, len);
    if (!cn_spool_write(spool, run.off, runs->items, len, err))
        return false;
    CN_PUSH(runs->list, runs->count, runs->capacity, run);
    free(runs->items);
    runs->items = NULL;
    runs->item_count = runs->item_capacity = 0;
    return true;
}

/* Move all items in memory to runs in the spool. */
static bool flush_all(struct cn_call_import *import, struct cn_error *err)
{
    struct cn_call_tracks *tracks = &import->tracks;

    if (!tracks->spool.fds && !cn_spool_open(&tracks->spool, cn_temporary_folder(), err))
        return false;
    for (size_t i = 0; i < tracks->count; i++)
        if (!flush_track(&tracks->spool, &tracks->list[i].runs, err) ||
            !flush_track(&tracks->spool, &tracks->list[i].readings, err))
            return false;
    import->buffered = 0;
    return true;
}

/* Add an item, which lasts until `end_ns`, to the calls or readings of a track. */
static bool add_item(struct cn_call_import *import, struct cn_call_track *to,
                     struct cn_call_runs *runs, struct cn_imported_call item,
                     uint64_t end_ns, struct cn_error *err)
{
    if (item.time_ns > CN_CALL_TIME_MAX || end_ns > CN_CALL_TIME_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "a %s at %" PRIu64 " ns is later than the limit, %" PRIu64 " ns",
                       runs->has_readings ? "reading" : "call", item.time_ns,
                       CN_CALL_TIME_MAX);
    if (import->item_count >> ITEM_MAX_LOG)
        return cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu64 " calls and readings",
                       import->item_count);
    item.order = (uint32_t)import->item_count++;
    if (item.time_ns < to->start_ns)
        to->start_ns = item.time_ns;
    CN_PUSH(runs->items, runs->item_count, runs->item_capacity, item);
    return ++import->buffered < BUFFERED_MAX || flush_all(import, err);
}

static bool add_call(struct cn_call_import *import, uint32_t track,
                     struct cn_imported_call item, struct cn_error *err)
{
    struct cn_call_track *to = &import->tracks.list[track];
    uint64_t end_ns = item.time_ns;

    if (item.duration_ns != CN_CALL_BEGIN)
        end_ns += item.duration_ns < CN_CALL_TIME_MAX ? item.duration_ns : 0;
    if (!add_item(import, to, &to->runs, item, end_ns, err))
        return false;
    if (item.time_ns < to->first_ns)
        to->first_ns = item.time_ns;
    if (end_ns > to->last_ns)
        to->last_ns = end_ns;
    return true;
}

bool cn_call_import_add(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                        uint64_t duration_ns, uint32_t name, struct cn_error *err)
{
    return add_call(import, track,
                    (struct cn_imported_call){
                        .time_ns = time_ns, .duration_ns = duration_ns, .name = name},
                    err);
}

bool cn_call_import_end(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                        struct cn_error *err)
{
    return add_call(import, track,
                    (struct cn_imported_call){.time_ns = time_ns,
                                              .duration_ns = CN_CALL_BEGIN,
                                              .name = UINT32_MAX},
                    err);
}

bool cn_call_import_reading(struct cn_call_import *import, uint32_t track,
                            uint64_t time_ns, uint32_t counter, double value,
                            struct cn_error *err)
{
    struct cn_call_track *to = &import->tracks.list[track];

    return add_item(
        import, to, &to->readings,
        (struct cn_imported_call){.time_ns = time_ns, .value = value, .name = counter},
        time_ns, err);
}

bool cn_call_import_flow(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                         enum cn_flow_step step, uint64_t id, uint32_t name,
                         struct cn_error *err)
{
    if (time_ns > CN_CALL_TIME_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "a flow at %" PRIu64 " ns is later than the limit, %" PRIu64 " ns",
                       time_ns, CN_CALL_TIME_MAX);
    cn_call_flows_add(
        &import->flows,
        (struct cn_flow_point){
            .id = id, .time_ns = time_ns, .track = track, .name = name, .step = step});
    return true;
}

/* Each task needs a different tid. A thread has the tid of the input unless another track
 * has it; other tracks get a free one. */
static void number_tracks(struct cn_call_tracks *tracks)
{
    struct cn_map used = {0};
    uint32_t next = 1;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < tracks->count; i++) {
            struct cn_call_track *track = &tracks->list[i];
            uint64_t tid = track->input_tid;
            bool is_free = track->is_thread && tid > 0 && tid < INT32_MAX &&
                           cn_map_find(&used, tid, 0) == 0;

            if (track->tid != 0 || (pass == 0 && !is_free))
                continue;
            while (pass == 1 && cn_map_find(&used, next, 0) != 0)
                next++;
            track->tid = pass == 0 ? (uint32_t)tid : next;
            *cn_map_at(&used, track->tid, 1) = 1;
        }
    cn_map_done(&used);
}

void cn_call_import_stream(struct cn_call_import *import, uint32_t track, uint64_t pid)
{
    struct cn_call_track *stream = &import->tracks.list[track];
    size_t len = stream->name ? strlen(stream->name) : 0;

    stream->is_stream = true;
    stream->input_pid = pid;
    /* torch.profiler writes "stream 7 ". */
    while (len > 0 && stream->name[len - 1] == ' ')
        stream->name[--len] = '\0';
}

void cn_call_import_gpu(struct cn_call_import *import, struct cn_gpu_builder *builder)
{
    cn_gpu_builder_free(import->gpu);
    import->gpu = builder;
}

/* Tasks are in the order of their tids: by track, the index of its task. */
static uint32_t *tasks_of(const struct cn_call_tracks *tracks)
{
    struct numbered {
        uint32_t tid, track;
    } *list = cn_alloc(tracks->count, sizeof(*list));
    uint32_t *tasks = cn_alloc(tracks->count, sizeof(*tasks));

    for (size_t i = 0; i < tracks->count; i++)
        list[i] = (struct numbered){tracks->list[i].tid, (uint32_t)i};
    CN_SORT(list, tracks->count, CN_UP(struct numbered, tid));
    for (size_t i = 0; i < tracks->count; i++)
        tasks[list[i].track] = (uint32_t)i;
    free(list);
    return tasks;
}

static struct cn_gpu_work *finish_gpu(struct cn_call_import *import, uint64_t base_ns)
{
    uint32_t *tasks = tasks_of(&import->tracks);
    struct cn_gpu_builder *builder = import->gpu;

    import->gpu = NULL;
    cn_gpu_builder_move(builder, tasks, base_ns);
    free(tasks);
    return cn_gpu_builder_finish(builder);
}

bool cn_call_import_finish(struct cn_call_import *import, uint64_t base_ns,
                           struct cn_recording **out, struct cn_error *err)
{
    struct cn_call_tracks *tracks = &import->tracks;
    uint64_t cut_count;

    if (base_ns > CN_CALL_TIME_MAX) {
        cn_call_import_free(import);
        return cn_fail(err, CN_ERR_LIMIT,
                       "times count from %" PRIu64 " ns, later than the limit, %" PRIu64
                       " ns",
                       base_ns, CN_CALL_TIME_MAX);
    }
    for (size_t i = 0; i < tracks->count; i++) {
        cn_call_runs_sort(&tracks->list[i].runs);
        cn_call_runs_sort(&tracks->list[i].readings);
    }
    if (!cn_call_strands_split(tracks, import->item_count, &cut_count, err)) {
        cn_call_import_free(import);
        return false;
    }
    number_tracks(tracks);
    for (size_t i = 0; i < tracks->count; i++) {
        struct cn_call_track *track = &tracks->list[i];
        uint64_t pid = track->input_pid;
        uint32_t process = cn_map_find(&import->process_of, pid, UINT32_MAX);

        track->pid = pid > 0 && pid < INT32_MAX ? (uint32_t)pid : track->tid;
        if (!track->name)
            track->name =
                cn_strdup(process < UINT32_MAX ? import->processes.list[process] : "");
    }
    for (size_t i = 0; i < import->flows.count; i++)
        import->flows.list[i].track = tracks->list[import->flows.list[i].track].tid;
    struct cn_gpu_work *gpu = import->gpu ? finish_gpu(import, base_ns) : NULL;
    *out = cn_call_recording_new(
        import->module, &import->names,
        (struct cn_located_list){import->located, import->located_count},
        &import->counters, tracks, gpu, base_ns);
    cn_call_flows_join(&import->flows, base_ns, *out);
    cn_call_flows_of_launches(*out);
    if (cut_count > 0)
        cn_recording_warn(*out, false, "%" PRIu64 " %s", cut_count,
                          cn_plural(cut_count,
                                    "call overlaps others: it ends with its caller",
                                    "calls overlap others: they end with their callers"));
    cn_call_import_free(import);
    return true;
}

bool cn_call_import_open(struct cn_recording **out, const char *path,
                         cn_call_import_fn read, struct cn_error *err)
{
    struct cn_unpacked file = {0};
    struct cn_error damage;

    if (!cn_unpacked_open_beginning(&file, path, &damage, err))
        return false;
    bool ok = read(file.bytes, true, out, err);
    cn_unpacked_close(&file);
    if (ok && damage.kind != CN_ERR_NONE)
        cn_recording_warn(*out, true, "%s; read up to there", damage.text);
    else if (damage.kind != CN_ERR_NONE)
        *err = damage;
    if (!ok)
        return cn_fail_in(err, "%s", path);
    (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    return true;
}
