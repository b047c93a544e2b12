#include "sampler/in_kernel.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "sampler/kernel/kernel.h"

enum {
    HURRY = 15,           /* steps of priority */
    YOUNG_NS = 100000000, /* a program is young for this long; */
    YOUNG_WAITS = 100,    /* waits for that in each second */
};

/* Where the first event is a clock, its samples and those of switches are told apart by their periods:
 * switches are sampled one by one. 0: there are no switches, or they cannot be told apart. */
static uint32_t switches_beside_clock(const struct cn_sample_options *options,
                                      const struct cn_sample_events *events)
{
    for (uint32_t i = 1; i < events->count; i++)
        if (events->list[i].is_switch && events->list[0].is_clock && options->period == 0)
            return i;
    return 0;
}

/* The program runs for all events of a tracepoint: one of them is enough, that of the machine. Of one that
 * threads inherit, the end of the first thread would detach it, and take tens of milliseconds. */
static uint32_t attach_waking(struct cn_kernel *kernel,
                              const struct cn_sample_setup *setup,
                              const struct cn_rings *rings)
{
    size_t count = setup->events.count, waking_count = setup->waking_count;

    for (size_t i = 0; waking_count > 0 && i < rings->fd_count; i++) {
        uint64_t id = 0;

        (void)ioctl(rings->fds[i], PERF_EVENT_IOC_ID, &id);
        if (cn_map_find(&rings->event_of, id, 0) == count - 1)
            return cn_kernel_attach_waking(kernel, rings->fds[i])
                       ? (uint32_t)(count - waking_count)
                       : 0;
    }
    return 0;
}

/* Tracepoints have programs of another kind. */
void cn_sample_in_kernel_open(struct cn_sample_in_kernel *in_kernel,
                              const struct cn_sample_options *options,
                              const struct cn_sample_setup *setup,
                              const struct cn_rings *rings)
{
    bool ok = options->stacks == CN_SAMPLE_WHOLE && options->place != CN_SAMPLE_COPIED &&
              rings->fd_count > 0 &&
              setup->events.list[0].attr.type != PERF_TYPE_TRACEPOINT;
    struct cn_error refusal = {0};

    if (ok && !in_kernel->kernel)
        in_kernel->kernel = cn_kernel_new(&in_kernel->refusal);
    in_kernel->switches = ok ? switches_beside_clock(options, &setup->events) : 0;
    for (size_t i = 0; in_kernel->kernel && ok && i < rings->fd_count; i++) {
        uint64_t id = 0;

        (void)ioctl(rings->fds[i], PERF_EVENT_IOC_ID, &id);
        uint32_t event = cn_map_find(&rings->event_of, id, 0);
        bool is_fault = setup->io.has_faults && event == setup->io.fault_event;
        /* Switches and page faults that it does not take are copied. */
        if (event == 0)
            ok = cn_kernel_attach(in_kernel->kernel, rings->fds[i], &in_kernel->refusal);
        else if (event == in_kernel->switches &&
                 !cn_kernel_attach(in_kernel->kernel, rings->fds[i], &refusal))
            continue;
        else if (is_fault &&
                 !cn_kernel_attach_faults(in_kernel->kernel, rings->fds[i], &refusal))
            continue;
    }
    if (!ok) {
        cn_kernel_free(in_kernel->kernel);
        in_kernel->kernel = NULL;
    }
    in_kernel->waking =
        in_kernel->kernel ? attach_waking(in_kernel->kernel, setup, rings) : 0;
    if (in_kernel->refusal.text[0] && options->place == CN_SAMPLE_IN_KERNEL &&
        options->say) {
        char *text = cn_strprintf("stacks are copied: %s", in_kernel->refusal.text);

        options->say(options->arg, text);
        free(text);
    }
}

void cn_sample_in_kernel_hurry(struct cn_sample_in_kernel *in_kernel, bool is_on)
{
    id_t self = (id_t)syscall(SYS_gettid);

    if (is_on == in_kernel->is_hurried || !in_kernel->kernel)
        return;
    if (is_on)
        in_kernel->usual_priority = getpriority(PRIO_PROCESS, self);
    in_kernel->is_hurried =
        is_on && setpriority(PRIO_PROCESS, self, in_kernel->usual_priority - HURRY) == 0;
    if (!is_on)
        (void)setpriority(PRIO_PROCESS, self, in_kernel->usual_priority);
}

bool cn_sample_in_kernel_is_young(struct cn_sample_in_kernel *in_kernel,
                                  uint64_t begin_ns, uint64_t now_ns)
{
    if (now_ns - in_kernel->second_ns >= 1000000000) {
        in_kernel->second_ns = now_ns;
        in_kernel->young_waits = 0;
    }
    return in_kernel->kernel && now_ns - begin_ns < YOUNG_NS &&
           in_kernel->young_waits++ < YOUNG_WAITS;
}
