#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/languages/runtimes.h"
#include "support/interpreted.h"
#include "support/scratch.h"

static void names_run_times_once(void **state)
{
    const struct cn_language_mapping mappings[] = {
        {.begin = 0x1000, .end = 0x2000, .path = "/usr/lib/dotnet/libcoreclr.so"},
        {.begin = 0x3000, .end = 0x4000, .path = "/usr/lib/dotnet/libcoreclr.so"},
        {.begin = 0x5000, .end = 0x6000, .path = "/lib/libc.so.6"},
    };
    struct cn_languages *languages = NULL;
    struct cn_memory memory = {0};
    struct cn_names hints = {0};
    struct cn_frame_table table;
    bool has_table;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        cn_languages_map(&languages, &mappings[i], &memory, NULL);
    assert_non_null(languages);
    /* Stacks need not be copied for it. */
    assert_true(cn_languages_describe(languages, &table, &has_table));
    assert_false(has_table);
    cn_languages_hint(languages, &hints);
    cn_languages_hint(languages, &hints);
    assert_int_equal(hints.count, 1);
    assert_string_equal(
        hints.list[0], "not supported: functions of .NET are not shown, unless it writes "
                       "their names: export DOTNET_PerfMapEnabled=1");
    cn_names_done(&hints);
    cn_languages_free(languages);
}

static void says_nothing_if_names_were_written(void **state)
{
    const struct cn_language_mapping mapping = {.pid = (uint32_t)getpid(),
                                                .path = "/usr/lib/dotnet/libcoreclr.so"};
    struct cn_memory memory = {0};
    void *dotnet = cn_language_unsupported.open(&memory, &mapping, NULL);
    char map[64], *hint = cn_language_unsupported.hint(dotnet);

    (void)state;
    assert_non_null(strstr(hint, "DOTNET_PerfMapEnabled"));
    free(hint);
    (void)snprintf(map, sizeof(map), "/tmp/perf-%u.map", mapping.pid);
    cn_scratch_write(map, "1000 10 Main\n", 13);
    hint = cn_language_unsupported.hint(dotnet);
    (void)unlink(map);
    assert_null(hint);
    cn_language_unsupported.close(dotnet);
}

static void knows_modules_by_their_names(void **state)
{
    static const char *const known[] = {"/lib/libmonosgen-2.0.so.1", "/usr/bin/pypy3.9"};
    static const char *const others[] = {"/usr/bin/python3.11", "/usr/bin/lua5.4",
                                         "/lib/libcoreclrtraceptprovider.so", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_true(cn_language_unsupported.is_runtime(known[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(cn_language_unsupported.is_runtime(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_run_times_once),
        cmocka_unit_test(says_nothing_if_names_were_written),
        cmocka_unit_test(knows_modules_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
