/* cairn store import: add the traces of other stores. */

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/copy.h"
#include "store/maintenance/upload.h"
#include "store/search/search.h"
#include "store/write/java_import.h"
#include "store/write/writer.h"

static bool import_java(struct cn_store_writer *writer, const char *path,
                        struct cn_store_added *added, struct cn_error *err)
{
    struct cn_java_import_counts counts;

    if (!cn_java_store_import(writer, path, &counts, err))
        return false;
    *added = counts.added;
    return cn_java_import_damage(&counts, err) || cn_fail_in(err, "%s", path);
}

static bool import_store(struct cn_store_writer *writer, const char *path,
                         struct cn_store_added *added, struct cn_error *err)
{
    struct cn_store_query query;

    if (!cn_store_query_open(&query, path, "", err))
        return false;
    bool ok = cn_store_copy(writer, query.search, query.query, added, err);
    cn_store_query_close(&query);
    return ok;
}

/* Import one store after the other. Damage costs what cannot be read; `err` receives the first, others are
 * printed. `added` receives what each gave, and `count` how many were imported. */
static bool import_all(const struct cn_args *args, struct cn_store_writer *writer,
                       struct cn_store_added *added, size_t *count, struct cn_error *err)
{
    bool is_damaged = false, ok = true;

    for (*count = 0; ok && *count + 1 < cn_args_count(args);) {
        const char *path = cn_args_operand(args, *count + 1);
        struct cn_error found;

        if (cn_java_store_probe(path)
                ? import_java(writer, path, &added[*count], &found)
                : import_store(writer, path, &added[*count], &found)) {
            ++*count;
            continue;
        }
        ok = found.kind == CN_ERR_FORMAT;
        if (is_damaged)
            cn_cli_warn(args, "%s", found.text);
        else
            *err = found;
        *count += ok;
        is_damaged = true;
    }
    return !is_damaged;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_target target;
    struct cn_store_writer *writer;
    struct cn_store_added *added;
    struct cn_error later;
    bool ok = true, is_saved = false;
    size_t count = 0;

    if (!cn_store_target_open(&target, cn_args_operand(args, 0), err))
        return false;
    added = cn_alloc(cn_args_count(args), sizeof(*added));
    if (cn_store_writer_open(&writer, target.path, NULL, err)) {
        ok = import_all(args, writer, added, &count, err);
        is_saved = cn_store_writer_close(writer, ok ? err : &later) &&
                   cn_store_target_finish(&target, ok ? err : &later);
    }
    /* Traces are added when they are on the disk. */
    for (size_t i = 0; is_saved && i < count; i++)
        cn_store_say_added(args, cn_args_operand(args, i + 1), &added[i]);
    free(added);
    cn_store_target_done(&target);
    return is_saved && ok;
}

static const struct cn_option options[] = {CN_OPTION_CACHE_SIZE, {0}};

static const struct cn_example examples[] = {
    {"cairn store import traces old-zico-data", "a store of the original collector"},
    {"cairn store import traces failed", "a store written by cairn store export"},
    {0},
};

const struct cn_command cn_cmd_store_import = {
    .name = "store import",
    .operands = "STORE SRC...",
    .operand_min = 2,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "add all traces of other stores",
    .description =
        "Adds stores of cairn and of the original Java implementation, both "
        "generations. Traces that the store already has are not stored again. Of a "
        "damaged store all that can be read is added, and the status is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
