/* Print what explains the difference of two databases: compare_runs A B */
#include <cairn.h>
#include <stdio.h>

static void print_changes(const struct cairn_table *table)
{
    size_t name = cairn_table_find(table, "name"), len;
    struct cairn_column difference;

    cairn_table_column(table, cairn_table_find(table, "difference"), &difference);
    for (uint64_t row = 0; row < cairn_table_row_count(table); row++) {
        const char *text = cairn_table_text(table, name, row, &len);

        printf("%+12.6f %.*s\n", ((const double *)difference.values)[row], (int)len,
               text);
    }
}

int main(int argc, char **argv)
{
    struct cairn_error *err = cairn_error_new();
    struct cairn_diff *diff = cairn_diff_new();
    struct cairn_table *changes;
    bool ok = argc == 3;

    for (int side = 0; ok && side < 2; side++) {
        struct cairn_data *data = cairn_open(argv[1 + side], err);

        ok = data && cairn_diff_add(diff, side, data, NULL, NULL, err);
        cairn_close(data);
    }
    changes = ok ? cairn_diff_changes(diff, err) : NULL;
    if (changes)
        print_changes(changes);
    else
        fprintf(stderr, "compare_runs: %s\n",
                argc == 3 ? cairn_error_text(err) : "usage: compare_runs A B");
    cairn_table_free(changes);
    cairn_diff_free(diff);
    cairn_error_free(err);
    return changes ? 0 : 1;
}
