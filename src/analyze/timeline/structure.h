/* The structure of a database that all its views share, computed once: stacks of
 * contexts, rows of views without values, labels of contexts.
 *
 * Each item is a job; its result is never freed before the structure.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_TIMELINE_STRUCTURE_H
#define CN_ANALYZE_TIMELINE_STRUCTURE_H

#include <stdint.h>

#include "analyze/lens/code.h"
#include "analyze/views/context_labels.h"
#include "analyze/views/frames.h"
#include "analyze/views/view.h"
#include "base/error.h"
#include "base/run/job.h"

/* All others are computed from the frames, except the codes; languages from both. */
enum cn_structure_item {
    CN_STRUCTURE_FRAMES,
    CN_STRUCTURE_CODES,
    CN_STRUCTURE_DEPTH,
    CN_STRUCTURE_FLAT,
    CN_STRUCTURE_CALLERS,
    CN_STRUCTURE_LABELS,
    CN_STRUCTURE_COLLAPSED,
    CN_STRUCTURE_LANGUAGES,
    CN_STRUCTURE_COUNT,
};

struct cn_structure {
    struct cn_job_group *requests;   /* of views and time ranges */
    struct cn_job_group *background; /* of all other jobs */
    struct cn_database *db;          /* NULL: not there yet */
    struct cn_job jobs[CN_STRUCTURE_COUNT];

    /* Each is there once its job is done. */
    struct cn_frames frames;
    const struct cn_codes *codes; /* of the database; NULL: they cannot be read */
    struct cn_codes own_codes;
    uint32_t depth; /* at which the stacks of threads differ */
    struct cn_view_shape *flat, *callers, *collapsed, *languages;
    struct cn_context_labels labels;
};

/* The database, to be set once, and the groups outlive the structure. */
void cn_structure_init(struct cn_structure *structure, struct cn_job_group *requests,
                       struct cn_job_group *background);
void cn_structure_set_database(struct cn_structure *structure, struct cn_database *db);
void cn_structure_done(struct cn_structure *structure);

/* Wait for an item, as cn_job_wait() does. */
CN_CHECK bool cn_structure_wait(struct cn_structure *structure,
                                enum cn_structure_item item, struct cn_error *err);

/* Whose code a place of the frames is, and its language; NULL: it is no function, or unknown. */
const struct cn_code_class *cn_structure_code(const struct cn_structure *structure,
                                              uint32_t place);

/* Compute all items that are missing, except languages, which few people ask for. */
CN_CHECK bool cn_structure_finish(struct cn_structure *structure, struct cn_error *err);

#endif
