#include "symbols/jit_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/jit_files.h"
#include "support/scratch.h"

static void read_map(struct cn_jit_code *code, const char *text)
{
    cn_jit_code_read_map(code, (struct cn_bytes){(const uint8_t *)text, strlen(text)});
}

static const char *name_at(const struct cn_jit_code *code, uint64_t address,
                           uint64_t time_ns)
{
    const struct cn_jit_function *function = cn_jit_code_find(code, address, time_ns);

    return function ? function->name : "none";
}

static void a_map_names_addresses(void **state)
{
    struct cn_jit_code code = {0};

    (void)state;
    read_map(&code, "1000 20 first\n0x1020 10 with spaces in it\n2ff0 1010 over pages");
    assert_string_equal(name_at(&code, 0x1000, UINT64_MAX), "first");
    assert_string_equal(name_at(&code, 0x101f, UINT64_MAX), "first");
    assert_string_equal(name_at(&code, 0x1020, UINT64_MAX), "with spaces in it");
    assert_string_equal(name_at(&code, 0x1030, UINT64_MAX), "none");
    assert_string_equal(name_at(&code, 0x3fff, UINT64_MAX), "over pages");
    assert_string_equal(name_at(&code, 0x4000, UINT64_MAX), "none");
    cn_jit_code_done(&code);
}

static void of_code_at_the_same_address_the_last_counts(void **state)
{
    struct cn_jit_code code = {0};

    (void)state;
    read_map(&code, "1000 100 old\n1040 20 new\n");
    assert_string_equal(name_at(&code, 0x103f, UINT64_MAX), "old");
    assert_string_equal(name_at(&code, 0x1040, UINT64_MAX), "new");
    assert_string_equal(name_at(&code, 0x1060, UINT64_MAX), "old");
    cn_jit_code_done(&code);
}

static void damaged_lines_are_skipped(void **state)
{
    struct cn_jit_code code = {0};

    (void)state;
    read_map(&code, "\nnonsense\n1000\n1000 10\n1000 10 \n2000 0 empty\n"
                    "ffffffffffffffff 10 wraps\n1000 ffffffffffff huge\n"
                    "11112222333344445 1 digits\n3000 10 good\n");
    assert_int_equal(code.count, 1);
    assert_string_equal(name_at(&code, 0x3000, UINT64_MAX), "good");
    cn_jit_code_done(&code);
}

static void names_of_languages_are_split(void **state)
{
    static const struct {
        const char *text, *name, *language, *file;
        uint32_t line;
    } cases[] = {
        {"JS:*fib /a/b.js:12:13", "fib", CN_JIT_JAVASCRIPT, "/a/b.js", 12},
        {"LazyCompile:~a b.js:1:1", "a", CN_JIT_JAVASCRIPT, "b.js", 1},
        {"JS:~ node:internal/x:7:9", "(anonymous)", CN_JIT_JAVASCRIPT, "node:internal/x",
         7},
        {"Eval:^f file.js:x:1", "Eval:^f file.js:x:1", CN_JIT_CODE, "", 0},
        {"Builtin:ArrayMap", "Builtin:ArrayMap", CN_JIT_CODE, "", 0},
        {"py::C.run:/a/b.py", "C.run", CN_JIT_PYTHON, "/a/b.py", 0},
        {"py::<module>:/a/b:c.py", "<module>", CN_JIT_PYTHON, "/a/b:c.py", 0},
        {"py::nothing", "py::nothing", CN_JIT_CODE, "", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_jit_code code = {0};
        const struct cn_jit_function *function;
        char text[100];

        (void)snprintf(text, sizeof(text), "1000 10 %s\n", cases[i].text);
        read_map(&code, text);
        function = cn_jit_code_find(&code, 0x1000, UINT64_MAX);
        assert_non_null(function);
        assert_string_equal(function->name, cases[i].name);
        assert_string_equal(function->language, cases[i].language);
        assert_string_equal(function->file, cases[i].file);
        assert_int_equal(function->line, cases[i].line);
        cn_jit_code_done(&code);
    }
}

static void a_jitdump_names_code_by_time(void **state)
{
    struct cn_jit_code code = {0};
    struct cn_error err = {0};
    size_t len;
    uint8_t *bytes = cn_test_jitdump(&len);
    const struct cn_jit_line *line;

    (void)state;
    assert_true(cn_jit_code_read_dump(&code, (struct cn_bytes){bytes, len}, &err));
    assert_string_equal(name_at(&code, 0x5000, 99), "none");
    assert_string_equal(name_at(&code, 0x5000, 100), "first");
    assert_string_equal(name_at(&code, 0x5000, 250), "second");
    assert_string_equal(name_at(&code, 0x7010, 299), "none");
    assert_string_equal(name_at(&code, 0x7010, 300), "first");
    line = cn_jit_function_line(cn_jit_code_find(&code, 0x500f, 100), 0x500f);
    assert_non_null(line);
    assert_string_equal(line->file, "a.js");
    assert_int_equal(line->line, 11);
    /* Lines move with their code. */
    line = cn_jit_function_line(cn_jit_code_find(&code, 0x7010, 300), 0x7010);
    assert_non_null(line);
    assert_int_equal(line->line, 12);
    assert_null(cn_jit_function_line(cn_jit_code_find(&code, 0x5000, 250), 0x5000));
    cn_jit_code_done(&code);
    free(bytes);
}

static void a_cut_jitdump_keeps_what_is_before_the_cut(void **state)
{
    size_t len, known = 0;
    uint8_t *bytes = cn_test_jitdump(&len);

    (void)state;
    for (size_t cut = 0; cut < len; cut++) {
        struct cn_jit_code code = {0};
        struct cn_error err = {0};

        if (!cn_jit_code_read_dump(&code, (struct cn_bytes){bytes, cut}, &err))
            assert_true(err.text[0] != '\0');
        assert_true(code.count >= known);
        known = code.count;
        cn_jit_code_done(&code);
    }
    assert_int_equal(known, 3);
    free(bytes);
}

static void files_of_other_users_are_refused(void **state)
{
    struct cn_jit_code code = {0};
    struct cn_error err = {0};
    static const char path[] = "perf-1.map";

    (void)state;
    cn_scratch_write(path, "1000 10 f\n", 10);
    assert_true(cn_jit_code_open(&code, path, &err));
    assert_int_equal(code.count, 1);
    if (chown(path, 12345, (gid_t)-1) == 0 && geteuid() == 0) {
        assert_false(cn_jit_code_open(&code, path, &err));
        assert_non_null(strstr(err.text, "belongs to user 12345"));
    }
    assert_false(cn_jit_code_open(&code, "/nowhere/perf-1.map", &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_false(cn_jit_code_open(&code, "/dev/zero", &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    cn_jit_code_done(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_names_addresses),
        cmocka_unit_test(of_code_at_the_same_address_the_last_counts),
        cmocka_unit_test(damaged_lines_are_skipped),
        cmocka_unit_test(names_of_languages_are_split),
        cmocka_unit_test(a_jitdump_names_code_by_time),
        cmocka_unit_test(a_cut_jitdump_keeps_what_is_before_the_cut),
        CN_SCRATCH_TEST(files_of_other_users_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
