#include "formats/memory/reader.h"

#include <inttypes.h>

#include "base/files/file.h"
#include "formats/memory/format.h"

/* Pages of the file that are kept at most. */
enum { KEPT_LEN = 4 << 20 };

static uint64_t kind_of(const struct cn_memory_record *record)
{
    return record->place >> CN_MEMORY_KIND_AT;
}

static uint64_t address_of(const struct cn_memory_record *record)
{
    return record->place & ((UINT64_C(1) << CN_MEMORY_KIND_AT) - 1);
}

static bool check(struct cn_heap_log *log, struct cn_memory_record *record,
                  struct cn_error *err)
{
    uint64_t kind = kind_of(record), size_max = UINT64_C(1) << CN_MEMORY_KIND_AT;

    if (kind >= CN_MEMORY_KIND_COUNT)
        return cn_fail(err, CN_ERR_FORMAT, "unknown kind %" PRIu64, kind);
    if (record->time_ns < log->time_ns &&
        log->time_ns - record->time_ns > CN_MEMORY_BACKWARDS_NS_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "time runs backwards: %" PRIu64 " after %" PRIu64, record->time_ns,
                       log->time_ns);
    if (record->size >= size_max ||
        (kind != CN_MEMORY_BEGIN && record->usable_size >= size_max))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " bytes, of which %" PRIu64
                       " are requested: more than an address space has",
                       record->usable_size, record->size);
    if (log->off == 0 && kind != CN_MEMORY_BEGIN)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the first record has kind %" PRIu64
                       ", not %d: it does not begin a program",
                       kind, CN_MEMORY_BEGIN);
    if (record->time_ns < log->time_ns)
        record->time_ns = log->time_ns;
    return true;
}

/* True if there is an event; another record changes the state. */
static bool take(struct cn_heap_log *log, const struct cn_memory_record *record,
                 struct cn_heap_event *out)
{
    static const enum cn_heap_event_kind kinds[CN_MEMORY_KIND_COUNT] = {
        [CN_MEMORY_ALLOC] = CN_HEAP_EVENT_ALLOC,
        [CN_MEMORY_GROWN] = CN_HEAP_EVENT_ALLOC,
        [CN_MEMORY_MAP] = CN_HEAP_EVENT_ALLOC,
        [CN_MEMORY_FREE] = CN_HEAP_EVENT_RELEASE,
        [CN_MEMORY_MOVED] = CN_HEAP_EVENT_RELEASE,
        [CN_MEMORY_UNMAP] = CN_HEAP_EVENT_UNMAP,
        [CN_MEMORY_LOST] = CN_HEAP_EVENT_LOST,
        [CN_MEMORY_CHECKED] = CN_HEAP_EVENT_CHECKED,
        [CN_MEMORY_LEAKED] = CN_HEAP_EVENT_LEAKED,
    };
    uint64_t kind = kind_of(record);

    log->time_ns = record->time_ns;
    if (kind == CN_MEMORY_BEGIN)
        log->process = cn_memory_process(address_of(record), record->usable_size);
    if (kind == CN_MEMORY_BEGIN || kind == CN_MEMORY_NOTHING)
        return false;
    if (kind == CN_MEMORY_MOVED)
        log->old_size = record->usable_size;
    *out = (struct cn_heap_event){
        .kind = kinds[kind],
        .time_ns = record->time_ns,
        .process = log->process,
        .address = address_of(record),
        .size = record->size,
        .usable_size = record->usable_size,
        .old_size = kind == CN_MEMORY_GROWN ? log->old_size : 0,
        .is_mapping = kind == CN_MEMORY_MAP,
    };
    return true;
}

static void forget(const struct cn_heap_log *log)
{
    struct cn_bytes part;

    if (log->off % KEPT_LEN == 0 &&
        cn_bytes_slice(log->file, log->off - KEPT_LEN, KEPT_LEN, &part))
        cn_file_forget(part);
}

enum cn_step cn_memory_log_next(struct cn_heap_log *log, struct cn_heap_event *out,
                                struct cn_error *err)
{
    struct cn_memory_record record;
    struct cn_bytes bytes;
    bool is_event = false;

    while (!is_event) {
        if (log->off == log->file.len)
            return CN_END;
        if (!cn_bytes_slice(log->file, log->off, cn_memory_record_size, &bytes) ||
            !cn_memory_record_decode(bytes, &record))
            (void)cn_fail(err, CN_ERR_FORMAT, "the last record is cut off");
        else if (check(log, &record, err)) {
            is_event = take(log, &record, out);
            log->off += cn_memory_record_size;
            forget(log);
            continue;
        }
        return cn_fail_in(err, "%s: record %" PRIu64 " at 0x%" PRIx64, log->name,
                          log->off / cn_memory_record_size, log->off);
    }
    return CN_ITEM;
}
