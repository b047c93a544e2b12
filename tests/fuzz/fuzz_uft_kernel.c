/* Any bytes as the kernel's formats of events and as pages of its events: the first two bytes say
 * how long the formats are. Every event lies inside the pages, and each of its fields can be asked
 * for. */

#include <assert.h>
#include <string.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "formats/uftrace/records/kernel_format.h"
#include "formats/uftrace/records/kernel_page.h"
#include "support/fuzz.h"

enum { PAGE_LEN = 64, LEN_LEN = 2, EVENT_ID = 11 };

static uint64_t add_fields(const struct cn_uft_kernel_format *format,
                           struct cn_bytes bytes)
{
    const struct cn_uft_kernel_event *event;
    uint64_t sum = 0;

    if (bytes.len < sizeof(uint16_t))
        return 0;
    event = cn_uft_kernel_event_find(format, cn_u16_get(bytes.ptr));
    for (size_t i = 0; event && i < event->field_count; i++)
        sum += cn_uft_kernel_number(format, &event->fields[i], bytes);
    return sum;
}

static void read_pages(const struct cn_uft_kernel_format *format, struct cn_bytes file)
{
    struct cn_uft_kernel_cursor cursor;
    struct cn_bytes event, same;
    struct cn_error err = {0};
    uint64_t time_ns, off, sum = 0;
    enum cn_step step;

    cn_uft_kernel_cursor_init(&cursor, format, file);
    while ((step = cn_uft_kernel_next(&cursor, &event, &time_ns, &off, &err)) ==
           CN_ITEM) {
        assert(cn_bytes_slice(file, off, event.len, &same) && same.ptr == event.ptr);
        sum += add_fields(format, event);
    }
    (void)sum;
    assert(step == CN_END || err.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes pages = {data, len}, head, header;
    struct cn_uft_kernel_format format = {0};
    struct cn_arena arena = {0};
    struct cn_error err = {0};

    if (!cn_bytes_take(&pages, LEN_LEN, &head) ||
        !cn_bytes_take(&pages, cn_u16_get(head.ptr), &header))
        return 0;
    if (cn_uft_kernel_format_read(header, &arena, &format, &err))
        read_pages(&format, pages);
    else
        assert(err.text[0] != '\0');
    cn_uft_kernel_format_done(&format);
    cn_arena_done(&arena);
    return 0;
}

static void emit_file(void (*emit)(const uint8_t *data, size_t len), const char *endian,
                      const uint8_t *pages, size_t pages_len)
{
    static const char event[] = "name: call\nID: 11\n"
                                "\tfield:short id;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                "\tfield:char to[8];\toffset:4;\tsize:8;\tsigned:1;\n";
    struct cn_text text = {0};
    uint8_t len[LEN_LEN] = {0};

    cn_text_add(&text, (const char *)len, sizeof(len));
    cn_text_printf(&text, "PAGE_SIZE: %d\nLONG_SIZE: 8\nENDIAN: %s\n", PAGE_LEN, endian);
    cn_text_printf(&text, "TRACEFS: events/sched/call/format: %zu\n", strlen(event));
    cn_text_str_add(&text, event);
    cn_u16_put((uint8_t *)text.chars, (uint16_t)(text.len - sizeof(len)));
    cn_text_add(&text, (const char *)pages, pages_len);
    emit((const uint8_t *)text.chars, text.len);
    cn_text_done(&text);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    /* An event of 12 bytes, more time, an event that tells its length; then a page whose last
     * word should be followed by a time. */
    uint8_t pages[2 * PAGE_LEN] = {0};
    uint8_t *data = pages + 16;

    cn_u64_put(pages, 1000);
    cn_u64_put(pages + 8, PAGE_LEN - 16);
    cn_u32_put(data, 3 | 5 << 5);
    cn_u16_put(data + 4, EVENT_ID);
    cn_u32_put(data + 16, 30 | 1 << 5);
    cn_u32_put(data + 20, 7);
    cn_u32_put(data + 24, 1 << 5);
    cn_u32_put(data + 28, 4 + 12);
    cn_u16_put(data + 32, EVENT_ID);
    cn_u64_put(pages + PAGE_LEN + 8, PAGE_LEN - 16);
    cn_u32_put(pages + PAGE_LEN + 16, 11);
    cn_u32_put(pages + 2 * PAGE_LEN - 4, 31);
    emit_file(emit, "LE", pages, sizeof(pages));
    emit_file(emit, "BE", pages, sizeof(pages));
}
