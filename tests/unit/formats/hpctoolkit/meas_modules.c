/* Names from files of a measurement directory: logical frames and kernel symbols. */
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/bytes/bytes.h"
#include "formats/hpctoolkit/meas/open.h"
#include "support/made_run.h"
#include "support/scratch.h"

static int enter(void **state)
{
    *state = cn_scratch_enter();
    (void)mkdir("app.m", 0777);
    (void)mkdir("app.m/logical", 0777);
    (void)mkdir("app.m/kernel_symbols", 0777);
    cn_scratch_write("app.m/app.hpcrun", "", 0);
    return 0;
}

static struct cn_measurements *must_open(void)
{
    struct cn_measurements *m = NULL;
    const char *dir = "app.m";
    struct cn_error err = {0};

    if (!cn_hpc_meas_open(&m, &dir, 1, NULL, &err))
        fail_msg("%s", err.text);
    return m;
}

static struct cn_code_scopes scopes_of(struct cn_measurements *m, const char *module,
                                       uint64_t address)
{
    struct cn_bytes path = {(const uint8_t *)module, strlen(module)};
    struct cn_code_scopes scopes;
    struct cn_error err = {0};
    uint32_t number;

    assert_true(cn_measurements_find_module(m, 0, path, &number, &err));
    assert_true(cn_measurements_scopes(m, number, address, &scopes, &err));
    return scopes;
}

static void put_frame(struct cn_text *to, uint32_t id, const char *function,
                      uint8_t mangling, const char *file, uint32_t line)
{
    cn_put_u32_be(to, id);
    cn_put_u32_be(to, (uint32_t)strlen(function));
    cn_text_str_add(to, function);
    cn_text_add(to, (const char *)&mangling, 1);
    cn_put_u32_be(to, (uint32_t)strlen(file));
    cn_text_str_add(to, file);
    cn_put_u32_be(to, line);
}

static void write_frames(const char *path)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_HPC_LOGICAL_MAGIC);
    put_frame(&text, 1, "run", 0, "/app.py", 10);
    put_frame(&text, 2, "", 0, "/lib.py", 0);
    put_frame(&text, 3, "_Z4workv", 1, "", 0);
    put_frame(&text, 4, "", 0, "", 0);
    cn_scratch_write(path, text.chars, text.len);
    cn_text_done(&text);
}

static uint64_t frame(uint32_t id, uint32_t line)
{
    return (uint64_t)id << 32 | line;
}

static void check_function(struct cn_measurements *m, const struct cn_code_scope *scope,
                           const char *name, const char *module)
{
    struct cn_function function;
    struct cn_module of;

    assert_int_equal(scope->kind, CN_CONTEXT_FUNCTION);
    cn_measurements_function(m, scope->function, &function);
    assert_string_equal(function.name, name);
    cn_measurements_module(m, function.module, &of);
    assert_string_equal(of.path, module);
}

static void frames_of_interpreters_are_functions_and_lines(void **state)
{
    struct cn_measurements *m;
    struct cn_code_scopes scopes;

    (void)state;
    write_frames("app.m/logical/python.1a2b3c4d");
    m = must_open();
    scopes = scopes_of(m, "logical/python.1a2b3c4d", frame(1, 17));
    assert_int_equal(scopes.count, 2);
    assert_false(scopes.has_instruction);
    check_function(m, &scopes.list[0], "run", "<logical python>");
    assert_int_equal(scopes.list[0].relation, CN_CALL);
    assert_int_equal(scopes.list[1].kind, CN_CONTEXT_LINE);
    assert_int_equal(scopes.list[1].relation, CN_LEXICAL);
    assert_int_equal(scopes.list[1].line, 17);
    scopes = scopes_of(m, "logical/python.1a2b3c4d", frame(1, 0));
    assert_int_equal(scopes.count, 1);
    check_function(m, &scopes.list[0], "run", "<logical python>");
    scopes = scopes_of(m, "logical/python.1a2b3c4d", frame(2, 5));
    assert_int_equal(scopes.count, 1);
    assert_int_equal(scopes.list[0].kind, CN_CONTEXT_LINE);
    assert_int_equal(scopes.list[0].relation, CN_CALL);
    scopes = scopes_of(m, "logical/python.1a2b3c4d", frame(3, 5));
    assert_int_equal(scopes.count, 1);
    check_function(m, &scopes.list[0], "work()", "<logical python>");
    cn_measurements_close(m);
}

static void frames_without_a_name_are_unknown_functions(void **state)
{
    static const uint32_t ids[] = {0, 4, 99};
    struct cn_measurements *m;

    (void)state;
    write_frames("app.m/logical/python.1a2b3c4d");
    m = must_open();
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        struct cn_code_scopes scopes =
            scopes_of(m, "logical/python.1a2b3c4d", frame(ids[i], 3));

        assert_int_equal(scopes.count, 1);
        assert_int_equal(scopes.list[0].kind, CN_CONTEXT_FUNCTION);
        assert_int_equal(scopes.list[0].function, CN_NONE);
    }
    cn_measurements_close(m);
}

static void equal_frames_of_two_files_are_one_function(void **state)
{
    struct cn_measurements *m;
    uint32_t first;

    (void)state;
    write_frames("app.m/logical/python.1a2b3c4d");
    write_frames("app.m/logical/python.00000000");
    m = must_open();
    first = scopes_of(m, "logical/python.1a2b3c4d", frame(1, 3)).list[0].function;
    assert_int_equal(
        scopes_of(m, "logical/python.00000000", frame(1, 9)).list[0].function, first);
    cn_measurements_close(m);
}

static void write_kernel(const char *text)
{
    uint8_t bytes[4096];
    size_t len = 0;

    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL,
                                             (const uint8_t *)text, strlen(text), bytes,
                                             &len, sizeof(bytes)),
                     LZMA_OK);
    cn_scratch_write("app.m/kernel_symbols/vmlinux.0a", (const char *)bytes, len);
}

static void kernel_symbols_name_functions(void **state)
{
    static const char module[] = "kernel_symbols/vmlinux.0a";
    struct cn_measurements *m;
    struct cn_code_scopes scopes;

    (void)state;
    write_kernel("ffffffff81000000 T first\n"
                 "ffffffff81000000 t same place\n"
                 "ffffffff81000200 t second\t[driver]\n"
                 "ffffffff81000100 D data\n"
                 "not a symbol\n"
                 "ffffffff81000300 T last");
    m = must_open();
    scopes = scopes_of(m, module, UINT64_C(0xffffffff81000150));
    assert_int_equal(scopes.count, 1);
    assert_true(scopes.has_instruction);
    check_function(m, &scopes.list[0], "first [vmlinux]", module);
    scopes = scopes_of(m, module, UINT64_C(0xffffffff81000200));
    check_function(m, &scopes.list[0], "second [driver] [vmlinux]", module);
    scopes = scopes_of(m, module, UINT64_MAX);
    check_function(m, &scopes.list[0], "last [vmlinux]", module);
    scopes = scopes_of(m, module, 0x1000);
    assert_int_equal(scopes.count, 0);
    assert_null(m->warnings);
    cn_measurements_close(m);
}

static void damaged_kernel_symbols_are_a_warning(void **state)
{
    struct cn_measurements *m;

    (void)state;
    cn_scratch_write("app.m/kernel_symbols/vmlinux.0a",
                     "\xfd"
                     "7zXZ",
                     5);
    m = must_open();
    assert_int_equal(scopes_of(m, "kernel_symbols/vmlinux.0a", 16).count, 0);
    assert_non_null(m->warnings);
    cn_measurements_close(m);
}

static void a_truncated_file_of_frames_keeps_what_is_whole(void **state)
{
    struct cn_text text = {0};
    struct cn_measurements *m;

    (void)state;
    cn_text_str_add(&text, CN_HPC_LOGICAL_MAGIC);
    put_frame(&text, 1, "run", 0, "/app.py", 10);
    put_frame(&text, 2, "never", 0, "/app.py", 20);
    cn_scratch_write("app.m/logical/python.00000000", text.chars, text.len - 1);
    cn_text_done(&text);
    m = must_open();
    check_function(m, scopes_of(m, "logical/python.00000000", frame(1, 3)).list, "run",
                   "<logical python>");
    assert_int_equal(
        scopes_of(m, "logical/python.00000000", frame(2, 3)).list[0].function, CN_NONE);
    assert_non_null(m->warnings);
    cn_measurements_close(m);
}

static void the_length_of_a_profile_is_that_of_its_file(void **state)
{
    struct cn_measurements *m;

    (void)state;
    cn_scratch_write("app.m/app.hpcrun", "HPC", 3);
    m = must_open();
    assert_int_equal(cn_measurements_profile_len(m, 0), 3);
    cn_measurements_close(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, cn_scratch_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(frames_of_interpreters_are_functions_and_lines),
        TEST(frames_without_a_name_are_unknown_functions),
        TEST(equal_frames_of_two_files_are_one_function),
        TEST(kernel_symbols_name_functions),
        TEST(damaged_kernel_symbols_are_a_warning),
        TEST(a_truncated_file_of_frames_keeps_what_is_whole),
        TEST(the_length_of_a_profile_is_that_of_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
