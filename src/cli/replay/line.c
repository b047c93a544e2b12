#include "cli/replay/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/map.h"
#include "base/path.h"
#include "cli/print/terminal.h"
#include "model/calls/values.h"
#include "record/shared.h"
#include "symbols/program/resolver.h"

static const char *name_of(const struct cn_replay_printer *printer,
                           const struct cn_replay_line *line, char *buffer, size_t *len)
{
    return cn_call_names_at(&printer->names, line->function, line->address, buffer, len);
}

/* Find the libraries that PLT entries call into: the first module that defines a function of
 * that name. */
static void find_libraries(struct cn_replay_printer *printer)
{
    const struct cn_recording *rec = printer->query->rec;
    struct cn_names names = {0};
    uint32_t *definers = cn_alloc(rec->function_count, sizeof(*definers));

    printer->libraries = cn_alloc(rec->function_count, sizeof(*printer->libraries));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        size_t known = names.count;

        if (strchr("TtWwi", rec->functions[i].type) &&
            strcmp(rec->modules[rec->functions[i].module].name, CN_REC_LIBRARY) != 0 &&
            strcmp(rec->modules[rec->functions[i].module].name, CN_REC_MEMORY_LIBRARY) !=
                0 &&
            cn_names_add(&names, rec->functions[i].name) == known)
            definers[known] = rec->functions[i].module;
    }
    size_t defined = names.count;
    for (uint32_t i = 0; i < rec->function_count; i++) {
        if (rec->functions[i].type != 'P')
            continue;
        uint32_t name = cn_names_add(&names, rec->functions[i].name);
        if (name < defined)
            printer->libraries[i] = rec->modules[definers[name]].name;
    }
    free(definers);
    cn_names_done(&names);
}

static void add_library(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line)
{
    const struct cn_recording *rec = printer->query->rec;

    if (line->function >= rec->function_count)
        return;
    if (!printer->libraries)
        find_libraries(printer);
    const struct cn_call_function *function = &rec->functions[line->function];
    const char *name = function->type == 'P' ? printer->libraries[line->function]
                                             : rec->modules[function->module].name;
    /* The program itself is not mentioned. */
    if (name && strncmp(name, "lib", 3) == 0) {
        cn_text_char(&printer->out, '@');
        cn_utf8_add_printable(&printer->out, name);
    }
}

static void add_name(struct cn_replay_printer *printer, const struct cn_replay_line *line,
                     const char *name, size_t len)
{
    static const struct {
        const char *name;
        enum cn_color color;
    } colors[] = {
        {"red", CN_COLOR_RED},   {"green", CN_COLOR_GREEN}, {"yellow", CN_COLOR_YELLOW},
        {"blue", CN_COLOR_BLUE}, {"bold", CN_COLOR_BOLD},   {"gray", CN_COLOR_DIM},
    };
    enum cn_color color = CN_COLOR_NONE;

    if (!line->color || !printer->has_color) {
        cn_text_add(&printer->out, name, len);
        return;
    }
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
        if (strcmp(line->color, colors[i].name) == 0)
            color = colors[i].color;
    cn_text_str_add(&printer->out, cn_color_start(color));
    cn_text_add(&printer->out, name, len);
    cn_text_str_add(&printer->out, cn_color_stop(color));
}

/* A full C++ name ends in its arguments; the parentheses of operator() are its name. */
static bool ends_in_arguments(const char *name, size_t len)
{
    static const char call[] = "operator()";
    size_t call_len = sizeof(call) - 1;

    if (len == 0 || name[len - 1] != ')')
        return false;
    return len < call_len || strcmp(name + len - call_len, call) != 0;
}

static void add_arguments(struct cn_replay_printer *printer,
                          const struct cn_replay_line *line, const char *name, size_t len)
{
    if (line->arguments[1] != ')')
        cn_utf8_add_printable(&printer->out, line->arguments);
    else if (!ends_in_arguments(name, len))
        cn_text_add(&printer->out, "()", 2);
}

static void begin_comment(struct cn_replay_printer *printer)
{
    if (printer->has_color)
        cn_text_str_add(&printer->out, cn_color_start(CN_COLOR_DIM));
}

static void end_comment(struct cn_replay_printer *printer)
{
    cn_text_add(&printer->out, " */", 3);
    if (printer->has_color)
        cn_text_str_add(&printer->out, cn_color_stop(CN_COLOR_DIM));
}

static void add_location(struct cn_replay_printer *printer, const char *file,
                         uint32_t line)
{
    cn_utf8_add_printable(&printer->out, file);
    cn_text_char(&printer->out, ':');
    cn_text_u64(&printer->out, line);
}

/* Append the function and offset of a call site whose line is unknown: "b+0x1c". */
static void add_call_offset(struct cn_replay_printer *printer, uint32_t task,
                            const struct cn_replay_line *line,
                            const struct cn_mapping *mapping)
{
    const struct cn_recording *rec = printer->query->rec;
    uint32_t found =
        cn_recording_find_function(rec, task, line->time_ns, line->caller - 1);

    if (found == CN_NONE)
        return;
    cn_text_str_add(&printer->out, " from ");
    cn_utf8_add_printable(&printer->out, rec->functions[found].name);
    cn_text_printf(&printer->out, "+%#" PRIx64,
                   line->caller - mapping->begin - rec->functions[found].offset);
}

/* Append the line of a call site, from the debug information of the program. */
static void add_call_site(struct cn_replay_printer *printer,
                          const struct cn_replay_line *line)
{
    enum { INLINE_MAX = 16 };
    const struct cn_recording *rec = printer->query->rec;
    uint32_t task = printer->query->tasks[line->slot];
    /* The recorded address is the return address. */
    uint64_t address = line->caller - 1;
    const struct cn_mapping *mapping =
        cn_recording_mapping_at(rec, task, line->time_ns, address);
    uint64_t key[2] = {(uintptr_t)mapping, address};

    if (!mapping)
        return;
    if (!printer->resolver)
        printer->resolver = cn_resolver_new();
    uint32_t *at = cn_map_at(&printer->site_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)printer->site_count);
    if (*at == printer->site_count) {
        struct cn_source_location found[INLINE_MAX] = {0};
        size_t count =
            cn_resolver_instruction(printer->resolver, rec->modules[mapping->module].path,
                                    rec->modules[mapping->module].build_id,
                                    address - mapping->begin, found, INLINE_MAX);

        CN_PUSH(printer->sites, printer->site_count, printer->site_capacity,
                found[count > 0 ? count - 1 : 0]);
    }
    const struct cn_source_location *site = &printer->sites[*at];
    if (!site->file) {
        add_call_offset(printer, task, line, mapping);
        return;
    }
    cn_text_str_add(&printer->out, " from ");
    add_location(printer, site->file, site->line);
}

/* Append the location of the function, and of its call site. */
static void add_locations(struct cn_replay_printer *printer,
                          const struct cn_replay_line *line)
{
    const struct cn_recording *rec = printer->query->rec;
    const struct cn_call_function *here = NULL;

    if (printer->has_srcline && line->function < rec->function_count &&
        rec->functions[line->function].file[0])
        here = &rec->functions[line->function];
    size_t begin_len = printer->out.len;
    begin_comment(printer);
    cn_text_str_add(&printer->out, " /*");
    size_t empty_len = printer->out.len;
    if (here) {
        cn_text_char(&printer->out, ' ');
        add_location(printer, here->file, here->line);
    }
    if (line->caller && !printer->without_sites)
        add_call_site(printer, line);
    if (printer->out.len == empty_len)
        printer->out.len = begin_len;
    else
        end_comment(printer);
}

static void add_event_text(struct cn_replay_printer *printer,
                           const struct cn_replay_line *line)
{
    const struct cn_recording *rec = printer->query->rec;
    struct cn_text *out = &printer->out;
    struct cn_text data = {0};
    char buffer[CN_CALL_NAME_MAX];

    if (line->kind == CN_REPLAY_SCHEDULE) {
        cn_utf8_add_printable(out, cn_call_name(rec, line->function, 0, buffer));
        return;
    }
    const char *name = cn_recording_event_name(rec, line->event->address);
    if (name)
        cn_utf8_add_printable(out, name);
    else
        cn_text_printf(out, "event-%" PRIu64, line->event->address);
    if (cn_recording_print_task_event(rec, printer->query->tasks[line->slot], line->batch,
                                      line->event, false, &data)) {
        bool is_extern = line->event->address == CN_EVENT_EXTERN;
        bool is_name = line->event->address == CN_EVENT_TASK_NAME;

        cn_text_str_add(out, is_extern ? ": " : is_name ? " (comm=\"" : " (");
        cn_utf8_add_printable(out, cn_text_str(&data));
        cn_text_str_add(out, is_extern ? "" : is_name ? "\")" : ")");
    }
    cn_text_done(&data);
}

static void add_comment_line(struct cn_replay_printer *printer,
                             const struct cn_replay_line *line)
{
    struct cn_text *out = &printer->out;
    char buffer[CN_CALL_NAME_MAX];
    size_t len;

    begin_comment(printer);
    cn_text_add(out, "/* ", 3);
    if (line->kind == CN_REPLAY_LOST)
        cn_text_printf(out, "LOST %" PRIu64 " records!!", line->address);
    else if (line->kind == CN_REPLAY_BACKTRACE)
        cn_text_printf(out, "[%2" PRIu32 "] %s", line->depth,
                       name_of(printer, line, buffer, &len));
    else
        add_event_text(printer, line);
    end_comment(printer);
}

void cn_replay_add_line(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line)
{
    struct cn_text *out = &printer->out;
    char buffer[CN_CALL_NAME_MAX];
    const char *name;
    size_t len;

    switch (line->kind) {
    case CN_REPLAY_OPEN:
    case CN_REPLAY_LEAF:
        name = name_of(printer, line, buffer, &len);
        add_name(printer, line, name, len);
        if (printer->has_libnames)
            add_library(printer, line);
        add_arguments(printer, line, name, len);
        if (line->result[0])
            cn_utf8_add_printable(out, line->result);
        if (line->kind == CN_REPLAY_OPEN)
            cn_text_add(out, " {", 2);
        else
            cn_text_char(out, ';');
        if (printer->has_srcline || line->caller)
            add_locations(printer, line);
        break;
    case CN_REPLAY_CLOSE:
        cn_text_char(out, '}');
        if (line->result[0]) {
            cn_utf8_add_printable(out, line->result);
            cn_text_char(out, ';');
        }
        if (printer->without_comments)
            break;
        begin_comment(printer);
        cn_text_add(out, " /* ", 4);
        name = name_of(printer, line, buffer, &len);
        cn_text_add(out, name, len);
        if (printer->has_libnames)
            add_library(printer, line);
        end_comment(printer);
        break;
    case CN_REPLAY_EVENT:
    case CN_REPLAY_SCHEDULE:
    case CN_REPLAY_LOST:
    case CN_REPLAY_BACKTRACE:
        add_comment_line(printer, line);
        break;
    }
}

void cn_replay_add_flat(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line)
{
    const struct cn_recording *rec = printer->query->rec;
    uint32_t tid = rec->tasks[printer->query->tasks[line->slot]].tid;
    struct cn_text *out = &printer->out;
    bool is_open = line->kind == CN_REPLAY_OPEN;
    char buffer[CN_CALL_NAME_MAX];
    size_t len;

    cn_text_char(out, '[');
    cn_text_u64(out, printer->line_count);
    cn_text_str_add(out, "] ");
    if (line->kind == CN_REPLAY_LOST) {
        cn_text_printf(out, "XXX %" PRIu32 ": lost %" PRIu64 " records", tid,
                       line->address);
    } else if (line->event) {
        cn_text_printf(out, "!!! %" PRIu32 ": ", tid);
        add_event_text(printer, line);
        cn_text_printf(out, " time (%" PRIu64 ")", line->time_ns);
    } else {
        cn_text_str_add(out, is_open ? "==> " : "<== ");
        cn_text_u64(out, tid);
        cn_text_char(out, '/');
        cn_text_u64(out, line->recorded_depth);
        cn_text_str_add(out, ": ip (");
        cn_text_str_add(out, name_of(printer, line, buffer, &len));
        cn_text_str_add(out, "), time (");
        cn_text_u64(out, line->time_ns);
        if (!is_open) {
            cn_text_char(out, ':');
            cn_text_u64(out, line->duration_ns);
        }
        cn_text_char(out, ')');
    }
}
