#include "cli/info/info.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/timeline/gpu_use.h"
#include "analyze/views/header.h"
#include "analyze/views/overview.h"
#include "base/alloc.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/host/disk_usage.h"
#include "base/text.h"
#include "cli/info/gpu_uses.h"
#include "cli/info/sheet.h"
#include "cli/print/facts.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/open.h"
#include "open/formats.h"

/* A file of the database, or a folder with everything below it. */
struct database_file {
    char *name;
    bool is_folder;
    struct cn_disk_usage usage;
};

struct database_info {
    const struct cn_opened *opened;
    struct cn_database *db; /* of `opened` */
    const char *path;       /* its folder, or what was analysed */
    struct cn_overview overview;
    struct cn_header header;
    struct cn_gpu_uses gpus;
    struct database_file *files;
    size_t file_count;
    struct cn_disk_usage usage;
    bool shows_all; /* also metrics that views hide */
};

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Files of measurements are per thread; they are shown together. */
static const char *file_name(const struct database_info *info, const char *name)
{
    static const char *const shared[] = {"*.hpcrun", "*.hpctrace", "*.log"};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
        if (dot && info->opened->format->is_measured && strcmp(dot, shared[i] + 1) == 0)
            return shared[i];
    return name;
}

static struct database_file *find_file(struct database_info *info, const char *name)
{
    for (size_t i = info->file_count; i-- > 0 && name[0] == '*';)
        if (strcmp(info->files[i].name, name) == 0)
            return &info->files[i];
    info->files[info->file_count].name = cn_strdup(name);
    return &info->files[info->file_count++];
}

static void add_file(struct database_info *info, const struct dirent *entry)
{
    struct database_file *file = find_file(info, file_name(info, entry->d_name));
    char *path = cn_strprintf("%s/%s", info->path, entry->d_name);
    struct cn_disk_usage usage = cn_disk_usage(path);

    file->is_folder = entry->d_type == DT_DIR;
    file->usage.file_count += usage.file_count;
    file->usage.bytes += usage.bytes;
    info->usage.file_count += usage.file_count;
    info->usage.bytes += usage.bytes;
    free(path);
}

static void find_files(struct database_info *info)
{
    struct dirent **entries;
    int count = scandir(info->path, &entries, is_visible, alphasort);

    if (count < 0)
        return; /* not every database is a folder */
    info->files = cn_alloc((size_t)count, sizeof(*info->files));
    for (int i = 0; i < count; i++) {
        add_file(info, entries[i]);
        free(entries[i]);
    }
    free(entries);
}

static void print_range(const struct database_info *info, const struct cn_id_range *range,
                        struct cn_text *text)
{
    const struct cn_kinds *kinds = &info->db->kinds;

    if (range->kind < kinds->count)
        cn_text_str_add(text, kinds->list[range->kind]);
    else
        cn_text_printf(text, "KIND%u", range->kind);
    if (range->is_physical)
        cn_text_printf(text, " 0x%" PRIx64, range->physical);
    else if (range->first == range->last)
        cn_text_printf(text, " %" PRIu32, range->first);
    else
        cn_text_printf(text, " %" PRIu32 "-%" PRIu32, range->first, range->last);
}

static void print_shape(const struct database_info *info,
                        const struct cn_thread_shape *shape, struct cn_text *text)
{
    if (shape->id_count == 0)
        cn_text_str_add(text, "without identity");
    for (size_t i = 0; i < shape->id_count; i++) {
        if (i > 0)
            cn_text_char(text, ' ');
        print_range(info, &shape->ids[i], text);
    }
}

/* Add the text as a value, and empty it. */
static void add_text(struct cn_sheet *sheet, const char *key, struct cn_text *text)
{
    cn_sheet_add(sheet, key, "%s", cn_text_str(text));
    cn_text_clear(text);
}

static void add_count(struct cn_sheet *sheet, const char *key, uint64_t count)
{
    struct cn_text text = {0};

    cn_count_print(&text, count);
    add_text(sheet, key, &text);
    cn_text_done(&text);
}

static void add_header_line(void *arg, const char *name, const char *text)
{
    cn_sheet_add(arg, name, "%s", text);
}

static void show_header(const struct database_info *info, struct cn_sheet *sheet)
{
    cn_sheet_group(sheet, "Run");
    cn_header_each(&info->header, add_header_line, sheet);
}

static void show_files(const struct database_info *info, struct cn_sheet *sheet)
{
    struct cn_text text = {0}, name = {0};

    if (info->file_count == 0)
        return;
    cn_sheet_group(sheet, "Files");
    for (size_t i = 0; i < info->file_count; i++) {
        const struct database_file *file = &info->files[i];

        cn_text_printf(&name, "%s%s", file->name, file->is_folder ? "/" : "");
        cn_size_print(&text, file->usage.bytes);
        if (file->is_folder || file->name[0] == '*') {
            cn_text_str_add(&text, " in ");
            cn_count_print_of(&text, file->usage.file_count, "file");
        }
        add_text(sheet, cn_text_str(&name), &text);
        cn_text_clear(&name);
    }
    cn_size_print(&text, info->usage.bytes);
    cn_text_str_add(&text, " in ");
    cn_count_print_of(&text, info->usage.file_count, "file");
    add_text(sheet, "together", &text);
    cn_text_done(&text);
    cn_text_done(&name);
}

static void show_threads(const struct database_info *info, struct cn_sheet *sheet)
{
    const struct cn_overview *overview = &info->overview;
    struct cn_text text = {0};

    cn_sheet_group(sheet, "Threads");
    add_count(sheet, "number", overview->thread_count);
    for (size_t i = 0; i < overview->shape_count; i++) {
        print_shape(info, &overview->shapes[i], &text);
        if (overview->shape_count > 1) {
            cn_text_str_add(&text, ": ");
            cn_count_print_of(&text, overview->shapes[i].thread_count, "thread");
        }
        add_text(sheet, "identities", &text);
    }
    if (info->opened->about.analysis.unreadable_count > 0)
        add_count(sheet, "cannot be read", info->opened->about.analysis.unreadable_count);
    cn_text_done(&text);
}

static const char *module_path(const struct database_info *info, uint32_t index)
{
    struct cn_error ignored = {0};
    struct cn_module module;

    return cn_database_module(info->db, index, &module, &ignored) ? module.path : "";
}

/* Measurements: the binaries that were sampled. */
static void show_modules(const struct database_info *info, struct cn_sheet *sheet)
{
    if (!info->opened->format->is_measured)
        return;
    cn_sheet_group(sheet, "Load modules");
    for (uint32_t i = 0; i < info->db->module_count; i++)
        cn_sheet_add(sheet, "module", "%s", module_path(info, i));
}

/* "sum", "count", "sum of ($$^2)", "min", "max" */
static void print_statistic(const struct cn_statistic *statistic, struct cn_text *text)
{
    const char *combine = cn_combine_name(statistic->combine);

    if (statistic->combine == CN_COMBINE_SUM && strcmp(statistic->formula, "1") == 0)
        cn_text_str_add(text, "count");
    else if (strcmp(statistic->formula, "$$") == 0)
        cn_text_str_add(text, combine);
    else
        cn_text_printf(text, "%s of %s", combine, statistic->formula);
}

/* Statistics are the same for every scope: print those of the first. */
static void print_statistics(const struct cn_metric *metric, struct cn_text *text)
{
    for (size_t i = 0; i < metric->statistic_count; i++) {
        if (metric->statistics[i].scope != metric->statistics[0].scope)
            continue;
        if (i > 0)
            cn_text_str_add(text, ", ");
        print_statistic(&metric->statistics[i], text);
    }
}

static void show_metrics(const struct database_info *info, struct cn_sheet *sheet)
{
    const struct cn_metrics *metrics = &info->db->metrics;
    struct cn_text text = {0};
    uint64_t hidden_count = 0;

    cn_sheet_group(sheet, "Metrics");
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        const struct cn_presented_metric *presented =
            cn_taxonomy_find(&info->db->taxonomy, metric->name);

        if (presented && !presented->is_visible && !info->shows_all) {
            hidden_count++;
            continue;
        }
        for (size_t k = 0; k < metric->instance_count; k++)
            cn_text_printf(&text, "%s%s", k > 0 ? ", " : "",
                           metrics->scopes[metric->instances[k].scope].name);
        if (metric->statistic_count > 0)
            cn_text_str_add(&text, "; ");
        print_statistics(metric, &text);
        add_text(sheet, metric->name, &text);
    }
    if (hidden_count > 0)
        add_count(sheet, "hidden by default", hidden_count);
    cn_text_done(&text);
}

static void print_variants(const struct cn_presented_metric *metric, struct cn_text *text)
{
    for (size_t i = 0; i < metric->variant_count; i++) {
        const char *name = metric->variants[i].name;

        cn_text_printf(text, "%s%s", i > 0 ? ", " : "", name[0] ? name : "value");
    }
}

static void show_columns(const struct database_info *info, struct cn_sheet *sheet)
{
    const struct cn_taxonomy *taxonomy = &info->db->taxonomy;
    struct cn_text text = {0};
    uint64_t hidden_count = 0;

    cn_sheet_group(sheet, "Columns of views");
    for (size_t i = 0; i < taxonomy->root_count; i++) {
        if (!taxonomy->roots[i].is_visible) {
            hidden_count++;
            continue;
        }
        print_variants(&taxonomy->roots[i], &text);
        add_text(sheet, taxonomy->roots[i].name, &text);
    }
    if (hidden_count > 0)
        add_count(sheet, "hidden by default", hidden_count);
    cn_text_done(&text);
}

static void show_contents(const struct database_info *info, struct cn_sheet *sheet)
{
    const struct cn_overview *overview = &info->overview;
    struct cn_text text = {0};

    cn_sheet_group(sheet, "Contents");
    for (size_t i = 0; i < overview->entry_count && i < CN_OVERVIEW_ENTRIES_MAX; i++)
        cn_text_printf(&text, "%s%s", i > 0 ? ", " : "", overview->entries[i]);
    if (overview->entry_count > CN_OVERVIEW_ENTRIES_MAX)
        cn_text_str_add(&text, ", ...");
    if (overview->entry_count > 0)
        add_text(sheet, "entry points", &text);
    add_count(sheet, "context ids", info->db->context_limit);
    add_count(sheet, "functions", info->db->function_count);
    add_count(sheet, "source files", info->db->file_count);
    add_count(sheet, "modules", info->db->module_count);
    add_count(sheet, "values of threads", overview->value_count);
    add_count(sheet, "values of summaries", overview->summary_value_count);
    cn_text_done(&text);
}

/* In a hostile file, the end may be before the beginning. */
static uint64_t duration_ns(const struct cn_database *db)
{
    return db->end_ns > db->begin_ns ? db->end_ns - db->begin_ns : 0;
}

static void show_timelines(const struct database_info *info, struct cn_sheet *sheet)
{
    const struct cn_database *db = info->db;
    struct cn_text text = {0};

    cn_sheet_group(sheet, "Timelines");
    if (!db->has_timelines) {
        cn_sheet_add(sheet, "samples", "none");
        return;
    }
    cn_count_print(&text, info->overview.sample_count);
    cn_text_str_add(&text, " in ");
    cn_count_print_of(&text, info->overview.timeline_count, "thread");
    add_text(sheet, "samples", &text);
    cn_date_print(&text, db->begin_ns, 6);
    cn_text_str_add(&text, " UTC");
    add_text(sheet, "begin", &text);
    cn_duration_print(&text, duration_ns(db));
    add_text(sheet, "duration", &text);
    if (db->timeline_resolution_ns > 0) {
        cn_text_str_add(&text, "estimate, exact to ");
        cn_duration_print(&text, db->timeline_resolution_ns);
        add_text(sheet, "sums of samples", &text);
    }
    cn_text_done(&text);
}

static void add_sheet(struct cn_text *text, const struct database_info *info,
                      bool has_color)
{
    const struct cn_database *db = info->db;
    struct cn_sheet sheet = {0};

    cn_sheet_group(&sheet,
                   info->opened->format->is_measured ? "Measurements" : "Database");
    cn_sheet_add(&sheet, info->opened->format->is_measured ? "program" : "title", "%s",
                 db->title);
    cn_sheet_add(&sheet, "format", "%s", info->opened->format->name);
    cn_sheet_add(&sheet, "path", "%s", info->path);
    show_header(info, &sheet);
    show_files(info, &sheet);
    show_threads(info, &sheet);
    show_modules(info, &sheet);
    show_metrics(info, &sheet);
    show_columns(info, &sheet);
    show_contents(info, &sheet);
    show_timelines(info, &sheet);
    cn_gpu_uses_show(&info->gpus, db, &sheet);
    if (db->warnings)
        cn_sheet_group(&sheet, "Warnings");
    for (const struct cn_warning *w = db->warnings; w; w = w->next)
        cn_sheet_add(&sheet, "warning", "%s", w->text);
    cn_sheet_print(&sheet, has_color, text);
    cn_sheet_done(&sheet);
}

static void list_files(const struct database_info *info, struct cn_facts *facts)
{
    cn_facts_array(facts, "files");
    for (size_t i = 0; i < info->file_count; i++) {
        const struct database_file *file = &info->files[i];

        cn_facts_object(facts, NULL);
        cn_facts_str(facts, "name", file->name);
        cn_facts_bool(facts, "is_folder", file->is_folder);
        cn_facts_u64(facts, "file_count", file->usage.file_count);
        cn_facts_u64(facts, "size_bytes", file->usage.bytes);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
    cn_facts_u64(facts, "size_bytes", info->usage.bytes);
}

static void list_ids(const struct database_info *info,
                     const struct cn_thread_shape *shape, struct cn_facts *facts)
{
    const struct cn_kinds *kinds = &info->db->kinds;

    cn_facts_array(facts, "ids");
    for (size_t i = 0; i < shape->id_count; i++) {
        const struct cn_id_range *id = &shape->ids[i];

        cn_facts_object(facts, NULL);
        cn_facts_str(facts, "kind", id->kind < kinds->count ? kinds->list[id->kind] : "");
        cn_facts_u64(facts, "first", id->first);
        cn_facts_u64(facts, "last", id->last);
        if (id->is_physical)
            cn_facts_u64(facts, "physical", id->physical);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_fact(void *arg, const char *key, const char *text, uint64_t number)
{
    if (text)
        cn_facts_str(arg, key, text);
    else
        cn_facts_u64(arg, key, number);
}

static void list_origin(const struct database_info *info, struct cn_facts *facts)
{
    if (!cn_origin_is_known(&info->db->origin))
        return;
    cn_facts_object(facts, "origin");
    cn_origin_each(&info->db->origin, list_fact, facts);
    cn_facts_end(facts);
}

static void list_header_line(void *arg, const char *name, const char *text)
{
    cn_facts_str(arg, name, text);
}

/* The header as people read it, the same in all exports. */
static void list_header(const struct database_info *info, struct cn_facts *facts)
{
    cn_facts_object(facts, "header");
    cn_header_each(&info->header, list_header_line, facts);
    cn_facts_end(facts);
}

static void list_measured(const struct database_info *info, struct cn_facts *facts)
{
    if (!info->opened->format->is_measured)
        return;
    cn_facts_u64(facts, "profile_count", info->opened->about.analysis.profile_count);
    cn_facts_u64(facts, "unreadable_profile_count",
                 info->opened->about.analysis.unreadable_count);
    cn_facts_array(facts, "modules");
    for (uint32_t i = 0; i < info->db->module_count; i++)
        cn_facts_str(facts, NULL, module_path(info, i));
    cn_facts_end(facts);
}

static void list_threads(const struct database_info *info, struct cn_facts *facts)
{
    const struct cn_overview *overview = &info->overview;

    cn_facts_u64(facts, "thread_count", overview->thread_count);
    cn_facts_array(facts, "identities");
    for (size_t i = 0; i < overview->shape_count; i++) {
        const struct cn_thread_shape *shape = &overview->shapes[i];

        cn_facts_object(facts, NULL);
        cn_facts_u64(facts, "thread_count", shape->thread_count);
        list_ids(info, shape, facts);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_statistics(const struct cn_metrics *metrics,
                            const struct cn_metric *metric, struct cn_facts *facts)
{
    cn_facts_array(facts, "statistics");
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];

        cn_facts_object(facts, NULL);
        cn_facts_str(facts, "scope", metrics->scopes[statistic->scope].name);
        cn_facts_str(facts, "formula", statistic->formula);
        cn_facts_str(facts, "combine", cn_combine_name(statistic->combine));
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_metrics(const struct database_info *info, struct cn_facts *facts)
{
    const struct cn_metrics *metrics = &info->db->metrics;

    cn_facts_array(facts, "metrics");
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        cn_facts_object(facts, NULL);
        cn_facts_str(facts, "name", metric->name);
        cn_facts_array(facts, "scopes");
        for (size_t k = 0; k < metric->instance_count; k++)
            cn_facts_str(facts, NULL, metrics->scopes[metric->instances[k].scope].name);
        cn_facts_end(facts);
        list_statistics(metrics, metric, facts);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_columns(const struct database_info *info, struct cn_facts *facts)
{
    const struct cn_taxonomy *taxonomy = &info->db->taxonomy;

    cn_facts_array(facts, "columns");
    for (size_t i = 0; i < taxonomy->root_count; i++) {
        const struct cn_presented_metric *metric = &taxonomy->roots[i];

        cn_facts_object(facts, NULL);
        cn_facts_str(facts, "name", metric->name);
        cn_facts_bool(facts, "is_visible", metric->is_visible);
        cn_facts_array(facts, "variants");
        for (size_t k = 0; k < metric->variant_count; k++)
            cn_facts_str(facts, NULL, metric->variants[k].name);
        cn_facts_end(facts);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_contents(const struct database_info *info, struct cn_facts *facts)
{
    const struct cn_overview *overview = &info->overview;
    const struct cn_database *db = info->db;

    cn_facts_array(facts, "entry_points");
    for (size_t i = 0; i < overview->entry_count && i < CN_OVERVIEW_ENTRIES_MAX; i++)
        cn_facts_str(facts, NULL, overview->entries[i]);
    cn_facts_end(facts);
    cn_facts_u64(facts, "context_id_count", db->context_limit);
    cn_facts_u64(facts, "function_count", db->function_count);
    cn_facts_u64(facts, "source_file_count", db->file_count);
    cn_facts_u64(facts, "module_count", db->module_count);
    cn_facts_u64(facts, "value_count", overview->value_count);
    cn_facts_u64(facts, "summary_value_count", overview->summary_value_count);
    cn_facts_bool(facts, "has_timelines", db->has_timelines);
    if (db->has_timelines) {
        cn_facts_u64(facts, "timeline_count", overview->timeline_count);
        cn_facts_u64(facts, "sample_count", overview->sample_count);
        cn_facts_u64(facts, "begin_ns", db->begin_ns);
        cn_facts_u64(facts, "duration_ns", duration_ns(db));
        if (db->timeline_resolution_ns > 0)
            cn_facts_u64(facts, "timeline_resolution_ns", db->timeline_resolution_ns);
    }
    cn_facts_array(facts, "warnings");
    for (const struct cn_warning *w = db->warnings; w; w = w->next)
        cn_facts_str(facts, NULL, w->text);
    cn_facts_end(facts);
}

static void list_facts(const struct cn_args *args, const struct database_info *info)
{
    struct cn_facts facts;

    cn_facts_begin(&facts, cn_cli_format(args));
    cn_facts_str(&facts, "title", info->db->title);
    cn_facts_str(&facts, "description", info->db->description);
    cn_facts_str(&facts, "format", info->opened->format->name);
    cn_facts_str(&facts, "path", info->path);
    list_origin(info, &facts);
    list_header(info, &facts);
    list_files(info, &facts);
    list_measured(info, &facts);
    list_threads(info, &facts);
    list_metrics(info, &facts);
    list_columns(info, &facts);
    list_contents(info, &facts);
    cn_gpu_uses_list(&info->gpus, info->db, &facts);
    cn_cli_print_facts(args, &facts);
}

static bool build(struct database_info *info, struct cn_error *err)
{
    info->db = info->opened->db;
    info->path = info->opened->folder.path || info->opened->spool ? info->opened->path
                                                                  : info->db->path;
    if (!cn_overview_build(&info->overview, info->db, err) ||
        !cn_header_describe(&info->header, info->db,
                            info->opened->about.analysis.lost_count, err) ||
        !cn_gpu_uses_find(&info->gpus, info->db, err))
        return cn_fail_in(err, "%s", info->path);
    find_files(info);
    return true;
}

static void release(struct database_info *info)
{
    for (size_t i = 0; i < info->file_count; i++)
        free(info->files[i].name);
    free(info->files);
    cn_overview_done(&info->overview);
    cn_gpu_uses_done(&info->gpus);
}

bool cn_info_database_add(struct cn_text *text, const struct cn_opened *opened,
                          struct cn_error *err)
{
    struct database_info info = {.opened = opened};
    bool ok = build(&info, err);

    if (ok)
        add_sheet(text, &info, false);
    release(&info);
    return ok;
}

bool cn_info_database(const struct cn_args *args, struct cn_opened *opened,
                      struct cn_error *err)
{
    struct database_info info = {.opened = opened,
                                 .shows_all = cn_args_has(args, "verbose")};
    struct cn_text text = {0};
    bool ok = cn_cli_load(opened, args, CN_CONTEXTS, err) && build(&info, err);

    if (ok && cn_cli_format(args) == CN_TABLE_TEXT) {
        add_sheet(&text, &info, cn_cli_has_color(args));
        cn_cli_print(args, &text);
        cn_text_done(&text);
    } else if (ok) {
        list_facts(args, &info);
    }
    release(&info);
    return ok && cn_cli_check_opened(opened, err);
}
