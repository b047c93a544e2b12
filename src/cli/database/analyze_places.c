#include "cli/database/analyze_places.h"

#include "cli/shell/args.h"
#include "model/calls/recording.h"
#include "symbols/resolver.h"

static struct cn_cct_location
function_place(void *arg, const struct cn_call_module *module, uint64_t offset)
{
    struct cn_analyze_places *self = arg;
    struct cn_source_location place;

    if (!cn_resolver_function(self->resolver, module->path, module->build_id, offset,
                              &place))
        return (struct cn_cct_location){0};
    return (struct cn_cct_location){place.file, place.line};
}

static size_t instruction_places(void *arg, const struct cn_call_module *module,
                                 uint64_t offset,
                                 struct cn_inlined_location out[CN_LOCATION_DEPTH_MAX])
{
    struct cn_analyze_places *self = arg;
    struct cn_source_location list[CN_LOCATION_DEPTH_MAX];
    size_t count = cn_resolver_instruction(self->resolver, module->path, module->build_id,
                                           offset, list, CN_LOCATION_DEPTH_MAX);

    for (size_t i = 0; i < count; i++)
        out[i] =
            (struct cn_inlined_location){list[i].function, {list[i].file, list[i].line}};
    return count;
}

static const char *source_file(void *arg, const char *path)
{
    struct cn_analyze_places *self = arg;

    return self->without_sources ? NULL : cn_sources_find(&self->sources, path);
}

bool cn_analyze_places_init(struct cn_analyze_places *self, const struct cn_args *args,
                            struct cn_error *err)
{
    *self = (struct cn_analyze_places){
        .places = {self, function_place, instruction_places, source_file},
        .resolver = cn_resolver_new(),
        .without_sources = cn_args_has(args, "no-source"),
    };
    for (size_t i = 0; i < cn_args_value_count(args, "source-path"); i++)
        if (!cn_sources_move(&self->sources, cn_args_value_at(args, "source-path", i),
                             err))
            return cn_fail_in(err, "--source-path");
    return true;
}

void cn_analyze_places_done(struct cn_analyze_places *self)
{
    cn_resolver_free(self->resolver);
    cn_sources_done(&self->sources);
    *self = (struct cn_analyze_places){0};
}
