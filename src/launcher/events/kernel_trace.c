#include "launcher/events/kernel_trace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/name_filter.h"
#include "formats/uftrace/text/value_rules.h"
#include "launcher/events/tracefs.h"
#include "launcher/files/recording_dir.h"

enum { PAGE_LEN_MAX = 1 << 20, CPUS_MAX = 4096 };

struct cn_kernel_cpu {
    int pipe, file;
};

/* True if a list of words contains one. */
static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if ((at == list || isspace((unsigned char)at[-1])) &&
            (!at[len] || isspace((unsigned char)at[len])))
            return true;
    return false;
}

static bool check_functions(const char *tracefs, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = cn_tracefs_read(tracefs, "available_tracers", &text, err) &&
              (has_word(cn_text_str(&text), "function_graph") ||
               cn_fail(err, CN_ERR_NOT_FOUND,
                       "this kernel cannot trace functions: %s/available_tracers has no "
                       "function_graph; use a kernel built with "
                       "CONFIG_FUNCTION_GRAPH_TRACER",
                       tracefs));

    cn_text_done(&text);
    return ok;
}

static bool is_own(const struct cn_kernel_trace *trace)
{
    return trace->folder != trace->tracefs;
}

/* Write to a file of the tracer; what the global one had is restored later. */
static bool put(struct cn_kernel_trace *trace, const char *name, const char *text,
                struct cn_error *err)
{
    struct cn_text before = {0};
    struct cn_error ignored = {0};

    if (!is_own(trace) && cn_tracefs_read(trace->folder, name, &before, &ignored)) {
        const char *chosen = strchr(cn_text_str(&before), '['), *value;
        size_t len;

        /* "[local] global mono": one of several. "#### all functions enabled ####": none. */
        value = chosen ? chosen + 1 : cn_text_str(&before);
        len = strcspn(value, chosen ? "]" : "\n");
        if (value[0] == '#' || strcmp(value, "no pid\n") == 0)
            len = 0;
        cn_text_printf(&trace->restore, "%s\n%.*s\n", name, (int)len, value);
    }
    cn_text_done(&before);
    return cn_tracefs_write(trace->folder, name, text, err);
}

/* The same for files that some kernels do not have. */
static void try_put(struct cn_kernel_trace *trace, const char *name, const char *text)
{
    struct cn_error ignored = {0};

    (void)!put(trace, name, text, &ignored);
}

/* Write the names of functions that match: files of tracefs know no regular expressions. */
static bool put_functions(struct cn_kernel_trace *trace, const char *name,
                          const char *const *patterns, size_t count, bool is_glob,
                          struct cn_error *err)
{
    struct cn_text text = {0}, names = {0};
    bool ok = count == 0 ||
              cn_tracefs_read(trace->tracefs, "available_filter_functions", &text, err);

    for (size_t i = 0; i < count && ok; i++) {
        struct cn_name_filter filter = {0};
        size_t before = names.len;

        ok = cn_name_filter_add(&filter, patterns[i],
                                cn_uft_match_of(patterns[i], is_glob), err);
        for (char *line = text.chars; ok && line && *line;) {
            char *end = line + strcspn(line, " \n"), *next = line + strcspn(line, "\n");
            char after = *end;

            *end = '\0';
            if (cn_name_filter_matches(&filter, line))
                cn_text_printf(&names, "%s\n", line);
            *end = after;
            line = *next ? next + 1 : next;
        }
        cn_name_filter_done(&filter);
        if (ok && names.len == before)
            ok = cn_fail(err, CN_ERR_NOT_FOUND,
                         "no function of the kernel matches '%s'; see "
                         "%s/available_filter_functions",
                         patterns[i], trace->tracefs);
    }
    ok = ok && (names.len == 0 || put(trace, name, cn_text_str(&names), err));
    cn_text_done(&names);
    cn_text_done(&text);
    return ok;
}

static bool set_up_functions(struct cn_kernel_trace *trace,
                             const struct cn_kernel_choice *choice, struct cn_error *err)
{
    char depth[16];

    (void)snprintf(depth, sizeof(depth), "%u", choice->depth);
    return put_functions(trace, "set_graph_function", choice->only, choice->only_count,
                         choice->is_glob, err) &&
           put_functions(trace, "set_graph_notrace", choice->not, choice->not_count,
                         choice->is_glob, err) &&
           put(trace, "max_graph_depth", depth, err) &&
           put(trace, "current_tracer", "function_graph", err);
}

static bool set_up_tracepoints(struct cn_kernel_trace *trace,
                               const struct cn_kernel_choice *choice,
                               struct cn_error *err)
{
    struct cn_text name = {0};
    bool ok = true;

    for (size_t i = 0; i < choice->tracepoint_count && ok; i++) {
        const char *event = choice->tracepoints[i], *colon = strchr(event, ':');

        cn_text_clear(&name);
        cn_text_printf(&name, "events/%.*s/%s/enable", colon ? (int)(colon - event) : 0,
                       event, colon ? colon + 1 : event);
        ok = put(trace, cn_text_str(&name), "1", err);
    }
    cn_text_done(&name);
    return ok;
}

static bool set_up(struct cn_kernel_trace *trace, const struct cn_kernel_choice *choice,
                   struct cn_error *err)
{
    char len[32];

    (void)snprintf(len, sizeof(len), "%" PRIu64, choice->buffer_len >> 10);
    return put(trace, "tracing_on", "0", err) && put(trace, "trace", "", err) &&
           put(trace, "trace_clock", "mono", err) &&
           (choice->buffer_len == 0 || put(trace, "buffer_size_kb", len, err)) &&
           (choice->depth == 0 || set_up_functions(trace, choice, err)) &&
           set_up_tracepoints(trace, choice, err);
}

/* Make an instance; false when the kernel has none, or none for functions. */
static bool set_up_instance(struct cn_kernel_trace *trace,
                            const struct cn_kernel_choice *choice)
{
    struct cn_error ignored = {0};
    char *path = cn_strprintf("%s/instances/cairn-%d", trace->tracefs, (int)getpid());

    trace->folder = path;
    if (mkdir(trace->folder, 0700) == 0) {
        if (set_up(trace, choice, &ignored))
            return true;
        (void)rmdir(trace->folder);
    }
    trace->folder = trace->tracefs;
    free(path);
    return false;
}

static bool check_global(const struct cn_kernel_trace *trace, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok =
        cn_tracefs_read(trace->tracefs, "current_tracer", &text, err) &&
        (has_word(cn_text_str(&text), "nop") ||
         cn_fail(err, CN_ERR_IO,
                 "another tool uses the kernel's tracer; to stop it, run: echo nop > "
                 "%s/current_tracer",
                 trace->tracefs));

    cn_text_done(&text);
    return ok;
}

/* "TRACEFS: events/header_page: 205", and that file. */
static bool add_header(const char *tracefs, const char *name, struct cn_text *out,
                       struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = cn_tracefs_read(tracefs, name, &text, err);

    if (ok) {
        cn_text_printf(out, "TRACEFS: %s: %zu\n", name, text.len);
        cn_text_add(out, cn_text_str(&text), text.len);
    }
    cn_text_done(&text);
    return ok;
}

/* Pages have a header and data: "char data;\toffset:16;\tsize:4080;" */
static bool find_page_len(const char *tracefs, size_t *out, struct cn_error *err)
{
    struct cn_text text = {0};
    unsigned offset = 0, size = 0;
    bool ok = cn_tracefs_read(tracefs, "events/header_page", &text, err);
    const char *data = ok ? strstr(cn_text_str(&text), "char data;") : NULL;

    if (ok &&
        (!data || sscanf(data, "char data; offset:%u; size:%u;", &offset, &size) != 2 ||
         offset > PAGE_LEN_MAX || size > PAGE_LEN_MAX - offset || size == 0))
        ok = cn_fail(err, CN_ERR_FORMAT, "%s/events/header_page cannot be parsed",
                     tracefs);
    *out = (size_t)offset + size;
    cn_text_done(&text);
    return ok;
}

static bool write_header(const struct cn_kernel_trace *trace,
                         const struct cn_kernel_choice *choice, struct cn_error *err)
{
    struct cn_text out = {0}, name = {0};
    bool ok;

    cn_text_printf(&out, "PAGE_SIZE: %zu\nLONG_SIZE: %zu\nENDIAN: %s\n", trace->page_len,
                   sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "BE" : "LE");
    ok = add_header(trace->tracefs, "events/header_page", &out, err) &&
         add_header(trace->tracefs, "events/header_event", &out, err);
    if (choice->depth > 0)
        ok = ok &&
             add_header(trace->tracefs, "events/ftrace/funcgraph_entry/format", &out,
                        err) &&
             add_header(trace->tracefs, "events/ftrace/funcgraph_exit/format", &out, err);
    for (size_t i = 0; i < choice->tracepoint_count && ok; i++) {
        const char *event = choice->tracepoints[i], *colon = strchr(event, ':');

        cn_text_clear(&name);
        cn_text_printf(&name, "events/%.*s/%s/format", colon ? (int)(colon - event) : 0,
                       event, colon ? colon + 1 : event);
        ok = add_header(trace->tracefs, cn_text_str(&name), &out, err);
    }
    ok = ok &&
         cn_out_replace(trace->dir, "kernel_header", cn_text_str(&out), out.len, err);
    cn_text_done(&name);
    cn_text_done(&out);
    return ok;
}

/* Copy the functions of /proc/kallsyms. */
static bool write_symbols(const struct cn_kernel_trace *trace, struct cn_error *err)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    struct cn_text out = {0};
    char *line = NULL;
    size_t capacity = 0;

    while (file && getline(&line, &capacity, file) > 0) {
        const char *kind = strchr(line, ' ');

        if (kind && kind[1] && strchr("TtWw", kind[1]))
            cn_text_str_add(&out, line);
    }
    free(line);
    if (file)
        (void)fclose(file);
    bool ok = cn_out_replace(trace->dir, "kallsyms", cn_text_str(&out), out.len, err);
    cn_text_done(&out);
    return ok;
}

static bool open_cpus(struct cn_kernel_trace *trace, struct cn_error *err)
{
    long count = sysconf(_SC_NPROCESSORS_CONF);
    struct cn_text path = {0};
    bool ok = true;

    count = count > CPUS_MAX ? CPUS_MAX : count;
    trace->cpus = cn_alloc((size_t)count, sizeof(*trace->cpus));
    trace->page = cn_alloc(1, trace->page_len);
    for (long cpu = 0; cpu < count && ok; cpu++) {
        struct cn_kernel_cpu *own = &trace->cpus[trace->cpu_count++];

        cn_text_clear(&path);
        cn_text_printf(&path, "%s/per_cpu/cpu%ld/trace_pipe_raw", trace->folder, cpu);
        own->file = -1;
        own->pipe = open(cn_text_str(&path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        /* A processor that does not exist has none. */
        ok = own->pipe >= 0 || errno == ENOENT ||
             cn_fail_errno(err, "cannot read %s", cn_text_str(&path));
    }
    cn_text_done(&path);
    return ok;
}

bool cn_kernel_trace_check(const struct cn_kernel_choice *choice, const char *root,
                           struct cn_error *err)
{
    char *tracefs = NULL;
    bool ok = cn_tracefs_find(root, &tracefs, err) &&
              (choice->depth == 0 || check_functions(tracefs, err));

    free(tracefs);
    return ok;
}

bool cn_kernel_trace_open(struct cn_kernel_trace *trace, const char *dir,
                          const struct cn_kernel_choice *choice, const char *root,
                          struct cn_error *err)
{
    *trace = (struct cn_kernel_trace){
        .dir = dir,
        .has_functions = choice->depth > 0,
        .has_tracepoints = choice->tracepoint_count > 0,
    };
    if (!cn_tracefs_find(root, &trace->tracefs, err))
        return false;
    trace->folder = trace->tracefs;
    bool ok = find_page_len(trace->tracefs, &trace->page_len, err) &&
              (set_up_instance(trace, choice) ||
               (check_global(trace, err) && set_up(trace, choice, err))) &&
              write_header(trace, choice, err) && write_symbols(trace, err) &&
              open_cpus(trace, err);
    if (!ok)
        cn_kernel_trace_close(trace);
    return ok;
}

bool cn_kernel_trace_start(struct cn_kernel_trace *trace, pid_t pid, struct cn_error *err)
{
    char number[16];

    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    try_put(trace, "options/function-fork", "1");
    try_put(trace, "options/event-fork", "1");
    return (!trace->has_functions || put(trace, "set_ftrace_pid", number, err)) &&
           (!trace->has_tracepoints || put(trace, "set_event_pid", number, err)) &&
           put(trace, "tracing_on", "1", err);
}

static bool write_page(struct cn_kernel_trace *trace, size_t cpu, size_t len,
                       struct cn_error *err)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "kernel-cpu%zu.dat", cpu);
    return cn_recording_dir_add(trace->dir, name, &trace->cpus[cpu].file, trace->page,
                                len, err);
}

bool cn_kernel_trace_drain(struct cn_kernel_trace *trace, struct cn_error *err)
{
    for (size_t i = 0; i < trace->cpu_count; i++) {
        ssize_t len = 0;

        /* Each read returns a page, of which the rest is unused. */
        while (trace->cpus[i].pipe >= 0 &&
               (len = read(trace->cpus[i].pipe, trace->page, trace->page_len)) > 0) {
            memset(trace->page + len, 0, trace->page_len - (size_t)len);
            if (!write_page(trace, i, trace->page_len, err))
                return false;
        }
    }
    return true;
}

bool cn_kernel_trace_finish(struct cn_kernel_trace *trace, struct cn_error *err)
{
    struct cn_error ignored = {0};

    if (!trace->tracefs)
        return true;
    (void)!cn_tracefs_write(trace->folder, "tracing_on", "0", &ignored);
    return cn_kernel_trace_drain(trace, err);
}

/* Write the old content of the files that were changed, the last one first. */
static void restore(struct cn_kernel_trace *trace)
{
    struct cn_error ignored = {0};

    while (trace->restore.len > 0) {
        char *text = trace->restore.chars, *value, *name;
        size_t end = trace->restore.len - 1, at = end;

        text[end] = '\0';
        while (at > 0 && text[at - 1] != '\n')
            at--;
        value = text + at;
        if (at > 0)
            text[--at] = '\0';
        while (at > 0 && text[at - 1] != '\n')
            at--;
        name = text + at;
        trace->restore.len = at;
        (void)!cn_tracefs_write(trace->tracefs, name, value, &ignored);
    }
}

void cn_kernel_trace_close(struct cn_kernel_trace *trace)
{
    if (!trace->tracefs)
        return;
    for (size_t i = 0; i < trace->cpu_count; i++) {
        if (trace->cpus[i].pipe >= 0)
            (void)close(trace->cpus[i].pipe);
        if (trace->cpus[i].file >= 0)
            (void)close(trace->cpus[i].file);
    }
    if (is_own(trace)) {
        (void)rmdir(trace->folder);
        free(trace->folder);
    } else {
        restore(trace);
    }
    free(trace->cpus);
    free(trace->page);
    free(trace->tracefs);
    cn_text_done(&trace->restore);
    *trace = (struct cn_kernel_trace){0};
}
