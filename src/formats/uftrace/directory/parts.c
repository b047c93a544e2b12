#include "formats/uftrace/directory/stream.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/perf_index.h"
#include "formats/uftrace/packed/decode.h"
#include "formats/uftrace/packed/record_source.h"
#include "formats/uftrace/records/reader.h"

enum {
    SEARCH_LEN = 64 << 10, /* bytes to search for the start of a record */
    LOOK_LEN = 128 << 10,  /* bytes mapped around a page that is read */
    BELIEVED_COUNT = 64,   /* records in a row that make a start plausible */
};
#define GAP_MAX_NS (UINT64_C(3600) * 1000000000)

struct directory_parts {
    struct cn_call_part *list;
    size_t count, capacity;
};

/* Begin a part, which ends the last one. */
static void add(struct directory_parts *parts, uint64_t begin_off, uint64_t begin_ns)
{
    if (parts->count > 0) {
        parts->list[parts->count - 1].end_off = begin_off;
        parts->list[parts->count - 1].end_ns = begin_ns;
    }
    CN_PUSH(parts->list, parts->count, parts->capacity,
            (struct cn_call_part){
                .begin_off = begin_off, .begin_ns = begin_ns, .end_ns = UINT64_MAX});
}

/* True if records plausibly begin at `off`; sets the time of the first. */
static bool begins_at(const struct cn_uft_records *records, uint64_t off,
                      uint64_t *time_ns)
{
    uint64_t last_ns = 0;

    for (unsigned i = 0; i < BELIEVED_COUNT; i++) {
        struct cn_bytes bytes;

        if (!cn_content_slice(records->content, off + i * (uint64_t)cn_uft_record_size,
                              cn_uft_record_size, &bytes))
            return false;
        struct cn_uft_record record = cn_uft_record_get(bytes, records->is_big_endian);
        if (!cn_uft_record_has_magic(record) ||
            cn_bits(record.word, CN_UFT_MORE_AT, CN_UFT_MORE_BITS) ||
            cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) > CN_UFT_EXIT ||
            record.time_ns < last_ns || (i > 0 && record.time_ns - last_ns > GAP_MAX_NS))
            return false;
        last_ns = record.time_ns;
        if (i == 0)
            *time_ns = last_ns;
    }
    return true;
}

/* Reading a page also maps those around it: drop them. */
static void forget_around(const struct cn_uft_records *records, uint64_t off)
{
    uint64_t begin_off = off > LOOK_LEN ? off - LOOK_LEN : 0;
    uint64_t rest_len = records->content.len - begin_off;
    struct cn_bytes part;

    if (records->is_mapped &&
        cn_content_slice(records->content, begin_off,
                         rest_len < 2 * LOOK_LEN ? rest_len : 2 * LOOK_LEN, &part))
        cn_file_forget(part);
}

/* No part begins in a wait, whose events may be moved between the records in it. */
static void cut_plain(struct directory_parts *parts, const struct cn_uft_directory *dir,
                      uint32_t task, uint64_t part_len)
{
    const struct cn_uft_records *records = &dir->records[task];
    uint64_t search_len = part_len < SEARCH_LEN ? part_len : SEARCH_LEN;

    for (uint64_t target = part_len; target < records->content.len; target += part_len) {
        uint64_t time_ns;

        for (uint64_t off = cn_align_up(target, CN_UFT_PAYLOAD_ALIGN);
             off < target + search_len; off += CN_UFT_PAYLOAD_ALIGN)
            if (begins_at(records, off, &time_ns) &&
                !cn_uft_perf_is_waiting(dir, task, time_ns)) {
                add(parts, off, time_ns);
                break;
            }
        forget_around(records, target);
    }
}

/* Begin a part after a chunk of whole records without payload. The reader reports
 * damage. */
static void cut_packed(struct directory_parts *parts, const struct cn_uft_directory *dir,
                       uint32_t task, uint64_t part_len)
{
    const struct cn_uft_records *records = &dir->records[task];
    struct cn_chunk_walk walk;
    uint64_t target = part_len;
    bool is_whole = false;

    cn_chunk_walk_begin(&walk, &records->chunks);
    while (!cn_chunk_walk_is_at_end(&walk)) {
        struct cn_uft_packed_lead lead;
        struct cn_chunk chunk;
        struct cn_error ignored;

        if (!cn_chunk_walk_next(&walk, false, &chunk, &ignored) ||
            !cn_uft_packed_lead_read(chunk.stored, &lead, &ignored))
            return;
        if (is_whole && lead.unpacked_off >= target &&
            !cn_uft_perf_is_waiting(dir, task, lead.first_ns)) {
            add(parts, chunk.off, lead.first_ns);
            target = lead.unpacked_off + part_len;
        }
        is_whole = lead.payload_len == 0 && lead.unpacked_len % cn_uft_record_size == 0;
    }
}

size_t cn_uft_parts(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out)
{
    const struct cn_uft_directory *dir = cn_uft_directory_of(rec);
    const struct cn_uft_records *records;
    struct directory_parts parts = {0};

    if (rec->tasks[task].is_stream)
        return 0;
    records = &dir->records[task];
    if (!records->name || (!records->is_packed && records->content.len <= part_len))
        return 0;
    add(&parts, 0, 0);
    if (records->is_packed)
        cut_packed(&parts, dir, task, part_len);
    else
        cut_plain(&parts, dir, task, part_len);
    parts.list[parts.count - 1].end_off = records->content.len;
    if (parts.count == 1) {
        free(parts.list);
        return 0;
    }
    *out = parts.list;
    return parts.count;
}
