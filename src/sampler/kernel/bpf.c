#ifdef CN_HAS_BPF
#include "sampler/kernel/bpf.h"

#include <dlfcn.h>

#include "base/host/library.h"
#include "base/run/once.h"

static struct cn_once once = CN_ONCE_NEW;
static struct cn_bpf functions;
static bool is_loaded;

/* What fails is said by cairn. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

static void load(void *arg)
{
    const struct cn_library_symbol symbols[] = {
        {"libbpf_set_print", &functions.set_print},
        {"bpf_object__open_mem", &functions.object_open},
        {"bpf_object__load", &functions.object_load},
        {"bpf_object__close", &functions.object_close},
        {"bpf_object__find_map_fd_by_name", &functions.find_map},
        {"bpf_object__find_map_by_name", &functions.map_by_name},
        {"bpf_map__set_max_entries", &functions.set_max_entries},
        {"libbpf_num_possible_cpus", &functions.processor_count},
        {"bpf_object__find_program_by_name", &functions.find_program},
        {"bpf_program__fd", &functions.program_fd},
        {"bpf_program__set_autoload", &functions.set_autoload},
        {"bpf_map_create", &functions.map_create},
        {"bpf_map_update_elem", &functions.map_update},
        {"bpf_map_delete_elem", &functions.map_delete},
        {"bpf_map_lookup_elem", &functions.map_lookup},
        {"bpf_map__reuse_fd", &functions.reuse_map},
        {"bpf_program__set_expected_attach_type", &functions.set_attach_type},
        {"ring_buffer__new", &functions.ring_new},
        {"ring_buffer__consume", &functions.ring_consume},
        {"ring_buffer__free", &functions.ring_free},
    };
    void *library = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);

    (void)arg;
    is_loaded =
        library && !cn_library_find(library, symbols, sizeof(symbols) / sizeof(*symbols));
    if (is_loaded)
        (void)functions.set_print(print_nothing);
}

const struct cn_bpf *cn_bpf(void)
{
    cn_once_run(&once, load, NULL);
    return is_loaded ? &functions : NULL;
}
#endif
