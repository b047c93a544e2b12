/* cairn analyze of measurement directories: what hpcprof does. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/samples/database.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/run/ranks.h"
#include "cli/database/analyze.h"
#include "cli/database/opened.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "formats/hpctoolkit/meas/open.h"
#include "formats/hpctoolkit/meas/profile/directory.h"

enum { SORT_MEMORY_LEN = 20 * 1024 * 1024 };

static bool parse_maps(const struct cn_args *args, struct cn_arena *arena,
                       struct cn_hpc_meas_options *reading, struct cn_error *err)
{
    struct cn_values values = cn_args_values(args, "replace-path");
    struct cn_path_map *maps = cn_arena_alloc(arena, values.count, sizeof(*maps));

    for (size_t i = 0; i < values.count; i++)
        if (!cn_path_map_parse(cn_arena_strdup(arena, values.list[i]), &maps[i], err))
            return cn_fail_in(err, "-R");
    reading->maps = maps;
    reading->map_count = values.count;
    return true;
}

static void parse_statistics(const struct cn_args *args,
                             struct cn_sampled_options *building)
{
    struct cn_values values = cn_args_values(args, "metric");

    for (size_t i = 0; i < values.count; i++) {
        bool is_all = strcmp(values.list[i], "stats") == 0;

        if (is_all || strcmp(values.list[i], "normal") == 0)
            building->statistics |= CN_SAMPLED_NORMAL;
        if (is_all || strcmp(values.list[i], "extrema") == 0)
            building->statistics |= CN_SAMPLED_EXTREMA;
        building->without_roots = strcmp(values.list[i], "none") == 0;
    }
}

/* The name that hpcprof would choose: "hpctoolkit-app-measurements-7" becomes
 * "hpctoolkit-app-database-7", any other NAME becomes "NAME-database". It is in the current
 * folder, wherever the measurements are. */
static void add_default_target(struct cn_text *text, const char *path)
{
    static const char middle[] = "-measurements";
    size_t end = strlen(path), start, digits;
    const char *at;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    for (digits = end; digits > start && strchr("0123456789-", path[digits - 1]);)
        digits--;
    at = path + digits - (sizeof(middle) - 1);
    if (digits - start > sizeof(middle) - 1 && strncmp(at, middle, strlen(middle)) == 0)
        cn_text_printf(text, "%.*s-database%.*s", (int)(at - path - (ptrdiff_t)start),
                       path + start, (int)(end - digits), path + digits);
    else
        cn_text_printf(text, "%.*s-database", (int)(end - start), path + start);
}

static void tell_result(struct cn_analysis *a, const struct cn_opened_database *opened)
{
    struct cn_text items = {0};

    for (const struct cn_warning *w = opened->db->warnings; w; w = w->next) {
        cn_cli_warn(a->args, "%s", w->text);
        a->is_damaged |= w->is_damage;
    }
    cn_count_print_of(&items, opened->measured.totals.value_count, "value");
    cn_text_str_add(&items, ", ");
    cn_count_print_of(&items, opened->measured.totals.sample_count, "sample");
    cn_analysis_tell(a, opened->db->context_limit, opened->measured.totals.profile_count,
                     cn_text_str(&items), "");
    cn_text_done(&items);
}

/* Rank 0 lists the profiles of the directories for all. */
static bool list_profiles(const struct cn_analysis *a, struct cn_values paths,
                          struct cn_text *names, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < paths.count; i++) {
        if (cn_ranks_is_first(a->ranks))
            cn_hpc_profiles_list(paths.list[i], &names[i]);
        ok = cn_ranks_broadcast(a->ranks, &names[i], err);
    }
    return ok;
}

static bool open_together(const struct cn_analysis *a, struct cn_opened_database *opened,
                          struct cn_hpc_meas_options *reading,
                          struct cn_sampled_options *building, struct cn_error *err)
{
    struct cn_values paths = {a->args->operands, a->args->operand_count};
    struct cn_text *names = cn_alloc(paths.count, sizeof(*names));
    bool ok = list_profiles(a, paths, names, err);

    reading->names = names;
    ok = ok && cn_opened_database_analyse(opened, a->args, paths, reading, building, err);
    reading->names = NULL;
    for (size_t i = 0; i < paths.count; i++)
        cn_text_done(&names[i]);
    free(names);
    return cn_ranks_agree(a->ranks, ok, err);
}

static bool analyse(struct cn_analysis *a, struct cn_arena *arena, struct cn_error *err)
{
    const struct cn_args *args = a->args;
    struct cn_values structs = cn_args_values(args, "structure");
    struct cn_values programs = cn_args_values(args, "only-exe");
    struct cn_hpc_meas_options reading = {
        .structs = structs.list,
        .struct_count = structs.count,
        .ignore_structs = cn_args_has(args, "ignore-structs"),
        .is_foreign = cn_args_has(args, "foreign"),
        .without_sources = a->without_sources,
        .without_traces = a->without_timelines,
    };
    struct cn_sampled_options building = {
        .ranks = a->ranks,
        .workers = a->workers,
        .is_hpcprof_compatible = cn_args_has(args, "hpcprof-compatible"),
        .is_strict = a->is_strict,
        .title = a->title ? a->title : cn_args_value(args, "name"),
        .spool_folder = cn_text_str(&a->folder),
        .only_programs = programs.list,
        .only_program_count = programs.count,
    };
    struct cn_opened_database opened = {0};
    bool ok = parse_maps(args, arena, &reading, err);

    for (size_t i = 0; i < structs.count && ok; i++)
        ok = access(structs.list[i], R_OK) == 0 ||
             cn_fail_errno(err, "-S: %s", structs.list[i]);
    parse_statistics(args, &building);
    ok = cn_analysis_agree(a, ok, err) &&
         open_together(a, &opened, &reading, &building, err);
    cn_bar_begin(&a->bar, args);
    ok = ok && cn_analysis_write(a, opened.db, SORT_MEMORY_LEN, err);
    cn_bar_end(&a->bar);
    if (ok)
        tell_result(a, &opened);
    cn_opened_database_close(&opened);
    return ok;
}

bool cn_analyze_measurements(struct cn_analysis *a, struct cn_error *err)
{
    const char *output = cn_args_value(a->args, "output");
    struct cn_text target = {0};
    struct cn_arena arena = {0};
    bool ok;

    if (!output)
        add_default_target(&target, cn_args_operand(a->args, 0));
    ok = cn_analysis_set_target(a, output ? output : cn_text_str(&target), err);
    ok = cn_analysis_agree(a, ok, err) && analyse(a, &arena, err);
    cn_text_done(&target);
    cn_arena_done(&arena);
    return ok;
}
