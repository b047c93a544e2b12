/* The tasks of an analysis: one profile each, in a fixed order, with names that say
 * who they are, and their trees, in memory or put aside.
 *
 * Processes come in the order of their start, the main thread of each before the
 * others.
 * Threads: one thread at a time for each member; the list is made by one.
 */
#ifndef CN_ANALYZE_CCT_CCT_MEMBERS_H
#define CN_ANALYZE_CCT_CCT_MEMBERS_H

#include "analyze/cct/cct_samples.h"
#include "analyze/cct/cct_task.h"
#include "base/files/spool.h"
#include "model/contexts/identity.h"

/* Kinds of identities, as HPCToolkit numbers them. */
enum { CN_CCT_KIND_SUMMARY, CN_CCT_KIND_NODE, CN_CCT_KIND_RANK, CN_CCT_KIND_THREAD };
extern const struct cn_kinds cn_cct_kinds;

struct cn_cct_member {
    uint32_t source;          /* the query it belongs to */
    uint32_t process, thread; /* numbers */
    struct cn_identity_tuple identity;
    struct cn_cct_task task;
    struct cn_cct_samples samples; /* kept where it cannot be followed once more */
    uint32_t *nodes; /* merged node of each of its own; later their contexts */
    size_t node_count;

    /* Where the tree is when it is put aside. */
    bool is_aside;
    uint64_t aside_off;
    size_t cost_count, line_count;
};

struct cn_cct_members {
    struct cn_cct_member *list;
    size_t count;
    uint32_t process_count;
};

/* The tasks of some queries that have records. Nothing is read yet. */
void cn_cct_members_init(struct cn_cct_members *members,
                         const struct cn_call_query *queries, size_t query_count);
void cn_cct_members_done(struct cn_cct_members *members);

/* How much memory the tree of a member takes. */
uint64_t cn_cct_member_len(const struct cn_cct_member *member);

/* Put the tree aside at `off`, where cn_cct_member_len() bytes are reserved. */
CN_CHECK bool cn_cct_member_put_aside(struct cn_cct_member *member,
                                      const struct cn_spool *spool, uint64_t off,
                                      struct cn_error *err);

/* Bring back what was put aside. It stays aside as well. */
CN_CHECK bool cn_cct_member_bring_back(struct cn_cct_member *member,
                                       const struct cn_spool *spool,
                                       struct cn_error *err);

/* A copy of the tree that was put aside; the caller owns it. */
CN_CHECK bool cn_cct_member_read_tree(const struct cn_cct_member *member,
                                      const struct cn_spool *spool, struct cn_cct *out,
                                      struct cn_error *err);

/* Release the costs; and, when it is aside as well, the tree. */
void cn_cct_member_release(struct cn_cct_member *member);

#endif
