#include "cli/database/analyze_measurements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/samples/sampled_database.h"
#include "base/alloc.h"
#include "base/files/disk_usage.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "cli/database/debug_lines.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "cli/shell/target.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "formats/hpctoolkit/meas/open.h"
#include "model/contexts/database.h"

enum {
    JOBS_MAX = 1024,
    SORT_MEMORY_LEN = 20 * 1024 * 1024,
    DAMAGE_SHOWN_MAX = 20, /* profiles named before the rest is only counted */
};

static const char *const own_options[] = {
    "structure", "replace-path",   "only-exe",           "name", "metric", "foreign",
    "no-traces", "ignore-structs", "hpcprof-compatible",
};

static const char *const common_options[] = {
    "output", "force", "threads", "title",   "no-trace", "no-source", "strict",
    "no-mpi", "help",  "quiet",   "verbose", "color",    "no-pager",
};

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static bool check_options(const struct cn_args *args, bool for_measurements,
                          struct cn_error *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const char *name = args->given[i].option->name;
        bool is_own =
            is_among(name, own_options, sizeof(own_options) / sizeof(*own_options));
        bool is_common = is_among(name, common_options,
                                  sizeof(common_options) / sizeof(*common_options));

        if (for_measurements && !is_own && !is_common)
            return cn_fail(err, CN_ERR_USAGE, "--%s is for recordings, not measurements",
                           name);
        if (!for_measurements && is_own)
            return cn_fail(err, CN_ERR_USAGE, "--%s is for measurements, not recordings",
                           name);
    }
    return true;
}

bool cn_analyze_finds_measurements(const struct cn_args *args, bool *found,
                                   struct cn_error *err)
{
    size_t count = cn_args_count(args), measured_count = 0;

    for (size_t i = 0; i < count; i++)
        measured_count += cn_hpc_meas_probe(cn_args_operand(args, i));
    if (measured_count > 0 && measured_count < count)
        return cn_fail(err, CN_ERR_USAGE,
                       "measurements and other data cannot be analysed together");
    if (!check_options(args, measured_count > 0, err))
        return false;
    *found = measured_count > 0;
    return true;
}

struct analysis {
    const struct cn_args *args;
    const char *target;
    struct cn_text default_target;
    char *folder; /* that the target is in */
    const char **structs, **programs;
    char **map_texts;
    struct cn_path_map *maps;
    struct cn_hpc_meas_options reading;
    struct cn_sampled_options building;
    struct cn_hpc_lines lines;
    struct cn_bar bar;
    size_t damage_count;
    uint64_t begin_ns;
};

static const char **list_values(const struct cn_args *args, const char *name,
                                size_t *count)
{
    const char **list;

    *count = cn_args_value_count(args, name);
    list = cn_alloc(*count, sizeof(*list));
    for (size_t i = 0; i < *count; i++)
        list[i] = cn_args_value_at(args, name, i);
    return list;
}

static bool parse_maps(struct analysis *a, struct cn_error *err)
{
    size_t count = cn_args_value_count(a->args, "replace-path");

    a->maps = cn_alloc(count, sizeof(*a->maps));
    a->map_texts = cn_alloc(count, sizeof(*a->map_texts));
    a->reading.maps = a->maps;
    for (size_t i = 0; i < count; i++) {
        a->map_texts[i] = cn_strdup(cn_args_value_at(a->args, "replace-path", i));
        a->reading.map_count++;
        if (!cn_path_map_parse(a->map_texts[i], &a->maps[i], err))
            return cn_fail_in(err, "-R");
    }
    return true;
}

static void parse_statistics(struct analysis *a)
{
    size_t count = cn_args_value_count(a->args, "metric");

    for (size_t i = 0; i < count; i++) {
        const char *value = cn_args_value_at(a->args, "metric", i);
        bool is_all = strcmp(value, "stats") == 0;

        if (is_all || strcmp(value, "normal") == 0)
            a->building.statistics |= CN_SAMPLED_NORMAL;
        if (is_all || strcmp(value, "extrema") == 0)
            a->building.statistics |= CN_SAMPLED_EXTREMA;
        a->building.without_roots = strcmp(value, "none") == 0;
    }
}

static void on_damage(void *arg, const char *text)
{
    struct analysis *a = arg;

    if (a->damage_count++ < DAMAGE_SHOWN_MAX)
        cn_cli_warn(a->args, "%s", text);
}

static bool parse_options(struct analysis *a, struct cn_error *err)
{
    const struct cn_args *args = a->args;
    const char *title = cn_args_value(args, "title");
    uint64_t jobs;

    if (!cn_args_u64(args, "threads", 1, JOBS_MAX, cn_pool_default_workers(), &jobs, err))
        return false;
    a->structs = list_values(args, "structure", &a->reading.struct_count);
    a->reading.structs = a->structs;
    for (size_t i = 0; i < a->reading.struct_count; i++)
        if (access(a->structs[i], R_OK) < 0)
            return cn_fail_errno(err, "-S: %s", a->structs[i]);
    a->reading.ignore_structs = cn_args_has(args, "ignore-structs");
    a->reading.is_foreign = cn_args_has(args, "foreign");
    a->reading.without_sources = cn_args_has(args, "no-source");
    a->reading.without_traces =
        cn_args_has(args, "no-trace") || cn_args_has(args, "no-traces");
    cn_debug_lines_init(&a->lines);
    a->reading.lines = &a->lines;
    a->programs = list_values(args, "only-exe", &a->building.only_program_count);
    a->building.only_programs = a->programs;
    a->building.workers = (unsigned)jobs;
    a->building.is_hpcprof_compatible = cn_args_has(args, "hpcprof-compatible");
    a->building.is_strict = cn_args_has(args, "strict");
    a->building.title = title ? title : cn_args_value(args, "name");
    a->building.progress = &a->bar.progress;
    a->building.on_damage = on_damage;
    a->building.on_damage_arg = a;
    parse_statistics(a);
    return parse_maps(a, err);
}

static char *folder_of(const char *path)
{
    size_t len = strlen(path);
    char *folder;

    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    if (len == 0)
        return cn_strdup(".");
    folder = cn_strdup(path);
    folder[len] = '\0';
    return folder;
}

/* As hpcprof names it: "hpctoolkit-app-measurements-7" becomes
 * "hpctoolkit-app-database-7", anything else "NAME-database". Here, wherever the
 * measurements are. */
static const char *default_target(struct analysis *a)
{
    static const char middle[] = "-measurements";
    const char *path = cn_args_operand(a->args, 0), *at;
    size_t end = strlen(path), start, digits;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    for (digits = end; digits > start && strchr("0123456789-", path[digits - 1]);)
        digits--;
    at = path + digits - (sizeof(middle) - 1);
    if (digits - start > sizeof(middle) - 1 && strncmp(at, middle, strlen(middle)) == 0) {
        cn_text_add(&a->default_target, path + start, (size_t)(at - path) - start);
        cn_text_printf(&a->default_target, "-database%.*s", (int)(end - digits),
                       path + digits);
    } else {
        cn_text_add(&a->default_target, path + start, end - start);
        cn_text_str_add(&a->default_target, "-database");
    }
    return cn_text_str(&a->default_target);
}

static bool check_target(struct analysis *a, struct cn_error *err)
{
    a->target = cn_args_value(a->args, "output");
    if (!a->target)
        a->target = default_target(a);
    if (a->target[0] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "-o is empty: where should the database go?");
    if (!cn_target_check(a->target, cn_format_find("hpctoolkit-v4"),
                         cn_args_has(a->args, "force"), err))
        return false;
    a->folder = folder_of(a->target);
    a->building.spool_folder = a->folder;
    return true;
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    const struct analysis *a = arg;

    cn_cli_warn(a->args, "not kept: %" PRIu64 " %s", count, what);
}

static bool write_database(struct analysis *a, struct cn_database *db,
                           struct cn_error *err)
{
    struct cn_write_options options = {
        .replace = cn_args_has(a->args, "force"),
        .workers = a->building.workers,
        .memory_len = SORT_MEMORY_LEN,
        .progress = &a->bar.progress,
        .on_loss = on_loss,
        .on_loss_arg = a,
    };

    return cn_format_find("hpctoolkit-v4")->write_database(db, a->target, &options, err);
}

static void tell_damage(const struct analysis *a, const struct cn_measurements *m,
                        const struct cn_sampled_totals *totals)
{
    for (const struct cn_warning *w = m->warnings; w; w = w->next)
        cn_cli_warn(a->args, "%s", w->text);
    if (a->damage_count > DAMAGE_SHOWN_MAX)
        cn_cli_warn(a->args, "%zu more profiles are damaged",
                    a->damage_count - DAMAGE_SHOWN_MAX);
    if (totals->unreadable_count > 0)
        cn_cli_warn(a->args, "%zu of %zu profiles cannot be read and are left out",
                    totals->unreadable_count, m->profile_count);
}

static void tell_result(const struct analysis *a, const struct cn_database *db,
                        const struct cn_sampled_totals *totals)
{
    struct cn_disk_usage usage = cn_disk_usage(a->target);
    struct cn_text text = {0};

    cn_count_print_of(&text, db->context_limit, "context");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, totals->profile_count, "thread");
    cn_text_str_add(&text, ", ");
    cn_size_print(&text, usage.bytes);
    cn_cli_say(a->args, "wrote %s: %s", a->target, cn_text_str(&text));
    cn_text_clear(&text);
    cn_count_print_of(&text, totals->value_count, "value");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, totals->sample_count, "sample");
    cn_text_str_add(&text, " in ");
    cn_duration_print(&text, cn_clock_ns() - a->begin_ns);
    cn_cli_detail(a->args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

/* Structure files that cannot be read are damage too: with --strict nothing is
 * written. */
static bool check_warnings(const struct analysis *a, const struct cn_measurements *m,
                           struct cn_error *err)
{
    if (!a->building.is_strict || !m->warnings)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "%s", m->warnings->text);
}

static bool analyse(struct analysis *a, struct cn_measurements *m, struct cn_error *err)
{
    struct cn_sampled_totals totals = {0};
    struct cn_database *db = NULL;
    bool ok;

    cn_bar_begin(&a->bar, a->args);
    ok = cn_sampled_database_build(&db, m, &a->building, &totals, err) &&
         cn_ranks_agree(a->building.ranks, check_warnings(a, m, err), err) &&
         write_database(a, db, err);
    cn_bar_end(&a->bar);
    if (ok) {
        tell_damage(a, m, &totals);
        tell_result(a, db, &totals);
    }
    cn_database_close(db);
    return ok;
}

static void release(struct analysis *a)
{
    for (size_t i = 0; i < a->reading.map_count; i++)
        free(a->map_texts[i]);
    free(a->map_texts);
    free(a->maps);
    free(a->structs);
    free(a->programs);
    free(a->folder);
    cn_text_done(&a->default_target);
    cn_debug_lines_done(&a->lines);
}

bool cn_analyze_measurements(const struct cn_args *args, struct cn_ranks *ranks,
                             struct cn_error *err)
{
    struct analysis a = {
        .args = args, .begin_ns = cn_clock_ns(), .building.ranks = ranks};
    struct cn_measurements *m = NULL;
    size_t count = cn_args_count(args);
    const char **paths = cn_alloc(count, sizeof(*paths));
    bool ok;

    for (size_t i = 0; i < count; i++)
        paths[i] = cn_args_operand(args, i);
    ok = parse_options(&a, err) && check_target(&a, err) &&
         cn_hpc_meas_open(&m, paths, count, &a.reading, err);
    ok = cn_ranks_agree(ranks, ok, err) && analyse(&a, m, err);
    cn_measurements_close(m);
    release(&a);
    free(paths);
    return ok;
}
