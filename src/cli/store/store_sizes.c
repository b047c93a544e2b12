#include "cli/store/store_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shell/args.h"

bool cn_size_option(const struct cn_args *args, const char *name, uint64_t *out,
                    struct cn_error *err)
{
    static const char units[] = "KMGT";
    const char *value = cn_args_value(args, name);
    const char *unit;
    char *end;
    double number;

    if (!value)
        return true;
    number = strtod(value, &end);
    unit = *end ? strchr(units, *end) : units;
    if (end == value || strspn(value, "0123456789.") != (size_t)(end - value) || !unit ||
        (*end && end[1]))
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a size such as 256M", name,
                       value);
    for (const char *u = units; *end && u <= unit; u++)
        number *= 1024;
    if (!(number >= 1 && number < 9e18))
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is out of range", name, value);
    *out = (uint64_t)number;
    return true;
}
