/* What processes tell each other after each has analysed its profiles.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SHARE_H
#define CN_ANALYZE_SAMPLES_SHARE_H

#include "analyze/samples/internal.h"
#include "base/text.h"

/* Messages to the first process, collected during the analysis; zero-initialised. */
struct cn_sampled_messages {
    struct cn_text identities; /* of threads, as measured */
    struct cn_text damages;    /* texts */
};
void cn_sampled_messages_done(struct cn_sampled_messages *messages);

void cn_sampled_messages_add_identity(struct cn_sampled_messages *messages,
                                      const struct cn_sampled_profile *profile);
void cn_sampled_messages_add_damage(struct cn_sampled_messages *messages,
                                    const char *text);

void cn_sampled_messages_encode(const struct cn_sampled_messages *messages,
                                struct cn_text *out);

/* Take the identities of the threads of a process from `*first` on, which advances, and report
 * its damage. */
CN_CHECK bool cn_sampled_messages_take(struct cn_sampled_database *self,
                                       const struct cn_sampled_options *options,
                                       struct cn_bytes message, uint32_t *first,
                                       struct cn_error *err);

/* The threads of all processes, in their order; index 0 is the summary. */
struct cn_sampled_threads {
    struct cn_sampled_thread *list;
    size_t count, capacity;
    struct cn_sampled_totals totals;
    bool has_timelines;
    uint64_t begin_ns, end_ns; /* of the timelines; 0 and 0: no samples */
    const char *title; /* of the first that has one, in the arena of the database */
};

/* The threads of this process, its totals and title; and adding those of a process. */
void cn_sampled_threads_encode(const struct cn_sampled_database *self,
                               uint32_t thread_count,
                               const struct cn_sampled_totals *totals,
                               struct cn_text *message);
CN_CHECK bool cn_sampled_threads_take(struct cn_sampled_threads *threads,
                                      struct cn_sampled_database *self,
                                      struct cn_bytes message, struct cn_error *err);

/* Make these the threads of the database. The first ones, `known_count` with the summary, keep
 * their identities. */
void cn_sampled_threads_use(struct cn_sampled_threads *threads,
                            struct cn_sampled_database *self, uint32_t known_count);

/* The summary, which the first process has written, and the cells, for all. */
void cn_sampled_summary_encode(const struct cn_sampled_database *self,
                               struct cn_text *message);
CN_CHECK bool cn_sampled_summary_decode(struct cn_sampled_database *self,
                                        struct cn_bytes message, struct cn_error *err);

#endif
