/* Old segments go, pinned traces stay. */

#include <stdlib.h>

#include "base/alloc.h"
#include "model/traces/trace.h"
#include "store/care/care.h"
#include "store/care/pins.h"
#include "store/index/columns.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/write/writer.h"

struct candidate {
    uint32_t number;
    uint64_t last_ns, rows, len;
};

struct candidates {
    struct candidate *list;
    size_t count;
    uint64_t rows, len; /* of all segments */
};

static int by_age(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->last_ns != y->last_ns)
        return x->last_ns < y->last_ns ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static bool look_at(const char *base, uint32_t number, struct candidate *out,
                    struct cn_error *err)
{
    struct cn_segment *segment;
    uint64_t first_ns;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    *out = (struct candidate){
        .number = number,
        .rows = cn_segment_row_count(segment),
        .len = cn_segment_disk_len(cn_segment_path(segment)),
    };
    if (out->rows > 0)
        cn_columns_range(cn_segment_columns(segment), CN_STORE_FIELD_time_ns, &first_ns,
                         &out->last_ns);
    cn_segment_close(segment);
    return true;
}

static bool look_at_all(const char *base, struct candidates *out, struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count;
    bool ok;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    *out = (struct candidates){.list = cn_alloc(count, sizeof(*out->list))};
    ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = look_at(base, numbers[i], &out->list[i], err);
        out->rows += out->list[i].rows;
        out->len += out->list[i].len;
    }
    /* The newest is written to: it does not go. */
    out->count = count > 0 ? count - 1 : 0;
    if (ok && out->count > 0)
        qsort(out->list, out->count, sizeof(*out->list), by_age);
    free(numbers);
    return ok;
}

static bool has_to_go(const struct cn_store_limits *limits,
                      const struct candidate *candidate, const struct candidates *all)
{
    if (limits->before_ns != 0 && candidate->last_ns < limits->before_ns)
        return true;
    if (limits->len_max != 0 && all->len > limits->len_max)
        return true;
    return limits->count_max != 0 && all->rows - candidate->rows >= limits->count_max;
}

static bool copy_pinned(const struct cn_segment *segment, const struct cn_pins *pins,
                        struct cn_store_writer *writer, struct cn_store_added *added,
                        struct cn_error *err)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < cn_segment_row_count(segment); i++) {
        struct cn_error ignored;
        struct cn_store_row row;

        if (!cn_segment_row(segment, i, &row, &ignored) || !cn_store_row_is_trace(&row) ||
            !cn_pins_has(pins, row.trace_high, row.trace_low))
            continue;
        ok = cn_segment_load(loader, segment, i, &trace, err) &&
             cn_store_writer_add(writer, &trace, added, err);
    }
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    return ok && cn_store_writer_commit(writer, err);
}

static bool remove_one(const char *base, const struct candidate *candidate,
                       const struct cn_pins *pins, struct cn_store_writer *writer,
                       struct cn_store_expiry *counts, struct cn_error *err)
{
    struct cn_store_added added = {0};
    struct cn_segment *segment;
    bool ok = true;

    if (pins->count > 0) {
        if (!cn_segment_open(&segment, base, candidate->number, err))
            return false;
        ok = copy_pinned(segment, pins, writer, &added, err);
        counts->pinned_count += added.traces;
        cn_segment_close(segment);
    }
    if (!ok || !cn_segment_remove(base, candidate->number, err))
        return false;
    counts->segments++;
    counts->rows += candidate->rows;
    counts->len += candidate->len;
    return true;
}

static bool expire(const char *base, const struct cn_store_limits *limits,
                   struct cn_store_writer *writer, struct cn_store_expiry *counts,
                   struct cn_error *err)
{
    struct candidates all = {0};
    struct cn_pins pins = {0};
    bool ok = cn_pins_read(&pins, base, err) && look_at_all(base, &all, err);

    for (size_t i = 0; ok && i < all.count; i++) {
        if (!has_to_go(limits, &all.list[i], &all))
            continue;
        ok = remove_one(base, &all.list[i], &pins, writer, counts, err);
        all.rows -= all.list[i].rows;
        all.len -= all.list[i].len;
    }
    free(all.list);
    cn_pins_done(&pins);
    return ok;
}

bool cn_store_expire(const char *path, const struct cn_store_limits *limits,
                     struct cn_store_expiry *out, struct cn_error *err)
{
    struct cn_store_expiry counts = {0};
    struct cn_store_writer *writer;
    bool ok;

    if (!cn_store_writer_open(&writer, path, NULL, err))
        return false;
    /* What is written to can be too old as well. */
    ok = cn_store_writer_retire(writer, limits->before_ns, err) &&
         expire(path, limits, writer, &counts, err);
    if (!ok) {
        cn_store_writer_abandon(writer);
        return false;
    }
    if (!cn_store_writer_close(writer, err))
        return false;
    *out = counts;
    return true;
}
