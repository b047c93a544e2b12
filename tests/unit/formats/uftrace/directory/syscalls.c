/* System calls of a recording: written, read back as functions of the kernel, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/uftrace/directory/open.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/write/syscalls_writer.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"
#include "support/scratch.h"

static const char *const targets[] = {"/home/notes", "127.0.0.1:80"};

static void write_recording(void)
{
    static const char tasks[] =
        "SESS timestamp=0.000000001 pid=100 sid=0123456789abcdef exename=\"/p\"\n"
        "TASK timestamp=0.000000002 tid=100 pid=100\n";
    struct cn_uft_info_header head = {
        .version = CN_UFT_VERSION,
        .header_len = cn_uft_info_header_size,
        .byte_order = CN_UFT_LITTLE_ENDIAN,
        .word_class = CN_UFT_64_BIT,
        .features = CN_FEATURE_TASK_SESSION,
        .max_stack = 10,
    };
    uint8_t bytes[cn_uft_info_header_size], records[2 * cn_uft_record_size];

    cn_uft_info_header_encode(&head, bytes);
    memcpy(bytes, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    for (unsigned i = 0; i < 2; i++)
        cn_uft_record_encode(
            &(struct cn_uft_record){.time_ns = 1000 + 100 * i,
                                    .word = CN_UFT_RECORD_MAGIC
                                                << CN_UFT_RECORD_MAGIC_AT |
                                            i | UINT64_C(0x1000) << CN_UFT_ADDRESS_AT},
            records + (size_t)i * cn_uft_record_size);
    assert_int_equal(mkdir("d", 0777), 0);
    cn_scratch_write("d/info", bytes, sizeof(bytes));
    cn_scratch_write("d/task.txt", tasks, sizeof(tasks) - 1);
    cn_scratch_write("d/sid-0123456789abcdef.map", "", 0);
    cn_scratch_write("d/100.dat", records, sizeof(records));
}

static struct cn_io_call call_of(const char *name, uint64_t begin_ns, uint64_t end_ns,
                                 uint32_t target)
{
    return (struct cn_io_call){.begin_ns = begin_ns,
                               .end_ns = end_ns,
                               .result = 7,
                               .profile = 1,
                               .target = target,
                               .descriptor = 3,
                               .call = cn_system_call_named(name)};
}

/* The task is 100; there is no task 101, and profile 3 is left out. */
static void write_calls(void)
{
    static const uint32_t tids[] = {0, 100, 101, 0};
    struct cn_io_call list[] = {
        call_of("read", 1010, 1020, 0),       call_of("write", 1015, 1017, 1),
        call_of("poll", 1030, 1040, CN_NONE), call_of("openat", 1050, 0, 0),
        call_of("read", 1060, 1060, 1),
    };
    struct cn_io_calls calls = {list, targets, 5, 2};
    struct cn_error err;

    list[1].profile = 2;
    assert_true(cn_uft_syscalls_write("d", &calls, tids, &err));
    list[1].profile = 3;
    assert_true(cn_uft_syscalls_write("d", &calls, tids, &err));
    /* Inside of another one. */
    list[1].profile = 1;
    assert_true(cn_uft_syscalls_write("d", &calls, tids, &err));
}

static struct cn_recording *open_it(void)
{
    struct cn_recording_options options = {0};
    struct cn_recording *rec;
    struct cn_error err = {0};

    assert_true(cn_uft_open(&rec, "d", &options, &err));
    return rec;
}

static const char *name_of(const struct cn_recording *rec, const struct cn_call *call)
{
    return call->function < rec->function_count ? rec->functions[call->function].name
                                                : "f";
}

/* "time depth name" of entries, "time depth" of exits. */
static void print_calls(const struct cn_recording *rec, struct cn_text *text)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};

    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];

            cn_text_printf(text, "%u %u %s\n", (unsigned)call->time_ns, call->depth,
                           call->kind == CN_CALL_ENTER ? name_of(rec, call) : "}");
        }
    cn_call_stream_close(stream);
}

static void calls_are_functions_that_contain_their_files(void **state)
{
    struct cn_recording *rec;
    struct cn_text text = {0};

    (void)state;
    write_recording();
    write_calls();
    rec = open_it();
    assert_non_null(rec->io);
    assert_int_equal(rec->io->count, 4);
    assert_int_equal(rec->io->list[0].result, 7);
    assert_int_equal(rec->io->list[0].descriptor, 3);
    assert_int_equal(rec->io->list[0].profile, 0);
    assert_int_equal(rec->io->list[2].end_ns, 0);
    print_calls(rec, &text);
    assert_string_equal(text.chars,
                        "1000 0 f\n"
                        "1010 1 read\n1010 2 /home/notes\n1020 2 }\n1020 1 }\n"
                        "1030 1 poll\n1040 1 }\n"
                        "1050 1 openat\n1050 2 /home/notes\n"
                        "1051 2 }\n1051 1 }\n"
                        "1060 1 read\n1060 2 127.0.0.1:80\n"
                        "1061 2 }\n1061 1 }\n"
                        "1100 0 }\n");
    assert_null(rec->warnings);
    cn_text_done(&text);
    cn_recording_close(rec);
}

/* What is before the damage is there, in order, and a warning names the file. */
static void open_damaged(const uint8_t *bytes, size_t len, bool is_cut)
{
    struct cn_recording *rec;

    cn_scratch_write("d/" CN_UFT_SYSCALLS_NAME, bytes, len);
    rec = open_it();
    assert_true(!is_cut || rec->warnings);
    if (rec->warnings)
        assert_non_null(strstr(rec->warnings->text, CN_UFT_SYSCALLS_NAME ": "));
    for (size_t i = 0; rec->io && i < rec->io->count; i++) {
        const struct cn_io_call *call = &rec->io->list[i];

        assert_int_equal(call->profile, 0);
        assert_true(call->target == CN_NONE || call->target < rec->io->target_count);
        assert_true(i == 0 || rec->io->list[i - 1].begin_ns < call->begin_ns);
        assert_true(call->end_ns == 0 || call->end_ns >= call->begin_ns);
    }
    struct cn_text text = {0};
    print_calls(rec, &text);
    cn_text_done(&text);
    cn_recording_close(rec);
}

static void damage_costs_only_what_follows(void **state)
{
    struct cn_file file = {0};
    struct cn_error err;

    (void)state;
    write_recording();
    write_calls();
    assert_true(cn_file_open_at(&file, "d", CN_UFT_SYSCALLS_NAME, &err));
    size_t len = file.bytes.len;
    uint8_t *copy = cn_alloc(len, 1);
    memcpy(copy, file.bytes.ptr, len);
    cn_file_close(&file);
    for (size_t i = 0; i < len; i++) {
        open_damaged(copy, i, true);
        copy[i] ^= 0x81;
        open_damaged(copy, len, false);
        copy[i] ^= 0x81;
    }
    free(copy);
}

static void a_mapped_module_of_that_name_has_its_own_functions(void **state)
{
    static const char tasks[] =
        "SESS timestamp=0.000000001 pid=100 sid=0123456789abcdef exename=\"/p\"\n"
        "TASK timestamp=0.000000002 tid=100 pid=100\n"
        "DLOP timestamp=0.000000003 tid=100 sid=0123456789abcdef base=0 "
        "libname=\"[kernel.kallsyms]\"\n";
    static const char symbols[] = "0000000000001000 T own\n0000000000002000 T other\n";
    struct cn_recording *rec;
    struct cn_text text = {0};

    (void)state;
    write_recording();
    cn_scratch_write("d/task.txt", tasks, sizeof(tasks) - 1);
    cn_scratch_write("d/[kernel.kallsyms].sym", symbols, sizeof(symbols) - 1);
    write_calls();
    rec = open_it();
    print_calls(rec, &text);
    assert_memory_equal(text.chars, "1000 0 own\n1010 1 read\n1010 2 /home/notes\n",
                        strlen("1000 0 own\n1010 1 read\n1010 2 /home/notes\n"));
    for (uint32_t i = 0; i < rec->module_count; i++)
        if (rec->modules[i].function_count > 0)
            assert_int_equal(rec->functions[rec->modules[i].first_function].module, i);
    cn_text_done(&text);
    cn_recording_close(rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(calls_are_functions_that_contain_their_files),
        CN_SCRATCH_TEST(a_mapped_module_of_that_name_has_its_own_functions),
        CN_SCRATCH_TEST(damage_costs_only_what_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
