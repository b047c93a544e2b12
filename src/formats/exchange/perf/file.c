#include "formats/exchange/perf/file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/wire.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/exchange/perf/origin.h"

#define CUT_OFF "cut off"

enum { BUILD_ID_NAME_OFF = 28, HEAD_LEN = 8, CLOCK_DATA_LEN = 24 };

/* A record in the order of time. */
struct cn_perf_at {
    uint64_t time_ns, off;
};

static bool add_event(struct cn_perf_file *file, struct cn_bytes attr,
                      struct cn_bytes ids, struct cn_error *err)
{
    struct cn_perf_event *event = &file->events[file->event_count];
    uint8_t whole[cn_perf_attr_size] = {0};

    if (file->event_count == CN_PERF_EVENT_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d events", CN_PERF_EVENT_MAX);
    if (attr.len < CN_PERF_ATTR_LEN_MIN)
        return cn_fail(err, CN_ERR_FORMAT, "an event of %zu bytes is shorter than %d",
                       attr.len, CN_PERF_ATTR_LEN_MIN);
    memcpy(whole, attr.ptr, attr.len < sizeof(whole) ? attr.len : sizeof(whole));
    if (!cn_perf_attr_decode((struct cn_bytes){whole, sizeof(whole)}, &event->attr))
        return cn_fail(err, CN_ERR_FORMAT, "an event of %zu bytes", attr.len);
    for (size_t at = 0; ids.len - at >= sizeof(uint64_t); at += sizeof(uint64_t))
        *cn_map_at(&file->event_of, cn_u64_get(ids.ptr + at), 0) = file->event_count;
    file->event_count++;
    return true;
}

static bool read_attrs(struct cn_perf_file *file, const struct cn_perf_header *header,
                       struct cn_error *err)
{
    struct cn_bytes attrs, ids;

    if (header->attr_size < CN_PERF_ATTR_LEN_MIN + cn_perf_section_size ||
        !cn_bytes_slice(file->bytes, header->attrs_off, header->attrs_len, &attrs))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " bytes of attributes at %" PRIu64
                       " do not fit the file",
                       header->attrs_len, header->attrs_off);
    while (attrs.len >= header->attr_size) {
        struct cn_bytes attr, end;
        struct cn_perf_section section;

        if (!cn_bytes_take(&attrs, (size_t)header->attr_size, &attr) ||
            !cn_bytes_from(attr, attr.len - cn_perf_section_size, &end) ||
            !cn_perf_section_decode(end, &section) ||
            !cn_bytes_slice(file->bytes, section.off, section.len, &ids))
            return cn_fail(err, CN_ERR_FORMAT,
                           "ids of event %" PRIu32 " do not fit the file",
                           file->event_count);
        attr.len -= cn_perf_section_size;
        if (!add_event(file, attr, ids, err))
            return false;
    }
    return true;
}

static void add_build_id(struct cn_perf_file *file, struct cn_bytes id, const char *path)
{
    struct cn_text key = {0};

    cn_text_printf(&key, "%s\n", path);
    cn_hex_add(&key, id.ptr, id.len);
    (void)cn_names_add(&file->build_id_keys, cn_text_str(&key));
    cn_text_done(&key);
}

/* Records with a pid, 20 bytes of id, the length of the id, 3 unused bytes, and a path. */
static void read_build_ids(struct cn_perf_file *file, struct cn_bytes list)
{
    struct cn_perf_head head;

    while (cn_perf_head_decode(list, &head)) {
        struct cn_bytes record, id;
        size_t len = CN_PERF_BUILD_ID_MAX;

        if (head.size < BUILD_ID_NAME_OFF + HEAD_LEN ||
            !cn_bytes_take(&list, head.size, &record))
            return;
        const char *path = cn_bytes_string(record, BUILD_ID_NAME_OFF + HEAD_LEN);
        if (head.misc & CN_PERF_MISC_BUILD_ID_SIZE)
            len = record.ptr[HEAD_LEN + 4 + CN_PERF_BUILD_ID_MAX];
        if (path && len <= CN_PERF_BUILD_ID_MAX &&
            cn_bytes_slice(record, HEAD_LEN + 4, len, &id))
            add_build_id(file, id, path);
    }
}

/* Names of events: their number, the size of an attribute, then for each event its
 * attribute, number of ids, name and ids. */
static void read_event_names(struct cn_perf_file *file, struct cn_bytes rest)
{
    uint32_t count, attr_len;

    if (!cn_wire_u32_take(&rest, &count) || !cn_wire_u32_take(&rest, &attr_len))
        return;
    for (uint32_t i = 0; i < count && i < file->event_count; i++) {
        uint32_t id_count, name_len;
        struct cn_bytes skipped, name;

        if (!cn_bytes_take(&rest, attr_len, &skipped) ||
            !cn_wire_u32_take(&rest, &id_count) || !cn_wire_u32_take(&rest, &name_len) ||
            !cn_bytes_take(&rest, name_len, &name) ||
            !cn_bytes_take(&rest, (size_t)id_count * sizeof(uint64_t), &skipped))
            return;
        if (cn_bytes_string(name, 0))
            file->events[i].name =
                cn_arena_strdup(&file->arena, cn_bytes_string(name, 0));
    }
}

static bool read_symbols(struct cn_perf_file *file, struct cn_bytes packed,
                         struct cn_error *err)
{
    struct cn_text bytes = {0};

    cn_stored_symbols_done(&file->symbols);
    bool ok = cn_unpack(packed, CN_STORED_SYMBOLS_MAX + (1 << 20), &bytes, err) &&
              (cn_stored_symbols_decode(&file->symbols, &bytes) ||
               cn_fail(err, CN_ERR_FORMAT, "not a table of names"));
    cn_text_done(&bytes);
    return ok;
}

/* Features only add names: damaged ones do not hide records. */
static void note_bad_feature(struct cn_perf_file *file, uint64_t feature, uint64_t off,
                             uint64_t len, const char *problem)
{
    static const char *const names[CN_PERF_FEATURE_COUNT] = {
        [CN_PERF_FEATURE_BUILD_ID] = " (build-ids)",
        [CN_PERF_FEATURE_COMMAND] = " (command line)",
        [CN_PERF_FEATURE_EVENT_DESC] = " (names of events)",
        [CN_PERF_FEATURE_SYMBOLS] = " (names of functions)",
        [CN_PERF_FEATURE_ORIGIN] = " (what was recorded)",
    };

    if (file->bad_feature.kind != CN_ERR_NONE && off >= file->bad_feature_off)
        return;
    file->bad_feature = (struct cn_error){0};
    file->bad_feature_off = off;
    (void)cn_fail(&file->bad_feature, CN_ERR_FORMAT,
                  "feature %" PRIu64 "%s, %" PRIu64 " bytes at 0x%" PRIx64 ": %s",
                  feature, names[feature] ? names[feature] : "", len, off, problem);
}

static void read_feature(struct cn_perf_file *file, uint64_t feature, uint64_t off,
                         struct cn_bytes bytes)
{
    struct cn_error err = {0};

    if (feature == CN_PERF_FEATURE_BUILD_ID)
        read_build_ids(file, bytes);
    else if (feature == CN_PERF_FEATURE_EVENT_DESC)
        read_event_names(file, bytes);
    else if (feature == CN_PERF_FEATURE_CLOCK_DATA && bytes.len >= CLOCK_DATA_LEN &&
             cn_u64_get(bytes.ptr + 8) >= cn_u64_get(bytes.ptr + 16))
        file->epoch_ns = cn_u64_get(bytes.ptr + 8) - cn_u64_get(bytes.ptr + 16);
    else if (feature == CN_PERF_FEATURE_SYMBOLS && !read_symbols(file, bytes, &err))
        note_bad_feature(file, feature, off, bytes.len, err.text);
    cn_perf_origin_read(&file->origin, feature, bytes, &file->arena);
}

/* A section for each feature bit, after the data. A writer that was killed left none. */
static void read_features(struct cn_perf_file *file, const struct cn_perf_header *header)
{
    uint64_t at = 0, features[4];

    cn_perf_features_get(header, features);
    if (file->is_unfinished || !cn_u64_add(header->data_off, header->data_len, &at))
        return;
    for (unsigned i = 0; i < CN_PERF_FEATURE_COUNT; i++) {
        struct cn_perf_section section;
        struct cn_bytes bytes;

        if (!(features[i / 64] >> i % 64 & 1))
            continue;
        if (!cn_bytes_slice(file->bytes, at, cn_perf_section_size, &bytes) ||
            !cn_perf_section_decode(bytes, &section)) {
            note_bad_feature(file, i, at, cn_perf_section_size, CUT_OFF);
            return;
        }
        at += cn_perf_section_size;
        if (cn_bytes_slice(file->bytes, section.off, section.len, &bytes))
            read_feature(file, i, section.off, bytes);
        else
            note_bad_feature(file, i, section.off, section.len, CUT_OFF);
    }
}

static const char *default_name(struct cn_perf_file *file, uint32_t i)
{
    static const char *const hardware[] = {"cycles",
                                           "instructions",
                                           "cache-references",
                                           "cache-misses",
                                           "branches",
                                           "branch-misses",
                                           "bus-cycles",
                                           "stalled-cycles-frontend",
                                           "stalled-cycles-backend",
                                           "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output"};
    const struct cn_perf_attr *attr = &file->events[i].attr;

    if (attr->type == 0 && attr->config < sizeof(hardware) / sizeof(*hardware))
        return hardware[attr->config];
    if (attr->type == 1 && attr->config < sizeof(software) / sizeof(*software))
        return software[attr->config];
    return cn_arena_printf(&file->arena, "event %" PRIu32, i);
}

/* The time is after these fields of a sample; in other records, only these fields are
 * after the time. */
enum {
    BEFORE_TIME = CN_PERF_HAS_IDENTIFIER | CN_PERF_HAS_IP | CN_PERF_HAS_TID,
    AFTER_TIME =
        CN_PERF_HAS_ID | CN_PERF_HAS_STREAM_ID | CN_PERF_HAS_CPU | CN_PERF_HAS_IDENTIFIER,
};

static uint64_t time_of(const struct cn_perf_file *file, uint32_t type,
                        struct cn_bytes body)
{
    const struct cn_perf_attr *attr = &file->events[0].attr;
    size_t from_end, off;
    struct cn_bytes time;

    if (file->event_count == 0)
        return 0;
    attr = &file->events[cn_perf_event_of(file, type, body)].attr;
    from_end = 8 + 8 * (size_t)cn_perf_count(attr->sample_type, AFTER_TIME);
    if (!(attr->sample_type & CN_PERF_HAS_TIME))
        return 0;
    if (type == CN_PERF_SAMPLE)
        off = 8 * (size_t)cn_perf_count(attr->sample_type, BEFORE_TIME);
    else if (attr->flags & CN_PERF_FLAG_SAMPLE_ID_ALL && body.len >= from_end)
        off = body.len - from_end;
    else
        return 0;
    return cn_bytes_slice(body, off, 8, &time) ? cn_u64_get(time.ptr) : 0;
}

/* An attribute in a pipe: the attribute, then its ids. */
static bool read_attr_record(struct cn_perf_file *file, struct cn_bytes body,
                             struct cn_error *err)
{
    struct cn_bytes attr, ids;

    if (body.len < CN_PERF_ATTR_LEN_MIN)
        return cn_fail(err, CN_ERR_FORMAT, "an event of %zu bytes", body.len);
    uint32_t len = cn_u32_get(body.ptr + 4);
    if (!cn_bytes_slice(body, 0, len, &attr) || !cn_bytes_from(body, len, &ids))
        return cn_fail(err, CN_ERR_FORMAT, "an event of %" PRIu32 " bytes in %zu", len,
                       body.len);
    return add_event(file, attr, ids, err);
}

static void read_update(struct cn_perf_file *file, struct cn_bytes body)
{
    const char *name = cn_bytes_string(body, 16);

    if (!name || cn_u64_get(body.ptr) != CN_PERF_UPDATE_NAME)
        return;
    uint32_t event = cn_map_find(&file->event_of, cn_u64_get(body.ptr + 8), UINT32_MAX);
    if (event < file->event_count)
        file->events[event].name = cn_arena_strdup(&file->arena, name);
}

/* The length of data after a record that its size does not include. */
static uint64_t trailing_len(uint32_t type, struct cn_bytes body)
{
    if (type == CN_PERF_TRACING_DATA && body.len >= 4)
        return cn_align_up(cn_u32_get(body.ptr), 8);
    if (type == CN_PERF_AUXTRACE && body.len >= 8)
        return cn_u64_get(body.ptr);
    return 0;
}

/* The block that has an offset: the last that begins before it. */
static const struct cn_perf_block *block_at(const struct cn_perf_file *file, uint64_t off)
{
    size_t after = cn_search_u64(&file->blocks->first_off, file->block_count,
                                 sizeof(*file->blocks), off);

    return &file->blocks[after > 0 ? after - 1 : 0];
}

static bool bytes_at(const struct cn_perf_file *file, uint64_t off, uint64_t len,
                     struct cn_bytes *out)
{
    const struct cn_perf_block *block = block_at(file, off);

    return cn_bytes_slice(block->bytes, off - block->first_off, len, out);
}

bool cn_perf_fail_at(const struct cn_perf_file *file, uint64_t off, struct cn_error *err)
{
    const struct cn_perf_block *block = block_at(file, off);
    uint64_t at = off - block->first_off;

    if (block->is_unpacked)
        (void)cn_fail_in(err, "compressed record at %" PRIu64, at);
    else
        (void)cn_fail_in(err, "record at %" PRIu64,
                         block->name ? at : file->data_off + at);
    return block->name ? cn_fail_in(err, "%s", block->name) : false;
}

static bool add_packed(struct cn_perf_file *file, const struct cn_perf_record *record,
                       struct cn_error *err)
{
    struct cn_bytes chunk = record->body;

    if (block_at(file, record->off)->is_unpacked)
        return cn_fail(err, CN_ERR_FORMAT, "compressed twice");
    if (record->head.type == CN_PERF_COMPRESSED2 &&
        (record->body.len < sizeof(uint64_t) ||
         !cn_bytes_slice(record->body, sizeof(uint64_t), cn_u64_get(record->body.ptr),
                         &chunk)))
        return cn_fail(err, CN_ERR_FORMAT, "compressed data is longer than its record");
    cn_text_add(&file->packed, (const char *)chunk.ptr, chunk.len);
    return true;
}

static bool read_record(struct cn_perf_file *file, const struct cn_perf_record *record,
                        struct cn_error *err)
{
    struct cn_bytes body = record->body, bytes;
    struct cn_perf_file_name name;
    struct cn_perf_memory memory;
    struct cn_perf_gpu gpu;

    switch (record->head.type) {
    case CN_PERF_MMAP:
    case CN_PERF_MMAP2:
    case CN_PERF_COMM:
    case CN_PERF_FORK:
    case CN_PERF_EXIT:
    case CN_PERF_SWITCH:
    case CN_PERF_SWITCH_CPU_WIDE:
    case CN_PERF_SAMPLE:
    case CN_PERF_LOST:
    case CN_PERF_LOST_SAMPLES:
        CN_PUSH(file->order, file->order_count, file->order_capacity,
                (struct cn_perf_at){time_of(file, record->head.type, body), record->off});
        return true;
    case CN_PERF_HEADER_ATTR:
        return read_attr_record(file, body, err);
    case CN_PERF_EVENT_UPDATE:
        read_update(file, body);
        return true;
    case CN_PERF_HEADER_BUILD_ID:
        if (bytes_at(file, record->off, record->head.size, &bytes))
            read_build_ids(file, bytes);
        return true;
    case CN_PERF_HEADER_FEATURE:
        if (cn_bytes_from(body, 8, &bytes))
            read_feature(file, cn_u64_get(body.ptr), record->off, bytes);
        return true;
    case CN_PERF_HEADER_EVENT_TYPE:
        if (cn_perf_gpu_decode(body, &gpu) && gpu.magic == CN_PERF_GPU_MAGIC) {
            CN_PUSH(file->order, file->order_count, file->order_capacity,
                    (struct cn_perf_at){gpu.time_ns, record->off});
            return true;
        }
        if (cn_perf_memory_decode(body, &memory) &&
            memory.magic == CN_PERF_MEMORY_MAGIC) {
            CN_PUSH(file->order, file->order_count, file->order_capacity,
                    (struct cn_perf_at){memory.time_ns, record->off});
            return true;
        }
        if (cn_perf_file_name_decode(body, &name) && name.magic == CN_PERF_FILE_MAGIC) {
            CN_PUSH(file->order, file->order_count, file->order_capacity,
                    (struct cn_perf_at){name.time_ns, record->off});
            return true;
        }
        cn_stored_names_decode(&file->stored, body);
        return true;
    case CN_PERF_COMPRESSED:
    case CN_PERF_COMPRESSED2:
        return add_packed(file, record, err);
    default:
        return true;
    }
}

static bool record_at(const struct cn_perf_file *file, uint64_t off,
                      struct cn_perf_record *out)
{
    struct cn_bytes head, record;

    if (!bytes_at(file, off, cn_perf_head_size, &head) ||
        !cn_perf_head_decode(head, &out->head))
        return false;
    out->off = off;
    return out->head.size >= cn_perf_head_size &&
           bytes_at(file, off, out->head.size, &record) &&
           cn_bytes_from(record, cn_perf_head_size, &out->body);
}

static bool read_records(struct cn_perf_file *file, uint64_t off, uint64_t end_off,
                         struct cn_error *err)
{
    while (off < end_off) {
        struct cn_perf_record record;

        if (!record_at(file, off, &record)) {
            /* What a writer that was killed had not finished. */
            if (file->is_unfinished) {
                file->cut_len += end_off - off;
                return true;
            }
            (void)cn_fail(err, CN_ERR_FORMAT, CUT_OFF);
            return cn_perf_fail_at(file, off, err);
        }
        if (!read_record(file, &record, err))
            return cn_perf_fail_at(file, off, err);
        uint64_t trailing = trailing_len(record.head.type, record.body);
        off += record.head.size;
        if (trailing > end_off - off) {
            (void)cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " bytes after it are missing",
                          trailing);
            return cn_perf_fail_at(file, record.off, err);
        }
        off += trailing;
    }
    return true;
}

/* Read the records of a new block. */
static bool read_block(struct cn_perf_file *file, struct cn_perf_block block,
                       struct cn_error *err)
{
    uint64_t end_off;

    if (file->block_count > 0) {
        const struct cn_perf_block *last = &file->blocks[file->block_count - 1];

        block.first_off = last->first_off + last->bytes.len;
    }
    CN_PUSH(file->blocks, file->block_count, file->block_capacity, block);
    if (!cn_u64_add(block.first_off, block.bytes.len, &end_off))
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes of records", block.bytes.len);
    return read_records(file, block.first_off, end_off, err);
}

/* Records cross the boundaries of compressed chunks, so they are read after all chunks of a
 * file. */
static bool read_packed(struct cn_perf_file *file, const char *name, struct cn_error *err)
{
    struct cn_bytes stream = {(const uint8_t *)file->packed.chars, file->packed.len};
    struct cn_perf_block block = {.name = name, .is_unpacked = true};

    if (stream.len == 0)
        return true;
    if (!cn_unpacked_stream(&block.unpacked, stream,
                            (uint64_t)stream.len * CN_PERF_RATIO_MAX, err))
        return cn_fail_in(err, "compressed records");
    cn_text_clear(&file->packed);
    block.bytes = block.unpacked.bytes;
    return read_block(file, block, err);
}

static bool open_parts(struct cn_perf_file *file, struct cn_error *err)
{
    struct cn_perf_header header = {0};

    if (file->bytes.len < CN_PERF_PIPE_HEADER_LEN ||
        memcmp(file->bytes.ptr, CN_PERF_MAGIC, 8) != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       file->bytes.len >= 8 &&
                               memcmp(file->bytes.ptr, CN_PERF_MAGIC_SWAPPED, 8) == 0
                           ? "perf.data of a big-endian machine is not supported"
                           : "does not begin with " CN_PERF_MAGIC);
    if (cn_u64_get(file->bytes.ptr + 8) == CN_PERF_PIPE_HEADER_LEN) {
        file->data_off = CN_PERF_PIPE_HEADER_LEN;
        file->is_unfinished = true;
        return cn_bytes_from(file->bytes, file->data_off, &file->data);
    }
    if (!cn_perf_header_decode(file->bytes, &header))
        return cn_fail(err, CN_ERR_FORMAT, "the header is cut off: %zu bytes of %d",
                       file->bytes.len, (int)cn_perf_header_size);
    file->data_off = header.data_off;
    if (!cn_bytes_from(file->bytes, header.data_off, &file->data))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " bytes of data at %" PRIu64 " do not fit the file",
                       header.data_len, header.data_off);
    /* The writer was killed, or the file was not copied whole. */
    file->is_unfinished = header.data_len == 0 || header.data_len > file->data.len;
    if (header.data_len > file->data.len)
        file->cut_len = header.data_len - file->data.len;
    else if (header.data_len > 0)
        file->data.len = (size_t)header.data_len;
    header.data_len = file->data.len;
    if (!read_attrs(file, &header, err))
        return false;
    read_features(file, &header);
    return true;
}

/* Damage hides the records after it, not those before. */
static bool note_damage(struct cn_perf_file *file, const struct cn_error *err)
{
    if (file->damage.kind == CN_ERR_NONE)
        file->damage = *err;
    return err->kind == CN_ERR_FORMAT;
}

static bool read_all(struct cn_perf_file *file, const struct cn_perf_part *parts,
                     size_t part_count, struct cn_error *err)
{
    for (size_t i = 0; i <= part_count; i++) {
        struct cn_perf_block block = {.bytes = file->data};

        if (i > 0)
            block = (struct cn_perf_block){.bytes = parts[i - 1].bytes,
                                           .name = parts[i - 1].name};
        if (!read_block(file, block, err) && !note_damage(file, err))
            return false;
        if (!read_packed(file, block.name, err) && !note_damage(file, err))
            return false;
    }
    if (file->damage.kind == CN_ERR_NONE || file->order_count > 0)
        return true;
    *err = file->damage;
    return false;
}

/* The last record is the latest. */
static bool check_times(const struct cn_perf_file *file, struct cn_error *err)
{
    const struct cn_perf_at *last =
        file->order_count > 0 ? &file->order[file->order_count - 1] : NULL;
    uint64_t date_ns;

    return !last || cn_u64_add(file->epoch_ns, last->time_ns, &date_ns) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "record at 0x%" PRIx64 ": time %" PRIu64 " ns of a clock that began "
                   "at %" PRIu64 " ns does not fit 64 bits",
                   last->off, last->time_ns, file->epoch_ns);
}

bool cn_perf_file_open(struct cn_perf_file *file, struct cn_bytes bytes,
                       const struct cn_perf_part *parts, size_t part_count,
                       struct cn_error *err)
{
    *file = (struct cn_perf_file){.bytes = bytes};
    if (!open_parts(file, err) || !read_all(file, parts, part_count, err)) {
        cn_perf_file_close(file);
        return false;
    }
    for (uint32_t i = 0; i < file->event_count; i++)
        if (!file->events[i].name)
            file->events[i].name = default_name(file, i);
    CN_SORT(file->order, file->order_count, CN_UP(struct cn_perf_at, time_ns),
            CN_UP(struct cn_perf_at, off));
    if (!check_times(file, err)) {
        cn_perf_file_close(file);
        return false;
    }
    return true;
}

void cn_perf_file_close(struct cn_perf_file *file)
{
    cn_map_done(&file->event_of);
    cn_names_done(&file->build_id_keys);
    cn_stored_names_done(&file->stored);
    cn_stored_symbols_done(&file->symbols);
    cn_arena_done(&file->arena);
    free(file->order);
    cn_text_done(&file->packed);
    for (size_t i = 0; i < file->block_count; i++)
        cn_unpacked_close(&file->blocks[i].unpacked);
    free(file->blocks);
    *file = (struct cn_perf_file){0};
}

enum cn_step cn_perf_next(struct cn_perf_file *file, struct cn_perf_record *out,
                          struct cn_error *err)
{
    (void)err;
    if (file->next == file->order_count)
        return CN_END;
    out->time_ns = file->order[file->next].time_ns;
    /* It was readable when the file was opened. */
    return record_at(file, file->order[file->next++].off, out) ? CN_ITEM : CN_END;
}

const char *cn_perf_build_id(const struct cn_perf_file *file, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < file->build_id_keys.count; i++) {
        const char *key = file->build_id_keys.list[i];

        if (strncmp(key, path, len) == 0 && key[len] == '\n')
            return key + len + 1;
    }
    return "";
}
