#include "formats/uftrace/records/kernel_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/uftrace/text/scan.h"

enum { FIELDS_MAX = 256, PAGE_LEN_MAX = 1 << 20 };

/* "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;" */
static bool scan_field(struct cn_bytes line, struct cn_arena *arena,
                       struct cn_uft_kernel_field *out)
{
    struct cn_uft_kernel_field field = {0};
    struct cn_bytes declaration, name;
    uint32_t is_signed = 0;
    size_t begin;

    (void)cn_uft_scan_spaces(&line);
    if (!cn_uft_scan_literal(&line, "field:") ||
        !cn_uft_scan_until(&line, ';', &declaration) || !cn_uft_scan_spaces(&line) ||
        !cn_uft_scan_literal(&line, "offset:") ||
        !cn_uft_scan_u32(&line, &field.offset) || !cn_uft_scan_literal(&line, ";") ||
        !cn_uft_scan_spaces(&line) || !cn_uft_scan_literal(&line, "size:") ||
        !cn_uft_scan_u32(&line, &field.size))
        return false;
    if (cn_uft_scan_literal(&line, ";") && cn_uft_scan_spaces(&line) &&
        cn_uft_scan_literal(&line, "signed:"))
        (void)cn_uft_scan_u32(&line, &is_signed);
    field.is_signed = is_signed != 0;
    /* "char comm[16]": the name ends at the bracket. */
    name = declaration;
    if (memchr(name.ptr, '[', name.len)) {
        struct cn_bytes rest = declaration;

        (void)cn_uft_scan_until(&rest, '[', &name);
        field.is_array = true;
        field.is_text = memmem(name.ptr, name.len, "char", 4) != NULL;
    }
    for (begin = name.len; begin > 0 && name.ptr[begin - 1] != ' '; begin--)
        continue;
    (void)cn_bytes_from(name, begin, &name);
    field.name = cn_uft_text_copy(arena, name);
    *out = field;
    return true;
}

/* The format of an event: "name: x", "ID: 12", the common fields, an empty line, its own
 * fields. */
static bool read_event(struct cn_bytes text, struct cn_bytes system,
                       struct cn_arena *arena, struct cn_uft_kernel_event *out)
{
    struct cn_uft_kernel_field fields[FIELDS_MAX];
    struct cn_uft_kernel_event event = {0};
    struct cn_uft_lines lines;
    struct cn_bytes line, name = {0};
    struct cn_error ignored = {0};
    bool has_id = false;

    cn_uft_lines_begin(&lines, text);
    while (cn_uft_lines_next(&lines, &line, &ignored) == CN_ITEM) {
        if (cn_uft_scan_literal(&line, "name: "))
            name = line;
        else if (cn_uft_scan_literal(&line, "ID: "))
            has_id = cn_uft_scan_u32(&line, &event.id);
        else if (line.len == 0 && event.field_count > 0 && event.common_count == 0)
            event.common_count = event.field_count;
        else if (event.field_count < FIELDS_MAX &&
                 scan_field(line, arena, &fields[event.field_count]))
            event.field_count++;
    }
    if (!has_id || name.len == 0)
        return false;
    event.name =
        cn_arena_printf(arena, "%.*s:%.*s", (int)system.len, (const char *)system.ptr,
                        (int)name.len, (const char *)name.ptr);
    event.fields = cn_arena_alloc(arena, event.field_count, sizeof(*event.fields));
    if (event.field_count > 0)
        memcpy(event.fields, fields, event.field_count * sizeof(*fields));
    *out = event;
    return true;
}

/* "TRACEFS: events/sched/sched_switch/format: 1234", followed by that many bytes. */
static bool read_file(struct cn_bytes header, struct cn_bytes *rest,
                      struct cn_arena *arena, struct cn_uft_kernel_format *format)
{
    struct cn_bytes path, system, text;
    struct cn_uft_kernel_event event;
    uint64_t len;

    if (!cn_uft_scan_until(&header, ':', &path) || !cn_uft_scan_spaces(&header) ||
        !cn_uft_scan_dec(&header, &len) || len > rest->len ||
        !cn_bytes_take(rest, (size_t)len, &text))
        return false;
    if (!cn_uft_text_ends(path, "/format") || !cn_uft_scan_until(&path, '/', &system) ||
        !cn_uft_scan_until(&path, '/', &system))
        return true;
    if (read_event(text, system, arena, &event)) {
        CN_PUSH(format->events, format->count, format->capacity, event);
    }
    return true;
}

static bool read_key(struct cn_bytes line, struct cn_uft_kernel_format *format)
{
    uint32_t long_len = 0;

    if (cn_uft_scan_literal(&line, "PAGE_SIZE: "))
        (void)cn_uft_scan_dec(&line, &format->page_len);
    else if (cn_uft_scan_literal(&line, "LONG_SIZE: "))
        (void)cn_uft_scan_u32(&line, &long_len);
    else if (cn_uft_scan_literal(&line, "ENDIAN: "))
        format->is_big_endian = cn_uft_scan_literal(&line, "BE");
    else
        return false;
    if (long_len > 0)
        format->long_len = long_len;
    return true;
}

bool cn_uft_kernel_format_read(struct cn_bytes file, struct cn_arena *arena,
                               struct cn_uft_kernel_format *out, struct cn_error *err)
{
    struct cn_uft_lines lines;
    struct cn_bytes line;
    enum cn_step step;

    *out = (struct cn_uft_kernel_format){0};
    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_lines_next(&lines, &line, err)) == CN_ITEM) {
        if (read_key(line, out) || line.len == 0)
            continue;
        if (!cn_uft_scan_literal(&line, "TRACEFS: ") ||
            !read_file(line, &lines.rest, arena, out))
            return cn_fail(err, CN_ERR_FORMAT, "line %" PRIu64 ": cannot be parsed",
                           lines.number);
    }
    if (step == CN_FAIL)
        return false;
    if (out->page_len < 64 || out->page_len > PAGE_LEN_MAX ||
        (out->long_len != 4 && out->long_len != 8))
        return cn_fail(err, CN_ERR_FORMAT,
                       "page size %" PRIu64 " or size of long %u is not supported",
                       out->page_len, out->long_len);
    CN_SORT(out->events, out->count, CN_UP(struct cn_uft_kernel_event, id));
    return true;
}

void cn_uft_kernel_format_done(struct cn_uft_kernel_format *format)
{
    free(format->events);
    *format = (struct cn_uft_kernel_format){0};
}

const struct cn_uft_kernel_event *
cn_uft_kernel_event_find(const struct cn_uft_kernel_format *format, uint64_t id)
{
    if (format->count == 0 || id > UINT32_MAX)
        return NULL;
    size_t after = cn_search_u32(&format->events->id, format->count,
                                 sizeof(*format->events), (uint32_t)id);
    return after > 0 && format->events[after - 1].id == id ? &format->events[after - 1]
                                                           : NULL;
}

const struct cn_uft_kernel_field *
cn_uft_kernel_field_find(const struct cn_uft_kernel_event *event, const char *name)
{
    for (size_t i = 0; i < event->field_count; i++)
        if (strcmp(event->fields[i].name, name) == 0)
            return &event->fields[i];
    return NULL;
}

uint64_t cn_uft_kernel_number(const struct cn_uft_kernel_format *format,
                              const struct cn_uft_kernel_field *field,
                              struct cn_bytes event)
{
    struct cn_bytes bytes;
    uint64_t number = 0;

    if (!field || field->size > sizeof(number) ||
        !cn_bytes_slice(event, field->offset, field->size, &bytes))
        return 0;
    for (size_t i = 0; i < bytes.len; i++)
        number = number << 8 | bytes.ptr[format->is_big_endian ? i : bytes.len - 1 - i];
    if (field->is_signed && field->size > 0 && field->size < sizeof(number)) {
        unsigned shift = 64 - 8 * field->size;

        number = (uint64_t)((int64_t)(number << shift) >> shift);
    }
    return number;
}
