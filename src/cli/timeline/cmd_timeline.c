/* cairn timeline: threads over time, drawn with a letter for each function. */

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/timeline/occupancy.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/sort.h"
#include "base/text.h"
#include "cli/print/terminal.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/timeline/print.h"
#include "cli/views/options.h"
#include "model/contexts/database.h"
#include "model/contexts/identity.h"

enum {
    WIDTH_DEFAULT = 100, /* off a terminal */
    WIDTH_MIN = 40,
    WIDTH_MAX = 4000,
    COLUMNS_MIN = 20,
    ROWS_DEFAULT = 64,
    ROWS_MAX = 10000,
    DEPTH_MAX = 10000,
};

/* Threads that --thread selects: those that match any of the filters. */
struct timeline_selection {
    struct cn_thread_filter *filters;
    size_t count; /* 0: every thread */
};

static bool is_selected(const struct timeline_selection *selection, uint32_t index,
                        const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < selection->count; i++) {
        if (cn_thread_filter_matches(&selection->filters[i], index, identity))
            return true;
    }
    return selection->count == 0;
}

static bool add_profile(struct cn_timeline_view *view,
                        const struct timeline_selection *selection, uint32_t index,
                        struct cn_error *err)
{
    struct cn_profile profile;
    struct cn_timeline timeline;

    if (!cn_database_profile(view->db, index, &profile, err))
        return false;
    if (profile.is_summary || !is_selected(selection, index, &profile.identity))
        return true;
    if (!cn_timeline_open(view->db, index, &timeline, err))
        return false;
    if (timeline.count == 0) {
        view->without_samples_count++;
        return true;
    }
    CN_PUSH(view->threads, view->thread_count, view->thread_capacity,
            (struct cn_timeline_row){
                .profile = index, .identity = profile.identity, .name = profile.name});
    return true;
}

static int compare_ids(const struct cn_identity *a, const struct cn_identity *b)
{
    int order = cn_compare_u64(a->kind, b->kind);

    order = order ? order : cn_compare_u64(a->logical, b->logical);
    return order ? order : cn_compare_u64(a->physical, b->physical);
}

static int compare_threads(const void *a, const void *b)
{
    const struct cn_timeline_row *x = a, *y = b;
    int order = 0;

    for (size_t i = 0; i < x->identity.count && i < y->identity.count && !order; i++)
        order = compare_ids(&x->identity.ids[i], &y->identity.ids[i]);
    order = order ? order : cn_compare_u64(x->identity.count, y->identity.count);
    return order ? order : cn_compare_u64(x->profile, y->profile);
}

static bool add_profiles(struct cn_timeline_view *view,
                         const struct timeline_selection *selection, struct cn_error *err)
{
    for (uint32_t i = 0; i < view->db->profile_count; i++) {
        if (!add_profile(view, selection, i, err))
            return cn_fail_in(err, "%s", view->path);
    }
    if (view->thread_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no thread%s has samples", view->path,
                       selection->count > 0 ? " that --thread selects" : "");
    qsort(view->threads, view->thread_count, sizeof(*view->threads), compare_threads);
    return true;
}

static bool parse_selection(const struct cn_timeline_view *view,
                            struct timeline_selection *selection, struct cn_error *err)
{
    struct cn_values threads = cn_args_values(view->args, "thread");

    selection->filters = cn_alloc(threads.count, sizeof(*selection->filters));
    for (; selection->count < threads.count; selection->count++)
        if (!cn_thread_filter_parse(&selection->filters[selection->count],
                                    threads.list[selection->count], &view->db->kinds,
                                    err))
            return false;
    return true;
}

static bool select_threads(struct cn_timeline_view *view, struct cn_error *err)
{
    struct timeline_selection selection = {0};
    uint64_t row_max;

    if (!cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &row_max, err))
        return false;
    bool ok =
        parse_selection(view, &selection, err) && add_profiles(view, &selection, err);
    view->row_count = view->thread_count < row_max ? view->thread_count : (size_t)row_max;
    for (size_t i = 0; i < selection.count; i++)
        cn_thread_filter_done(&selection.filters[i]);
    free(selection.filters);
    return ok;
}

static bool select_range(struct cn_timeline_view *view, struct cn_error *err)
{
    const char *text = cn_args_value(view->args, "time-range");

    if (view->db->end_ns <= view->db->begin_ns)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: all samples have the same time",
                       view->path);
    return cn_view_time_parse(view->db, "time-range", text ? text : "~", &view->begin_ns,
                              &view->end_ns, err);
}

static void find_common_ids(struct cn_timeline_view *view)
{
    const struct cn_identity_tuple *first = &view->threads[0].identity;
    size_t common = first->count;

    for (size_t i = 0; i < view->row_count; i++) {
        const struct cn_identity_tuple *other = &view->threads[i].identity;
        size_t same = 0;

        while (same < common && same + 1 < other->count &&
               compare_ids(&first->ids[same], &other->ids[same]) == 0)
            same++;
        common = same;
    }
    view->common_id_count = common;
}

static char *make_label(const struct cn_timeline_view *view, size_t row)
{
    const struct cn_identity_tuple *identity = &view->threads[row].identity;
    struct cn_identity_tuple rest = {0};
    struct cn_text text = {0}, label = {0};

    for (size_t i = view->common_id_count; i < identity->count; i++)
        rest.ids[rest.count++] = identity->ids[i];
    if (rest.count > 0)
        cn_identity_print(&rest, &view->db->kinds, &text);
    else
        cn_text_printf(&text, "profile %" PRIu32, view->threads[row].profile);
    if (view->threads[row].name)
        cn_text_printf(&text, " %s", view->threads[row].name);
    cn_utf8_add_printable(&label, cn_text_str(&text));
    cn_text_done(&text);
    return label.chars;
}

static void make_labels(struct cn_timeline_view *view)
{
    find_common_ids(view);
    for (size_t i = 0; i < view->row_count; i++) {
        view->threads[i].label = make_label(view, i);
        size_t width = cn_utf8_width(view->threads[i].label);
        if (width > view->label_width)
            view->label_width = width;
    }
}

static bool choose_width(const struct cn_timeline_view *view, uint32_t *columns,
                         struct cn_error *err)
{
    size_t otherwise =
        isatty(STDOUT_FILENO) ? cn_terminal_columns(STDOUT_FILENO) : WIDTH_DEFAULT;
    uint64_t span_ns = view->end_ns - view->begin_ns;
    uint64_t label_width = view->label_width + 1, width;

    if (!cn_args_u64(view->args, "width", WIDTH_MIN, WIDTH_MAX, otherwise, &width, err))
        return false;
    width = width > label_width ? width - label_width : 0;
    if (width < COLUMNS_MIN)
        width = COLUMNS_MIN;
    *columns = (uint32_t)(width < span_ns ? width : span_ns);
    return true;
}

static bool draw(struct cn_timeline_view *view, struct cn_error *err)
{
    uint32_t *profiles = cn_alloc(view->row_count, sizeof(*profiles));
    struct cn_occupancy_request request = {
        .profiles = profiles,
        .profile_count = view->row_count,
        .begin_ns = view->begin_ns,
        .end_ns = view->end_ns,
        .prefers_running = cn_cli_format(view->args) == CN_TABLE_TEXT,
    };
    uint64_t depth = 0;
    bool ok;

    for (size_t i = 0; i < view->row_count; i++)
        profiles[i] = view->threads[i].profile;
    ok = cn_args_u64(view->args, "depth", 1, DEPTH_MAX, 0, &depth, err) &&
         choose_width(view, &request.column_count, err);
    request.depth = (uint32_t)depth;
    ok = ok &&
         (cn_occupancy_build(&view->occupancy, view->db, &view->frames, &request, err) ||
          cn_fail_in(err, "%s", view->path));
    free(profiles);
    return ok;
}

static bool show(struct cn_timeline_view *view, struct cn_error *err)
{
    if (!cn_view_open(&view->opened, view->args, view->path, NULL, err))
        return false;
    view->db = view->opened.db;
    if (!view->db->has_timelines)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no timelines", view->path);
    if (!select_threads(view, err) || !select_range(view, err))
        return false;
    if (!cn_frames_build(&view->frames, view->db, NULL, err))
        return cn_fail_in(err, "%s", view->path);
    make_labels(view);
    if (!draw(view, err))
        return false;
    if (cn_cli_format(view->args) == CN_TABLE_TEXT)
        cn_timeline_print(view);
    else
        cn_timeline_print_table(view);
    if (view->row_count < view->thread_count)
        cn_cli_say(
            view->args, "%zu more %s not shown; use --rows or --thread",
            view->thread_count - view->row_count,
            cn_plural(view->thread_count - view->row_count, "thread is", "threads are"));
    if (view->without_samples_count > 0)
        cn_cli_detail(view->args, "%" PRIu64 " %s not shown", view->without_samples_count,
                      cn_plural(view->without_samples_count, "thread without samples is",
                                "threads without samples are"));
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_timeline_view view = {.args = args};
    bool ok = cn_data_path(args, cn_args_find_operand(args, 0), &view.path, err) &&
              show(&view, err) && cn_cli_check_opened(&view.opened, err);

    for (size_t i = 0; i < view.row_count; i++)
        free(view.threads[i].label);
    free(view.threads);
    cn_occupancy_done(&view.occupancy);
    cn_frames_done(&view.frames);
    cn_opened_close(&view.opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("depth", 'd', "N",
              "cut stacks at this call depth (default: the first one with more than one "
              "function)"),
    CN_OPTION("time-range", 'r', "FROM~TO",
              "only this time, as offsets from the start: 1.5s~2s, 10%~20%, ~300ms"),
    CN_VIEW_THREAD_OPTION('t'),
    CN_OPTION("rows", 0, "N", "show at most N threads (default: 64)"),
    CN_OPTION("width", 'w', "N", "use N columns (default: the terminal's, or 100)"),
    CN_OPTION_FORMAT,
    CN_RECORDING_RAW_OPTION,
    CN_VIEW_LENS_OPTIONS,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn timeline run.db", "show what each thread did when"},
    {"cairn timeline run.db --depth 5 --time-range 40%~60%", "zoom in"},
    {"cairn timeline run.db --thread 'RANK 0-3 THREAD 0' --format csv",
     "print rows of thread, slice and function"},
    {0},
};

const struct cn_command cn_cmd_timeline = {
    .name = "timeline",
    .operands = "[DB]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "draw threads over time",
    .description =
        "Draws a row per thread and a letter per slice of time: the function that took "
        "most of the slice at the chosen call depth. Depth 1 is what the entry point "
        "calls; where the stack is less deep, the innermost function counts. The legend "
        "lists the letters with their share of the time of the threads shown; '+' stands "
        "for all functions without a letter, '.' for a thread that was blocked for all "
        "of "
        "the slice, a blank for no data. A thread that waits shows its function if the "
        "database knows that it was pre-empted there.\n\n"
        "A sample counts for the time until the next sample of its thread. Calls stand "
        "at "
        "the times at which they were recorded, without a correction for the cost of "
        "recording. JSON and CSV "
        "have a row per thread and slice, with times in nanoseconds from the start of "
        "the timelines." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
