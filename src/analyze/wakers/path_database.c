#include "analyze/wakers/path_database.h"

#include "analyze/wakers/causes.h"
#include "analyze/wakers/study.h"
#include "base/text.h"
#include "model/contexts/memory.h"

/* One thread, with a context for each cause. */
static bool build(struct cn_database **out, const struct cn_wait_sums *path,
                  const char *thread, const char *title, struct cn_error *err)
{
    struct cn_memory_database *m = cn_memory_database_new(title, "");
    struct cn_identity_tuple identity = {.count = 1};
    struct cn_wait_causes causes;
    struct cn_text name = {0};

    cn_memory_database_add_usual_scopes(m);
    uint32_t metric = cn_memory_database_add_usual_metric(m, CN_WAIT_PATH_NAME);
    identity.ids[0].kind = cn_memory_database_add_kind(m, "THREAD");
    uint32_t profile = cn_memory_database_add_profile(m, identity);
    cn_memory_database_name_profile(m, profile, thread);
    cn_wait_causes_list(&causes, path);
    for (size_t i = 0; i < causes.count; i++) {
        cn_text_clear(&name);
        cn_wait_cause_print(path, causes.list[i].row, thread, &name);
        uint32_t function = cn_memory_database_add_function(
            m, (struct cn_function){
                   .name = cn_text_str(&name), .module = CN_NONE, .file = CN_NONE});
        uint32_t context = cn_memory_database_add_context(
            m, 0,
            (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                .relation = CN_CALL,
                                .has_function = true,
                                .function = function});

        cn_memory_database_add_value(m, profile, context, (uint16_t)metric,
                                     (double)causes.list[i].time_ns / 1e9);
    }
    cn_wait_causes_done(&causes);
    cn_text_done(&name);
    if (!cn_memory_database_propagate(m, err)) {
        cn_memory_database_free(m);
        return false;
    }
    *out = cn_memory_database_finish(m);
    return true;
}

static bool add_up(const struct cn_wait_study *study, uint64_t begin_ns, uint64_t end_ns,
                   struct cn_database **out, struct cn_error *err)
{
    uint32_t profile = cn_wait_study_first(study, NULL);
    struct cn_wait_sums path = {0};

    if (profile == 0 || study->graph.wakeup_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "has no wake-ups: for whom threads wait is unknown; cairn sample "
                       "--off-cpu records them as root");
    bool ok =
        cn_wait_study_path(study, profile, begin_ns, end_ns, &path, err) &&
        build(out, &path, path.names.list[path.name_of[profile]], study->db->title, err);
    cn_wait_sums_done(&path);
    return ok;
}

bool cn_wait_path_database_new(struct cn_database **out, struct cn_database *db,
                               uint64_t begin_ns, uint64_t end_ns, struct cn_error *err)
{
    struct cn_wait_source source;
    bool ok = cn_wait_source_build(&source, db, err) &&
              add_up(&source.study, begin_ns, end_ns, out, err);

    cn_wait_source_done(&source);
    return ok;
}
