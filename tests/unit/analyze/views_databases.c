/* The views of every database there is. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/hottest.h"
#include "analyze/views/view.h"
#include "open/open.h"
#include "support/check_costs.h"
#include "support/data.h"
#include "support/effort.h"
#include "support/open_database.h"

enum { DATABASES_MAX = 64, ROWS_VISITED = 20000, FEW_ROWS = 2000, DEPTH_SHOWN = 4 };

/* Those of the data that a test runs on. */
static char *databases[DATABASES_MAX];
static size_t database_count;

static void collect(const char *folder_name)
{
    char *folder = cn_test_data(folder_name);
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        struct cn_text path = {0};
        struct cn_opened opened = {0};
        struct cn_error err = {0};

        cn_text_printf(&path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && database_count < DATABASES_MAX &&
            cn_open(&opened, cn_text_str(&path), 0, NULL, &err) &&
            opened.format->open_database)
            databases[database_count++] = path.chars;
        else
            cn_text_done(&path);
        cn_opened_close(&opened);
        free(entries[i]);
    }
    free(entries);
    free(folder);
}

static void collect_all(void)
{
    database_count = 0;
    collect("hpctoolkit/v4");
    collect("hpctoolkit/v4-draft");
    assert_true(database_count > 10);
}

static void forget_all(void)
{
    for (size_t i = 0; i < database_count; i++)
        free(databases[i]);
}

static struct cn_database *open_database(const char *path)
{
    struct cn_database *db;
    struct cn_error err = {0};

    if (!cn_open_database(path, &db, &err))
        fail_msg("%s", err.text);
    return db;
}

/* What views can be asked for: a thread selection, a scope, a statistic, one thread. */
struct request {
    const char *threads, *scope;
    enum cn_cost_stat stat;
    bool of_first_thread;
};

static const struct request requests[] = {
    {0},
    {.threads = "1"},
    {.threads = "1-2", .stat = CN_STAT_MEAN},
    {.scope = "point"},
    {.scope = "function", .stat = CN_STAT_STDDEV},
    {.scope = "execution", .stat = CN_STAT_COUNT},
    {.stat = CN_STAT_MIN},
    {.stat = CN_STAT_MAX},
    {.of_first_thread = true},
};

static void add_columns(struct cn_costs *costs, const struct request *request)
{
    const struct cn_presented_metric *metric;

    for (size_t i = 0; i < 12 && (metric = cn_costs_metric_at(costs->db, i)); i++)
        for (int side = CN_TOTAL; side <= CN_SELF; side++) {
            struct cn_error err = {0};
            struct cn_cost_request wanted = {
                .metric = metric->name,
                .scope = request->scope,
                .side = (enum cn_cost_side)side,
                .stat = request->stat,
                .profile = request->of_first_thread ? 1 : CN_NONE,
            };

            /* A metric may lack a side or a scope; it says so. */
            if (!cn_costs_add(costs, &wanted, &err))
                assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
        }
}

/* False when there is nothing of the kind in the database. */
static bool init_costs(struct cn_costs *costs, struct cn_database *db,
                       const struct request *request)
{
    struct cn_error err = {0};

    cn_costs_init(costs, db);
    if (request->threads && !cn_costs_select(costs, request->threads, &err))
        fail_msg("%s: %s", db->path, err.text);
    add_columns(costs, request);
    if (costs->column_count > 0 && cn_costs_ready(costs, &err))
        return true;
    if (costs->column_count > 0)
        fail_msg("%s: %s", db->path, err.text);
    cn_costs_done(costs);
    return false;
}

static void both_ways_agree(void **state)
{
    (void)state;
    collect_all();
    for (size_t i = 0; i < database_count; i++) {
        struct cn_database *db = open_database(databases[i]);
        bool has_planes = db->has_context_values;

        for (size_t k = 0; k < 2 * sizeof(requests) / sizeof(*requests); k++) {
            struct cn_error err = {0};
            struct cn_costs costs;

            db->has_context_values = has_planes && k % 2 == 0;
            if (!init_costs(&costs, db, &requests[k / 2]))
                continue;
            if (!cn_check_costs(&costs, &err))
                fail_msg("%s, request %zu: %s", databases[i], k, err.text);
            cn_costs_done(&costs);
        }
        cn_database_close(db);
    }
    forget_all();
}

/* Visits rows with an explicit list of what is still to do; returns how many there
 * were. */
static size_t visit_all(struct cn_view *view)
{
    struct cn_row *waiting = NULL;
    const size_t limit = cn_test_is_thorough() ? ROWS_VISITED : FEW_ROWS;
    size_t count = 0, visited = 0;
    bool is_top = true;

    while (is_top || (count > 0 && visited < limit)) {
        struct cn_row parent = is_top ? (struct cn_row){0} : waiting[--count];
        struct cn_text label = {0};
        struct cn_error err = {0};
        struct cn_row_list list;
        struct cn_location location;

        if (!cn_view_children(view, is_top ? NULL : &parent, 0, visited % 2 == 0, &list,
                              &err) ||
            (!is_top && (!view->ops->label(view, &parent, &label, &err) ||
                         !view->ops->location(view, &parent, &location, &err))))
            fail_msg("%s: %s", view->costs->db->path, err.text);
        assert_true(is_top || label.len > 0);
        waiting = realloc(waiting, (count + list.count + 1) * sizeof(*waiting));
        assert_non_null(waiting);
        for (size_t i = 0; i < list.count; i++)
            waiting[count++] = list.rows[i];
        visited += list.count;
        is_top = false;
        cn_row_list_done(&list);
        cn_text_done(&label);
    }
    free(waiting);
    return visited;
}

static void visit_views(struct cn_costs *costs)
{
    static const struct cn_name_filter no_filter;
    struct cn_view *view = cn_view_top_down_new(costs);
    struct cn_error err = {0};
    struct cn_hottest hottest;
    struct cn_row_list path;

    assert_true(visit_all(view) > 0);
    cn_row_list_begin(&path, costs->column_count);
    assert_true(cn_view_hot_path(view, 0, 0.5, &path, &err));
    cn_row_list_done(&path);
    cn_view_free(view);
    assert_true(cn_view_flat_new(&view, costs, NULL, &err));
    assert_true(visit_all(view) > 0);
    cn_view_free(view);
    assert_true(cn_view_bottom_up_new(&view, costs, DEPTH_SHOWN, NULL, &err));
    assert_true(visit_all(view) > 0);
    cn_view_free(view);
    assert_true(cn_hottest_find(
        &hottest, costs,
        &(struct cn_hottest_request){.kinds = ~0U, .count = 10, .filter = &no_filter},
        NULL, &err));
    cn_hottest_done(&hottest);
}

static void every_view_shows_every_request(void **state)
{
    (void)state;
    collect_all();
    for (size_t i = 0; i < database_count; i++) {
        struct cn_database *db = open_database(databases[i]);

        for (size_t k = 0; k < sizeof(requests) / sizeof(*requests); k++) {
            struct cn_costs costs;

            if (!init_costs(&costs, db, &requests[k]))
                continue;
            visit_views(&costs);
            cn_costs_done(&costs);
        }
        cn_database_close(db);
    }
    forget_all();
}

/* The sum of a column over the top rows of a view. */
static double sum_of_top(struct cn_view *view, size_t column)
{
    struct cn_row_list list;
    struct cn_error err = {0};
    double sum = 0;

    assert_true(cn_view_children(view, NULL, column, false, &list, &err));
    for (size_t i = 0; i < list.count; i++)
        sum += isnan(list.rows[i].values[column]) ? 0 : list.rows[i].values[column];
    cn_row_list_done(&list);
    return sum;
}

static void expect_sum(const struct cn_database *db, const char *what, double sum,
                       double total)
{
    if (!(fabs(sum - total) <= 1e-6 * fmax(1e-6, fabs(total))))
        fail_msg("%s: %s add up to %.9g of %.9g", db->path, what, sum, total);
}

/* Of the first metric. */
static void views_add_up_to_the_summary(void **state)
{
    (void)state;
    collect_all();
    for (size_t i = 0; i < database_count; i++) {
        struct cn_database *db = open_database(databases[i]);
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *view;
        double total;

        assert_true(init_costs(&costs, db, &requests[0]));
        total = isnan(costs.columns[0].total) ? 0 : costs.columns[0].total;
        view = cn_view_top_down_new(&costs);
        if (costs.columns[0].has_percent)
            expect_sum(db, "the contexts at the top", sum_of_top(view, 0), total);
        cn_view_free(view);
        assert_true(cn_view_flat_new(&view, &costs, NULL, &err));
        if (costs.columns[0].has_percent && costs.columns[1].side == CN_SELF)
            expect_sum(db, "modules", sum_of_top(view, 1), total);
        cn_view_free(view);
        cn_costs_done(&costs);
        cn_database_close(db);
    }
    forget_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(every_view_shows_every_request),
        cmocka_unit_test(views_add_up_to_the_summary),
    };

    return CN_TEST_ON_DATA(tests);
}
