/* Every record of all recordings against what uftrace 0.19 says about it. */

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
#include "open/open.h"
#include "support/data.h"
#include "support/listing.h"

static void print_pointer(const struct cn_recording *rec, uint32_t task, uint64_t time_ns,
                          uint64_t address, bool is_result, struct cn_text *text)
{
    uint32_t f = cn_recording_find_function(rec, task, time_ns, address);

    if (f != CN_NONE)
        cn_text_printf(text, "%" PRIx64 " (&%s)", address, rec->functions[f].name);
    else if (address == 0)
        cn_text_str_add(text, is_result ? "(nil)" : "0");
    else
        cn_text_printf(text, "0x%" PRIx64, address);
}

static void print_struct(struct cn_bytes bytes, struct cn_text *text)
{
    for (size_t i = 0; i < bytes.len; i++) {
        cn_text_str_add(text, i % 16 == 0 ? "\n\t" : "");
        cn_text_printf(text, "%02x ", bytes.ptr[i]);
        cn_text_str_add(text, i % 8 == 7 ? " " : "");
    }
}

static void print_value(const struct cn_recording *rec, uint32_t task,
                        const struct cn_call *call, const struct cn_call_values *values,
                        const struct cn_call_value *value, struct cn_text *text)
{
    uint64_t number = cn_call_value_number(values, value);
    bool is_result = call->kind == CN_CALL_EXIT;

    if (value->spec->format == 'e' && !is_result) {
        cn_text_printf(text, "enum %s: ", value->spec->type_name);
        assert_non_null(value->spec->enumeration);
        cn_enum_print(value->spec->enumeration, (int64_t)number, text);
        cn_text_printf(text, " (%" PRId64 ")", (int64_t)number);
        return;
    }
    cn_call_value_type_print(value, text);
    cn_text_char(text, ':');
    if (value->spec->format == 't') {
        print_struct(value->bytes, text);
        return;
    }
    cn_text_char(text, ' ');
    if (value->spec->format == 's')
        cn_text_add(text, (const char *)value->bytes.ptr, value->bytes.len);
    else if (value->spec->format == 'p')
        print_pointer(rec, task, call->time_ns, number, is_result, text);
    else
        cn_text_printf(text, "0x%0*" PRIx64, value->spec->size * 2, number);
}

static void print_data(const struct cn_recording *rec, uint32_t task,
                       const struct cn_call_batch *batch, const struct cn_call *call,
                       const char *when, struct cn_text *text)
{
    static const char *const names[] = {"args ", "retval", "lost ", "data "};
    struct cn_call_values values;
    struct cn_call_value value;
    unsigned i = 0;

    cn_text_printf(text, "%s[%s] length = %" PRIu32 "\n", when, names[call->kind],
                   call->data_len);
    if (call->kind == CN_CALL_EVENT) {
        cn_text_printf(text, "  %s: ", cn_recording_event_name(rec, call->address));
        assert_true(cn_recording_print_event(rec, batch, call, true, text));
        cn_text_char(text, '\n');
        return;
    }
    cn_call_values_begin(&values, rec, batch, call);
    while (cn_call_values_next(&values, &value)) {
        if (call->kind == CN_CALL_ENTER)
            cn_text_printf(text, "  args[%u] ", i++);
        else
            cn_text_str_add(text, "  retval ");
        print_value(rec, task, call, &values, &value, text);
        cn_text_char(text, '\n');
    }
}

static void print_record(const struct cn_recording *rec, const struct cn_source *source,
                         const struct cn_call_batch *batch, size_t i,
                         struct cn_text *text)
{
    static const char *const kinds[] = {"entry", "exit ", "lost ", "event"};
    const struct cn_call *call = &batch->calls[i];
    char when[64];

    (void)snprintf(when, sizeof(when), "%" PRIu64 ".%09" PRIu64 " %8" PRIu32 ": ",
                   call->time_ns / 1000000000, call->time_ns % 1000000000,
                   batch->tids[i]);
    cn_text_printf(text, "%s[%s] ", when, kinds[call->kind]);
    if (source->kind == CN_SOURCE_PERF) {
        cn_text_printf(text, "%s(%" PRIu64 ")\n",
                       cn_recording_event_name(rec, call->address), call->address);
        return;
    }
    if (call->kind == CN_CALL_EVENT)
        cn_text_str_add(text, cn_recording_event_name(rec, call->address));
    else if (call->function == CN_NONE)
        cn_text_printf(text, "<%" PRIx64 ">", call->address);
    else
        cn_text_str_add(text, rec->functions[call->function].name);
    cn_text_printf(text, "(%" PRIx64 ") depth: %u\n", call->address, call->depth);
    if (call->flags & CN_CALL_HAS_DATA)
        print_data(rec, source->task, batch, call, when, text);
}

static void print_source(const struct cn_recording *rec, uint32_t source,
                         struct cn_text *text)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    enum cn_step step;
    size_t before;

    cn_text_printf(text, "reading %s\n", rec->sources[source].name);
    before = text->len;
    assert_true(cn_recording_source_open(rec, source, &stream, &err));
    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            print_record(rec, &rec->sources[source], &batch, i, text);
    if (step == CN_FAIL)
        fail_msg("%s", err.text);
    cn_call_stream_close(stream);
    /* The tool says nothing about a file in which it found nothing. */
    if (text->len == before)
        text->len -= strlen("reading \n") + strlen(rec->sources[source].name);
}

/* The next line that is about a record; false at the end. */
static bool next_line(const char **at, const char *end, const char **line, size_t *len)
{
    while (*at < end) {
        const char *newline = memchr(*at, '\n', (size_t)(end - *at));

        *line = *at;
        *len = (size_t)((newline ? newline : end) - *at);
        *at = newline ? newline + 1 : end;
        if (*len > 0 && **line != '*' && strncmp(*line, "uftrace file header", 19) != 0)
            return true;
    }
    return false;
}

static void compare(const char *name, struct cn_bytes expected,
                    const struct cn_text *ours)
{
    const char *theirs = (const char *)expected.ptr, *mine = cn_text_str(ours);
    const char *their_end = theirs + expected.len, *my_end = mine + ours->len;
    const char *their_line, *my_line;
    size_t their_len, my_len;

    while (next_line(&theirs, their_end, &their_line, &their_len)) {
        if (!next_line(&mine, my_end, &my_line, &my_len))
            fail_msg("%s: ends before \"%.*s\"", name, (int)their_len, their_line);
        if (my_len != their_len || memcmp(my_line, their_line, my_len) != 0)
            fail_msg("%s: \"%.*s\" instead of \"%.*s\"", name, (int)my_len, my_line,
                     (int)their_len, their_line);
    }
    if (next_line(&mine, my_end, &my_line, &my_len))
        fail_msg("%s: goes on with \"%.*s\"", name, (int)my_len, my_line);
}

/* False if uftrace cannot read the recording. */
static bool compare_recording(const char *folder, const char *name)
{
    char path[4096];
    struct cn_recording *rec;
    struct cn_error err = {0};
    struct cn_file expected = {0};
    struct cn_text ours = {0};

    (void)snprintf(path, sizeof(path), "%s/%s.expected/dump.txt", folder, name);
    if (access(path, R_OK) < 0)
        return false;
    if (!cn_file_open(&expected, path, &err))
        fail_msg("%s", err.text);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!cn_open_recording(path, NULL, &rec, &err))
        fail_msg("%s", err.text);
    if (rec->warnings)
        fail_msg("%s: %s", name, rec->warnings->text);
    for (uint32_t i = 0; i < rec->source_count; i++)
        print_source(rec, i, &ours);
    compare(name, expected.bytes, &ours);
    cn_recording_close(rec);
    cn_text_done(&ours);
    cn_file_close(&expected);
    return true;
}

static void reads_every_record_as_the_real_tool(void **state)
{
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < recordings.count; i++)
        count += compare_recording(folder, recordings.names[i]);
    assert_true(count > 20);
    cn_listing_done(&recordings);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_record_as_the_real_tool),
    };

    return CN_TEST_ON_DATA(tests);
}
