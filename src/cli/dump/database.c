#include "cli/dump/dump.h"

#include <string.h>

#include "base/bytes/record.h"
#include "base/map.h"
#include "cli/dump/structures.h"
#include "cli/shell/cli.h"
#include "open/open.h"

struct database_dump {
    struct cn_dump_printer printer;
    const char *file, *record; /* NULL: all */
    uint64_t rest;             /* structures still to print */
    bool has_matches;

    /* Names seen, for the message if a name is unknown. */
    struct cn_names files, records;

    /* Structures come in long runs of one kind: decide once per run. */
    const char *run_file;
    const struct cn_record_layout *run_layout;
    bool run_is_wanted;
};

static bool is_wanted(struct database_dump *dump, const struct cn_dump_item *item)
{
    const char *record = cn_dump_record_name(item->layout);

    if (item->file == dump->run_file && item->layout == dump->run_layout)
        return dump->run_is_wanted;
    (void)cn_names_add(&dump->files, item->file);
    (void)cn_names_add(&dump->records, record);
    dump->run_file = item->file;
    dump->run_layout = item->layout;
    dump->run_is_wanted = (!dump->file || strcmp(dump->file, item->file) == 0) &&
                          (!dump->record || strcmp(dump->record, record) == 0);
    return dump->run_is_wanted;
}

static bool on_item(void *arg, const struct cn_dump_item *item)
{
    struct database_dump *dump = arg;

    if (!is_wanted(dump, item))
        return true;
    dump->has_matches = true;
    if (dump->rest == 0)
        return false;
    dump->rest--;
    cn_dump_print_item(&dump->printer, item);
    return true;
}

/* Fail with the list of names if `name` (NULL: none) is not among those seen. */
static bool check_known(const struct cn_names *known, const char *what, const char *name,
                        struct cn_error *err)
{
    struct cn_text list = {0};
    bool is_known = !name;

    for (size_t i = 0; i < known->count && !is_known; i++) {
        is_known = strcmp(known->list[i], name) == 0;
        cn_text_printf(&list, "%s%s", i > 0 ? ", " : "", known->list[i]);
    }
    if (!is_known)
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "no %s '%s'; there are %s", what, name,
                      cn_text_str(&list));
    cn_text_done(&list);
    return is_known;
}

static bool explain_nothing(const struct database_dump *dump, const char *path,
                            struct cn_error *err)
{
    if (check_known(&dump->files, "file", dump->file, err) &&
        check_known(&dump->records, "record", dump->record, err))
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "no record '%s' in %s",
                      dump->record ? dump->record : "", dump->file ? dump->file : "");
    return cn_fail_in(err, "%s", path);
}

bool cn_dump_database(const struct cn_args *args, const struct cn_opened *opened,
                      struct cn_error *err)
{
    struct database_dump dump = {
        .printer = {.format = cn_cli_format(args),
                    .by_field = cn_args_has(args, "fields")},
        .file = cn_args_value(args, "file"),
        .record = cn_args_value(args, "record"),
    };
    bool ok;

    if (!cn_args_u64(args, "limit", 0, UINT64_MAX, UINT64_MAX, &dump.rest, err))
        return false;
    if (!opened->format->dump)
        return cn_fail(err, CN_ERR_USAGE, "%s: format %s cannot be dumped", opened->path,
                       opened->format->name);
    cn_cli_page(args);
    cn_dump_print_begin(&dump.printer);
    ok = opened->format->dump(opened->source, on_item, &dump, err);
    cn_dump_print_end(&dump.printer);
    if (ok && !dump.has_matches && (dump.file || dump.record))
        ok = explain_nothing(&dump, opened->path, err);
    cn_names_done(&dump.files);
    cn_names_done(&dump.records);
    return ok;
}
