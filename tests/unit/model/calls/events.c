#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/calls/recording_memory.h"
#include "model/calls/values.h"

enum { BASE = 0x400000, VARIABLE = 0x34 };

static struct cn_recording *watching_recording(struct cn_bytes data)
{
    struct cn_memory_recording *m = cn_memory_recording_new();
    uint32_t module = cn_memory_recording_add_module(m, "/bin/app", "");
    uint32_t session = cn_memory_recording_add_session(m, "1", 1, 0, "/bin/app");
    uint32_t task = cn_memory_recording_add_task(
        m, (struct cn_task){.tid = 1, .pid = 1, .parent = CN_NONE, .name = "app"});

    (void)cn_memory_recording_add_function(m, (struct cn_call_function){
                                                  .name = "counter",
                                                  .raw_name = "counter",
                                                  .module = module,
                                                  .type = 'D',
                                                  .offset = VARIABLE,
                                                  .size = 4,
                                                  .file = "",
                                              });
    cn_memory_recording_add_mapping(
        m, session, (struct cn_mapping){BASE, BASE + 0x1000, 0, module, "r-xp"});
    cn_memory_recording_add_task_session(m, task, 0, session);
    cn_memory_recording_add_call(m, task,
                                 (struct cn_call){.time_ns = 5,
                                                  .address = CN_EVENT_WATCH_VAR,
                                                  .function = CN_NONE,
                                                  .kind = CN_CALL_EVENT,
                                                  .flags = CN_CALL_HAS_DATA},
                                 data);
    return cn_memory_recording_finish(m);
}

static void check(const uint8_t *data, size_t len, const char *expected)
{
    struct cn_recording *rec = watching_recording((struct cn_bytes){data, len});
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err;
    struct cn_text text = {0};

    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    assert_int_equal(cn_call_stream_next(stream, &batch, &err), CN_ITEM);
    assert_true(
        cn_recording_print_task_event(rec, 0, &batch, &batch.calls[0], false, &text));
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
    cn_call_stream_close(stream);
    cn_recording_close(rec);
}

/* The value has the size of the variable. */
static void watched_variables_have_name_and_value(void **state)
{
    static const uint8_t small[] = {0x34, 0, 0x40, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff};
    static const uint8_t wide[] = {0x34, 0, 0x40, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0};
    static const uint8_t other[] = {0x34, 0, 0, 0, 0, 0, 0, 0, 3};

    (void)state;
    check(small, sizeof(small), "counter=-2");
    check(wide, sizeof(wide), "counter=4294967305");
    check(other, sizeof(other), "addr=0x34 value=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watched_variables_have_name_and_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
