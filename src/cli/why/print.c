#include "cli/why/print.h"

#include <math.h>
#include <string.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"

enum { ROWS_SHOWN = 20 }; /* without --all */

static size_t shown_rows(const struct cn_why_answer *answer)
{
    size_t count = answer->rows.explaining_count;

    if (answer->shows_all)
        return answer->rows.count;
    return count < ROWS_SHOWN ? count : ROWS_SHOWN;
}

static const struct cn_column text_columns[] = {
    {.name = "slow", .title = "SLOW", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "typical",
     .title = "TYPICAL",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "difference",
     .title = "DIFFERENCE",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "plus_minus",
     .title = "±95%",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "share", .title = "SHARE", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "slow_calls",
     .title = "CALLS",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "typical_calls",
     .title = "TYPICAL",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "kind", .title = "KIND", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_LEFT},
    {.name = "context",
     .title = "SELF TIME OF",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_LEFT},
};
enum { TEXT_COLUMNS = sizeof(text_columns) / sizeof(text_columns[0]) };

/* The cells of a row for people. */
static void add_cells(const struct cn_why_answer *answer, const struct cn_why_row *row,
                      struct cn_text cells[TEXT_COLUMNS])
{
    for (int i = 0; i < TEXT_COLUMNS; i++)
        cn_text_clear(&cells[i]);
    cn_why_ns_add(&cells[0], row->self_ns[CN_WHY_SLOW]);
    cn_why_ns_add(&cells[1], row->self_ns[CN_WHY_TYPICAL]);
    cn_why_ns_add(&cells[2], row->difference_ns);
    if (!isnan(row->error_ns))
        cn_why_ns_add(&cells[3], row->error_ns);
    cn_why_percent_add(&cells[4], row->share);
    cn_why_times_add(&cells[5], row->calls[CN_WHY_SLOW]);
    cn_why_times_add(&cells[6], row->calls[CN_WHY_TYPICAL]);
    cn_text_str_add(&cells[7], cn_why_kind_names[row->kind]);
    cn_why_path_add(&cells[8], answer, row->context, CN_WHY_PATH_MAX);
}

static void print_table(const struct cn_args *args, const struct cn_why_answer *answer)
{
    struct cn_table *table = cn_table_new(stdout, CN_TABLE_TEXT, cn_cli_has_color(args),
                                          text_columns, TEXT_COLUMNS);
    struct cn_text cells[TEXT_COLUMNS] = {{0}};

    for (size_t i = 0; i < shown_rows(answer); i++) {
        add_cells(answer, &answer->rows.list[i], cells);
        for (int k = 0; k < TEXT_COLUMNS; k++)
            cn_table_str(table, cn_text_str(&cells[k]));
        cn_table_end_row(table);
    }
    cn_table_free(table);
    for (int k = 0; k < TEXT_COLUMNS; k++)
        cn_text_done(&cells[k]);
}

static void print_text(const struct cn_args *args, const struct cn_why_answer *answer,
                       const struct cn_why_sentences *sentences)
{
    cn_cli_page(args);
    for (size_t i = 0; i < sentences->count; i++)
        (void)printf("%s\n", cn_text_str(&sentences->list[i]));
    (void)printf("\n");
    print_table(args, answer);
}

/* A bar would end the cell. */
static void add_markdown(struct cn_text *text, const char *str)
{
    for (; *str; str++) {
        if (strchr("|<>*_`\\", *str))
            cn_text_char(text, '\\');
        cn_text_char(text, *str);
    }
}

static void print_markdown(const struct cn_args *args, const struct cn_why_answer *answer,
                           const struct cn_why_sentences *sentences)
{
    struct cn_text cells[TEXT_COLUMNS] = {{0}}, text = {0};

    for (size_t i = 0; i < sentences->count; i++) {
        cn_text_str_add(&text, "- ");
        add_markdown(&text, cn_text_str(&sentences->list[i]));
        cn_text_char(&text, '\n');
    }
    cn_text_str_add(&text, "\n|");
    for (int k = 0; k < TEXT_COLUMNS; k++)
        cn_text_printf(&text, " %s |", text_columns[k].name);
    cn_text_str_add(&text, "\n|");
    for (int k = 0; k < TEXT_COLUMNS; k++)
        cn_text_str_add(&text,
                        text_columns[k].align == CN_ALIGN_RIGHT ? " ---: |" : " --- |");
    cn_text_char(&text, '\n');
    for (size_t i = 0; i < shown_rows(answer); i++) {
        add_cells(answer, &answer->rows.list[i], cells);
        cn_text_char(&text, '|');
        for (int k = 0; k < TEXT_COLUMNS; k++) {
            cn_text_char(&text, ' ');
            add_markdown(&text, cn_text_str(&cells[k]));
            cn_text_str_add(&text, " |");
        }
        cn_text_char(&text, '\n');
    }
    for (int k = 0; k < TEXT_COLUMNS; k++)
        cn_text_done(&cells[k]);
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

/* As in `cairn diff`. */
static const char *verdict_of(const struct cn_why_row *row)
{
    return isnan(row->error_ns) ? "unknown" : row->is_noise ? "noise" : "yes";
}

static void print_csv(const struct cn_args *args, const struct cn_why_answer *answer)
{
    static const struct cn_column columns[] = {
        {.name = "slow_self_ns", .kind = CN_COLUMN_F64},
        {.name = "typical_self_ns", .kind = CN_COLUMN_F64},
        {.name = "difference_ns", .kind = CN_COLUMN_F64},
        {.name = "share", .kind = CN_COLUMN_F64},
        {.name = "slow_calls", .kind = CN_COLUMN_F64},
        {.name = "typical_calls", .kind = CN_COLUMN_F64},
        {.name = "kind", .kind = CN_COLUMN_TEXT},
        {.name = "context", .kind = CN_COLUMN_TEXT},
        {.name = "plus_minus_ns", .kind = CN_COLUMN_F64},
        {.name = "real", .kind = CN_COLUMN_TEXT},
    };
    struct cn_table *table =
        cn_cli_table(args, columns, sizeof(columns) / sizeof(columns[0]));
    struct cn_text path = {0};

    for (size_t i = 0; i < shown_rows(answer); i++) {
        const struct cn_why_row *row = &answer->rows.list[i];

        cn_text_clear(&path);
        cn_why_path_add(&path, answer, row->context, SIZE_MAX);
        cn_table_f64(table, row->self_ns[CN_WHY_SLOW]);
        cn_table_f64(table, row->self_ns[CN_WHY_TYPICAL]);
        cn_table_f64(table, row->difference_ns);
        cn_table_f64(table, row->share);
        cn_table_f64(table, row->calls[CN_WHY_SLOW]);
        cn_table_f64(table, row->calls[CN_WHY_TYPICAL]);
        cn_table_str(table, cn_why_kind_names[row->kind]);
        cn_table_str(table, cn_text_str(&path));
        if (isnan(row->error_ns))
            cn_table_none(table);
        else
            cn_table_f64(table, row->error_ns);
        cn_table_str(table, verdict_of(row));
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&path);
}

static void add_json_group(struct cn_json *json, const struct cn_why_answer *answer,
                           int at)
{
    const struct cn_why_calls *group = &answer->why.groups[at];
    struct cn_text command = {0};

    cn_json_add_object(json, at == CN_WHY_SLOW ? "slow" : "typical");
    cn_json_add_u64(json, "calls", group->count);
    cn_json_add_u64(json, "total_ns", group->total_ns);
    cn_json_add_f64(json, "mean_ns", answer->rows.mean_ns[at]);
    cn_json_add_u64(json, "shortest_ns", group->shortest_ns);
    cn_json_add_u64(json, "longest_ns", group->longest_ns);
    cn_json_add_object(json, "example");
    cn_json_add_u64(json, "tid", answer->rec->tasks[group->example.task].tid);
    cn_json_add_u64(json, "begin_ns", group->example.begin_ns);
    cn_json_add_u64(json, "end_ns", group->example.end_ns);
    cn_json_add_u64(json, "total_ns", group->example.total_ns);
    cn_why_command_add(&command, answer, &group->example);
    cn_json_add_str(json, "command", cn_text_str(&command));
    cn_json_end(json);
    cn_json_end(json);
    cn_text_done(&command);
}

static void add_json_contexts(struct cn_json *json, const struct cn_why_answer *answer)
{
    struct cn_text path = {0};

    cn_json_add_array(json, "contexts");
    for (size_t i = 0; i < shown_rows(answer); i++) {
        const struct cn_why_row *row = &answer->rows.list[i];

        cn_text_clear(&path);
        cn_why_path_add(&path, answer, row->context, SIZE_MAX);
        cn_json_object(json);
        cn_json_add_str(json, "context", cn_text_str(&path));
        cn_json_add_str(json, "kind", cn_why_kind_names[row->kind]);
        cn_json_add_f64(json, "slow_self_ns", row->self_ns[CN_WHY_SLOW]);
        cn_json_add_f64(json, "typical_self_ns", row->self_ns[CN_WHY_TYPICAL]);
        cn_json_add_f64(json, "difference_ns", row->difference_ns);
        cn_json_add_f64(json, "plus_minus_ns", row->error_ns);
        cn_json_add_str(json, "real", verdict_of(row));
        cn_json_add_f64(json, "share", row->share);
        cn_json_add_f64(json, "slow_calls", row->calls[CN_WHY_SLOW]);
        cn_json_add_f64(json, "typical_calls", row->calls[CN_WHY_TYPICAL]);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_text_done(&path);
}

static void add_json_signs(struct cn_json *json, const char *key,
                           const struct cn_signs *signs)
{
    cn_json_add_array(json, key);
    for (size_t i = 0; i < signs->count; i++) {
        const struct cn_sign *sign = &signs->list[i];
        char relation[] = {sign->relation, '\0'};

        cn_json_object(json);
        cn_json_add_str(json, "key", sign->key);
        cn_json_add_str(json, "relation", relation);
        cn_json_add_str(json, "value", sign->value);
        cn_json_add_u64(json, "slow_calls", sign->has[CN_WHY_SLOW]);
        cn_json_add_u64(json, "of_slow_calls", sign->of[CN_WHY_SLOW]);
        cn_json_add_u64(json, "typical_calls", sign->has[CN_WHY_TYPICAL]);
        cn_json_add_u64(json, "of_typical_calls", sign->of[CN_WHY_TYPICAL]);
        cn_json_add_f64(json, "p", exp(sign->log_p));
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* "gpu": what the difference has to do with operations of GPUs; nothing without. */
static void add_json_gpu(struct cn_json *json, const struct cn_why_gpu *gpu)
{
    if (!gpu->ran && !gpu->late)
        return;
    cn_json_add_object(json, "gpu");
    if (gpu->ran) {
        cn_json_add_str(json, "ran", gpu->ran);
        cn_json_add_u64(json, "device", gpu->device);
        cn_json_add_f64(json, "ran_ns", gpu->ran_ns[CN_WHY_SLOW]);
        cn_json_add_f64(json, "typical_ran_ns", gpu->ran_ns[CN_WHY_TYPICAL]);
    }
    if (gpu->late) {
        cn_json_add_str(json, "late", gpu->late);
        cn_json_add_f64(json, "late_ns", gpu->late_ns[CN_WHY_SLOW]);
        cn_json_add_f64(json, "typical_late_ns", gpu->late_ns[CN_WHY_TYPICAL]);
    }
    if (gpu->before)
        cn_json_add_str(json, "before", gpu->before);
    cn_json_end(json);
}

/* "memory": what slow calls allocate more than typical ones; nothing if they do not. */
static void add_json_memory(struct cn_json *json, const struct cn_why_memory *memory)
{
    if (!memory->is_more)
        return;
    cn_json_add_object(json, "memory");
    cn_json_add_f64(json, "bytes", memory->bytes[CN_WHY_SLOW]);
    cn_json_add_f64(json, "typical_bytes", memory->bytes[CN_WHY_TYPICAL]);
    cn_json_add_f64(json, "allocations", memory->allocations[CN_WHY_SLOW]);
    cn_json_add_f64(json, "typical_allocations", memory->allocations[CN_WHY_TYPICAL]);
    if (memory->function) {
        cn_json_add_str(json, "function", memory->function);
        cn_json_add_f64(json, "share", memory->share);
    }
    cn_json_end(json);
}

static void add_json_times(struct cn_json *json, const struct cn_why_times *times)
{
    cn_json_key(json, "cluster");
    if (times->cluster.slow > 0) {
        cn_json_object(json);
        cn_json_add_u64(json, "begin_ns", times->cluster.begin_ns);
        cn_json_add_u64(json, "end_ns", times->cluster.end_ns);
        cn_json_add_u64(json, "slow_calls", times->cluster.slow);
        cn_json_add_f64(json, "typical_share", times->cluster.typical_share);
        cn_json_add_bool(json, "is_first", times->cluster.is_first);
        cn_json_end(json);
    } else {
        cn_json_null(json);
    }
    cn_json_add_u64(json, "period_ns", times->period_ns);
    cn_json_add_u64(json, "overlapping_slow_calls", times->overlapping);
}

static void print_json(const struct cn_args *args, const struct cn_why_answer *answer,
                       const struct cn_why_sentences *sentences)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    cn_json_object(&json);
    cn_json_add_str(&json, "function", answer->function);
    cn_json_add_u64(&json, "calls", answer->why.call_count);
    cn_json_add_u64(&json, "open_calls", answer->why.open_count);
    for (int i = CN_WHY_GROUPS - 1; i >= 0; i--)
        add_json_group(&json, answer, i);
    cn_json_add_f64(&json, "explained", answer->rows.explained);
    add_json_contexts(&json, answer);
    cn_json_add_object(&json, "kinds");
    for (int i = 0; i < CN_WHY_KINDS; i++)
        cn_json_add_f64(&json, cn_why_kind_names[i],
                        answer->rows.kinds_ns[i][CN_WHY_SLOW] -
                            answer->rows.kinds_ns[i][CN_WHY_TYPICAL]);
    cn_json_end(&json);
    add_json_gpu(&json, &answer->gpu);
    add_json_memory(&json, &answer->memory);
    add_json_signs(&json, "signs", &answer->signs);
    add_json_signs(&json, "other_tasks", &answer->others);
    add_json_times(&json, &answer->times);
    cn_json_add_array(&json, "text");
    for (size_t i = 0; i < sentences->count; i++)
        cn_json_str(&json, cn_text_str(&sentences->list[i]));
    cn_json_end(&json);
    cn_json_end(&json);
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

void cn_why_print(const struct cn_args *args, const struct cn_why_answer *answer)
{
    const char *format = cn_args_value(args, "format");
    struct cn_why_sentences sentences = {0};

    cn_why_tell(&sentences, answer);
    if (format && strcmp(format, "json") == 0)
        print_json(args, answer, &sentences);
    else if (format && strcmp(format, "csv") == 0)
        print_csv(args, answer);
    else if (format && strcmp(format, "markdown") == 0)
        print_markdown(args, answer, &sentences);
    else
        print_text(args, answer, &sentences);
    for (size_t i = 0; i < sentences.count; i++)
        cn_text_done(&sentences.list[i]);
}
