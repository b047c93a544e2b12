/* Names that do not fit are shortened as the viewer does it: both read the same table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/utf8.h"
#include "base/text.h"
#include "model/labels/short_name.h"

static void names_are_shortened_as_the_table_says(void **state)
{
    const char *root = getenv("CAIRN_SOURCE");
    char *path = cn_strprintf("%s/tests/support/short_names.tsv", root ? root : ".");
    FILE *file = fopen(path, "re");
    char line[1024];
    size_t count = 0;

    (void)state;
    assert_non_null(file);
    for (; fgets(line, sizeof(line), file); count++) {
        char *rest = line, *width = strsep(&rest, "\t"), *name = strsep(&rest, "\t");
        struct cn_text text = {0};

        rest[strcspn(rest, "\n")] = '\0';
        cn_name_shorten(&text, name, strtoul(width, NULL, 10));
        if (strcmp(cn_text_str(&text), rest) != 0)
            fail_msg("%s in %s columns is '%s', not '%s'", name, width,
                     cn_text_str(&text), rest);
        cn_text_done(&text);
    }
    assert_true(count > 50);
    (void)fclose(file);
    free(path);
}

static uint32_t pick(uint32_t *random, uint32_t below)
{
    *random = *random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*random >> 16) % below;
}

/* Any text of the characters that matter, in any width. */
static void any_name_fits(void **state)
{
    static const char chars[] = "ab:<>()[]{}., /\\#&*-=~\xc3\xa4"
                                "operator (inlined)";
    uint32_t random = 7;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct cn_text name = {0}, out = {0};
        size_t width = 1 + pick(&random, 24);

        for (uint32_t n = pick(&random, 48); n > 0; n--) {
            uint32_t at = pick(&random, sizeof(chars) - 1);

            if (((unsigned char)chars[at] & 0x80) == 0)
                cn_text_char(&name, chars[at]);
            else
                cn_text_str_add(&name, "ä");
            if (pick(&random, 12) == 0)
                cn_text_str_add(&name, pick(&random, 2) ? "operator" : " as ");
        }
        cn_name_shorten(&out, cn_text_str(&name), width);
        if (cn_utf8_width(cn_text_str(&out)) > width)
            fail_msg("'%s' in %zu columns is '%s'", cn_text_str(&name), width,
                     cn_text_str(&out));
        cn_text_done(&name);
        cn_text_done(&out);
    }
}

static void call_paths_lose_their_beginning(void **state)
{
    static const struct {
        size_t width;
        const char *expected;
    } cases[] = {
        {80, "main > a::run() > std::sort<int>(int)"},
        {30, "… > std::sort<int>(int)"},
        {20, "std::sort<int>(int)"},
        {12, "sort<…>(…)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_text text = {0};

        cn_call_path_shorten(&text, cases[0].expected, cases[i].width);
        assert_string_equal(cn_text_str(&text), cases[i].expected);
        cn_text_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_shortened_as_the_table_says),
        cmocka_unit_test(any_name_fits),
        cmocka_unit_test(call_paths_lose_their_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
