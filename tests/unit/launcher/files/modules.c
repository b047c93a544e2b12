/* Symbols of mapped files: what cannot be read at first is tried again, and what never can is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/files/modules.h"

struct recording {
    char dir[64], module[96], symbols[96], map[96], tasks[96];
};

/* A recording of a program whose file is a link to itself. */
static void make(struct recording *out)
{
    FILE *file;

    strcpy(out->dir, "/tmp/cairn-modules-XXXXXX");
    assert_non_null(mkdtemp(out->dir));
    (void)snprintf(out->module, sizeof(out->module), "%s/program", out->dir);
    (void)snprintf(out->symbols, sizeof(out->symbols), "%s/program.sym", out->dir);
    (void)snprintf(out->map, sizeof(out->map), "%s/sid-1.map", out->dir);
    (void)snprintf(out->tasks, sizeof(out->tasks), "%s/task.txt", out->dir);
    assert_int_equal(symlink("program", out->module), 0);
    file = fopen(out->map, "we");
    assert_non_null(file);
    (void)fprintf(file, "00400000-00500000 r-xp 00000000 00:00 0    %s\n", out->module);
    (void)fprintf(file, "00600000-00700000 r-xp 00000000 00:00 0    %s.gone\n",
                  out->module);
    assert_int_equal(fclose(file), 0);
    file = fopen(out->tasks, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void remove_all(const struct recording *recording)
{
    (void)unlink(recording->module);
    (void)unlink(recording->symbols);
    assert_int_equal(unlink(recording->map), 0);
    assert_int_equal(unlink(recording->tasks), 0);
    assert_int_equal(rmdir(recording->dir), 0);
}

static void tries_an_unreadable_file_again(void **state)
{
    struct recording recording;
    struct cn_error err = {0};

    (void)state;
    make(&recording);
    struct cn_module_files files = {.dir = recording.dir};
    assert_true(cn_module_files_update(&files, &err));
    assert_int_not_equal(access(recording.symbols, F_OK), 0);
    assert_int_equal(unlink(recording.module), 0);
    assert_int_equal(symlink("/proc/self/exe", recording.module), 0);
    assert_true(cn_module_files_finish(&files, &err));
    assert_int_equal(access(recording.symbols, F_OK), 0);
    assert_string_equal(files.unread.text, "");
    cn_module_files_done(&files);
    remove_all(&recording);
}

static void names_a_file_that_stays_unreadable(void **state)
{
    struct recording recording;
    struct cn_error err = {0};

    (void)state;
    make(&recording);
    struct cn_module_files files = {.dir = recording.dir};
    assert_true(cn_module_files_update(&files, &err));
    assert_true(cn_module_files_finish(&files, &err));
    assert_non_null(strstr(files.unread.text, recording.module));
    assert_non_null(strstr(files.unread.text, "symbolic links"));
    cn_module_files_done(&files);
    remove_all(&recording);
}

static void does_not_name_a_removed_file(void **state)
{
    struct recording recording;
    struct cn_error err = {0};

    (void)state;
    make(&recording);
    assert_int_equal(unlink(recording.module), 0);
    struct cn_module_files files = {.dir = recording.dir};
    assert_true(cn_module_files_finish(&files, &err));
    assert_string_equal(files.unread.text, "");
    cn_module_files_done(&files);
    remove_all(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries_an_unreadable_file_again),
        cmocka_unit_test(names_a_file_that_stays_unreadable),
        cmocka_unit_test(does_not_name_a_removed_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
