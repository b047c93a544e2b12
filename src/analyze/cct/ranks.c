/* The driver of an analysis of calls: several processes, or one, work together.
 *
 * Each rank counts consecutive tasks and merges their trees. All agree on contexts, then each
 * writes the values of its threads and sums up some of the contexts.
 */
#include "analyze/cct/ranks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/cct/analysis.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/ranks.h"
#include "base/run/ranks.h"

enum { BITS_MAX = 32 }; /* of a rank: it receives at most one tree per bit */

/* A rank whose tree was added here. */
struct below {
    unsigned rank;
    uint32_t *nodes; /* its nodes -> ours */
    size_t count;
};

struct ranks_numbering {
    struct cn_cct_merged *merged;
    struct cn_ranks *ranks;
    struct below below[BITS_MAX];
    size_t below_count;
};

static void encode_tree(void *arg, struct cn_text *message)
{
    const struct ranks_numbering *n = arg;

    cn_cct_merged_encode(n->merged, message);
}

static bool merge_tree(void *arg, unsigned from, struct cn_bytes message,
                       struct cn_error *err)
{
    struct ranks_numbering *n = arg;
    struct below *below = &n->below[n->below_count];

    below->rank = from;
    if (!cn_cct_merged_decode(n->merged, message, &below->nodes, &below->count, err))
        return cn_fail_in(err, "rank %u", from);
    n->below_count++;
    return true;
}

static bool send_ids(const struct ranks_numbering *n, const struct below *below,
                     struct cn_error *err)
{
    const struct cn_cct_merged *merged = n->merged;
    struct cn_text message = {0};

    cn_wire_u32(&message, merged->context_count);
    cn_wire_u32(&message, merged->has_waits);
    for (size_t i = 0; i < below->count; i++)
        cn_wire_u32(&message, merged->ids[below->nodes[i]]);
    bool ok = cn_ranks_send(n->ranks, below->rank, &message, err);
    cn_text_done(&message);
    return ok;
}

static bool decode_ids(struct cn_cct_merged *merged, struct cn_bytes message,
                       struct cn_error *err)
{
    uint32_t has_waits;

    if (!cn_wire_u32_take(&message, &merged->context_count) ||
        !cn_wire_u32_take(&message, &has_waits) ||
        message.len / sizeof(uint32_t) != merged->tree.count)
        return cn_fail(err, CN_ERR_FORMAT, "context ids of another tree");
    merged->has_waits = has_waits != 0;
    merged->ids = cn_alloc(merged->tree.count, sizeof(*merged->ids));
    for (size_t i = 0; i < merged->tree.count; i++)
        if (!cn_wire_u32_take(&message, &merged->ids[i]) ||
            merged->ids[i] >= merged->context_count)
            return cn_fail(err, CN_ERR_FORMAT, "context %" PRIu32 " of %" PRIu32,
                           merged->ids[i], merged->context_count);
    return true;
}

/* Our tree was sent to the rank without our lowest bit. */
static bool receive_ids(struct ranks_numbering *n, struct cn_error *err)
{
    unsigned from = n->ranks->rank & (n->ranks->rank - 1);
    struct cn_text message = {0};
    bool ok = cn_ranks_receive(n->ranks, from, &message, err) &&
              (decode_ids(n->merged, cn_wire_view(&message), err) ||
               cn_fail_in(err, "rank %u", from));

    cn_text_done(&message);
    return ok;
}

static bool number_together(struct ranks_numbering *n, uint64_t min_ns,
                            struct cn_error *err)
{
    bool ok = true;

    if (!cn_ranks_reduce(n->ranks, encode_tree, merge_tree, n, err))
        return false;
    if (cn_ranks_is_first(n->ranks))
        cn_cct_merged_number(n->merged, min_ns);
    else
        ok = receive_ids(n, err);
    for (size_t i = n->below_count; ok && i-- > 0;)
        ok = send_ids(n, &n->below[i], err);
    return cn_ranks_agree(n->ranks, ok, err);
}

bool cn_cct_merged_number_together(struct cn_cct_merged *merged, struct cn_ranks *ranks,
                                   uint64_t min_ns, struct cn_error *err)
{
    struct ranks_numbering n = {.merged = merged, .ranks = ranks};
    bool ok = number_together(&n, min_ns, err);

    for (size_t i = 0; i < n.below_count; i++)
        free(n.below[i].nodes);
    return ok;
}

static bool count_tasks(struct cn_cct_analysis *a, struct cn_ranks *ranks,
                        struct cn_error *err)
{
    uint64_t *weights = cn_cct_analysis_weigh(a), *last_ns;

    a->is_first = cn_ranks_is_first(ranks);
    cn_ranks_split(ranks, weights, a->unit_count, &a->unit_first, &a->unit_end);
    free(weights);
    if (!cn_ranks_agree(
            ranks, cn_cct_analysis_count(a, err) && cn_cct_analysis_heap(a, err), err))
        return false;
    last_ns = cn_cct_analysis_last_ns(a);
    bool ok = cn_ranks_combine(ranks, CN_RANKS_MAX, last_ns, a->self->source_count, err);
    if (ok)
        cn_cct_analysis_end(a, last_ns);
    free(last_ns);
    return ok;
}

/* What all processes find about their tasks and threads. */
struct findings {
    struct cn_cct_analysis *a;
    struct cn_calls_result *result;
    struct cn_cct_used used;
    size_t thread_count;
};

static bool take_findings(void *arg, unsigned from, struct cn_bytes message,
                          struct cn_error *err)
{
    struct findings *found = arg;
    struct cn_bytes tasks, threads;

    (void)from;
    if (!cn_wire_bytes_take(&message, &tasks) || !cn_wire_bytes_take(&message, &threads))
        return cn_fail(err, CN_ERR_FORMAT, "damaged message about tasks");
    return cn_cct_analysis_add(found->a, tasks, found->result, err) &&
           cn_cct_threads_take(found->a->self, &found->used, &found->thread_count,
                               threads, err);
}

static bool share_findings(struct findings *found, struct cn_ranks *ranks,
                           struct cn_error *err)
{
    const struct cn_cct_database *self = found->a->self;
    struct cn_text message = {0}, encoded = {0};

    found->result->damages =
        cn_alloc(self->members.count, sizeof(*found->result->damages));
    found->result->context_count = self->merged.context_count - 1;
    cn_cct_analysis_encode(found->a, &encoded);
    cn_wire_bytes(&message, encoded.chars, encoded.len);
    cn_text_clear(&encoded);
    cn_cct_threads_encode(self, &found->used, &encoded);
    cn_wire_bytes(&message, encoded.chars, encoded.len);
    bool ok = cn_ranks_share(ranks, &message, take_findings, found, err) &&
              (found->thread_count == self->members.count ||
               cn_fail(err, CN_ERR_FORMAT, "values of %zu threads instead of %zu",
                       found->thread_count, self->members.count));
    cn_text_done(&message);
    cn_text_done(&encoded);
    return ok;
}

static bool reserve(void *arg, bool is_last, bool ok, uint64_t len, uint64_t *off,
                    struct cn_error *err)
{
    return cn_ranks_turns_reserve(arg, is_last, ok, len, off, err);
}

static bool add_counts(void *arg, bool ok, uint32_t *counts, size_t count,
                       struct cn_error *err)
{
    const struct cn_ranks_turns *turns = arg;

    return cn_ranks_add_counts(turns->ranks, ok, counts, count, err);
}

/* The summary is in the file of rank 0, which has the smallest offsets. */
static bool write_summary(const struct findings *found, struct cn_ranks *ranks,
                          struct cn_error *err)
{
    struct cn_cct_database *self = found->a->self;
    const struct cn_calls_options *options = found->a->options;
    struct cn_ranks_turns turns = {.ranks = ranks};
    struct cn_transpose_rank rank = {.number = ranks->rank,
                                     .count = ranks->size,
                                     .arg = &turns,
                                     .add_counts = add_counts,
                                     .reserve = reserve};
    struct cn_cct_summary summary = {.off = self->spool.end_off};
    uint64_t workers = options->workers;

    if (!cn_ranks_combine(ranks, CN_RANKS_MIN, &summary.off, 1, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MAX, &workers, 1, err))
        return false;
    rank.workers = (unsigned)workers;
    if (!cn_ranks_agree(ranks,
                        cn_cct_summary_write(self, options, &found->used,
                                             ranks->size > 1 ? &rank : NULL, &summary,
                                             err),
                        err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MAX, &summary.len, 1, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_ADD, &summary.value_count, 1, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_ADD, &summary.context_count, 1, err))
        return false;
    if (cn_ranks_is_first(ranks))
        self->spool.end_off = summary.off + summary.len;
    self->profiles[0] = (struct cn_cct_profile){summary.off, summary.value_count,
                                                (uint32_t)summary.context_count};
    return true;
}

/* A process knows the contexts of what its threads launched. */
static bool draw_streams(struct cn_cct_analysis *a, struct cn_ranks *ranks,
                         struct cn_error *err)
{
    size_t count;
    uint64_t *contexts = cn_cct_analysis_gpu_contexts(a, &count);
    bool ok =
        count == 0 || (cn_ranks_combine(ranks, CN_RANKS_MAX, contexts, count, err) &&
                       cn_cct_analysis_draw_streams(a, contexts, err));

    free(contexts);
    return count == 0 || cn_ranks_agree(ranks, ok, err);
}

static bool analyse(struct cn_cct_analysis *a, struct cn_ranks *ranks,
                    struct cn_calls_result *result, struct cn_error *err)
{
    struct findings found = {.a = a, .result = result};

    if (!cn_ranks_spool_open(ranks, &a->self->spool, a->options->folder,
                             a->options->workers, err) ||
        !count_tasks(a, ranks, err) ||
        !cn_cct_merged_number_together(&a->self->merged, ranks, a->options->min_time_ns,
                                       err))
        return false;
    cn_cct_analysis_fill_in(a);
    if (!cn_ranks_agree(ranks,
                        cn_cct_threads_write(a->self, a->options, &found.used, err), err))
        return false;
    if (ranks->size == 1) {
        cn_cct_analysis_show_heap(a);
        cn_cct_analysis_show_io(a);
    }
    return draw_streams(a, ranks, err) && share_findings(&found, ranks, err) &&
           write_summary(&found, ranks, err);
}

bool cn_calls_to_database(struct cn_database **out, const struct cn_call_query *queries,
                          size_t query_count, const struct cn_calls_options *options,
                          struct cn_calls_result *result, struct cn_error *err)
{
    struct cn_cct_analysis a;

    *result = (struct cn_calls_result){0};
    cn_cct_analysis_init(&a, queries, query_count, options);
    bool ok = analyse(&a, options->ranks ? options->ranks : &cn_ranks_alone, result, err);
    cn_cct_analysis_done(&a);
    if (ok) {
        *out = &a.self->db;
    } else {
        cn_calls_result_done(result);
        cn_cct_database_ops.close(&a.self->db);
    }
    return ok;
}
