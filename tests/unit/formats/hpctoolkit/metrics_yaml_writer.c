/* Files of metric taxonomies: written, and read again by us and by others. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/yaml_round_trip.h"

/* A name for each rule of quoting. */
static const char *const odd_names[] = {
    "plain",
    "perf::cpu-clock",
    "GINS: X",
    "ends:",
    "a #b",
    "#c",
    "-",
    "- x",
    "\"q\"",
    "'q'",
    "back\\",
    "*star",
    "&amp",
    "[x]",
    "{x}",
    "yes",
    "~",
    "null",
    "12",
    "1e5",
    "",
    " lead",
    "trail ",
    "tab\tnewline\n",
    "\x1b[31m",
    "\x7f",
    "größe",
    "\xc2\x85",
    ("\xef\xbb\xbf"
     "bom"),
    "\xef\xbf\xbe",
    "%d",
    "@at",
    "`tick",
    "?q",
    "a, b",
    "🪨",
    "2020-01-01",
};
enum { ODD_COUNT = sizeof(odd_names) / sizeof(*odd_names) };

static struct cn_taxonomy odd_taxonomy(struct cn_arena *arena)
{
    struct cn_input *inputs = cn_arena_alloc(arena, ODD_COUNT + 2, sizeof(*inputs));
    struct cn_presented_metric *roots = cn_arena_alloc(arena, ODD_COUNT, sizeof(*roots));

    for (size_t i = 0; i < ODD_COUNT; i++) {
        struct cn_variant *variant = cn_arena_alloc(arena, 1, sizeof(*variant));

        inputs[i] = (struct cn_input){odd_names[i], odd_names[i], "$$", CN_COMBINE_SUM};
        *variant = (struct cn_variant){
            .name = odd_names[i],
            .render = CN_RENDER_NUMBER,
            .total.standard = cn_formula_input(arena, (uint32_t)i),
        };
        roots[i] = (struct cn_presented_metric){
            .name = odd_names[i],
            .description = odd_names[i],
            .is_visible = true,
            .variants = variant,
            .variant_count = 1,
        };
    }
    /* Two inputs whose anchors would read the same. */
    inputs[ODD_COUNT] = (struct cn_input){"a b", "s", "$$", CN_COMBINE_SUM};
    inputs[ODD_COUNT + 1] = (struct cn_input){"ax20_b", "s", "$$", CN_COMBINE_SUM};
    return (struct cn_taxonomy){inputs, roots, ODD_COUNT + 2, ODD_COUNT};
}

static void quotes_what_needs_quotes(void **state)
{
    struct cn_arena arena = {0};
    struct cn_text written = {0};
    struct cn_taxonomy taxonomy = odd_taxonomy(&arena);

    (void)state;
    cn_yaml_must_round_trip(&taxonomy, &written);
    assert_non_null(strstr(cn_text_str(&written), "  - name: plain\n"));
    assert_non_null(strstr(cn_text_str(&written), "  - name: \"GINS: X\"\n"));
    assert_non_null(strstr(cn_text_str(&written), "  - name: perf::cpu-clock\n"));
    assert_non_null(strstr(cn_text_str(&written), "  - name: \"\\x1b[31m\"\n"));
    cn_text_done(&written);
    cn_arena_done(&arena);
}

/* The names as PyYAML sees them, one in hexadecimal a line; "" where it is not
 * installed. */
static void read_with_python(const char *path, struct cn_text *out)
{
    struct cn_text command = {0};
    char line[512];
    FILE *pipe;

    cn_text_printf(&command,
                   "python3 -c 'import sys, yaml\n"
                   "for r in yaml.safe_load(open(sys.argv[1], encoding=\"utf-8\"))"
                   "[\"roots\"]: print(r[\"name\"].encode().hex())' %s 2>%s.log",
                   path, path);
    pipe = popen(cn_text_str(&command), "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe))
        cn_text_str_add(out, line);
    (void)pclose(pipe);
    cn_text_done(&command);
}

static void is_read_alike_by_another_parser(void **state)
{
    char path[] = "/tmp/cairn-metrics-XXXXXX";
    struct cn_arena arena = {0};
    struct cn_text written = {0}, seen = {0}, expected = {0};
    struct cn_taxonomy taxonomy = odd_taxonomy(&arena);
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    cn_hpc_metrics_yaml_write(&taxonomy, &written);
    assert_int_equal(write(fd, written.chars, written.len), written.len);
    (void)close(fd);
    read_with_python(path, &seen);
    for (size_t i = 0; i < ODD_COUNT; i++) {
        for (const char *c = odd_names[i]; *c != '\0'; c++)
            cn_text_printf(&expected, "%02x", (unsigned char)*c);
        cn_text_char(&expected, '\n');
    }
    cn_text_printf(&written, "%s.log", path);
    (void)unlink(path);
    (void)unlink(written.chars + written.len - strlen(path) - 4);
    if (seen.len > 0)
        assert_string_equal(cn_text_str(&seen), cn_text_str(&expected));
    else
        printf("skipped: no PyYAML\n");
    cn_text_done(&written);
    cn_text_done(&seen);
    cn_text_done(&expected);
    cn_arena_done(&arena);
}

static void check_fixture(const char *path)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_arena arena = {0};
    struct cn_text written = {0};
    struct cn_taxonomy taxonomy;
    size_t len;

    assert_true(cn_file_open(&file, path, &err));
    if (!cn_hpc_metrics_yaml_read(file.bytes, &taxonomy, &arena, &err))
        fail_msg("%s: %s", path, err.text);
    cn_yaml_must_round_trip(&taxonomy, &written);

    /* Files of the released hpcprof come out as they went in, except for a last
     * newline. */
    len = file.bytes.len;
    if (memmem(file.bytes.ptr, len, "standard: ", 10)) {
        assert_int_equal(written.len, len + 1);
        assert_memory_equal(written.chars, file.bytes.ptr, len);
    }
    cn_text_done(&written);
    cn_arena_done(&arena);
    cn_file_close(&file);
}

static void check_all_in(const char *folder)
{
    char *path = cn_test_data(folder);
    struct cn_listing databases = cn_listing_of(path);

    for (size_t i = 0; i < databases.count; i++) {
        struct cn_text file = {0};

        cn_text_printf(&file, "%s/%s/metrics/default.yaml", path, databases.names[i]);
        if (access(cn_text_str(&file), R_OK) == 0)
            check_fixture(cn_text_str(&file));
        cn_text_done(&file);
    }
    cn_listing_done(&databases);
    free(path);
}

static void reads_and_rewrites_files_of_hpcprof(void **state)
{
    (void)state;
    check_all_in("hpctoolkit/v4");
    check_all_in("hpctoolkit/v4-draft");
}

static void round_trips_what_the_model_builds(void **state)
{
    static const struct cn_scope scopes[] = {{"function", CN_SCOPE_TRANSITIVE, 0},
                                             {"execution", CN_SCOPE_EXECUTION, 255}};
    static const struct cn_statistic statistics[] = {
        {0, 0, CN_COMBINE_SUM, "1"},      {0, 1, CN_COMBINE_SUM, "$$"},
        {0, 2, CN_COMBINE_SUM, "($$^2)"}, {1, 3, CN_COMBINE_SUM, "1"},
        {1, 4, CN_COMBINE_SUM, "$$"},     {1, 5, CN_COMBINE_SUM, "($$^2)"},
        {1, 6, CN_COMBINE_MAX, "$$"},
    };
    static const struct cn_metric list[] = {
        {.name = "CPUTIME (sec)", .statistics = statistics, .statistic_count = 7}};
    static const struct cn_metrics metrics = {scopes, list, 2, 1};
    struct cn_arena arena = {0};
    struct cn_text written = {0};
    struct cn_taxonomy taxonomy;

    (void)state;
    cn_taxonomy_build(&taxonomy, &metrics, &arena);
    cn_yaml_must_round_trip(&taxonomy, &written);
    assert_non_null(
        strstr(cn_text_str(&written),
               "  - &CPUTIMEx20_x28_secx29_-sum-x5b_0x0x5d_x20_x5e_x20_2-execution\n"));
    cn_text_done(&written);
    cn_arena_done(&arena);
}

static void writes_an_empty_taxonomy(void **state)
{
    const struct cn_taxonomy empty = {0};
    struct cn_text written = {0};

    (void)state;
    cn_yaml_must_round_trip(&empty, &written);
    assert_string_equal(cn_text_str(&written), "version: 0\ninputs: []\nroots: []\n");
    cn_text_done(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_what_needs_quotes),
        cmocka_unit_test(is_read_alike_by_another_parser),
        cmocka_unit_test(round_trips_what_the_model_builds),
        cmocka_unit_test(writes_an_empty_taxonomy),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(reads_and_rewrites_files_of_hpcprof),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
