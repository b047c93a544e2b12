#include "formats/exchange/read/call_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/read/call_recording.h"
#include "formats/exchange/read/call_runs.h"

enum {
    BUFFERED_MAX = 1 << 21, /* items in memory: 48 MiB */
    NAME_LEN_MAX = 1 << 16,
    ITEM_MAX_LOG = 32,
};

struct track {
    struct cn_call_runs runs;
    uint64_t pid, tid;
    char *name;
    bool is_thread; /* nothing but its ids tells it apart */
    uint64_t first_ns, last_ns;
};

struct cn_call_import {
    char *module;
    struct cn_names names;
    struct cn_map name_of; /* by hash */
    struct cn_names processes;
    struct cn_map process_of; /* by pid: name */
    struct track *tracks;
    size_t track_count, track_capacity;
    struct cn_map track_of; /* by hash of what it is known by */
    uint64_t buffered, item_count;
    struct cn_spool spool;
    struct cn_text scratch;
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
    for (size_t i = 0; i < import->track_count; i++) {
        free(import->tracks[i].runs.list);
        free(import->tracks[i].runs.items);
        free(import->tracks[i].name);
    }
    free(import->tracks);
    free(import->module);
    cn_names_done(&import->names);
    cn_names_done(&import->processes);
    cn_map_done(&import->name_of);
    cn_map_done(&import->process_of);
    cn_map_done(&import->track_of);
    cn_spool_close(&import->spool);
    cn_text_done(&import->scratch);
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
    uint32_t number;

    if (*known != UINT32_MAX) {
        const char *found = import->names.list[*known];

        if (strncmp(found, (const char *)name.ptr, name.len) == 0 && !found[name.len])
            return *known;
    }
    number = cn_names_add(&import->names, str_of(import, name));
    *known = number;
    return number;
}

bool cn_call_import_track(struct cn_call_import *import, uint64_t pid, uint64_t tid,
                          struct cn_bytes what, uint32_t *out, struct cn_error *err)
{
    uint64_t key[3] = {pid, tid, what.len ? XXH3_64bits(what.ptr, what.len) : 0};
    uint32_t *at = cn_map_at(&import->track_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)import->track_count);

    if (*at == import->track_count) {
        if (*at == CN_CALL_TRACK_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d tracks of calls",
                           CN_CALL_TRACK_MAX);
        import->tracks = cn_grow(import->tracks, import->track_count,
                                 &import->track_capacity, sizeof(*import->tracks));
        import->tracks[import->track_count++] = (struct track){
            .pid = pid, .tid = tid, .is_thread = what.len == 0, .first_ns = UINT64_MAX};
    }
    *out = *at;
    return true;
}

void cn_call_import_track_name(struct cn_call_import *import, uint32_t track,
                               struct cn_bytes name)
{
    free(import->tracks[track].name);
    import->tracks[track].name = cn_strdup(str_of(import, name));
}

void cn_call_import_process_name(struct cn_call_import *import, uint64_t pid,
                                 struct cn_bytes name)
{
    *cn_map_at(&import->process_of, pid, 0) =
        cn_names_add(&import->processes, str_of(import, name));
}

static bool flush_track(struct cn_call_import *import, struct cn_call_runs *runs,
                        struct cn_error *err)
{
    size_t len = runs->item_count * sizeof(*runs->items);
    struct cn_call_run run = {.count = runs->item_count};

    if (len == 0)
        return true;
    cn_call_items_sort(runs->items, runs->item_count);
    run.off = cn_spool_reserve(&import->spool, len);
    if (!cn_spool_write(&import->spool, run.off, runs->items, len, err))
        return false;
    runs->list = cn_grow(runs->list, runs->count, &runs->capacity, sizeof(*runs->list));
    runs->list[runs->count++] = run;
    free(runs->items);
    runs->items = NULL;
    runs->item_count = runs->item_capacity = 0;
    return true;
}

/* Too many to keep: everything that is in memory becomes runs in the file. */
static bool flush_all(struct cn_call_import *import, struct cn_error *err)
{
    const char *folder = getenv("TMPDIR");

    if (!import->spool.fds &&
        !cn_spool_open(&import->spool, folder && folder[0] ? folder : "/tmp", err))
        return false;
    for (size_t i = 0; i < import->track_count; i++)
        if (!flush_track(import, &import->tracks[i].runs, err))
            return false;
    import->buffered = 0;
    return true;
}

static bool add_item(struct cn_call_import *import, uint32_t track,
                     struct cn_call_item item, struct cn_error *err)
{
    struct track *to = &import->tracks[track];
    uint64_t end_ns = item.time_ns;

    if (item.duration_ns != CN_CALL_BEGIN)
        end_ns += item.duration_ns < CN_CALL_TIME_MAX ? item.duration_ns : 0;
    if (item.time_ns > CN_CALL_TIME_MAX || end_ns > CN_CALL_TIME_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "a call at %" PRIu64 " ns, later than %" PRIu64,
                       item.time_ns, CN_CALL_TIME_MAX);
    if (import->item_count >> ITEM_MAX_LOG)
        return cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu64 " calls",
                       import->item_count);
    item.order = (uint32_t)import->item_count++;
    if (item.time_ns < to->first_ns)
        to->first_ns = item.time_ns;
    if (end_ns > to->last_ns)
        to->last_ns = end_ns;
    to->runs.items = cn_grow(to->runs.items, to->runs.item_count, &to->runs.item_capacity,
                             sizeof(*to->runs.items));
    to->runs.items[to->runs.item_count++] = item;
    return ++import->buffered < BUFFERED_MAX || flush_all(import, err);
}

bool cn_call_import_add(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                        uint64_t duration_ns, uint32_t name, struct cn_error *err)
{
    return add_item(import, track,
                    (struct cn_call_item){
                        .time_ns = time_ns, .duration_ns = duration_ns, .name = name},
                    err);
}

bool cn_call_import_end(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                        struct cn_error *err)
{
    return add_item(import, track,
                    (struct cn_call_item){.time_ns = time_ns,
                                          .duration_ns = CN_CALL_BEGIN,
                                          .name = UINT32_MAX},
                    err);
}

/* Tasks need numbers of their own: those of threads where they are free, others
 * elsewhere. */
static void number_tracks(struct cn_call_import *import, struct cn_call_track *list)
{
    struct cn_map used = {0};
    uint32_t next = 1;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < import->track_count; i++) {
            const struct track *track = &import->tracks[i];
            bool may_keep = track->is_thread && track->tid > 0 &&
                            track->tid < INT32_MAX &&
                            cn_map_find(&used, track->tid, 0) == 0;

            if (list[i].tid != 0 || (pass == 0 && !may_keep))
                continue;
            while (pass == 1 && cn_map_find(&used, next, 0) != 0)
                next++;
            list[i].tid = pass == 0 ? (uint32_t)track->tid : next;
            *cn_map_at(&used, list[i].tid, 1) = 1;
        }
    cn_map_done(&used);
}

static void describe_tracks(struct cn_call_import *import, struct cn_call_track *list)
{
    for (size_t i = 0; i < import->track_count; i++) {
        struct track *track = &import->tracks[i];
        uint32_t process = cn_map_find(&import->process_of, track->pid, UINT32_MAX);

        cn_call_items_sort(track->runs.items, track->runs.item_count);
        list[i] = (struct cn_call_track){
            .runs = track->runs,
            .name = track->name            ? track->name
                    : process < UINT32_MAX ? import->processes.list[process]
                                           : "",
            .first_ns = track->first_ns,
            .last_ns = track->last_ns,
        };
    }
    number_tracks(import, list);
    for (size_t i = 0; i < import->track_count; i++) {
        uint64_t pid = import->tracks[i].pid;

        list[i].pid = pid > 0 && pid < INT32_MAX ? (uint32_t)pid : list[i].tid;
    }
}

bool cn_call_import_finish(struct cn_call_import *import, uint64_t base_ns,
                           struct cn_recording **out, struct cn_error *err)
{
    struct cn_call_track *list;

    if (base_ns > CN_CALL_TIME_MAX) {
        cn_call_import_free(import);
        return cn_fail(err, CN_ERR_LIMIT, "times that count from %" PRIu64 " ns",
                       base_ns);
    }
    list = cn_alloc(import->track_count, sizeof(*list));
    describe_tracks(import, list);
    *out = cn_call_recording_new(import->module, &import->names, list,
                                 import->track_count, &import->spool, base_ns);
    /* The recording owns the runs and the file now. */
    for (size_t i = 0; i < import->track_count; i++)
        import->tracks[i].runs = (struct cn_call_runs){0};
    import->spool = (struct cn_spool){0};
    free(list);
    cn_call_import_free(import);
    return true;
}
