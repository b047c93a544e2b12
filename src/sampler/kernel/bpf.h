/* libbpf, loaded when the first program is sampled.
 *
 * The library stays loaded until the process ends.
 * Threads: any thread.
 */
#ifndef CN_SAMPLER_KERNEL_BPF_H
#define CN_SAMPLER_KERNEL_BPF_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* Functions of the library. */
struct cn_bpf {
    libbpf_print_fn_t (*set_print)(libbpf_print_fn_t print);
    struct bpf_object *(*object_open)(const void *bytes, size_t len,
                                      const struct bpf_object_open_opts *options);
    int (*object_load)(struct bpf_object *object);
    void (*object_close)(struct bpf_object *object);
    int (*find_map)(const struct bpf_object *object, const char *name);
    struct bpf_map *(*map_by_name)(const struct bpf_object *object, const char *name);
    int (*set_max_entries)(struct bpf_map *map, __u32 count);
    int (*processor_count)(void);
    struct bpf_program *(*find_program)(const struct bpf_object *object,
                                        const char *name);
    int (*program_fd)(const struct bpf_program *program);
    int (*set_autoload)(struct bpf_program *program, bool is_loaded);
    int (*map_create)(enum bpf_map_type type, const char *name, __u32 key_len,
                      __u32 value_len, __u32 count,
                      const struct bpf_map_create_opts *options);
    int (*map_update)(int fd, const void *key, const void *value, __u64 flags);
    int (*map_delete)(int fd, const void *key);
    int (*map_lookup)(int fd, const void *key, void *value);
    int (*reuse_map)(struct bpf_map *map, int fd);
    int (*set_attach_type)(struct bpf_program *program, enum bpf_attach_type type);
    struct ring_buffer *(*ring_new)(int fd, ring_buffer_sample_fn take, void *arg,
                                    const struct ring_buffer_opts *options);
    int (*ring_consume)(struct ring_buffer *ring);
    void (*ring_free)(struct ring_buffer *ring);
};

/* The library, NULL if it cannot be loaded. */
const struct cn_bpf *cn_bpf(void);

/* The same; NULL as well where programs see other process ids than the sampler. */
struct cn_error;
const struct cn_bpf *cn_kernel_bpf(struct cn_error *err);

#endif
