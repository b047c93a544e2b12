#include "analyze/call_clock.h"

#include "model/recording.h"

enum {
    PS_PER_NS = 1000,
    OWED_CALLS = 16, /* what may be taken off later, in costs of a call */
};

bool cn_call_clock_is_needed(const struct cn_recording *rec)
{
    return rec->call_cost.call_ps > 0 || rec->libcall_cost.call_ps > 0;
}

static struct cn_hook_cost cost_of(const struct cn_recording *rec,
                                   const struct cn_call *call)
{
    if (call->function < rec->function_count &&
        rec->functions[call->function].type == 'P')
        return rec->libcall_cost;
    return rec->call_cost;
}

/* The time less what is taken off; never before the last one. */
static uint64_t correct(struct cn_call_clock *clock, uint64_t time_ns, uint64_t owed_ps)
{
    uint64_t behind_ns = clock->behind_ps / PS_PER_NS, owed_ns = owed_ps / PS_PER_NS;
    uint64_t now_ns = time_ns > behind_ns ? time_ns - behind_ns : 0;

    if (now_ns >= clock->last_ns) {
        clock->last_ns = now_ns;
    } else if (clock->last_ns - now_ns > owed_ns) {
        uint64_t too_much_ps = (clock->last_ns - now_ns - owed_ns) * PS_PER_NS;

        clock->behind_ps -=
            too_much_ps < clock->behind_ps ? too_much_ps : clock->behind_ps;
    }
    return clock->last_ns;
}

void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out)
{
    uint64_t owed_ps = OWED_CALLS * clock->rec->call_cost.call_ps;

    for (size_t i = 0; i < count; i++) {
        const struct cn_call *call = &calls[i];
        struct cn_hook_cost cost = cost_of(clock->rec, call);

        out[i] = *call;
        if (call->kind == CN_CALL_LOST && call->time_ns == 0)
            continue;
        out[i].time_ns = correct(clock, call->time_ns, owed_ps);
        if (call->flags & CN_CALL_KERNEL)
            continue;
        if (call->kind == CN_CALL_ENTER)
            clock->behind_ps += cost.inner_ps;
        else if (call->kind == CN_CALL_EXIT)
            clock->behind_ps += cost.call_ps - cost.inner_ps;
    }
}
