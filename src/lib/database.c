/* Threads, metrics, functions, contexts, values and samples of a database. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/contexts/database.h"
#include "model/contexts/walk.h"
#include "model/labels/context.h"

/* Arrays of the model are handed out as they are. */
static_assert(sizeof(struct cairn_value) == sizeof(struct cn_value) &&
                  offsetof(struct cairn_value, key) == offsetof(struct cn_value, key) &&
                  offsetof(struct cairn_value, metric) ==
                      offsetof(struct cn_value, metric),
              "values have one layout");
static_assert(sizeof(struct cairn_sample) == sizeof(struct cn_sample) &&
                  offsetof(struct cairn_sample, context) ==
                      offsetof(struct cn_sample, context),
              "samples have one layout");

const char *cairn_database_title(const struct cairn_data *data)
{
    return data && data->db ? data->db->title : "";
}

uint32_t cairn_database_thread_count(const struct cairn_data *data)
{
    return data && data->db ? data->db->profile_count : 0;
}

static bool read_profile(const struct cairn_data *data, uint32_t number,
                         struct cn_profile *out, struct cn_error *err)
{
    if (!cn_lib_needs(data, CAIRN_DATABASE, err))
        return false;
    if (number >= data->db->profile_count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no thread %u; there are %u",
                       data->path, (unsigned)number, (unsigned)data->db->profile_count);
    return cn_database_profile(data->db, number, out, err) ||
           cn_fail_in(err, "%s", data->path);
}

bool cairn_database_thread(const struct cairn_data *data, uint32_t number,
                           struct cairn_thread *out, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, out);
    struct cn_profile profile;

    if (!read_profile(data, number, &profile, e))
        return false;
    *out = (struct cairn_thread){
        .name = profile.name,
        .value_count = profile.value_count,
        .context_count = profile.context_count,
        .is_summary = number == 0 || profile.is_summary,
    };
    return true;
}

bool cairn_database_identity(const struct cairn_data *data, uint32_t number, char *buffer,
                             size_t len, size_t *needed, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, needed);
    struct cn_profile profile;
    struct cn_text text = {0};

    if (!read_profile(data, number, &profile, e))
        return false;
    cn_identity_print(&profile.identity, &data->db->kinds, &text);
    if (buffer && len > 0)
        (void)snprintf(buffer, len, "%s", cn_text_str(&text));
    *needed = text.len;
    cn_text_done(&text);
    return true;
}

bool cairn_database_metric(const struct cairn_data *data, size_t number,
                           struct cairn_metric *out)
{
    const struct cn_metrics *metrics =
        out && data && data->db ? &data->db->metrics : NULL;

    for (size_t i = 0; metrics && i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (number >= metric->instance_count) {
            number -= metric->instance_count;
            continue;
        }
        *out = (struct cairn_metric){
            .name = metric->name,
            .scope = metrics->scopes[metric->instances[number].scope].name,
            .id = metric->instances[number].prop_id,
        };
        return true;
    }
    return false;
}

bool cairn_database_statistic(const struct cairn_data *data, size_t number,
                              struct cairn_statistic *out)
{
    const struct cn_metrics *metrics =
        out && data && data->db ? &data->db->metrics : NULL;

    for (size_t i = 0; metrics && i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (number >= metric->statistic_count) {
            number -= metric->statistic_count;
            continue;
        }
        const struct cn_statistic *statistic = &metric->statistics[number];
        *out = (struct cairn_statistic){
            .metric = metric->name,
            .scope = metrics->scopes[statistic->scope].name,
            .formula = statistic->formula,
            .combine = cn_combine_name(statistic->combine),
            .id = statistic->stat_id,
        };
        return true;
    }
    return false;
}

uint32_t cairn_database_function_count(const struct cairn_data *data)
{
    return data && data->db ? data->db->function_count : 0;
}

/* The paths of a module and a file; NULL where one is CN_NONE. */
static bool read_paths(struct cn_database *db, uint32_t module, uint32_t file,
                       const char **module_path, const char **file_path,
                       struct cn_error *err)
{
    struct cn_module m = {0};
    struct cn_source_file f = {0};

    if ((module != CN_NONE && !cn_database_module(db, module, &m, err)) ||
        (file != CN_NONE && !cn_database_file(db, file, &f, err)))
        return false;
    *module_path = m.path;
    *file_path = f.path;
    return true;
}

bool cairn_database_function(const struct cairn_data *data, uint32_t number,
                             struct cairn_function *out, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, out);
    struct cn_function function;
    const char *module, *file;

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return false;
    if (number >= data->db->function_count)
        return cn_fail(e, CN_ERR_NOT_FOUND, "%s: no function %u; there are %u",
                       data->path, (unsigned)number, (unsigned)data->db->function_count);
    if (!cn_database_function(data->db, number, &function, e) ||
        !read_paths(data->db, function.module, function.file, &module, &file, e))
        return cn_fail_in(e, "%s", data->path);
    *out = (struct cairn_function){
        .name = function.name,
        .module = module,
        .file = file,
        .line = function.line,
        .offset = function.offset,
    };
    return true;
}

void cairn_database_time(const struct cairn_data *data, uint64_t *begin_ns,
                         uint64_t *end_ns)
{
    if (begin_ns)
        *begin_ns = data && data->db ? data->db->begin_ns : 0;
    if (end_ns)
        *end_ns = data && data->db ? data->db->end_ns : 0;
}

struct cairn_walk {
    bool is_broken;
    struct cairn_data *data;
    struct cn_walk walk;
    const struct cn_context *current; /* NULL before the first and after the last */
    struct cn_text label;
};

struct cairn_walk *cairn_walk_new(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    struct cairn_walk *walk = cn_alloc(1, sizeof(*walk));
    walk->data = data;
    if (cn_walk_begin(&walk->walk, data->db, e))
        return walk;
    (void)cn_fail_in(e, "%s", data->path);
    cairn_walk_free(walk);
    return NULL;
}

static bool describe(struct cairn_walk *walk, struct cairn_context *out,
                     struct cn_error *err)
{
    const struct cn_context *context = walk->current;
    size_t depth = walk->walk.depth - 1;
    struct cairn_context found = {
        .id = context->id,
        .parent = depth > 0 ? cn_walk_path(&walk->walk, depth - 1)->id : 0,
        .depth = (uint32_t)depth,
        .kind = context->kind,
        .relation = context->relation,
        .function = context->has_function ? context->function : CAIRN_NONE,
        .line = context->has_source ? context->line : 0,
        .offset = context->has_point ? context->offset : 0,
    };

    if (!read_paths(walk->data->db, context->has_point ? context->module : CN_NONE,
                    context->has_source ? context->file : CN_NONE, &found.module,
                    &found.file, err))
        return false;
    *out = found;
    return true;
}

enum cairn_step cairn_walk_next(struct cairn_walk *walk, struct cairn_context *out,
                                struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&walk->is_broken, walk->data, err, CAIRN_FAIL, walk, out);
    enum cn_walk_event event;
    enum cn_step step;

    do
        step = cn_walk_next(&walk->walk, &event, &walk->current, e);
    while (step == CN_ITEM && event == CN_WALK_LEAVE);
    if (step == CN_ITEM && describe(walk, out, e))
        return CAIRN_ITEM;
    walk->current = NULL;
    if (step == CN_END)
        return CAIRN_END;
    (void)cn_fail_in(e, "%s", walk->data->path);
    return CAIRN_FAIL;
}

const char *cairn_walk_label(struct cairn_walk *walk, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&walk->is_broken, walk->data, err, NULL, walk);

    cn_text_clear(&walk->label);
    if (!walk->current) {
        (void)cn_fail(e, CN_ERR_USAGE, "the walk has no current context");
        return NULL;
    }
    if (cn_label_context(walk->data->db, walk->current, &walk->label, e))
        return cn_text_str(&walk->label);
    (void)cn_fail_in(e, "%s", walk->data->path);
    return NULL;
}

void cairn_walk_free(struct cairn_walk *walk)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!walk)
        return;
    if (!walk->is_broken) {
        cn_walk_done(&walk->walk);
        cn_text_done(&walk->label);
    }
    free(walk);
}

struct cairn_values {
    bool is_broken;
    struct cairn_data *data;
    struct cn_value_cursor cursor;
    bool has_ended;
};

/* Takes what opening a cursor returned. */
static struct cairn_values *values_opened(struct cairn_values *values, bool ok,
                                          struct cn_error *err)
{
    if (ok)
        return values;
    (void)cn_fail_in(err, "%s", values->data->path);
    free(values);
    return NULL;
}

struct cairn_values *cairn_values_of_thread(struct cairn_data *data, uint32_t thread,
                                            uint32_t first, uint32_t last,
                                            struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_profile profile;

    if (!read_profile(data, thread, &profile, e))
        return NULL;
    struct cairn_values *values = cn_alloc(1, sizeof(*values));
    values->data = data;
    return values_opened(
        values, cn_profile_values(data->db, thread, first, last, &values->cursor, e), e);
}

struct cairn_values *cairn_values_of_context(struct cairn_data *data, uint32_t context,
                                             struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    if (!data->db->has_context_values) {
        (void)cn_fail(e, CN_ERR_NOT_FOUND, "%s has no values by context", data->path);
        return NULL;
    }
    if (context >= data->db->context_limit) {
        (void)cn_fail(e, CN_ERR_NOT_FOUND, "%s: no context %u", data->path,
                      (unsigned)context);
        return NULL;
    }
    struct cairn_values *values = cn_alloc(1, sizeof(*values));
    values->data = data;
    return values_opened(values, cn_context_values(data->db, context, &values->cursor, e),
                         e);
}

enum cairn_step cairn_values_next(struct cairn_values *values,
                                  const struct cairn_value **out, size_t *count,
                                  struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&values->is_broken, values->data, err, CAIRN_FAIL, values, out,
                      count);
    struct cn_value_batch batch;
    enum cn_step step =
        values->has_ended ? CN_END : cn_values_next(&values->cursor, &batch, e);

    values->has_ended = step != CN_ITEM;
    if (step == CN_END)
        return CAIRN_END;
    if (step == CN_FAIL) {
        (void)cn_fail_in(e, "%s", values->data->path);
        return CAIRN_FAIL;
    }
    *out = (const struct cairn_value *)batch.values;
    *count = batch.count;
    return CAIRN_ITEM;
}

void cairn_values_free(struct cairn_values *values)
{
    free(values);
}

static bool open_timeline(struct cairn_data *data, uint32_t thread,
                          struct cn_timeline *out, struct cn_error *err)
{
    struct cn_profile profile;

    *out = (struct cn_timeline){0};
    return read_profile(data, thread, &profile, err) &&
           (!data->db->has_timelines || cn_timeline_open(data->db, thread, out, err) ||
            cn_fail_in(err, "%s", data->path));
}

bool cairn_samples_count(struct cairn_data *data, uint32_t thread, uint64_t *count,
                         struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, count);
    struct cn_timeline timeline;

    if (!open_timeline(data, thread, &timeline, e))
        return false;
    *count = timeline.count;
    return true;
}

bool cairn_samples_read(struct cairn_data *data, uint32_t thread, uint64_t first,
                        size_t count, struct cairn_sample *out, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data);
    struct cn_timeline timeline;

    if (!open_timeline(data, thread, &timeline, e))
        return false;
    if (first > timeline.count || count > timeline.count - first)
        return cn_fail(e, CN_ERR_NOT_FOUND, "%s: thread %u has %llu samples", data->path,
                       (unsigned)thread, (unsigned long long)timeline.count);
    if (count > 0 && !out)
        return cn_fail(e, CN_ERR_USAGE, "out is NULL");
    return count == 0 ||
           cn_timeline_read(data->db, &timeline, first, count, (struct cn_sample *)out,
                            e) ||
           cn_fail_in(e, "%s", data->path);
}
