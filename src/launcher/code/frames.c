#include "launcher/code/frames.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"

enum { ABSENT = 0xff };

#define LENGTH_64 UINT32_MAX

/* Bytes that are read from the front, and the address of the next one. */
struct frames_reader {
    struct cn_bytes rest;
    uint64_t address;
    bool is_bad;
};

static const uint8_t *take(struct frames_reader *reader, uint64_t len)
{
    const uint8_t *at = reader->rest.ptr;

    if (reader->is_bad || len > reader->rest.len) {
        reader->is_bad = true;
        return NULL;
    }
    reader->rest.ptr += len;
    reader->rest.len -= (size_t)len;
    reader->address += len;
    return at;
}

static uint64_t take_number(struct frames_reader *reader, unsigned len)
{
    const uint8_t *at = take(reader, len);
    uint64_t value = 0;

    for (unsigned i = 0; at && i < len; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t take_leb(struct frames_reader *reader, bool is_signed)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = take(reader, 1);

        if (!at)
            return 0;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (*at & 0x80)
            continue;
        if (is_signed && (*at & 0x40) && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        return value;
    }
    reader->is_bad = true;
    return 0;
}

/* A value in an encoding of DWARF (DW_EH_PE_*), absolute or relative to its address. */
static uint64_t take_encoded(struct frames_reader *reader, uint8_t encoding)
{
    uint64_t base = (encoding & 0x70) == 0x10 ? reader->address : 0;
    uint64_t value;

    if ((encoding & 0x70) != 0 && (encoding & 0x70) != 0x10)
        reader->is_bad = true;
    switch (encoding & 0xf) {
    case 0x0:
    case 0x4:
    case 0xc:
        return base + take_number(reader, 8);
    case 0x1:
        return base + take_leb(reader, false);
    case 0x3:
        return base + take_number(reader, 4);
    case 0x9:
        return base + take_leb(reader, true);
    case 0xb:
        value = take_number(reader, 4);
        return base + (uint64_t)(int64_t)(int32_t)value;
    default:
        reader->is_bad = true;
        return 0;
    }
}

/* What the frames of a common entry share. */
struct common {
    uint8_t address_encoding, handlers_encoding;
    bool has_length; /* of what follows the addresses */
    bool is_signal;
};

static void read_augmentation(struct frames_reader *entry, const char *letters,
                              struct common *out)
{
    for (; *letters && !entry->is_bad; letters++) {
        uint8_t encoding;

        switch (*letters) {
        case 'z':
            out->has_length = true;
            (void)take_leb(entry, false);
            break;
        case 'R':
            out->address_encoding = (uint8_t)take_number(entry, 1);
            break;
        case 'L':
            out->handlers_encoding = (uint8_t)take_number(entry, 1);
            break;
        case 'P':
            encoding = (uint8_t)take_number(entry, 1);
            (void)take_encoded(entry, encoding & 0x1f);
            break;
        case 'S':
            out->is_signal = true;
            break;
        case 'B': /* aarch64: the key that signs return addresses */
            break;
        default:
            entry->is_bad = true;
        }
    }
}

static bool read_common(struct frames_reader entry, struct common *out)
{
    *out = (struct common){.handlers_encoding = ABSENT};
    uint64_t version = take_number(&entry, 1);
    const char *letters = cn_bytes_string(entry.rest, 0);
    if (!letters || (version != 1 && version != 3))
        return false;
    (void)take(&entry, strlen(letters) + 1);
    (void)take_leb(&entry, false);
    (void)take_leb(&entry, true);
    if (version == 1)
        (void)take_number(&entry, 1);
    else
        (void)take_leb(&entry, false);
    read_augmentation(&entry, letters, out);
    return !entry.is_bad;
}

/* True if no rule changes before the first instruction. */
static bool begins_plainly(const struct frames_reader *instructions)
{
    for (size_t i = 0; i < instructions->rest.len; i++) {
        uint8_t code = instructions->rest.ptr[i];

        if (code != 0) /* not a nop: to the next address, DW_CFA_advance_loc* */
            return (code & 0xc0) == 0x40 || (code >= 0x01 && code <= 0x04);
    }
    return true;
}

static bool read_frame(struct frames_reader entry, const struct common *common,
                       struct cn_code_frame *out)
{
    uint64_t len, end;

    *out = (struct cn_code_frame){0};
    out->start = take_encoded(&entry, common->address_encoding);
    out->end = out->start + take_encoded(&entry, common->address_encoding & 0xf);
    if (common->has_length) {
        len = take_leb(&entry, false);
        end = entry.address + len;
        if (common->handlers_encoding != ABSENT && len > 0) {
            uint64_t at = entry.address;

            out->handlers = take_encoded(&entry, common->handlers_encoding & 0x7f);
            /* A null pointer is not relative. */
            if (out->handlers == at)
                out->handlers = 0;
        }
        if (end < entry.address)
            return false;
        (void)take(&entry, end - entry.address);
    }
    out->is_entry = !common->is_signal && begins_plainly(&entry);
    return !entry.is_bad && out->start < out->end;
}

void cn_code_add_frames(struct cn_code *code, uint64_t address, struct cn_bytes bytes)
{
    struct frames_reader all = {.rest = bytes, .address = address};

    while (all.rest.len >= 4) {
        struct frames_reader entry, common_entry;
        struct cn_code_frame frame;
        struct common common;
        uint64_t len = take_number(&all, 4), id_at, id, common_at;

        if (len == 0)
            continue; /* an end, which another file's entries may follow */
        id_at = all.address;
        entry =
            (struct frames_reader){.rest = {all.rest.ptr, (size_t)len}, .address = id_at};
        if (len == LENGTH_64 || !take(&all, len))
            return;
        id = take_number(&entry, 4);
        if (id == 0 || entry.is_bad)
            continue;
        common_at = id_at - id;
        if (common_at < address || common_at >= id_at)
            return;
        common_entry = (struct frames_reader){.address = common_at + 8};
        if (!cn_bytes_slice(bytes, common_at - address, 4, &common_entry.rest))
            return;
        len = cn_u32_get(common_entry.rest.ptr);
        if (len < 4 ||
            !cn_bytes_slice(bytes, common_at - address + 8, len - 4,
                            &common_entry.rest) ||
            !read_common(common_entry, &common) || !read_frame(entry, &common, &frame))
            continue;
        CN_PUSH(code->frames, code->frame_count, code->frame_capacity, frame);
    }
}

bool cn_code_handlers_walk(const struct cn_code *code, const struct cn_code_frame *frame,
                           cn_code_handler_fn visit, void *arg)
{
    const struct cn_code_section *section = cn_code_section_at(code, frame->handlers);
    struct frames_reader table = {.address = frame->handlers};
    uint64_t base = frame->start, len;
    uint8_t encoding;

    if (frame->handlers == 0)
        return true;
    if (!section ||
        !cn_bytes_from(section->bytes, frame->handlers - section->address, &table.rest))
        return false;
    encoding = (uint8_t)take_number(&table, 1);
    if (encoding != ABSENT)
        base = take_encoded(&table, encoding);
    encoding = (uint8_t)take_number(&table, 1);
    if (encoding != ABSENT)
        (void)take_leb(&table, false);
    encoding = (uint8_t)take_number(&table, 1);
    len = take_leb(&table, false);
    if (table.is_bad || len > table.rest.len || (encoding & 0x70) != 0)
        return false;
    table.rest.len = (size_t)len;
    while (table.rest.len > 0 && !table.is_bad) {
        uint64_t start = frame->start + take_encoded(&table, encoding);
        uint64_t end = start + take_encoded(&table, encoding);
        uint64_t handler = take_encoded(&table, encoding);

        (void)take_leb(&table, false);
        if (!table.is_bad && handler != 0)
            visit(arg, start, end, base + handler);
    }
    return !table.is_bad;
}
