/* Kernel functions and tracepoints, from pages built here. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"
#include "open/open.h"
#include "support/effort.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

enum { PAGE_LEN = 256, ENTRY_ID = 11, EXIT_ID = 10, SWITCH_ID = 300 };

static const char *const common =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

static void add_format(struct cn_text *header, const char *path, const char *name, int id,
                       const char *fields)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "name: %s\nID: %d\n%s%s", name, id, common, fields);
    cn_text_printf(header, "TRACEFS: %s: %zu\n", path, text.len);
    cn_text_add(header, cn_text_str(&text), text.len);
    cn_text_done(&text);
}

static void write_header(void)
{
    struct cn_text header = {0};

    cn_text_printf(&header, "PAGE_SIZE: %d\nLONG_SIZE: 8\nENDIAN: LE\n", PAGE_LEN);
    cn_text_str_add(&header, "TRACEFS: events/header_page: 4\nxyz\n");
    add_format(&header, "events/ftrace/funcgraph_entry/format", "funcgraph_entry",
               ENTRY_ID,
               "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
               "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n");
    add_format(&header, "events/ftrace/funcgraph_exit/format", "funcgraph_exit", EXIT_ID,
               "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
               "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n");
    add_format(&header, "events/sched/sched_switch/format", "sched_switch", SWITCH_ID,
               "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
               "\tfield:pid_t next;\toffset:24;\tsize:4;\tsigned:1;\n");
    cn_scratch_write("sample/kernel_header", cn_text_str(&header), header.len);
    cn_text_done(&header);
}

/* A page under construction. */
struct page {
    uint8_t bytes[PAGE_LEN];
    size_t len;
};

static void begin_page(struct page *page, uint64_t time_ns)
{
    memset(page->bytes, 0, sizeof(page->bytes));
    cn_u64_put(page->bytes, time_ns);
    page->len = 16;
}

static uint8_t *add_event(struct page *page, uint32_t delta, size_t len)
{
    uint8_t *body = page->bytes + page->len + 4;

    cn_u32_put(page->bytes + page->len, (uint32_t)(len / 4) | delta << 5);
    page->len += 4 + len;
    cn_u64_put(page->bytes + 8, page->len - 16);
    return body;
}

static void add_graph(struct page *page, uint32_t delta, uint16_t id, uint64_t function,
                      uint32_t depth)
{
    uint8_t *body = add_event(page, delta, 20);

    cn_u16_put(body, id);
    cn_u32_put(body + 4, 100);
    cn_u64_put(body + 8, function);
    cn_u32_put(body + 16, depth);
}

static void write_kernel(void)
{
    static const char kallsyms[] = "ffffffff81000100 T do_syscall\n"
                                   "ffffffff81000200 t helper\t[module]\n"
                                   "ffffffff81000300 D data\n"
                                   "ffffffff81000400 T last\n";
    uint8_t file[2 * PAGE_LEN];
    struct page page;
    uint8_t *body;

    write_header();
    cn_scratch_write("sample/kallsyms", kallsyms, sizeof(kallsyms) - 1);
    begin_page(&page, 1000000040);
    add_graph(&page, 5, ENTRY_ID, 0xffffffff81000110, 0);
    add_graph(&page, 3, ENTRY_ID, 0xffffffff81000204, 1);
    memcpy(file, page.bytes, PAGE_LEN);
    begin_page(&page, 1000000050);
    add_graph(&page, 0, EXIT_ID, 0xffffffff81000204, 1);
    /* A time extension of 1 << 27, then an event, whose data is longer than a word
     * says. */
    cn_u32_put(page.bytes + page.len, 30);
    cn_u32_put(page.bytes + page.len + 4, 1);
    page.len += 8;
    cn_u32_put(page.bytes + page.len, 1U << 5);
    cn_u32_put(page.bytes + page.len + 4, 4 + 28);
    body = page.bytes + page.len + 8;
    cn_u16_put(body, SWITCH_ID);
    cn_u32_put(body + 4, 100);
    memcpy(body + 8, "idle", 4);
    cn_u32_put(body + 24, (uint32_t)-7);
    page.len += 8 + 28;
    cn_u64_put(page.bytes + 8, page.len - 16);
    memcpy(file + PAGE_LEN, page.bytes, PAGE_LEN);
    cn_scratch_write("sample/kernel-cpu0.dat", file, sizeof(file));
}

static int enter_scratch(void **state)
{
    struct cn_error err = {0};

    *state = cn_scratch_enter();
    if (!cn_sample_recording_write("sample", &err))
        fail_msg("%s", err.text);
    write_kernel();
    return 0;
}

static struct cn_recording *open_sample(void)
{
    struct cn_recording *rec;
    struct cn_error err = {0};

    if (!cn_open_recording("sample", NULL, &rec, &err))
        fail_msg("%s", err.text);
    return rec;
}

static void print_kernel(const struct cn_recording *rec, struct cn_call_stream *stream,
                         struct cn_text *text, uint64_t *last_ns)
{
    struct cn_call_batch batch;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];

            if (call->kind != CN_CALL_LOST) {
                assert_true(call->time_ns >= *last_ns);
                *last_ns = call->time_ns;
            }
            if (call->flags & CN_CALL_KERNEL)
                cn_text_printf(text, "%" PRIu64 " %u %s %u\n", call->time_ns, call->kind,
                               rec->functions[call->function].name, call->depth);
            else if (call->kind == CN_CALL_EVENT && call->address == SWITCH_ID) {
                cn_text_printf(text, "%" PRIu64 " %s ", call->time_ns,
                               cn_recording_event_name(rec, call->address));
                assert_true(cn_recording_print_event(rec, &batch, call, false, text));
            }
        }
    if (step == CN_FAIL)
        cn_text_printf(text, "failed: %s", err.text);
    cn_call_stream_close(stream);
}

static const char *const expected = "1000000045 0 do_syscall 0\n"
                                    "1000000048 0 helper 1\n"
                                    "1000000050 1 helper 1\n"
                                    "1134217779 sched:sched_switch comm=idle next=-7";

/* Inside the calls of the program. */
static const char *const merged = "1000000045 0 do_syscall 2\n"
                                  "1000000048 0 helper 3\n"
                                  "1000000050 1 helper 3\n"
                                  "1134217779 sched:sched_switch comm=idle next=-7";

static void merges_kernel_functions_and_tracepoints(void **state)
{
    struct cn_recording *rec = open_sample();
    struct cn_call_stream *stream;
    struct cn_error err = {0};
    struct cn_text text = {0};
    uint64_t last_ns = 0;

    (void)state;
    assert_null(rec->warnings);
    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    print_kernel(rec, stream, &text, &last_ns);
    assert_string_equal(cn_text_str(&text), merged);
    cn_recording_close(rec);
    cn_text_done(&text);
}

static void reads_the_file_of_a_processor(void **state)
{
    struct cn_recording *rec = open_sample();
    struct cn_call_stream *stream;
    struct cn_error err = {0};
    struct cn_text text = {0};
    uint64_t last_ns = 0;
    uint32_t source = rec->source_count - 1;

    (void)state;
    assert_string_equal(rec->sources[source].name, "kernel-cpu0.dat");
    assert_true(cn_recording_source_open(rec, source, &stream, &err));
    print_kernel(rec, stream, &text, &last_ns);
    assert_string_equal(cn_text_str(&text), expected);
    cn_recording_close(rec);
    cn_text_done(&text);
}

/* Every byte of the pages and the header changed: what comes out does not matter. */
static void survives_damage(void **state)
{
    uint8_t file[2 * PAGE_LEN + 1];
    const char *path = "sample/kernel-cpu0.dat";
    FILE *in = fopen(path, "rb");

    (void)state;
    assert_non_null(in);
    assert_int_equal(fread(file, 1, sizeof(file), in), 2 * PAGE_LEN);
    (void)fclose(in);
    for (size_t bit = 0; bit < 8 * 2 * PAGE_LEN; bit += cn_test_bit_step()) {
        struct cn_recording *rec;
        struct cn_call_stream *stream;
        struct cn_call_batch batch;
        struct cn_error err = {0};
        size_t i = bit / 8;

        file[i] ^= (uint8_t)(1U << bit % 8);
        (void)unlink(path);
        cn_scratch_write(path, file, i % 7 ? 2 * PAGE_LEN : 2 * PAGE_LEN - i / 2);
        file[i] ^= (uint8_t)(1U << bit % 8);
        rec = open_sample();
        assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
            assert_true(batch.count > 0);
        cn_call_stream_close(stream);
        cn_recording_close(rec);
    }
}

static void tells_about_a_header_it_does_not_understand(void **state)
{
    struct cn_recording *rec;

    (void)state;
    assert_int_equal(unlink("sample/kernel_header"), 0);
    cn_scratch_write("sample/kernel_header", "PAGE_SIZE: 7\nLONG_SIZE: 8\n", 26);
    rec = open_sample();
    assert_non_null(rec->warnings);
    assert_string_equal(rec->warnings->text,
                        "kernel_header: page size 7 or size of long 8 is not supported");
    cn_recording_close(rec);
}

#define IN_SCRATCH(test) \
    cmocka_unit_test_setup_teardown(test, enter_scratch, cn_scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(merges_kernel_functions_and_tracepoints),
        IN_SCRATCH(reads_the_file_of_a_processor),
        IN_SCRATCH(survives_damage),
        IN_SCRATCH(tells_about_a_header_it_does_not_understand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
