/* Frames of interpreters: equal ones have one address, a file contains them, finished or not, and perf
 * reads it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "base/files/file.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/perf/stored_names.h"
#include "formats/exchange/perf/writer.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"
#include "support/scratch.h"

enum { ATTR_LEN = 128, PID = 7 };

static const struct cn_stored_frame outer = {.function = "Shop.serve",
                                             .file = "/srv/shop.py",
                                             .line = 12,
                                             .language = CN_LANGUAGE_PYTHON,
                                             .first_line = 10},
                                    inner = {.function = "price",
                                             .file = "/srv/shop.py",
                                             .line = 33,
                                             .language = CN_LANGUAGE_PYTHON,
                                             .first_line = 30};

static void equal_frames_have_one_address(void **state)
{
    struct cn_stored_names names = {0};
    struct cn_stored_frame other = inner;
    uint64_t address = cn_stored_names_address(&names, &inner);

    assert_int_equal(cn_stored_language(address), CN_LANGUAGE_PYTHON);
    assert_int_equal(cn_stored_language(address - 1), CN_LANGUAGE_PYTHON);
    assert_int_equal(cn_stored_language(0x7fff0000), CN_LANGUAGE_NATIVE);
    assert_int_equal(cn_stored_language(UINT64_MAX), CN_LANGUAGE_NATIVE);
    assert_int_equal(cn_stored_names_address(&names, &inner), address);
    other.line++;
    assert_int_not_equal(cn_stored_names_address(&names, &other), address);
    other = inner;
    other.language = CN_LANGUAGE_RUBY;
    other.file = NULL;
    assert_int_equal(cn_stored_language(cn_stored_names_address(&names, &other)),
                     CN_LANGUAGE_RUBY);
    assert_int_equal(names.count, 3);
    cn_stored_names_done(&names);
    (void)state;
}

static void a_long_name_is_cut(void **state)
{
    static char name[1 << 17];
    struct cn_stored_names names = {0}, read = {0};
    struct cn_text record = {0};
    struct cn_bytes body;

    memset(name, 'x', sizeof(name) - 1);
    uint64_t address = cn_stored_names_address(
        &names, &(struct cn_stored_frame){name, name, 1, CN_LANGUAGE_JAVA, 0});
    assert_true(cn_stored_names_encode(&names, &record));
    assert_int_equal(cn_u16_get((const uint8_t *)record.chars + 6), record.len);
    assert_true(cn_bytes_from(cn_wire_view(&record), 8, &body));
    cn_stored_names_decode(&read, body);
    const struct cn_stored_frame *frame = cn_stored_names_find(&read, address);
    assert_non_null(frame);
    assert_int_equal(strlen(frame->function), CN_STORED_TEXT_MAX - 1);
    for (size_t len = 0; len < body.len; len++) {
        struct cn_stored_names cut = {0};

        cn_stored_names_decode(&cut, (struct cn_bytes){body.ptr, len});
        cn_stored_names_done(&cut);
    }
    cn_text_done(&record);
    cn_stored_names_done(&read);
    cn_stored_names_done(&names);
    (void)state;
}

static void add_sample(struct cn_perf_writer *writer, const uint64_t *chain, size_t count)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    cn_wire_u32(&text, CN_PERF_SAMPLE);
    cn_wire_u32(&text, (uint32_t)((64 + 8 * count) << 16) | 2);
    cn_wire_u64(&text, 1);
    cn_wire_u64(&text, chain[1]);
    cn_wire_u64(&text, PID | (uint64_t)PID << 32);
    cn_wire_u64(&text, 100);
    cn_wire_u64(&text, 0);
    cn_wire_u64(&text, 1000);
    cn_wire_u64(&text, count);
    for (size_t i = 0; i < count; i++)
        cn_wire_u64(&text, chain[i]);
    assert_true(cn_perf_writer_add(writer, cn_wire_view(&text), &err));
    cn_perf_writer_count_sample(writer, 100);
    cn_text_done(&text);
}

static void open_writer(struct cn_perf_writer *writer)
{
    static uint8_t attr_bytes[ATTR_LEN];
    static const char *const command[] = {"cairn", NULL};
    struct cn_perf_attr attr = {
        .type = 1,
        .size = ATTR_LEN,
        .sample_type = CN_PERF_HAS_IDENTIFIER | CN_PERF_HAS_IP | CN_PERF_HAS_TID |
                       CN_PERF_HAS_TIME | CN_PERF_HAS_CPU | CN_PERF_HAS_PERIOD |
                       CN_PERF_HAS_CALLCHAIN,
        .flags = CN_PERF_FLAG_SAMPLE_ID_ALL,
    };
    struct cn_perf_writer_event event = {{attr_bytes, ATTR_LEN}, "cpu-clock"};
    struct cn_error err = {0};

    cn_perf_attr_encode(&attr, attr_bytes);
    cn_u32_put(attr_bytes + 4, ATTR_LEN);
    assert_true(cn_perf_writer_open(writer, "perf.data",
                                    &(struct cn_perf_writer_facts){
                                        .events = &event,
                                        .event_count = 1,
                                        .command = command,
                                        .compression_level = 1,
                                    },
                                    &err));
}

static struct cn_database *read_file(struct cn_file *file)
{
    struct cn_import *import = cn_import_new("title", "description");
    struct cn_database *db;
    struct cn_error err = {0};

    assert_true(cn_file_open(file, "perf.data", &err));
    assert_true(cn_perf_read(import, file->bytes, &err));
    assert_true(cn_import_finish(import, &db, &err));
    return db;
}

/* The functions of the file with their files, as the reader names them. */
static void expect_functions(void)
{
    struct cn_file file = {0};
    struct cn_database *db = read_file(&file);
    struct cn_error err = {0};
    unsigned found = 0;

    for (uint32_t i = 0; i < db->function_count; i++) {
        struct cn_source_file source = {0};
        struct cn_module module = {0};
        struct cn_function function;

        assert_true(cn_database_function(db, i, &function, &err));
        if (function.file < db->file_count)
            assert_true(cn_database_file(db, function.file, &source, &err));
        if (function.module < db->module_count)
            assert_true(cn_database_module(db, function.module, &module, &err));
        for (unsigned k = 0; k < 2; k++) {
            const struct cn_stored_frame *frame = k ? &inner : &outer;

            if (strcmp(function.name, frame->function) != 0)
                continue;
            assert_string_equal(source.path, frame->file);
            assert_int_equal(function.line, frame->first_line);
            assert_string_equal(module.path, "[python]");
            found |= 1U << k;
        }
    }
    assert_int_equal(found, 3);
    cn_database_close(db);
    cn_file_close(&file);
}

static void a_file_contains_its_frames(void **state)
{
    struct cn_stored_names names = {0};
    uint64_t chain[] = {CN_PERF_CONTEXT_USER, cn_stored_names_address(&names, &inner),
                        cn_stored_names_address(&names, &outer)};
    struct cn_perf_writer writer;
    struct cn_text record = {0};
    struct cn_error err = {0};
    char line[256];
    int shown = 0;

    open_writer(&writer);
    while (cn_stored_names_encode(&names, &record))
        assert_true(cn_perf_writer_add(&writer, cn_wire_view(&record), &err));
    add_sample(&writer, chain, 3);
    assert_true(cn_perf_writer_flush(&writer, &err));
    expect_functions(); /* of a writer that is killed now */
    assert_true(cn_perf_writer_close(&writer, &err));
    expect_functions();
    cn_text_done(&record);
    cn_stored_names_done(&names);
    if (system("perf --version >/dev/null 2>&1") != 0) {
        print_message("perf is not installed\n");
        return;
    }
    FILE *out = popen("perf script -F ip -i perf.data 2>&1", "r");
    assert_non_null(out);
    while (fgets(line, sizeof(line), out))
        shown += strstr(line, "1000010000000") != NULL;
    assert_int_equal(pclose(out), 0);
    assert_int_equal(shown, 2);
    (void)state;
}

static void add_mapping(struct cn_perf_writer *writer, uint64_t begin, const char *path)
{
    struct cn_text text = {0};
    struct cn_error err = {0};
    size_t padding = 8 - strlen(path) % 8;

    cn_wire_u32(&text, CN_PERF_MMAP);
    cn_wire_u32(&text, (uint32_t)((40 + strlen(path) + padding + 40) << 16) | 2);
    cn_wire_u64(&text, PID | (uint64_t)PID << 32);
    cn_wire_u64(&text, begin);
    cn_wire_u64(&text, 0x1000);
    cn_wire_u64(&text, 0);
    cn_text_str_add(&text, path);
    cn_text_fill(&text, '\0', padding);
    cn_wire_u64(&text, PID | (uint64_t)PID << 32);
    for (unsigned i = 0; i < 4; i++)
        cn_wire_u64(&text, i == 3);
    assert_true(cn_perf_writer_add(writer, cn_wire_view(&text), &err));
    cn_text_done(&text);
}

/* What starts threads in a stripped C library is no function of the program without a name. */
static void starts_of_threads_need_no_names(void **state)
{
    enum { LIBC = 0x10000, PROGRAM = 0x20000 };
    struct cn_stored_names names = {0};
    uint64_t named = cn_stored_names_address(&names, &inner);
    uint64_t thread[] = {CN_PERF_CONTEXT_USER, named, LIBC + 16, LIBC + 32};
    uint64_t inside[] = {CN_PERF_CONTEXT_USER, LIBC + 16, named, named, named};
    uint64_t program[] = {CN_PERF_CONTEXT_USER, named, PROGRAM + 16, LIBC + 32};
    struct cn_perf_writer writer;
    struct cn_text record = {0};
    struct cn_file file = {0};
    struct cn_error err = {0};

    open_writer(&writer);
    while (cn_stored_names_encode(&names, &record))
        assert_true(cn_perf_writer_add(&writer, cn_wire_view(&record), &err));
    add_mapping(&writer, LIBC, "/nowhere/libc.so.6");
    add_mapping(&writer, PROGRAM, "/nowhere/program");
    add_sample(&writer, thread, 4);
    add_sample(&writer, inside, 5);
    add_sample(&writer, program, 4);
    assert_true(cn_perf_writer_close(&writer, &err));
    struct cn_database *db = read_file(&file);
    assert_int_equal(db->origin.stack_count, 3);
    assert_int_equal(db->origin.unnamed_count, 2);
    cn_database_close(db);
    cn_file_close(&file);
    cn_text_done(&record);
    cn_stored_names_done(&names);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_frames_have_one_address),
        cmocka_unit_test(a_long_name_is_cut),
        CN_SCRATCH_TEST(starts_of_threads_need_no_names),
        CN_SCRATCH_TEST(a_file_contains_its_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
