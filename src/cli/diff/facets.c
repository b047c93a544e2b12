#include "cli/diff/print.h"

#include <inttypes.h>

#include "cli/print/table.h"
#include "cli/shell/cli.h"
#include "cli/shell/progress.h"
#include "store/groups/facets.h"

static void print_sign(struct cn_table *table, const struct cn_sign *sign)
{
    cn_table_str(table, sign->group == CN_SIDE_A ? "A" : "B");
    for (int side = 0; side < CN_SIDES; side++) {
        cn_table_u64(table, sign->has[side]);
        cn_table_u64(table, sign->of[side]);
    }
    cn_table_f64(table, sign->log_p);
    cn_table_str(table, sign->key);
    cn_table_str(table, (const char[]){sign->relation, '\0'});
    cn_table_str(table, sign->value);
    cn_table_end_row(table);
}

static void print(const struct cn_trace_facets *facets, const struct cn_args *args)
{
    static const struct cn_column columns[] = {
        {.name = "side", .title = "MORE IN", .kind = CN_COLUMN_TEXT},
        {.name = "has_a", .title = "A", .kind = CN_COLUMN_U64},
        {.name = "of_a", .title = "OF", .kind = CN_COLUMN_U64},
        {.name = "has_b", .title = "B", .kind = CN_COLUMN_U64},
        {.name = "of_b", .title = "OF", .kind = CN_COLUMN_U64},
        {.name = "log_p", .title = NULL, .kind = CN_COLUMN_F64},
        {.name = "key", .title = "ATTRIBUTE", .kind = CN_COLUMN_TEXT},
        {.name = "relation", .title = "", .kind = CN_COLUMN_TEXT},
        {.name = "value", .title = "VALUE", .kind = CN_COLUMN_TEXT},
    };
    struct cn_table *table =
        cn_cli_table(args, columns, sizeof(columns) / sizeof(*columns));

    for (size_t i = 0; i < facets->signs.count; i++)
        print_sign(table, &facets->signs.list[i]);
    cn_table_free(table);
    if (facets->signs.count == 0)
        cn_cli_say(args, "no attribute goes with one of the sides");
    if (facets->is_estimated)
        cn_cli_say(args, "estimated from %" PRIu64 " and %" PRIu64 " traces",
                   facets->read[CN_SIDE_A], facets->read[CN_SIDE_B]);
}

bool cn_diff_facets(const struct cn_sides *sides, const struct cn_args *args,
                    struct cn_error *err)
{
    struct cn_facet_side from[CN_SIDES] = {
        {sides->paths[CN_SIDE_A][0], cn_args_value(args, "query-a")},
        {sides->paths[CN_SIDE_B][0], cn_args_value(args, "query-b")},
    };
    struct cn_trace_facets facets;
    struct cn_bar bar;
    bool ok;

    if (sides->count[CN_SIDE_A] > 1 || sides->count[CN_SIDE_B] > 1)
        return cn_fail(err, CN_ERR_USAGE, "--facets is for one store on each side");
    cn_bar_begin(&bar, args);
    ok = cn_trace_facets_find(&facets, from, &bar.progress, err);
    cn_bar_end(&bar);
    if (!ok)
        return false;
    print(&facets, args);
    if (facets.is_damaged)
        *err = facets.damage;
    ok = !facets.is_damaged;
    cn_trace_facets_done(&facets);
    return ok;
}
