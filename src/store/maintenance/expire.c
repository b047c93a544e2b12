/* Removes old segments and keeps pinned traces. */

#include <inttypes.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/size.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/index/columns.h"
#include "store/maintenance/care.h"
#include "store/maintenance/pins.h"
#include "store/segment/config.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/write/lock.h"
#include "store/write/writer.h"

struct expire_candidate {
    uint32_t number;
    uint64_t last_ns, rows, len;
};

struct expire_candidates {
    struct expire_candidate *list; /* sealed, the oldest first */
    size_t count;
    uint64_t rows, len; /* of all segments */
    uint64_t excess;    /* bytes on the disk above its limit */
};

/* Spans whose clock is ahead are not younger than the file that they are in. */
static bool look_at(const char *base, uint32_t number, struct expire_candidate *out,
                    bool *is_sealed, struct cn_error *err)
{
    uint64_t first_ns, written_ns = cn_segment_written_ns(base, number);
    struct cn_segment *segment;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    *is_sealed = cn_segment_is_sealed(segment);
    *out = (struct expire_candidate){
        .number = number,
        .rows = cn_segment_row_count(segment),
        .len = cn_segment_disk_len(cn_segment_path(segment)),
    };
    if (out->rows > 0)
        cn_columns_range(cn_segment_columns(segment), CN_STORE_FIELD_time_ns, &first_ns,
                         &out->last_ns);
    /* What sampling dropped is counted as long as what it kept. */
    if (written_ns > 0 && (out->last_ns > written_ns || out->rows == 0))
        out->last_ns = written_ns;
    cn_segment_close(segment);
    return true;
}

/* Bytes to remove until the disk is used less than its limit, as df computes it. */
static uint64_t excess_of(const char *base, double share_max)
{
    struct statvfs disk;

    if (share_max <= 0 || statvfs(base, &disk) < 0)
        return 0;
    double used = (double)(disk.f_blocks - disk.f_bfree) * (double)disk.f_frsize;
    double all = used + (double)disk.f_bavail * (double)disk.f_frsize;
    double excess = used - all * share_max - (double)cn_segments_gone_len(base);

    return excess > 0 ? (uint64_t)excess : 0;
}

static bool look_at_all(const char *base, const struct cn_store_limits *limits,
                        struct expire_candidates *out, struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count;
    bool ok = true;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    *out = (struct expire_candidates){.list = cn_alloc(count, sizeof(*out->list)),
                                      .excess = excess_of(base, limits->disk_max)};
    for (size_t i = 0; ok && i < count; i++) {
        struct expire_candidate *candidate = &out->list[out->count];
        bool is_sealed = false;

        ok = look_at(base, numbers[i], candidate, &is_sealed, err);
        out->rows += candidate->rows;
        out->len += candidate->len;
        out->count += is_sealed;
    }
    if (ok)
        CN_SORT(out->list, out->count, CN_UP(struct expire_candidate, last_ns),
                CN_UP(struct expire_candidate, number));
    free(numbers);
    return ok;
}

static uint32_t rate_of_pinned(void *arg, const struct cn_store_row *row)
{
    return cn_pins_have(arg, row->trace_high, row->trace_low) ? CN_RATE_ALL : 0;
}

/* The number of traces in a segment, and of those that are pinned. A row that cannot be read may be
 * that of a pinned trace. */
static bool count_pinned(const char *base, uint32_t number, const struct cn_pins *pins,
                         uint64_t *all, uint64_t *pinned, struct cn_error *err)
{
    struct cn_segment *segment;
    bool ok = true;

    *all = *pinned = 0;
    if (!cn_segment_open(&segment, base, number, err))
        return false;
    for (uint32_t i = 0; ok && i < cn_segment_row_count(segment); i++) {
        struct cn_store_row row;

        ok = cn_segment_row(segment, i, &row, err);
        if (!ok || !cn_store_row_is_trace(&row))
            continue;
        ++*all;
        *pinned += cn_pins_have(pins, row.trace_high, row.trace_low);
    }
    cn_segment_close(segment);
    return ok;
}

/* `has_gone` receives false for a segment of pinned traces alone, which stays. */
static bool remove_one(const struct cn_store_care *care,
                       const struct expire_candidate *candidate, struct cn_pins *pins,
                       struct cn_store_expiry *counts, bool *has_gone,
                       struct cn_error *err)
{
    const struct cn_care_choice choice = {.rate = rate_of_pinned, .arg = pins};
    uint64_t all = 0, pinned = 0, copied;
    uint32_t number = candidate->number;

    *has_gone = false;
    if (pins->count > 0 && !count_pinned(care->base, number, pins, &all, &pinned, err))
        return false;
    if (pinned > 0 && pinned == all)
        return true;
    if (pinned == 0 ? !cn_segment_mark_gone(care->base, number, err)
                    : !cn_care_replace(care, &number, 1, &choice, &copied, err))
        return false;
    *has_gone = true;
    counts->pinned_count += pinned;
    counts->segments++;
    counts->rows += candidate->rows;
    counts->len += candidate->len;
    return true;
}

static bool is_over(const struct expire_candidates *all,
                    const struct cn_store_limits *limits,
                    const struct expire_candidate *oldest)
{
    return (limits->before_ns != 0 && oldest->last_ns < limits->before_ns) ||
           (limits->len_max != 0 && all->len > limits->len_max) ||
           (limits->count_max != 0 && all->rows - oldest->rows >= limits->count_max) ||
           all->excess > 0;
}

/* With cn_store_care.settle: nothing was written to it since. */
static bool is_settled(const struct cn_store_care *care, uint32_t number,
                       uint64_t begin_ns)
{
    return !care->settle || cn_segment_written_ns(care->base, number) < begin_ns;
}

bool cn_care_expire(const struct cn_store_care *care,
                    const struct cn_store_limits *limits, struct cn_store_expiry *out,
                    struct cn_error *err)
{
    uint64_t begin_ns = cn_clock_date_ns();
    struct expire_candidates all = {0};
    bool has_settled = care->settle == NULL;
    struct cn_pins pins;
    bool ok = true;

    *out = (struct cn_store_expiry){0};
    if (!cn_pins_open(&pins, care->base, err))
        return false;
    if (!look_at_all(care->base, limits, &all, err)) {
        free(all.list);
        cn_pins_close(&pins);
        return false;
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct expire_candidate *oldest = &all.list[i];
        struct cn_error found;
        bool has_gone;

        if (!is_over(&all, limits, oldest) || !is_settled(care, oldest->number, begin_ns))
            continue;
        if (!has_settled)
            care->settle(care->settle_arg);
        has_settled = true;
        if (!remove_one(care, oldest, &pins, out, &has_gone, &found)) {
            if (ok)
                *err = found;
            ok = false;
            has_gone = true; /* for the limits: no newer one is removed in its place */
        }
        if (!has_gone)
            continue;
        all.rows -= oldest->rows;
        all.len -= oldest->len;
        all.excess -= oldest->len < all.excess ? oldest->len : all.excess;
    }
    free(all.list);
    cn_pins_close(&pins);
    return ok;
}

void cn_store_expiry_print(struct cn_text *out, const struct cn_store_expiry *expiry)
{
    cn_text_printf(out,
                   "removed %" PRIu32 " segment%s with %" PRIu64 " traces and spans, ",
                   expiry->segments, cn_plural(expiry->segments, "", "s"), expiry->rows);
    cn_size_print(out, expiry->len);
    if (expiry->pinned_count > 0)
        cn_text_printf(out, "; kept %" PRIu64 " pinned trace%s", expiry->pinned_count,
                       cn_plural(expiry->pinned_count, "", "s"));
}

bool cn_store_expire(const char *path, const struct cn_store_limits *limits,
                     struct cn_store_expiry *out, struct cn_error *err)
{
    struct cn_store_care care = {.base = path};
    struct cn_store_expiry counts = {0};
    struct cn_store_writer *writer;
    int lock;

    if (cn_path_is_address(path))
        return cn_bucket_expire(path, limits, out, err);
    if (!cn_store_writer_open(&writer, path, NULL, err))
        return false;
    /* The current segment may also be too old. */
    if (!cn_store_writer_retire(writer, limits->before_ns, err)) {
        cn_store_writer_abandon(writer);
        return false;
    }
    if (!cn_store_writer_close(writer, err) || !cn_store_lock(path, &lock, err))
        return false;
    bool ok = cn_care_expire(&care, limits, &counts, err) && cn_care_clean(&care, err);
    cn_store_unlock(lock);
    if (ok)
        *out = counts;
    return ok;
}
