/* Measurement directories as databases: values, options and damage.
 * Label: threads. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/samples/database.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/profile/directory.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/walk.h"
#include "open/formats.h"
#include "support/compare_measured.h"
#include "support/scratch.h"
#include "support/tiny_meas.h"

enum { FIRST_METRIC = 0, SECOND_METRIC = 1, THIRD_METRIC = 2 }; /* of the database */

struct built {
    struct cn_measurements *m;
    struct cn_database *db;
    struct cn_sampled_totals totals;
    struct cn_text damage;
};

static void note_damage(void *arg, const char *text)
{
    struct built *b = arg;

    cn_text_printf(&b->damage, "%s\n", text);
}

static bool try_build(struct built *b, const char *const *dirs, size_t count,
                      const struct cn_sampled_options *given, struct cn_error *err)
{
    struct cn_sampled_options options = *given;

    *b = (struct built){0};
    options.spool_folder = ".";
    options.on_damage = note_damage;
    options.on_damage_arg = b;
    return cn_hpc_meas_open(&b->m, dirs, count, NULL, err) &&
           cn_sampled_database_build(&b->db, b->m, &options, &b->totals, err);
}

static void build(struct built *b, const char *dir, const struct cn_sampled_options *o)
{
    struct cn_error err = {0};

    if (!try_build(b, &dir, 1, o, &err))
        fail_msg("%s", err.text);
}

static void done(struct built *b)
{
    cn_database_close(b->db);
    cn_measurements_close(b->m);
    cn_text_done(&b->damage);
}

static void write_thread(const char *dir, uint32_t rank, uint32_t thread)
{
    cn_tiny_meas_write(
        &(struct cn_tiny_meas_options){.rank = rank, .thread = thread, .host = rank / 2},
        dir);
}

/* The context of this kind and line; if `name` is not NULL, of this function. */
static uint32_t find(struct cn_database *db, uint8_t kind, uint32_t line,
                     const char *name)
{
    struct cn_walk walk = {0};
    const struct cn_context *context;
    struct cn_error err = {0};
    enum cn_walk_event event;
    uint32_t found = CN_NONE;

    assert_true(cn_walk_begin(&walk, db, &err));
    while (cn_walk_next(&walk, &event, &context, &err) == CN_ITEM) {
        struct cn_function function = {.name = ""};

        if (event != CN_WALK_ENTER || context->kind != kind)
            continue;
        if (context->has_function)
            assert_true(cn_database_function(db, context->function, &function, &err));
        if (name ? strcmp(function.name, name) == 0 : context->line == line)
            found = context->id;
    }
    cn_walk_done(&walk);
    assert_true(found != CN_NONE);
    return found;
}

static double value_at(struct cn_database *db, uint32_t profile, uint32_t context,
                       int metric)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    assert_true(metric != CN_NO_ID);
    assert_true(cn_profile_values(db, profile, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == metric)
                return batch.values[i].value;
    return 0;
}

static double of_thread(const struct built *b, uint32_t profile, uint32_t context,
                        unsigned metric, const char *scope)
{
    const struct cn_metrics *metrics = &b->db->metrics;
    int number = cn_metrics_find_scope(metrics, scope);

    return value_at(b->db, profile, context,
                    cn_metric_prop_id(&metrics->list[metric], (unsigned)number));
}

static double of_all(const struct built *b, uint32_t context, unsigned metric,
                     const char *scope, const char *formula, enum cn_combine combine)
{
    const struct cn_metrics *metrics = &b->db->metrics;
    int number = cn_metrics_find_scope(metrics, scope);

    return value_at(
        b->db, 0, context,
        cn_metric_stat_id(&metrics->list[metric], (unsigned)number, formula, combine));
}

static void carries_values_up(void **state)
{
    struct built b;
    uint32_t work, outer, inner, global = 0;

    (void)state;
    write_thread("m", 0, 0);
    build(&b, "m", &(struct cn_sampled_options){0});
    work = find(b.db, CN_CONTEXT_FUNCTION, 0, "work<int>");
    outer = find(b.db, CN_CONTEXT_LOOP, 21, NULL);
    inner = find(b.db, CN_CONTEXT_LOOP, 22, NULL);
    assert_true(of_thread(&b, 1, global, FIRST_METRIC, "execution") == 9000);
    assert_true(of_thread(&b, 1, work, FIRST_METRIC, "execution") == 7000);
    assert_true(of_thread(&b, 1, inner, FIRST_METRIC, "function") == 3000);
    /* The inlined function is not the function that contains the loop. */
    assert_true(of_thread(&b, 1, outer, FIRST_METRIC, "function") == 3000);
    assert_true(of_thread(&b, 1, inner, FIRST_METRIC, "lex_aware") == 3000);
    assert_true(of_thread(&b, 1, outer, FIRST_METRIC, "lex_aware") == 0);
    assert_true(of_thread(&b, 1, work, SECOND_METRIC, "execution") == 0.5);
    assert_string_equal(b.db->title, "tiny");
    done(&b);
}

static void moves_values_to_the_outermost_scope(void **state)
{
    struct built b;
    uint32_t kernel;

    (void)state;
    write_thread("m", 0, 0);
    build(&b, "m", &(struct cn_sampled_options){0});
    kernel = find(b.db, CN_CONTEXT_FUNCTION, 0, "<gpu kernel>");
    assert_true(of_thread(&b, 1, kernel, THIRD_METRIC, "point") == 2);
    done(&b);
}

/* Known errors of hpcprof. */
static void is_right_unless_asked_to_be_compatible(void **state)
{
    struct cn_sampled_options options = {.statistics =
                                             CN_SAMPLED_NORMAL | CN_SAMPLED_EXTREMA};
    struct built b;
    uint32_t outer, inner;

    (void)state;
    write_thread("m", 0, 0);
    write_thread("m", 0, 2);
    cn_tiny_meas_write(
        &(struct cn_tiny_meas_options){.rank = 0, .thread = 3, .is_idle_in_work = true},
        "m");
    build(&b, "m", &options);
    outer = find(b.db, CN_CONTEXT_LOOP, 21, NULL);
    inner = find(b.db, CN_CONTEXT_LOOP, 22, NULL);
    assert_true(of_thread(&b, 1, outer, FIRST_METRIC, "lex_aware") == 0);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "$$", CN_COMBINE_SUM) ==
                8000);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "($$^2)", CN_COMBINE_SUM) ==
                3000.0 * 3000 + 5000.0 * 5000);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "$$", CN_COMBINE_MIN) ==
                3000);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "$$", CN_COMBINE_MAX) ==
                5000);
    done(&b);

    options.is_hpcprof_compatible = true;
    build(&b, "m", &options);
    assert_true(of_thread(&b, 1, outer, FIRST_METRIC, "lex_aware") == 3000);
    assert_true(of_all(&b, outer, FIRST_METRIC, "lex_aware", "$$", CN_COMBINE_SUM) == 0);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "($$^2)", CN_COMBINE_SUM) ==
                8000);
    assert_true(of_all(&b, inner, FIRST_METRIC, "function", "$$", CN_COMBINE_MIN) == 0);
    done(&b);
}

static void presents_formulas(void **state)
{
    struct built b;
    const struct cn_presented_metric *metric;
    struct cn_text text = {0};

    (void)state;
    write_thread("m", 0, 0);
    build(&b, "m", &(struct cn_sampled_options){0});
    assert_int_equal(b.db->metrics.count, 3);
    metric = cn_taxonomy_find(&b.db->taxonomy, "cycles each");
    assert_non_null(metric);
    assert_string_equal(metric->format, "%6.2f");
    assert_int_equal(metric->variants[0].render, CN_RENDER_NUMBER | CN_RENDER_PERCENT);
    cn_formula_print(metric->variants[0].total.standard, &text);
    assert_string_equal(cn_text_str(&text), "(((-$$)/max($3,(2^0.5)))+1)");
    cn_text_done(&text);
    done(&b);
}

static void numbers_nodes_by_first_appearance(void **state)
{
    struct built b;

    (void)state;
    for (uint32_t rank = 0; rank < 6; rank++)
        write_thread("m", rank, 0);
    build(&b, "m", &(struct cn_sampled_options){0});
    for (uint32_t i = 1; i <= 6; i++) {
        struct cn_profile profile;
        struct cn_error err = {0};

        assert_true(cn_database_profile(b.db, i, &profile, &err));
        assert_int_equal(profile.identity.ids[0].logical, (i - 1) / 2);
        assert_true(profile.identity.ids[0].is_physical);
        assert_int_equal(profile.identity.ids[1].logical, i - 1);
        assert_false(profile.identity.ids[1].is_physical);
    }
    done(&b);
}

static void drops_pauses_that_follow_pauses(void **state)
{
    struct cn_timeline timeline;
    struct cn_sample samples[4];
    struct cn_error err = {0};
    struct built b;

    (void)state;
    write_thread("m", 0, 0);
    build(&b, "m", &(struct cn_sampled_options){0});
    assert_true(cn_timeline_open(b.db, 1, &timeline, &err));
    assert_int_equal(timeline.count, 4);
    assert_true(cn_timeline_read(b.db, &timeline, 0, 4, samples, &err));
    assert_int_equal(samples[0].context, 0);
    assert_int_equal(samples[3].time_ns, 140);
    assert_int_equal(b.db->end_ns, 150);
    done(&b);
}

static void must_write(struct cn_database *db, const char *path, unsigned workers)
{
    struct cn_write_options options = {.workers = workers};
    struct cn_error err = {0};

    if (!cn_hpc_v4_write(db, path, &options, &err))
        fail_msg("%s", err.text);
}

static void check_same(const char *a, const char *b, const char *name)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    char path[200];

    assert_true(cn_file_open_at(&file, a, name, &err));
    (void)snprintf(path, sizeof(path), "%s/%s", b, name);
    assert_true(cn_scratch_holds(path, file.bytes.ptr, file.bytes.len));
    cn_file_close(&file);
}

static void writes_the_same_bytes_on_any_number_of_threads(void **state)
{
    static const char *const files[] = {"meta.db", "profile.db", "cct.db", "trace.db"};
    static const unsigned workers[] = {1, 2, 5};
    char path[20];

    (void)state;
    for (uint32_t i = 0; i < 150; i++) /* several batches */
        write_thread("m", i / 4, i % 4);
    for (size_t i = 0; i < 3; i++) {
        struct built b;

        build(&b, "m", &(struct cn_sampled_options){.workers = workers[i]});
        (void)snprintf(path, sizeof(path), "db%zu", i);
        must_write(b.db, path, workers[i]);
        done(&b);
        for (size_t k = 0; i > 0 && k < 4; k++)
            check_same("db0", path, files[k]);
    }
}

/* Where no context has a value, cct.db has no block, and there is nothing to pad. */
static void writes_measurements_without_values(void **state)
{
    struct cn_sampled_options options = {0};
    struct built b;

    (void)state;
    cn_tiny_meas_write(&(struct cn_tiny_meas_options){.is_empty = true}, "m");
    build(&b, "m", &options);
    must_write(b.db, "db", 1);
    done(&b);
}

static void truncate_first(const char *dir, size_t len)
{
    struct cn_tiny_meas tiny;
    char path[100];

    cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){0});
    (void)snprintf(path, sizeof(path), "%s/tiny-000000-000-0-1-0.hpcrun", dir);
    cn_scratch_write(path, tiny.run.chars, len);
    cn_tiny_meas_done(&tiny);
}

static void names_and_counts_what_cannot_be_read(void **state)
{
    struct built b;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        write_thread("m", 0, i);
    truncate_first("m", 500);
    build(&b, "m", &(struct cn_sampled_options){0});
    assert_int_equal(b.totals.profile_count, 2);
    assert_int_equal(b.totals.unreadable_count, 1);
    assert_int_equal(b.db->profile_count, 3);
    assert_non_null(strstr(cn_text_str(&b.damage), "tiny-000000-000-0-1-0.hpcrun: "));
    done(&b);
}

static void refuses_damage_when_strict(void **state)
{
    const char *dir = "m";
    struct cn_error err = {0};
    struct built b;

    (void)state;
    write_thread("m", 0, 0);
    write_thread("m", 0, 1);
    truncate_first("m", 700);
    assert_false(
        try_build(&b, &dir, 1, &(struct cn_sampled_options){.is_strict = true}, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "tiny-000000-000-0-1-0.hpcrun"));
    done(&b);
}

static void fails_when_nothing_can_be_read(void **state)
{
    const char *dir = "m";
    struct cn_error err = {0};
    struct built b;

    (void)state;
    write_thread("m", 0, 0);
    truncate_first("m", 100);
    assert_false(try_build(&b, &dir, 1, &(struct cn_sampled_options){0}, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    done(&b);
}

/* By bytes: after a common beginning, one that ends there, those that differ at once, and those
 * that differ after more than eight characters. */
static void profiles_are_listed_in_order(void **state)
{
    static const char *const names[] = {
        "app-.hpcrun",          "app-000001-x.hpcrun", "app-12345678a.hpcrun",
        "app-12345678b.hpcrun", "app-9.hpcrun",        "app-\xc3\xa9.hpcrun",
    };
    enum { COUNT = sizeof(names) / sizeof(*names) };
    size_t count;
    char **list;

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        cn_scratch_write(names[(i * 5 + 3) % COUNT], "", 0);
    cn_scratch_write("other.txt", "", 0);
    list = cn_hpc_list_names(".", ".hpcrun", &count);
    assert_int_equal(count, COUNT);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list[i], names[i]);
        free(list[i]);
    }
    free(list);
    assert_null(cn_hpc_list_names(".", ".hpcstruct", &count));
    assert_int_equal(count, 0);
}

static void merges_several_directories(void **state)
{
    const char *dirs[] = {"a", "b"};
    struct cn_error err = {0};
    struct built b;

    (void)state;
    write_thread("a", 0, 0);
    write_thread("b", 1, 0);
    write_thread("b", 2, 0);
    if (!try_build(&b, dirs, 2, &(struct cn_sampled_options){0}, &err))
        fail_msg("%s", err.text);
    assert_int_equal(b.db->profile_count, 4);
    assert_true(of_all(&b, 0, FIRST_METRIC, "execution", "$$", CN_COMBINE_SUM) == 27000);
    /* A relative module belongs to its own directory: there are two of them. */
    assert_int_equal(b.db->module_count, 3);
    done(&b);
}

static void analyses_only_the_programs_asked_for(void **state)
{
    static const char *const only[] = {"other"};
    struct cn_sampled_options options = {.only_programs = only, .only_program_count = 1};
    struct built b;

    (void)state;
    write_thread("m", 0, 0);
    cn_tiny_meas_write(&(struct cn_tiny_meas_options){.rank = 1, .program = "other"},
                       "m");
    build(&b, "m", &options);
    assert_int_equal(b.totals.excluded_count, 1);
    assert_int_equal(b.totals.profile_count, 1);
    assert_string_equal(b.db->title, "other");
    done(&b);
}

/* A function with a symbol, for the test below. */
__attribute__((noinline)) static int function_with_a_symbol(int x)
{
    return x * 3 + 1;
}

/* At address 0 of the file, unless the program is linked to fixed addresses. */
extern const ElfW(Ehdr) __executable_start;

static size_t know_lines(void *arg, const char *path, uint64_t address,
                         struct cn_hpc_line *out, size_t most)
{
    (void)arg, (void)path, (void)address;
    assert_true(most >= 2);
    out[0] = (struct cn_hpc_line){NULL, "/src/outer.c", 5};
    out[1] = (struct cn_hpc_line){"inner", "/src/inner.h", 7};
    return 2;
}

static bool know_function(void *arg, const char *path, uint64_t address,
                          struct cn_hpc_line *out)
{
    (void)arg, (void)path, (void)address;
    *out = (struct cn_hpc_line){NULL, "/src/outer.c", 3};
    return true;
}

static void uses_symbols_and_debug_information_without_structure(void **state)
{
    static const struct cn_hpc_lines lines = {NULL, know_lines, know_function};
    struct cn_hpc_meas_options options = {.lines = &lines};
    uintptr_t base =
        __executable_start.e_type == ET_EXEC ? 0 : (uintptr_t)&__executable_start;
    uint64_t address = (uint64_t)((uintptr_t)function_with_a_symbol - base);
    char *self = realpath("/proc/self/exe", NULL);
    struct cn_measurements *m = NULL;
    const char *dir = "m";
    struct cn_error err = {0};
    struct cn_function function;
    struct cn_code_scopes scopes;
    uint32_t module;

    (void)state;
    assert_int_equal(function_with_a_symbol(1), 4);
    write_thread("m", 0, 0);
    assert_true(cn_hpc_meas_open(&m, &dir, 1, &options, &err));
    assert_true(cn_measurements_find_module(
        m, 0, (struct cn_bytes){(const uint8_t *)self, strlen(self)}, &module, &err));
    assert_true(cn_measurements_scopes(m, module, address, &scopes, &err));
    assert_int_equal(scopes.count, 4);
    assert_true(scopes.has_instruction);
    cn_measurements_function(m, scopes.list[0].function, &function);
    assert_string_equal(function.name, "function_with_a_symbol");
    assert_int_equal(function.line, 3);
    assert_int_equal(function.offset, address);
    assert_int_equal(scopes.list[1].line, 5);
    assert_int_equal(scopes.list[2].relation, CN_INLINED_CALL);
    cn_measurements_function(m, scopes.list[2].function, &function);
    assert_string_equal(function.name, "inner");
    assert_int_equal(scopes.list[3].line, 7);
    cn_measurements_close(m);
    free(self);
}

static void check_map(const char *spec, const char *path, const char *expected)
{
    struct cn_text text = {0}, result = {0};
    struct cn_path_map map;
    struct cn_error err = {0};

    cn_text_str_add(&text, spec);
    assert_true(cn_path_map_parse(text.chars, &map, &err));
    cn_path_map_apply(&map, 1, path, &result);
    assert_string_equal(cn_text_str(&result), expected);
    cn_text_done(&text);
    cn_text_done(&result);
}

static void replaces_whole_components_of_paths(void **state)
{
    char bad[] = "nothing";
    struct cn_path_map map;
    struct cn_error err = {0};

    (void)state;
    write_thread("m", 0, 0);
    check_map("/far=m", "/far/structs/tiny.hpcstruct", "m/structs/tiny.hpcstruct");
    check_map("/far/*/x=m", "/far/away/x/structs", "m/structs");
    check_map("/far=m", "/farther/structs", "/farther/structs");
    check_map("/far=m", "/far/missing", "/far/missing");
    check_map("/f\\=r=m", "/f=r/structs", "m/structs");
    assert_false(cn_path_map_parse(bad, &map, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(carries_values_up),
        CN_SCRATCH_TEST(moves_values_to_the_outermost_scope),
        CN_SCRATCH_TEST(is_right_unless_asked_to_be_compatible),
        CN_SCRATCH_TEST(presents_formulas),
        CN_SCRATCH_TEST(numbers_nodes_by_first_appearance),
        CN_SCRATCH_TEST(drops_pauses_that_follow_pauses),
        CN_SCRATCH_TEST(writes_the_same_bytes_on_any_number_of_threads),
        CN_SCRATCH_TEST(writes_measurements_without_values),
        CN_SCRATCH_TEST(names_and_counts_what_cannot_be_read),
        CN_SCRATCH_TEST(refuses_damage_when_strict),
        CN_SCRATCH_TEST(fails_when_nothing_can_be_read),
        CN_SCRATCH_TEST(profiles_are_listed_in_order),
        CN_SCRATCH_TEST(merges_several_directories),
        CN_SCRATCH_TEST(analyses_only_the_programs_asked_for),
        CN_SCRATCH_TEST(uses_symbols_and_debug_information_without_structure),
        CN_SCRATCH_TEST(replaces_whole_components_of_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
