/* Recordings written as uftrace directories and read again.
 * Label: threads. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"
#include "open/formats.h"
#include "open/open.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

static struct cn_recording *open_recording(const char *path)
{
    struct cn_recording *rec;
    struct cn_error err = {0};

    if (!cn_open_recording(path, NULL, &rec, &err))
        fail_msg("%s", err.text);
    return rec;
}

static void write_recording(const struct cn_recording *rec, const char *path)
{
    struct cn_error err = {0};

    if (!cn_format_find("uftrace")->write_recording(rec, path, NULL, &err))
        fail_msg("%s", err.text);
}

/* Everything a stream says, one line a call. */
static void print_stream(const struct cn_recording *rec, uint32_t task,
                         struct cn_time_range range, struct cn_text *text)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    enum cn_step step;

    assert_true(cn_recording_stream_open(rec, task, range, &stream, &err));
    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];

            cn_text_printf(
                text, "%" PRIu32 " %" PRIu64 " %u %u %" PRIx64 " %s",
                rec->tasks[task].tid, call->time_ns, call->kind, call->depth,
                call->address,
                call->function == CN_NONE ? "-" : rec->functions[call->function].name);
            if (call->kind <= CN_CALL_EXIT)
                cn_recording_print_arguments(rec, task, &batch, call, text);
            else
                (void)cn_recording_print_event(rec, &batch, call, false, text);
            cn_text_char(text, '\n');
        }
    if (step == CN_FAIL)
        cn_text_printf(text, "failed: %s\n", err.text);
    cn_call_stream_close(stream);
}

static void print_recording(const struct cn_recording *rec, struct cn_text *text)
{
    for (uint32_t i = 0; i < rec->task_count; i++) {
        const struct cn_task *task = &rec->tasks[i];

        cn_text_printf(text, "task %" PRIu32 " %" PRIu32 " %" PRId32 " %s %d %zu\n",
                       task->tid, task->pid, (int32_t)task->parent, task->name,
                       task->is_fork, task->session_count);
        print_stream(rec, i, cn_time_always, text);
    }
    for (uint32_t i = 0; i < rec->session_count; i++)
        cn_text_printf(text, "session %s %" PRIu32 " %" PRIu64 " %s %zu\n",
                       rec->sessions[i].sid, rec->sessions[i].pid,
                       rec->sessions[i].time_ns, rec->sessions[i].exename,
                       rec->sessions[i].mapping_count);
    for (uint32_t i = 0; i < rec->function_count; i++)
        cn_text_printf(
            text, "function %s %s %s %c %" PRIx64 " %" PRIx64 " %s:%" PRIu32 "\n",
            rec->functions[i].name, rec->functions[i].raw_name,
            rec->modules[rec->functions[i].module].path, rec->functions[i].type,
            rec->functions[i].offset, rec->functions[i].size, rec->functions[i].file,
            rec->functions[i].line);
}

static void assert_same_recording(const struct cn_recording *a,
                                  const struct cn_recording *b)
{
    struct cn_text x = {0}, y = {0};

    print_recording(a, &x);
    print_recording(b, &y);
    assert_string_equal(cn_text_str(&x), cn_text_str(&y));
    cn_text_done(&x);
    cn_text_done(&y);
}

static void assert_no_warnings(const struct cn_recording *rec)
{
    if (rec->warnings)
        fail_msg("%s", rec->warnings->text);
}

static void what_is_written_reads_back_the_same(void **state)
{
    struct cn_recording *sample = cn_sample_recording(), *again;

    (void)state;
    write_recording(sample, "sample");
    again = open_recording("sample");
    assert_no_warnings(again);
    assert_same_recording(sample, again);
    assert_string_equal(cn_recording_fact(again, "cpuinfo:desc"), "Abacus");
    assert_string_equal(cn_recording_event_name(again, CN_EVENT_USER), "sample:tick");
    cn_recording_close(again);
    cn_recording_close(sample);
}

static void big_endian_recordings_read_back_the_same(void **state)
{
    struct cn_recording *sample = cn_sample_recording(), *big, *again;

    (void)state;
    big = cn_sample_recording_big_endian();
    write_recording(big, "big");
    again = open_recording("big");
    assert_true(again->is_big_endian);
    assert_no_warnings(again);
    assert_same_recording(sample, again);
    cn_recording_close(again);
    cn_recording_close(big);
    cn_recording_close(sample);
}

static void prints_arguments_of_every_kind(void **state)
{
    struct cn_recording *sample = cn_sample_recording();
    struct cn_text text = {0};

    (void)state;
    print_stream(sample, 0, cn_time_always, &text);
    assert_non_null(
        strstr(cn_text_str(&text), "work(-2, \"abc\\n\", 'w', 1.500000, &main)\n"));
    assert_non_null(strstr(cn_text_str(&text), "work = 0xbeef\n"));
    assert_non_null(strstr(cn_text_str(&text), "paint(BLUE, pair{...})\n"));
    assert_non_null(strstr(cn_text_str(&text), "vmsize=-4KB vmrss=+2048KB"));
    cn_text_done(&text);
    cn_recording_close(sample);
}

static void compare_ranges(bool is_prepared)
{
    struct cn_recording *sample = cn_sample_recording(), *again;
    struct cn_error err = {0};

    write_recording(sample, "sample");
    again = open_recording("sample");
    if (is_prepared)
        assert_true(cn_recording_prepare(again, 1, NULL, &err));
    for (uint64_t first = 0; first < 4000; first += 70)
        for (uint64_t len = 0; len < 4000; len += 310) {
            struct cn_time_range range = {1000000000 + first, 1000000000 + first + len};
            struct cn_text x = {0}, y = {0};

            print_stream(sample, 0, range, &x);
            print_stream(again, 0, range, &y);
            assert_string_equal(cn_text_str(&x), cn_text_str(&y));
            cn_text_done(&x);
            cn_text_done(&y);
        }
    cn_recording_close(again);
    cn_recording_close(sample);
}

static void a_time_range_is_what_lies_in_it(void **state)
{
    (void)state;
    compare_ranges(false);
}

static void ranges_stay_the_same_when_prepared(void **state)
{
    (void)state;
    assert_int_equal(setenv("XDG_CACHE_HOME", ".", 1), 0);
    compare_ranges(true);
}

static void assert_same_file(const char *dir_a, const char *dir_b, const char *name)
{
    struct cn_file a = {0}, b = {0};
    struct cn_error err = {0};

    if (!cn_file_open_at(&a, dir_a, name, &err) ||
        !cn_file_open_at(&b, dir_b, name, &err))
        fail_msg("%s", err.text);
    if (a.bytes.len != b.bytes.len || memcmp(a.bytes.ptr, b.bytes.ptr, a.bytes.len) != 0)
        fail_msg("%s/%s differs", dir_a, name);
    cn_file_close(&a);
    cn_file_close(&b);
}

/* Every file of `dir_a` is the same in `dir_b`, and there are no others. */
static void assert_same_files(const char *dir_a, const char *dir_b)
{
    struct cn_listing files = cn_listing_of(dir_a);

    assert_int_equal(cn_scratch_count(dir_a), cn_scratch_count(dir_b));
    for (size_t i = 0; i < files.count; i++)
        assert_same_file(dir_a, dir_b, files.names[i]);
    cn_listing_done(&files);
}

static void what_was_read_is_written_byte_for_byte(void **state)
{
    struct cn_recording *sample = cn_sample_recording(), *again;

    (void)state;
    write_recording(sample, "one");
    again = open_recording("one");
    write_recording(again, "two");
    assert_same_files("one", "two");
    cn_recording_close(again);
    cn_recording_close(sample);
}

/* Lines of tasks other than names, which keep their text and move to the beginning. */
static void print_unnamed(const struct cn_recording *rec, struct cn_time_range range,
                          struct cn_text *text)
{
    struct cn_text all = {0};

    for (uint32_t i = 0; i < rec->task_count; i++)
        print_stream(rec, i, range, &all);
    for (const char *at = cn_text_str(&all), *end; *at; at = end) {
        end = at + strcspn(at, "\n") + 1;
        if (!memmem(at, (size_t)(end - at), " 30d46 ", strlen(" 30d46 ")))
            cn_text_add(text, at, (size_t)(end - at));
    }
    cn_text_done(&all);
}

static void a_time_range_has_its_records_and_all_names(void **state)
{
    struct cn_recording *sample = cn_sample_recording(), *one, *part;
    struct cn_write_options options = {0};
    struct cn_text expected = {0}, text = {0};
    struct cn_time_range range;
    struct cn_error err = {0};

    (void)state;
    write_recording(sample, "all times");
    one = open_recording("all times");
    range.first_ns = cn_recording_begin_ns(one) + 300;
    range.last_ns = range.first_ns + 1000;
    options.first_ns = range.first_ns;
    options.last_ns = range.last_ns;
    assert_true(
        cn_format_find("uftrace")->write_recording(one, "some time", &options, &err));
    part = open_recording("some time");
    print_unnamed(one, range, &expected);
    print_unnamed(part, cn_time_always, &text);
    assert_true(expected.len > 0);
    assert_string_equal(cn_text_str(&text), cn_text_str(&expected));
    for (uint32_t i = 0; i < one->task_count; i++)
        assert_string_equal(part->tasks[i].name ? part->tasks[i].name : "",
                            one->tasks[i].name ? one->tasks[i].name : "");
    cn_text_done(&expected);
    cn_text_done(&text);
    cn_recording_close(part);
    cn_recording_close(one);
    cn_recording_close(sample);
}

static void all_recordings_are_written_byte_for_byte(void **state)
{
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);

    (void)state;
    assert_true(recordings.count > 20);
    for (size_t i = 0; i < recordings.count; i++) {
        const char *name = recordings.names[i];
        struct cn_recording *rec;
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        rec = open_recording(path);
        write_recording(rec, name);
        assert_same_files(path, name);
        cn_recording_close(rec);
    }
    cn_listing_done(&recordings);
    free(folder);
}

/* Packed and back again: the same records, the same files. */
static void pack_and_unpack(const char *path)
{
    const struct cn_format *packed = cn_format_find("uftrace-packed");
    struct cn_recording *rec = open_recording(path), *again;
    struct cn_write_options options = {.replace = true};
    struct cn_error err = {0};

    if (!packed->write_recording(rec, "packed", &options, &err))
        fail_msg("%s", err.text);
    again = open_recording("packed");
    assert_same_recording(rec, again);
    if (!cn_format_find("uftrace")->write_recording(again, "unpacked", &options, &err))
        fail_msg("%s", err.text);
    assert_same_files(path, "unpacked");
    cn_recording_close(again);
    cn_recording_close(rec);
}

static void packed_recordings_hold_the_same(void **state)
{
    struct cn_recording *sample = cn_sample_recording();
    struct cn_recording *big = cn_sample_recording_big_endian();

    (void)state;
    write_recording(sample, "sample");
    write_recording(big, "big");
    pack_and_unpack("sample");
    pack_and_unpack("big");
    cn_recording_close(sample);
    cn_recording_close(big);
}

static void all_packed_recordings_hold_the_same(void **state)
{
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);

    (void)state;
    for (size_t i = 0; i < recordings.count; i++) {
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, recordings.names[i]);
        pack_and_unpack(path);
    }
    cn_listing_done(&recordings);
    free(folder);
}

static void write_text(const char *path, const char *text)
{
    cn_scratch_write(path, text, strlen(text));
}

static void names_of_modules_may_clash(void **state)
{
    struct cn_recording *rec, *again;
    const char *task = "SESS timestamp=1.0 pid=7 sid=0123456789abcdef exename=\"/a/x\"\n"
                       "TASK timestamp=1.1 tid=7 pid=7\n";
    const char *map = "1000-2000 r-xp 0 0:0 0 /a/x build-id:aabbccdd\n"
                      "2000-3000 r-xp 0 0:0 0 /b/x build-id:ddccbbaa\n"
                      "4000-5000 r-xp 0 0:0 0 /c/x\n";

    (void)state;
    rec = cn_sample_recording();
    write_recording(rec, "clash");
    cn_recording_close(rec);
    assert_int_equal(unlink("clash/task.txt"), 0);
    write_text("clash/task.txt", task);
    write_text("clash/sid-0123456789abcdef.map", map);
    write_text("clash/x.sym", "# path name: /a/x\n# build-id: aabbccdd\n0 10 T one\n");
    write_text("clash/x-ddcc.sym",
               "# path name: /b/x\n# build-id: ddccbbaa\n0 10 T two\n");
    write_text("clash/x-0139.sym", "# path name: /c/x\n0 10 T three\n");
    again = open_recording("clash");
    for (uint64_t address = 0x1008; address < 0x5000; address += 0x1000) {
        uint32_t f = cn_recording_find_function(again, cn_recording_find_task(again, 7),
                                                2000000000, address);

        if (address == 0x3008)
            assert_int_equal(f, CN_NONE);
        else
            assert_string_equal(again->functions[f].name, address == 0x1008   ? "one"
                                                          : address == 0x2008 ? "two"
                                                                              : "three");
    }
    cn_recording_close(again);
}

static void does_not_replace_what_exists(void **state)
{
    struct cn_recording *sample = cn_sample_recording();
    struct cn_write_options options = {.replace = true};
    struct cn_error err = {0};

    (void)state;
    write_recording(sample, "sample");
    assert_false(
        cn_format_find("uftrace")->write_recording(sample, "sample", NULL, &err));
    assert_true(
        cn_format_find("uftrace")->write_recording(sample, "sample", &options, &err));
    assert_int_equal(cn_scratch_count("."), 1);
    cn_recording_close(sample);
}

#define IN_SCRATCH(test) CN_SCRATCH_TEST(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(what_is_written_reads_back_the_same),
        IN_SCRATCH(big_endian_recordings_read_back_the_same),
        IN_SCRATCH(prints_arguments_of_every_kind),
        IN_SCRATCH(a_time_range_is_what_lies_in_it),
        IN_SCRATCH(ranges_stay_the_same_when_prepared),
        IN_SCRATCH(what_was_read_is_written_byte_for_byte),
        IN_SCRATCH(a_time_range_has_its_records_and_all_names),
        IN_SCRATCH(packed_recordings_hold_the_same),
        IN_SCRATCH(names_of_modules_may_clash),
        IN_SCRATCH(does_not_replace_what_exists),
    };
    const struct CMUnitTest on_data[] = {
        IN_SCRATCH(all_recordings_are_written_byte_for_byte),
        IN_SCRATCH(all_packed_recordings_hold_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
