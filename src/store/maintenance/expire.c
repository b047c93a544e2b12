/* Removes old segments and keeps pinned traces. The file "pinned" of a store has one trace id of 32
 * hexadecimal digits per line. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "store/index/columns.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/write/lock.h"
#include "store/write/writer.h"

#define PINS_NAME "pinned"
enum { ID_LEN = 32 };

struct pins {
    struct pin {
        char id[ID_LEN + 1];
    } * list;
    size_t count, capacity;
};

static struct pin pin_of(uint64_t id_high, uint64_t id_low)
{
    struct pin pin;

    (void)snprintf(pin.id, sizeof(pin.id), "%016" PRIx64 "%016" PRIx64, id_high, id_low);
    return pin;
}

static void add_pin(struct pins *pins, struct pin pin)
{
    CN_PUSH(pins->list, pins->count, pins->capacity, pin);
}

/* The index of a pin; the count if it is missing. */
static size_t find_pin(const struct pins *pins, struct pin pin)
{
    size_t i = 0;

    while (i < pins->count && memcmp(pins->list[i].id, pin.id, ID_LEN) != 0)
        i++;
    return i;
}

/* A missing file has no pins. Lines that are not ids are ignored. */
static bool read_pins(struct pins *pins, const char *base, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_file file = {0};
    bool ok = true;

    *pins = (struct pins){0};
    char *path = cn_strprintf("%s/" PINS_NAME, base);
    if (access(path, F_OK) == 0)
        ok = cn_file_open(&file, path, err);
    cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    for (const char *line = cn_text_str(&text); *line;) {
        size_t len = strcspn(line, "\n");
        struct pin pin = {0};

        if (len == ID_LEN && cn_hex_begins(line, ID_LEN)) {
            memcpy(pin.id, line, ID_LEN);
            add_pin(pins, pin);
        }
        line += len + (line[len] == '\n');
    }
    cn_file_close(&file);
    cn_text_done(&text);
    free(path);
    return ok;
}

bool cn_store_pin(const char *path, uint64_t id_high, uint64_t id_low, bool is_pinned,
                  bool *is_new, struct cn_error *err)
{
    struct pin pin = pin_of(id_high, id_low);
    struct cn_text text = {0};
    struct pins pins = {0};
    bool was_pinned, ok;
    int lock;

    if (!cn_store_lock(path, &lock, err))
        return false;
    ok = read_pins(&pins, path, err);
    size_t at = find_pin(&pins, pin);
    was_pinned = at < pins.count;
    if (ok && was_pinned != is_pinned) {
        if (is_pinned)
            add_pin(&pins, pin);
        for (size_t i = 0; i < pins.count; i++) {
            if (i != at || is_pinned)
                cn_text_printf(&text, "%s\n", pins.list[i].id);
        }
        ok = cn_disk_replace(&cn_disk_files, path, PINS_NAME, cn_text_str(&text),
                             text.len, err);
    }
    cn_text_done(&text);
    free(pins.list);
    cn_store_unlock(lock);
    if (ok && is_new)
        *is_new = was_pinned != is_pinned;
    return ok;
}

struct expire_candidate {
    uint32_t number;
    uint64_t last_ns, rows, len;
};

struct expire_candidates {
    struct expire_candidate *list;
    size_t count;
    uint64_t rows, len; /* of all segments */
};

static bool look_at(const char *base, uint32_t number, struct expire_candidate *out,
                    struct cn_error *err)
{
    struct cn_segment *segment;
    uint64_t first_ns;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    *out = (struct expire_candidate){
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

/* The segment that is written to stays. */
static bool look_at_all(const char *base, uint32_t current, struct expire_candidates *out,
                        struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count;
    bool ok = true;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    *out = (struct expire_candidates){.list = cn_alloc(count, sizeof(*out->list))};
    for (size_t i = 0; ok && i < count; i++) {
        struct expire_candidate *candidate = &out->list[out->count];

        ok = look_at(base, numbers[i], candidate, err);
        out->rows += candidate->rows;
        out->len += candidate->len;
        out->count += numbers[i] != current;
    }
    if (ok)
        CN_SORT(out->list, out->count, CN_UP(struct expire_candidate, last_ns),
                CN_UP(struct expire_candidate, number));
    free(numbers);
    return ok;
}

static bool copy_pinned(const struct cn_segment *segment, const struct pins *pins,
                        struct cn_store_writer *writer, struct cn_store_added *added,
                        struct cn_error *err)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < cn_segment_row_count(segment); i++) {
        struct cn_store_row row;

        /* A row that cannot be read may be that of a pinned trace. */
        ok = cn_segment_row(segment, i, &row, err);
        if (!ok || !cn_store_row_is_trace(&row) ||
            find_pin(pins, pin_of(row.trace_high, row.trace_low)) == pins->count)
            continue;
        ok = cn_segment_load(loader, segment, i, &trace, err) &&
             cn_store_writer_add(writer, &trace, added, err);
    }
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    return ok && cn_store_writer_commit(writer, err);
}

static bool remove_one(const char *base, const struct expire_candidate *candidate,
                       const struct pins *pins, struct cn_store_writer *writer,
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
    struct expire_candidates all = {0};
    struct pins pins = {0};
    bool ok = read_pins(&pins, base, err) &&
              look_at_all(base, cn_store_writer_segment(writer), &all, err);

    for (size_t i = 0; ok && i < all.count; i++) {
        const struct expire_candidate *oldest = &all.list[i];

        if ((limits->before_ns == 0 || oldest->last_ns >= limits->before_ns) &&
            (limits->len_max == 0 || all.len <= limits->len_max) &&
            (limits->count_max == 0 || all.rows - oldest->rows < limits->count_max))
            continue;
        ok = remove_one(base, oldest, &pins, writer, counts, err);
        all.rows -= oldest->rows;
        all.len -= oldest->len;
    }
    free(all.list);
    free(pins.list);
    return ok;
}

bool cn_store_expire(const char *path, const struct cn_store_limits *limits,
                     struct cn_store_expiry *out, struct cn_error *err)
{
    struct cn_store_expiry counts = {0};
    struct cn_store_writer *writer;

    if (cn_path_is_address(path))
        return cn_bucket_expire(path, limits, out, err);
    if (!cn_store_writer_open(&writer, path, NULL, err))
        return false;
    /* The current segment may also be too old. */
    bool ok = cn_store_writer_retire(writer, limits->before_ns, err) &&
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
