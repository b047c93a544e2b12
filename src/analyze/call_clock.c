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

/* Rounded up as often as the fraction says, by a number that the time is mixed to. */
static uint64_t round_cost(uint64_t cost_ps, uint64_t time_ns)
{
    uint64_t chance = time_ns * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return (cost_ps + (chance * PS_PER_NS >> 32)) / PS_PER_NS;
}

static uint64_t owed_ns(const struct cn_recording *rec)
{
    return OWED_CALLS * rec->call_cost.call_ps / PS_PER_NS;
}

/* The time of a record less what is due; never before the last one. */
static uint64_t correct(struct cn_call_clock *clock, uint64_t time_ns, uint64_t most_ns)
{
    uint64_t passed_ns = time_ns > clock->seen_ns ? time_ns - clock->seen_ns : 0;

    clock->seen_ns += passed_ns;
    if (passed_ns >= clock->due_ns) {
        clock->now_ns += passed_ns - clock->due_ns;
        clock->due_ns = 0;
    } else {
        clock->due_ns -= passed_ns;
        if (clock->due_ns > most_ns)
            clock->due_ns = most_ns;
    }
    return clock->now_ns;
}

/* What the recorder took after the time of this record, until the next one at most. */
static uint64_t cost_behind(const struct cn_recording *rec, const struct cn_call *call)
{
    struct cn_hook_cost cost = cost_of(rec, call);

    if (call->flags & CN_CALL_KERNEL || call->kind > CN_CALL_EXIT)
        return 0;
    return round_cost(call->kind == CN_CALL_ENTER ? cost.inner_ps
                                                  : cost.call_ps - cost.inner_ps,
                      call->time_ns);
}

void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out)
{
    uint64_t most_ns = owed_ns(clock->rec);

    for (size_t i = 0; i < count; i++) {
        const struct cn_call *call = &calls[i];

        out[i] = *call;
        if (call->kind == CN_CALL_LOST && call->time_ns == 0)
            continue;
        out[i].time_ns = correct(clock, call->time_ns, most_ns);
        clock->due_ns += cost_behind(clock->rec, call);
    }
}

/* More is never due than what may be taken off later, and that only shrinks or grows
 * together: whatever was due really lies between the two. */
bool cn_call_clock_settle(struct cn_call_settling *settling, const struct cn_call *call)
{
    struct cn_call_clock *least = &settling->least, *most = &settling->most;
    struct cn_call ignored;

    if (call->kind == CN_CALL_LOST && call->time_ns == 0)
        return settling->has_begun && least->due_ns == most->due_ns;
    if (!settling->has_begun) {
        settling->has_begun = true;
        least->seen_ns = least->now_ns = call->time_ns;
        *most = *least;
        most->due_ns = owed_ns(most->rec);
    }
    cn_call_clock_correct(least, call, 1, &ignored);
    cn_call_clock_correct(most, call, 1, &ignored);
    return least->due_ns == most->due_ns;
}
