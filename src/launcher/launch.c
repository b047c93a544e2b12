#include "launcher/launch.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/files/out.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "formats/uftrace/directory/checksums.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/folder.h"
#include "launcher/elf/command.h"
#include "launcher/elf/program.h"
#include "launcher/events/chosen.h"
#include "launcher/events/events.h"
#include "launcher/files/drain.h"
#include "launcher/files/modules.h"
#include "launcher/files/recording_dir.h"
#include "launcher/files/shared_memory.h"
#include "launcher/files/standby.h"
#include "launcher/info_file.h"
#include "launcher/leaks/check.h"
#include "launcher/rules/modules.h"

enum {
    WAIT_MS = 20,
    CLIENT_WAIT_MS = 1, /* while a client of the agent is connected */
    PATIENCE_MS = 1000, /* then print a message */
    COMING_MS = 3000,   /* for a forked child to take a track */
    RECORD_LEN = 16,
    EVENT_THREADS_MAX = 1024, /* at once; with more, context switches are not recorded */
};

struct program_launch {
    struct cn_launch_options *options;
    struct cn_program_file program;
    char *dir, *library;
    int lock; /* of the directory */
    struct cn_shared_memory memory;
    struct cn_leak_check leaks;
    struct cn_drain drain;
    struct cn_standby standby;
    struct cn_events events;
    struct cn_chosen_events chosen;
    const char **tracepoints; /* among the chosen events */
    struct cn_kernel_trace kernel;
    bool has_perf_events, has_kernel;
    bool is_python; /* functions of Python are to be recorded */
    struct cn_module_files modules;
    struct cn_module_rules rules;
    struct cn_agent agent;
    struct cn_info_facts facts;
    struct cn_program_settings settings;
    uint32_t session_count; /* sessions whose symbols are written */
    uint64_t start_ns;
    pid_t pid; /* 0 when it has ended */
    struct cn_program_kept kept;
    bool is_agent_failed;
    bool has_dropped_events;
};

/* Set by signal handlers. */
static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t forwarded_to;
static struct cn_rec_shared *volatile bell_of;

static void on_child(int number)
{
    struct cn_rec_shared *head = bell_of;

    (void)number;
    if (head)
        atomic_fetch_add(&head->bell,
                         1); /* so that a wait that begins now returns at once */
}

static void on_interrupt(int number)
{
    (void)number;
    interrupts++;
}

static void on_terminate(int number)
{
    if (forwarded_to > 0)
        (void)kill((pid_t)forwarded_to, number);
}

static void catch_signals(void)
{
    /* Without SA_RESTART, opening a file fails where the kernel can interrupt it. */
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    struct sigaction interrupt = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    struct sigaction terminate = {.sa_handler = on_terminate, .sa_flags = SA_RESTART};

    (void)sigaction(SIGCHLD, &child, NULL);
    /* The terminal sends these to the program as well, which decides how to end. */
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &interrupt, NULL);
    (void)sigaction(SIGTERM, &terminate, NULL);
    (void)sigaction(SIGHUP, &terminate, NULL);
}

static bool configure(struct program_launch *launch, struct cn_error *err)
{
    const struct cn_launch_options *options = launch->options;
    struct cn_rec_shared *head = launch->memory.head;

    if (!cn_shared_memory_set_dir(&launch->memory, launch->dir, err))
        return false;
    if (strlen(launch->program.path) >= sizeof(head->exe))
        return cn_fail(err, CN_ERR_LIMIT, "'%s': path too long", launch->program.path);
    memcpy(head->exe, launch->program.path, strlen(launch->program.path) + 1);
    head->size_limit = options->size_limit;
    head->has_own_writing = !options->is_packed;
    head->has_leaks = options->has_leaks;
    head->has_libcalls = options->has_libcalls;
    head->without_throws = options->without_throws;
    head->has_bare_jumps = options->has_bare_jumps;
    head->has_nested_libcalls = options->has_libcalls && options->has_nested_libcalls;
    if (options->has_python)
        head->python = (uint8_t)(CN_REC_PYTHON_ON |
                                 (head->has_libcalls ? CN_REC_PYTHON_LIBCALLS : 0) |
                                 (head->has_nested_libcalls ? CN_REC_PYTHON_NESTED : 0));
    /* Library functions are then those of Python, not those of the interpreter or of what
     * starts it. */
    if (launch->is_python)
        head->has_libcalls = head->has_nested_libcalls = 0;
    head->has_sites = options->has_sites;
    head->has_counter = head->has_counter && !options->asks_kernel &&
                        !cn_program_is_foreign(&launch->program);
    head->is_on = !options->is_off;
    head->has_agent = options->has_agent;
    launch->rules = (struct cn_module_rules){
        .rules = &options->rules,
        .arguments = options->arguments,
        .memory = &launch->memory,
        .files = &launch->modules,
        .limits = {options->time_limit_ns, options->depth_limit},
        .python = {.dir = launch->dir},
    };
    return cn_watches_store(&options->watches, launch->program.path, head, err) &&
           cn_module_rules_begin(&launch->rules, launch->program.path, err);
}

/* Find the events that are chosen, and the tracepoints among them. */
static bool choose_events(struct program_launch *launch, struct cn_error *err)
{
    struct cn_launch_options *options = launch->options;
    struct cn_chosen_events *chosen = &launch->chosen;
    size_t count = 0;

    if (options->event_pattern_count > 0 &&
        !cn_chosen_events_find(chosen, launch->program.path, options->event_patterns,
                               options->event_pattern_count, options->has_glob_events,
                               NULL, err))
        return false;
    launch->tracepoints = cn_alloc(chosen->count + 1, sizeof(*launch->tracepoints));
    for (size_t i = 0; i < chosen->count; i++) {
        if (chosen->list[i].kind == CN_EVENT_KIND_TRACEPOINT)
            launch->tracepoints[count++] = chosen->list[i].name;
        else
            launch->has_perf_events = true;
    }
    options->kernel.tracepoints = launch->tracepoints;
    options->kernel.tracepoint_count = count;
    launch->has_kernel = options->kernel.depth > 0 || count > 0;
    /* The kernel's pages have the times of its own clock, and so have calls that launch work of
     * GPUs. */
    options->asks_kernel = options->asks_kernel || launch->has_kernel ||
                           options->has_gpu || options->has_ranges;
    return !launch->has_kernel || cn_kernel_trace_check(&options->kernel, NULL, err);
}

static bool runs_python(const char *const *words)
{
    const struct cn_command_language *interpreter = cn_command_language_of(words);

    return interpreter && interpreter->is_recorded;
}

static bool prepare(struct program_launch *launch, struct cn_error *err)
{
    const struct cn_launch_options *options = launch->options;
    bool is_patched = (cn_rules_actions(&options->rules) & CN_REC_RULE_PATCH) != 0;

    launch->is_python = options->has_python && runs_python(options->words);
    if ((options->has_agent && !cn_agent_folder_make(err)) ||
        !cn_program_file_open(&launch->program, options->words[0], err) ||
        (!options->is_forced && !launch->is_python &&
         !cn_program_file_check(&launch->program, options->has_libcalls, is_patched,
                                err)))
        return false;
    if (!choose_events(launch, err))
        return false;
    if (options->library)
        launch->library = cn_strdup(options->library);
    else if (!cn_program_recorder_find(&launch->program, options->has_memory,
                                       &launch->library, err))
        return false;
    if (!cn_recording_dir_create(options->dir, options->rank, &launch->dir, &launch->lock,
                                 err) ||
        !cn_shared_memory_open(&launch->memory, launch->dir, options->ring_len, err))
        return false;
    cn_shared_memory_clock_begin(&launch->memory);
    launch->drain = (struct cn_drain){
        .memory = &launch->memory,
        .dir = launch->dir,
        .is_packed = options->is_packed,
        .packed = {.memory = &launch->memory, .dir = launch->dir},
    };
    launch->leaks.drain = &launch->drain;
    launch->modules.dir = launch->dir;
    launch->modules.symbols = launch->options->symbols;
    return configure(launch, err) &&
           cn_standby_start(&launch->standby, &launch->drain, err);
}

/* Write the default options of views. */
static bool write_default_options(const struct program_launch *launch,
                                  struct cn_error *err)
{
    struct cn_text text = {0};

    if (launch->options->time_limit_ns > 0) {
        cn_text_str_add(&text, "-t ");
        cn_duration_print_exactly(&text, launch->options->time_limit_ns);
        cn_text_char(&text, '\n');
    }
    if (launch->options->view_options)
        cn_text_str_add(&text, cn_text_str(launch->options->view_options));
    bool ok =
        cn_out_replace(launch->dir, "default.opts", cn_text_str(&text), text.len, err);
    cn_text_done(&text);
    return ok;
}

/* Open the kernel's events. Without --event, the program runs without them where the kernel
 * does not allow them. */
static bool open_events(struct program_launch *launch, bool *has_events,
                        struct cn_error *err)
{
    const struct cn_launch_options *options = launch->options;
    bool has_tasks = options->has_events || launch->chosen.has_schedule;
    bool has_switches =
        launch->chosen.has_schedule || (has_tasks && !options->without_switches);
    struct cn_text text = {0};
    bool ok = true;

    *has_events = has_tasks || launch->has_perf_events;
    if (*has_events && !cn_events_open(&launch->events, launch->dir, &launch->memory,
                                       has_tasks, has_switches, launch->kept.pid, err)) {
        *has_events = false;
        ok = options->event_pattern_count == 0;
    }
    cn_chosen_events_print_ids(&launch->chosen, &text);
    if (ok && text.len > 0)
        ok = cn_out_replace(launch->dir, "events.txt", text.chars, text.len, err);
    cn_text_done(&text);
    return ok && (!launch->has_kernel ||
                  cn_kernel_trace_open(&launch->kernel, launch->dir,
                                       &launch->options->kernel, NULL, err));
}

static bool write_first_files(struct program_launch *launch, struct cn_error *err)
{
    const struct cn_launch_options *options = launch->options;
    bool has_events;

    if (!open_events(launch, &has_events, err))
        return false;
    launch->facts = (struct cn_info_facts){
        .dir = launch->dir,
        .exe_path = launch->program.path,
        .exe = &launch->program.elf,
        .command_line = options->command_line,
        .started_at = time(NULL),
        .has_libcalls = options->has_libcalls,
        .arguments = options->arguments,
        .has_events = has_events,
        .has_kernel = launch->has_kernel,
        .has_sites = options->has_sites ||
                     (cn_rules_actions(&options->rules) & CN_REC_RULE_SITE) != 0,
        .begins_off = options->is_off,
        .has_values = !cn_arguments_is_empty(options->arguments) ||
                      (cn_rules_actions(&options->rules) & CN_REC_RULES_READ) != 0,
    };
    return cn_info_file_write(&launch->facts, err) &&
           cn_out_replace(launch->dir, "task.txt", "", 0, err) &&
           ((!options->has_gpu && !options->has_ranges) ||
            cn_gpu_file_create(launch->dir, options->has_gpu, options->has_ranges,
                               err)) &&
           write_default_options(launch, err);
}

static void say(const struct program_launch *launch, const char *text)
{
    if (launch->options->say)
        launch->options->say(launch->options->say_arg, text);
}

static void collect_status(struct program_launch *launch)
{
    struct pollfd end = {.fd = launch->kept.end, .events = POLLIN};
    int status;

    if (launch->pid == 0)
        return;
    /* Only its parent learns the status of a process. */
    if (launch->kept.pid > 0) {
        if (poll(&end, 1, 0) <= 0)
            return;
    } else if (wait4(launch->pid, &status, WNOHANG, &launch->facts.usage) !=
               launch->pid) {
        return;
    } else {
        launch->facts.wait_status = status;
        launch->facts.is_finished = true;
    }
    launch->facts.elapsed_ns = cn_clock_ns() - launch->start_ns;
    launch->pid = 0;
    forwarded_to = 0;
    cn_drain_look_now(&launch->drain);
    launch->drain.looks_for_zombies = true;
    interrupts = 0;
}

/* True if forked children may still take a track. One that was killed before, or a fork
 * that failed, never does: do not wait for it for ever. */
static bool has_coming(struct program_launch *launch, uint64_t *since_ns, uint32_t *seen)
{
    uint32_t coming = atomic_load(&launch->memory.head->coming_count);

    if (coming != *seen) {
        *seen = coming;
        *since_ns = cn_clock_ns();
    }
    return coming > 0 && cn_clock_ns() - *since_ns < COMING_MS * UINT64_C(1000000);
}

static void stop(struct program_launch *launch, enum cn_rec_stop why)
{
    uint32_t running = CN_REC_RUNNING;

    (void)atomic_compare_exchange_strong(&launch->memory.head->stop, &running, why);
}

static void check_limits(struct program_launch *launch)
{
    const struct cn_launch_options *options = launch->options;
    struct cn_rec_shared *head = launch->memory.head;

    if (options->size_limit > 0 && atomic_load(&head->byte_count) >= options->size_limit)
        stop(launch, CN_REC_STOP_SIZE);
    if (options->duration_ns > 0 &&
        cn_clock_ns() - launch->start_ns >= options->duration_ns)
        stop(launch, CN_REC_STOP_DURATION);
}

/* Drain a last time after a stop, unless the disk is full. Later records are dropped. */
static bool end_recording(struct program_launch *launch, struct cn_error *err)
{
    const struct cn_rec_shared *head = launch->memory.head;
    uint32_t why = atomic_load(&head->stop);

    if (why == CN_REC_RUNNING || why == CN_REC_STOP_DISK || atomic_load(&head->is_over))
        return true;
    return cn_drain_end(&launch->drain, err) && cn_events_drain(&launch->events, err);
}

/* How long to wait for the bell. */
static uint32_t patience_ms(const struct program_launch *launch)
{
    uint64_t duration_ns = launch->options->duration_ns;
    uint64_t left_ns = launch->start_ns + duration_ns - cn_clock_ns();

    if (duration_ns == 0 || left_ns >= WAIT_MS * UINT64_C(1000000))
        return WAIT_MS;
    return (uint32_t)(left_ns / 1000000 + 1);
}

/* Each thread inherits an event for each processor, which every context switch stops and starts:
 * thousands of threads would run at a fraction of their speed. Events of a part of the time
 * would be misleading. */
static void check_events(struct program_launch *launch)
{
    const struct cn_rec_shared *head = launch->memory.head;
    uint32_t used = atomic_load(&head->track_count),
             unused = atomic_load(&head->free_count);

    if (launch->events.count == 0 || launch->chosen.count > 0 ||
        used < unused + EVENT_THREADS_MAX)
        return;
    cn_events_drop(&launch->events);
    launch->facts.has_events = false;
    launch->has_dropped_events = true;
}

static bool write_new_symbols(struct program_launch *launch, struct cn_error *err)
{
    uint32_t count = atomic_load(&launch->memory.head->session_count);

    if (count == launch->session_count)
        return true;
    launch->session_count = count;
    return cn_module_files_update(&launch->modules, err);
}

/* Listen for clients once the program records; handle what they ask for. True if one is
 * connected. */
static bool serve_clients(struct program_launch *launch)
{
    struct cn_error failure = {0};

    if (launch->options->has_agent && launch->agent.listener < 0 && launch->pid > 0 &&
        !launch->is_agent_failed &&
        atomic_load(&launch->memory.head->session_count) > 0 &&
        !cn_agent_open(&launch->agent, &launch->rules, &launch->options->rules,
                       launch->pid, &failure)) {
        launch->is_agent_failed = true;
        say(launch, failure.text);
    }
    return cn_agent_step(&launch->agent);
}

/* Loop until the program and its children have ended. False when the disk is full:
 * recording stops, but the program continues. */
static bool watch(struct program_launch *launch, struct cn_error *err)
{
    struct cn_error failure = {0};
    uint64_t ended_ns = 0, since_ns = 0;
    uint32_t coming = 0;
    bool ok = true, has_said = false;

    for (;;) {
        ok = ok && cn_drain_step(&launch->drain, err) &&
             (atomic_load(&launch->memory.head->is_over) ||
              (cn_events_drain(&launch->events, err) &&
               cn_kernel_trace_drain(&launch->kernel, err))) &&
             write_new_symbols(launch, err);
        check_limits(launch);
        check_events(launch);
        ok = ok && end_recording(launch, err);
        if (!ok)
            stop(launch, CN_REC_STOP_DISK);
        if (launch->options->has_leaks)
            cn_leak_check_answer(&launch->leaks);
        if (!cn_module_rules_answer(&launch->rules, &failure))
            say(launch, failure.text);
        collect_status(launch);
        if (launch->pid == 0 && ended_ns == 0) {
            ended_ns = cn_clock_ns();
            continue;
        }
        if (launch->pid == 0 && (!ok || interrupts > 0))
            return ok;
        /* A child takes its track before it is not coming any more: look in this order. */
        if (launch->pid == 0 && !has_coming(launch, &since_ns, &coming)) {
            cn_drain_look_now(&launch->drain);
            ok = cn_drain_step(&launch->drain, err);
            if (!ok || launch->drain.open_count == 0)
                return ok;
        }
        if (launch->pid == 0 && !has_said &&
            cn_clock_ns() - ended_ns > PATIENCE_MS * UINT64_C(1000000)) {
            say(launch, "waiting for children of the program; press Ctrl-C to stop");
            has_said = true;
        }
        cn_drain_wait(&launch->drain,
                      serve_clients(launch) ? CLIENT_WAIT_MS : patience_ms(launch));
    }
}

/* True if calls inside recorded calls are left out. */
static bool leaves_out_calls(const struct cn_launch_options *options)
{
    uint32_t within = CN_REC_RULE_NOT | CN_REC_RULE_HIDE | CN_REC_RULE_OFF |
                      CN_REC_RULE_DEPTH | CN_REC_RULE_TIME | CN_REC_RULE_SIZE |
                      CN_REC_RULE_CALLER;

    return options->time_limit_ns > 0 || options->depth_limit > 0 ||
           (cn_rules_actions(&options->rules) & within) != 0;
}

/* The cost of calls in a program with these hooks, CN_REC_COST_*. */
static int cost_of(unsigned hooks)
{
    if (hooks & CN_ELF_INSTRUMENT)
        return CN_REC_COST_INSTRUMENT;
    return hooks & (CN_ELF_MCOUNT | CN_ELF_FENTRY) ? CN_REC_COST_HOOK
                                                   : CN_REC_COST_PATCHED;
}

static bool complete(struct program_launch *launch, bool ok,
                     struct cn_launch_result *result, struct cn_error *err)
{
    struct cn_rec_shared *head = launch->memory.head;

    ok = ok && cn_drain_finish(&launch->drain, err) &&
         (atomic_load(&head->is_over) || cn_events_drain(&launch->events, err)) &&
         cn_kernel_trace_finish(&launch->kernel, err);
    ok = ok && cn_leak_check_write(&launch->leaks, err);
    ok = cn_module_files_finish(&launch->modules, err) && ok;
    if (launch->modules.unread.text[0])
        say(launch, launch->modules.unread.text);
    ok = cn_python_functions_finish(&launch->rules.python, err) && ok;
    launch->facts.call_cost = head->costs[cost_of(launch->program.elf.hooks)];
    launch->facts.libcall_cost = head->costs[CN_REC_COST_LIBCALL];
    if (leaves_out_calls(launch->options))
        launch->facts.left_out_ps = head->costs[CN_REC_COST_LEFT_OUT].call_ps;
    ok = cn_info_file_write(&launch->facts, err) && ok;
    if (launch->options->is_packed)
        ok = ok && cn_uft_checksums_write(launch->dir, err);
    *result = (struct cn_launch_result){
        .wait_status = launch->facts.wait_status,
        .record_len = atomic_load(&head->byte_count),
        .call_count = (atomic_load(&head->byte_count) - atomic_load(&head->extra_len)) /
                      RECORD_LEN / 2,
        .stored_len = launch->options->is_packed ? launch->drain.packed.stored_len +
                                                       atomic_load(&head->memory_len)
                                                 : atomic_load(&head->byte_count),
        .lost_count = atomic_load(&head->lost_count),
        .memory_len = atomic_load(&head->memory_len),
        .lost_memory_count = atomic_load(&head->memory_lost_count),
        .own_malloc_count = atomic_load(&head->own_malloc_count),
        .lost_event_count = launch->chosen.count > 0 ? launch->events.lost_count : 0,
        .sandboxed_count = atomic_load(&head->sandboxed_count),
        .missed_count = atomic_load(&head->missed_count),
        .is_full = atomic_load(&head->is_full),
        .kind = launch->program.kind,
        .has_dropped_events = launch->has_dropped_events,
        .is_python = launch->is_python,
        .has_only_libcalls =
            !launch->program.is_script && !launch->is_python && head->patch_count == 0 &&
            !(launch->program.elf.hooks &
              (CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT | CN_ELF_PATCHABLE)),
        .stop = (int)atomic_load(&head->stop),
    };
    result->leaks = (struct cn_launch_leaks){
        .program_count = atomic_load(&head->heap_count),
        .checked_count = launch->leaks.checked_count,
        .live_count = launch->leaks.live_count,
        .leaked_count = launch->leaks.leaked_count,
        .live_bytes = launch->leaks.live_bytes,
        .leaked_bytes = launch->leaks.leaked_bytes,
    };
    memcpy(result->leaks.failure, launch->leaks.failure, sizeof(result->leaks.failure));
    result->patch_counts = launch->rules.patch_counts;
    result->unpatched_count = atomic_load(&head->unpatched_count);
    result->bypassed_count = atomic_load(&head->bypassed_count);
    memcpy(result->bypassed, head->bypassed, sizeof(result->bypassed));
    result->bypassed[sizeof(result->bypassed) - 1] = '\0';
    for (int i = 0; i < CN_REC_EXEC_KINDS; i++)
        result->unloaded[i] = atomic_load(&head->unloaded[i]);
    ok = ok && ((!launch->options->has_gpu && !launch->options->has_ranges) ||
                cn_gpu_file_count(launch->dir, &result->gpu, err));
    if (!ok)
        result->failure = *err;
    return true;
}

static bool prepare_program(void *arg, pid_t pid, struct cn_error *err)
{
    struct program_launch *launch = arg;

    if (launch->options->prepare)
        launch->options->prepare(launch->options->prepare_arg, pid);
    return cn_events_choose(&launch->events, &launch->chosen, pid, err) &&
           (!launch->has_kernel || cn_kernel_trace_start(&launch->kernel, pid, err));
}

static bool start_and_watch(struct program_launch *launch,
                            struct cn_launch_result *result, struct cn_error *err)
{
    struct cn_program_start start = {
        .settings = &launch->settings,
        .library = launch->library,
        .words = launch->options->words,
        .kept = &launch->kept,
    };
    struct cn_error failure = {0};
    pid_t pid;

    cn_shared_memory_clock_end(&launch->memory);
    bell_of = launch->memory.head;
    catch_signals();
    launch->start_ns = cn_clock_ns();
    char *path = cn_shared_memory_path(&launch->memory, launch->standby.pid);
    start.shared_path = path;
    if (launch->chosen.count > 0 || launch->has_kernel || launch->options->prepare)
        start.before = (struct cn_program_preparation){prepare_program, launch};
    bool ok = cn_program_file_start(&launch->program, &start, &pid, err);
    free(path);
    if (!ok)
        return false;
    launch->pid = pid;
    forwarded_to = launch->pid;
    return complete(launch, watch(launch, &failure), result, &failure);
}

bool cn_launch_run(struct cn_launch_options *options, struct cn_launch_result *result,
                   struct cn_error *err)
{
    struct program_launch launch = {
        .options = options,
        .memory = {.fd = -1},
        .lock = -1,
        .agent = {.listener = -1, .client = -1},
    };

    if (options->keeps_pid && !cn_program_split(&launch.kept, options->words, err))
        return false;
    cn_program_settings_change(&launch.settings);
    bool ok = prepare(&launch, err) && write_first_files(&launch, err) &&
              start_and_watch(&launch, result, err);

    bell_of = NULL;
    cn_leak_check_done(&launch.leaks);
    cn_drain_done(&launch.drain);
    cn_events_close(&launch.events);
    cn_kernel_trace_close(&launch.kernel);
    cn_chosen_events_done(&launch.chosen);
    free(launch.tracepoints);
    cn_agent_close(&launch.agent);
    cn_module_rules_done(&launch.rules);
    cn_module_files_done(&launch.modules);
    cn_shared_memory_close(&launch.memory);
    cn_standby_stop(&launch.standby);
    cn_program_kept_close(&launch.kept);
    cn_program_file_close(&launch.program);
    cn_program_settings_restore(&launch.settings);
    if (launch.lock >= 0)
        (void)close(launch.lock);
    free(launch.dir);
    free(launch.library);
    return ok;
}
