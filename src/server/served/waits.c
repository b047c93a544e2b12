#include "server/served/waits.h"

#include "analyze/timeline/structure.h"
#include "model/contexts/database.h"

static bool build(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_waits *waits = arg;
    const struct cn_structure *structure = waits->structure;

    (void)progress;
    if (!structure->codes)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: names of functions cannot be read",
                       structure->db->path);
    if (!cn_wait_study_build(&waits->study, structure->db, &structure->frames,
                             structure->codes, err))
        return false;
    if (cn_wait_study_index(&waits->study, err))
        return true;
    cn_wait_study_done(&waits->study);
    return false;
}

void cn_served_waits_init(struct cn_served_waits *waits, struct cn_structure *structure)
{
    *waits = (struct cn_served_waits){
        .structure = structure,
        .job = {.group = structure->background,
                .work = build,
                .arg = waits,
                .what = "looking for whom threads wait"},
    };
    (void)pthread_mutex_init(&waits->lock, NULL);
}

void cn_served_waits_done(struct cn_served_waits *waits)
{
    cn_job_end(&waits->job);
    cn_wait_chain_done(&waits->path);
    cn_wait_study_done(&waits->study);
    (void)pthread_mutex_destroy(&waits->lock);
}

bool cn_served_waits_ready(struct cn_served_waits *waits, struct cn_error *err)
{
    return cn_structure_wait(waits->structure, CN_STRUCTURE_FRAMES, err) &&
           cn_structure_wait(waits->structure, CN_STRUCTURE_CODES, err) &&
           cn_job_wait(&waits->job, err);
}

const struct cn_wait_chain *cn_served_path_borrow(struct cn_served_waits *waits,
                                                  uint32_t profile, uint64_t begin_ns,
                                                  uint64_t end_ns)
{
    (void)pthread_mutex_lock(&waits->lock);
    if (waits->profile != profile || waits->begin_ns != begin_ns ||
        waits->end_ns != end_ns) {
        cn_wait_chain_done(&waits->path);
        cn_wait_chain_build(&waits->path, waits->study.db, &waits->study.graph, profile,
                            begin_ns, end_ns);
        waits->profile = profile;
        waits->begin_ns = begin_ns;
        waits->end_ns = end_ns;
    }
    return &waits->path;
}

void cn_served_path_return(struct cn_served_waits *waits)
{
    (void)pthread_mutex_unlock(&waits->lock);
}
