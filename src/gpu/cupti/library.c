#include "gpu/cupti/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the program has these libraries, if it has loaded them. */
struct cuda_loaded {
    char cupti[PATH_MAX], runtime[PATH_MAX];
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int look_at(struct dl_phdr_info *info, size_t len, void *arg)
{
    struct cuda_loaded *loaded = arg;
    const char *name = name_of(info->dlpi_name);

    (void)len;
    if (strncmp(name, "libcupti.so", 11) == 0)
        (void)snprintf(loaded->cupti, sizeof(loaded->cupti), "%s", info->dlpi_name);
    else if (strncmp(name, "libcudart.so", 12) == 0)
        (void)snprintf(loaded->runtime, sizeof(loaded->runtime), "%s", info->dlpi_name);
    return 0;
}

/* The first library that a pattern of paths matches, the newest version last in the alphabet. */
static void *open_matching(const char *folder, const char *rest)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    void *library = NULL;

    if (snprintf(pattern, sizeof(pattern), "%s/%s/libcupti.so*", folder, rest) >=
            (int)sizeof(pattern) ||
        glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = found.gl_pathc; i-- > 0 && !library;)
        library = dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL);
    globfree(&found);
    return library;
}

/* Beside the run-time that the program uses: the same version. In packages for Python, it may be in a
 * folder of its own. */
static void *open_beside(const char *runtime)
{
    static const char *const folders[] = {".", "../extras/CUPTI/lib64",
                                          "../../cuda_cupti/lib"};
    char folder[PATH_MAX];
    void *library = NULL;

    if (!runtime[0])
        return NULL;
    (void)snprintf(folder, sizeof(folder), "%s", runtime);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !library; i++)
        library = open_matching(folder, folders[i]);
    return library;
}

static void *open_installed(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12",
                                        "libcupti.so.11.8", "libcupti.so"};
    static const char *const folders[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]) && !library; i++)
        for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]) && !library; k++)
            library = homes[i] ? open_matching(homes[i], folders[k]) : NULL;
    return library;
}

static void *open_library(void)
{
    const char *chosen = getenv(CN_CUPTI_ENV);
    struct cuda_loaded loaded = {0};
    void *library = NULL;

    if (chosen && *chosen)
        return dlopen(chosen, RTLD_LAZY | RTLD_LOCAL);
    (void)dl_iterate_phdr(look_at, &loaded);
    if (loaded.cupti[0])
        library = dlopen(loaded.cupti, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        library = open_beside(loaded.runtime);
    return library ? library : open_installed();
}

bool cn_cupti_load(struct cn_cupti *out, char *why, size_t why_len)
{
    const struct {
        const char *name;
        void *to;
        bool is_needed;
    } functions[] = {
        {"cuptiGetVersion", &out->get_version, true},
        {"cuptiSubscribe", &out->subscribe, true},
        {"cuptiUnsubscribe", &out->unsubscribe, true},
        {"cuptiEnableCallback", &out->enable_callback, true},
        {"cuptiGetCallbackName", &out->get_callback_name, true},
        {"cuptiGetTimestamp", &out->get_timestamp, true},
        {"cuptiActivityEnable", &out->activity_enable, true},
        {"cuptiActivityRegisterCallbacks", &out->activity_register, true},
        {"cuptiActivityGetNextRecord", &out->activity_next, true},
        {"cuptiActivityFlushAll", &out->activity_flush_all, true},
        {"cuptiActivityGetNumDroppedRecords", &out->activity_dropped, true},
        {"cuptiGetResultString", &out->get_result_text, true},
        {"cuptiActivityRegisterTimestampCallback", &out->register_clock, false},
        {"cuptiGetGraphNodeId", &out->get_node_id, false},
        {"cuptiActivityConfigureUnifiedMemoryCounter", &out->configure_unified, false},
    };
    void *library = open_library();

    if (!library) {
        (void)snprintf(why, why_len,
                       "no libcupti.so: install CUPTI of the program's CUDA version, or "
                       "name it with " CN_CUPTI_ENV);
        return false;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *found = dlsym(library, functions[i].name);

        if (!found && functions[i].is_needed) {
            (void)snprintf(why, why_len, "libcupti.so has no %s", functions[i].name);
            return false;
        }
        memcpy(functions[i].to, &found, sizeof(found));
    }
    return true;
}
