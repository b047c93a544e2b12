/* Files of metric taxonomies: read, appended, written, and read again. */

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "support/fixtures.h"

#define INPUTS                       \
    "version: 0\n"                   \
    "inputs:\n"                      \
    "  - &a {metric: A, scope: s}\n" \
    "  - &b {metric: B, scope: s}\n" \
    "  - &c {<<: *b, scope: t, formula: '$$^2', combine: max}\n"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static struct cn_taxonomy read_text(struct cn_arena *arena, const char *text)
{
    struct cn_taxonomy taxonomy = {0};
    struct cn_error err = {0};

    if (!cn_hpc_metrics_yaml_read(bytes_of(text), &taxonomy, arena, &err))
        fail_msg("%s", err.text);
    return taxonomy;
}

static void check_refused(const char *text, enum cn_error_kind kind, const char *expected)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy = {.input_count = 77};
    struct cn_error err = {0};

    assert_false(cn_hpc_metrics_yaml_read(bytes_of(text), &taxonomy, &arena, &err));
    assert_string_equal(err.text, expected);
    assert_int_equal(err.kind, kind);
    assert_int_equal(taxonomy.input_count, 77);
    cn_arena_done(&arena);
}

static void check_text(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a)
        assert_string_equal(a, b);
}

static void check_variant(const struct cn_variant *a, const struct cn_variant *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->render, b->render);
    check_text(a->format, b->format);
    assert_true(cn_formula_equals(a->inclusive.standard, b->inclusive.standard));
    assert_true(cn_formula_equals(a->inclusive.custom, b->inclusive.custom));
    assert_true(cn_formula_equals(a->exclusive.standard, b->exclusive.standard));
    assert_true(cn_formula_equals(a->exclusive.custom, b->exclusive.custom));
}

static void check_metric(const struct cn_presented_metric *a,
                         const struct cn_presented_metric *b)
{
    assert_string_equal(a->name, b->name);
    check_text(a->description, b->description);
    check_text(a->format, b->format);
    assert_int_equal(a->is_visible, b->is_visible);
    assert_int_equal(a->variant_count, b->variant_count);
    for (size_t i = 0; i < a->variant_count; i++)
        check_variant(&a->variants[i], &b->variants[i]);
    assert_int_equal(a->child_count, b->child_count);
    for (size_t i = 0; i < a->child_count; i++)
        check_metric(&a->children[i], &b->children[i]);
}

static void check_equal(const struct cn_taxonomy *a, const struct cn_taxonomy *b)
{
    assert_int_equal(a->input_count, b->input_count);
    for (size_t i = 0; i < a->input_count; i++) {
        assert_string_equal(a->inputs[i].metric, b->inputs[i].metric);
        assert_string_equal(a->inputs[i].scope, b->inputs[i].scope);
        assert_string_equal(a->inputs[i].formula, b->inputs[i].formula);
        assert_int_equal(a->inputs[i].combine, b->inputs[i].combine);
    }
    assert_int_equal(a->root_count, b->root_count);
    for (size_t i = 0; i < a->root_count; i++)
        check_metric(&a->roots[i], &b->roots[i]);
}

/* What was written reads as the same taxonomy. */
static void check_round_trip(const struct cn_taxonomy *taxonomy, struct cn_text *written)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy again;

    cn_hpc_metrics_yaml_write(taxonomy, written);
    again = read_text(&arena, cn_text_str(written));
    check_equal(taxonomy, &again);
    cn_arena_done(&arena);
}

static const struct cn_formula *only_formula(const struct cn_taxonomy *taxonomy)
{
    assert_int_equal(taxonomy->root_count, 1);
    assert_int_equal(taxonomy->roots[0].variant_count, 1);
    return taxonomy->roots[0].variants[0].inclusive.standard;
}

static void check_formula(const char *formula, const char *expected)
{
    struct cn_arena arena = {0};
    struct cn_text text = {0};
    struct cn_taxonomy taxonomy;

    cn_text_printf(&text,
                   INPUTS "roots: [{name: R, variants: {V: {formula: "
                          "{inclusive: {standard: %s}}}}}]\n",
                   formula);
    taxonomy = read_text(&arena, cn_text_str(&text));
    cn_text_clear(&text);
    cn_formula_print(only_formula(&taxonomy), &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_clear(&text);
    check_round_trip(&taxonomy, &text);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

static void reads_every_notation_of_a_formula(void **state)
{
    (void)state;
    check_formula("*a", "$$");
    check_formula("*b", "$1");
    check_formula("12.5", "12.5");
    check_formula("-2", "(-2)");
    check_formula("{/: [*a, *b]}", "($$/$1)");
    check_formula("{\"-\": [*a, 2]}", "($$-2)");
    check_formula("{\"-\": [*a]}", "(-$$)");
    check_formula("{+: [*a, *b, *c]}", "($$+$1+$2)");
    check_formula("{sum: [*a]}", "sum($$)");
    check_formula("{sqrt: *a}", "sqrt($$)");
    check_formula("{strict floor: [*a]}", "strict floor($$)");
    check_formula("{min: [100, {max: [0, *a]}]}", "min(100,max(0,$$))");
    check_formula("[*a, +, *b, \"*\", 2]", "($$+($1*2))");
    check_formula("[4*,[*a,-,*b]]", "(4*($$-$1))");
    check_formula("[2 *,[3,+,4]]", "(2*(3+4))");
    check_formula("[2, ^, 3, ^, *a]", "(2^(3^$$))");
    check_formula("[1 + 2, \"*\", *a]", "(1+(2*$$))");
    check_formula("[\"-\", *a, /, {sqrt: [*b]}]", "((-$$)/sqrt($1))");
}

static void reads_inputs_with_defaults_and_merges(void **state)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy = read_text(&arena, INPUTS);

    (void)state;
    assert_int_equal(taxonomy.input_count, 3);
    assert_string_equal(taxonomy.inputs[0].metric, "A");
    assert_string_equal(taxonomy.inputs[0].formula, "$$");
    assert_int_equal(taxonomy.inputs[0].combine, CN_COMBINE_SUM);
    assert_string_equal(taxonomy.inputs[2].metric, "B");
    assert_string_equal(taxonomy.inputs[2].scope, "t");
    assert_string_equal(taxonomy.inputs[2].formula, "($$^2)");
    assert_int_equal(taxonomy.inputs[2].combine, CN_COMBINE_MAX);
    cn_arena_done(&arena);
}

static void makes_sums_of_children(void **state)
{
    static const char text[] = INPUTS
        "roots:\n"
        "  - name: P\n"
        "    visible by default: no\n"
        "    variants:\n"
        "      V: {formula: sum, render: [number, percentage, colorbar]}\n"
        "      W: {formula: first, child variant: V, render: hidden}\n"
        "      X: {formula: sum}\n"
        "    children:\n"
        "      - {name: C, variants: {V: {formula: {inclusive: *a, exclusive: *b}}}}\n"
        "      - {name: D, variants: {V: {formula: {inclusive: {custom: *c}}}}}\n"
        "      - {name: E, variants: {V: {formula: {inclusive: *b}}}}\n";
    struct cn_arena arena = {0};
    struct cn_text printed = {0};
    struct cn_taxonomy taxonomy = read_text(&arena, text);
    const struct cn_presented_metric *root = &taxonomy.roots[0];

    (void)state;
    assert_false(root->is_visible);
    assert_int_equal(root->variants[0].render,
                     CN_RENDER_NUMBER | CN_RENDER_PERCENT | CN_RENDER_COLORBAR);
    cn_formula_print(root->variants[0].inclusive.standard, &printed);
    assert_string_equal(cn_text_str(&printed), "($$+$1)");
    assert_ptr_equal(root->variants[0].inclusive.custom,
                     root->children[1].variants[0].inclusive.custom);
    assert_int_equal(root->variants[1].render, CN_RENDER_HIDDEN);
    assert_ptr_equal(root->variants[1].inclusive.standard,
                     root->children[0].variants[0].inclusive.standard);
    assert_null(root->variants[2].inclusive.standard);
    cn_text_clear(&printed);
    check_round_trip(&taxonomy, &printed);
    cn_text_done(&printed);
    cn_arena_done(&arena);
}

static void keeps_only_formats_of_one_double(void **state)
{
    static const struct {
        const char *format;
        bool is_kept;
    } cases[] = {
        {"%6.0f", true},   {"%6.2f %%", true},     {"%% %'+#8.3e x", true},
        {"%g", true},      {"%.f", true},          {"%A", true},
        {"%", false},      {"%%", false},          {"text", false},
        {"%d", false},     {"%s", false},          {"%n", false},
        {"%f %f", false},  {"%*f", false},         {"%.*f", false},
        {"%lf", false},    {"%1$f", false},        {"%100f", false},
        {"%.100f", false}, {"%999999999f", false}, {"%5", false},
        {"%5.", false},    {"%f%", false},         {"%Lf", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_arena arena = {0};
        struct cn_text text = {0};
        struct cn_taxonomy taxonomy;

        cn_text_printf(&text, "roots: [{name: R, format: \"%s\"}]", cases[i].format);
        taxonomy = read_text(&arena, cn_text_str(&text));
        if (cases[i].is_kept)
            assert_string_equal(taxonomy.roots[0].format, cases[i].format);
        else
            assert_null(taxonomy.roots[0].format);
        cn_text_done(&text);
        cn_arena_done(&arena);
    }
}

static void appends_another_file(void **state)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_text text = {0};
    struct cn_taxonomy taxonomy = read_text(
        &arena, INPUTS "roots: [{name: R, variants: {V: {formula: {inclusive: *c}}}}]");
    static const char more[] =
        "inputs:\n"
        "  - &x {metric: X, scope: s}\n"
        "  - &b {metric: B, scope: s}\n"
        "roots: [{name: Q, variants: {V: {formula: {inclusive: [*b, -, *x]}}}}]\n";

    (void)state;
    assert_true(cn_hpc_metrics_yaml_append(bytes_of(more), &taxonomy, &arena, &err));
    assert_int_equal(taxonomy.input_count, 4);
    assert_string_equal(taxonomy.inputs[3].metric, "X");
    assert_int_equal(taxonomy.root_count, 2);
    assert_string_equal(taxonomy.roots[0].name, "R");
    cn_formula_print(taxonomy.roots[1].variants[0].inclusive.standard, &text);
    assert_string_equal(cn_text_str(&text), "($1-$3)");

    assert_false(cn_hpc_metrics_yaml_append(bytes_of("- x"), &taxonomy, &arena, &err));
    assert_int_equal(taxonomy.root_count, 2);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

static void names_line_and_column(void **state)
{
    (void)state;
    check_refused("", CN_ERR_FORMAT, "no YAML document");
    check_refused("[1, 2]", CN_ERR_FORMAT,
                  "line 1, column 1: not a mapping of inputs and roots");
    check_refused("version: 1", CN_ERR_VERSION,
                  "line 1, column 10: version '1', can read 0");
    check_refused("inputs:\n  - {scope: s}\n", CN_ERR_FORMAT,
                  "line 2, column 5: input without metric");
    check_refused("inputs:\n  - {metric: a, scope: [s]}\n", CN_ERR_FORMAT,
                  "line 2, column 24: scope must be a text");
    check_refused("inputs:\n  - {metric: a, scope: s, combine: avg}\n", CN_ERR_FORMAT,
                  "line 2, column 5: combine 'avg' is none of sum, min, max");
    check_refused("roots: [{description: d}]", CN_ERR_FORMAT,
                  "line 1, column 9: metric without a name");
    check_refused("roots: [{name: *z}]", CN_ERR_FORMAT,
                  "line 1, column 16: no anchor 'z'");
    check_refused("roots: {name: R}", CN_ERR_FORMAT,
                  "line 1, column 8: metrics must be a sequence");
    check_refused("roots: [", CN_ERR_FORMAT,
                  "line 2, column 1: did not find expected node content");
    check_refused("roots: [{name: \"a\\0b\"}]", CN_ERR_FORMAT,
                  "line 1, column 16: a NUL character in a text");
    check_refused("roots: [{name: R, variants: {V: {render: loud}}}]", CN_ERR_FORMAT,
                  "line 1, column 42: unknown rendering 'loud'");
    check_refused("roots: [{name: R, variants: {V: {formula: mean}}}]", CN_ERR_FORMAT,
                  "line 1, column 43: a variant's formula must be sum, first, or "
                  "a mapping of inclusive and exclusive");
}

#define IN_FORMULA(text) \
    "roots: [{name: R, variants: {V: {formula: {inclusive: " text "}}}}]"

static void names_what_is_wrong_with_a_formula(void **state)
{
    (void)state;
    check_refused(IN_FORMULA("{frob: [1, 2]}"), CN_ERR_FORMAT,
                  "line 1, column 56: unknown operation 'frob' of 2 arguments");
    check_refused(IN_FORMULA("{sqrt: []}"), CN_ERR_FORMAT,
                  "line 1, column 56: unknown operation 'sqrt' of 0 arguments");
    check_refused(IN_FORMULA("{+: [1, 2], /: [1, 2]}"), CN_ERR_FORMAT,
                  "line 1, column 55: a formula must be a mapping of one operation, "
                  "not of 2");
    check_refused(IN_FORMULA("[1, two]"), CN_ERR_FORMAT,
                  "line 1, column 59: 'two' is no number, operator or input");
    check_refused(IN_FORMULA("[1, 2]"), CN_ERR_FORMAT,
                  "line 1, column 59: no operator between two operands");
    check_refused(IN_FORMULA("[1, +]"), CN_ERR_FORMAT,
                  "line 1, column 55: the formula ends where a value must stand");
}

static void bounds_aliases_and_nesting(void **state)
{
    struct cn_text text = {0};
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy;
    struct cn_error err = {0};

    (void)state;
    /* Each line doubles the one before: 2^40 operands, if they were followed. */
    cn_text_str_add(&text, "x:\n  - &l0 [1, +, 1]\n");
    for (unsigned i = 1; i <= 40; i++)
        cn_text_printf(&text, "  - &l%u [*l%u, +, *l%u]\n", i, i - 1, i - 1);
    cn_text_str_add(&text, IN_FORMULA("*l40"));
    assert_false(
        cn_hpc_metrics_yaml_read(bytes_of(cn_text_str(&text)), &taxonomy, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);

    check_refused(IN_FORMULA("&loop [*loop]"), CN_ERR_LIMIT,
                  "line 1, column 55: formula nests deeper than 64");
    check_refused("roots: &r [{name: R, children: *r}]", CN_ERR_LIMIT,
                  "line 1, column 8: metrics nest deeper than 32");
    check_refused("inputs: [&i {<<: *i}]", CN_ERR_LIMIT,
                  "line 1, column 10: merge keys nest deeper than 8");

    cn_text_clear(&text);
    cn_text_str_add(&text, "x: ");
    cn_text_fill(&text, '[', 300);
    assert_false(
        cn_hpc_metrics_yaml_read(bytes_of(cn_text_str(&text)), &taxonomy, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

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
            .inclusive.standard = cn_formula_input(arena, (uint32_t)i),
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
    check_round_trip(&taxonomy, &written);
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
    check_round_trip(&taxonomy, &written);

    /* Files of the released hpcprof come out as they went in, but for a last
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

static void check_fixtures_in(const char *folder)
{
    char *path = cn_test_fixture(folder);
    struct dirent *entry;
    DIR *dir;

    if (!path)
        return;
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        struct cn_text file = {0};

        cn_text_printf(&file, "%s/%s/metrics/default.yaml", path, entry->d_name);
        if (entry->d_name[0] != '.' && access(cn_text_str(&file), R_OK) == 0)
            check_fixture(cn_text_str(&file));
        cn_text_done(&file);
    }
    (void)closedir(dir);
    free(path);
}

static void reads_and_rewrites_real_files(void **state)
{
    (void)state;
    check_fixtures_in("hpctoolkit/v4");
    check_fixtures_in("hpctoolkit/v4-draft");
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
    check_round_trip(&taxonomy, &written);
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
    check_round_trip(&empty, &written);
    assert_string_equal(cn_text_str(&written), "version: 0\ninputs: []\nroots: []\n");
    cn_text_done(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_notation_of_a_formula),
        cmocka_unit_test(reads_inputs_with_defaults_and_merges),
        cmocka_unit_test(makes_sums_of_children),
        cmocka_unit_test(keeps_only_formats_of_one_double),
        cmocka_unit_test(appends_another_file),
        cmocka_unit_test(names_line_and_column),
        cmocka_unit_test(names_what_is_wrong_with_a_formula),
        cmocka_unit_test(bounds_aliases_and_nesting),
        cmocka_unit_test(quotes_what_needs_quotes),
        cmocka_unit_test(is_read_alike_by_another_parser),
        cmocka_unit_test(reads_and_rewrites_real_files),
        cmocka_unit_test(round_trips_what_the_model_builds),
        cmocka_unit_test(writes_an_empty_taxonomy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
