/* cairn analyze of measurement directories: what hpcprof does. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/run/ranks.h"
#include "cli/analyze/analyze.h"
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

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    for (digits = end; digits > start && strchr("0123456789-", path[digits - 1]);)
        digits--;
    const char *at = path + digits - (sizeof(middle) - 1);
    if (digits - start > sizeof(middle) - 1 && strncmp(at, middle, strlen(middle)) == 0)
        cn_text_printf(text, "%.*s-database%.*s", (int)(at - path - (ptrdiff_t)start),
                       path + start, (int)(end - digits), path + digits);
    else
        cn_text_printf(text, "%.*s-database", (int)(end - start), path + start);
}

/* Rank 0 lists the profiles of the directories for all. */
static bool list_profiles(const struct cn_analyze *a,
                          const struct cn_measured_sources *from, struct cn_text *names,
                          struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < from->count; i++) {
        if (cn_ranks_is_first(a->ranks))
            cn_hpc_profiles_list(from->paths[i], &names[i]);
        ok = cn_ranks_broadcast(a->ranks, &names[i], err);
    }
    return ok;
}

static bool analyse_together(const struct cn_analyze *a, struct cn_analysis *out,
                             struct cn_measured_sources *from, struct cn_error *err)
{
    struct cn_text *names = cn_alloc(from->count, sizeof(*names));
    bool ok = list_profiles(a, from, names, err);

    from->reading.names = names;
    ok = ok && cn_analyze_measurements(out, from, &a->to, err);
    for (size_t i = 0; i < from->count; i++)
        cn_text_done(&names[i]);
    free(names);
    return cn_ranks_agree(a->ranks, ok, err);
}

static bool analyse(struct cn_analyze *a, struct cn_analysis *out, struct cn_arena *arena,
                    struct cn_error *err)
{
    const struct cn_args *args = a->args;
    struct cn_values structs = cn_args_values(args, "structure");
    struct cn_values programs = cn_args_values(args, "only-exe");
    const char **paths = cn_arena_alloc(arena, a->source_count, sizeof(*paths));
    struct cn_measured_sources from = {
        .paths = paths,
        .count = a->source_count,
        .reading = {.structs = structs.list,
                    .struct_count = structs.count,
                    .ignore_structs = cn_args_has(args, "ignore-structs"),
                    .is_foreign = cn_args_has(args, "foreign")},
        .building = {.ranks = a->ranks,
                     .workers = a->to.write.workers,
                     .is_hpcprof_compatible = cn_args_has(args, "hpcprof-compatible"),
                     .title = a->title ? a->title : cn_args_value(args, "name"),
                     .spool_folder = cn_text_str(&a->folder),
                     .only_programs = programs.list,
                     .only_program_count = programs.count},
    };
    bool ok = parse_maps(args, arena, &from.reading, err);

    for (size_t i = 0; i < a->source_count; i++)
        paths[i] = a->sources[i].source;
    for (size_t i = 0; i < structs.count && ok; i++)
        ok = access(structs.list[i], R_OK) == 0 ||
             cn_fail_errno(err, "-S: %s", structs.list[i]);
    parse_statistics(args, &from.building);
    a->to.write.memory_len = SORT_MEMORY_LEN;
    return cn_analyze_agree(a, ok, err) && analyse_together(a, out, &from, err);
}

bool cn_analyze_directories(struct cn_analyze *a, struct cn_analysis *out,
                            struct cn_error *err)
{
    const char *output = cn_args_value(a->args, "output");
    struct cn_arena arena = {0};
    bool ok;

    if (!output)
        add_default_target(&a->default_target, a->sources[0].path);
    ok = cn_analyze_set_target(a, output ? output : cn_text_str(&a->default_target), err);
    ok = cn_analyze_agree(a, ok, err) && analyse(a, out, &arena, err);
    cn_arena_done(&arena);
    return ok;
}
