#include "store/segment/java_probe.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "store/segment/log_format.h"
#include "store/segment/segments.h"

bool cn_java_is_wal(const char *name)
{
    return fnmatch("text-*.wal", name, 0) == 0;
}

bool cn_java_is_text(const char *name)
{
    return cn_java_is_wal(name) || fnmatch("text-*.fmi", name, 0) == 0;
}

bool cn_java_is_segment(const char *dir)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    bool has_text = false, has_traces = false, has_config = false;

    while (list && (entry = readdir(list))) {
        has_text = has_text || cn_java_is_text(entry->d_name);
        has_traces = has_traces || strcmp(entry->d_name, CN_TRACES_NAME) == 0;
        has_config = has_config || strcmp(entry->d_name, CN_CONFIG_NAME) == 0;
    }
    if (list)
        (void)closedir(list);
    return has_text && has_traces && !has_config;
}

bool cn_java_store_probe(const char *path)
{
    uint32_t *numbers = NULL;
    struct cn_error ignored;
    bool is_java = cn_java_is_segment(path);
    size_t count = 0;

    if (is_java || !cn_segments_list(path, &numbers, &count, &ignored))
        return is_java;
    if (count > 0) {
        char *dir = cn_segment_dir(path, numbers[0]);

        is_java = cn_java_is_segment(dir);
        free(dir);
    }
    free(numbers);
    return is_java;
}

bool cn_java_store_refuse(const char *path, struct cn_error *err)
{
    return !cn_java_store_probe(path) ||
           cn_fail(
               err, CN_ERR_USAGE,
               "%s is a store of the Java implementation; run 'cairn store import STORE "
               "%s' and open STORE",
               path, path);
}
