#include "cli/views/processes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"

/* A process, or all that run one program. */
struct shown_process {
    char **selectors; /* as of --thread, one for each process */
    size_t count, capacity;
    char *name; /* of its main thread, else of its first */
    double cost;
};

struct shown_processes {
    struct shown_process *list;
    size_t count, capacity;
    struct cn_names selectors;
};

static const char *kind_of(const struct cn_kinds *kinds, const struct cn_identity *id)
{
    return id->kind < kinds->count ? kinds->list[id->kind] : "";
}

static uint64_t number_of(const struct cn_identity *id)
{
    return id->is_physical ? id->physical : id->logical;
}

/* "PROCESS 12", "NODE 1 RANK 0"; "" if threads have no process. */
static void print_selector(const struct cn_kinds *kinds,
                           const struct cn_identity_tuple *identity, struct cn_text *text)
{
    static const char *const ends[] = {"PROCESS", "RANK"};

    for (size_t i = 0; i < identity->count; i++) {
        const char *kind = kind_of(kinds, &identity->ids[i]);

        cn_text_printf(text, "%s%s %" PRIu64, i > 0 ? " " : "", kind,
                       number_of(&identity->ids[i]));
        if (cn_list_has(ends, CN_COUNT_OF(ends), kind))
            return;
    }
    cn_text_clear(text);
}

/* Its thread has the number of the process. */
static bool is_main_thread(const struct cn_identity_tuple *identity)
{
    return identity->count >= 2 && number_of(&identity->ids[identity->count - 1]) ==
                                       number_of(&identity->ids[identity->count - 2]);
}

static bool find_processes(struct shown_processes *out, struct cn_database *db,
                           struct cn_error *err)
{
    struct cn_text selector = {0};
    bool ok = true;

    for (uint32_t i = 1; ok && i < db->profile_count; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(db, i, &profile, err);
        cn_text_clear(&selector);
        if (ok && !profile.is_summary)
            print_selector(&db->kinds, &profile.identity, &selector);
        if (!ok || selector.len == 0)
            continue;
        uint32_t at = cn_names_add(&out->selectors, cn_text_str(&selector));
        if (at == out->count)
            CN_PUSH(out->list, out->count, out->capacity, (struct shown_process){0});
        struct shown_process *process = &out->list[at];
        if (process->count == 0)
            CN_PUSH(process->selectors, process->count, process->capacity,
                    cn_strdup(cn_text_str(&selector)));
        if (profile.name && (!process->name || is_main_thread(&profile.identity))) {
            free(process->name);
            process->name = cn_strdup(profile.name);
        }
    }
    cn_text_done(&selector);
    return ok;
}

static void release_one(struct shown_process *process)
{
    for (size_t i = 0; i < process->count; i++)
        free(process->selectors[i]);
    free(process->selectors);
    free(process->name);
}

/* Make processes of one name one; those without a name stay apart. */
static void merge_programs(struct shown_processes *processes)
{
    struct cn_names names = {0};
    size_t count = 0;

    for (size_t i = 0; i < processes->count; i++) {
        struct shown_process *from = &processes->list[i];
        const char *name = from->name ? from->name : from->selectors[0];
        uint32_t at = cn_names_add(&names, name);

        if (at == count) {
            processes->list[count++] = *from;
            continue;
        }
        struct shown_process *to = &processes->list[at];
        CN_PUSH(to->selectors, to->count, to->capacity, from->selectors[0]);
        from->count = 0;
        release_one(from);
    }
    processes->count = count;
    cn_names_done(&names);
}

static void release(struct shown_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        release_one(&processes->list[i]);
    free(processes->list);
    cn_names_done(&processes->selectors);
}

static double total_of(const struct cn_costs *costs)
{
    double total = costs->column_count > 0 ? costs->columns[0].total : NAN;

    return isnan(total) ? 0 : total;
}

static int compare(const void *left, const void *right)
{
    const struct shown_process *a = left, *b = right;

    return a->cost > b->cost   ? -1
           : a->cost < b->cost ? 1
                               : strcmp(a->selectors[0], b->selectors[0]);
}

static void print_title(const struct shown_process *process, const struct cn_costs *costs,
                        double whole, bool is_first)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%s%s%s", is_first ? "" : "\n",
                   process->name ? process->name : "", process->name ? ", " : "");
    if (process->count == 1) {
        cn_text_str_add(&text, process->selectors[0]);
    } else {
        cn_count_print(&text, process->count);
        cn_text_str_add(&text, " processes");
    }
    cn_text_str_add(&text, ": ");
    cn_cost_print(&text, costs->columns[0].metric, process->cost);
    if (whole > 0)
        cn_text_printf(&text, " (%.1f %%)", 100 * process->cost / whole);
    (void)printf("%s\n", cn_text_str(&text));
    cn_text_done(&text);
}

static bool select_one(struct cn_view_setup *setup, const struct cn_args *args,
                       const struct shown_process *process, struct cn_error *err)
{
    struct cn_values threads = {(const char *const *)process->selectors, process->count};

    return cn_view_setup_select(setup, args, threads, err);
}

static bool show_all(struct shown_processes *processes, struct cn_view_setup *setup,
                     const struct cn_args *args, cn_process_show show, void *arg,
                     struct cn_error *err)
{
    double whole = total_of(&setup->costs);
    bool is_first = true, ok = true;

    for (size_t i = 0; ok && i < processes->count; i++) {
        ok = select_one(setup, args, &processes->list[i], err);
        if (ok)
            processes->list[i].cost = total_of(&setup->costs);
    }
    if (ok)
        qsort(processes->list, processes->count, sizeof(*processes->list), compare);
    for (size_t i = 0; ok && i < processes->count; i++) {
        if (processes->list[i].cost <= 0)
            continue;
        ok = select_one(setup, args, &processes->list[i], err);
        if (ok) {
            print_title(&processes->list[i], &setup->costs, whole, is_first);
            ok = show(setup, arg, err);
        }
        is_first = false;
    }
    return ok;
}

static bool check_alone(const struct cn_args *args, const char *name,
                        struct cn_error *err)
{
    static const char *const others[] = {"thread", "per-thread"};

    if (cn_cli_format(args) != CN_TABLE_TEXT)
        return cn_fail(err, CN_ERR_USAGE,
                       "--%s is for text; --thread 'PROCESS 12' chooses one", name);
    for (size_t i = 0; i < CN_COUNT_OF(others); i++)
        if (cn_args_has(args, others[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s and --%s exclude each other", name,
                           others[i]);
    return true;
}

bool cn_view_each_process(struct cn_view_setup *setup, const struct cn_args *args,
                          cn_process_show show, void *arg, struct cn_error *err)
{
    const char *group = cn_args_value(args, "group");
    bool by_program = group && strcmp(group, "program") == 0;
    bool is_group = by_program || (group && strcmp(group, "process") == 0);
    const char *name = by_program ? "group program"
                       : is_group ? "group process"
                                  : "per-process";
    struct shown_processes processes = {0};
    bool ok;

    if (!is_group && !cn_args_has(args, "per-process"))
        return show(setup, arg, err);
    if (!check_alone(args, name, err))
        return false;
    ok = find_processes(&processes, setup->db, err);
    if (ok && processes.count == 0)
        ok = cn_fail(err, CN_ERR_USAGE, "--%s: threads of %s have no process", name,
                     setup->opened.path);
    if (ok && by_program)
        merge_programs(&processes);
    ok = ok && show_all(&processes, setup, args, show, arg, err);
    release(&processes);
    return ok;
}
