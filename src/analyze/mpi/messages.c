/* Messages: the n-th send of a rank to another with a tag is received by the n-th receive there from it with that tag. */

#include <stdlib.h>
#include <string.h>

#include "analyze/mpi/match.h"
#include "base/alloc.h"

enum { OPEN_MAX = 1024 };

/* One end of a message. */
struct message_end {
    uint32_t from, to; /* where in the ranks */
    int32_t tag;
    uint32_t rank, call; /* of this end */
    uint32_t wait;       /* the call that ends a receive; CN_NONE: not yet */
    uint64_t request;
};

struct ends {
    struct message_end *list;
    size_t count, capacity;
};

struct messages {
    struct cn_mpi_run *run;
    struct cn_map rank_of; /* by number: where in the ranks */
    struct ends sends, receives;
    size_t open
        [OPEN_MAX]; /* receives of the rank that is read which no call has ended yet */
    size_t open_count;
    uint64_t request_len;
    uint64_t unmatched;
};

static bool knows(const struct cn_mpi_values *values, unsigned argument)
{
    return (values->known & 1U << argument) != 0;
}

static int32_t value_of(const struct cn_mpi_values *values, unsigned argument)
{
    return values->numbers[argument];
}

/* The rank at the other end; CN_NONE if it is none or not known. */
static uint32_t peer_of(const struct messages *m, const struct cn_mpi_values *values,
                        unsigned argument)
{
    int32_t number = value_of(values, argument);

    return number < 0 ? CN_NONE : cn_map_find(&m->rank_of, (uint64_t)number, CN_NONE);
}

/* MPI_PROC_NULL is -1 or -2, MPI_ANY_SOURCE the other one: what a negative rank is, is known only of
 * sends. */
static bool add_send(struct messages *m, uint32_t rank, uint32_t call,
                     const struct cn_mpi_values *values)
{
    uint32_t to = peer_of(m, values, CN_MPI_PEER);

    if (value_of(values, CN_MPI_PEER) < 0)
        return true;
    if (to == CN_NONE)
        return false;
    CN_PUSH(m->sends.list, m->sends.count, m->sends.capacity,
            (struct message_end){.from = rank,
                                 .to = to,
                                 .tag = value_of(values, CN_MPI_TAG),
                                 .rank = rank,
                                 .call = call,
                                 .wait = call});
    return true;
}

/* Take those out of the open receives whose requests are in a list; they end with `wait`. */
static void end_receives(struct messages *m, uint32_t wait, uint64_t first, uint64_t len)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->open_count; i++) {
        struct message_end *it = &m->receives.list[m->open[i]];

        if (it->request >= first && it->request - first < len)
            it->wait = wait;
        else
            m->open[kept++] = m->open[i];
    }
    m->open_count = kept;
}

/* What had the same request before ended in a test; so did the oldest one of very many. */
static void open_receive(struct messages *m)
{
    end_receives(m, CN_NONE, m->receives.list[m->receives.count - 1].request, 1);
    if (m->open_count == OPEN_MAX)
        memmove(&m->open[0], &m->open[1], --m->open_count * sizeof(m->open[0]));
    m->open[m->open_count++] = m->receives.count - 1;
}

static bool add_receive(struct messages *m, uint32_t rank, uint32_t call, uint32_t wait,
                        const struct cn_mpi_values *values, unsigned source, unsigned tag)
{
    uint32_t from = peer_of(m, values, source);

    if (from == CN_NONE || value_of(values, tag) < 0)
        return false;
    CN_PUSH(m->receives.list, m->receives.count, m->receives.capacity,
            (struct message_end){.from = from,
                                 .to = rank,
                                 .tag = value_of(values, tag),
                                 .rank = rank,
                                 .call = call,
                                 .wait = wait,
                                 .request = values->request});
    if (wait == CN_NONE)
        open_receive(m);
    return true;
}

/* False if what the call waits for is unknown. */
static bool take_call(struct messages *m, uint32_t rank, uint32_t call,
                      const struct cn_mpi_call *it, const struct cn_mpi_values *values)
{
    const struct cn_mpi_operation *operation = m->run->paths[it->path].operation;
    bool is_world = values && it->comm == 0;

    switch (operation->kind) {
    case CN_MPI_SEND:
        return is_world && knows(values, CN_MPI_PEER) && knows(values, CN_MPI_TAG) &&
               add_send(m, rank, call, values);
    case CN_MPI_RECEIVE:
    case CN_MPI_START_RECEIVE:
        return is_world && knows(values, CN_MPI_PEER) && knows(values, CN_MPI_TAG) &&
               add_receive(m, rank, call, operation->is_started ? CN_NONE : call, values,
                           CN_MPI_PEER, CN_MPI_TAG);
    case CN_MPI_SEND_RECEIVE:
        return is_world && knows(values, CN_MPI_SOURCE) &&
               knows(values, CN_MPI_SOURCE_TAG) && knows(values, CN_MPI_PEER) &&
               knows(values, CN_MPI_TAG) && add_send(m, rank, call, values) &&
               add_receive(m, rank, call, call, values, CN_MPI_SOURCE, CN_MPI_SOURCE_TAG);
    case CN_MPI_WAIT:
    case CN_MPI_WAIT_ALL:
        if (!values || !knows(values, CN_MPI_REQUEST) ||
            (operation->kind == CN_MPI_WAIT_ALL && !knows(values, CN_MPI_PEER)))
            return false;
        if (operation->kind == CN_MPI_WAIT_ALL && value_of(values, CN_MPI_PEER) < 0)
            return false;
        end_receives(m, call, values->request,
                     operation->kind == CN_MPI_WAIT
                         ? 1
                         : m->request_len * (uint64_t)value_of(values, CN_MPI_PEER));
        return true;
    default:
        return operation->kind != CN_MPI_OTHER;
    }
}

static void take_rank(struct messages *m, uint32_t rank)
{
    struct cn_mpi_rank *it = &m->run->ranks[rank];

    m->open_count = 0;
    for (uint32_t i = 0; i < it->call_count; i++) {
        struct cn_mpi_call *call = &it->calls[i];
        const struct cn_mpi_operation *operation = m->run->paths[call->path].operation;
        const struct cn_mpi_values *values =
            call->link < it->value_count ? &it->values[call->link] : NULL;

        if (cn_mpi_is_collective(operation))
            continue;
        if (!take_call(m, rank, i, call, values)) {
            call->cause = CN_MPI_UNMATCHED;
            m->unmatched++;
        }
    }
}

/* By message, then in the order of the calls. */
static int by_message(const void *a, const void *b)
{
    const struct message_end *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static int by_messages(const struct message_end *x, const struct message_end *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static struct cn_mpi_call *call_of(struct messages *m, const struct message_end *end,
                                   uint32_t call)
{
    return &m->run->ranks[end->rank].calls[call];
}

static void match(struct messages *m, const struct message_end *send,
                  const struct message_end *receive)
{
    struct cn_mpi_call *from = call_of(m, send, send->call);
    const struct cn_mpi_call *to = call_of(m, receive, receive->call);

    if (receive->wait != CN_NONE) {
        cn_mpi_match_late(call_of(m, receive, receive->wait), CN_MPI_LATE_SENDER,
                          send->rank, from);
        CN_PUSH(m->run->messages, m->run->message_count, m->run->message_capacity,
                (struct cn_mpi_message){send->rank, send->call, receive->rank,
                                        receive->wait});
    }
    /* A send that ended before the receive began did not wait for it. */
    if (!m->run->paths[from->path].operation->is_started && from->end_ns >= to->begin_ns)
        cn_mpi_match_late(from, CN_MPI_LATE_RECEIVER, receive->rank, to);
}

static void set_unmatched(struct messages *m, const struct message_end *end)
{
    uint32_t call = end->wait == CN_NONE ? end->call : end->wait;

    call_of(m, end, call)->cause = CN_MPI_UNMATCHED;
    call_of(m, end, call)->wait_ns = 0;
    m->unmatched++;
}

/* Where some receives of a rank take what comes, the order of the others is unknown as well; then the numbers of
 * sends and receives differ. */
static void match_all(struct messages *m)
{
    size_t s = 0, r = 0;

    while (s < m->sends.count || r < m->receives.count) {
        const struct message_end *key =
            s < m->sends.count &&
                    (r == m->receives.count ||
                     by_messages(&m->sends.list[s], &m->receives.list[r]) <= 0)
                ? &m->sends.list[s]
                : &m->receives.list[r];
        size_t s_end = s, r_end = r;

        while (s_end < m->sends.count && by_messages(&m->sends.list[s_end], key) == 0)
            s_end++;
        while (r_end < m->receives.count &&
               by_messages(&m->receives.list[r_end], key) == 0)
            r_end++;
        bool is_same = s_end - s == r_end - r;
        for (; s < s_end && is_same; s++, r++)
            match(m, &m->sends.list[s], &m->receives.list[r]);
        for (; s < s_end; s++)
            set_unmatched(m, &m->sends.list[s]);
        for (; r < r_end; r++)
            set_unmatched(m, &m->receives.list[r]);
    }
}

static int by_wait(const void *a, const void *b)
{
    const struct cn_mpi_message *x = a, *y = b;

    if (x->to_rank != y->to_rank)
        return x->to_rank < y->to_rank ? -1 : 1;
    return (x->to_call > y->to_call) - (x->to_call < y->to_call);
}

static bool has_values(const struct cn_mpi_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->ranks[i].value_count > 0)
            return true;
    return false;
}

/* Addresses are aligned: where one request is not at a multiple of 8, all are numbers. */
static uint64_t request_len(const struct cn_mpi_run *run)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < run->ranks[i].value_count; k++)
            if (knows(&run->ranks[i].values[k], CN_MPI_REQUEST))
                bits |= run->ranks[i].values[k].request;
    return run->request_len > 0 ? run->request_len : bits % 8 != 0 ? 4 : 8;
}

void cn_mpi_match_messages(struct cn_mpi_run *run)
{
    struct messages m = {.run = run, .request_len = request_len(run)};

    for (uint32_t i = 0; i < run->count; i++)
        if (!run->ranks[i].why)
            *cn_map_at(&m.rank_of, run->ranks[i].number, i) = i;
    for (uint32_t i = 0; i < run->count; i++)
        if (!run->ranks[i].why)
            take_rank(&m, i);
    if (m.sends.count > 1)
        qsort(m.sends.list, m.sends.count, sizeof(*m.sends.list), by_message);
    if (m.receives.count > 1)
        qsort(m.receives.list, m.receives.count, sizeof(*m.receives.list), by_message);
    match_all(&m);
    if (run->message_count > 1)
        qsort(run->messages, run->message_count, sizeof(*run->messages), by_wait);
    if (m.unmatched > 0)
        cn_text_printf(
            &run->notes, "%llu %s not matched: what %s for is unknown%s\n",
            (unsigned long long)m.unmatched,
            cn_plural(m.unmatched, "call for messages is", "calls for messages are"),
            cn_plural(m.unmatched, "it waits", "they wait"),
            has_values(run) ? "" : "; cairn record --mpi records their arguments");
    cn_map_done(&m.rank_of);
    free(m.sends.list);
    free(m.receives.list);
}

static bool may_wait(const struct cn_mpi_operation *operation)
{
    return operation->kind == CN_MPI_OTHER || cn_mpi_is_collective(operation) ||
           operation->kind >= CN_MPI_SEND;
}

void cn_mpi_match_finish(struct cn_mpi_run *run)
{
    run->is_matched = true;
    for (size_t i = 0; i < run->count; i++) {
        struct cn_mpi_rank *rank = &run->ranks[i];

        run->is_matched = run->is_matched && !rank->why;
        for (size_t k = 0; k < rank->call_count; k++) {
            struct cn_mpi_call *call = &rank->calls[k];
            const struct cn_mpi_operation *operation = run->paths[call->path].operation;

            if (!cn_mpi_is_collective(operation))
                call->link = CN_NONE;
            if (call->cause == CN_MPI_UNMATCHED && may_wait(operation))
                run->is_matched = false;
        }
        free(rank->values);
        rank->values = NULL;
        rank->value_count = rank->value_capacity = 0;
    }
}
