/* cairn store import: add the traces of other stores. */

#include <inttypes.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/copy.h"
#include "store/maintenance/upload.h"
#include "store/search/search.h"
#include "store/write/java_import.h"
#include "store/write/writer.h"

static bool import_java(const struct cn_args *args, struct cn_store_writer *writer,
                        const char *path, struct cn_store_added *added,
                        struct cn_error *err)
{
    struct cn_java_import_counts counts;
    struct cn_error damage;

    if (!cn_java_store_import(writer, path, &counts, err))
        return false;
    if (!cn_java_import_damage(&counts, &damage))
        cn_cli_warn(args, "%s: %s", path, damage.text);
    *added = counts.added;
    return true;
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

static bool import_one(const struct cn_args *args, struct cn_store_writer *writer,
                       const char *path, struct cn_error *err)
{
    struct cn_store_added added;

    if (cn_java_store_probe(path) ? !import_java(args, writer, path, &added, err)
                                  : !import_store(writer, path, &added, err))
        return false;
    cn_store_say_added(args, path, &added);
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_target target;
    struct cn_store_writer *writer;
    struct cn_error later;
    bool ok = true, is_saved = false;

    if (!cn_store_target_open(&target, cn_args_operand(args, 0), err))
        return false;
    if (cn_store_writer_open(&writer, target.path, NULL, err)) {
        for (size_t i = 1; ok && i < cn_args_count(args); i++)
            ok = import_one(args, writer, cn_args_operand(args, i), err);
        is_saved = cn_store_writer_close(writer, ok ? err : &later) &&
                   cn_store_target_finish(&target, ok ? err : &later);
    }
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
    .description = "Adds stores of cairn and of the original Java implementation, both "
                   "generations. Traces that the store already has are not stored again.",
    .examples = examples,
    .options = options,
    .run = run,
};
