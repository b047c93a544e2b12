/* Print the hottest contexts of any data: hot_contexts PATH */
#include <cairn.h>
#include <stdio.h>

/* The database of a path: that of a recording or store is made first. */
static struct cairn_data *open_database(const char *path, struct cairn_error *err)
{
    struct cairn_data *data = cairn_open(path, err), *db;

    if (!data || cairn_data_shape(data) == CAIRN_DATABASE)
        return data;
    db = cairn_analyze(data, err);
    cairn_close(data);
    return db;
}

static void print_rows(const struct cairn_table *table)
{
    size_t name = cairn_table_find(table, "name"), len;
    struct cairn_column depth, total;

    cairn_table_column(table, cairn_table_find(table, "depth"), &depth);
    cairn_table_column(table, name + 4, &total); /* the first cost, after the location */
    printf("%s\n", total.name);
    for (uint64_t row = 0; row < cairn_table_row_count(table); row++) {
        const char *text = cairn_table_text(table, name, row, &len);

        printf("%12.6f %*s%.*s\n", ((const double *)total.values)[row],
               (int)((const uint32_t *)depth.values)[row] * 2, "", (int)len, text);
    }
}

int main(int argc, char **argv)
{
    struct cairn_cost_options options = {.size = sizeof(options), .percent_min = 10};
    struct cairn_error *err = cairn_error_new();
    struct cairn_data *db = argc == 2 ? open_database(argv[1], err) : NULL;
    struct cairn_table *tree =
        db ? cairn_database_view(db, CAIRN_TREE, &options, err) : NULL;

    if (tree)
        print_rows(tree);
    else
        fprintf(stderr, "hot_contexts: %s\n",
                argc == 2 ? cairn_error_text(err) : "usage: hot_contexts PATH");
    cairn_table_free(tree);
    cairn_close(db);
    cairn_error_free(err);
    return tree ? 0 : 1;
}
