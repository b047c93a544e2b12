#include "analyze/timeline/structure.h"

#include "analyze/lens/database.h"
#include "analyze/timeline/occupancy.h"
#include "model/contexts/database.h"

/* Threads with samples, spread evenly. */
static bool choose_threads(struct cn_database *db, uint32_t *profiles, size_t max,
                           size_t *count, struct cn_error *err)
{
    uint32_t step = db->profile_count / (uint32_t)max + 1;

    *count = 0;
    for (uint32_t i = 0; i < db->profile_count && *count < max; i += step) {
        struct cn_profile profile;
        struct cn_timeline timeline;

        if (!cn_database_profile(db, i, &profile, err) ||
            !cn_timeline_open(db, i, &timeline, err))
            return false;
        if (!profile.is_summary && timeline.count > 0)
            profiles[(*count)++] = i;
    }
    return true;
}

/* The depth at which the stacks of some threads differ. */
static bool find_depth(void *arg, const struct cn_progress *progress,
                       struct cn_error *err)
{
    enum { THREAD_MAX = 32, COLUMNS = 64, POINTS = 8 };
    struct cn_structure *structure = arg;
    struct cn_database *db = structure->db;
    uint64_t span_ns = db->end_ns - db->begin_ns;
    uint32_t profiles[THREAD_MAX];
    struct cn_occupancy_request request = {
        .profiles = profiles,
        .begin_ns = db->begin_ns,
        .end_ns = db->end_ns,
        .column_count = span_ns < COLUMNS ? (uint32_t)span_ns : COLUMNS,
        .points = POINTS,
    };
    struct cn_occupancy occupancy;

    (void)progress;
    structure->depth = 1;
    if (!db->has_timelines || db->end_ns <= db->begin_ns)
        return true;
    if (!choose_threads(db, profiles, THREAD_MAX, &request.profile_count, err) ||
        !cn_occupancy_build(&occupancy, db, &structure->frames, &request, err))
        return false;
    structure->depth = occupancy.depth;
    cn_occupancy_done(&occupancy);
    return true;
}

static bool build_frames(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_frames_build(&structure->frames, structure->db, progress, err);
}

/* A database with a lens has them. Without codes, rows are shown as well. */
static bool build_codes(void *arg, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_structure *structure = arg;

    (void)progress;
    if (cn_database_has_lens(structure->db))
        structure->codes = cn_lens_codes(structure->db);
    else if (cn_codes_build(&structure->own_codes, structure->db, NULL, err))
        structure->codes = &structure->own_codes;
    return true;
}

static bool build_flat(void *arg, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_view_shape_flat_new(&structure->flat, structure->db,
                                  &structure->frames.index, progress, err);
}

static bool build_collapsed(void *arg, const struct cn_progress *progress,
                            struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_view_shape_collapsed_new(&structure->collapsed, structure->db,
                                       &structure->frames.index, progress, err);
}

static bool build_languages(void *arg, const struct cn_progress *progress,
                            struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_view_shape_languages_new(&structure->languages, structure->db,
                                       structure->codes, &structure->frames.index,
                                       progress, err);
}

static bool build_callers(void *arg, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_view_shape_callers_new(&structure->callers, structure->db,
                                     &structure->frames.index, progress, err);
}

static bool build_labels(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct cn_structure *structure = arg;

    return cn_context_labels_build(&structure->labels, structure->db,
                                   &structure->frames.index, progress, err);
}

void cn_structure_init(struct cn_structure *structure, struct cn_job_group *requests,
                       struct cn_job_group *background)
{
    *structure = (struct cn_structure){.requests = requests, .background = background};
}

void cn_structure_set_database(struct cn_structure *structure, struct cn_database *db)
{
    static const struct {
        cn_job_fn work;
        const char *what;
    } items[CN_STRUCTURE_COUNT] = {
        [CN_STRUCTURE_FRAMES] = {build_frames, "reading contexts"},
        [CN_STRUCTURE_CODES] = {build_codes, "reading names of functions"},
        [CN_STRUCTURE_DEPTH] = {find_depth, "reading timelines"},
        [CN_STRUCTURE_FLAT] = {build_flat, "building the flat view"},
        [CN_STRUCTURE_CALLERS] = {build_callers, "building the bottom-up view"},
        [CN_STRUCTURE_COLLAPSED] = {build_collapsed, "folding recursive calls"},
        [CN_STRUCTURE_LABELS] = {build_labels, "reading names"},
        [CN_STRUCTURE_LANGUAGES] = {build_languages, "adding up languages"},
    };

    structure->db = db;
    for (int i = 0; i < CN_STRUCTURE_COUNT; i++)
        structure->jobs[i] = (struct cn_job){.group = structure->background,
                                             .work = items[i].work,
                                             .arg = structure,
                                             .what = items[i].what};
}

void cn_structure_done(struct cn_structure *structure)
{
    for (int i = 0; i < CN_STRUCTURE_COUNT; i++)
        cn_job_end(&structure->jobs[i]);
    cn_context_labels_done(&structure->labels);
    cn_view_shape_free(structure->callers);
    cn_view_shape_free(structure->flat);
    cn_view_shape_free(structure->collapsed);
    cn_view_shape_free(structure->languages);
    cn_frames_done(&structure->frames);
    cn_codes_done(&structure->own_codes);
}

bool cn_structure_wait(struct cn_structure *structure, enum cn_structure_item item,
                       struct cn_error *err)
{
    return (item == CN_STRUCTURE_CODES ||
            cn_job_wait(&structure->jobs[CN_STRUCTURE_FRAMES], err)) &&
           (item != CN_STRUCTURE_LANGUAGES ||
            cn_job_wait(&structure->jobs[CN_STRUCTURE_CODES], err)) &&
           (item == CN_STRUCTURE_FRAMES || cn_job_wait(&structure->jobs[item], err));
}

const struct cn_code_class *cn_structure_code(const struct cn_structure *structure,
                                              uint32_t place)
{
    uint32_t function = structure->frames.functions[place];

    return structure->codes && function != CN_NONE
               ? cn_codes_find(structure->codes, function, CN_NONE)
               : NULL;
}

bool cn_structure_finish(struct cn_structure *structure, struct cn_error *err)
{
    for (int i = 0; i < CN_STRUCTURE_LANGUAGES; i++) {
        bool has_other = i > CN_STRUCTURE_FRAMES && i + 1 < CN_STRUCTURE_LANGUAGES;

        /* Two at a time: more would need more memory at once. */
        if ((has_other && !cn_job_prepare(&structure->jobs[i + 1], err)) ||
            !cn_job_finish(&structure->jobs[i], err))
            return false;
        cn_database_forget(structure->db);
    }
    return true;
}
