#include "cli/info/info.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/time_base.h"
#include "analyze/views/header.h"
#include "base/arena.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/info/gpus.h"
#include "cli/print/facts.h"
#include "cli/print/fixed_width.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "launcher/info_file.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

enum { KEY_WIDTH = 19, TIME_WIDTH = 24, TID_WIDTH = 7, NAME_WIDTH = 16, DATA_WIDTH = 7 };

enum { MACHINE_FACTS_MAX = 16 };

/* Bytes of records that are read at the end of each task. */
enum { END_LEN = 1 << 20 };

/* Not a status of wait(): a trigger ended the recording. */
enum { FINISHED_BY_TRIGGER = 65536 };

CN_PRINTF(3, 4)
static void add_line(struct cn_text *text, const char *key, const char *fmt, ...)
{
    char *value = NULL;
    va_list values;

    va_start(values, fmt);
    if (vasprintf(&value, fmt, values) < 0)
        value = NULL;
    va_end(values);
    cn_text_printf(text, "# %-*s : ", KEY_WIDTH, key);
    cn_utf8_add_printable(text, value ? value : "");
    cn_text_char(text, '\n');
    free(value);
}

static void add_fact(struct cn_text *text, const struct cn_recording *rec,
                     const char *key, const char *fact, const char *suffix)
{
    const char *value = cn_recording_fact(rec, fact);

    if (value)
        add_line(text, key, "%s%s", value, suffix);
}

/* Print "2 / 2 (online/possible)" with blanks around the second slash. */
static void add_cpu_count(struct cn_text *text, const struct cn_recording *rec)
{
    const char *value = cn_recording_fact(rec, "cpuinfo:nr_cpus");
    struct cn_text spaced = {0};

    if (!value)
        return;
    for (bool is_after_paren = false; *value; value++) {
        is_after_paren |= *value == '(';
        if (is_after_paren && *value == '/' && value[1] != ' ')
            cn_text_str_add(&spaced, " / ");
        else
            cn_text_char(&spaced, *value);
    }
    add_line(text, "number of cpus", "%s", cn_text_str(&spaced));
    cn_text_done(&spaced);
}

/* Print "perf_event_paranoid=2 kptr_restrict=0" as one line each. */
static void add_sysctl(struct cn_text *text, const struct cn_recording *rec)
{
    const char *at = cn_recording_fact(rec, "sysctl");

    while (at && *at) {
        size_t len = strcspn(at, " "), key_len = strcspn(at, "= ");
        size_t value_off = key_len < len ? key_len + 1 : len;
        struct cn_text key = {0};

        cn_text_add(&key, at, key_len);
        add_line(text, cn_text_str(&key), "%.*s", (int)(len - value_off), at + value_off);
        cn_text_done(&key);
        at += len + strspn(at + len, " ");
    }
}

/* The cost of recording a call, which the other commands subtract from times. */
static void add_cost(struct cn_text *text, const char *key,
                     const struct cn_hook_cost *cost)
{
    if (cost->call_ps > 0)
        add_line(text, key, "%.1f ns, %.1f ns of it between entry and exit",
                 (double)cost->call_ps / 1000, (double)cost->inner_ps / 1000);
}

static void add_machine(struct cn_text *text, const struct cn_recording *rec)
{
    add_fact(text, rec, "cpu info", "cpuinfo:desc", "");
    add_cpu_count(text, rec);
    add_fact(text, rec, "memory info", "meminfo", "");
    add_fact(text, rec, "system load", "loadinfo", " (1 / 5 / 15 min)");
    add_fact(text, rec, "kernel version", "osinfo:kernel", "");
    add_fact(text, rec, "hostname", "osinfo:hostname", "");
    add_fact(text, rec, "distro", "osinfo:distro", "");
    add_sysctl(text, rec);
}

static void add_gpus(struct cn_text *text, const struct cn_recording *rec)
{
    struct cn_text line = {0};

    for (uint32_t i = 0; rec->gpu && i < rec->gpu->device_count; i++) {
        char key[KEY_WIDTH];

        (void)snprintf(key, sizeof(key), "GPU %u", (unsigned)rec->gpu->devices[i].number);
        cn_text_clear(&line);
        cn_gpu_totals_print(rec->gpu, i, &line);
        add_line(text, key, "%s", cn_text_str(&line));
    }
    cn_text_done(&line);
}

static void add_system(struct cn_text *text, const struct cn_recording *rec)
{
    cn_text_str_add(text, "# system information\n# ==================\n");
    add_fact(text, rec, "program version", "uftrace_version", "");
    add_fact(text, rec, "recorded on", "record_date", "");
    add_fact(text, rec, "cmdline", "cmdline", "");
    add_machine(text, rec);
    add_cost(text, "recording a call", &rec->call_cost);
    add_cost(text, "a library call", &rec->libcall_cost);
    /* Not subtracted: the number of such calls is unknown. */
    if (rec->left_out_ps > 0)
        add_line(text, "a filtered call", "%.1f ns", (double)rec->left_out_ps / 1000);
    if (rec->has_heap)
        add_line(text, "memory", "each allocation and free");
    add_gpus(text, rec);
    add_line(text, "times", "%s", cn_time_base_name(cn_time_base_of_costs(rec, false)));
}

static void add_task_list(struct cn_text *text, const struct cn_recording *rec)
{
    const char *at = cn_recording_fact(rec, "taskinfo:tids");
    struct cn_text list = {0};

    while (at && *at) {
        char *end;
        unsigned long tid = strtoul(at, &end, 10);

        if (end == at || tid > UINT32_MAX)
            break;
        uint32_t task = cn_recording_find_task(rec, (uint32_t)tid);
        cn_text_printf(&list, "%s%lu(%s)", list.len ? ", " : "", tid,
                       task == CN_NONE ? "" : rec->tasks[task].name);
        at = *end ? end + 1 : end;
    }
    if (list.len > 0)
        add_line(text, "task list", "%s", cn_text_str(&list));
    cn_text_done(&list);
}

static void add_exit_status(struct cn_text *text, const struct cn_recording *rec)
{
    const char *value = cn_recording_fact(rec, "exit_status");
    int status = value ? (int)strtol(value, NULL, 10) : 0;

    if (!value)
        return;
    if (status == FINISHED_BY_TRIGGER)
        add_line(text, "exit status", "tracing finished");
    else if (WIFEXITED(status))
        add_line(text, "exit status", "exited with code: %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        add_line(text, "exit status", "terminated by signal: %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        add_line(text, "exit status", "unknown exit status: %s", value);
}

static void add_process(struct cn_text *text, const struct cn_recording *rec)
{
    const char *automatic = cn_recording_fact(rec, "auto-args");
    const char *system = cn_recording_fact(rec, "usageinfo:systime");
    const char *user = cn_recording_fact(rec, "usageinfo:usrtime");

    cn_text_str_add(text, "#\n# process information\n# ===================\n");
    add_fact(text, rec, "number of tasks", "taskinfo:nr_tid", "");
    add_task_list(text, rec);
    add_fact(text, rec, "exe image", "exename", "");
    add_fact(text, rec, "build id", "build_id", "");
    add_fact(text, rec, "arguments", "argspec", "");
    add_fact(text, rec, "return values", "retspec", "");
    if (automatic && strcmp(automatic, "1") == 0)
        add_line(text, "auto-args", "true");
    add_fact(text, rec, "pattern", "pattern_type", "");
    add_exit_status(text, rec);
    add_fact(text, rec, "elapsed time", "elapsed_time", "");
    if (system && user)
        add_line(text, "cpu time", "%.3f / %.3f sec (sys / user)", strtod(system, NULL),
                 strtod(user, NULL));
    add_fact(text, rec, "context switch", "usageinfo:ctxsw", "");
    add_fact(text, rec, "max rss", "usageinfo:maxrss", " KB");
    add_fact(text, rec, "page fault", "usageinfo:pagefault", "");
    add_fact(text, rec, "disk iops", "usageinfo:iops", "");
}

/* Print note.txt, a file that the user may add to the recording. */
static void add_note(struct cn_text *text, const struct cn_recording *rec)
{
    for (uint32_t i = 0; i < rec->copied_file_count; i++) {
        struct cn_bytes note = rec->copied_files[i].bytes;

        if (strcmp(rec->copied_files[i].name, "note.txt") != 0)
            continue;
        cn_text_str_add(text, "#\n# extra note information\n# ======================\n");
        while (note.len > 0) {
            struct cn_bytes line;

            (void)cn_bytes_take_until(&note, '\n', &line);
            cn_utf8_add_printable_chars(text, (const char *)line.ptr, line.len);
            cn_text_char(text, '\n');
        }
    }
}

static void add_tasks(struct cn_text *text, const struct cn_recording *rec)
{
    cn_text_str_add(text,
                    "#         TIMESTAMP       FLAGS     TID     TASK              DATA "
                    "SIZE\n");
    for (uint32_t i = 0; i < rec->task_count; i++) {
        const struct cn_task *task = &rec->tasks[i];
        uint64_t kb = task->data_len / 1024;

        cn_timestamp_add(text, task->time_ns, TIME_WIDTH);
        cn_text_printf(text, "  %c%c     [", task->tid == task->pid ? 'F' : ' ',
                       task->has_session ? 'S' : ' ');
        cn_number_add(text, task->tid, TID_WIDTH);
        cn_text_str_add(text, "]  ");
        size_t begin = text->len;
        cn_utf8_add_printable(text, task->name);
        if (text->len - begin < NAME_WIDTH)
            cn_text_fill(text, ' ', NAME_WIDTH - (text->len - begin));
        cn_number_add(text, kb / 1024, DATA_WIDTH);
        cn_text_printf(text, ".%03" PRIu64 " MB\n", kb % 1024 < 999 ? kb % 1024 : 999);
    }
}

static void add_symbols(struct cn_text *text, const struct cn_recording *rec)
{
    for (uint32_t m = 0; m < rec->module_count; m++) {
        const struct cn_call_module *module = &rec->modules[m];

        cn_text_printf(text, "%s[%" PRIu32 "] ", m > 0 ? "\n" : "", m);
        cn_utf8_add_printable(text, module->name);
        cn_text_printf(text, " (%" PRIu32 ")\n", module->function_count);
        for (uint32_t i = 0; i < module->function_count; i++) {
            const struct cn_call_function *function =
                &rec->functions[module->first_function + i];

            cn_text_printf(text, "  %c %" PRIx64 " ", function->type, function->offset);
            cn_utf8_add_printable(text, function->name);
            cn_text_char(text, '\n');
        }
    }
}

void cn_info_recording_add(struct cn_text *text, const struct cn_recording *rec)
{
    add_system(text, rec);
    add_process(text, rec);
    add_note(text, rec);
    cn_text_char(text, '\n');
}

static void list_tasks(struct cn_facts *facts, const struct cn_recording *rec)
{
    cn_facts_array(facts, "tasks");
    for (uint32_t i = 0; i < rec->task_count; i++) {
        const struct cn_task *task = &rec->tasks[i];

        cn_facts_object(facts, NULL);
        cn_facts_u64(facts, "tid", task->tid);
        cn_facts_u64(facts, "pid", task->pid);
        cn_facts_str(facts, "name", task->name);
        cn_facts_u64(facts, "start_ns", task->time_ns);
        cn_facts_u64(facts, "data_bytes", task->data_len);
        cn_facts_bool(facts, "is_fork", task->is_fork);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}

static void list_header_line(void *arg, const char *name, const char *text)
{
    cn_facts_str(arg, name, text);
}

static void list_header(struct cn_facts *facts, const struct cn_recording *rec)
{
    struct cn_arena arena = {0};
    struct cn_header header;

    cn_header_of_recording(&header, rec, cn_time_base_of_costs(rec, false), &arena);
    cn_facts_object(facts, "header");
    cn_header_each(&header, list_header_line, facts);
    cn_facts_end(facts);
    cn_arena_done(&arena);
}

static void list_facts(const struct cn_args *args, const struct cn_recording *rec)
{
    struct cn_facts facts;

    cn_facts_begin(&facts, cn_cli_format(args));
    cn_facts_str(&facts, "path", rec->path);
    cn_facts_u64(&facts, "version", rec->version);
    cn_facts_u64(&facts, "features", rec->features);
    cn_facts_u64(&facts, "function_count", rec->function_count);
    cn_facts_bool(&facts, "has_memory", rec->has_heap);
    cn_gpu_totals_list(rec->gpu, &facts);
    list_tasks(&facts, rec);
    cn_facts_array(&facts, "sessions");
    for (uint32_t i = 0; i < rec->session_count; i++) {
        cn_facts_object(&facts, NULL);
        cn_facts_str(&facts, "sid", rec->sessions[i].sid);
        cn_facts_u64(&facts, "pid", rec->sessions[i].pid);
        cn_facts_u64(&facts, "start_ns", rec->sessions[i].time_ns);
        cn_facts_str(&facts, "exename", rec->sessions[i].exename);
        cn_facts_end(&facts);
    }
    cn_facts_end(&facts);
    cn_facts_object(&facts, "facts");
    for (uint32_t i = 0; i < rec->fact_count; i++)
        cn_facts_str(&facts, rec->facts[i].key, rec->facts[i].value);
    cn_facts_end(&facts);
    list_header(&facts, rec);
    cn_cli_print_facts(args, &facts);
}

void cn_info_machine(const struct cn_args *args)
{
    struct cn_fact list[MACHINE_FACTS_MAX];
    struct cn_recording machine = {.facts = list};
    struct cn_text lines = {0}, text = {0};
    char *save = NULL;

    cn_info_machine_print(&lines);
    for (char *line = strtok_r(lines.chars, "\n", &save);
         line && machine.fact_count < MACHINE_FACTS_MAX;
         line = strtok_r(NULL, "\n", &save)) {
        bool is_group =
            strncmp(line, "cpuinfo:", 8) == 0 || strncmp(line, "osinfo:", 7) == 0;
        char *end = strchr(line, is_group ? '=' : ':');

        if (!end)
            continue;
        *end = '\0';
        list[machine.fact_count++] = (struct cn_fact){line, end + 1};
    }
    add_machine(&text, &machine);
    cn_cli_page(args);
    for (char *line = strtok_r(text.chars, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        (void)printf("%s\n", line + strlen("# "));
    cn_text_done(&lines);
    cn_text_done(&text);
}

/* Read the last part of a task. */
static bool read_end(const struct cn_recording *rec, uint32_t task, struct cn_error *err)
{
    struct cn_call_stream *stream = NULL;
    struct cn_call_part *parts = NULL;
    size_t count = cn_recording_parts(rec, task, END_LEN, &parts);
    enum cn_step step = CN_FAIL;
    struct cn_call_batch batch;

    if (count > 0 ? cn_recording_part_open(rec, task, &parts[count - 1], &stream, err)
                  : cn_recording_stream_open(rec, task, cn_time_always, &stream, err))
        while ((step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
            ;
    cn_call_stream_close(stream);
    free(parts);
    return step == CN_END;
}

/* A recording that was cut short or copied in part is damaged at the ends of its files. */
static bool check_ends(const struct cn_args *args, const struct cn_recording *rec,
                       struct cn_error *err)
{
    uint32_t damaged = 0;

    for (uint32_t i = 0; i < rec->task_count; i++) {
        struct cn_error damage;

        if (read_end(rec, i, &damage))
            continue;
        damaged++;
        cn_cli_warn(args, "%s: task %" PRIu32 ": %s", rec->path, rec->tasks[i].tid,
                    damage.text);
    }
    return damaged == 0 ||
           cn_fail(err, CN_ERR_FORMAT, "%s: %" PRIu32 " of %" PRIu32 " %s damaged",
                   rec->path, damaged, rec->task_count,
                   cn_plural(rec->task_count, "task is", "tasks are"));
}

bool cn_info_recording(const struct cn_args *args, struct cn_opened *opened,
                       struct cn_error *err)
{
    struct cn_text text = {0};

    if (!cn_cli_load(opened, args, CN_CALLS, err))
        return false;
    cn_cli_warn_opened(args, opened);
    const struct cn_recording *rec = opened->rec;
    if (cn_cli_format(args) != CN_TABLE_TEXT) {
        list_facts(args, rec);
    } else if (cn_args_has(args, "task")) {
        add_tasks(&text, rec);
    } else if (cn_args_has(args, "symbols")) {
        add_symbols(&text, rec);
    } else {
        cn_info_recording_add(&text, rec);
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return check_ends(args, rec, err) && cn_recording_check(rec, err);
}
