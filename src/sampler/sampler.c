#include "sampler/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/host/library.h"
#include "base/host/processor.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "formats/exchange/perf/symbolize.h"
#include "gpu/shared.h"
#include "model/origin.h"
#include "sampler/attached.h"
#include "sampler/collect.h"
#include "sampler/ends.h"
#include "sampler/gpu.h"
#include "sampler/in_kernel.h"
#include "sampler/inside/shared.h"
#include "sampler/kernel/kernel.h"
#include "sampler/kernel/paths.h"
#include "sampler/kernel/shared.h"
#include "sampler/languages/languages.h"
#include "sampler/leaks.h"
#include "sampler/program.h"
#include "sampler/ring_watch.h"
#include "sampler/setup.h"
#include "sampler/synthesis.h"
#include "sampler/timers.h"

enum {
    WAIT_MS = 50,
    START_WAIT_MS =
        5, /* in the first second, in which processes and their code are met */
    TIMERS_WAIT_MS = 10,
    FLUSH_NS = 200000000,
    REFRESH_NS = 100000000,
    LATE_NS = 1000000, /* records may appear in a ring this long after their time */
    FRAMES_EARLY_NS =
        200000, /* frames of interpreters are read this long after the time of
                               * their sample, at most */
    TASKS_MAX = 1 << 16,
    HURRY_NS = 1000000000, /* from the start on */
    YOUNG_WAIT_MS = 1,     /* while the code of a new program is met */
};

struct sampling {
    const struct cn_sample_options *options;
    struct cn_sample_setup setup;
    struct cn_sample_program program;
    pid_t *tids; /* attached to */
    size_t tid_count;
    struct cn_rings rings;
    struct cn_ring_watch watch;
    struct cn_timers timers;     /* without perf events, and of allocations */
    struct cn_attached attached; /* allocations of processes that run already */
    struct cn_sample_leaks_result leaks;
    struct cn_sample_gpu gpu;
    struct cn_sample_in_kernel in_kernel;
    struct cn_perf_writer writer;
    struct cn_sample_collector collector;
    struct cn_sample_ends ends;
    uint64_t start_ns, flushed_ns, refreshed_ns;
    int wait_status;
};

/* The threads of the processes to attach to. */
static bool find_tasks(struct sampling *s, struct cn_error *err)
{
    const struct cn_sample_options *options = s->options;

    if (options->pid_count == 0)
        return true;
    s->tids = cn_alloc(TASKS_MAX, sizeof(*s->tids));
    for (size_t i = 0; i < options->pid_count; i++) {
        size_t count = cn_threads_of(options->pids[i], s->tids + s->tid_count,
                                     TASKS_MAX - s->tid_count);

        if (count == 0)
            return cn_fail(err, CN_ERR_NOT_FOUND, "no process %d", (int)options->pids[i]);
        s->tid_count += count;
    }
    return true;
}

/* It is missing where the program of cairn was copied alone. */
static bool has_inside_library(void)
{
    struct cn_error err = {0};
    char *path = NULL;
    bool is_found = cn_own_library_find(CN_INSIDE_LIBRARY, &path, &err);

    free(path);
    return is_found;
}

/* Copies of stacks prove few frames of interpreters: where they cannot be read in the kernel, they
 * are read inside the program. */
static bool prefers_signals(struct sampling *s)
{
    const struct cn_sample_options *options = s->options;

    if (options->place != CN_SAMPLE_ANYWHERE || options->stacks != CN_SAMPLE_WHOLE ||
        options->event_count > 0 || options->period > 0 || options->has_switches ||
        options->has_machine || !options->runner ||
        !cn_languages_is_interpreter(options->runner))
        return false;
    s->in_kernel.kernel = cn_kernel_new(&s->in_kernel.refusal);
    return !s->in_kernel.kernel && has_inside_library();
}

static bool open_rings(struct sampling *s, struct cn_error *err)
{
    const struct cn_sample_options *options = s->options;
    const pid_t *tids = NULL;
    size_t count = 0;
    bool is_refused = false;
    uint64_t period_ns =
        options->period > 0 ? options->period : 1000000000 / options->frequency;

    if (!options->has_machine) {
        tids = options->pid_count > 0 ? s->tids : &s->program.pid;
        count = options->pid_count > 0 ? s->tid_count : 1;
    }
    if (prefers_signals(s)) {
        is_refused = true;
    } else if (options->place != CN_SAMPLE_BY_SIGNALS) {
        if (cn_sample_setup_open(&s->setup, options, tids, count, &s->rings, &is_refused,
                                 err))
            return true;
        if (!is_refused)
            return false;
        s->in_kernel.refusal = *err;
    }
    if (!cn_sample_setup_timers(&s->setup, options) || period_ns > UINT32_MAX)
        return is_refused
                   ? false
                   : cn_fail(err, CN_ERR_USAGE,
                             "--call-graph signals: only a program that is started, "
                             "and its processor time, can be sampled so");
    char *text =
        cn_strprintf("sampling inside the program, by signals%s%s",
                     is_refused ? ": " : "", is_refused ? s->in_kernel.refusal.text : "");
    if (options->say)
        options->say(options->arg, text);
    free(text);
    return cn_timers_open(&s->timers, period_ns, options->memory_interval, err);
}

/* The words of this process's command line, NULL at the end. `text` owns them. */
static const char **command_line(struct cn_text *text)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t count = 0, at = 0;
    int c;

    while (file && (c = getc(file)) != EOF) {
        cn_text_char(text, (char)c);
        count += c == '\0';
    }
    if (file)
        (void)fclose(file);
    const char **words = cn_alloc(count + 1, sizeof(*words));
    for (size_t i = 0; i < count; i++) {
        words[i] = text->chars + at;
        at += strlen(words[i]) + 1;
    }
    return words;
}

/* While no stack was taken, how they will be; a short program may end before the kernel can unwind. */
static const char *way_of(const struct sampling *s, uint64_t stack_count)
{
    if (s->options->stacks == CN_SAMPLE_NONE)
        return "none";
    if (s->options->stacks == CN_SAMPLE_POINTERS)
        return "frame pointers";
    if (s->timers.library)
        return "copied by signals inside the program";
    return s->in_kernel.kernel && (stack_count == 0 || s->collector.kernel_count > 0)
               ? "unwound in the kernel"
               : "copied by the kernel";
}

/* What perf has no feature for: the program, and how stacks are taken, as far as it is known. */
static void add_origin(const struct sampling *s, struct cn_text *out)
{
    const struct cn_sample_options *options = s->options;
    const struct cn_sample_collector *c = &s->collector;
    struct cn_text program = {0};
    struct cn_origin origin = {
        .refusal = s->in_kernel.refusal.text[0] ? s->in_kernel.refusal.text : NULL,
        .whole_count = c->stacks.ends[CN_UNWIND_WHOLE],
        .kernel_count = c->kernel_count,
        .lost_count = c->lost_count,
    };

    for (size_t i = 0; options->words && options->words[i]; i++)
        cn_text_word(&program, options->words[i]);
    if (program.len > 0)
        origin.program = cn_text_str(&program);
    for (size_t i = 0; i <= CN_UNWIND_BAD; i++)
        origin.stack_count += c->stacks.ends[i];
    origin.stacks = way_of(s, origin.stack_count);
    cn_origin_encode(&origin, out);
    cn_text_done(&program);
}

static bool open_file(struct sampling *s, struct cn_error *err)
{
    struct cn_text text = {0}, processor = {0}, origin = {0};
    const char **words = command_line(&text);
    struct perf_event_attr *attrs = cn_alloc(s->setup.events.count, sizeof(*attrs));
    struct cn_perf_writer_event *events =
        cn_alloc(s->setup.events.count, sizeof(*events));
    uint8_t build_id[20];

    cn_processor_print(&processor);
    add_origin(s, &origin);
    struct cn_perf_writer_facts facts = {
        .events = events,
        .event_count = s->setup.events.count,
        .command = words,
        .processor = cn_text_str(&processor),
        .origin = cn_wire_view(&origin),
        .kernel_build_id = {build_id, cn_kernel_build_id(build_id)},
        .clock = CLOCK_MONOTONIC,
        .compression_level = s->options->compression_level,
    };

    for (size_t i = 0; i < s->setup.events.count; i++) {
        attrs[i] = cn_sample_setup_stored(&s->setup, i);
        events[i].attr = (struct cn_bytes){(const uint8_t *)&attrs[i], sizeof(attrs[i])};
        events[i].name = s->setup.events.list[i].name;
    }
    bool ok = cn_perf_writer_open(&s->writer, s->options->path, &facts, err);
    free(events);
    free(attrs);
    free(words);
    cn_text_done(&text);
    cn_text_done(&processor);
    cn_text_done(&origin);
    return ok;
}

/* What was there before. Mappings that change meanwhile are reported by events. */
static bool synthesize(struct sampling *s, struct cn_error *err)
{
    const struct cn_sample_options *options = s->options;
    struct cn_synthesis to = {cn_collector_take, &s->collector, s->start_ns,
                              s->setup.io.has_faults};

    if (!s->setup.is_user_only && !cn_synthesize_kernel(&to, err))
        return false;
    if (options->has_machine)
        return cn_synthesize_machine(&to, err);
    for (size_t i = 0; i < options->pid_count; i++)
        if (!cn_synthesize_process(&to, options->pids[i], err))
            return false;
    return true;
}

static void add_record(void *arg, const uint8_t *record, size_t len)
{
    struct sampling *s = arg;
    struct cn_kernel_record head;

    if (len < sizeof(head))
        return;
    memcpy(&head, record, sizeof(head));
    /* The kernel takes the time of a sample before the program runs. */
    uint64_t early_ns = head.kind == CN_KERNEL_OBJECT   ? FRAMES_EARLY_NS + 1
                        : head.kind == CN_KERNEL_FRAMES ? FRAMES_EARLY_NS
                                                        : 0;
    cn_rings_add(&s->rings, record, len, head.time_ns - early_ns);
}

static void add_slot(void *arg, const struct cn_inside_slot *slot)
{
    struct sampling *s = arg;

    cn_collector_add_inside(&s->rings, slot);
}

/* What does not come through rings. */
static void read_others(void *arg)
{
    struct sampling *s = arg;

    if (s->in_kernel.kernel)
        cn_kernel_read(s->in_kernel.kernel, add_record, s);
    if (s->setup.io.paths)
        cn_kernel_paths_read(s->setup.io.paths, add_record, s);
    if (s->timers.shared && !s->timers.library)
        cn_timers_move(&s->timers, add_slot, s);
}

/* Paths of calls that are over before they can be looked up. */
static void open_io(struct sampling *s)
{
    struct cn_error refusal = {0};
    char *text;

    cn_sample_io_open(&s->setup.io, &refusal);
    if (s->setup.io.paths || !s->options->say)
        return;
    text = cn_strprintf("--io: files that are closed within milliseconds have no names: "
                        "%s",
                        refusal.text);
    s->options->say(s->options->arg, text);
    free(text);
}

static bool prepare(struct sampling *s, struct cn_error *err)
{
    if (!cn_sample_setup_events(&s->setup, s->options, err))
        return false;
    if (s->options->has_io)
        open_io(s);
    if (!find_tasks(s, err) ||
        (s->options->words &&
         !cn_sample_program_start(&s->program, s->options->words, err)) ||
        !open_rings(s, err) ||
        (s->options->memory_interval > 0 && s->options->words && !s->timers.shared &&
         !cn_timers_open(&s->timers, 0, s->options->memory_interval, err)) ||
        ((s->options->has_gpu || s->options->has_ranges) &&
         !cn_sample_gpu_open(&s->gpu, CN_GPU_WANTS_STACKS, err)))
        return false;
    if (s->timers.shared) {
        s->timers.shared->has_leaks = s->options->has_leaks;
        s->timers.shared->sampler_pid = (uint32_t)getpid();
    }
    cn_sample_in_kernel_open(&s->in_kernel, s->options, &s->setup, &s->rings);
    if (s->options->has_io && s->in_kernel.kernel)
        cn_sample_io_unwind(&s->setup.io, s->in_kernel.kernel);
    if (!open_file(s, err))
        return false;
    s->collector = (struct cn_sample_collector){
        .options = s->options,
        .setup = &s->setup,
        .rings = &s->rings,
        .writer = &s->writer,
        .kernel_switches = s->in_kernel.switches,
        .kernel_waking = s->in_kernel.waking,
        .io = s->options->has_io ? &s->setup.io : NULL,
    };
    cn_unwound_begin(&s->collector.stacks, &s->collector.stored);
    s->collector.stacks.kernel = s->in_kernel.kernel;
    s->collector.stacks.timers = s->timers.shared ? &s->timers : NULL;
    s->collector.stacks.gpu = s->gpu.head ? &s->gpu : NULL;
    s->collector.stacks.has_goroutines = s->options->has_goroutines;
    cn_sample_ends_open(&s->ends, s->options, s->program.end);
    if (s->in_kernel.kernel || s->setup.io.paths ||
        (s->timers.shared && !s->timers.library))
        cn_rings_set_fill(&s->rings, read_others, s);
    if (!s->timers.library)
        cn_ring_watch_start(&s->watch, &s->rings,
                            s->in_kernel.kernel ? cn_kernel_fd(s->in_kernel.kernel) : -1,
                            s->timers.shared ? &s->timers.wait_ms : NULL);
    return !s->options->has_ranges ||
           cn_sample_gpu_ask_ranges(&s->gpu, &s->collector, err);
}

/* What the processes have open that are sampled from now on. */
static bool begin_io(struct sampling *s, struct cn_error *err)
{
    bool ok = !s->options->words ||
              cn_sample_io_begin(&s->setup.io, &s->writer, s->program.pid, err);

    for (size_t i = 0; i < s->options->pid_count && ok; i++)
        ok = cn_sample_io_begin(&s->setup.io, &s->writer, s->options->pids[i], err);
    return ok;
}

/* At the allocators of processes that run already. */
static bool attach_memory(struct sampling *s, struct cn_error *err)
{
    if (!s->in_kernel.kernel)
        return cn_fail(err, CN_ERR_IO,
                       "--memory -p: running processes are probed by BPF programs%s%s",
                       s->in_kernel.refusal.text[0] ? ": " : ", with whole stacks",
                       s->in_kernel.refusal.text);
    return cn_attached_open(&s->attached, s->in_kernel.kernel, s->options, err) ||
           cn_fail_in(err, "--memory -p");
}

/* Switch the events on. */
static bool start(struct sampling *s, struct cn_error *err)
{
    s->start_ns = s->flushed_ns = s->refreshed_ns = cn_clock_ns();
    cn_sample_ends_catch();
    if (s->options->has_machine && !synthesize(s, err))
        return false;
    if (!s->options->words || s->options->has_machine)
        cn_rings_enable(&s->rings, true);
    if (!s->options->has_machine && !synthesize(s, err))
        return false;
    if (s->options->has_io && !begin_io(s, err))
        return false;
    if (s->options->started)
        s->options->started(s->options->arg);
    if (!s->options->words) {
        if (s->options->memory_interval > 0 && !attach_memory(s, err))
            return false;
        s->start_ns = cn_clock_ns(); /* --duration begins when all are in */
        return true;
    }
    struct cn_sample_libraries libraries = {
        .inside = s->timers.library,
        .allocations = s->timers.memory_library,
        .inside_memory = s->timers.path,
        .gpu = s->gpu.library,
        .gpu_memory = s->gpu.path,
        .has_cuda = s->options->has_gpu,
    };
    if (!cn_sample_program_go(&s->program, s->options->words[0], &libraries, err))
        return false;
    cn_sample_ends_forward(s->program.pid);
    return true;
}

/* True if the program has ended; its status is then known. */
static bool has_ended(struct sampling *s)
{
    if (s->program.pid == 0 ||
        waitpid(s->program.pid, &s->wait_status, WNOHANG) != s->program.pid)
        return s->options->words && s->program.pid == 0;
    s->program.pid = 0;
    cn_sample_ends_forward(0);
    return true;
}

static bool is_over(struct sampling *s)
{
    const struct cn_sample_options *options = s->options;

    if (options->duration_ns > 0 && cn_clock_ns() - s->start_ns >= options->duration_ns)
        return true;
    if (options->words)
        return has_ended(s);
    return (cn_sample_ends_is_asked() && !options->has_end) ||
           (options->pid_count > 0 && s->ends.alive_count == 0);
}

static bool read_rings(struct sampling *s, uint64_t until_ns, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns();

    if (!(s->timers.library
              ? cn_timers_read(&s->timers, cn_collector_take_inside, &s->collector, err)
              : cn_rings_read(&s->rings, until_ns, cn_collector_take, &s->collector,
                              err)) ||
        (s->timers.shared &&
         !cn_timers_read_releases(&s->timers, cn_collector_take_release, &s->collector,
                                  err)) ||
        (s->options->has_leaks && s->timers.shared &&
         !cn_sample_leaks_answer(&s->timers, &s->leaks, cn_collector_add_memory,
                                 &s->collector, err)) ||
        !cn_sample_gpu_read(&s->gpu, &s->collector, err) ||
        !cn_collector_end_round(&s->collector, err))
        return false;
    cn_unwound_publish(&s->collector.stacks);
    cn_attached_watch(&s->attached, now_ns);
    if (s->options->refresh && now_ns - s->refreshed_ns >= REFRESH_NS) {
        s->refreshed_ns = now_ns;
        s->options->refresh(s->options->arg);
    }
    if (now_ns - s->flushed_ns < FLUSH_NS)
        return true;
    s->flushed_ns = now_ns;
    return cn_perf_writer_flush(&s->writer, err);
}

static int patience_ms(struct sampling *s)
{
    uint64_t exec_ns = s->collector.stacks.exec_ns;
    uint64_t young_ns = exec_ns > s->start_ns ? exec_ns : s->start_ns;
    uint64_t end_ns = s->start_ns + s->options->duration_ns, now_ns = cn_clock_ns();
    int wait_ms =
        s->timers.library  ? TIMERS_WAIT_MS
        : s->timers.shared ? CN_TIMERS_WAIT_MAX_MS
        : cn_sample_in_kernel_is_young(&s->in_kernel, young_ns, now_ns) ? YOUNG_WAIT_MS
        : s->options->has_io || now_ns - s->start_ns < 1000000000ULL    ? START_WAIT_MS
                                                                        : WAIT_MS;

    if (s->options->duration_ns == 0 || end_ns >= now_ns + WAIT_MS * UINT64_C(1000000))
        return wait_ms;
    return end_ns > now_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : 0;
}

/* Until it is over. A file that cannot be written ends the sampling, not the program. */
static bool watch(struct sampling *s, struct cn_error *err)
{
    bool ok = true;

    bool may_hurry = s->options->has_switches;

    cn_sample_in_kernel_hurry(&s->in_kernel, may_hurry);
    while (!is_over(s)) {
        if (cn_clock_ns() - s->start_ns > HURRY_NS)
            cn_sample_in_kernel_hurry(&s->in_kernel, false);
        cn_sample_ends_wait(&s->ends, patience_ms(s));
        if (ok) {
            ok = read_rings(s, cn_clock_ns() - LATE_NS, err);
            if (!ok)
                cn_rings_enable(&s->rings, false);
        }
    }
    cn_sample_in_kernel_hurry(&s->in_kernel, false);
    cn_rings_enable(&s->rings, false);
    cn_attached_detach(&s->attached);
    cn_ring_watch_stop(&s->watch);
    if (s->timers.shared)
        cn_timers_stop(&s->timers);
    if (s->timers.library) {
        s->collector.lost_count += cn_timers_lost(&s->timers);
    }
    return ok && read_rings(s, UINT64_MAX, err);
}

/* What the file says about all samples of allocations. */
static bool write_notes(struct sampling *s, struct cn_error *err)
{
    uint64_t probe_count, lost_count;

    if (s->attached.probes) {
        cn_attached_count(&s->attached, &probe_count, &lost_count);
        return cn_collector_write_memory(&s->collector, lost_count, 0, err);
    }
    return !s->timers.shared || s->options->memory_interval == 0 ||
           cn_collector_write_memory(&s->collector,
                                     atomic_load(&s->timers.shared->lost_alloc_count),
                                     atomic_load(&s->timers.shared->notes), err);
}

/* A program that runs longer than --duration. */
static void wait_for_program(struct sampling *s)
{
    while (s->program.pid > 0 &&
           waitpid(s->program.pid, &s->wait_status, 0) != s->program.pid &&
           errno == EINTR)
        continue;
    s->program.pid = 0;
}

/* Names are found after sampling; the user may stop that with Ctrl-C, which leaves a file without
 * them. */
static void add_symbols(struct sampling *s)
{
    struct cn_perf_symbolized found = {0};
    struct cn_error err = {0};
    char *text = NULL, *rest, *line;

    if (!s->options->has_symbols ||
        (s->writer.sample_count == 0 && s->gpu.op_count == 0 &&
         s->timers.alloc_count == 0 && s->collector.alloc_count == 0))
        return;
    (void)signal(SIGINT, SIG_DFL);
    if (!cn_perf_writer_add_symbols(&s->writer, &found, &err))
        text = cn_strprintf("the file contains no names: %s", err.text);
    else if (found.left_out > 0)
        text = cn_strprintf(
            "names of %zu addresses are left out: the file contains those of "
            "%zu",
            found.left_out, found.count);
    if (text && s->options->say)
        s->options->say(s->options->arg, text);
    rest = found.hints;
    while (s->options->say && (line = strsep(&rest, "\n")))
        if (*line)
            s->options->say(s->options->arg, line);
    free(found.hints);
    free(text);
}

/* What would show more of what was sampled. */
static void give_hints(struct sampling *s)
{
    struct cn_unwound *stacks = &s->collector.stacks;

    cn_unwound_hint(stacks);
    for (size_t i = 0; s->options->say && i < stacks->hints.count; i++)
        s->options->say(s->options->arg, stacks->hints.list[i]);
}

static void summarize(struct sampling *s, struct cn_sample_result *result)
{
    const struct cn_sample_collector *c = &s->collector;

    *result = (struct cn_sample_result){
        .wait_status = s->wait_status,
        .sample_count = s->writer.sample_count,
        .lost_count = c->lost_count,
        .whole_count = c->stacks.ends[CN_UNWIND_WHOLE],
        .cut_count = c->stacks.ends[CN_UNWIND_CUT],
        .unknown_count = c->stacks.ends[CN_UNWIND_UNKNOWN],
        .bad_count = c->stacks.ends[CN_UNWIND_BAD],
        .is_user_only = s->setup.is_user_only,
        .is_inside = s->timers.library != NULL,
        .alloc_count = s->timers.alloc_count,
        .kernel_count = c->kernel_count,
        .has_gpu = s->gpu.has_started,
        .gpu_op_count = s->gpu.op_count,
        .range_count = s->gpu.range_count,
        .call_count = s->setup.io.call_count,
        .gpu_notes = s->gpu.notes.len > 0 ? cn_strdup(s->gpu.notes.chars) : NULL,
        .gpu_lost_count = cn_sample_gpu_lost(&s->gpu),
        .refusal = s->in_kernel.refusal,
    };
    if (s->attached.probes) {
        cn_attached_count(&s->attached, &result->probe_count, &result->alloc_lost_count);
        result->alloc_count = c->alloc_count;
        result->probe_ns = s->attached.probe_ns;
        result->ended_share = s->attached.ended_share;
        result->ended_s =
            s->attached.ended_ns > 0
                ? (double)(s->attached.ended_ns - s->attached.begin_ns) / 1e9
                : 0;
    }
    if (s->timers.shared) {
        result->alloc_lost_count = atomic_load(&s->timers.shared->lost_alloc_count);
        result->memory_notes = atomic_load(&s->timers.shared->notes);
        result->leaks = s->leaks;
        result->leaks.program_count = atomic_load(&s->timers.shared->memory_count);
    }
    for (size_t i = 0; i <= CN_UNWIND_BAD; i++)
        result->stack_count += c->stacks.ends[i];
}

bool cn_sample_run(const struct cn_sample_options *options,
                   struct cn_sample_result *result, struct cn_error *err)
{
    struct sampling s = {
        .options = options,
        .program = {.end = -1, .go = -1, .failed = -1},
        .timers = {.fd = -1},
        .gpu = {.fd = -1},
        .writer = {.fd = -1},
    };
    struct cn_error failure = {0};
    struct stat status;
    bool ok = prepare(&s, err) && start(&s, err);

    if (ok) {
        bool is_complete = watch(&s, &failure) && write_notes(&s, &failure) &&
                           cn_perf_writer_flush(&s.writer, &failure);

        summarize(&s, result);
        give_hints(&s);
        if (is_complete) {
            struct cn_text origin = {0};

            add_symbols(&s);
            add_origin(&s, &origin);
            cn_perf_writer_add_section(&s.writer, CN_PERF_FEATURE_ORIGIN,
                                       cn_wire_view(&origin));
            cn_text_done(&origin);
        }
        is_complete = cn_perf_writer_close(&s.writer, &failure) && is_complete;
        cn_rings_close(&s.rings);
        wait_for_program(&s);
        result->wait_status = s.wait_status;
        result->file_len =
            stat(options->path, &status) == 0 ? (uint64_t)status.st_size : 0;
        if (!is_complete)
            result->failure = failure;
    }
    cn_sample_program_close(&s.program);
    cn_ring_watch_stop(&s.watch);
    cn_rings_close(&s.rings);
    cn_attached_close(&s.attached);
    cn_timers_close(&s.timers);
    cn_sample_gpu_close(&s.gpu);
    cn_perf_writer_discard(&s.writer);
    cn_collector_done(&s.collector);
    cn_kernel_free(s.in_kernel.kernel);
    cn_sample_setup_done(&s.setup);
    cn_sample_ends_close(&s.ends);
    free(s.tids);
    return ok;
}
