#include "server/served/function_times.h"

#include <stdlib.h>

#include "analyze/views/frames.h"
#include "base/alloc.h"

enum { LISTED_MAX = 60 };

struct time {
    uint32_t place;
    uint64_t ns;
};

static int compare_times(const void *a, const void *b)
{
    const struct time *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

void cn_json_function_times(struct cn_json *json, const struct cn_frames *frames,
                            const uint64_t *place_ns)
{
    struct time *times = cn_alloc(frames->names.count, sizeof(*times));
    size_t count = 0, listed;
    uint64_t rest_ns = 0;

    for (size_t i = 0; i < frames->names.count; i++)
        if (place_ns[i] > 0)
            times[count++] = (struct time){(uint32_t)i, place_ns[i]};
    if (count > 0)
        qsort(times, count, sizeof(*times), compare_times);
    listed = count < LISTED_MAX ? count : LISTED_MAX;
    cn_json_key(json, "functions");
    cn_json_array(json);
    for (size_t i = 0; i < listed; i++) {
        cn_json_array(json);
        cn_json_str(json, frames->names.list[times[i].place]);
        cn_json_u64(json, times[i].ns);
        cn_json_end(json);
    }
    cn_json_end(json);
    for (size_t i = listed; i < count; i++)
        rest_ns += times[i].ns;
    cn_json_key(json, "others");
    cn_json_array(json);
    cn_json_u64(json, count - listed);
    cn_json_u64(json, rest_ns);
    cn_json_end(json);
    free(times);
}
