#include "cli/dump/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/calls/feed.h"
#include "analyze/calls/stack.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/fixed_width.h"
#include "cli/print/write.h"
#include "cli/recording/call_names.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "model/calls/values.h"

enum {
    OUT_FLUSH_LEN = 256 << 10,
    TID_WIDTH = 7,
    HEX_A_LINE = 16,
    HEX_A_GROUP = 8,
    NS_A_SECOND = 1000000000,
};

static const char *const feature_names[] = {
    "PLTHOOK",      "TASK_SESSION",    "KERNEL",   "ARGUMENT",   "RETVAL",
    "SYM_REL_ADDR", "MAX_STACK",       "EVENT",    "PERF_EVENT", "AUTO_ARGS",
    "DEBUG_INFO",   "ESTIMATE_RETURN", "SYM_SIZE", "CALLSITE",
};

static const char *const info_names[] = {
    "EXE_NAME",     "EXE_BUILD_ID", "EXIT_STATUS", "CMDLINE",  "CPUINFO",  "MEMINFO",
    "OSINFO",       "TASKINFO",     "USAGEINFO",   "LOADINFO", "ARG_SPEC", "RECORD_DATE",
    "PATTERN_TYPE", "VERSION",      "UTC_OFFSET",  "SYSCTL",
};

struct recording_dump {
    const struct cn_args *args;
    const struct cn_recording *rec;
    bool has_hex, without_values;
    uint64_t rest; /* records still to print */
    struct cn_text out;
    uint64_t last_ns;
    size_t damaged_count; /* files */

    uint64_t second;
    uint32_t tid;
    struct cn_text second_text, tid_text, scratch;
    struct cn_call_names names;
};

static void add_bits(struct cn_text *text, const char *label, uint64_t bits,
                     const char *const *names, size_t count)
{
    const char *separator = "";

    cn_text_printf(text, "uftrace file header: %-13s = 0x%" PRIx64 " (", label, bits);
    for (size_t i = 0; i < count; i++) {
        if (bits >> i & 1) {
            cn_text_printf(text, "%s%s", separator, names[i]);
            separator = " | ";
        }
    }
    cn_text_str_add(text, ")\n");
}

static void add_header(struct recording_dump *dump)
{
    const struct cn_recording *rec = dump->rec;
    struct cn_text *out = &dump->out;

    cn_text_str_add(out, "uftrace file header: magic         = 4674726163652100\n");
    cn_text_printf(out, "uftrace file header: version       = %" PRIu32 "\n",
                   rec->version);
    cn_text_printf(out, "uftrace file header: header size   = %u\n", rec->header_len);
    cn_text_printf(out, "uftrace file header: endian        = %s\n",
                   rec->is_big_endian ? "2 (big)" : "1 (little)");
    cn_text_printf(out, "uftrace file header: class         = %s\n",
                   rec->is_32_bit ? "1 (32 bit)" : "2 (64 bit)");
    add_bits(out, "features", rec->features, feature_names,
             sizeof(feature_names) / sizeof(feature_names[0]));
    add_bits(out, "info", rec->info_mask, info_names,
             sizeof(info_names) / sizeof(info_names[0]));
    cn_text_char(out, '\n');
}

/* Long runs of records are of the same second and task: format both once. */
static void add_time(struct recording_dump *dump, uint64_t time_ns, uint32_t tid)
{
    uint64_t second = time_ns / NS_A_SECOND;

    if (second != dump->second || dump->second_text.len == 0) {
        dump->second = second;
        cn_text_clear(&dump->second_text);
        cn_text_u64(&dump->second_text, second);
    }
    if (tid != dump->tid || dump->tid_text.len == 0) {
        dump->tid = tid;
        cn_text_clear(&dump->tid_text);
        cn_text_printf(&dump->tid_text, "  %*" PRIu32 ": ", TID_WIDTH, tid);
    }
    cn_text_add(&dump->out, dump->second_text.chars, dump->second_text.len);
    cn_nanoseconds_add(&dump->out, (uint32_t)(time_ns % NS_A_SECOND));
    cn_text_add(&dump->out, dump->tid_text.chars, dump->tid_text.len);
}

static void add_hex_lines(struct cn_text *text, struct cn_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (i % HEX_A_LINE == 0)
            cn_text_str_add(text, i > 0 ? "\n\t" : "\t");
        cn_text_printf(text, "%02x ", bytes.ptr[i]);
        if (i % HEX_A_GROUP == HEX_A_GROUP - 1)
            cn_text_char(text, ' ');
    }
    cn_text_char(text, '\n');
}

static void add_pointer(struct recording_dump *dump, const struct cn_call *call,
                        uint32_t task, uint64_t pointer)
{
    const struct cn_recording *rec = dump->rec;
    uint32_t function =
        task == CN_NONE ? CN_NONE
                        : cn_recording_find_function(rec, task, call->time_ns, pointer);

    if (function != CN_NONE && call->kind == CN_CALL_ENTER)
        cn_text_printf(&dump->out, " %" PRIx64 " (&%s)\n", pointer,
                       dump->names.list[function]);
    else if (pointer == 0)
        cn_text_str_add(&dump->out, call->kind == CN_CALL_ENTER ? " 0\n" : " (nil)\n");
    else
        cn_text_printf(&dump->out, " 0x%" PRIx64 "\n", pointer);
}

/* Append what follows "args[0]" or "retval". */
static void add_value(struct recording_dump *dump, const struct cn_call *call,
                      uint32_t task, const struct cn_call_values *values,
                      const struct cn_call_value *value)
{
    struct cn_text *out = &dump->out;
    const struct cn_argument_spec *spec = value->spec;

    if (spec->format == 't') {
        cn_text_str_add(out, " struct ");
        cn_utf8_add_printable(out, spec->type_name);
        cn_text_str_add(out, ":\n");
        if (value->bytes.len > 0)
            add_hex_lines(out, value->bytes);
        return;
    }
    uint64_t number = cn_call_value_number(values, value);
    if (spec->format == 'e' && spec->enumeration && call->kind == CN_CALL_ENTER) {
        cn_text_clear(&dump->scratch);
        cn_text_printf(&dump->scratch, " enum %s: ", spec->enumeration->name);
        cn_enum_print(spec->enumeration, (int64_t)number, &dump->scratch);
        cn_utf8_add_printable(out, cn_text_str(&dump->scratch));
        cn_text_printf(out, " (%" PRId64 ")\n", (int64_t)number);
        return;
    }
    cn_text_char(out, ' ');
    cn_call_value_type_print(value, out);
    cn_text_char(out, ':');
    if (spec->format == 'p') {
        add_pointer(dump, call, task, number);
    } else if (spec->format == 's' || spec->format == 'S') {
        cn_text_char(out, ' ');
        cn_utf8_add_printable_chars(out, (const char *)value->bytes.ptr,
                                    value->bytes.len);
        cn_text_char(out, '\n');
    } else {
        cn_text_printf(out, " 0x%0*" PRIx64 "\n", 2 * spec->size, number);
    }
}

static void add_values(struct recording_dump *dump, const struct cn_call_batch *batch,
                       const struct cn_call *call, uint32_t tid)
{
    bool is_entry = call->kind == CN_CALL_ENTER;
    uint32_t task = cn_recording_find_task(dump->rec, tid);
    struct cn_call_values values;
    struct cn_call_value value;

    add_time(dump, call->time_ns, tid);
    cn_text_printf(&dump->out, "[%s] length = %" PRIu32 "\n",
                   is_entry ? "args " : "retval", call->data_len);
    cn_call_values_begin(&values, dump->rec, batch, call);
    for (unsigned i = 0; cn_call_values_next(&values, &value); i++) {
        if (is_entry)
            cn_text_printf(&dump->out, "  args[%u]", i);
        else
            cn_text_str_add(&dump->out, "  retval");
        add_value(dump, call, task, &values, &value);
    }
}

static void add_event_data(struct recording_dump *dump, const struct cn_call_batch *batch,
                           const struct cn_call *call, uint32_t tid)
{
    const char *name = cn_recording_event_name(dump->rec, call->address);

    add_time(dump, call->time_ns, tid);
    cn_text_printf(&dump->out, "[data ] length = %" PRIu32 "\n", call->data_len);
    cn_text_clear(&dump->scratch);
    cn_text_printf(&dump->scratch, "  %s: ", name ? name : "event");
    if (!cn_recording_print_task_event(dump->rec, cn_recording_find_task(dump->rec, tid),
                                       batch, call, true, &dump->scratch))
        return;
    cn_utf8_add_printable_chars(&dump->out, cn_text_str(&dump->scratch),
                                dump->scratch.len);
    cn_text_char(&dump->out, '\n');
}

static void add_event(struct recording_dump *dump, const struct cn_source *source,
                      const struct cn_call_batch *batch, const struct cn_call *call,
                      uint32_t tid)
{
    const char *name = cn_recording_event_name(dump->rec, call->address);
    struct cn_text *out = &dump->out;

    cn_text_str_add(out, "[event] ");
    cn_utf8_add_printable(out, name ? name : "unknown");
    if (source->kind == CN_SOURCE_PERF) {
        cn_text_printf(out, "(%" PRIu64 ")\n", call->address);
        return;
    }
    cn_text_printf(out, "(%" PRIx64 ") depth: %u\n", call->address, call->depth);
    if (call->flags & CN_CALL_HAS_DATA)
        add_event_data(dump, batch, call, tid);
}

static void add_call(struct recording_dump *dump, const struct cn_call_batch *batch,
                     const struct cn_call *call, uint32_t tid)
{
    static const char labels[][9] = {
        [CN_CALL_ENTER] = "[entry] ",
        [CN_CALL_EXIT] = "[exit ] ",
        [CN_CALL_LOST] = "[lost ] ",
    };
    struct cn_text *out = &dump->out;
    char buffer[CN_CALL_NAME_MAX];
    uint32_t function = call->kind == CN_CALL_LOST ? CN_NONE : call->function;
    size_t len;

    cn_text_add(out, labels[call->kind], sizeof(labels[0]) - 1);
    const char *name =
        cn_call_names_at(&dump->names, function, call->address, buffer, &len);
    cn_text_add(out, name, len);
    cn_text_char(out, '(');
    cn_hex_number_add(out, call->address, 0);
    cn_text_str_add(out, ") depth: ");
    cn_text_u64(out, call->kind == CN_CALL_LOST ? 0 : call->depth);
    cn_text_char(out, '\n');
    if ((call->flags & CN_CALL_HAS_DATA) && !dump->without_values)
        add_values(dump, batch, call, tid);
}

static void add_record(struct recording_dump *dump, const struct cn_source *source,
                       const struct cn_call_batch *batch, size_t i, uint32_t tid)
{
    const struct cn_call *call = &batch->calls[i];

    dump->rest--;
    if (source->kind == CN_SOURCE_TASK && call->time_ns < dump->last_ns)
        cn_text_str_add(&dump->out, "\n*************************************\n"
                                    "* inverted time - data seems broken *\n"
                                    "*************************************\n\n");
    dump->last_ns = call->time_ns;
    add_time(dump, call->time_ns, tid);
    if (call->kind == CN_CALL_EVENT)
        add_event(dump, source, batch, call, tid);
    else
        add_call(dump, batch, call, tid);
    if (dump->has_hex && batch->raw)
        add_hex_lines(&dump->out, batch->raw[i]);
    if (dump->out.len >= OUT_FLUSH_LEN)
        cn_text_flush(&dump->out, stdout);
}

/* Like uftrace, separate the events of processors from the tasks, if the first has any. */
static void add_title(struct recording_dump *dump, const struct cn_source *source)
{
    if (strcmp(source->name, "perf-cpu0.dat") == 0)
        cn_text_char(&dump->out, '\n');
    cn_text_str_add(&dump->out, "reading ");
    cn_utf8_add_printable(&dump->out, source->name);
    cn_text_char(&dump->out, '\n');
}

/* Which records of a source are shown; NULL: all. */
typedef bool (*choose_fn)(void *arg, const struct cn_call_batch *batch, size_t i);

static void tell_damage(struct recording_dump *dump, const struct cn_error *err)
{
    cn_text_flush(&dump->out, stdout);
    cn_cli_warn(dump->args, "%s: %s", dump->rec->path, err->text);
    dump->damaged_count++;
}

static void dump_source(struct recording_dump *dump, uint32_t index, choose_fn choose,
                        void *arg)
{
    const struct cn_source *source = &dump->rec->sources[index];
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error err;
    enum cn_step step = CN_FAIL;
    bool has_title = source->kind == CN_SOURCE_TASK;

    if (has_title)
        add_title(dump, source);
    dump->last_ns = 0;
    if (cn_recording_source_open(dump->rec, index, &stream, &err)) {
        while (dump->rest > 0 &&
               (step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM) {
            for (size_t i = 0; i < batch.count && dump->rest > 0; i++) {
                if (choose && !choose(arg, &batch, i))
                    continue;
                if (!has_title)
                    add_title(dump, source);
                has_title = true;
                add_record(dump, source, &batch, i, batch.tids[i]);
            }
        }
        cn_call_stream_close(stream);
    }
    if (step == CN_FAIL && dump->rest > 0)
        tell_damage(dump, &err);
}

/* Like uftrace, print external data only if it is asked for. */
static bool is_chosen(const struct cn_source *source, const char *file)
{
    return file ? strcmp(file, source->name) == 0 : source->kind != CN_SOURCE_EXTERN;
}

static bool dump_begin(struct recording_dump *dump, const struct cn_args *args,
                       struct cn_error *err)
{
    *dump = (struct recording_dump){.args = args,
                                    .has_hex = cn_args_has(args, "hex"),
                                    .without_values = cn_args_has(args, "no-args")};
    return cn_args_u64(args, "limit", 0, UINT64_MAX, UINT64_MAX, &dump->rest, err);
}

static void dump_use(struct recording_dump *dump, const struct cn_recording *rec)
{
    dump->rec = rec;
    cn_call_names_init(&dump->names, rec);
    cn_cli_page(dump->args);
    add_header(dump);
}

static bool dump_end(struct recording_dump *dump, struct cn_error *err)
{
    cn_text_flush(&dump->out, stdout);
    return dump->damaged_count == 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%s: %zu of %" PRIu32 " %s damaged; what could be read is "
                   "shown",
                   dump->rec->path, dump->damaged_count, dump->rec->source_count,
                   cn_plural(dump->rec->source_count, "file is", "files are"));
}

static void dump_done(struct recording_dump *dump)
{
    cn_text_done(&dump->out);
    cn_text_done(&dump->second_text);
    cn_text_done(&dump->tid_text);
    cn_text_done(&dump->scratch);
    cn_call_names_done(&dump->names);
}

static bool check_format(const struct cn_args *args, const char *path,
                         struct cn_error *err)
{
    const char *format = cn_args_value(args, "format");

    return !format || strcmp(format, "text") == 0 ||
           cn_fail(err, CN_ERR_USAGE,
                   "%s: records of a recording are dumped as text; for its calls run "
                   "'cairn convert %s %s'",
                   path, path,
                   strcmp(format, "csv") == 0 ? "FOLDER --to csv" : "- --to ndjson");
}

bool cn_dump_recording(const struct cn_args *args, struct cn_opened *opened,
                       struct cn_error *err)
{
    struct recording_dump dump;
    const char *file = cn_args_value(args, "file");
    bool ok = dump_begin(&dump, args, err) && check_format(args, opened->path, err) &&
              cn_cli_load(opened, args, CN_CALLS, err);

    if (ok)
        cn_cli_warn_opened(args, opened);
    struct cn_recording *rec = opened->rec;
    if (ok && !rec->ops->source_open)
        ok = cn_fail(err, CN_ERR_USAGE, "%s has no binary records to dump", opened->path);
    if (ok) {
        dump_use(&dump, rec);
        for (uint32_t i = 0; i < rec->source_count && dump.rest > 0; i++)
            if (is_chosen(&rec->sources[i], file))
                dump_source(&dump, i, NULL, NULL);
        ok = dump_end(&dump, err);
    }
    dump_done(&dump);
    return ok;
}

/* True for an event of the scheduler: it is in a file of a processor. */
static bool is_kernel_event(const struct cn_call *call)
{
    return call->kind == CN_CALL_EVENT && call->address >= CN_EVENT_SCHED_IN &&
           call->address <= CN_EVENT_SCHED_BOTH_PREEMPT;
}

/* True if a record of a task belongs to what is shown. */
static bool is_shown(struct cn_call_stack *stack, const struct cn_call_batch *batch,
                     const struct cn_call *call)
{
    struct cn_call_end ended;

    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        return cn_call_stack_enter(stack, call, batch, NULL)->flags & CN_FRAME_SHOWN;
    case CN_CALL_EXIT:
        cn_call_stack_leave(stack, call, &ended);
        return ended.frame.flags & CN_FRAME_SHOWN;
    case CN_CALL_EVENT:
        return !is_kernel_event(call) && call->address != CN_EVENT_EXTERN &&
               cn_call_stack_shows_event(stack, call);
    case CN_CALL_LOST:
        return true;
    }
    return false;
}

static void dump_task(struct recording_dump *dump, const struct cn_recording_setup *setup,
                      const struct cn_source *source, bool *is_on)
{
    struct cn_call_feed feed = {0};
    struct cn_call_stack stack;
    struct cn_call_batch batch;
    struct cn_error err;
    enum cn_step step = CN_FAIL;

    add_title(dump, source);
    dump->last_ns = 0;
    cn_call_stack_init(&stack, dump->rec, &setup->filter, source->task, false, is_on);
    if (cn_call_feed_open(&feed, &setup->query, source->task, &err)) {
        while (dump->rest > 0 &&
               (step = cn_call_feed_next(&feed, &batch, &err)) == CN_ITEM)
            for (size_t i = 0; i < batch.count && dump->rest > 0; i++)
                if (is_shown(&stack, &batch, &batch.calls[i]))
                    add_record(dump, source, &batch, i,
                               dump->rec->tasks[source->task].tid);
    }
    cn_call_feed_close(&feed);
    cn_call_stack_done(&stack);
    if (step == CN_FAIL && dump->rest > 0)
        tell_damage(dump, &err);
}

static bool has_task(const struct cn_call_query *query, uint32_t task)
{
    for (uint32_t i = 0; i < query->task_count; i++)
        if (query->tasks[i] == task)
            return true;
    return false;
}

/* A record of a file that several tasks share. */
static bool choose_event(void *arg, const struct cn_call_batch *batch, size_t i)
{
    const struct cn_recording_setup *setup = arg;
    const struct cn_call_filter *filter = &setup->filter;
    const struct cn_call *call = &batch->calls[i];
    uint32_t task = cn_recording_find_task(setup->rec, batch->tids[i]);
    bool is_preemption = call->address == CN_EVENT_SCHED_OUT_PREEMPT ||
                         call->address == CN_EVENT_SCHED_BOTH_PREEMPT;
    bool is_schedule = call->address <= CN_EVENT_SCHED_BOTH || is_preemption;

    return !filter->without_events &&
           !(filter->without_schedule && is_kernel_event(call) && is_schedule) &&
           !(filter->without_preemption && is_kernel_event(call) && is_preemption) &&
           call->time_ns >= setup->query.range.first_ns &&
           call->time_ns <= setup->query.range.last_ns && task != CN_NONE &&
           has_task(&setup->query, task);
}

bool cn_dump_calls(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_recording *rec = setup->rec;
    const char *file = cn_args_value(setup->args, "file");
    struct recording_dump dump;
    bool is_on = !setup->filter.is_off;
    bool ok =
        dump_begin(&dump, setup->args, err) && check_format(setup->args, rec->path, err);

    (void)arg;
    if (ok && !rec->ops->source_open)
        ok = cn_fail(err, CN_ERR_USAGE, "%s has no binary records to dump", rec->path);
    if (ok && dump.has_hex)
        ok = cn_fail(err, CN_ERR_USAGE, "--hex cannot be combined with filters");
    if (ok) {
        dump_use(&dump, rec);
        for (uint32_t i = 0; i < rec->source_count && dump.rest > 0; i++) {
            const struct cn_source *source = &rec->sources[i];

            if (!is_chosen(source, file))
                continue;
            if (source->kind != CN_SOURCE_TASK)
                dump_source(&dump, i, choose_event, setup);
            else if (has_task(&setup->query, source->task))
                dump_task(&dump, setup, source, &is_on);
        }
        ok = dump_end(&dump, err);
    }
    dump_done(&dump);
    return ok;
}
