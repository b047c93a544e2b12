/* cairn timeline: threads over time, drawn with a letter for each function. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/frames.h"
#include "analyze/occupancy.h"
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/quantity.h"
#include "cli/terminal.h"
#include "cli/time_axis.h"
#include "formats/formats.h"
#include "model/database.h"
#include "model/identity.h"

enum {
    WIDTH_DEFAULT = 100, /* off a terminal */
    WIDTH_MIN = 40,
    WIDTH_MAX = 10000,
    COLUMNS_MIN = 20,
    ROWS_DEFAULT = 64,
    ROWS_MAX = 100000,
    DEPTH_MAX = 10000,
    LETTER_COUNT = 26,
};

/* Cells of what has no letter of its own. */
enum { OTHER_CELL = '+', IDLE_CELL = '.', EMPTY_CELL = ' ' };

/* A thread, and the row that shows it. */
struct thread {
    uint32_t profile;
    struct cn_identity_tuple identity;
    char *label;
};

struct view {
    const struct cn_args *args;
    const char *path;
    struct cn_database *db;
    struct cn_frames frames;
    struct cn_occupancy occupancy;
    struct thread *threads; /* by identity: databases have them in any order */
    size_t row_count, thread_count, thread_capacity; /* the first ones are rows */
    uint64_t without_samples_count;
    size_t common_id_count; /* ids that all rows begin with: not in labels */
    uint64_t begin_ns, end_ns;
    uint32_t *by_time; /* places seen in some cell, most time first */
    size_t seen_count;
    uint32_t *rank_of_place;
    size_t place_count; /* that took any time */
    uint64_t total_ns;
};

static bool open_database(struct view *view, struct cn_error *err)
{
    if (!cn_format_open_database(view->path, &view->db, err))
        return false;
    for (const struct cn_warning *w = view->db->warnings; w; w = w->next)
        cn_cli_warn(view->args, "%s: %s", view->db->path, w->text);
    if (!view->db->has_timelines)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: has no timelines", view->path);
    return true;
}

/* What --thread asks for; any of the filters may match. */
struct selection {
    struct cn_thread_filter *filters;
    size_t count; /* 0: every thread */
};

static bool is_selected(const struct selection *selection, uint32_t index,
                        const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < selection->count; i++) {
        if (cn_thread_filter_matches(&selection->filters[i], index, identity))
            return true;
    }
    return selection->count == 0;
}

static bool add_profile(struct view *view, const struct selection *selection,
                        uint32_t index, struct cn_error *err)
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
    view->threads = cn_grow(view->threads, view->thread_count, &view->thread_capacity,
                            sizeof(*view->threads));
    view->threads[view->thread_count++] =
        (struct thread){.profile = index, .identity = profile.identity};
    return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_ids(const struct cn_identity *a, const struct cn_identity *b)
{
    int order = compare_u64(a->kind, b->kind);

    order = order ? order : compare_u64(a->logical, b->logical);
    return order ? order : compare_u64(a->physical, b->physical);
}

static int compare_threads(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    int order = 0;

    for (size_t i = 0; i < x->identity.count && i < y->identity.count && !order; i++)
        order = compare_ids(&x->identity.ids[i], &y->identity.ids[i]);
    order = order ? order : compare_u64(x->identity.count, y->identity.count);
    return order ? order : compare_u64(x->profile, y->profile);
}

static bool add_profiles(struct view *view, const struct selection *selection,
                         struct cn_error *err)
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

static bool parse_selection(const struct view *view, struct selection *selection,
                            struct cn_error *err)
{
    size_t count = cn_args_value_count(view->args, "thread");

    selection->filters = cn_alloc(count, sizeof(*selection->filters));
    for (; selection->count < count; selection->count++) {
        const char *text = cn_args_value_at(view->args, "thread", selection->count);

        if (!cn_thread_filter_parse(&selection->filters[selection->count], text,
                                    &view->db->kinds, err))
            return false;
    }
    return true;
}

static bool select_threads(struct view *view, struct cn_error *err)
{
    struct selection selection = {0};
    uint64_t row_max;
    bool ok;

    if (!cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &row_max, err))
        return false;
    ok = parse_selection(view, &selection, err) && add_profiles(view, &selection, err);
    view->row_count = view->thread_count < row_max ? view->thread_count : (size_t)row_max;
    for (size_t i = 0; i < selection.count; i++)
        cn_thread_filter_done(&selection.filters[i]);
    free(selection.filters);
    return ok;
}

/* One end of FROM~TO; an empty one stays what it is. */
static bool parse_end(const char *str, size_t len, uint64_t span_ns, uint64_t *out,
                      struct cn_error *err)
{
    char *copy = cn_strdup(str);
    bool ok = true;

    copy[len] = '\0';
    if (len > 0)
        ok = cn_duration_parse(copy, span_ns, out, err);
    free(copy);
    return ok;
}

static bool select_range(struct view *view, struct cn_error *err)
{
    const char *text = cn_args_value(view->args, "time-range");
    const char *tilde = text ? strchr(text, '~') : NULL;
    uint64_t from_ns = 0, to_ns, span_ns;

    if (view->db->end_ns <= view->db->begin_ns)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: its samples span no time", view->path);
    span_ns = to_ns = view->db->end_ns - view->db->begin_ns;
    if (text && !tilde)
        return cn_fail(err, CN_ERR_USAGE, "--time-range '%s' is not FROM~TO", text);
    if (text && (!parse_end(text, (size_t)(tilde - text), span_ns, &from_ns, err) ||
                 !parse_end(tilde + 1, strlen(tilde + 1), span_ns, &to_ns, err)))
        return cn_fail_in(err, "--time-range");
    if (to_ns > span_ns)
        to_ns = span_ns;
    if (from_ns >= to_ns)
        return cn_fail(err, CN_ERR_USAGE,
                       "--time-range '%s' is empty; the timelines span %" PRIu64 " ns",
                       text, span_ns);
    view->begin_ns = view->db->begin_ns + from_ns;
    view->end_ns = view->db->begin_ns + to_ns;
    return true;
}

static void find_common_ids(struct view *view)
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

static char *make_label(const struct view *view, size_t row)
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
    cn_utf8_add_printable(&label, cn_text_str(&text));
    cn_text_done(&text);
    return label.chars;
}

/* Returns the width of the widest label. */
static size_t make_labels(struct view *view)
{
    size_t widest = 0;

    find_common_ids(view);
    for (size_t i = 0; i < view->row_count; i++) {
        size_t width;

        view->threads[i].label = make_label(view, i);
        width = cn_utf8_width(view->threads[i].label);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static bool choose_width(const struct view *view, size_t label_width, uint32_t *columns,
                         struct cn_error *err)
{
    size_t otherwise =
        isatty(STDOUT_FILENO) ? cn_terminal_columns(STDOUT_FILENO) : WIDTH_DEFAULT;
    uint64_t span_ns = view->end_ns - view->begin_ns;
    uint64_t width;

    if (!cn_args_u64(view->args, "width", WIDTH_MIN, WIDTH_MAX, otherwise, &width, err))
        return false;
    width = width > label_width + 1 ? width - label_width - 1 : 0;
    if (width < COLUMNS_MIN)
        width = COLUMNS_MIN;
    *columns = (uint32_t)(width < span_ns ? width : span_ns);
    return true;
}

static bool draw(struct view *view, size_t label_width, struct cn_error *err)
{
    uint32_t *profiles = cn_alloc(view->row_count, sizeof(*profiles));
    struct cn_occupancy_request request = {
        .profiles = profiles,
        .profile_count = view->row_count,
        .begin_ns = view->begin_ns,
        .end_ns = view->end_ns,
    };
    uint64_t depth = 0;
    bool ok;

    for (size_t i = 0; i < view->row_count; i++)
        profiles[i] = view->threads[i].profile;
    ok = cn_args_u64(view->args, "depth", 1, DEPTH_MAX, 0, &depth, err) &&
         choose_width(view, label_width, &request.column_count, err);
    request.depth = (uint32_t)depth;
    ok = ok &&
         (cn_occupancy_build(&view->occupancy, view->db, &view->frames, &request, err) ||
          cn_fail_in(err, "%s", view->path));
    free(profiles);
    return ok;
}

static int compare_time(const void *a, const void *b, void *arg)
{
    const uint64_t *ns = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (ns[x] != ns[y])
        return ns[x] > ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Only places that are seen in some cell get a rank. */
static void find_seen_places(struct view *view)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    size_t cell_count = view->row_count * occupancy->column_count;

    for (size_t i = 0; i < cell_count; i++) {
        uint32_t place = occupancy->cells[i].place;

        if (place >= occupancy->idle || view->rank_of_place[place] != CN_NONE)
            continue;
        view->rank_of_place[place] = 0;
        view->by_time[view->seen_count++] = place;
    }
}

static void rank_places(struct view *view)
{
    const struct cn_occupancy *occupancy = &view->occupancy;

    view->by_time = cn_alloc(occupancy->idle, sizeof(*view->by_time));
    view->rank_of_place = cn_alloc(occupancy->idle, sizeof(*view->rank_of_place));
    view->total_ns = occupancy->place_ns[occupancy->idle];
    for (uint32_t i = 0; i < occupancy->idle; i++) {
        view->rank_of_place[i] = CN_NONE;
        view->total_ns += occupancy->place_ns[i];
        view->place_count += occupancy->place_ns[i] > 0;
    }
    find_seen_places(view);
    qsort_r(view->by_time, view->seen_count, sizeof(*view->by_time), compare_time,
            occupancy->place_ns);
    for (size_t i = 0; i < view->seen_count; i++)
        view->rank_of_place[view->by_time[i]] = (uint32_t)i;
}

static char letter_of_rank(size_t rank)
{
    return rank < LETTER_COUNT ? (char)('A' + (int)rank) : OTHER_CELL;
}

static char cell_char(const struct view *view, const struct cn_occupancy_cell *cell)
{
    if (cell->place == CN_NONE)
        return EMPTY_CELL;
    if (cell->place == view->occupancy.idle)
        return IDLE_CELL;
    return letter_of_rank(view->rank_of_place[cell->place]);
}

/* Letters on backgrounds that are easy to tell apart and light enough for black. */
static void begin_color(struct cn_text *text, char cell)
{
    static const unsigned char palette[] = {75,  215, 114, 176, 222, 80,
                                            204, 147, 150, 180, 111, 173};

    if (cell >= 'A' && cell <= 'Z')
        cn_text_printf(text, "\033[30;48;5;%um",
                       palette[(size_t)(cell - 'A') % sizeof(palette)]);
    else if (cell == OTHER_CELL)
        cn_text_str_add(text, "\033[30;48;5;250m");
    else
        cn_text_str_add(text, "\033[2m");
}

static void add_cells(const struct view *view, struct cn_text *text, char cell,
                      size_t count)
{
    bool has_color = cn_cli_has_color(view->args) && cell != EMPTY_CELL;

    if (has_color)
        begin_color(text, cell);
    cn_text_fill(text, cell, count);
    if (has_color)
        cn_text_str_add(text, "\033[0m");
}

static void print_row(const struct view *view, size_t row, size_t label_width,
                      struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;
    const char *label = view->threads[row].label;
    uint32_t end = occupancy->column_count;

    while (end > 0 && cells[end - 1].place == CN_NONE)
        end--;
    cn_text_str_add(text, label);
    cn_text_fill(text, ' ', label_width + 1 - cn_utf8_width(label));
    for (uint32_t i = 0, next; i < end; i = next) {
        char cell = cell_char(view, &cells[i]);

        for (next = i + 1; next < end && cell_char(view, &cells[next]) == cell;)
            next++;
        add_cells(view, text, cell, next - i);
    }
    while (text->chars[text->len - 1] == ' ')
        text->chars[--text->len] = '\0';
    cn_text_char(text, '\n');
}

static void print_head(const struct view *view, struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    uint64_t span_ns = view->end_ns - view->begin_ns;
    struct cn_identity_tuple common = {.count = view->common_id_count};
    struct cn_text ids = {0};

    cn_duration_print(text, span_ns);
    cn_text_str_add(text, " from ");
    cn_date_print(text, view->begin_ns);
    cn_text_str_add(text, ", ");
    cn_duration_print(text, span_ns / occupancy->column_count);
    cn_text_printf(text, " a column, call depth %" PRIu32, occupancy->depth);
    if (common.count > 0) {
        memcpy(common.ids, view->threads[0].identity.ids,
               common.count * sizeof(common.ids[0]));
        cn_identity_print(&common, &view->db->kinds, &ids);
        cn_text_str_add(text, ", ");
        cn_utf8_add_printable(text, cn_text_str(&ids));
        cn_text_done(&ids);
    }
    cn_text_str_add(text, "\n\n");
}

static void print_legend_row(const struct view *view, char cell, uint64_t ns,
                             const char *name, struct cn_text *text)
{
    struct cn_text time = {0};

    cn_duration_print(&time, ns);
    add_cells(view, text, cell, 1);
    cn_text_printf(text, " %5.1f%%  %10s  ", 100 * (double)ns / (double)view->total_ns,
                   cn_text_str(&time));
    cn_utf8_add_printable(text, name);
    cn_text_char(text, '\n');
    cn_text_done(&time);
}

static void print_legend(const struct view *view, struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    size_t lettered = view->seen_count < LETTER_COUNT ? view->seen_count : LETTER_COUNT;
    uint64_t other_ns = view->total_ns - occupancy->place_ns[occupancy->idle];
    char name[64];

    cn_text_str_add(text, "\n   SHARE        TIME  FUNCTION\n");
    for (size_t i = 0; i < lettered; i++) {
        uint32_t place = view->by_time[i];

        print_legend_row(view, letter_of_rank(i), occupancy->place_ns[place],
                         view->frames.names.list[place], text);
        other_ns -= occupancy->place_ns[place];
    }
    (void)snprintf(name, sizeof(name), "(%zu more)", view->place_count - lettered);
    if (other_ns > 0)
        print_legend_row(view, OTHER_CELL, other_ns, name, text);
    if (occupancy->place_ns[occupancy->idle] > 0)
        print_legend_row(view, IDLE_CELL, occupancy->place_ns[occupancy->idle], "(idle)",
                         text);
}

static void print_text(const struct view *view, size_t label_width)
{
    const uint64_t start_ns = view->db->begin_ns;
    struct cn_text text = {0};

    print_head(view, &text);
    cn_text_fill(&text, ' ', label_width + 1);
    cn_time_axis_print(&text, view->begin_ns - start_ns, view->end_ns - start_ns,
                       view->occupancy.column_count);
    cn_text_char(&text, '\n');
    for (size_t i = 0; i < view->row_count; i++)
        print_row(view, i, label_width, &text);
    if (view->total_ns > 0)
        print_legend(view, &text);
    cn_cli_print(view->args, &text);
    cn_text_done(&text);
}

static void add_table_cell(const struct view *view, struct cn_table *table,
                           uint32_t column, const struct cn_occupancy_cell *cell)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    const uint64_t start_ns = view->db->begin_ns;
    bool is_running = cell->place < occupancy->idle;

    cn_table_u64(table, column);
    cn_table_u64(table, cn_occupancy_column_ns(occupancy, column) - start_ns);
    cn_table_u64(table, cn_occupancy_column_ns(occupancy, column + 1) - start_ns);
    cn_table_str(table, is_running                       ? "running"
                        : cell->place == occupancy->idle ? "idle"
                                                         : "no samples");
    if (is_running)
        cn_table_str(table, view->frames.names.list[cell->place]);
    else
        cn_table_none(table);
    cn_table_f64(table, 100 * cell->share);
    cn_table_end_row(table);
}

static void print_table(const struct view *view)
{
    static const struct cn_column columns[] = {
        {.name = "thread", .kind = CN_COLUMN_TEXT},
        {.name = "profile", .kind = CN_COLUMN_U64},
        {.name = "slice", .kind = CN_COLUMN_U64},
        {.name = "begin_ns", .kind = CN_COLUMN_U64},
        {.name = "end_ns", .kind = CN_COLUMN_U64},
        {.name = "state", .kind = CN_COLUMN_TEXT},
        {.name = "function", .kind = CN_COLUMN_TEXT},
        {.name = "share_percent", .kind = CN_COLUMN_PERCENT},
    };
    const struct cn_occupancy *occupancy = &view->occupancy;
    struct cn_table *table =
        cn_cli_table(view->args, columns, sizeof(columns) / sizeof(columns[0]));
    struct cn_text identity = {0};

    for (size_t row = 0; row < view->row_count; row++) {
        cn_text_clear(&identity);
        cn_identity_print(&view->threads[row].identity, &view->db->kinds, &identity);
        for (uint32_t i = 0; i < occupancy->column_count; i++) {
            cn_table_str(table, cn_text_str(&identity));
            cn_table_u64(table, view->threads[row].profile);
            add_table_cell(view, table, i,
                           &occupancy->cells[row * occupancy->column_count + i]);
        }
    }
    cn_table_free(table);
    cn_text_done(&identity);
}

static void tell_left_out(const struct view *view)
{
    if (view->row_count < view->thread_count)
        cn_cli_say(view->args, "%zu more threads are not shown; use --rows or --thread",
                   view->thread_count - view->row_count);
    if (view->without_samples_count > 0)
        cn_cli_detail(view->args, "%" PRIu64 " threads without samples are left out",
                      view->without_samples_count);
}

static bool show(struct view *view, struct cn_error *err)
{
    size_t label_width;

    if (!open_database(view, err) || !select_threads(view, err) ||
        !select_range(view, err))
        return false;
    if (!cn_frames_build(&view->frames, view->db, err))
        return cn_fail_in(err, "%s", view->path);
    label_width = make_labels(view);
    if (!draw(view, label_width, err))
        return false;
    rank_places(view);
    if (cn_cli_format(view->args) == CN_TABLE_TEXT)
        print_text(view, label_width);
    else
        print_table(view);
    tell_left_out(view);
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct view view = {.args = args, .path = cn_args_operand(args, 0)};
    bool ok = show(&view, err);

    for (size_t i = 0; i < view.row_count; i++)
        free(view.threads[i].label);
    free(view.threads);
    free(view.by_time);
    free(view.rank_of_place);
    cn_occupancy_done(&view.occupancy);
    cn_frames_done(&view.frames);
    cn_database_close(view.db);
    return ok;
}

static const struct cn_option options[] = {
    {.name = "depth",
     .letter = 'd',
     .value = "N",
     .help = "cut stacks at this call depth (default: where threads begin to differ in "
             "what they show)"},
    {.name = "time-range",
     .letter = 'r',
     .value = "FROM~TO",
     .help = "only this part: offsets from the start such as 1.5s~2s, 10%~20%, ~300ms"},
    {.name = "thread",
     .letter = 't',
     .value = "SELECTION",
     .is_repeatable = true,
     .help = "only these threads: 'RANK 0-3 THREAD 0', or numbers of profiles: '5-8'"},
    {.name = "rows", .value = "N", .help = "show at most N threads (default: 64)"},
    {.name = "width",
     .letter = 'w',
     .value = "N",
     .help = "use N columns (default: the terminal's, or 100)"},
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn timeline run.db", "see what each thread did when"},
    {"cairn timeline run.db --depth 5 --time-range 40%~60%", "look closer"},
    {"cairn timeline run.db --thread 'RANK 0-3 THREAD 0' --format csv",
     "the same as rows of thread, slice and function"},
    {0},
};

const struct cn_command cn_cmd_timeline = {
    .name = "timeline",
    .section = CN_SECTION_VIEW,
    .operands = "DB",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "draw threads over time",
    .description =
        "Draws a row for each thread and a letter for each slice of time: the function "
        "that took most of it at the chosen call depth. Depth 1 is what the entry point "
        "calls; where the stack is less deep, its innermost function counts. Below, each "
        "letter is explained with its share of the time of the threads shown. A dot "
        "means that the thread did not run, a blank that there are no samples.\n\n"
        "Each sample counts with the time until the next one of its thread. JSON and CSV "
        "have a row for each thread and slice, with times in nanoseconds from the start "
        "of the timelines.",
    .examples = examples,
    .options = options,
    .run = run,
};
