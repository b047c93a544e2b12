#include "formats/exchange/read/sqlite/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/content.h"
#include "base/files/file.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

enum { LOOK_LEN = 1 << 20 };

bool cn_sql_trace_open(struct cn_sql_trace *trace, const char *module, const char *path,
                       struct cn_error *err)
{
    *trace = (struct cn_sql_trace){0};
    if (!cn_sql_file_open(&trace->file, path, err))
        return cn_fail_in(err, "%s", path);
    trace->import = cn_call_import_new(module);
    trace->kineto = cn_kineto_new();
    return true;
}

void cn_sql_trace_close(struct cn_sql_trace *trace)
{
    cn_sql_file_close(trace->file);
    cn_call_import_free(trace->import);
    cn_kineto_free(trace->kineto);
    cn_text_done(&trace->scratch);
    *trace = (struct cn_sql_trace){0};
}

bool cn_sql_trace_visit(struct cn_sql_trace *trace, const char *table,
                        const char *const *columns, cn_sql_row_fn take, void *arg,
                        struct cn_error *err)
{
    struct cn_error damage = {0};

    if (cn_sql_visit(trace->file, table, columns, take, arg, &damage))
        return true;
    if (damage.kind != CN_ERR_FORMAT) {
        *err = damage;
        return false;
    }
    if (trace->damage.kind == CN_ERR_NONE)
        trace->damage = damage;
    return true;
}

bool cn_sql_trace_times(struct cn_sql_trace *trace, const struct cn_sql_row *row,
                        int begin, int end, struct cn_sql_span *span)
{
    if (cn_sql_u64(row, begin, &span->begin_ns) && cn_sql_u64(row, end, &span->end_ns) &&
        span->begin_ns <= span->end_ns && span->end_ns <= CN_CALL_TIME_MAX)
        return true;
    trace->skipped_count++;
    return false;
}

uint32_t cn_sql_trace_name(struct cn_sql_trace *trace, const char *name)
{
    return cn_call_import_name(trace->import,
                               (struct cn_bytes){(const uint8_t *)name, strlen(name)});
}

static bool is_of_stream(const struct cn_kineto_event *event)
{
    return event->category == CN_KINETO_KERNEL || event->category == CN_KINETO_COPY ||
           event->category == CN_KINETO_SET;
}

/* The track of a stream has its numbers as what tells it apart. */
static bool find_track(struct cn_sql_trace *trace, const struct cn_kineto_event *event,
                       const struct cn_sql_span *span, uint32_t *out,
                       struct cn_error *err)
{
    bool is_new;

    cn_text_clear(&trace->scratch);
    if (is_of_stream(event))
        cn_text_printf(&trace->scratch, "GPU %" PRIu32 " %" PRIu32 " %" PRIu64,
                       event->device, event->context, event->stream);
    else if (span->track)
        cn_text_str_add(&trace->scratch, span->track);
    if (!cn_call_import_track(
            trace->import, span->pid, is_of_stream(event) ? 0 : span->tid,
            (struct cn_bytes){(const uint8_t *)cn_text_str(&trace->scratch),
                              trace->scratch.len},
            out, err))
        return false;
    is_new = !cn_call_import_has_calls(trace->import, *out);
    if (is_new && is_of_stream(event)) {
        cn_text_clear(&trace->scratch);
        cn_text_printf(&trace->scratch, "stream %" PRIu64, event->stream);
        cn_call_import_track_name(
            trace->import, *out,
            (struct cn_bytes){(const uint8_t *)cn_text_str(&trace->scratch),
                              trace->scratch.len});
    }
    return true;
}

bool cn_sql_trace_add(struct cn_sql_trace *trace, const struct cn_kineto_event *event,
                      const struct cn_sql_span *span, struct cn_error *err)
{
    uint64_t duration_ns = span->end_ns - span->begin_ns;
    uint32_t track;

    if (!find_track(trace, event, span, &track, err) ||
        (cn_kineto_is_call(event) &&
         !cn_call_import_add(trace->import, track, span->begin_ns, duration_ns,
                             span->name, err)))
        return false;
    cn_kineto_take(trace->kineto, event,
                   &(struct cn_kineto_span){span->pid, span->tid, track, span->name,
                                            span->begin_ns, duration_ns});
    return true;
}

const char *cn_sql_copy_name(uint8_t detail)
{
    static const char *const names[CN_GPU_COPY_COUNT] = {
        [CN_GPU_COPY_UNKNOWN] = "Memcpy",
        [CN_GPU_HOST_TO_DEVICE] = "Memcpy HtoD",
        [CN_GPU_DEVICE_TO_HOST] = "Memcpy DtoH",
        [CN_GPU_HOST_TO_ARRAY] = "Memcpy HtoA",
        [CN_GPU_ARRAY_TO_HOST] = "Memcpy AtoH",
        [CN_GPU_ARRAY_TO_ARRAY] = "Memcpy AtoA",
        [CN_GPU_ARRAY_TO_DEVICE] = "Memcpy AtoD",
        [CN_GPU_DEVICE_TO_ARRAY] = "Memcpy DtoA",
        [CN_GPU_DEVICE_TO_DEVICE] = "Memcpy DtoD",
        [CN_GPU_HOST_TO_HOST] = "Memcpy HtoH",
        [CN_GPU_PEER_TO_PEER] = "Memcpy PtoP",
    };

    return names[detail < CN_GPU_COPY_COUNT ? detail : CN_GPU_COPY_UNKNOWN];
}

const char *cn_sql_set_name(uint8_t detail)
{
    return detail == CN_GPU_DEVICE ? "Memset (Device)" : "Memset";
}

bool cn_sql_trace_finish(struct cn_sql_trace *trace, uint64_t base_ns, const char *path,
                         struct cn_recording **out, struct cn_error *err)
{
    struct cn_call_import *import = trace->import;
    struct cn_error damage = trace->damage;
    uint64_t skipped_count = trace->skipped_count;

    cn_kineto_finish(trace->kineto, import);
    trace->import = NULL;
    cn_sql_trace_close(trace);
    if (!cn_call_import_finish(import, base_ns, out, err))
        return cn_fail_in(err, "%s", path);
    (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    if (damage.kind != CN_ERR_NONE)
        cn_recording_warn(*out, true, "%s; read up to there", damage.text);
    if (skipped_count > 0)
        cn_recording_warn(*out, false, "%" PRIu64 " %s", skipped_count,
                          cn_plural(skipped_count,
                                    "row without a possible time is skipped",
                                    "rows without possible times are skipped"));
    cn_kineto_warn(*out);
    return true;
}

/* The beginning of a database: 1 that it is none, 0 that a name is not in it. */
static bool beginning_has(const char *path, const char *name, bool *is_database)
{
    static const char magic[] = "SQLite format 3";
    struct cn_file file = {0};
    struct cn_error ignored;
    struct cn_content content;
    struct cn_bytes bytes;
    bool has = false;

    *is_database = false;
    if (!cn_file_open_content(&file, path, &ignored))
        return false;
    content = cn_file_content(&file);
    if (cn_content_slice(content, 0, content.len < LOOK_LEN ? content.len : LOOK_LEN,
                         &bytes) &&
        bytes.len >= sizeof(magic) && memcmp(bytes.ptr, magic, sizeof(magic)) == 0) {
        *is_database = true;
        has = memmem(bytes.ptr, bytes.len, name, strlen(name)) != NULL;
    }
    cn_file_close(&file);
    return has;
}

bool cn_sql_trace_probe(const char *path, const char *table, const char *other)
{
    struct cn_sql_file *file = NULL;
    struct cn_error ignored;
    bool is_database, has = beginning_has(path, table, &is_database);

    if (!is_database || !cn_sql_file_open(&file, path, &ignored))
        return is_database && has;
    has = cn_sql_has(file, table) || cn_sql_has(file, other);
    cn_sql_file_close(file);
    return has;
}
