/* The tasks of an analysis, one profile each, with their identities and their trees, in
 * memory or spilled to a file.
 *
 * Processes are in the order of their start, the main thread of each before the others, streams of
 * GPUs after threads.
 * Threads: one thread at a time for each member; one thread makes the list.
 */
#ifndef CN_ANALYZE_CCT_MEMBERS_H
#define CN_ANALYZE_CCT_MEMBERS_H

#include "analyze/cct/task.h"
#include "base/files/spool.h"
#include "model/contexts/database.h"
#include "model/contexts/identity.h"

/* Samples of a timeline, stored while calls are counted: where few are kept, and for tasks that
 * switch each other on and off and cannot be followed again on their own.
 *
 *     cn_cct_samples_init(&samples, &spool, file);
 *     cn_cct_samples_add(&samples, sample, err) ...
 *     cn_cct_samples_end(&samples, err)
 *     cn_cct_samples_read(&samples, first, count, out, err)
 *     cn_cct_samples_done(&samples);
 *
 * Zero-initialised means that none are stored. The spool is borrowed; several tasks may
 * share it, and a file of it.
 * Threads: one thread at a time for each; any thread may read what has ended.
 */

struct cn_cct_samples {
    struct cn_spool *spool;
    unsigned file;
    struct cn_sample *chunk; /* not written yet */
    uint64_t *offs;          /* of written chunks */
    size_t off_count, off_capacity;
    uint64_t count;
};

void cn_cct_samples_init(struct cn_cct_samples *samples, struct cn_spool *spool,
                         unsigned file);
void cn_cct_samples_done(struct cn_cct_samples *samples);

CN_CHECK bool cn_cct_samples_add(struct cn_cct_samples *samples, struct cn_sample sample,
                                 struct cn_error *err);
CN_CHECK bool cn_cct_samples_end(struct cn_cct_samples *samples, struct cn_error *err);

/* `count` samples from number `first` on, which must exist. */
CN_CHECK bool cn_cct_samples_read(const struct cn_cct_samples *samples, uint64_t first,
                                  size_t count, struct cn_sample *out,
                                  struct cn_error *err);

/* Kinds of identities, as HPCToolkit numbers them. */
enum {
    CN_CCT_KIND_SUMMARY,
    CN_CCT_KIND_NODE,
    CN_CCT_KIND_RANK,
    CN_CCT_KIND_THREAD,
    CN_CCT_KIND_GPU_DEVICE,
    CN_CCT_KIND_GPU_CONTEXT,
    CN_CCT_KIND_GPU_STREAM,
    CN_CCT_KIND_RANGES, /* not one of HPCToolkit's */
    CN_CCT_KINDS
};

struct cn_cct_member {
    uint32_t source;          /* the query it belongs to */
    uint32_t process, thread; /* numbers */
    uint32_t
        stream; /* of a GPU, in the work of its recording; CN_NONE: a thread or ranges */
    bool has_ranges; /* its calls are ranges, which are in timelines alone */
    struct cn_identity_tuple identity;
    struct cn_cct_task task;
    struct cn_cct_samples samples; /* of a task that is not followed again */
    struct cn_cct_samples
        heap_nodes;  /* by allocation: its node of the task, or CN_NONE */
    uint32_t *nodes; /* by node of the task: its merged node; later its context */
    size_t node_count;

    /* Of a spilled tree. */
    bool is_spilled;
    uint64_t spill_off;
    size_t cost_count, overflow_count;
};

struct cn_cct_members {
    struct cn_cct_member *list;
    size_t count;
    uint32_t process_count;
    bool has_streams, has_ranges;
};

/* The kinds that identities have. */
struct cn_kinds cn_cct_members_kinds(const struct cn_cct_members *members);

/* List the tasks of queries that have records. Nothing is read yet. */
void cn_cct_members_init(struct cn_cct_members *members,
                         const struct cn_call_query *queries, size_t query_count);
void cn_cct_members_done(struct cn_cct_members *members);

/* The tasks of a recording in the order of their profiles: profile i + 1 is of out[i], which has
 * room for all. Returns how many have one. */
size_t cn_cct_member_tasks(const struct cn_recording *rec, uint32_t *out);

/* The length of a member's tree in bytes. */
uint64_t cn_cct_member_len(const struct cn_cct_member *member);

/* Write the tree at `off`, where cn_cct_member_len() bytes are reserved, and release it. */
CN_CHECK bool cn_cct_member_spill(struct cn_cct_member *member,
                                  const struct cn_spool *spool, uint64_t off,
                                  struct cn_error *err);

/* Read a spilled tree back; does nothing for others. The file keeps its copy. */
CN_CHECK bool cn_cct_member_load(struct cn_cct_member *member,
                                 const struct cn_spool *spool, struct cn_error *err);

/* A copy of a spilled tree; the caller owns it. */
CN_CHECK bool cn_cct_member_read_tree(const struct cn_cct_member *member,
                                      const struct cn_spool *spool, struct cn_tree *out,
                                      struct cn_error *err);

/* Release the costs and, if it is spilled, the tree. */
void cn_cct_member_release(struct cn_cct_member *member);

#endif
