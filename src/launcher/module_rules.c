#include "launcher/module_rules.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/arguments.h"
#include "launcher/elf_file.h"
#include "launcher/module_files.h"
#include "launcher/rules.h"
#include "launcher/shared_memory.h"

struct cn_ruled_file {
    char *path;
    uint32_t first, count;
    uint32_t patch_first, patch_count;
};

static bool needs_finder(const struct cn_module_rules *modules)
{
    return !cn_arguments_is_empty(modules->arguments) ||
           cn_arguments_has_debug(modules->arguments);
}

/* True if functions without hooks are patched. */
static bool is_patched(const struct cn_module_rules *modules,
                       const struct cn_elf_file *elf, bool is_program)
{
    return modules->memory->head->has_patch_list && is_program &&
           cn_patch_plan_is_possible(elf);
}

static bool store(struct cn_module_rules *modules, const char *path,
                  const struct cn_elf_file *elf, uint32_t *count, struct cn_error *err)
{
    struct cn_argument_finder *finder = NULL;
    struct cn_text debug = {0};
    bool ok;

    if (needs_finder(modules))
        finder = cn_argument_finder_open(modules->arguments, path, elf->machine,
                                         modules->memory);
    ok = cn_rules_store(modules->rules, elf, finder, modules->memory, count, err);
    if (finder)
        cn_argument_finder_print(finder, elf, &debug);
    if (debug.len > 0 && ok)
        ok = cn_module_files_add_debug(modules->files, path, &debug, err);
    cn_text_done(&debug);
    cn_argument_finder_close(finder);
    return ok;
}

/* Store the rules of a file; none when it cannot be read. */
static bool add(struct cn_module_rules *modules, const char *path, bool is_program,
                struct cn_error *err)
{
    struct cn_ruled_file file = {.first = modules->memory->head->rule_count,
                                 .patch_first = modules->memory->head->patch_count};
    struct cn_error ignored = {0};
    struct cn_elf_file elf;
    /* Hooks by which the calls of a library are recorded. */
    unsigned seen = CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT | CN_ELF_PATCHABLE;
    bool ok = true;

    if (modules->memory->head->has_nested_libcalls)
        seen |= CN_ELF_LIBCALLS;
    if (cn_elf_file_open(&elf, path, false, &ignored) &&
        (is_program || (elf.hooks & seen))) {
        cn_elf_file_close(&elf);
        if (cn_elf_file_open(&elf, path, true, &ignored))
            ok = store(modules, path, &elf, &file.count, err) &&
                 (!is_patched(modules, &elf, is_program) ||
                  cn_patch_plan_store(path, &elf, file.first, file.count, modules->memory,
                                      &modules->patch_counts, &file.patch_count, err));
    }
    cn_elf_file_close(&elf);
    file.path = cn_strdup(path);
    modules->list = cn_grow(modules->list, modules->count, &modules->capacity,
                            sizeof(*modules->list));
    modules->list[modules->count++] = file;
    return ok;
}

bool cn_module_rules_begin(struct cn_module_rules *modules, const char *program,
                           struct cn_error *err)
{
    uint32_t for_patching = CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH;
    uint32_t actions = cn_rules_actions(modules->rules);
    struct cn_rec_shared *head = modules->memory->head;

    head->has_only = (actions & CN_REC_RULE_ONLY) != 0;
    head->has_patch_list = (actions & CN_REC_RULE_PATCH) != 0;
    head->has_patterns = actions != 0 || needs_finder(modules);
    head->has_call_rules =
        (actions & ~for_patching) != 0 || !cn_arguments_is_empty(modules->arguments);
    if (!head->has_patterns)
        return true;
    if (!add(modules, program, true, err))
        return false;
    head->program_rule_count = modules->list[0].count;
    head->program_patch_count = modules->list[0].patch_count;
    return true;
}

static void set_state(struct cn_rec_request *request, uint32_t state)
{
    atomic_store(&request->state, state);
    (void)syscall(SYS_futex, &request->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static const struct cn_ruled_file *find(const struct cn_module_rules *modules,
                                        const char *path)
{
    for (size_t i = 0; i < modules->count; i++) {
        if (strcmp(modules->list[i].path, path) == 0)
            return &modules->list[i];
    }
    return NULL;
}

bool cn_module_rules_answer(struct cn_module_rules *modules, struct cn_error *err)
{
    struct cn_rec_request *request = &modules->memory->head->request;
    uint32_t state = atomic_load(&request->state), owner = atomic_load(&request->owner);
    const struct cn_ruled_file *file;
    char path[CN_REC_EXE_MAX];
    bool ok = true;

    if (state == CN_REC_REQUEST_FREE)
        return true;
    if (owner != 0 && kill((pid_t)owner, 0) != 0 && errno == ESRCH) {
        atomic_store(&request->owner, 0);
        set_state(request, CN_REC_REQUEST_FREE);
        return true;
    }
    if (state != CN_REC_REQUEST_ASKED)
        return true;
    memcpy(path, request->path, sizeof(path));
    path[sizeof(path) - 1] = '\0';
    file = find(modules, path);
    if (!file) {
        ok = add(modules, path, request->is_program != 0, err);
        file = find(modules, path);
    }
    request->first = file->first;
    request->count = file->count;
    request->patch_first = file->patch_first;
    request->patch_count = file->patch_count;
    set_state(request, CN_REC_REQUEST_ANSWERED);
    return ok;
}

void cn_module_rules_done(struct cn_module_rules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        free(modules->list[i].path);
    free(modules->list);
    *modules = (struct cn_module_rules){0};
}
