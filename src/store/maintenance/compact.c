/* Joins small segments into large ones. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/scan.h"
#include "store/segment/seal.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/writer.h"
#include "store/write/lock.h"
#include "store/write/spans_seen.h"
#include "store/write/translate.h"

struct compact_joining {
    const char *base;
    struct cn_segment_writer target;
    struct cn_spans_seen seen;
    struct cn_translation translation;
    struct cn_trace trace;
    uint64_t rows;
};

static bool is_new(struct compact_joining *joining, const struct cn_trace *trace,
                   uint64_t span_id)
{
    struct cn_store_row row = {
        .trace_high = trace->id_high,
        .trace_low = trace->id_low,
        .span_id = span_id,
        .flags = CN_ROW_LAST,
    };

    return cn_spans_seen_add(&joining->seen, &row);
}

static bool wants_span(void *arg, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    return is_new(arg, trace, span->id);
}

static bool copy_trace(struct compact_joining *joining, uint64_t span_id,
                       struct cn_error *err)
{
    struct cn_zorka_part part;

    if (!is_new(joining, &joining->trace, span_id))
        return true;
    joining->rows++;
    const struct cn_trace *trace =
        cn_translate(&joining->translation, &joining->trace, &joining->target.words);
    return cn_segment_writer_add(&joining->target, trace, 0, wants_span, joining, &part,
                                 err) &&
           (cn_segment_writer_waiting(&joining->target) < 8 << 20 ||
            cn_segment_writer_commit(&joining->target, err));
}

/* A damaged segment is not joined: the file that it has is all that is left of it. */
static bool copy_segment(struct compact_joining *joining, uint32_t number,
                         struct cn_error *err)
{
    struct cn_segment *segment;
    struct cn_store_row row;
    bool ok;

    if (!cn_segment_open(&segment, joining->base, number, err))
        return false;
    ok = cn_segment_check(segment, err) && cn_segment_check_words(segment, err);
    struct cn_segment_loader *loader = cn_segment_loader_new();
    for (uint32_t i = 0; ok && i < cn_segment_row_count(segment); i++) {
        ok = cn_segment_row(segment, i, &row, err);
        if (!ok || !cn_store_row_is_trace(&row))
            continue;
        ok = cn_segment_load(loader, segment, i, &joining->trace, err);
        if (ok)
            ok = copy_trace(joining, row.span_id, err);
        else if (err->kind == CN_ERR_NOT_FOUND)
            ok = true; /* a part without its first part */
    }
    cn_segment_loader_free(loader);
    cn_translation_forget(&joining->translation);
    cn_segment_close(segment);
    return ok;
}

/* Once the config of the new segment says that it is sealed, the segments it replaces are no
 * longer listed. */
static bool join(const char *base, const uint32_t *numbers, size_t count, uint32_t number,
                 const struct cn_store_config *config, struct cn_store_compaction *counts,
                 struct cn_error *err)
{
    struct compact_joining joining = {.base = base};
    struct cn_store_config own = *config;
    bool ok = true;

    own.has_replaced = true;
    own.replaced_first = numbers[0];
    own.replaced_last = numbers[count - 1];
    if (!cn_segment_writer_create(&joining.target, base, number, &own, &cn_disk_files,
                                  err))
        return false;
    for (size_t i = 0; ok && i < count; i++)
        ok = copy_segment(&joining, numbers[i], err);
    if (ok)
        ok = cn_segment_writer_close(&joining.target, err) &&
             cn_segment_seal(base, number, &cn_disk_files, err) &&
             cn_segments_remove_replaced(base, err);
    else
        cn_segment_writer_abandon(&joining.target);
    counts->rows += joining.rows;
    cn_spans_seen_done(&joining.seen);
    cn_translation_done(&joining.translation);
    cn_trace_done(&joining.trace);
    return ok;
}

/* The segments of a store and their bytes on disk. */
struct sizes {
    uint32_t *numbers;
    uint64_t *lens, sum;
    size_t count;
};

static bool measure(struct sizes *sizes, const char *base, struct cn_error *err)
{
    *sizes = (struct sizes){0};
    if (!cn_segments_list(base, &sizes->numbers, &sizes->count, err))
        return false;
    sizes->lens = cn_alloc(sizes->count, sizeof(*sizes->lens));
    for (size_t i = 0; i < sizes->count; i++) {
        char *dir = cn_segment_dir(base, sizes->numbers[i]);

        sizes->lens[i] = cn_segment_disk_len(dir);
        sizes->sum += sizes->lens[i];
        free(dir);
    }
    return true;
}

static void sizes_done(struct sizes *sizes)
{
    free(sizes->numbers);
    free(sizes->lens);
}

static bool compact(const char *base, struct cn_store_compaction *counts,
                    struct cn_error *err)
{
    struct cn_store_config config;
    struct sizes sizes = {0};
    uint32_t next;
    bool ok = cn_store_config_read(&config, base, err) &&
              cn_segments_remove_replaced(base, err) && measure(&sizes, base, err);

    counts->before = counts->after = (uint32_t)sizes.count;
    counts->len_before = sizes.sum;
    next = sizes.count > 0 ? sizes.numbers[sizes.count - 1] + 1 : 0;
    for (size_t i = 0, end; ok && i < sizes.count; i = end) {
        uint64_t len = sizes.lens[i];

        /* As many as fit into one. */
        for (end = i + 1; end < sizes.count && len + sizes.lens[end] <= config.rotate_len;
             end++)
            len += sizes.lens[end];
        if (end - i > 1 && next <= CN_SEGMENT_NUMBER_MAX) {
            config.created_ns = cn_clock_date_ns();
            ok = join(base, sizes.numbers + i, end - i, next++, &config, counts, err);
            counts->after -= (uint32_t)(end - i) - 1;
        }
    }
    sizes_done(&sizes);
    return ok;
}

bool cn_store_compact(const char *path, struct cn_store_compaction *out,
                      struct cn_error *err)
{
    struct cn_store_compaction counts = {0};
    struct sizes sizes = {0};
    uint32_t sealed;
    int lock;

    if (cn_path_is_address(path))
        return cn_bucket_compact(path, out, err);
    if (!cn_store_seal(path, &sealed, err) || !cn_store_lock(path, &lock, err))
        return false;
    bool ok = compact(path, &counts, err) && measure(&sizes, path, err);
    counts.len_after = sizes.sum;
    sizes_done(&sizes);
    cn_store_unlock(lock);
    if (ok)
        *out = counts;
    return ok;
}
