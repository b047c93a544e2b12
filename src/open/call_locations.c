#include "open/call_locations.h"

#include "model/calls/recording.h"
#include "symbols/program/resolver.h"

static struct cn_cct_location
function_location(void *arg, const struct cn_call_module *module, uint64_t offset)
{
    const struct cn_call_locations *of = arg;
    struct cn_source_location location;

    if (!cn_resolver_function(of->resolver, module->path, module->build_id, offset,
                              &location))
        return (struct cn_cct_location){0};
    return (struct cn_cct_location){location.file, location.line};
}

static size_t instruction_locations(void *arg, const struct cn_call_module *module,
                                    uint64_t offset,
                                    struct cn_inlined_location out[CN_LOCATION_DEPTH_MAX])
{
    const struct cn_call_locations *of = arg;
    struct cn_source_location list[CN_LOCATION_DEPTH_MAX];
    size_t count = cn_resolver_instruction(of->resolver, module->path, module->build_id,
                                           offset, list, CN_LOCATION_DEPTH_MAX);

    for (size_t i = 0; i < count; i++)
        out[i] =
            (struct cn_inlined_location){list[i].function, {list[i].file, list[i].line}};
    return count;
}

static const char *source_file(void *arg, const char *path)
{
    struct cn_call_locations *of = arg;

    return of->without_sources ? NULL : cn_sources_find(&of->sources, path);
}

void cn_call_locations_init(struct cn_call_locations *of, bool without_sources)
{
    *of = (struct cn_call_locations){
        .locations = {of, function_location, instruction_locations, source_file},
        .resolver = cn_resolver_new(),
        .without_sources = without_sources,
    };
}

void cn_call_locations_done(struct cn_call_locations *of)
{
    cn_resolver_free(of->resolver);
    cn_sources_done(&of->sources);
}
