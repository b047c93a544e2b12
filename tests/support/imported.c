#include "support/imported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EXECUTION = 3 };

struct cn_database *cn_imported(cn_import_fn read, struct cn_bytes bytes)
{
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_error err = {0};
    struct cn_database *db;

    if (!read(import, bytes, &err))
        fail_msg("%s", err.text);
    assert_true(cn_import_finish(import, &db, &err));
    return db;
}

double cn_imported_value(struct cn_database *db, const char *path, uint32_t metric)
{
    struct cn_context_cursor list;
    struct cn_context at, found = {0};
    struct cn_error err;
    double sum = 0;

    assert_true(cn_context_children(db, NULL, &list, &err));
    assert_int_equal(cn_context_next(db, &list, &found, &err), CN_ITEM);
    while (*path) {
        size_t len = strcspn(path, ";");
        bool is_there = false;

        assert_true(cn_context_children(db, &found, &list, &err));
        while (!is_there && cn_context_next(db, &list, &at, &err) == CN_ITEM) {
            struct cn_function function;

            if (!at.has_function)
                continue;
            assert_true(cn_database_function(db, at.function, &function, &err));
            is_there =
                strlen(function.name) == len && strncmp(function.name, path, len) == 0;
        }
        if (!is_there)
            fail_msg("no context %s", path);
        found = at;
        path += len + (path[len] == ';');
    }
    for (uint32_t i = 1; i < db->profile_count; i++) {
        struct cn_value_cursor cursor;
        struct cn_value_batch batch;

        assert_true(cn_profile_values(db, i, found.id, found.id, &cursor, &err));
        while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
            for (size_t k = 0; k < batch.count; k++)
                if (batch.values[k].metric == metric * 4 + EXECUTION)
                    sum += batch.values[k].value;
    }
    return sum;
}

bool cn_imported_is_damaged(const struct cn_database *db)
{
    const struct cn_warning *w = db->warnings;

    while (w && !w->is_damage)
        w = w->next;
    return w != NULL;
}
