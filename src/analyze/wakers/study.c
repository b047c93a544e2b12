#include "analyze/wakers/study.h"

#include "model/contexts/database.h"
#include "model/thread_states.h"

bool cn_wait_study_build(struct cn_wait_study *study, struct cn_database *db,
                         const struct cn_frames *frames, const struct cn_codes *codes,
                         struct cn_error *err)
{
    *study = (struct cn_wait_study){.db = db};
    if (!cn_wait_graph_build(&study->graph, db, frames, err))
        return false;
    cn_wait_sites_init(&study->sites, frames, codes);
    cn_lock_names_build(&study->locks, &study->graph, db, frames, &study->sites);
    return true;
}

bool cn_wait_study_index(struct cn_wait_study *study, struct cn_error *err)
{
    return cn_wait_blocks_build(&study->blocks, &study->graph, &study->sites,
                                &study->locks, study->tells_threads, err);
}

void cn_wait_study_done(struct cn_wait_study *study)
{
    cn_wait_blocks_done(&study->blocks);
    cn_wait_graph_done(&study->graph);
    cn_wait_sites_done(&study->sites);
    cn_lock_names_done(&study->locks);
    *study = (struct cn_wait_study){0};
}

bool cn_wait_source_build(struct cn_wait_source *source, struct cn_database *db,
                          struct cn_error *err)
{
    *source = (struct cn_wait_source){0};
    return cn_frames_build(&source->frames, db, NULL, err) &&
           cn_codes_build(&source->codes, db, NULL, err) &&
           cn_wait_study_build(&source->study, db, &source->frames, &source->codes, err);
}

void cn_wait_source_done(struct cn_wait_source *source)
{
    cn_wait_study_done(&source->study);
    cn_codes_done(&source->codes);
    cn_frames_done(&source->frames);
}

/* The summary, profile 0, has no states. */
uint32_t cn_wait_study_first(const struct cn_wait_study *study, const bool *is_chosen)
{
    const struct cn_thread_states *states = study->db->states;
    uint32_t first = 0;

    for (uint32_t i = 1; i < study->db->profile_count; i++)
        if (states[i].count > 0 && (!is_chosen || is_chosen[i]) &&
            (first == 0 ||
             cn_thread_states_begin(&states[i]) < cn_thread_states_begin(&states[first])))
            first = i;
    return first;
}

bool cn_wait_study_path(const struct cn_wait_study *study, uint32_t profile,
                        uint64_t begin_ns, uint64_t end_ns, struct cn_wait_sums *out,
                        struct cn_error *err)
{
    if (!cn_wait_sums_init(out, study->db, &study->sites, study->tells_threads, err))
        return false;
    bool ok = cn_wait_sums_add_chain(out, &study->graph, profile, begin_ns, end_ns, err);
    cn_wait_sums_finish(out);
    return ok;
}

bool cn_wait_study_waits(const struct cn_wait_study *study, const bool *is_chosen,
                         uint64_t begin_ns, uint64_t end_ns, struct cn_wait_sums *out,
                         struct cn_error *err)
{
    const struct cn_wait_graph *graph = &study->graph;
    struct cn_waited wait;
    size_t count = 0;

    if (!cn_wait_sums_init(out, study->db, &study->sites, study->tells_threads, err))
        return false;
    out->locks = &study->locks;
    for (uint32_t profile = 0; profile < graph->profile_count; profile++) {
        if (is_chosen && !is_chosen[profile])
            continue;
        for (size_t at = cn_wait_graph_after(graph, profile, begin_ns);
             at < study->db->states[profile].count;) {
            if (cn_wait_blocks_add(&study->blocks, profile, &at, begin_ns, end_ns, out) ||
                !cn_wait_graph_at(graph, profile, at++, &wait))
                continue;
            if (wait.begin_ns >= end_ns)
                break;
            cn_wait_sums_add(out, &wait, begin_ns, end_ns);
            cn_wait_graph_forget(graph, ++count);
        }
    }
    cn_wait_sums_finish(out);
    return true;
}
