#include "sampler/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "unwind/unwind.h"

enum {
    RING_LEN = 8 << 20,
    IO_RING_LEN = 32 << 20,
    CALL_STACK_LEN = 16 << 10, /* of a system call, until it is unwound in the kernel */
    RING_LEN_MIN = 64 << 10,
    RINGS_LEN = 256 << 20, /* of all processors */
    COPIED = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

static uint64_t read_setting(const char *name, uint64_t otherwise)
{
    char line[32] = "", *end;
    char *path = cn_strprintf("/proc/sys/kernel/%s", name);
    FILE *file = fopen(path, "re");

    free(path);
    if (file) {
        (void)!fgets(line, sizeof(line), file);
        (void)fclose(file);
    }
    uint64_t value = strtoull(line, &end, 10);
    return end != line && line[0] != '-' ? value : otherwise;
}

static void set_frequency(const struct cn_sample_options *options,
                          struct cn_sample_event *event)
{
    if (event->is_switch)
        event->attr.sample_period = 1;
    if (event->call != CN_SAMPLE_NO_CALL)
        return;
    if (options->period > 0) {
        event->attr.sample_period = options->period;
    } else if (event->attr.sample_period == 0) {
        event->attr.freq = 1;
        event->attr.sample_freq = options->frequency;
    }
}

/* What an interrupt of the hardware has stopped is no waker. */
static const char in_interrupt[] = "common_flags & 8",
                  in_thread[] = "!(common_flags & 8)";

static void complete(struct cn_sample_setup *setup,
                     const struct cn_sample_options *options,
                     struct cn_sample_event *event)
{
    struct perf_event_attr *attr = &event->attr;
    bool without_user = (event->is_waking && event->is_of_machine) ||
                        event->call == CN_SAMPLE_CALL_CHANGES ||
                        event->call == CN_SAMPLE_CALL_ENDS ||
                        event->call == CN_SAMPLE_DISK_ENDS;

    attr->size = sizeof(*attr);
    attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                         PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                         PERF_SAMPLE_CALLCHAIN;
    if (options->stacks == CN_SAMPLE_WHOLE && !without_user) {
        attr->sample_type |= COPIED;
        attr->sample_regs_user = setup->register_mask;
        attr->exclude_callchain_user = 1;
    } else if (options->stacks == CN_SAMPLE_NONE) {
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
    } else if (without_user) {
        attr->exclude_callchain_user = 1;
    }
    /* All system calls have the same functions of the kernel above them. */
    attr->exclude_callchain_kernel = event->call != CN_SAMPLE_NO_CALL;
    attr->inherit = !options->has_machine && !event->is_of_machine;
    attr->enable_on_exec = attr->inherit && options->words;
    attr->disabled = !event->is_of_machine;
    attr->exclude_idle = event->is_clock; /* its timer also runs on idle processors */
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
    attr->build_id = 1;
    attr->mmap_data = setup->io.has_faults;
    attr->sample_id_all = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
    attr->watermark = 1;
    attr->context_switch = options->has_switches;
}

static void say(const struct cn_sample_options *options, const char *text)
{
    if (options->say)
        options->say(options->arg, text);
}

static void say_no_waking(const struct cn_sample_options *options, const char *why)
{
    struct cn_text text = {0};

    cn_text_printf(
        &text, "--off-cpu: where threads wait is known, not for whom (cairn waits): %s",
        why);
    say(options, cn_text_str(&text));
    cn_text_done(&text);
}

/* For whom threads wait is known from wake-ups: by sampled threads, and by interrupts and all others.
 * Without them, the rest is sampled. */
static void add_waking(struct cn_sample_setup *setup,
                       const struct cn_sample_options *options)
{
    struct cn_error refusal = {0};
    struct cn_sample_event *event;

    for (size_t i = 0; i < setup->events.count; i++)
        if (setup->events.list[i].is_waking)
            return;
    for (; setup->waking_count < 2; setup->waking_count++) {
        if (!cn_sample_events_add(&setup->events, CN_SAMPLE_WAKING, &refusal)) {
            say_no_waking(options,
                          "wake-ups are a tracepoint, which only root can record");
            return;
        }
        event = &setup->events.list[setup->events.count - 1];
        event->filter = in_thread;
    }
    /* The second one has no stack of the user, as there are many of other programs. The first one
     * is of the sampled tasks. */
    event->is_of_machine = true;
    event->filter = options->has_machine ? in_interrupt : NULL;
}

/* The kernel has refused an event that add_waking() added, the last ones. */
static bool drop_waking(struct cn_sample_setup *setup,
                        const struct cn_sample_options *options)
{
    if (setup->waking_count == 0)
        return false;
    for (; setup->waking_count > 0; setup->waking_count--)
        free(setup->events.list[--setup->events.count].name);
    say_no_waking(options, "the kernel refused the tracepoint " CN_SAMPLE_WAKING);
    return true;
}

bool cn_sample_setup_events(struct cn_sample_setup *setup,
                            const struct cn_sample_options *options, struct cn_error *err)
{
    enum cn_unwind_machine machine = cn_unwind_machine_here();
    bool has_switches = false;

    *setup = (struct cn_sample_setup){.register_mask = cn_unwind_perf_mask(machine)};
    for (size_t i = 0; i < options->event_count; i++)
        if (!cn_sample_events_add(&setup->events, options->events[i], err))
            return false;
    if (options->event_count == 0 &&
        !cn_sample_events_add(&setup->events, "cpu-clock", err))
        return false;
    for (size_t i = 0; i < setup->events.count; i++)
        has_switches = has_switches || setup->events.list[i].is_switch;
    if (options->has_switches && !has_switches &&
        !cn_sample_events_add(&setup->events, "context-switches", err))
        return false;
    if (options->has_io && !cn_sample_io_add_events(&setup->io, &setup->events, err))
        return false;
    if (options->has_io && options->stacks != CN_SAMPLE_NONE &&
        !cn_sample_io_add_disks(&setup->events))
        say(options, "--io: requests of disks are not recorded: this kernel has no "
                     "tracepoints of them");
    if (options->has_io && options->stacks != CN_SAMPLE_NONE &&
        !cn_sample_io_add_faults(&setup->io, &setup->events, err))
        return false;
    if (options->has_switches)
        add_waking(setup, options);
    for (size_t i = 0; i < setup->events.count; i++) {
        set_frequency(options, &setup->events.list[i]);
        complete(setup, options, &setup->events.list[i]);
    }
    return true;
}

/* Continue with user code alone; false if that was already so. */
static bool drop_kernel(struct cn_sample_setup *setup,
                        const struct cn_sample_options *options)
{
    if (setup->is_user_only || options->has_machine)
        return false;
    setup->is_user_only = true;
    for (size_t i = 0; i < setup->events.count; i++)
        setup->events.list[i].attr.exclude_kernel =
            setup->events.list[i].attr.exclude_hv = 1;
    return true;
}

static void say_dropped_kernel(const struct cn_sample_options *options)
{
    struct cn_text text = {0};

    cn_text_printf(&text,
                   "sampling the code of the program alone, not the kernel's: "
                   "kernel.perf_event_paranoid is %" PRIu64
                   "; for both: sudo sysctl kernel.perf_event_paranoid=1%s",
                   read_setting("perf_event_paranoid", 2),
                   options->has_switches
                       ? " (--off-cpu: when threads wait is known, not where)"
                       : "");
    say(options, cn_text_str(&text));
    cn_text_done(&text);
}

/* Kernels before 5.12 have no build-ids in records. */
static bool drop_build_ids(struct cn_sample_setup *setup)
{
    bool had = setup->events.list[0].attr.build_id;

    for (size_t i = 0; i < setup->events.count; i++)
        setup->events.list[i].attr.build_id = 0;
    return had;
}

/* Sample time instead of cycles where there is no counter. */
static bool drop_cycles(const struct cn_sample_options *options,
                        struct cn_sample_event *event)
{
    if (event->attr.type != PERF_TYPE_HARDWARE ||
        event->attr.config != PERF_COUNT_HW_CPU_CYCLES)
        return false;
    say(options, "no counter of cycles here (a virtual machine without a PMU?): sampling "
                 "cpu-clock");
    event->attr.type = PERF_TYPE_SOFTWARE;
    event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
    event->attr.exclude_idle = 1;
    event->is_clock = true;
    event->needs_pmu = false;
    free(event->name);
    event->name = cn_strdup("cpu-clock");
    return true;
}

static bool lower_frequency(struct cn_sample_setup *setup,
                            const struct cn_sample_options *options)
{
    uint64_t most = read_setting("perf_event_max_sample_rate", UINT64_MAX);
    struct cn_text text = {0};
    bool has_changed = false;

    for (size_t i = 0; i < setup->events.count; i++) {
        struct perf_event_attr *attr = &setup->events.list[i].attr;

        if (attr->freq && attr->sample_freq > most && most > 0) {
            attr->sample_freq = most;
            has_changed = true;
        }
    }
    if (has_changed) {
        cn_text_printf(&text,
                       "sampling at %" PRIu64
                       " Hz, the most that kernel.perf_event_max_sample_rate allows",
                       most);
        say(options, cn_text_str(&text));
    }
    cn_text_done(&text);
    return has_changed;
}

static bool raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* What is missing, and the command that helps. */
static bool explain(const struct cn_sample_setup *setup,
                    const struct cn_sample_options *options,
                    const struct cn_ring_failure *failure, struct cn_error *err)
{
    const struct cn_sample_event *event = &setup->events.list[failure->event];
    uint64_t paranoid = read_setting("perf_event_paranoid", 2);

    switch (failure->error) {
    case ESRCH:
        return cn_fail(err, CN_ERR_NOT_FOUND, "the process has ended");
    case EMFILE:
        return cn_fail(err, CN_ERR_LIMIT,
                       "too many open files for an event of each thread and processor: "
                       "ulimit -n %d",
                       1 << 20);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return cn_fail(err, CN_ERR_USAGE, "-e %s: not supported here%s; use -e cpu-clock",
                       event->name,
                       event->needs_pmu ? " (a virtual machine without a PMU?)" : "");
    case ENOSYS:
        return cn_fail(
            err, CN_ERR_IO,
            "this kernel has no perf events (CONFIG_PERF_EVENTS), or a seccomp "
            "filter hides them: docker run --security-opt "
            "seccomp=unconfined");
    case EACCES:
    case EPERM:
        if (options->has_machine)
            return cn_fail(err, CN_ERR_IO,
                           "-a: the kernel does not allow it "
                           "(kernel.perf_event_paranoid is %" PRIu64
                           "): sudo cairn sample -a ..., or sudo sysctl "
                           "kernel.perf_event_paranoid=-1",
                           paranoid);
        if (options->pid_count > 0 && paranoid <= 2)
            return cn_fail(err, CN_ERR_IO,
                           "-p: the process belongs to another user, or a seccomp "
                           "filter hides perf events: sudo cairn sample -p ...");
        if (paranoid > 2)
            return cn_fail(err, CN_ERR_IO,
                           "the kernel does not allow perf events "
                           "(kernel.perf_event_paranoid is %" PRIu64
                           "): sudo sysctl kernel.perf_event_paranoid=2",
                           paranoid);
        return cn_fail(err, CN_ERR_IO,
                       "perf events are not allowed here (a container?): docker run "
                       "--cap-add PERFMON --security-opt seccomp=unconfined");
    default:
        errno = failure->error;
        return cn_fail_errno(err,
                             failure->is_ring ? "cannot map a ring of samples of %s"
                                              : "cannot sample %s",
                             event->name);
    }
}

/* Change what made opening fail. False if there is nothing left to change. */
static bool yield_to(struct cn_sample_setup *setup,
                     const struct cn_sample_options *options,
                     const struct cn_ring_failure *failure, size_t *ring_len)
{
    struct cn_sample_event *event = &setup->events.list[failure->event];

    if (failure->is_ring && (failure->error == EPERM || failure->error == ENOMEM) &&
        *ring_len > RING_LEN_MIN) {
        *ring_len /= 2;
        return true;
    }
    if (event->is_waking && failure->error != ESRCH && failure->error != EMFILE &&
        drop_waking(setup, options))
        return true;
    switch (failure->error) {
    case EACCES:
    case EPERM:
        return drop_kernel(setup, options);
    case EINVAL:
        return lower_frequency(setup, options) || drop_build_ids(setup);
    case E2BIG:
        return drop_build_ids(setup);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return drop_cycles(options, event);
    case EMFILE:
        return raise_file_limit();
    default:
        return false;
    }
}

/* The rings that fit the memory of the machine; the kernel may allow smaller ones only. */
static size_t first_ring_len(const struct cn_sample_options *options)
{
    size_t count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
    size_t len = options->has_io ? IO_RING_LEN : RING_LEN;

    while (len > RING_LEN_MIN && count > 0 && len > RINGS_LEN / count)
        len /= 2;
    return len;
}

/* A small ring must have room for the samples of 15 ms or more. */
static uint32_t stack_len(const struct cn_sample_options *options, size_t ring_len,
                          const struct cn_sample_event *event)
{
    if (options->stack_len > 0)
        return options->stack_len & ~7U;
    /* There may be thousands within a millisecond. */
    if (event->call != CN_SAMPLE_NO_CALL)
        return ring_len / 512 < CALL_STACK_LEN ? (uint32_t)ring_len / 512 & ~7U
                                               : CALL_STACK_LEN;
    if (ring_len >= 2 << 20)
        return CN_SAMPLE_STACK_LEN;
    return ring_len >= 512 << 10 ? 32 << 10 : (uint32_t)ring_len / 16;
}

bool cn_sample_setup_open(struct cn_sample_setup *setup,
                          const struct cn_sample_options *options, const pid_t *tids,
                          size_t tid_count, struct cn_rings *rings, bool *is_refused,
                          struct cn_error *err)
{
    struct cn_ring_request request = {
        .events = &setup->events,
        .tids = tids,
        .tid_count = tid_count,
        .data_len = first_ring_len(options),
        .register_len = 8 * (size_t)__builtin_popcountll(setup->register_mask),
    };
    struct cn_ring_failure failure;

    for (;;) {
        for (size_t i = 0; i < setup->events.count; i++) {
            struct perf_event_attr *attr = &setup->events.list[i].attr;

            attr->wakeup_watermark = (uint32_t)request.data_len / 2;
            if (attr->sample_type & PERF_SAMPLE_STACK_USER)
                attr->sample_stack_user =
                    stack_len(options, request.data_len, &setup->events.list[i]);
        }
        if (cn_rings_open(rings, &request, &failure)) {
            if (setup->is_user_only)
                say_dropped_kernel(options);
            return true;
        }
        if (!yield_to(setup, options, &failure, &request.data_len)) {
            *is_refused = failure.error == EACCES || failure.error == EPERM ||
                          failure.error == ENOSYS;
            return explain(setup, options, &failure, err);
        }
    }
}

bool cn_sample_setup_timers(struct cn_sample_setup *setup,
                            const struct cn_sample_options *options)
{
    if (!options->words || options->has_machine || options->pid_count > 0 ||
        options->has_io || !setup->events.list[0].is_clock)
        return false;
    for (size_t i = 1; i < setup->events.count; i++)
        free(setup->events.list[i].name);
    setup->events.count = 1;
    setup->events.list[0].attr.exclude_kernel = 1;
    setup->is_user_only = true;
    return true;
}

struct perf_event_attr cn_sample_setup_stored(const struct cn_sample_setup *setup,
                                              size_t i)
{
    struct perf_event_attr attr = setup->events.list[i].attr;

    if (attr.sample_type & PERF_SAMPLE_STACK_USER)
        attr.exclude_callchain_user = 0;
    bool has_argument =
        setup->events.list[i].is_switch && attr.sample_type & PERF_SAMPLE_REGS_USER;
    attr.sample_type &= ~(uint64_t)COPIED;
    attr.sample_type |= has_argument ? PERF_SAMPLE_REGS_USER : 0;
    attr.sample_regs_user =
        has_argument ? UINT64_C(1) << cn_unwind_perf_argument(cn_unwind_machine_here())
                     : 0;
    attr.sample_stack_user = 0;
    return attr;
}

void cn_sample_setup_done(struct cn_sample_setup *setup)
{
    cn_sample_events_done(&setup->events);
    cn_sample_io_close(&setup->io);
    *setup = (struct cn_sample_setup){0};
}
