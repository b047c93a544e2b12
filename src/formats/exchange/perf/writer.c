#include "formats/exchange/perf/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/clock.h"

enum {
    CHUNK_LEN = 60000,      /* of records: compressed, they must fit one record */
    UNPACKED_MAX = 1 << 17, /* what a reader needs room for */
    HEAD_LEN = 8,
    TEXT_ALIGN = 64,
    ZSTD = 1,
    KIB = 1024,
};

static void put_head(struct cn_text *text, uint32_t type, uint16_t misc, size_t size)
{
    struct cn_perf_head head = {.type = type, .misc = misc, .size = (uint16_t)size};

    cn_perf_head_encode(&head, (uint8_t *)cn_text_room(text, cn_perf_head_size));
    cn_text_advance(text, cn_perf_head_size);
}

/* Length and characters, padded with NUL. */
static void put_text(struct cn_text *text, const char *str, size_t min)
{
    size_t len = (size_t)cn_align_up(strlen(str) + 1, TEXT_ALIGN);

    len = len < min ? min : len;
    cn_wire_u32(text, (uint32_t)len);
    cn_text_str_add(text, str);
    cn_text_fill(text, '\0', len - strlen(str));
}

/* Begin and end the contents of a feature, both as a section and as a record. */
static void begin_feature(struct cn_perf_writer *writer, uint32_t feature)
{
    writer->at[writer->section_count].feature = feature;
    writer->at[writer->section_count].off = writer->sections.len;
}

/* A record has at most 64 KB: a longer command line is in the section alone. */
static void add_feature_record(struct cn_text *records, uint32_t feature,
                               const char *contents, size_t len)
{
    size_t padded = (size_t)cn_align_up(len, 8);

    if (padded + 2 * HEAD_LEN > UINT16_MAX)
        return;
    put_head(records, CN_PERF_HEADER_FEATURE, 0, 2 * HEAD_LEN + padded);
    cn_wire_u64(records, feature);
    cn_text_add(records, contents, len);
    cn_text_fill(records, '\0', padded - len);
}

static void end_feature(struct cn_perf_writer *writer)
{
    size_t off = writer->at[writer->section_count].off;
    size_t len = writer->sections.len - off;

    writer->at[writer->section_count].len = len;
    add_feature_record(&writer->feature_records,
                       writer->at[writer->section_count].feature,
                       writer->sections.chars + off, len);
    cn_text_fill(&writer->sections, '\0', (size_t)cn_align_up(len, 8) - len);
    writer->section_count++;
}

static void add_text_feature(struct cn_perf_writer *writer, uint32_t feature,
                             const char *str, size_t min)
{
    begin_feature(writer, feature);
    put_text(&writer->sections, str, min);
    end_feature(writer);
}

static void add_events(struct cn_perf_writer *writer,
                       const struct cn_perf_writer_facts *facts)
{
    begin_feature(writer, CN_PERF_FEATURE_EVENT_DESC);
    cn_wire_u32(&writer->sections, (uint32_t)facts->event_count);
    cn_wire_u32(&writer->sections, (uint32_t)writer->attr_len);
    for (size_t i = 0; i < facts->event_count; i++) {
        const struct cn_perf_writer_event *event = &facts->events[i];

        cn_text_add(&writer->sections, (const char *)event->attr.ptr, event->attr.len);
        cn_wire_u32(&writer->sections, 1);
        put_text(&writer->sections, event->name, 0);
        cn_wire_u64(&writer->sections, i + 1);
    }
    end_feature(writer);
}

static void add_command(struct cn_perf_writer *writer, const char *const *words)
{
    uint32_t count = 0;

    while (words && words[count])
        count++;
    begin_feature(writer, CN_PERF_FEATURE_COMMAND);
    cn_wire_u32(&writer->sections, count);
    for (uint32_t i = 0; i < count; i++)
        put_text(&writer->sections, words[i], 0);
    end_feature(writer);
}

/* One record: pid -1, the id, its length, and the name of the kernel. */
static void add_build_id(struct cn_perf_writer *writer, struct cn_bytes id)
{
    static const char name[] = "[kernel.kallsyms]";
    size_t name_len = (size_t)cn_align_up(sizeof(name), 8);
    struct cn_text *text = &writer->sections;

    begin_feature(writer, CN_PERF_FEATURE_BUILD_ID);
    put_head(text, 0, CN_PERF_MODE_KERNEL | CN_PERF_MISC_BUILD_ID_SIZE,
             HEAD_LEN + 4 + CN_PERF_BUILD_ID_MAX + 4 + name_len);
    cn_wire_u32(text, UINT32_MAX);
    cn_text_add(text, (const char *)id.ptr, id.len);
    cn_text_fill(text, '\0', CN_PERF_BUILD_ID_MAX - id.len);
    cn_wire_u32(text, (uint32_t)id.len);
    cn_text_str_add(text, name);
    cn_text_fill(text, '\0', name_len - strlen(name));
    end_feature(writer);
}

/* The time of day of a time of the clock. */
static void add_clock_data(struct cn_perf_writer *writer, uint32_t clock)
{
    begin_feature(writer, CN_PERF_FEATURE_CLOCK_DATA);
    cn_wire_u32(&writer->sections, 1);
    cn_wire_u32(&writer->sections, clock);
    cn_wire_u64(&writer->sections, cn_clock_date_ns());
    cn_wire_u64(&writer->sections, cn_clock_read_ns((clockid_t)clock));
    end_feature(writer);
}

/* Features in the order of their numbers, as their sections must be. */
static void add_features(struct cn_perf_writer *writer,
                         const struct cn_perf_writer_facts *facts)
{
    struct utsname machine = {0};

    (void)uname(&machine);
    if (facts->kernel_build_id.len > 0 &&
        facts->kernel_build_id.len <= CN_PERF_BUILD_ID_MAX)
        add_build_id(writer, facts->kernel_build_id);
    add_text_feature(writer, CN_PERF_FEATURE_HOSTNAME, machine.nodename, 0);
    add_text_feature(writer, CN_PERF_FEATURE_OS_RELEASE, machine.release, 0);
    add_text_feature(writer, CN_PERF_FEATURE_VERSION, "cairn " CN_VERSION, 0);
    add_text_feature(writer, CN_PERF_FEATURE_ARCH, machine.machine, 0);
    begin_feature(writer, CN_PERF_FEATURE_CPU_COUNT);
    cn_wire_u32(&writer->sections, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    cn_wire_u32(&writer->sections, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    end_feature(writer);
    if (facts->processor && facts->processor[0])
        add_text_feature(writer, CN_PERF_FEATURE_CPU_DESC, facts->processor, 0);
    begin_feature(writer, CN_PERF_FEATURE_MEMORY);
    cn_wire_u64(&writer->sections, (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                       (uint64_t)sysconf(_SC_PAGESIZE) / KIB);
    end_feature(writer);
    add_command(writer, facts->command);
    add_events(writer, facts);
    begin_feature(writer, CN_PERF_FEATURE_CLOCK);
    cn_wire_u64(&writer->sections, 1);
    end_feature(writer);
    if (writer->compressor) {
        begin_feature(writer, CN_PERF_FEATURE_COMPRESSED);
        cn_wire_u32(&writer->sections, 0);
        cn_wire_u32(&writer->sections, ZSTD);
        cn_wire_u32(&writer->sections, (uint32_t)facts->compression_level);
        cn_wire_u32(&writer->sections, 1);
        cn_wire_u32(&writer->sections, UNPACKED_MAX);
        end_feature(writer);
    }
    add_clock_data(writer, facts->clock);
    if (facts->origin.len > 0)
        add_feature_record(&writer->feature_records, CN_PERF_FEATURE_ORIGIN,
                           (const char *)facts->origin.ptr, facts->origin.len);
}

static bool write_all(struct cn_perf_writer *writer, const void *data, size_t len,
                      struct cn_error *err)
{
    const char *from = data;

    for (size_t at = 0; at < len;) {
        ssize_t done =
            pwrite(writer->fd, from + at, len - at, (off_t)(writer->end_off + at));

        if (done <= 0 && errno != EINTR) {
            /* Readers must not find half a record. */
            int error = errno;

            (void)!ftruncate(writer->fd, (off_t)writer->end_off);
            errno = error;
            return cn_fail_errno(err, "cannot write %s", writer->path);
        }
        at += done > 0 ? (size_t)done : 0;
    }
    writer->end_off += len;
    return true;
}

/* Bytes of the header of a file and of its attributes with their ids. */
static size_t head_len(const struct cn_perf_writer *writer)
{
    return cn_perf_header_size +
           writer->event_count *
               (writer->attr_len + cn_perf_section_size + sizeof(uint64_t));
}

/* The header of a pipe, a record that the header of a file and its attributes will replace,
 * attributes and features. */
static bool write_beginning(struct cn_perf_writer *writer, struct cn_error *err)
{
    struct cn_text text = {0}, first = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_text(&first, "cairn", head_len(writer));
    size_t padded = (size_t)cn_align_up(first.len, 8);
    put_head(&text, CN_PERF_HEADER_FEATURE, 0, 2 * HEAD_LEN + padded);
    cn_wire_u64(&text, CN_PERF_FEATURE_VERSION);
    cn_text_add(&text, first.chars, first.len);
    cn_text_fill(&text, '\0', padded - first.len);
    for (size_t i = 0; i < writer->event_count; i++) {
        put_head(&text, CN_PERF_HEADER_ATTR, 0, HEAD_LEN + writer->attr_len + 8);
        cn_text_add(&text, writer->attrs.chars + i * writer->attr_len, writer->attr_len);
        cn_wire_u64(&text, i + 1);
    }
    cn_text_add(&text, writer->feature_records.chars, writer->feature_records.len);
    bool ok = write_all(writer, text.chars, text.len, err);
    writer->data_off = writer->end_off;
    cn_text_done(&first);
    cn_text_done(&text);
    return ok;
}

/* Give the file its name; what has that name becomes PATH.old. */
static bool move_into_place(struct cn_perf_writer *writer, const char *temporary,
                            struct cn_error *err)
{
    bool ok;
    char *old = cn_strprintf("%s.old", writer->path);

    writer->has_old = rename(writer->path, old) == 0;
    ok =
        writer->has_old || errno == ENOENT ||
        cn_fail_errno(err, "move %s away: %s cannot be renamed to it", old, writer->path);
    ok = ok && (rename(temporary, writer->path) == 0 ||
                cn_fail_errno(err, "cannot create %s", writer->path));
    free(old);
    return ok;
}

static void release(struct cn_perf_writer *writer)
{
    cn_compressor_free(writer->compressor);
    cn_text_done(&writer->sections);
    cn_text_done(&writer->feature_records);
    cn_text_done(&writer->attrs);
    cn_text_done(&writer->pending);
    cn_text_done(&writer->packed);
    free(writer->path);
    *writer = (struct cn_perf_writer){.fd = -1};
}

bool cn_perf_writer_open(struct cn_perf_writer *writer, const char *path,
                         const struct cn_perf_writer_facts *facts, struct cn_error *err)
{
    *writer = (struct cn_perf_writer){
        .path = cn_strdup(path),
        .event_count = facts->event_count,
        .attr_len = facts->events[0].attr.len,
    };
    if (facts->compression_level > 0)
        writer->compressor = cn_compressor_new_stream(facts->compression_level);
    for (size_t i = 0; i < facts->event_count; i++)
        cn_text_add(&writer->attrs, (const char *)facts->events[i].attr.ptr,
                    writer->attr_len);
    add_features(writer, facts);
    char *temporary = cn_strprintf("%s.%d.new", path, (int)getpid());
    writer->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = (writer->fd >= 0 || cn_fail_errno(err, "cannot create %s", path)) &&
              write_beginning(writer, err) && move_into_place(writer, temporary, err);
    if (!ok) {
        if (writer->fd >= 0) {
            (void)unlink(temporary);
            (void)close(writer->fd);
        }
        release(writer);
    }
    free(temporary);
    return ok;
}

/* Write the pending records, compressed as one record. */
static bool write_packed(struct cn_perf_writer *writer, struct cn_bytes raw,
                         struct cn_error *err)
{
    struct cn_perf_head head = {.type = CN_PERF_COMPRESSED};
    size_t len;

    cn_text_clear(&writer->packed);
    uint8_t *out = (uint8_t *)cn_text_room(
        &writer->packed, HEAD_LEN + cn_compressor_bound(writer->compressor, raw.len));
    if (!cn_compress(writer->compressor, raw, out + HEAD_LEN, &len, err))
        return false;
    head.size = (uint16_t)(HEAD_LEN + len);
    cn_perf_head_encode(&head, out);
    return write_all(writer, out, HEAD_LEN + len, err);
}

bool cn_perf_writer_flush(struct cn_perf_writer *writer, struct cn_error *err)
{
    struct cn_bytes raw = {(const uint8_t *)writer->pending.chars, writer->pending.len};

    if (raw.len == 0)
        return true;
    bool ok = writer->compressor ? write_packed(writer, raw, err)
                                 : write_all(writer, raw.ptr, raw.len, err);
    writer->sample_count += ok ? writer->pending_count : 0;
    writer->pending_count = 0;
    cn_text_clear(&writer->pending);
    return ok;
}

bool cn_perf_writer_add(struct cn_perf_writer *writer, struct cn_bytes record,
                        struct cn_error *err)
{
    if (writer->pending.len + record.len > CHUNK_LEN &&
        !cn_perf_writer_flush(writer, err))
        return false;
    cn_text_add(&writer->pending, (const char *)record.ptr, record.len);
    return true;
}

void cn_perf_writer_count_sample(struct cn_perf_writer *writer, uint64_t time_ns)
{
    writer->pending_count++;
    if (writer->first_ns == 0 || time_ns < writer->first_ns)
        writer->first_ns = time_ns;
    if (time_ns > writer->last_ns)
        writer->last_ns = time_ns;
}

void cn_perf_writer_add_section(struct cn_perf_writer *writer, uint32_t feature,
                                struct cn_bytes contents)
{
    begin_feature(writer, feature);
    cn_text_add(&writer->sections, (const char *)contents.ptr, contents.len);
    end_feature(writer);
}

/* The time of samples goes between the features before and after it. */
static void add_sample_time(struct cn_perf_writer *writer)
{
    size_t i = writer->section_count;

    begin_feature(writer, CN_PERF_FEATURE_SAMPLE_TIME);
    cn_wire_u64(&writer->sections, writer->first_ns);
    cn_wire_u64(&writer->sections, writer->last_ns);
    end_feature(writer);
    for (; i > 0 && writer->at[i - 1].feature > writer->at[i].feature; i--) {
        struct cn_perf_section moved = {writer->at[i].off, writer->at[i].len};
        uint32_t feature = writer->at[i].feature;

        writer->at[i] = writer->at[i - 1];
        writer->at[i - 1].feature = feature;
        writer->at[i - 1].off = (size_t)moved.off;
        writer->at[i - 1].len = (size_t)moved.len;
    }
}

static void put_section(struct cn_text *text, uint64_t off, uint64_t len)
{
    cn_wire_u64(text, off);
    cn_wire_u64(text, len);
}

/* The header of a file, and attributes with their ids: at the beginning, so that a file which
 * was not copied whole has them. In one write: until then the file is that of a pipe. */
static bool write_head(struct cn_perf_writer *writer, struct cn_perf_header *header,
                       struct cn_error *err)
{
    uint8_t bytes[cn_perf_header_size];
    struct cn_text head = {0};

    header->attrs_off = cn_perf_header_size;
    header->attrs_len = writer->event_count * header->attr_size;
    uint64_t ids = header->attrs_off + header->attrs_len;
    cn_perf_header_encode(header, bytes);
    memcpy(bytes, CN_PERF_MAGIC, strlen(CN_PERF_MAGIC));
    cn_text_add(&head, (const char *)bytes, sizeof(bytes));
    for (size_t i = 0; i < writer->event_count; i++) {
        cn_text_add(&head, writer->attrs.chars + i * writer->attr_len, writer->attr_len);
        put_section(&head, ids + i * sizeof(uint64_t), sizeof(uint64_t));
    }
    for (size_t i = 0; i < writer->event_count; i++)
        cn_wire_u64(&head, i + 1);
    bool ok = pwrite(writer->fd, head.chars, head.len, 0) == (ssize_t)head.len ||
              cn_fail_errno(err, "cannot write %s", writer->path);
    cn_text_done(&head);
    return ok;
}

/* Features are after the records. */
static bool complete(struct cn_perf_writer *writer, struct cn_error *err)
{
    struct cn_perf_header header = {
        .size = cn_perf_header_size,
        .attr_size = writer->attr_len + cn_perf_section_size,
        .data_off = writer->data_off,
        .data_len = writer->end_off - writer->data_off,
    };
    struct cn_text tail = {0};

    add_sample_time(writer);
    uint64_t contents = writer->end_off + writer->section_count * cn_perf_section_size;
    for (size_t i = 0; i < writer->section_count; i++) {
        *(writer->at[i].feature < 64 ? &header.features : &header.features_192) |=
            UINT64_C(1) << writer->at[i].feature % 64;
        put_section(&tail, contents + writer->at[i].off, writer->at[i].len);
    }
    cn_text_add(&tail, writer->sections.chars, writer->sections.len);
    bool ok =
        write_all(writer, tail.chars, tail.len, err) && write_head(writer, &header, err);
    cn_text_done(&tail);
    return ok;
}

void cn_perf_writer_discard(struct cn_perf_writer *writer)
{
    struct cn_text old = {0};

    if (writer->path && writer->fd >= 0) {
        (void)close(writer->fd);
        cn_text_printf(&old, "%s.old", writer->path);
        if (writer->has_old)
            (void)rename(cn_text_str(&old), writer->path);
        else
            (void)unlink(writer->path);
    }
    cn_text_done(&old);
    release(writer);
}

bool cn_perf_writer_close(struct cn_perf_writer *writer, struct cn_error *err)
{
    bool ok = true;

    if (writer->path && writer->fd >= 0) {
        ok = cn_perf_writer_flush(writer, err) && complete(writer, err);
        (void)close(writer->fd);
    }
    release(writer);
    return ok;
}
