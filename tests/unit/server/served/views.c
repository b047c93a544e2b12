/* Views that requests borrow: when all are in use, the next request comes back later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/contexts/database.h"
#include "server/api/route.h"
#include "server/served/views.h"
#include "support/sample.h"

enum { MOST = 16 };

/* Ask for view number `i`, until it is built. */
static bool borrow(struct cn_served_views *views, unsigned i, struct cn_served_view **out,
                   struct cn_error *err)
{
    char formula[40];
    struct cn_view_question question = {.derived = {.list = {formula}, .count = 1}};
    bool ok;

    (void)snprintf(formula, sizeof(formula), "m%u=%u", i, i);
    do
        ok = cn_served_view_borrow(views, &question, out, err);
    while (!ok && err->kind == CN_ERR_BUSY && i < MOST);
    return ok;
}

static void too_many_at_a_time_is_busy(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_job_group requests, background;
    struct cn_served_view *list[MOST], *more;
    struct cn_structure structure = {0};
    struct cn_served_views views = {0};
    struct cn_error err = {0};
    struct cn_text text = {0};

    (void)state;
    cn_job_group_init(&requests, 2);
    cn_job_group_init(&background, 2);
    cn_structure_init(&structure, &requests, &background);
    cn_structure_set_database(&structure, db);
    cn_served_views_init(&views, &structure);
    for (unsigned i = 0; i < MOST; i++)
        if (!borrow(&views, i, &list[i], &err))
            fail_msg("%s", err.text);
    assert_false(borrow(&views, MOST, &more, &err));
    assert_int_equal(err.kind, CN_ERR_BUSY);
    cn_route_error(&text, &err);
    assert_non_null(strstr(cn_text_str(&text), "\"not-ready\""));
    cn_text_done(&text);
    cn_served_view_return(list[0]);
    assert_true(borrow(&views, 0, &list[0], &err));
    for (unsigned i = 0; i < MOST; i++)
        cn_served_view_return(list[i]);
    cn_job_group_cancel(&requests);
    cn_job_group_cancel(&background);
    cn_served_views_done(&views);
    cn_structure_done(&structure);
    cn_job_group_done(&requests);
    cn_job_group_done(&background);
    cn_database_close(db);
}

/* The names of kinds in answers. */
static void kinds_have_names(void **state)
{
    static const char *const names[CN_ERR_KIND_COUNT] = {
        "none",      "usage",       "io",       "format",    "version",  "limit",
        "not-found", "interrupted", "rejected", "not-ready", "no-memory"};

    (void)state;
    for (int i = 0; i < CN_ERR_KIND_COUNT; i++) {
        struct cn_error err = {.kind = (enum cn_error_kind)i};
        struct cn_text text = {0};

        cn_route_error(&text, &err);
        assert_non_null(strstr(cn_text_str(&text), names[i]));
        cn_text_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_at_a_time_is_busy),
        cmocka_unit_test(kinds_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
