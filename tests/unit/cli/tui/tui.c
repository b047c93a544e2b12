/* Keys to rows, without a terminal.
 * Label: threads. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cli/shell/command.h"
#include "cli/tui/tui.h"
#include "model/calls/recording.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

extern const struct cn_command cn_cmd_tui;

struct viewer {
    struct cn_args args;
    struct cn_tui_data *data;
    struct cn_tui tui;
    struct cn_text line;
};

static void draw(struct viewer *viewer)
{
    (void)cn_tui_data_wait(viewer->data, cn_tui_step_of(&viewer->tui));
    (void)cn_tui_tick(&viewer->tui);
    cn_tui_paint(&viewer->tui);
}

static void viewer_open(struct viewer *viewer, size_t columns, size_t rows,
                        size_t word_count, const char *const *words)
{
    struct cn_error err;

    *viewer = (struct viewer){0};
    assert_true(cn_args_parse(&viewer->args, &cn_cmd_tui, word_count, words, &err));
    if (!cn_tui_data_open(&viewer->data, &viewer->args, words[0], &err))
        fail_msg("%s", err.text);
    assert_true(cn_tui_init(&viewer->tui, viewer->data, &err));
    cn_tui_canvas_resize(&viewer->tui.canvas, columns, rows);
    viewer->tui.canvas.has_utf8 = viewer->tui.canvas.has_color = true;
    draw(viewer);
}

static void viewer_close(struct viewer *viewer)
{
    cn_tui_done(&viewer->tui);
    assert_true(cn_tui_data_close(viewer->data));
    cn_args_done(&viewer->args);
    cn_text_done(&viewer->line);
}

static void press(struct viewer *viewer, uint32_t key)
{
    cn_tui_event(&viewer->tui, &(struct cn_tui_event){.key = key});
    draw(viewer);
}

static void type(struct viewer *viewer, const char *keys)
{
    for (; *keys; keys++)
        press(viewer, *keys == '\n' ? (uint32_t)CN_TUI_KEY_ENTER : (uint8_t)*keys);
}

static const char *line_at(struct viewer *viewer, size_t row)
{
    cn_text_clear(&viewer->line);
    cn_tui_canvas_line(&viewer->tui.canvas, row, &viewer->line);
    return cn_text_str(&viewer->line);
}

/* The line of the cursor. */
static const char *current(struct viewer *viewer)
{
    const struct cn_tui_tree *tree = &cn_tui_pane(&viewer->tui)->tree;

    return line_at(viewer, 2 + tree->cursor - tree->top);
}

static void assert_has(const char *line, const char *part)
{
    if (!strstr(line, part))
        fail_msg("'%s' is not in '%s'", part, line);
}

static void make_recording(void)
{
    struct cn_error err;

    assert_true(cn_sample_recording_write("rec", &err));
    assert_true(cn_sample_write("db", &err));
    assert_int_equal(setenv("XDG_CACHE_HOME", "cache", 1), 0);
}

/* The numbers of `cairn graph`, which has tests of its own, as rows. */
static void shows_the_call_graph(void **state)
{
    static const char *const expected[] = {
        " graph  report  tree  callers  flat  flame  info                            rec",
        " TOTAL ns      %  SELF ns      %  CALLS  FUNCTION",
        "    3,350  96.0%                      1  ▾ program",
        "    3,110  89.1%    1,580  45.3%      1  ├─▾ main",
        "       10   0.3%       10   0.3%      1  │ ├─  work",
        "       10   0.3%       10   0.3%      1  │ ├─  ns::Box::get",
        "       10   0.3%       10   0.3%      1  │ ├─  paint",
        "      410  11.7%       20   0.6%      1  │ ├─▾ plugin_run",
        "      390  11.2%      390  11.2%      1  │ │ └─  linux:schedule",
        "    1,080  30.9%    1,080  30.9%      1  │ ├─  fork",
        "       10   0.3%       10   0.3%      1  │ └─  puts",
        "      240   6.9%      160   4.6%     10  └─▾ ns::Box::get",
        "       80   2.3%       80   2.3%      8    └─  puts",
    };
    const char *words[] = {"rec"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_string_equal(line_at(&viewer, i), expected[i]);
    assert_string_equal(line_at(&viewer, 22),
                        " /opt/sample/program                                          "
                        "          1 of 15");
    viewer_close(&viewer);
}

/* The report agrees with the analysis that `cairn report` prints. */
static void shows_the_numbers_of_the_report(void **state)
{
    const char *words[] = {"rec", "--report", "-s", "call"};
    const struct cn_call_report *report;
    const struct cn_tui_tree *tree;
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 4, words);
    report = &viewer.data->report;
    tree = &cn_tui_pane(&viewer.tui)->tree;
    assert_int_equal(tree->count, report->row_count);
    for (size_t i = 0; i < tree->count; i++) {
        const struct cn_row *row = &tree->items[i].row;
        const struct cn_call_cost *cost = &report->rows[row->id].cost;

        assert_int_equal(llround(row->values[CN_REPORT_TOTAL] * 1e9), cost->total_ns);
        assert_int_equal(llround(row->values[CN_REPORT_SELF] * 1e9), cost->self.sum_ns);
        assert_int_equal(row->values[CN_REPORT_CALL], cost->calls);
        if (i > 0)
            assert_true(row[0].values[CN_REPORT_CALL] <=
                        tree->items[i - 1].row.values[CN_REPORT_CALL]);
    }
    assert_has(line_at(&viewer, 2), "  11  ns::Box::get");
    /* A column that was not computed reads the calls again. */
    press(&viewer, 'f');
    for (int i = 0; i < CN_REPORT_P99; i++)
        press(&viewer, 'j');
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_int_equal(viewer.tui.menu.kind, CN_TUI_MENU_NONE);
    assert_has(line_at(&viewer, 1), "P99 ns");
    assert_true(viewer.data->layout.needs.with_histograms);
    /* Space switches a column, and Enter then ends the menu. */
    press(&viewer, 'f');
    press(&viewer, ' ');
    assert_int_equal(viewer.tui.menu.kind, CN_TUI_MENU_COLUMNS);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_int_equal(viewer.tui.menu.kind, CN_TUI_MENU_NONE);
    assert_null(strstr(line_at(&viewer, 1), "TOTAL ns"));
    viewer_close(&viewer);
}

static void counts_the_longest_calls_when_asked(void **state)
{
    const char *words[] = {"rec"}, *fields[] = {"rec", "-f", "total-max,self"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 100, 24, 1, words);
    press(&viewer, 'f');
    for (int i = 0; i < CN_TUI_GRAPH_TOTAL_MAX; i++)
        press(&viewer, 'j');
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_has(line_at(&viewer, 1), "CALLS  TOTAL MAX ns");
    assert_has(line_at(&viewer, 3), "     1         3,110  ");
    viewer_close(&viewer);
    viewer_open(&viewer, 100, 24, 3, fields);
    assert_string_equal(line_at(&viewer, 1), " SELF ns      %  TOTAL MAX ns  FUNCTION");
    viewer_close(&viewer);
    fields[2] = "addr";
    viewer_open(&viewer, 100, 24, 3, fields);
    assert_has(line_at(&viewer, 1), "ADDRESS  FUNCTION");
    for (size_t i = 3; i < 8; i++) {
        const struct cn_row *row = &cn_tui_pane(&viewer.tui)->tree.items[i - 2].row;
        char address[32];

        (void)snprintf(address, sizeof(address), " %" PRIx64 " ",
                       viewer.data->graph.tree.nodes[row->id].address);
        assert_has(line_at(&viewer, i), address);
    }
    viewer_close(&viewer);
}

static void opens_and_closes_rows(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;
    struct cn_tui_tree *tree;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    tree = &cn_tui_pane(&viewer.tui)->tree;
    assert_int_equal(tree->count, 15);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_int_equal(tree->count, 5);
    assert_has(current(&viewer), "▸ program");
    type(&viewer, "E");
    assert_int_equal(tree->count, 15);
    type(&viewer, "c"); /* the children of the program */
    assert_int_equal(tree->count, 7);
    type(&viewer, "e");
    assert_int_equal(tree->count, 14); /* the child of plugin_run stays closed */
    type(&viewer, "C");
    assert_int_equal(tree->count, 7); /* the program itself stays open */
    type(&viewer, "l");
    assert_has(current(&viewer), "main");
    type(&viewer, "n"); /* its sibling */
    assert_has(current(&viewer), "ns::Box::get");
    type(&viewer, "pu");
    assert_has(current(&viewer), "program");
    press(&viewer, CN_TUI_KEY_END);
    press(&viewer, CN_TUI_KEY_LEFT);
    assert_has(current(&viewer), "main");
    press(&viewer, CN_TUI_KEY_HOME);
    type(&viewer, "H"); /* main has most of it, no callee half of main */
    assert_has(current(&viewer), "▾ main");
    viewer_close(&viewer);
}

static void searches_below_closed_rows(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    type(&viewer, "C/SCHED\n"); /* a capital: as it is typed */
    assert_has(line_at(&viewer, 22), "not found: SCHED");
    type(&viewer, "/sched\n");
    assert_has(current(&viewer), "linux:schedule");
    type(&viewer, "/puts\n");
    assert_has(current(&viewer), "      10   0.3%");
    type(&viewer, "n");
    assert_has(current(&viewer), "      80   2.3%");
    type(&viewer, "n");
    assert_has(current(&viewer), "      10   0.3%");
    assert_has(line_at(&viewer, 22), "from the beginning");
    type(&viewer, "N");
    assert_has(current(&viewer), "      80   2.3%");
    press(&viewer, CN_TUI_KEY_ESCAPE); /* now n is the sibling again */
    type(&viewer, "un");
    assert_has(current(&viewer), "ns::Box::get");
    viewer_close(&viewer);
}

static void sorts_and_keeps_the_cursor(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    type(&viewer, "/fork\n");
    type(&viewer, "s"); /* after the order of calls, the first column */
    assert_has(line_at(&viewer, 1), "▾TOTAL ns");
    assert_has(current(&viewer), "fork");
    assert_has(line_at(&viewer, 4), "fork");
    type(&viewer, "o\n"); /* the same column: reversed */
    assert_has(line_at(&viewer, 1), "▴TOTAL ns");
    assert_has(line_at(&viewer, 2), "child");
    assert_has(current(&viewer), "fork");
    /* A click on a heading, and on a row. */
    cn_tui_event(&viewer.tui,
                 &(struct cn_tui_event){.key = CN_TUI_KEY_CLICK, .column = 36, .row = 1});
    draw(&viewer);
    assert_has(line_at(&viewer, 1), "▾CALLS");
    cn_tui_event(&viewer.tui,
                 &(struct cn_tui_event){.key = CN_TUI_KEY_CLICK, .column = 50, .row = 3});
    draw(&viewer);
    assert_int_equal(cn_tui_pane(&viewer.tui)->tree.cursor, 1);
    viewer_close(&viewer);
}

static void shows_the_graph_of_a_function(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    type(&viewer, "/puts\n");
    type(&viewer, "g");
    assert_has(line_at(&viewer, 1), "FUNCTION puts");
    assert_has(line_at(&viewer, 2), "▾ called from");
    assert_has(line_at(&viewer, 3), "main");
    assert_has(line_at(&viewer, 4), "ns::Box::get");
    assert_has(line_at(&viewer, 5), "▾ calls");
    assert_has(line_at(&viewer, 6), "      90 100.0%");
    type(&viewer, "Gr");
    assert_has(current(&viewer), "puts");
    assert_int_equal(viewer.tui.view, CN_TUI_REPORT);
    viewer_close(&viewer);
}

static void shows_a_database(void **state)
{
    const char *words[] = {"db"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 100, 30, 1, words);
    assert_int_equal(viewer.tui.view, CN_TUI_TREE);
    press(&viewer, CN_TUI_KEY_BACK_TAB);
    assert_int_equal(viewer.tui.view, CN_TUI_INFO);
    press(&viewer, CN_TUI_KEY_TAB);
    assert_int_equal(viewer.tui.view, CN_TUI_TREE);
    type(&viewer, "m");
    assert_true(viewer.tui.menu.count > 1);
    press(&viewer, CN_TUI_KEY_END);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_non_null(viewer.data->metric);
    assert_has(line_at(&viewer, 1), viewer.data->metric);
    type(&viewer, "BLF1");
    assert_has(line_at(&viewer, 28), "only recordings have this view");
    viewer_close(&viewer);
}

/* Filters stay while one moves between views, and the numbers are those of cairn tree --my-code. */
static void filters_functions(void **state)
{
    const char *words[] = {"db"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 140, 30, 1, words);
    type(&viewer, "X");
    assert_has(line_at(&viewer, 28), "no filters");
    type(&viewer, "M");
    assert_has(line_at(&viewer, 1), " · my code");
    type(&viewer, "B");
    assert_has(line_at(&viewer, 1), " · my code");
    type(&viewer, "F");
    assert_has(line_at(&viewer, 1), "all · my code");
    type(&viewer, "T/fib\n");
    assert_has(current(&viewer), "fib(unsigned long)");
    type(&viewer, "i");
    assert_has(line_at(&viewer, 1), "my code, focus fib(unsigned long) (21.2% of all)");
    type(&viewer, "M");
    assert_has(line_at(&viewer, 1), " · focus fib(unsigned long) (21.2% of all)");
    type(&viewer, "X");
    assert_int_equal(viewer.tui.menu.count, 2);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_null(strstr(line_at(&viewer, 1), "focus"));
    type(&viewer, "/fib\nx");
    assert_has(line_at(&viewer, 1), " · hide fib(unsigned long)");
    type(&viewer, "X");
    press(&viewer, CN_TUI_KEY_END);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_int_equal(viewer.data->lens.count, 0);
    type(&viewer, "/fib\nd");
    assert_has(line_at(&viewer, 1), " · drop fib(unsigned long) (78.8% of all)");
    viewer_close(&viewer);
}

/* The graph of a recording has no filters: they lead to the tree. */
static void filters_functions_of_a_recording(void **state)
{
    const char *words[] = {"rec", "--my-code"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 100, 30, 2, words);
    assert_int_equal(viewer.tui.view, CN_TUI_GRAPH);
    type(&viewer, "F");
    assert_has(line_at(&viewer, 1), "all · my code");
    type(&viewer, "GM");
    assert_int_equal(viewer.tui.view, CN_TUI_TREE);
    assert_null(strstr(line_at(&viewer, 1), "my code"));
    viewer_close(&viewer);
}

static void fills_the_flame_view(void **state)
{
    const char *words[] = {"rec", "--view", "flame"};
    struct viewer viewer;
    struct cn_tui_flame *flame;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 3, words);
    flame = &cn_tui_pane(&viewer.tui)->flame;
    assert_int_equal(flame->levels[0].boxes[flame->levels[0].count - 1].end, 80);
    for (size_t l = 1; l < flame->level_count; l++)
        for (size_t b = 0; b < flame->levels[l].count; b++) {
            const struct cn_tui_box *box = &flame->levels[l].boxes[b];
            const struct cn_tui_box *above = &flame->levels[l - 1].boxes[box->parent];

            assert_true(box->begin >= above->begin && box->end <= above->end);
            assert_true(b == 0 || box[-1].end <= box->begin);
        }
    assert_has(line_at(&viewer, 2), " program");
    press(&viewer, CN_TUI_KEY_DOWN);
    press(&viewer, CN_TUI_KEY_ENTER);
    assert_has(line_at(&viewer, 1), " all › main");
    assert_int_equal(flame->levels[0].boxes[0].end, 80);
    press(&viewer, '=');
    assert_has(line_at(&viewer, 2), "▀▀▀▀");
    press(&viewer, '=');
    press(&viewer, CN_TUI_KEY_ESCAPE);
    assert_int_equal(flame->zoom_count, 0);
    type(&viewer, "/fork\n");
    assert_has(line_at(&viewer, 22), "fork  TOTAL ns 1,080 (30.9%)");
    assert_has(line_at(&viewer, 22), "1 match of fork");
    cn_tui_event(&viewer.tui, &(struct cn_tui_event){
                                  .key = CN_TUI_KEY_DOUBLE_CLICK, .column = 1, .row = 3});
    draw(&viewer);
    assert_has(line_at(&viewer, 1), " all › main");
    viewer_close(&viewer);
}

static void says_that_the_terminal_is_too_small(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;

    (void)state;
    make_recording();
    viewer_open(&viewer, 39, 7, 1, words);
    assert_string_equal(line_at(&viewer, 0), "too small: 39 x 7, needs 40 x 8");
    cn_tui_canvas_resize(&viewer.tui.canvas, 40, 8);
    draw(&viewer);
    assert_has(line_at(&viewer, 2), "▾ program");
    viewer_close(&viewer);
}

static void refuses_what_it_cannot_show(void **state)
{
    const char *filter[] = {"db", "-F", "main"}, *view[] = {"db", "--report"};
    const char *chosen[] = {"rec", "-F", "main"};
    struct cn_tui_data *data;
    struct viewer viewer;
    struct cn_args args;
    struct cn_error err;
    struct cn_tui tui;

    (void)state;
    make_recording();
    assert_true(cn_args_parse(&args, &cn_cmd_tui, 3, filter, &err));
    assert_false(cn_tui_data_open(&data, &args, "db", &err));
    assert_string_equal(err.text,
                        "--filter is for recordings and stores; db is a database");
    cn_args_done(&args);
    assert_true(cn_args_parse(&args, &cn_cmd_tui, 2, view, &err));
    assert_true(cn_tui_data_open(&data, &args, "db", &err));
    assert_false(cn_tui_init(&tui, data, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    cn_tui_done(&tui);
    assert_true(cn_tui_data_close(data));
    cn_args_done(&args);
    /* The database is made of all calls. */
    viewer_open(&viewer, 80, 24, 3, chosen);
    assert_has(line_at(&viewer, 3), "main");
    type(&viewer, "T");
    assert_has(line_at(&viewer, 3), "start cairn tui without --filter");
    viewer_close(&viewer);
}

/* Damage is shown in info, and makes the command fail. */
static void shows_what_is_before_the_damage(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer;
    struct cn_error err;
    FILE *file;

    (void)state;
    make_recording();
    file = fopen("rec/100.dat", "a");
    assert_non_null(file);
    assert_true(fputs("no record", file) >= 0);
    assert_int_equal(fclose(file), 0);
    viewer_open(&viewer, 80, 24, 1, words);
    assert_has(line_at(&viewer, 2), "▾ program");
    assert_false(cn_tui_data_result(viewer.data, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    type(&viewer, "I");
    assert_has(line_at(&viewer, 2), "task 100");
    viewer_close(&viewer);
}

/* A source with names that must not be shown. */
static const char *const hostile[] = {
    "\x1b[2J\x1b]0;title\a",         "\xff\xfe\x80",
    "\xe6\xbc\xa2\xe5\xad\x97 wide", "e\xcc\x81 combining",
    "\xe2\x80\xae right to left",    "",
    "\t\r\n\b\x7f\xc2\x9b",
};
enum { HOSTILE_COUNT = sizeof(hostile) / sizeof(*hostile) };

static bool hostile_children(struct cn_tui_source *source, const struct cn_row *parent,
                             struct cn_row_list *out, struct cn_error *err)
{
    (void)source;
    (void)err;
    cn_row_list_begin(out, 1);
    for (uint64_t i = 0; i < HOSTILE_COUNT; i++)
        *cn_row_list_add(out, (struct cn_row){.id = (parent ? parent->id * 8 + 8 : 0) + i,
                                              .kind = CN_ROW_FUNCTION}) =
            (double)(HOSTILE_COUNT - i) / (parent ? 30 : 1);
    return true;
}

static bool hostile_label(struct cn_tui_source *source, const struct cn_row *row,
                          struct cn_text *text, struct cn_error *err)
{
    (void)source;
    (void)err;
    for (int i = 0; i < (row->id % 3 == 2 ? 200 : 1); i++)
        cn_text_str_add(text, hostile[row->id % HOSTILE_COUNT]);
    return true;
}

static bool hostile_location(struct cn_tui_source *source, const struct cn_row *row,
                             struct cn_location *out, struct cn_error *err)
{
    (void)source;
    (void)err;
    *out = (struct cn_location){.file = hostile[row->id % HOSTILE_COUNT], .line = 1};
    return true;
}

static bool hostile_leaf(struct cn_tui_source *source, const struct cn_row *row)
{
    (void)source;
    return row->id > 3000;
}

static void hostile_free(struct cn_tui_source *source)
{
    free(source);
}

static const struct cn_tui_source_ops hostile_ops = {
    hostile_children, hostile_label, hostile_location, hostile_leaf, NULL, NULL,
    hostile_free,     NULL};

/* Every cell has a printable character, or is the right half of a wide one. */
static void assert_printable(const struct cn_tui_canvas *canvas)
{
    for (size_t i = 0; i < canvas->columns * canvas->rows; i++) {
        uint32_t c = canvas->cells[i].character;

        assert_true(c == 0 || (c >= 0x20 && c != 0x7f && (c < 0x80 || c >= 0xa0)));
        assert_false(c >= 0x202a && c <= 0x202e);
        if (c == 0)
            assert_true(i % canvas->columns > 0 &&
                        canvas->cells[i - 1].character >= 0x1100);
        if (!canvas->has_utf8)
            assert_true(c < 0x7f);
    }
}

/* Any keys, on screens of any size, over names of any bytes. */
static void survives_any_keys_and_names(void **state)
{
    static const char keys[] = "jkGgRrTBLFISsofmvcCeEHlunpz/<>NP=bq? \n\t";
    const char *words[] = {"rec"};
    struct viewer viewer;
    struct cn_tui_source *source;
    uint64_t random = 1;

    (void)state;
    make_recording();
    viewer_open(&viewer, 80, 24, 1, words);
    source = cn_alloc(1, sizeof(*source));
    *source = (struct cn_tui_source){.ops = &hostile_ops, .name_title = "NAME"};
    cn_tui_columns_init(source, 1);
    source->columns[0] = (struct cn_tui_column){
        .title = "VALUE", .unit = CN_TUI_NUMBER, .max = 7, .whole = 7, .is_shown = true};
    /* In the place of the graph: the tree has no rows of it any more. */
    cn_tui_tree_done(&viewer.tui.panes[CN_TUI_GRAPH].tree);
    cn_tui_tree_init(&viewer.tui.panes[CN_TUI_GRAPH].tree, source, 24);
    for (int i = 0; i < 200; i++) {
        struct cn_tui_event event = {0};

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        event.key = (uint8_t)keys[(random >> 33) % (sizeof(keys) - 1)];
        if ((random >> 20) % 4 == 0)
            event.key = CN_TUI_KEY_UP + (uint32_t)(random >> 40) % 17;
        event.column = (random >> 10) % 130;
        event.row = (random >> 17) % 45;
        if (viewer.tui.view == CN_TUI_GRAPH && (event.key == 'g' || event.key == 'S'))
            continue; /* they ask the recording about the row */
        if (i % 50 == 0) {
            cn_tui_canvas_resize(&viewer.tui.canvas, 1 + (random >> 30) % 130,
                                 1 + (random >> 45) % 45);
            viewer.tui.canvas.has_utf8 = (random >> 25) % 4 > 0;
            viewer.tui.canvas.has_color = (random >> 27) % 2;
        }
        cn_tui_event(&viewer.tui, &event);
        viewer.tui.is_over = false;
        draw(&viewer);
        assert_printable(&viewer.tui.canvas);
    }
    cn_tui_tree_done(&viewer.tui.panes[CN_TUI_GRAPH].tree);
    cn_tui_source_free(source);
    viewer_close(&viewer);
}

/* The first picture does not wait for the data; quitting does not either. */
static void shows_progress_and_stops(void **state)
{
    const char *words[] = {"rec"};
    struct viewer viewer = {0};
    struct cn_error err;

    (void)state;
    make_recording();
    for (int i = 0; i < 8; i++) {
        assert_true(cn_args_parse(&viewer.args, &cn_cmd_tui, 1, words, &err));
        assert_true(cn_tui_data_open(&viewer.data, &viewer.args, "rec", &err));
        assert_true(cn_tui_init(&viewer.tui, viewer.data, &err));
        cn_tui_canvas_resize(&viewer.tui.canvas, 80, 24);
        if (i == 0) {
            /* "opening...", or "reading calls..." if this thread had to wait. */
            cn_tui_paint(&viewer.tui);
            assert_has(line_at(&viewer, 8), "ing");
            assert_has(line_at(&viewer, 8), "...");
        }
        viewer.tui.view = i % 2 ? CN_TUI_CALLERS : CN_TUI_GRAPH;
        for (int k = 0; k < i; k++)
            (void)cn_tui_tick(&viewer.tui);
        cn_tui_paint(&viewer.tui);
        viewer_close(&viewer);
        viewer = (struct viewer){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(shows_the_call_graph),
        CN_SCRATCH_TEST(shows_the_numbers_of_the_report),
        CN_SCRATCH_TEST(counts_the_longest_calls_when_asked),
        CN_SCRATCH_TEST(opens_and_closes_rows),
        CN_SCRATCH_TEST(searches_below_closed_rows),
        CN_SCRATCH_TEST(sorts_and_keeps_the_cursor),
        CN_SCRATCH_TEST(shows_the_graph_of_a_function),
        CN_SCRATCH_TEST(shows_a_database),
        CN_SCRATCH_TEST(filters_functions),
        CN_SCRATCH_TEST(filters_functions_of_a_recording),
        CN_SCRATCH_TEST(fills_the_flame_view),
        CN_SCRATCH_TEST(says_that_the_terminal_is_too_small),
        CN_SCRATCH_TEST(refuses_what_it_cannot_show),
        CN_SCRATCH_TEST(shows_what_is_before_the_damage),
        CN_SCRATCH_TEST(survives_any_keys_and_names),
        CN_SCRATCH_TEST(shows_progress_and_stops),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
