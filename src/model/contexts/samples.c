#include "model/contexts/samples.h"

#include <stdarg.h>
#include <stdio.h>

void cn_measurements_close(struct cn_measurements *m)
{
    if (m)
        m->ops->close(m);
}

void cn_measurements_warn(struct cn_measurements *m, const char *fmt, ...)
{
    struct cn_warning **end = &m->warnings;
    struct cn_warning *warning = cn_arena_alloc(&m->arena, 1, sizeof(*warning));
    struct cn_error text;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text.text, sizeof(text.text), fmt, args);
    va_end(args);
    warning->text = cn_arena_strdup(&m->arena, text.text);
    while (*end)
        end = &(*end)->next;
    *end = warning;
}

bool cn_measurements_read(const struct cn_measurements *m, size_t index,
                          struct cn_sampled_profile *into, struct cn_error *err)
{
    return m->ops->read(m, index, into, err) ||
           cn_fail_in(err, "%s", m->ops->profile_path(m, index));
}

void cn_sampled_profile_done(const struct cn_measurements *m,
                             struct cn_sampled_profile *profile)
{
    m->ops->profile_done(profile);
}

const char *cn_measurements_profile_path(const struct cn_measurements *m, size_t index)
{
    return m->ops->profile_path(m, index);
}

uint64_t cn_measurements_profile_len(const struct cn_measurements *m, size_t index)
{
    return m->ops->profile_len(m, index);
}

bool cn_measurements_find_module(struct cn_measurements *m, size_t profile,
                                 struct cn_bytes path, uint32_t *out,
                                 struct cn_error *err)
{
    return m->ops->find_module(m, profile, path, out, err);
}

bool cn_measurements_places(struct cn_measurements *m, uint32_t module, uint64_t address,
                            struct cn_code_scopes *out, struct cn_error *err)
{
    return m->ops->places(m, module, address, out, err);
}

bool cn_measurements_call_paths(struct cn_measurements *m, uint32_t module,
                                uint64_t address, struct cn_call_paths *out,
                                struct cn_error *err)
{
    return m->ops->call_paths(m, module, address, out, err);
}

uint32_t cn_measurements_placeholder(struct cn_measurements *m, uint64_t code)
{
    return m->ops->placeholder(m, code);
}

void cn_measurements_module(const struct cn_measurements *m, uint32_t index,
                            struct cn_module *out)
{
    m->ops->module(m, index, out);
}

void cn_measurements_file(struct cn_measurements *m, uint32_t index,
                          struct cn_source_file *out)
{
    m->ops->file(m, index, out);
}

void cn_measurements_function(const struct cn_measurements *m, uint32_t index,
                              struct cn_function *out)
{
    m->ops->function(m, index, out);
}
