#include "cli/replay/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "cli/print/fields.h"
#include "cli/print/fixed_width.h"
#include "cli/print/write.h"
#include "model/calls/values.h"
#include "symbols/program/resolver.h"

enum {
    OUT_FLUSH_LEN = 256 << 10,
    TID_WIDTH = 7,
    ADDRESS_WIDTH = 12,
    TIME_WIDTH = 18,
    TASK_WIDTH = 15,
    MODULE_WIDTH = 16,
};

static const struct cn_output_field fields[CN_FIELD_COUNT] = {
    [CN_FIELD_DURATION] = {"duration", "  DURATION ", NULL, CN_OUTPUT_USUAL},
    [CN_FIELD_TID] = {"tid", "    TID   ", NULL, CN_OUTPUT_USUAL},
    [CN_FIELD_ADDRESS] = {"addr", "    ADDRESS  ", NULL, 0},
    [CN_FIELD_TIME] = {"time", "      TIMESTAMP    ", NULL, 0},
    [CN_FIELD_DELTA] = {"delta", "  TIMEDELTA", NULL, 0},
    [CN_FIELD_ELAPSED] = {"elapsed", "   ELAPSED ", NULL, 0},
    [CN_FIELD_TASK] = {"task", "       TASK NAME", NULL, 0},
    [CN_FIELD_MODULE] = {"module", "      MODULE NAME", NULL, 0},
};

bool cn_replay_fields_parse(struct cn_replay_printer *printer, const char *text,
                            struct cn_error *err)
{
    return cn_fields_parse(fields, CN_FIELD_COUNT, text, printer->has_field, err);
}

void cn_replay_print_begin(struct cn_replay_printer *printer)
{
    const struct cn_call_query *query = printer->query;
    struct cn_text *out = &printer->out;

    printer->tasks = cn_alloc(query->task_count, sizeof(*printer->tasks));
    for (uint32_t i = 0; i < query->task_count; i++)
        printer->tasks[i].label_len = (uint32_t)snprintf(
            printer->tasks[i].label, sizeof(printer->tasks[i].label),
            " [%*" PRIu32 "] | ", TID_WIDTH, query->rec->tasks[query->tasks[i]].tid);
    cn_call_names_init(&printer->names, query->rec);
    printer->is_usual = printer->first_field == CN_FIELD_COUNT;
    for (size_t i = 0; i < CN_FIELD_COUNT; i++)
        printer->is_usual &=
            printer->has_field[i] == ((fields[i].flags & CN_OUTPUT_USUAL) != 0);
    printer->last_slot = CN_NONE;
    if (printer->is_flat)
        cn_text_char(out, '\n');
    else
        cn_fields_heading_add(out, fields, CN_FIELD_COUNT, printer->has_field,
                              printer->first_field, printer->has_srcline);
}

static const char *module_of(const struct cn_recording *rec,
                             const struct cn_replay_line *line)
{
    if (line->kind == CN_REPLAY_EVENT || line->kind == CN_REPLAY_SCHEDULE)
        return line->duration_ns ? "[event]" : "";
    if (line->kind == CN_REPLAY_LOST)
        return "";
    if (line->function >= rec->function_count)
        return "[unknown]";
    return rec->modules[rec->functions[line->function].module].name;
}

/* Lost records have no time: use that of the line before. */
static uint64_t time_of(const struct cn_replay_printer *printer,
                        const struct cn_replay_line *line)
{
    return line->time_ns ? line->time_ns : printer->tasks[line->slot].last_ns;
}

static void add_right(struct cn_text *out, const char *name, size_t width)
{
    struct cn_text printable = {0};

    cn_utf8_add_printable(&printable, name);
    cn_right_add(out, cn_text_str(&printable), width);
    cn_text_done(&printable);
}

static void add_value(struct cn_replay_printer *printer, enum cn_replay_field field,
                      const struct cn_replay_line *line, const struct cn_task *task)
{
    struct cn_text *out = &printer->out;
    const struct cn_recording *rec = printer->query->rec;
    bool is_event = line->kind == CN_REPLAY_LOST ||
                    (line->kind == CN_REPLAY_EVENT && line->duration_ns == 0);
    uint64_t last_ns;

    switch (field) {
    case CN_FIELD_DURATION:
        if (line->kind == CN_REPLAY_BACKTRACE)
            cn_right_add(out, "backtrace", CN_DURATION_LEN);
        else
            cn_duration_add(out, line->duration_ns);
        break;
    case CN_FIELD_TID:
        cn_text_char(out, '[');
        cn_number_add(out, task->tid, TID_WIDTH);
        cn_text_char(out, ']');
        break;
    case CN_FIELD_ADDRESS:
        if (is_event)
            cn_text_fill(out, ' ', ADDRESS_WIDTH);
        else
            cn_hex_number_add(out, line->address, ADDRESS_WIDTH);
        break;
    case CN_FIELD_TIME:
        cn_timestamp_add(out, time_of(printer, line), TIME_WIDTH);
        break;
    case CN_FIELD_DELTA:
        last_ns = line->caller_ns ? line->caller_ns : printer->tasks[line->slot].last_ns;
        cn_duration_add(out,
                        last_ns && line->time_ns > last_ns ? line->time_ns - last_ns : 0);
        break;
    case CN_FIELD_ELAPSED:
        cn_duration_add(out, time_of(printer, line) > printer->start_ns
                                 ? time_of(printer, line) - printer->start_ns
                                 : 0);
        break;
    case CN_FIELD_TASK:
        add_right(out, line->task_name, TASK_WIDTH);
        break;
    case CN_FIELD_MODULE:
        add_right(out, module_of(rec, line), MODULE_WIDTH);
        break;
    case CN_FIELD_COUNT:
        break;
    }
}

static void add_fields(struct cn_replay_printer *printer,
                       const struct cn_replay_line *line)
{
    struct cn_text *out = &printer->out;
    const struct cn_task *task =
        &printer->query->rec->tasks[printer->query->tasks[line->slot]];
    size_t begin = out->len;

    if (printer->is_usual && line->kind != CN_REPLAY_BACKTRACE) {
        const struct cn_replay_task *self = &printer->tasks[line->slot];

        cn_text_char(out, ' ');
        cn_duration_add(out, line->duration_ns);
        cn_text_add(out, self->label, self->label_len);
        return;
    }
    if (printer->first_field < CN_FIELD_COUNT) {
        cn_text_char(out, ' ');
        add_value(printer, printer->first_field, line, task);
    }
    for (unsigned i = 0; i < CN_FIELD_COUNT; i++) {
        if (!printer->has_field[i] || i == printer->first_field)
            continue;
        cn_text_char(out, ' ');
        add_value(printer, (enum cn_replay_field)i, line, task);
    }
    if (out->len > begin)
        cn_text_add(out, " | ", 3);
}

/* With --task-newline, print an empty line where the task changes. */
static void add_task_line(struct cn_replay_printer *printer, uint32_t slot)
{
    bool is_new = printer->has_task_lines && printer->last_slot != CN_NONE &&
                  printer->last_slot != slot;

    printer->last_slot = slot;
    if (!is_new)
        return;
    for (unsigned i = 0; i < CN_FIELD_COUNT; i++)
        if (printer->has_field[i] || i == printer->first_field)
            cn_text_fill(&printer->out, ' ', strlen(fields[i].heading));
    cn_text_str_add(&printer->out,
                    cn_fields_any(printer->has_field, CN_FIELD_COUNT) ? " | \n" : "\n");
}

static uint64_t indent_of(struct cn_replay_printer *printer,
                          const struct cn_replay_line *line)
{
    struct cn_replay_task *task = &printer->tasks[line->slot];
    bool is_extern = line->event && line->event->address == CN_EVENT_EXTERN;
    uint32_t depth = line->kind == CN_REPLAY_BACKTRACE || is_extern ? 0 : line->depth;

    if (!printer->has_columns)
        return depth;
    if (task->column == 0)
        task->column = ++printer->column_count;
    return depth + (uint64_t)(task->column - 1) * printer->column_offset;
}

bool cn_replay_print_line(void *arg, const struct cn_replay_line *line)
{
    struct cn_replay_printer *printer = arg;
    struct cn_text *out = &printer->out;

    if (out->len >= OUT_FLUSH_LEN) {
        cn_text_flush(&printer->out, stdout);
        if (ferror(stdout))
            return false;
    }
    if (printer->is_flat) {
        cn_replay_add_flat(printer, line);
    } else {
        add_task_line(printer, line->slot);
        add_fields(printer, line);
        cn_indent_add(out, indent_of(printer, line));
        cn_replay_add_line(printer, line);
    }
    cn_text_char(out, '\n');
    printer->line_count++;
    if (line->time_ns > 0)
        printer->tasks[line->slot].last_ns = line->time_ns;
    return true;
}

static void add_open_calls(struct cn_replay_printer *printer, uint32_t slot,
                           const struct cn_call_stack *stack)
{
    const struct cn_recording *rec = printer->query->rec;

    cn_text_str_add(&printer->out, "task: ");
    cn_text_u64(&printer->out, rec->tasks[printer->query->tasks[slot]].tid);
    cn_text_char(&printer->out, '\n');
    for (uint32_t i = stack->count; i-- > 0;) {
        const struct cn_call_frame *frame = &stack->frames[i];
        char buffer[CN_CALL_NAME_MAX];
        size_t len;

        if (frame->flags & CN_FRAME_SCHEDULE)
            continue;
        cn_text_printf(&printer->out, "[%" PRIu32 "] %s\n", i,
                       cn_call_names_at(&printer->names, frame->function, frame->address,
                                        buffer, &len));
    }
    cn_text_char(&printer->out, '\n');
}

void cn_replay_print_end(struct cn_replay_printer *printer,
                         const struct cn_call_replay *replay)
{
    bool has_heading = false;

    for (uint32_t i = 0; i < replay->stack_count; i++) {
        const struct cn_call_stack *stack = &replay->stacks[i];

        if (stack->count == 0 ||
            (stack->count == 1 && (stack->frames[0].flags & CN_FRAME_SCHEDULE)))
            continue;
        if (!has_heading)
            cn_text_str_add(&printer->out,
                            "\nuftrace stopped tracing with remaining functions\n"
                            "================================================\n");
        has_heading = true;
        add_open_calls(printer, i, stack);
    }
    cn_text_flush(&printer->out, stdout);
}

void cn_replay_print_done(struct cn_replay_printer *printer)
{
    cn_text_done(&printer->out);
    free(printer->tasks);
    free(printer->libraries);
    cn_resolver_free(printer->resolver);
    cn_map_done(&printer->site_of);
    free(printer->sites);
    cn_call_names_done(&printer->names);
}
