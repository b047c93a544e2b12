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

#include "cli/print/table.h"

static const struct cn_column columns[] = {
    {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
    {.name = "share_percent", .title = "SHARE", .kind = CN_COLUMN_PERCENT},
    {.name = "function", .title = "FUNCTION", .kind = CN_COLUMN_TEXT},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct sink {
    FILE *file;
    char *chars;
    size_t len;
    struct cn_table *table;
};

static void open_sink(struct sink *sink, enum cn_table_format format, bool has_color,
                      const struct cn_column *of, size_t count)
{
    *sink = (struct sink){0};
    sink->file = open_memstream(&sink->chars, &sink->len);
    assert_non_null(sink->file);
    sink->table = cn_table_new(sink->file, format, has_color, of, count);
}

static void finish(struct sink *sink)
{
    cn_table_free(sink->table);
    assert_int_equal(fclose(sink->file), 0);
}

static void assert_printed(struct sink *sink, const char *expected)
{
    finish(sink);
    assert_string_equal(sink->chars, expected);
    free(sink->chars);
}

static void add_row(struct sink *sink, uint64_t calls, double share, const char *name)
{
    cn_table_u64(sink->table, calls);
    cn_table_f64(sink->table, share);
    cn_table_str(sink->table, name);
    cn_table_end_row(sink->table);
}

static void aligns_text(void **state)
{
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_TEXT, false, columns, COLUMNS);
    add_row(&sink, 7, 99.96, "main");
    add_row(&sink, 1234567, 3.14159, "a rather long name");
    assert_printed(&sink, "  CALLS   SHARE  FUNCTION\n"
                          "      7  100.0%  main\n"
                          "1234567    3.1%  a rather long name\n");
}

static void shortens_names_to_the_width(void **state)
{
    static const struct cn_column fitted[] = {
        {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
        {.name = "name", .title = "NAME", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
        {.name = "path", .title = "PATH", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_PATH},
    };
    static const struct {
        size_t width;
        const char *expected;
    } cases[] = {
        {0, "CALLS  NAME                           PATH\n"
            "    1    std::vector<int>::push(int)  main > a::run() > b::run()\n"
            "    2  main                           main\n"},
        {50, "CALLS  NAME                  PATH\n"
             "    1    std::…::push(…)     … > b::run()\n"
             "    2  main                  main\n"},
        {10, "CALLS  NAME              PATH\n"
             "    1    std::…::push(…)  … > b::run()\n"
             "    2  main              main\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sink sink;

        open_sink(&sink, CN_TABLE_TEXT, false, fitted, COLUMNS);
        cn_table_fit(sink.table, cases[i].width);
        cn_table_u64(sink.table, 1);
        cn_table_str(sink.table, "  std::vector<int>::push(int)");
        cn_table_str(sink.table, "main > a::run() > b::run()");
        cn_table_end_row(sink.table);
        cn_table_u64(sink.table, 2);
        cn_table_str(sink.table, "main");
        cn_table_str(sink.table, "main");
        cn_table_end_row(sink.table);
        assert_printed(&sink, cases[i].expected);
    }
}

static void add_any_row(struct sink *sink, const char *name, int64_t number)
{
    cn_table_str(sink->table, name);
    cn_table_i64(sink->table, number);
    cn_table_f64(sink->table, 2.5);
    cn_table_none(sink->table);
    cn_table_end_row(sink->table);
}

static void prints_cells_of_any_kind(void **state)
{
    static const struct cn_column any[] = {
        {.name = "a", .title = "a", .kind = CN_COLUMN_ANY},
        {.name = "number", .title = "number", .kind = CN_COLUMN_ANY},
        {.name = "real", .title = "real", .kind = CN_COLUMN_ANY},
        {.name = "none", .title = "none", .kind = CN_COLUMN_ANY},
    };
    static const struct {
        enum cn_table_format format;
        const char *expected;
    } cases[] = {
        {CN_TABLE_TEXT, "a     number  real  none\n"
                        "main      -7   2.5\n"
                        "f          8   2.5\n"},
        {CN_TABLE_JSON,
         "[\n{\"a\": \"main\",\"number\": -7,\"real\": 2.5,\"none\": null},\n"
         "{\"a\": \"f\",\"number\": 8,\"real\": 2.5,\"none\": null}\n]\n"},
        {CN_TABLE_CSV, "a,number,real,none\nmain,-7,2.5,\nf,8,2.5,\n"},
        {CN_TABLE_MARKDOWN, "| a | number | real | none |\n"
                            "| --- | ---: | ---: | --- |\n"
                            "| main | -7 | 2.5 |  |\n"
                            "| f | 8 | 2.5 |  |\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sink sink;

        open_sink(&sink, cases[i].format, false, any, sizeof(any) / sizeof(any[0]));
        add_any_row(&sink, "main", -7);
        add_any_row(&sink, "f", 8);
        assert_printed(&sink, cases[i].expected);
    }
}

static void prints_tables_without_rows(void **state)
{
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_TEXT, false, columns, COLUMNS);
    assert_printed(&sink, "CALLS  SHARE  FUNCTION\n");
    open_sink(&sink, CN_TABLE_JSON, false, columns, COLUMNS);
    assert_printed(&sink, "[]\n");
    open_sink(&sink, CN_TABLE_CSV, false, columns, COLUMNS);
    assert_printed(&sink, "calls,share_percent,function\n");
}

static void prints_json_one_object_a_line(void **state)
{
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_JSON, true, columns, COLUMNS);
    add_row(&sink, 7, 12.5, "main");
    cn_table_none(sink.table);
    cn_table_f64(sink.table, NAN);
    cn_table_none(sink.table);
    cn_table_end_row(sink.table);
    assert_printed(&sink,
                   "[\n{\"calls\": 7,\"share_percent\": 12.5,\"function\": \"main\"},\n"
                   "{\"calls\": null,\"share_percent\": null,\"function\": null}\n]\n");
}

static void prints_csv_and_leaves_missing_values_empty(void **state)
{
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_CSV, true, columns, COLUMNS);
    add_row(&sink, 7, 0.1, "main");
    cn_table_none(sink.table);
    cn_table_f64(sink.table, INFINITY);
    cn_table_none(sink.table);
    cn_table_end_row(sink.table);
    assert_printed(&sink, "calls,share_percent,function\n7,0.1,main\n,,\n");
}

static void print_name(struct sink *sink, enum cn_table_format format, const char *name)
{
    open_sink(sink, format, false, &columns[2], 1);
    cn_table_str(sink->table, name);
    cn_table_end_row(sink->table);
}

static void shows_hostile_names_harmlessly(void **state)
{
    static const struct {
        const char *name, *text, *json, *csv;
    } cases[] = {
        {"say \"hi\"", "say \"hi\"", "say \\\"hi\\\"", "\"say \"\"hi\"\"\""},
        {"f(a, b)", "f(a, b)", "f(a, b)", "\"f(a, b)\""},
        {"two\nlines\r", "two\\x0alines\\x0d", "two\\u000alines\\u000d",
         "two\\x0alines\\x0d"},
        {"\x1b[31mred", "\\x1b[31mred", "\\u001b[31mred", "\\x1b[31mred"},
        {"bad\xff\xc3", "bad\\xff\\xc3", "bad\xef\xbf\xbd\xef\xbf\xbd", "bad\\xff\\xc3"},
        {"caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9"},
        {"", "", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sink sink;
        char expected[200];

        print_name(&sink, CN_TABLE_TEXT, cases[i].name);
        (void)snprintf(expected, sizeof(expected), "FUNCTION\n%s\n", cases[i].text);
        assert_printed(&sink, expected);
        print_name(&sink, CN_TABLE_JSON, cases[i].name);
        (void)snprintf(expected, sizeof(expected), "[\n{\"function\": \"%s\"}\n]\n",
                       cases[i].json);
        assert_printed(&sink, expected);
        print_name(&sink, CN_TABLE_CSV, cases[i].name);
        (void)snprintf(expected, sizeof(expected), "function\n%s\n", cases[i].csv);
        assert_printed(&sink, expected);
    }
}

static void counts_columns_not_bytes(void **state)
{
    static const struct cn_column two[] = {
        {.name = "name", .title = "NAME", .kind = CN_COLUMN_TEXT},
        {.name = "calls", .title = "N", .kind = CN_COLUMN_U64},
    };
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_TEXT, false, two, 2);
    cn_table_str(sink.table, "└─ caf\xc3\xa9");
    cn_table_u64(sink.table, 1);
    cn_table_end_row(sink.table);
    cn_table_str(sink.table, "abcdefgh");
    cn_table_u64(sink.table, 22);
    cn_table_end_row(sink.table);
    assert_printed(&sink, "NAME       N\n└─ caf\xc3\xa9    1\nabcdefgh  22\n");
}

static void formats_numbers_for_people(void **state)
{
    static const struct cn_column number[] = {
        {.name = "value", .title = "V", .kind = CN_COLUMN_F64, .align = CN_ALIGN_LEFT},
    };
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-2.5, "-2.5"},
        {1.0 / 3, "0.333333"},
        {12.3456789, "12.3457"},
        {123456.7, "123457"},
        {1234567890123, "1234567890123"},
        {0.00012345678, "0.000123457"},
        {0.1, "0.1"},
        {1e-7, "1.00000e-07"},
        {2e20, "2.00000e+20"},
        {INFINITY, "inf"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sink sink;
        char expected[80];

        open_sink(&sink, CN_TABLE_TEXT, false, number, 1);
        cn_table_f64(sink.table, cases[i].value);
        cn_table_end_row(sink.table);
        (void)snprintf(expected, sizeof(expected), "V\n%s\n", cases[i].text);
        assert_printed(&sink, expected);
    }
}

static void prints_fixed_decimals_and_skips_untitled_columns(void **state)
{
    static const struct cn_column three[] = {
        {.name = "time_s", .title = "TIME", .kind = CN_COLUMN_FIXED, .decimals = 3},
        {.name = "name", .title = "NAME", .align = CN_ALIGN_RIGHT},
        {.name = "id", .kind = CN_COLUMN_U64},
    };
    struct sink sink;

    (void)state;
    for (int json = 0; json < 2; json++) {
        open_sink(&sink, json ? CN_TABLE_JSON : CN_TABLE_TEXT, false, three, 3);
        cn_table_f64(sink.table, 1.5);
        cn_table_str(sink.table, "x");
        cn_table_u64(sink.table, 9);
        cn_table_end_row(sink.table);
        assert_printed(&sink, json ? "[\n{\"time_s\": 1.5,\"name\": \"x\",\"id\": 9}\n]\n"
                                   : " TIME  NAME\n1.500     x\n");
    }
}

static void leaves_no_blanks_at_line_ends(void **state)
{
    struct sink sink;

    (void)state;
    open_sink(&sink, CN_TABLE_TEXT, false, columns, COLUMNS);
    cn_table_u64(sink.table, 1);
    cn_table_none(sink.table);
    cn_table_none(sink.table);
    cn_table_end_row(sink.table);
    assert_printed(&sink, "CALLS  SHARE  FUNCTION\n    1\n");
}

static void paints_only_where_colour_is_allowed(void **state)
{
    struct sink sink;

    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        open_sink(&sink, CN_TABLE_TEXT, allowed, &columns[1], 2);
        cn_table_paint(sink.table, CN_COLOR_RED);
        cn_table_f64(sink.table, 50);
        cn_table_str(sink.table, "f");
        cn_table_end_row(sink.table);
        assert_printed(&sink, allowed ? "\x1b[1mSHARE\x1b[0m  \x1b[1mFUNCTION\x1b[0m\n"
                                        "\x1b[31m50.0%\x1b[0m  f\n"
                                      : "SHARE  FUNCTION\n50.0%  f\n");
    }
}

static void streams_rows_after_the_widths_are_known(void **state)
{
    enum { ROWS = 25000 };
    struct sink sink;
    const char *line;

    (void)state;
    open_sink(&sink, CN_TABLE_TEXT, false, columns, COLUMNS);
    for (uint64_t i = 0; i < ROWS; i++)
        add_row(&sink, i, 1, "f");
    finish(&sink);
    line = sink.chars;
    for (size_t i = 0; i <= ROWS; i++) {
        const char *end = strchr(line, '\n');

        assert_non_null(end);
        if (i > 0) {
            assert_int_equal(strtoull(line, NULL, 10), i - 1);
            assert_int_equal(end - line, strlen("00000   1.0%  f"));
        }
        line = end + 1;
    }
    assert_int_equal(*line, '\0');
    free(sink.chars);
}

/* One very long name must not make all rows as long. */
static void does_not_pad_to_endless_names(void **state)
{
    static const struct cn_column two[] = {
        {.name = "name", .title = "NAME", .kind = CN_COLUMN_TEXT},
        {.name = "calls", .title = "N", .kind = CN_COLUMN_U64},
    };
    enum { NAME_LEN = 100000, ROWS = 1000 };
    char *name = malloc(NAME_LEN + 1);
    struct sink sink;

    (void)state;
    assert_non_null(name);
    memset(name, 'x', NAME_LEN);
    name[NAME_LEN] = '\0';
    open_sink(&sink, CN_TABLE_TEXT, false, two, 2);
    for (size_t i = 0; i < ROWS; i++) {
        cn_table_str(sink.table, i ? "f" : name);
        cn_table_u64(sink.table, i);
        cn_table_end_row(sink.table);
    }
    finish(&sink);
    assert_true(sink.len < NAME_LEN + ROWS * 200);
    free(sink.chars);
    free(name);
}

static void drops_a_row_left_unfinished(void **state)
{
    static const char *const expected[] = {
        [CN_TABLE_TEXT] = "CALLS  SHARE  FUNCTION\n    1   2.0%  f\n",
        [CN_TABLE_JSON] =
            "[\n{\"calls\": 1,\"share_percent\": 2,\"function\": \"f\"}\n]\n",
        [CN_TABLE_CSV] = "calls,share_percent,function\n1,2,f\n",
    };

    (void)state;
    for (int format = CN_TABLE_TEXT; format <= CN_TABLE_CSV; format++) {
        struct sink sink;

        open_sink(&sink, (enum cn_table_format)format, false, columns, COLUMNS);
        add_row(&sink, 1, 2, "f");
        cn_table_u64(sink.table, 3);
        assert_printed(&sink, expected[format]);
    }
}

static void knows_the_formats_by_name(void **state)
{
    (void)state;
    assert_int_equal(cn_table_format_parse(NULL), CN_TABLE_TEXT);
    assert_int_equal(cn_table_format_parse("text"), CN_TABLE_TEXT);
    assert_int_equal(cn_table_format_parse("json"), CN_TABLE_JSON);
    assert_int_equal(cn_table_format_parse("csv"), CN_TABLE_CSV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns_text),
        cmocka_unit_test(shortens_names_to_the_width),
        cmocka_unit_test(prints_cells_of_any_kind),
        cmocka_unit_test(prints_tables_without_rows),
        cmocka_unit_test(prints_json_one_object_a_line),
        cmocka_unit_test(prints_csv_and_leaves_missing_values_empty),
        cmocka_unit_test(shows_hostile_names_harmlessly),
        cmocka_unit_test(counts_columns_not_bytes),
        cmocka_unit_test(formats_numbers_for_people),
        cmocka_unit_test(prints_fixed_decimals_and_skips_untitled_columns),
        cmocka_unit_test(leaves_no_blanks_at_line_ends),
        cmocka_unit_test(paints_only_where_colour_is_allowed),
        cmocka_unit_test(streams_rows_after_the_widths_are_known),
        cmocka_unit_test(does_not_pad_to_endless_names),
        cmocka_unit_test(drops_a_row_left_unfinished),
        cmocka_unit_test(knows_the_formats_by_name),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
