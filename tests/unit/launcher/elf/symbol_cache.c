/* Symbols kept between recordings: found again, and never believed when damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launcher/elf/file.h"

static char folder[] = "/tmp/cairn-symbol-cache-XXXXXX";
static const char id[] = "0123456789abcdef0123456789abcdef01234567";

static void fill(struct cn_text *text, size_t lines)
{
    for (size_t i = 0; i < lines; i++)
        cn_text_printf(text, "%016zx T function_%zu\n", i * 16, i);
}

static void path_of(char path[static 256])
{
    (void)snprintf(path, 256, "%s/cairn/sym/%s", folder, id);
}

static void finds_what_was_added(void **state)
{
    struct cn_text text = {0}, found = {0};

    (void)state;
    fill(&text, 2000);
    assert_false(cn_symbol_cache_find(id, &found));
    cn_symbol_cache_add(id, &text);
    assert_true(cn_symbol_cache_find(id, &found));
    assert_int_equal(found.len, text.len);
    assert_memory_equal(found.chars, text.chars, text.len);
    cn_text_done(&text);
    cn_text_done(&found);
}

static void does_not_believe_a_changed_file(void **state)
{
    struct cn_text text = {0}, found = {0};
    char path[256];
    FILE *file;

    (void)state;
    fill(&text, 2000);
    path_of(path);
    for (long at = 0; at < (long)text.len; at += 997) {
        int c;

        cn_symbol_cache_add(id, &text);
        file = fopen(path, "r+e");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        c = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_not_equal(fputc(c ^ 1, file), EOF);
        assert_int_equal(fclose(file), 0);
        assert_false(cn_symbol_cache_find(id, &found));
        assert_int_equal(found.len, 0);
    }
    cn_text_done(&text);
    cn_text_done(&found);
}

static void does_not_believe_a_short_file(void **state)
{
    struct cn_text text = {0}, found = {0};
    char path[256];
    FILE *file;

    (void)state;
    path_of(path);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_false(cn_symbol_cache_find(id, &found));
    cn_text_done(&text);
    cn_text_done(&found);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];

    (void)state;
    path_of(path);
    (void)remove(path);
    for (int i = 0; i < 3; i++) {
        *strrchr(path, '/') = '\0';
        (void)remove(path);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(does_not_believe_a_changed_file),
        cmocka_unit_test(does_not_believe_a_short_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
