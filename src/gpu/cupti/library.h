/* libcupti.so of the installation, loaded by name at run time: its functions.
 *
 * Types are those of the ABI; contexts, streams and subscribers are only passed on.
 * Threads: immutable once loaded.
 */
#ifndef CN_GPU_CUPTI_LIBRARY_H
#define CN_GPU_CUPTI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CN_CUPTI_ENV "CAIRN_CUPTI" /* path of the library, where it is not found */

typedef void (*cn_cupti_callback_fn)(void *arg, uint32_t domain, uint32_t function,
                                     const void *data);
typedef void (*cn_cupti_request_fn)(uint8_t **buffer, size_t *len, size_t *record_max);
typedef void (*cn_cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer,
                                     size_t len, size_t used);
typedef uint64_t (*cn_cupti_time_fn)(void);

struct cn_cupti {
    /* All versions have these. */
    int (*get_version)(uint32_t *out);
    int (*subscribe)(void **out, cn_cupti_callback_fn callback, void *arg);
    int (*unsubscribe)(void *subscriber);
    int (*enable_callback)(uint32_t enable, void *subscriber, uint32_t domain,
                           uint32_t function);
    int (*get_callback_name)(uint32_t domain, uint32_t function, const char **out);
    int (*get_timestamp)(uint64_t *out);
    int (*activity_enable)(uint32_t kind);
    int (*activity_register)(cn_cupti_request_fn request, cn_cupti_complete_fn complete);
    int (*activity_next)(uint8_t *buffer, size_t used, uint8_t **record);
    int (*activity_flush_all)(uint32_t flags);
    int (*activity_dropped)(void *context, uint32_t stream, size_t *out);
    int (*get_result_text)(int result, const char **out);
    /* NULL if the version has them not. */
    int (*register_clock)(cn_cupti_time_fn clock);
    int (*get_node_id)(void *node, uint64_t *out);
    int (*configure_unified)(void *configurations, uint32_t count);
};

/* Load it. False: `why` says what is missing. */
bool cn_cupti_load(struct cn_cupti *out, char *why, size_t why_len);

#endif
