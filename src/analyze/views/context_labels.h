/* The labels of all contexts, each text once, for searches by name.
 *
 * Contexts share most of their labels, so a pattern is tried on far fewer texts than there
 * are contexts. Four bytes a context, and the texts.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_VIEWS_CONTEXT_LABELS_H
#define CN_ANALYZE_VIEWS_CONTEXT_LABELS_H

#include "analyze/views/context_index.h"
#include "base/map.h"
#include "base/run/progress.h"

struct cn_context_labels {
    struct cn_names names;
    uint32_t *of_node; /* number of the label, by node of the index */
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_context_labels_build(struct cn_context_labels *out,
                                      struct cn_database *db,
                                      const struct cn_context_index *index,
                                      const struct cn_progress *progress,
                                      struct cn_error *err);
void cn_context_labels_done(struct cn_context_labels *labels);

#endif
