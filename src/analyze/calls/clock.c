#include "analyze/calls/clock.h"

#include "base/text.h"
#include "model/calls/recording.h"

enum {
    PS_PER_NS = 1000,
    DUE_CALLS = 16,  /* the most that is due, in costs of a call */
    PAID_PART = 4,   /* of the cost of a call: what any time may pay of what is due */
    PAID_SHARE = 8,  /* of a long time: the part that may be paid */
    SHORTEST_NS = 1, /* the least time between two records */
};

bool cn_call_clock_is_needed(const struct cn_recording *rec)
{
    return rec->call_cost.call_ps > 0 || rec->libcall_cost.call_ps > 0;
}

void cn_call_clock_explain(const struct cn_recording *rec, struct cn_text *out)
{
    if (!cn_call_clock_is_needed(rec))
        return;
    if (rec->left_out_ps > 0)
        cn_text_printf(
            out,
            "calls that the recorder filtered out (-N, -D, -t, -Z, -T) took %.0f ns "
            "each; the times of their callers still include this\n",
            (double)rec->left_out_ps / PS_PER_NS);
    if (rec->has_value_costs)
        cn_text_str_add(out, "recording arguments, return values and counters takes "
                             "longer than is subtracted from the times of such calls\n");
}

/* A cost in whole nanoseconds, and how many times of 2^32 it is one more. */
struct cost {
    uint64_t ns, more;
};

/* The costs of the recorder after the times of entries and exits, by cn_call_kind. */
struct costs {
    struct cost after[2], after_libcall[2];
    uint64_t due_max_ns, paid_ns;
};

static struct cost make_cost(uint64_t cost_ps)
{
    return (struct cost){cost_ps / PS_PER_NS, (cost_ps % PS_PER_NS << 32) / PS_PER_NS};
}

static struct costs costs_of(const struct cn_recording *rec)
{
    struct cn_hook_cost call = rec->call_cost, libcall = rec->libcall_cost;

    return (struct costs){
        .after = {make_cost(call.inner_ps), make_cost(call.call_ps - call.inner_ps)},
        .after_libcall = {make_cost(libcall.inner_ps),
                          make_cost(libcall.call_ps - libcall.inner_ps)},
        .due_max_ns = DUE_CALLS * call.call_ps / PS_PER_NS,
        .paid_ns = call.call_ps / PAID_PART / PS_PER_NS,
    };
}

/* Round by a hash of the time. */
static inline uint64_t round_cost(struct cost cost, uint64_t time_ns)
{
    return cost.ns + (time_ns * UINT64_C(0x9e3779b97f4a7c15) >> 32 < cost.more);
}

static inline uint64_t cost_after(const struct cn_recording *rec,
                                  const struct costs *costs, const struct cn_call *call)
{
    bool is_libcall = call->function < rec->function_count &&
                      rec->functions[call->function].type == 'P';

    if (call->flags & CN_CALL_KERNEL || call->kind > CN_CALL_EXIT)
        return 0;
    return round_cost(is_libcall ? costs->after_libcall[call->kind]
                                 : costs->after[call->kind],
                      call->time_ns);
}

/* Advance to a recorded time. The cost of the last record is subtracted first, then a part
 * of what is due: a short call must not pay for all calls before it. */
static inline uint64_t correct(struct cn_call_clock *clock, uint64_t time_ns,
                               const struct costs *costs)
{
    uint64_t passed_ns = time_ns > clock->seen_ns ? time_ns - clock->seen_ns : 0;
    uint64_t left_ns = passed_ns > clock->cost_ns ? passed_ns - clock->cost_ns : 0;
    uint64_t due_ns = clock->due_ns + left_ns + clock->cost_ns - passed_ns;
    uint64_t paid_ns = left_ns / PAID_SHARE;

    if (paid_ns < costs->paid_ns)
        paid_ns = left_ns < costs->paid_ns ? left_ns : costs->paid_ns;
    if (paid_ns > due_ns)
        paid_ns = due_ns;
    left_ns -= paid_ns;
    due_ns -= paid_ns;
    if (left_ns < SHORTEST_NS && passed_ns >= SHORTEST_NS) {
        due_ns += SHORTEST_NS - left_ns;
        left_ns = SHORTEST_NS;
    }
    clock->seen_ns += passed_ns;
    clock->now_ns += left_ns;
    clock->due_ns = due_ns < costs->due_max_ns ? due_ns : costs->due_max_ns;
    return clock->now_ns;
}

void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out)
{
    struct cn_call_clock own = *clock; /* in registers: `out` cannot alias it */
    struct costs costs = costs_of(clock->rec);

    for (size_t i = 0; i < count; i++) {
        const struct cn_call *call = &calls[i];

        out[i] = *call;
        if (call->kind == CN_CALL_LOST && call->time_ns == 0)
            continue;
        out[i].time_ns = correct(&own, call->time_ns, &costs);
        own.cost_ns = cost_after(own.rec, &costs, call);
    }
    *clock = own;
}

/* What is due lies between 0 and due_max_ns, and larger amounts never become smaller than
 * lesser ones: the clock of the whole task lies between the two. */
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
        most->due_ns = costs_of(most->rec).due_max_ns;
    }
    cn_call_clock_correct(least, call, 1, &ignored);
    cn_call_clock_correct(most, call, 1, &ignored);
    return least->due_ns == most->due_ns;
}
