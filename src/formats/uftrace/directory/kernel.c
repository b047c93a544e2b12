#include "formats/uftrace/directory/kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/uftrace/directory/resolver.h"
#include "formats/uftrace/text/scan.h"

static void find_formats(struct cn_uft_kernel *k)
{
    for (size_t i = 0; i < k->format.count; i++) {
        const struct cn_uft_kernel_event *event = &k->format.events[i];

        if (strcmp(event->name, "ftrace:funcgraph_entry") == 0)
            k->enter = event;
        else if (strcmp(event->name, "ftrace:funcgraph_exit") == 0)
            k->leave = event;
        if (!k->type)
            k->type = cn_uft_kernel_field_find(event, "common_type");
        if (!k->pid)
            k->pid = cn_uft_kernel_field_find(event, "common_pid");
    }
}

/* kallsyms has the format of old .sym files, with absolute addresses. */
static void load_symbols(struct cn_uft_directory *dir, struct cn_uft_kernel *k)
{
    struct cn_uft_bad_lines bad = {&dir->rec, "kallsyms", 0};
    struct cn_uft_symbols symbols;
    struct cn_bytes file;

    k->module = cn_uft_module_add(dir, "[kernel]", "");
    dir->modules[k->module].first_function = (uint32_t)dir->function_count;
    if (!cn_uft_directory_find(dir, "kallsyms", &file))
        return;
    cn_uft_symbols_read(file, &symbols, cn_uft_bad_line, &bad);
    cn_uft_bad_lines_done(&bad);
    for (size_t i = 0; i < symbols.count && dir->function_count < CN_UFT_SYMBOLS_MAX;
         i++) {
        struct cn_bytes rest = symbols.list[i].name, text;

        /* "name\t[module]" */
        if (!cn_uft_scan_word(&rest, &text) || !strchr("TtWw", symbols.list[i].type))
            continue;
        const char *name = cn_uft_text_copy(&dir->rec.arena, text);
        cn_uft_function_add(dir, (struct cn_call_function){
                                     .name = name,
                                     .raw_name = name,
                                     .module = k->module,
                                     .type = 'K',
                                     .offset = symbols.list[i].offset,
                                     .size = symbols.list[i].size,
                                     .file = "",
                                 });
    }
    dir->modules[k->module].function_count =
        (uint32_t)dir->function_count - dir->modules[k->module].first_function;
    cn_uft_symbols_done(&symbols);
}

static void collect_file(struct cn_uft_directory *dir, struct cn_uft_kernel *k, size_t i)
{
    struct cn_uft_kernel_cursor cursor;
    struct cn_uft_kernel_record record = {.file = (uint16_t)i};
    struct cn_error err = {0};
    struct cn_bytes event;
    enum cn_step step;

    cn_uft_kernel_cursor_init(&cursor, &k->format, k->files[i].bytes);
    while ((step = cn_uft_kernel_next(&cursor, &event, &record.time_ns, &record.off,
                                      &err)) == CN_ITEM) {
        uint64_t tid = cn_uft_kernel_number(&k->format, k->pid, event);
        uint32_t task =
            tid > UINT32_MAX ? CN_NONE : cn_recording_find_task(&dir->rec, (uint32_t)tid);

        if (task == CN_NONE)
            continue;
        record.len = (uint32_t)event.len;
        CN_GROW(k->owners, k->record_count, k->owner_capacity);
        CN_GROW(k->records, k->record_count, k->record_capacity);
        k->owners[k->record_count] = task;
        k->records[k->record_count++] = record;
    }
    if (step == CN_FAIL)
        cn_recording_warn(&dir->rec, true, "%s: %s", k->files[i].name, err.text);
}

/* Sort the records by task and time. */
static void sort_records(const struct cn_uft_directory *dir, struct cn_uft_kernel *k)
{
    struct cn_uft_kernel_record *sorted = cn_alloc(k->record_count, sizeof(*sorted));
    size_t *fill = cn_alloc(dir->task_count + 1, sizeof(*fill));

    k->begins = cn_alloc(dir->task_count + 1, sizeof(*k->begins));
    for (size_t i = 0; i < k->record_count; i++)
        k->begins[k->owners[i] + 1]++;
    for (size_t i = 0; i < dir->task_count; i++)
        k->begins[i + 1] += k->begins[i];
    memcpy(fill, k->begins, (dir->task_count + 1) * sizeof(*fill));
    for (size_t i = 0; i < k->record_count; i++)
        sorted[fill[k->owners[i]]++] = k->records[i];
    for (size_t i = 0; i < dir->task_count; i++)
        CN_SORT(sorted + k->begins[i], k->begins[i + 1] - k->begins[i],
                CN_UP(struct cn_uft_kernel_record, time_ns),
                CN_UP(struct cn_uft_kernel_record, file),
                CN_UP(struct cn_uft_kernel_record, off));
    free(fill);
    free(k->records);
    k->records = sorted;
}

/* Tracepoints get the names of their formats. */
static void name_events(struct cn_uft_directory *dir, const struct cn_uft_kernel *k)
{
    size_t count = dir->rec.event_name_count;
    struct cn_event_name *names =
        cn_arena_alloc(&dir->rec.arena, count + k->format.count, sizeof(*names));

    if (count > 0)
        memcpy(names, dir->rec.event_names, count * sizeof(*names));
    for (size_t i = 0; i < k->format.count; i++)
        names[count++] =
            (struct cn_event_name){k->format.events[i].id, k->format.events[i].name};
    dir->rec.event_names = names;
    dir->rec.event_name_count = (uint32_t)count;
}

void cn_uft_kernel_build(struct cn_uft_directory *dir)
{
    struct cn_error err = {0};
    struct cn_bytes file;

    if (!cn_uft_directory_find(dir, "kernel_header", &file))
        return;
    struct cn_uft_kernel *k = cn_alloc(1, sizeof(*k));
    dir->kernel = k;
    if (!cn_uft_kernel_format_read(file, &dir->rec.arena, &k->format, &err)) {
        cn_recording_warn(&dir->rec, true, "kernel_header: %s", err.text);
        return;
    }
    find_formats(k);
    k->files = cn_uft_cpu_files(dir, "kernel-cpu", CN_SOURCE_KERNEL, &k->file_count);
    load_symbols(dir, k);
    name_events(dir, k);
    for (size_t i = 0; i < k->file_count; i++)
        collect_file(dir, k, i);
    sort_records(dir, k);
    free(k->owners);
    k->owners = NULL;
}

void cn_uft_kernel_free(struct cn_uft_kernel *k)
{
    if (!k)
        return;
    cn_uft_kernel_format_done(&k->format);
    free(k->files);
    free(k->records);
    free(k->owners);
    free(k->begins);
    free(k);
}

void cn_uft_kernel_task(const struct cn_uft_directory *dir, uint32_t task,
                        const struct cn_uft_kernel_record **begin,
                        const struct cn_uft_kernel_record **end)
{
    const struct cn_uft_kernel *k = dir->kernel;

    *begin = *end = NULL;
    if (!k || !k->begins)
        return;
    *begin = k->records + k->begins[task];
    *end = k->records + k->begins[task + 1];
}

void cn_uft_kernel_decode(const struct cn_uft_directory *dir, struct cn_bytes event,
                          uint64_t time_ns, struct cn_call *call, struct cn_bytes *data)
{
    const struct cn_uft_kernel *k = dir->kernel;
    uint64_t type = cn_uft_kernel_number(&k->format, k->type, event);
    const struct cn_uft_kernel_event *graph = NULL;

    *data = (struct cn_bytes){0};
    *call = (struct cn_call){.time_ns = time_ns, .function = CN_NONE};
    if (k->enter && type == k->enter->id)
        graph = k->enter;
    else if (k->leave && type == k->leave->id)
        graph = k->leave;
    if (!graph) {
        call->kind = CN_CALL_EVENT;
        call->address = type;
        call->flags = event.len > 0 ? CN_CALL_HAS_DATA : 0;
        *data = event;
        return;
    }
    call->kind = graph == k->enter ? CN_CALL_ENTER : CN_CALL_EXIT;
    call->flags = CN_CALL_KERNEL;
    call->address =
        cn_uft_kernel_number(&k->format, cn_uft_kernel_field_find(graph, "func"), event);
    call->depth = (uint16_t)cn_uft_kernel_number(
        &k->format, cn_uft_kernel_field_find(graph, "depth"), event);
    call->function = cn_uft_find_symbol(dir, k->module, call->address);
}

void cn_uft_kernel_decode_record(const struct cn_uft_directory *dir,
                                 const struct cn_uft_kernel_record *record,
                                 struct cn_call *call, struct cn_bytes *data)
{
    struct cn_bytes event = {0};

    (void)cn_bytes_slice(dir->kernel->files[record->file].bytes, record->off, record->len,
                         &event);
    cn_uft_kernel_decode(dir, event, record->time_ns, call, data);
}

static void print_field(const struct cn_uft_kernel_format *format,
                        const struct cn_uft_kernel_field *field, struct cn_bytes data,
                        struct cn_text *text)
{
    struct cn_bytes bytes;

    if (field->is_text && cn_bytes_slice(data, field->offset, field->size, &bytes)) {
        cn_text_add(text, (const char *)bytes.ptr,
                    strnlen((const char *)bytes.ptr, bytes.len));
        return;
    }
    if (field->is_signed)
        cn_text_printf(text, "%" PRId64,
                       (int64_t)cn_uft_kernel_number(format, field, data));
    else
        cn_text_printf(text, "%" PRIu64, cn_uft_kernel_number(format, field, data));
}

bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text)
{
    const struct cn_uft_kernel *k = cn_uft_directory_of(rec)->kernel;
    const struct cn_uft_kernel_event *event =
        k ? cn_uft_kernel_event_find(&k->format, call->address) : NULL;

    if (!event)
        return false;
    for (size_t i = event->common_count; i < event->field_count; i++) {
        cn_text_printf(text, "%s%s=", i > event->common_count ? " " : "",
                       event->fields[i].name);
        print_field(&k->format, &event->fields[i], data, text);
    }
    return event->field_count > event->common_count;
}
