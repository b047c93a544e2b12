#include "cli/timeline/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/timeline/time_axis.h"

enum { LETTER_COUNT = 26 };

/* Cells without a letter. */
enum { OTHER_CELL = '+', WAITING_CELL = '.', EMPTY_CELL = ' ' };

struct drawing {
    const struct cn_timeline_view *view;
    uint32_t *by_time; /* functions in some cell, most time first */
    size_t seen_count;
    uint32_t *rank_of;
    size_t function_count; /* with any time */
    uint64_t total_ns;
};

static int compare_time(const void *a, const void *b, void *arg)
{
    const uint64_t *ns = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (ns[x] != ns[y])
        return ns[x] > ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Rank the functions that are in some cell by their time. */
static void rank_functions(struct drawing *drawing)
{
    const struct cn_occupancy *occupancy = &drawing->view->occupancy;

    drawing->by_time = cn_alloc(occupancy->idle, sizeof(*drawing->by_time));
    drawing->rank_of = cn_alloc(occupancy->idle, sizeof(*drawing->rank_of));
    drawing->total_ns = occupancy->function_ns[occupancy->idle];
    for (uint32_t i = 0; i < occupancy->idle; i++) {
        drawing->rank_of[i] = CN_NONE;
        drawing->total_ns += occupancy->function_ns[i];
        drawing->function_count += occupancy->function_ns[i] > 0;
    }
    for (size_t i = 0; i < drawing->view->row_count * occupancy->column_count; i++) {
        uint32_t function = occupancy->cells[i].place;

        if (function >= occupancy->idle || drawing->rank_of[function] != CN_NONE)
            continue;
        drawing->rank_of[function] = 0;
        drawing->by_time[drawing->seen_count++] = function;
    }
    qsort_r(drawing->by_time, drawing->seen_count, sizeof(*drawing->by_time),
            compare_time, occupancy->function_ns);
    for (size_t i = 0; i < drawing->seen_count; i++)
        drawing->rank_of[drawing->by_time[i]] = (uint32_t)i;
}

static char letter_of_rank(size_t rank)
{
    return rank < LETTER_COUNT ? (char)('A' + (int)rank) : OTHER_CELL;
}

static char cell_char(const struct drawing *drawing, const struct cn_occupancy_cell *cell)
{
    if (cell->place == CN_NONE)
        return EMPTY_CELL;
    if (cell->place == drawing->view->occupancy.idle)
        return WAITING_CELL;
    return letter_of_rank(drawing->rank_of[cell->place]);
}

/* Black letters on light backgrounds that are easy to distinguish. */
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

static void add_cells(const struct drawing *drawing, struct cn_text *text, char cell,
                      size_t count)
{
    bool has_color = cn_cli_has_color(drawing->view->args) && cell != EMPTY_CELL;

    if (has_color)
        begin_color(text, cell);
    cn_text_fill(text, cell, count);
    if (has_color)
        cn_text_str_add(text, "\033[0m");
}

static void print_row(const struct drawing *drawing, size_t row, struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &drawing->view->occupancy;
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;
    const char *label = drawing->view->threads[row].label;
    uint32_t end = occupancy->column_count;

    while (end > 0 && cells[end - 1].place == CN_NONE)
        end--;
    cn_text_str_add(text, label);
    cn_text_fill(text, ' ', drawing->view->label_width + 1 - cn_utf8_width(label));
    for (uint32_t i = 0, next; i < end; i = next) {
        char cell = cell_char(drawing, &cells[i]);

        for (next = i + 1; next < end && cell_char(drawing, &cells[next]) == cell;)
            next++;
        add_cells(drawing, text, cell, next - i);
    }
    while (text->chars[text->len - 1] == ' ')
        text->chars[--text->len] = '\0';
    cn_text_char(text, '\n');
}

static void print_head(const struct cn_timeline_view *view, struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &view->occupancy;
    uint64_t span_ns = view->end_ns - view->begin_ns;
    struct cn_identity_tuple common = {.count = view->common_id_count};
    struct cn_text ids = {0};

    cn_duration_print(text, span_ns);
    cn_text_str_add(text, " from ");
    cn_date_print(text, view->begin_ns, 6);
    cn_text_str_add(text, " UTC, ");
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

static void print_legend_row(const struct drawing *drawing, char cell, uint64_t ns,
                             const char *name, struct cn_text *text)
{
    struct cn_text time = {0};

    cn_duration_print(&time, ns);
    add_cells(drawing, text, cell, 1);
    cn_text_printf(text, " %5.1f%%  %10s  ", 100 * (double)ns / (double)drawing->total_ns,
                   cn_text_str(&time));
    cn_utf8_add_printable(text, name);
    cn_text_char(text, '\n');
    cn_text_done(&time);
}

static void print_legend(const struct drawing *drawing, struct cn_text *text)
{
    const struct cn_occupancy *occupancy = &drawing->view->occupancy;
    size_t lettered =
        drawing->seen_count < LETTER_COUNT ? drawing->seen_count : LETTER_COUNT;
    uint64_t other_ns = drawing->total_ns - occupancy->function_ns[occupancy->idle];
    char name[64];

    cn_text_str_add(text, "\n   SHARE        TIME  FUNCTION\n");
    for (size_t i = 0; i < lettered; i++) {
        uint32_t function = drawing->by_time[i];

        print_legend_row(drawing, letter_of_rank(i), occupancy->function_ns[function],
                         drawing->view->frames.names.list[function], text);
        other_ns -= occupancy->function_ns[function];
    }
    (void)snprintf(name, sizeof(name), "(%zu more)", drawing->function_count - lettered);
    if (other_ns > 0)
        print_legend_row(drawing, OTHER_CELL, other_ns, name, text);
    if (occupancy->function_ns[occupancy->idle] > 0)
        print_legend_row(drawing, WAITING_CELL, occupancy->function_ns[occupancy->idle],
                         "(waiting)", text);
}

void cn_timeline_print(const struct cn_timeline_view *view)
{
    const uint64_t start_ns = view->db->begin_ns;
    struct drawing drawing = {.view = view};
    struct cn_text text = {0};

    rank_functions(&drawing);
    print_head(view, &text);
    cn_text_fill(&text, ' ', view->label_width + 1);
    cn_time_axis_print(&text, view->begin_ns - start_ns, view->end_ns - start_ns,
                       view->occupancy.column_count);
    cn_text_char(&text, '\n');
    for (size_t i = 0; i < view->row_count; i++)
        print_row(&drawing, i, &text);
    if (drawing.total_ns > 0)
        print_legend(&drawing, &text);
    cn_cli_print(view->args, &text);
    cn_text_done(&text);
    free(drawing.by_time);
    free(drawing.rank_of);
}

static void add_table_cell(const struct cn_timeline_view *view, struct cn_table *table,
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

void cn_timeline_print_table(const struct cn_timeline_view *view)
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
