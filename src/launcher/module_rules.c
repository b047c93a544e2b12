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

static bool needs_prototypes(const struct cn_rules *rules)
{
    return rules->has_conditions || rules->needs_lines;
}

static bool needs_finder(const struct cn_module_rules *modules)
{
    return !cn_arguments_is_empty(modules->arguments) ||
           cn_arguments_has_debug(modules->arguments) || needs_prototypes(modules->rules);
}

/* True if functions without hooks are patched: of a library only if a pattern names it. */
static bool is_patched(const struct cn_module_rules *modules, const char *path,
                       const struct cn_elf_file *elf, bool is_program)
{
    return modules->memory->head->has_patch_list && cn_patch_plan_is_possible(elf) &&
           (is_program || cn_rules_patch_module(modules->rules, path));
}

static bool store(struct cn_module_rules *modules, const char *path,
                  const struct cn_elf_file *elf, uint32_t *count, struct cn_error *err)
{
    struct cn_argument_finder *finder = NULL;
    struct cn_text debug = {0};
    bool ok;

    if (needs_finder(modules))
        finder =
            cn_argument_finder_open(modules->arguments, path, elf->machine,
                                    needs_prototypes(modules->rules), modules->memory);
    ok = cn_rules_store(modules->rules, path, elf, finder, modules->memory, count, err);
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
        (is_program || (elf.hooks & seen) ||
         is_patched(modules, path, &elf, is_program))) {
        cn_elf_file_close(&elf);
        if (cn_elf_file_open(&elf, path, true, &ignored))
            ok =
                store(modules, path, &elf, &file.count, err) &&
                (!is_patched(modules, path, &elf, is_program) ||
                 cn_patch_plan_store(
                     path, &elf, is_program ? CN_REC_RULE_PATCH : CN_REC_RULE_PATCH_NAMED,
                     file.first, file.count, modules->memory, &modules->patch_counts,
                     &file.patch_count, err));
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
    head->has_caller = (actions & CN_REC_RULE_CALLER) != 0;
    head->has_waits =
        head->has_caller || head->time_limit_ns > 0 || (actions & CN_REC_RULE_TIME) != 0;
    head->size_min = modules->rules->size_min < UINT32_MAX
                         ? (uint32_t)modules->rules->size_min
                         : UINT32_MAX;
    head->has_patch_list = (actions & CN_REC_RULE_PATCH) != 0;
    head->has_patterns =
        actions != 0 || modules->rules->count > 0 || needs_finder(modules);
    head->has_call_rules =
        (actions & ~for_patching) != 0 || !cn_arguments_is_empty(modules->arguments);
    if (!head->has_patterns)
        return true;
    if (!cn_rules_check(modules->rules, program, err) ||
        !cn_arguments_check_modules(modules->arguments, program, err) ||
        !add(modules, program, true, err))
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

/* Answer a request about a function of Python: its number, and 1 + the index of its rule. */
static bool answer_python(struct cn_module_rules *modules, const char *text,
                          struct cn_error *err)
{
    struct cn_rec_shared *head = modules->memory->head;
    struct cn_python_functions *python = &modules->python;
    const char *name;
    uint32_t number = cn_python_functions_find(python, text, &name), count = 0;
    bool ok = true;

    if (name && head->has_patterns) {
        /* One symbol, large enough for any --size-filter. */
        struct cn_elf_symbol symbol = {number, UINT32_MAX, 'T', (char *)(uintptr_t)name};
        struct cn_elf_file file = {.symbols = &symbol, .symbol_count = 1};
        uint32_t first = head->rule_count;

        ok = cn_rules_store(modules->rules, "python", &file, NULL, modules->memory,
                            &count, err);
        if (ok && count > 0)
            python->rules[number] = first + 1;
    }
    head->request.first = number;
    head->request.count = number > 0 ? python->rules[number] : 0;
    head->request.patch_first = head->request.patch_count = 0;
    return ok;
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
    if (strncmp(path, CN_REC_PYTHON_PREFIX, strlen(CN_REC_PYTHON_PREFIX)) == 0) {
        ok = answer_python(modules, path, err);
        set_state(request, CN_REC_REQUEST_ANSWERED);
        return ok;
    }
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
    cn_python_functions_done(&modules->python);
    *modules = (struct cn_module_rules){0};
}
