/* experiment.xml databases: they open, and their costs agree with those of the same measurements as
 * v4.0. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/hpctoolkit/xml/write/writer.h"
#include "model/contexts/walk.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/open_database.h"
#include "support/read_everything.h"
#include "support/scratch.h"

static struct cn_database *open_data(const char *name)
{
    char *path = cn_test_data(name);
    struct cn_error err = {0};
    struct cn_database *db = NULL;

    if (!cn_open_database(path, &db, &err))
        fail_msg("%s", err.text);
    free(path);
    return db;
}

/* Sums for each call path. Contexts of the same location are added, since one format
 * distinguishes contexts that the other does not. */
struct costs {
    struct cn_names paths;
    double *sums;
    size_t capacity;
};

static double *cost_at(struct costs *costs, const char *path)
{
    size_t known = costs->paths.count;
    uint32_t i = cn_names_add(&costs->paths, path);

    if (i == known) {
        costs->sums = cn_grow(costs->sums, known, &costs->capacity, sizeof(double));
        costs->sums[i] = 0;
    }
    return &costs->sums[i];
}

static void costs_done(struct costs *costs)
{
    cn_names_done(&costs->paths);
    free(costs->sums);
}

static void add_place(struct cn_database *db, const struct cn_context *context,
                      struct cn_text *path)
{
    struct cn_function function;
    struct cn_source_file file;
    struct cn_module module;
    struct cn_error err;

    if (context->kind == CN_CONTEXT_ENTRY)
        cn_text_printf(path, "/%s", context->entry_name);
    else if (context->has_function) {
        assert_true(cn_database_function(db, context->function, &function, &err));
        cn_text_printf(path, "/%s", function.name);
    } else if (context->has_source) {
        assert_true(cn_database_file(db, context->file, &file, &err));
        cn_text_printf(path, "/%s%s:%u", context->kind == CN_CONTEXT_LOOP ? "loop " : "",
                       file.path, context->line);
    } else if (!context->has_point) {
        cn_text_printf(path, "/? %u", context->kind);
    } else {
        assert_true(cn_database_module(db, context->module, &module, &err));
        cn_text_printf(path, "/%s+%llx", module.path,
                       (unsigned long long)context->offset);
    }
}

/* The path of each context by id, or "". */
static char **list_paths(struct cn_database *db)
{
    char **paths = cn_alloc(db->context_limit + 1, sizeof(*paths));
    const struct cn_context *context;
    struct cn_walk walk = {0};
    struct cn_error err = {0};
    enum cn_walk_event event;

    assert_true(cn_walk_begin(&walk, db, &err));
    while (cn_walk_next(&walk, &event, &context, &err) == CN_ITEM) {
        struct cn_text path = {0};

        if (event != CN_WALK_ENTER)
            continue;
        for (size_t i = 0; i < walk.depth; i++)
            add_place(db, cn_walk_path(&walk, i), &path);
        assert_true(context->id < db->context_limit);
        free(paths[context->id]);
        paths[context->id] = cn_strdup(cn_text_str(&path));
        cn_text_done(&path);
    }
    assert_int_equal(err.kind, CN_ERR_NONE);
    cn_walk_done(&walk);
    return paths;
}

static void add_costs(struct cn_database *db, const char *metric_name, uint32_t profile,
                      char *const *paths, struct costs *costs)
{
    const struct cn_metric *metric =
        &db->metrics.list[cn_metrics_find(&db->metrics, metric_name)];
    static const char *const scopes[] = {"function", "execution"};
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};

    for (size_t s = 0; s < 2; s++) {
        unsigned scope = (unsigned)cn_metrics_find_scope(&db->metrics, scopes[s]);
        int id = profile == 0 ? cn_metric_stat_id(metric, scope, "$$", CN_COMBINE_SUM)
                              : cn_metric_prop_id(metric, scope);

        assert_true(id >= 0);
        assert_true(cn_profile_values(db, profile, 0, UINT32_MAX, &cursor, &err));
        while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++) {
                struct cn_text path = {0};

                if (batch.values[i].metric != id ||
                    (batch.values[i].key > 0 && !paths[batch.values[i].key]))
                    continue;
                cn_text_printf(&path, "%s %s", scopes[s],
                               batch.values[i].key ? paths[batch.values[i].key] : "");
                *cost_at(costs, cn_text_str(&path)) += batch.values[i].value;
                cn_text_done(&path);
            }
        assert_int_equal(err.kind, CN_ERR_NONE);
    }
}

static void free_paths(char **paths, uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++)
        free(paths[i]);
    free(paths);
}

/* A second analysis numbers the threads in another order. */
static uint32_t profile_of_thread(struct cn_database *db,
                                  const struct cn_identity_tuple *tuple)
{
    struct cn_text wanted = {0}, text = {0};
    struct cn_profile profile;
    struct cn_error err;
    uint32_t found = 0;

    cn_identity_print(tuple, &db->kinds, &wanted);
    for (uint32_t i = 1; i < db->profile_count && found == 0; i++) {
        assert_true(cn_database_profile(db, i, &profile, &err));
        cn_text_clear(&text);
        cn_identity_print(&profile.identity, &db->kinds, &text);
        if (strcmp(cn_text_str(&wanted), cn_text_str(&text)) == 0)
            found = i;
    }
    cn_text_done(&wanted);
    cn_text_done(&text);
    return found;
}

static void compare_costs(struct costs *a, struct costs *b)
{
    size_t count = a->paths.count;

    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        double theirs = *cost_at(b, a->paths.list[i]);

        if (fabs(theirs - a->sums[i]) > 1e-9 * (1 + fabs(theirs)))
            fail_msg("%s: %.12g and %.12g", a->paths.list[i], a->sums[i], theirs);
    }
    assert_int_equal(b->paths.count, count);
}

static void expect_same_costs(struct cn_database *xml, struct cn_database *v4)
{
    char **xml_paths = list_paths(xml), **v4_paths = list_paths(v4);
    const char *metric = xml->metrics.list[0].name;

    assert_int_equal(xml->profile_count, v4->profile_count);
    for (uint32_t i = 0; i < xml->profile_count; i++) {
        struct costs xml_costs = {0}, v4_costs = {0};
        struct cn_profile profile;
        struct cn_error err;

        assert_true(cn_database_profile(xml, i, &profile, &err));
        add_costs(xml, metric, i, xml_paths, &xml_costs);
        add_costs(v4, metric, i == 0 ? 0 : profile_of_thread(v4, &profile.identity),
                  v4_paths, &v4_costs);
        compare_costs(&xml_costs, &v4_costs);
        costs_done(&xml_costs);
        costs_done(&v4_costs);
    }
    free_paths(xml_paths, xml->context_limit);
    free_paths(v4_paths, v4->context_limit);
}

static void expect_same_data(const char *xml_name, const char *v4_name)
{
    struct cn_database *xml = open_data(xml_name), *v4 = open_data(v4_name);

    expect_same_costs(xml, v4);
    cn_database_close(xml);
    cn_database_close(v4);
}

static void costs_of_small_agree(void **state)
{
    (void)state;
    expect_same_data("hpctoolkit/xml/gen-small", "hpctoolkit/v4/small.d");
}

static void costs_of_loops_agree(void **state)
{
    (void)state;
    expect_same_data("hpctoolkit/xml/gen-loops-cputime-t",
                     "hpctoolkit/v4/loops-cputime-t.d");
}

static void costs_survive_being_written(void **state)
{
    static const char *const names[] = {
        "hpctoolkit/v4/small.d",
        "hpctoolkit/v4/loops-cputime-t.d",
        "hpctoolkit/v4/loops-cputime-t.nostruct.d",
        "hpctoolkit/v4/loops-perf.nostruct.d",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct cn_database *v4 = open_data(names[i]), *xml; /* may skip */
        struct cn_scratch *scratch = cn_scratch_enter();
        struct cn_error err = {0};

        assert_true(cn_hpc_xml_write(v4, "out",
                                     &(struct cn_write_options){.replace = true}, &err));
        assert_true(cn_open_database("out", &xml, &err));
        expect_same_costs(xml, v4);
        cn_database_close(xml);
        cn_database_close(v4);
        cn_scratch_leave(scratch);
    }
}

/* Contexts, samples and profiles of real data; those of generated data are known. */
static void expect_totals(const char *name, uint64_t contexts, uint64_t samples,
                          uint64_t profiles)
{
    uint64_t expected[] = {contexts, samples, profiles};
    struct cn_read_totals totals;
    struct cn_text path = {0};
    struct cn_error err = {0};
    struct cn_database *db;

    cn_text_printf(&path, "hpctoolkit/%s", name);
    db = open_data(cn_text_str(&path));
    if (!cn_test_data_is_real())
        cn_test_facts("hpctoolkit", name, expected, 3);
    cn_read_everything(db, UINT64_MAX, &totals, &err);
    if (totals.failures > 0)
        fail_msg("%s", err.text);
    assert_int_equal(totals.contexts, expected[0]);
    assert_int_equal(totals.samples, expected[1]);
    assert_int_equal(db->profile_count, expected[2]);
    if (!cn_compare_planes(db, &err))
        fail_msg("%s", err.text);
    cn_database_close(db);
    cn_text_done(&path);
}

static void all_are_read_to_the_end(void **state)
{
    (void)state;
    expect_totals("xml/gen-small", 13, 13, 2);
    expect_totals("xml/gen-loops-cputime-t", 112, 668, 5);
    expect_totals("xml/viewer-empty-trace", 25, 0, 2);
    expect_totals("xml-legacy/hatchet-cpi", 38, 0, 5);
    expect_totals("xml-legacy/viewer-inline.xml.db", 74, 11086, 9);
}

static void early_metric_ids_are_read(void **state)
{
    struct cn_database *db = open_data("hpctoolkit/xml/viewer-empty-trace");
    const struct cn_metric *metric;

    (void)state;
    metric = &db->metrics.list[0];
    assert_string_equal(metric->name,
                        cn_test_data_is_real() ? "REALTIME (sec)" : "CPUTIME (sec)");
    assert_int_equal(cn_metric_prop_id(metric, 0), 1);
    assert_int_equal(cn_metric_prop_id(metric, 1), 2);
    assert_int_equal(cn_metric_stat_id(metric, 0, "$$", CN_COMBINE_SUM), 256);
    assert_int_equal(cn_metric_stat_id(metric, 1, "$$", CN_COMBINE_SUM), 512);
    assert_string_equal(db->warnings->text, "cct.db is zeroed; rebuilt from profile.db");
    cn_database_close(db);
}

static void waiting_is_context_0(void **state)
{
    struct cn_database *db = open_data("hpctoolkit/xml/gen-small");
    struct cn_timeline timeline;
    struct cn_sample sample;
    struct cn_error err;

    (void)state;
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_true(cn_timeline_read(db, &timeline, 0, 1, &sample, &err));
    assert_int_equal(sample.context, 0);
    assert_true(cn_timeline_read(db, &timeline, 1, 1, &sample, &err));
    assert_int_equal(sample.context, cn_test_data_is_real() ? 11 : 10);
    assert_int_equal(db->begin_ns, UINT64_C(1714021984008891000));
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_of_small_agree),
        cmocka_unit_test(costs_of_loops_agree),
        cmocka_unit_test(costs_survive_being_written),
        cmocka_unit_test(all_are_read_to_the_end),
        cmocka_unit_test(early_metric_ids_are_read),
        cmocka_unit_test(waiting_is_context_0),
    };

    return CN_TEST_ON_DATA(tests);
}
