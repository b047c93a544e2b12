#include "symbols/program/build_files.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/host/library.h"
#include "base/run/clock.h"

/* All questions together; servers that do not answer must not keep a view waiting. */
static const uint64_t BUDGET_NS = UINT64_C(30000000000);

typedef struct debuginfod_client client;
typedef int find_fn(client *, const unsigned char *build_id, int build_id_len,
                    char **path);

struct cn_debuginfod {
    void *library; /* NULL: unavailable */
    client *client;
    client *(*begin)(void);
    void (*end)(client *);
    find_fn *find_module, *find_debug;
    void (*set_progress)(client *, int (*progress)(client *, long, long));
    void (*set_arg)(client *, void *);
    uint64_t left_ns, deadline_ns;
};

static bool load(struct cn_debuginfod *d)
{
    const struct cn_library_symbol symbols[] = {
        {"debuginfod_begin", &d->begin},
        {"debuginfod_end", &d->end},
        {"debuginfod_find_executable", &d->find_module},
        {"debuginfod_find_debuginfo", &d->find_debug},
        {"debuginfod_set_progressfn", &d->set_progress},
        {"debuginfod_set_user_data", &d->set_arg},
    };

    d->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_GLOBAL);
    return d->library &&
           !cn_library_find(d->library, symbols, sizeof(symbols) / sizeof(*symbols));
}

/* Ask no longer. The library calls it about once a second, and has no other way to pass the
 * deadline than its function, which is looked up again: it is loaded for all to see. */
static int is_late(client *asking, long done, long of)
{
    void *symbol = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");
    void *(*arg)(client *);

    (void)done;
    (void)of;
    memcpy(&arg, &symbol, sizeof(arg));
    const struct cn_debuginfod *d = symbol ? arg(asking) : NULL;
    return !d || cn_clock_ns() > d->deadline_ns;
}

struct cn_debuginfod *cn_debuginfod_new(void)
{
    struct cn_debuginfod *d = cn_alloc(1, sizeof(*d));
    const char *urls = getenv("DEBUGINFOD_URLS");

    d->left_ns = BUDGET_NS;
    if (urls && urls[strspn(urls, " ")] && load(d))
        d->client = d->begin();
    if (d->client) {
        d->set_arg(d->client, d);
        d->set_progress(d->client, is_late);
    }
    return d;
}

void cn_debuginfod_free(struct cn_debuginfod *debuginfod)
{
    if (!debuginfod)
        return;
    if (debuginfod->client)
        debuginfod->end(debuginfod->client);
    /* The library stays loaded: threads of others that it uses may still run. */
    free(debuginfod);
}

bool cn_debuginfod_find(struct cn_debuginfod *debuginfod, const char *build_id,
                        bool is_debug, struct cn_text *path)
{
    uint64_t begin_ns = cn_clock_ns(), took_ns;
    char *found = NULL;

    if (!debuginfod->client || debuginfod->left_ns == 0 || build_id[0] == '\0')
        return false;
    debuginfod->deadline_ns = begin_ns + debuginfod->left_ns;
    /* A length of 0: the build-id is text. */
    int fd = (is_debug ? debuginfod->find_debug : debuginfod->find_module)(
        debuginfod->client, (const unsigned char *)build_id, 0, &found);
    took_ns = cn_clock_ns() - begin_ns;
    debuginfod->left_ns -= took_ns < debuginfod->left_ns ? took_ns : debuginfod->left_ns;
    if (fd >= 0) {
        (void)close(fd);
        cn_text_clear(path);
        cn_text_str_add(path, found);
    }
    free(found);
    return fd >= 0;
}
