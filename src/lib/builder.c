/* Databases and recordings from a program's own data. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/exchange/read/calls/import.h"
#include "formats/exchange/read/stacks/import.h"
#include "lib/lib.h"

struct cairn_builder {
    bool is_broken;
    struct cn_import *import;
    uint32_t metric_count, thread_count, function_count;
    uint32_t context_last; /* all ids up to this are contexts */
};

struct cairn_builder *cairn_builder_new(const char *title)
{
    CN_LIB_BEGIN_WITH(NULL, NULL, NULL, NULL, title);
    struct cairn_builder *builder = cn_alloc(1, sizeof(*builder));

    builder->import = cn_import_new(title, "");
    return builder;
}

void cairn_builder_free(struct cairn_builder *builder)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!builder)
        return;
    if (!builder->is_broken)
        cn_import_free(builder->import);
    free(builder);
}

static bool check(const char *what, uint32_t number, uint32_t end, struct cn_error *err)
{
    return number < end ||
           cn_fail(err, CN_ERR_USAGE, "no %s %u was added", what, (unsigned)number);
}

/* Of elements that are numbered from 0. */
static uint32_t count_up_to(uint32_t count, uint32_t number)
{
    return number < count ? count : number + 1;
}

uint32_t cairn_builder_metric(struct cairn_builder *builder, const char *name,
                              struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, CAIRN_NONE, builder, name);
    uint32_t metric;

    if (!cn_import_metric(builder->import, name, &metric, e))
        return CAIRN_NONE;
    builder->metric_count = count_up_to(builder->metric_count, metric);
    return metric;
}

uint32_t cairn_builder_thread(struct cairn_builder *builder, uint32_t rank,
                              uint32_t thread, const char *name, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, CAIRN_NONE, builder);
    struct cn_import_identity identity = {
        .kinds = {"RANK", "THREAD"}, .numbers = {rank, thread}, .name = ""};
    uint32_t number;

    if (!cn_import_thread(builder->import, &identity, &number, e))
        return CAIRN_NONE;
    if (name)
        cn_import_name_thread(builder->import, number, name);
    builder->thread_count = count_up_to(builder->thread_count, number);
    return number + 1; /* 0 is the summary */
}

uint32_t cairn_builder_function(struct cairn_builder *builder, const char *name,
                                const char *module, const char *file, uint32_t line,
                                struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, CAIRN_NONE, builder, name);
    struct cn_import_frame frame = {
        .name = name,
        .module = module ? module : "",
        .file = file ? file : "",
        .line = line,
    };

    if (builder->function_count == INT32_MAX) {
        (void)cn_fail(e, CN_ERR_LIMIT, "more than %d functions", INT32_MAX);
        return CAIRN_NONE;
    }
    uint32_t function = cn_import_frame(builder->import, &frame);
    builder->function_count = count_up_to(builder->function_count, function);
    return function;
}

static uint32_t added(struct cairn_builder *builder, uint32_t context)
{
    if (context > builder->context_last)
        builder->context_last = context;
    return context;
}

uint32_t cairn_builder_call(struct cairn_builder *builder, uint32_t parent,
                            uint32_t function, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, CAIRN_NONE, builder);

    if (!check("context", parent, builder->context_last + 1, e) ||
        !check("function", function, builder->function_count, e))
        return CAIRN_NONE;
    return added(builder, cn_import_call(builder->import, parent, function));
}

uint32_t cairn_builder_line(struct cairn_builder *builder, uint32_t parent,
                            const char *file, uint32_t line, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, CAIRN_NONE, builder);

    if (!check("context", parent, builder->context_last + 1, e))
        return CAIRN_NONE;
    if (parent == 0 || !file || line == 0) {
        (void)cn_fail(e, CN_ERR_USAGE, "a line needs a context, a file and a number");
        return CAIRN_NONE;
    }
    return added(builder, cn_import_line(builder->import, parent, file, line));
}

bool cairn_builder_value(struct cairn_builder *builder, uint32_t thread, uint32_t context,
                         uint32_t metric, double value, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, false, builder);

    return check("thread", thread - 1, builder->thread_count, e) &&
           check("context", context - 1, builder->context_last, e) &&
           check("metric", metric, builder->metric_count, e) &&
           cn_import_add(builder->import, thread - 1, context, metric, value, e);
}

bool cairn_builder_sample(struct cairn_builder *builder, uint32_t thread,
                          uint64_t time_ns, uint32_t context, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&builder->is_broken, NULL, err, false, builder);

    if (!check("thread", thread - 1, builder->thread_count, e) ||
        !check("context", context, builder->context_last + 1, e))
        return false;
    if (context == 0)
        cn_import_wait(builder->import, thread - 1, time_ns);
    else
        cn_import_sample(builder->import, thread - 1, time_ns, context);
    return true;
}

struct cairn_data *cairn_builder_finish(struct cairn_builder *builder,
                                        struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, NULL, err, NULL, builder);
    struct cn_import *import = builder->import;
    bool is_whole = cn_lib_is_whole(&builder->is_broken, e);
    bool has_metric = builder->metric_count > 0, has_thread = builder->thread_count > 0;
    struct cn_database *db;

    free(builder);
    if (!is_whole)
        return NULL;
    if (!has_metric || !has_thread) {
        (void)cn_fail(e, CN_ERR_USAGE, "a database needs a metric and a thread");
        cn_import_free(import);
        return NULL;
    }
    return cn_import_finish(import, &db, e) ? cn_lib_data_made(db, NULL) : NULL;
}

struct cairn_recorder {
    bool is_broken;
    struct cn_call_import *import;
    uint32_t task_count;
};

struct cairn_recorder *cairn_recorder_new(const char *program)
{
    CN_LIB_BEGIN_WITH(NULL, NULL, NULL, NULL, program);
    struct cairn_recorder *recorder = cn_alloc(1, sizeof(*recorder));

    recorder->import = cn_call_import_new(program);
    return recorder;
}

void cairn_recorder_free(struct cairn_recorder *recorder)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!recorder)
        return;
    if (!recorder->is_broken)
        cn_call_import_free(recorder->import);
    free(recorder);
}

uint32_t cairn_recorder_task(struct cairn_recorder *recorder, uint64_t pid, uint64_t tid,
                             const char *name, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&recorder->is_broken, NULL, err, CAIRN_NONE, recorder);
    uint32_t task;

    if (!cn_call_import_track(recorder->import, pid, tid, (struct cn_bytes){0}, &task, e))
        return CAIRN_NONE;
    if (name)
        cn_call_import_track_name(recorder->import, task, cn_bytes_of(name));
    recorder->task_count = count_up_to(recorder->task_count, task);
    return task;
}

bool cairn_recorder_call(struct cairn_recorder *recorder, uint32_t task,
                         const char *function, uint64_t begin_ns, uint64_t duration_ns,
                         struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&recorder->is_broken, NULL, err, false, recorder, function);

    return check("task", task, recorder->task_count, e) &&
           (duration_ns != CN_CALL_BEGIN ||
            cn_fail(e, CN_ERR_LIMIT, "a call takes too long")) &&
           cn_call_import_add(
               recorder->import, task, begin_ns, duration_ns,
               cn_call_import_name(recorder->import, cn_bytes_of(function)), e);
}

bool cairn_recorder_enter(struct cairn_recorder *recorder, uint32_t task,
                          const char *function, uint64_t time_ns, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&recorder->is_broken, NULL, err, false, recorder, function);

    return check("task", task, recorder->task_count, e) &&
           cn_call_import_add(
               recorder->import, task, time_ns, CN_CALL_BEGIN,
               cn_call_import_name(recorder->import, cn_bytes_of(function)), e);
}

bool cairn_recorder_exit(struct cairn_recorder *recorder, uint32_t task, uint64_t time_ns,
                         struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&recorder->is_broken, NULL, err, false, recorder);

    return check("task", task, recorder->task_count, e) &&
           cn_call_import_end(recorder->import, task, time_ns, e);
}

struct cairn_data *cairn_recorder_finish(struct cairn_recorder *recorder,
                                         struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, NULL, err, NULL, recorder);
    struct cn_call_import *import = recorder->import;
    bool is_whole = cn_lib_is_whole(&recorder->is_broken, e);
    struct cn_recording *rec;

    free(recorder);
    if (!is_whole || !cn_call_import_finish(import, 0, &rec, e))
        return NULL;
    return cn_lib_data_made(NULL, rec);
}
