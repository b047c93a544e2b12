#include "model/contexts/samples.h"

#include <stdarg.h>

void cn_measurements_warn(struct cn_measurements *m, bool is_damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&m->warnings, &m->arena, is_damage, fmt, args);
    va_end(args);
}

bool cn_measurements_read(const struct cn_measurements *m, size_t index,
                          struct cn_sampled_profile *into, struct cn_error *err)
{
    return m->ops->read(m, index, into, err) ||
           cn_fail_in(err, "%s", m->ops->profile_path(m, index));
}
