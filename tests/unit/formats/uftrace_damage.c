/* Damaged and hostile uftrace directories: a message, everything before the damage,
 * and never a byte outside the files. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"
#include "open/formats.h"
#include "open/open.h"
#include "support/effort.h"
#include "support/listing.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

static int enter_scratch(void **state)
{
    struct cn_error err = {0};

    *state = cn_scratch_enter();
    if (!cn_sample_recording_write("sample", &err))
        fail_msg("%s", err.text);
    return 0;
}

/* A file of the sample, copied. */
struct copy {
    uint8_t *bytes;
    size_t len;
    char path[64];
};

static struct copy copy_file(const char *name)
{
    struct copy copy;
    struct cn_file file = {0};
    struct cn_error err = {0};

    (void)snprintf(copy.path, sizeof(copy.path), "sample/%s", name);
    if (!cn_file_open(&file, copy.path, &err))
        fail_msg("%s", err.text);
    copy.len = file.bytes.len;
    copy.bytes = cn_alloc(copy.len + 1, 1);
    memcpy(copy.bytes, file.bytes.ptr, copy.len);
    cn_file_close(&file);
    return copy;
}

static void replace(const char *path, const void *bytes, size_t len)
{
    (void)unlink(path);
    cn_scratch_write(path, bytes, len);
}

static void replace_text(const char *path, const char *text)
{
    replace(path, text, strlen(text));
}

static struct cn_recording *open_sample(void)
{
    struct cn_recording *rec;
    struct cn_error err = {0};

    if (!cn_open_recording("sample", NULL, &rec, &err))
        fail_msg("%s", err.text);
    return rec;
}

/* The text of one task: how many calls, and how it ended. */
static size_t read_task(const struct cn_recording *rec, uint32_t task,
                        struct cn_text *text, struct cn_error *err)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    size_t count = 0;
    enum cn_step step;

    assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, err));
    while ((step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++, count++) {
            const struct cn_call *call = &batch.calls[i];

            cn_text_printf(text, "%" PRIu64 " %u %" PRIx64, call->time_ns, call->kind,
                           call->address);
            if (call->kind <= CN_CALL_EXIT)
                cn_recording_print_arguments(rec, task, &batch, call, text);
            else
                (void)cn_recording_print_event(rec, &batch, call, true, text);
            cn_text_char(text, '\n');
        }
    if (step == CN_END)
        err->kind = CN_ERR_NONE;
    cn_call_stream_close(stream);
    return count;
}

static void ignore_finding(void *arg, const struct cn_finding *finding)
{
    size_t *count = arg;

    assert_non_null(finding->text);
    *count += finding->is_error;
}

/* Open, read and verify whatever is there. Returns the number of errors that verify
 * found. */
static size_t read_everything(void)
{
    struct cn_recording *rec;
    struct cn_error err = {0};
    struct cn_text text = {0};
    size_t errors = 0;

    if (cn_format_find("uftrace")->open_recording(&rec, "sample", NULL, &err)) {
        for (uint32_t i = 0; i < rec->task_count; i++)
            (void)read_task(rec, i, &text, &err);
        cn_recording_close(rec);
    } else {
        assert_true(err.text[0] != '\0');
    }
    assert_true(
        cn_format_find("uftrace")->verify("sample", NULL, ignore_finding, &errors, &err));
    cn_text_done(&text);
    return errors;
}

static void each_file(void (*visit)(const char *name))
{
    struct cn_listing files = cn_listing_of("sample");

    assert_true(files.count > 10);
    for (size_t i = 0; i < files.count; i++)
        visit(files.names[i]);
    cn_listing_done(&files);
}

static void truncate_everywhere(const char *name)
{
    struct copy file = copy_file(name);

    for (size_t len = 0; len < file.len; len++) {
        replace(file.path, file.bytes, len);
        (void)read_everything();
    }
    replace(file.path, file.bytes, file.len);
    free(file.bytes);
}

static void survives_every_truncation_of_every_file(void **state)
{
    (void)state;
    each_file(truncate_everywhere);
}

static void flip_everywhere(const char *name)
{
    struct copy file = copy_file(name);

    for (size_t bit = 0; bit < 8 * file.len; bit += cn_test_bit_step()) {
        file.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        replace(file.path, file.bytes, file.len);
        (void)read_everything();
        file.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    replace(file.path, file.bytes, file.len);
    free(file.bytes);
}

static void survives_flipped_bits(void **state)
{
    (void)state;
    each_file(flip_everywhere);
}

static void delivers_what_comes_before_the_end(void **state)
{
    struct copy file = copy_file("100.dat");
    struct cn_recording *rec = open_sample();
    struct cn_text whole = {0};
    struct cn_error err = {0};
    size_t all = read_task(rec, 0, &whole, &err);

    (void)state;
    assert_int_equal(err.kind, CN_ERR_NONE);
    cn_recording_close(rec);
    for (size_t len = 16; len < file.len; len++) {
        struct cn_text part = {0};
        size_t count;

        replace(file.path, file.bytes, len);
        rec = open_sample();
        err = (struct cn_error){0};
        count = read_task(rec, 0, &part, &err);
        if (err.kind != CN_ERR_NONE) {
            assert_true(count < all);
            assert_int_equal(strncmp(cn_text_str(&whole), cn_text_str(&part), part.len),
                             0);
            assert_int_equal(strncmp(err.text, "100.dat: ", 9), 0);
            assert_non_null(strstr(err.text, "0x"));
        } else {
            assert_int_equal(len % 8, 0);
        }
        cn_text_done(&part);
        cn_recording_close(rec);
    }
    cn_text_done(&whole);
    free(file.bytes);
}

static void says_where_the_magic_is_wrong(void **state)
{
    struct copy file = copy_file("101.dat");
    struct cn_recording *rec;
    struct cn_text text = {0};
    struct cn_error err = {0};

    (void)state;
    file.bytes[32 + 8] ^= 0x10;
    replace(file.path, file.bytes, file.len);
    rec = open_sample();
    /* Two records, and the event that came before them. */
    assert_int_equal(read_task(rec, 1, &text, &err), 3);
    assert_string_equal(err.text, "101.dat: record at 0x20: magic is not 5 but 7");
    cn_text_clear(&text);
    err = (struct cn_error){0};
    assert_true(read_task(rec, 0, &text, &err) > 10);
    assert_int_equal(err.kind, CN_ERR_NONE);
    cn_recording_close(rec);
    cn_text_done(&text);
    free(file.bytes);
    assert_int_equal(read_everything(), 1);
}

/* A record that is earlier than the one before it: what follows is read as well. */
static void says_where_time_runs_backwards(void **state)
{
    struct copy file = copy_file("101.dat");
    struct cn_recording *rec = open_sample();
    struct cn_text whole = {0}, text = {0};
    struct cn_error err = {0};
    size_t count = read_task(rec, 1, &whole, &err);

    (void)state;
    assert_int_equal(err.kind, CN_ERR_NONE);
    cn_recording_close(rec);
    file.bytes[16 + 3] -= 1; /* of the time of the second record */
    replace(file.path, file.bytes, file.len);
    rec = open_sample();
    assert_int_equal(read_task(rec, 1, &text, &err), count);
    assert_non_null(strstr(err.text, "101.dat: record at 0x10: time runs backwards: "));
    cn_recording_close(rec);
    cn_text_done(&whole);
    cn_text_done(&text);
    free(file.bytes);
    assert_int_equal(read_everything(), 1);
}

static void a_missing_dbg_costs_the_arguments_only(void **state)
{
    struct cn_recording *rec = open_sample();
    struct cn_text with = {0}, without = {0};
    struct cn_error err = {0};
    size_t count = read_task(rec, 0, &with, &err);

    (void)state;
    cn_recording_close(rec);
    assert_int_equal(unlink("sample/program.dbg"), 0);
    rec = open_sample();
    assert_int_equal(read_task(rec, 0, &without, &err), count);
    assert_int_equal(err.kind, CN_ERR_NONE);
    assert_non_null(strstr(cn_text_str(&with), "'w'"));
    assert_null(strstr(cn_text_str(&without), "'w'"));
    cn_recording_close(rec);
    cn_text_done(&with);
    cn_text_done(&without);
}

/* Open the sample, whose file was made bad, and expect this warning. */
static void expect_warning(const char *text)
{
    struct cn_recording *rec = open_sample();
    const struct cn_warning *warning = rec->warnings;

    while (warning && !strstr(warning->text, text))
        warning = warning->next;
    if (!warning)
        fail_msg("no warning \"%s\" but \"%s\"", text,
                 rec->warnings ? rec->warnings->text : "nothing");
    assert_true(warning->is_damage);
    cn_recording_close(rec);
    assert_true(read_everything() > 0);
}

static void tells_about_bad_lines(void **state)
{
    static const struct {
        const char *file, *text, *warning;
    } cases[] = {
        {"sample/task.txt", "SESS timestamp=1.0 pid=100\n", "task.txt: line 1: cannot"},
        {"sample/task.txt", "TASK timestamp=1.0 tid=99999999999 pid=1\n",
         "task.txt: line 1"},
        {"sample/task.txt", "TASK timestamp=99999999999999.0 tid=9 pid=1\n",
         "task.txt: line 1"},
        {"sample/task.txt",
         "SESS timestamp=1.0 pid=1 sid=00112233445566aa112233 exename=\"/x\"\n",
         "task.txt: line 1"},
        {"sample/task.txt",
         "DLOP timestamp=1.0 tid=1 sid=ffffffffffffffff base=7f00 libname=\"x.so\"\n",
         "x.so was loaded into the unknown session ffffffffffffffff"},
        {"sample/sid-00112233445566aa.map", "nonsense\n",
         "sid-00112233445566aa.map: line 1: cannot be parsed"},
        {"sample/sid-00112233445566aa.map", "2000-1000 r-xp 0 0:0 0 /x\n", "line 1"},
        {"sample/program.sym", "0000 T\n", "program.sym: line 1: "},
        {"sample/program.sym", "0 08 T a\n0 zz T b\nx\ny\n", "program.sym: 2 more lines"},
        {"sample/program.dbg", "A: @arg1\n", "program.dbg: line 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct copy file = copy_file(cases[i].file + strlen("sample/"));

        replace_text(cases[i].file, cases[i].text);
        expect_warning(cases[i].warning);
        replace(file.path, file.bytes, file.len);
        free(file.bytes);
    }
}

static void refuses_lines_that_never_end(void **state)
{
    size_t len = 3 << 20;
    char *line = cn_alloc(len, 1);

    (void)state;
    memset(line, 'x', len);
    replace("sample/task.txt", line, len);
    expect_warning("task.txt: line 1: 3145728 bytes long, at most 1048576");
    replace("sample/program.sym", line, len);
    replace("sample/program.dbg", line, len);
    replace("sample/sid-00112233445566aa.map", line, len);
    replace("sample/extern.dat", line, len);
    replace("sample/events.txt", line, len);
    assert_true(read_everything() > 0);
    free(line);
}

static void expect_refusal(const char *file, size_t at, uint8_t value, const char *text)
{
    struct copy copy = copy_file(file);
    struct cn_recording *rec;
    struct cn_error err = {0};
    uint8_t before = copy.bytes[at];

    copy.bytes[at] = value;
    replace(copy.path, copy.bytes, copy.len);
    assert_false(cn_format_find("uftrace")->open_recording(&rec, "sample", NULL, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(read_everything(), 1);
    copy.bytes[at] = before;
    replace(copy.path, copy.bytes, copy.len);
    free(copy.bytes);
}

static void refuses_headers_it_does_not_understand(void **state)
{
    (void)state;
    expect_refusal("info", 0, 'X', "sample: info: does not begin with \"Ftrace!\"");
    expect_refusal("info", 8, 5,
                   "sample: info: version 5 is not supported; supported are 3 and 4");
    expect_refusal("info", 14, 3, "sample: info: byte order 3 is neither 1 nor 2");
    expect_refusal("info", 15, 0, "sample: info: word class 0 is neither 1 nor 2");
}

static void tasks_without_a_session_have_no_names(void **state)
{
    struct cn_recording *rec;
    struct cn_text text = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(unlink("sample/task.txt"), 0);
    rec = open_sample();
    assert_int_equal(rec->task_count, 4);
    assert_true(read_task(rec, 0, &text, &err) > 10);
    cn_recording_close(rec);
    cn_text_done(&text);
    assert_true(read_everything() > 0);
}

static void a_good_recording_has_no_findings(void **state)
{
    (void)state;
    assert_int_equal(read_everything(), 0);
}

#define IN_SCRATCH(test) \
    cmocka_unit_test_setup_teardown(test, enter_scratch, cn_scratch_teardown)

static bool is_damaged(const char *path)
{
    struct cn_recording *rec;
    struct cn_error err = {0};
    bool is_damaged = true;

    if (cn_open_recording(path, NULL, &rec, &err)) {
        is_damaged = false;
        for (const struct cn_warning *w = rec->warnings; w; w = w->next)
            is_damaged |= w->is_damage;
        cn_recording_close(rec);
    }
    return is_damaged;
}

/* The records have checksums of their own, in their chunks. */
static void a_packed_recording_notices_every_flip(void **state)
{
    const struct cn_format *packed = cn_format_find("uftrace-packed");
    struct cn_recording *rec;
    struct cn_error err = {0};
    struct cn_listing files;
    size_t count = 0;

    (void)state;
    replace("sample/perf-cpu7.dat", "", 0);
    replace_text("sample/more.sym", "a file to check\n");
    rec = open_sample();
    assert_true(packed->write_recording(rec, "packed", NULL, &err));
    cn_recording_close(rec);
    assert_false(is_damaged("packed"));
    files = cn_listing_of("packed");
    for (size_t i = 0; i < files.count; i++) {
        const char *name = files.names[i];
        struct cn_file file = {0};
        char path[4200];
        uint8_t *bytes;
        size_t file_len;

        (void)snprintf(path, sizeof(path), "packed/%s", name);
        assert_true(cn_file_open(&file, path, &err));
        file_len = file.bytes.len;
        bytes = cn_alloc(file_len + 64, 1);
        memcpy(bytes, file.bytes.ptr, file_len);
        cn_file_close(&file);
        /* A child of the program may add to a file later. */
        if (strcmp(name, "task.txt") == 0) {
            static const char more[] = "TASK timestamp=9.000000000 tid=77 pid=77\n";

            memcpy(bytes + file_len, more, sizeof(more));
            replace(path, bytes, file_len + sizeof(more) - 1);
            assert_false(is_damaged("packed"));
        }
        for (size_t at = 0; at < file_len && !strstr(name, ".zts"); at += 17) {
            bytes[at] ^= 4;
            replace(path, bytes, file_len);
            if (!is_damaged("packed"))
                fail_msg("%s: byte %zu", path, at);
            bytes[at] ^= 4;
            count++;
        }
        replace(path, bytes, file_len);
        free(bytes);
    }
    cn_listing_done(&files);
    assert_true(count > 10);
    assert_false(is_damaged("packed"));
    assert_int_equal(unlink("packed/default.opts"), 0);
    assert_true(is_damaged("packed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_good_recording_has_no_findings),
        IN_SCRATCH(delivers_what_comes_before_the_end),
        IN_SCRATCH(says_where_the_magic_is_wrong),
        IN_SCRATCH(says_where_time_runs_backwards),
        IN_SCRATCH(a_missing_dbg_costs_the_arguments_only),
        IN_SCRATCH(tells_about_bad_lines),
        IN_SCRATCH(refuses_lines_that_never_end),
        IN_SCRATCH(refuses_headers_it_does_not_understand),
        IN_SCRATCH(tasks_without_a_session_have_no_names),
        IN_SCRATCH(survives_every_truncation_of_every_file),
        IN_SCRATCH(survives_flipped_bits),
        IN_SCRATCH(a_packed_recording_notices_every_flip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
