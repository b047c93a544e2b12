#include "launcher/rules/modules.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "launcher/elf/file.h"
#include "launcher/files/modules.h"
#include "launcher/files/shared_memory.h"
#include "launcher/rules/arguments.h"
#include "launcher/rules/rules.h"

struct cn_ruled_file {
    char *path;
    bool is_program;
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

static bool store(struct cn_module_rules *modules, const char *path, bool is_known,
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
    if (finder && !is_known)
        cn_argument_finder_print(finder, elf, &debug);
    if (debug.len > 0 && ok)
        ok = cn_module_files_add_debug(modules->files, path, &debug, err);
    cn_text_done(&debug);
    cn_argument_finder_close(finder);
    return ok;
}

static struct cn_rec_rule_set *current(const struct cn_module_rules *modules)
{
    const struct cn_rec_shared *head = modules->memory->head;

    return cn_rec_rule_set(head, atomic_load(&head->rule_version));
}

/* Store the rules of a file; none when it cannot be read. */
static bool read_file(struct cn_module_rules *modules, struct cn_ruled_file *file,
                      bool is_known, uint32_t *count, struct cn_error *err)
{
    uint32_t first = modules->memory->head->rule_count;
    struct cn_error ignored = {0};
    struct cn_elf_file elf;
    /* Hooks by which the calls of a library are recorded. */
    unsigned seen = CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT | CN_ELF_PATCHABLE;
    bool ok = true;

    if (modules->memory->head->has_nested_libcalls)
        seen |= CN_ELF_LIBCALLS;
    *count = 0;
    if (cn_elf_file_open(&elf, file->path, false, &ignored) &&
        (file->is_program || (elf.hooks & seen) ||
         is_patched(modules, file->path, &elf, file->is_program))) {
        cn_elf_file_close(&elf);
        if (cn_elf_file_open(&elf, file->path, true, &ignored)) {
            (void)cn_elf_symbols_replace(&elf, modules->files->symbols, file->path);
            ok = store(modules, file->path, is_known, &elf, count, err) &&
                 (is_known || !is_patched(modules, file->path, &elf, file->is_program) ||
                  cn_patch_plan_store(file->path, &elf,
                                      file->is_program ? CN_REC_RULE_PATCH
                                                       : CN_REC_RULE_PATCH_NAMED,
                                      first, *count, modules->memory,
                                      &modules->patch_counts, &file->patch_count, err));
        }
    }
    cn_elf_file_close(&elf);
    return ok;
}

/* A new file, for the current set. */
static bool add(struct cn_module_rules *modules, const char *path, bool is_program,
                struct cn_error *err)
{
    uint32_t first = modules->memory->head->rule_count, count;
    size_t number = modules->count;

    if (number == CN_REC_FILE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "no filters in %s: more than %d files", path,
                       CN_REC_FILE_MAX);
    CN_PUSH(modules->list, modules->count, modules->capacity,
            (struct cn_ruled_file){cn_strdup(path), is_program,
                                   modules->memory->head->patch_count, 0});
    bool ok = read_file(modules, &modules->list[number], false, &count, err);
    atomic_store(&current(modules)->files[number], (uint64_t)count << 32 | first);
    return ok;
}

/* Store the rules of a known file again, after those in memory, unless they are the same. */
static bool change(struct cn_module_rules *modules, struct cn_ruled_file *file,
                   uint64_t old, uint64_t *out, struct cn_error *err)
{
    struct cn_shared_memory *memory = modules->memory;
    uint32_t first = memory->head->rule_count, count;

    if (!read_file(modules, file, true, &count, err))
        return false;
    *out = (uint64_t)count << 32 | first;
    if (count == old >> 32 && memcmp(memory->rules + first, memory->rules + (uint32_t)old,
                                     count * sizeof(*memory->rules)) == 0) {
        atomic_store(&memory->head->rule_count, first);
        *out = old;
    }
    return true;
}

/* The actions of the rules. Those of patterns that match nothing count, unless actions were
 * removed. */
static uint32_t actions_of(const struct cn_module_rules *modules,
                           const struct cn_rec_rule_set *set)
{
    uint32_t actions = 0;

    if (!cn_rules_clear_some(modules->rules))
        return cn_rules_actions(modules->rules);
    for (size_t i = 0; i < modules->count; i++) {
        uint64_t range = atomic_load(&set->files[i]);
        const struct cn_rec_rule *rule = modules->memory->rules + (uint32_t)range;

        for (uint64_t left = range >> 32; left > 0; left--, rule++)
            actions |= rule->actions;
    }
    return actions;
}

static void set_limits(const struct cn_module_rules *modules, struct cn_rec_rule_set *set)
{
    uint32_t actions = actions_of(modules, set);
    uint64_t size_min = modules->rules->size_min;

    set->time_limit_ns = modules->limits.time_ns;
    set->depth_limit = modules->limits.depth;
    set->size_min = size_min < UINT32_MAX ? (uint32_t)size_min : UINT32_MAX;
    set->has_only = (actions & CN_REC_RULE_ONLY) != 0;
    set->has_caller = (actions & CN_REC_RULE_CALLER) != 0;
}

bool cn_module_rules_publish(struct cn_module_rules *modules, struct cn_error *err)
{
    struct cn_rec_shared *head = modules->memory->head;
    uint32_t version = atomic_load(&head->rule_version);
    uint32_t rule_count = atomic_load(&head->rule_count);
    const struct cn_rec_rule_set *old = cn_rec_rule_set(head, version);
    struct cn_rec_rule_set *next = cn_rec_rule_set(head, version + 1);
    bool ok = cn_rules_check(modules->rules, modules->list[0].path, err) &&
              (cn_shared_memory_reserve_set(modules->memory, version + 1) ||
               cn_fail_errno(err, "no memory for the rules about functions"));

    for (size_t i = 0; i < CN_REC_FILE_MAX && ok; i++) {
        uint64_t range = 0;

        if (i < modules->count)
            ok = change(modules, &modules->list[i], atomic_load(&old->files[i]), &range,
                        err);
        if (ok)
            atomic_store(&next->files[i], range);
    }
    if (!ok) {
        atomic_store(&head->rule_count, rule_count);
        return false;
    }
    set_limits(modules, next);
    atomic_store(&head->rule_version, version + 1);
    return true;
}

bool cn_module_rules_begin(struct cn_module_rules *modules, const char *program,
                           struct cn_error *err)
{
    uint32_t for_patching = CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH;
    /* Switches are rarely at functions that are called often: C handles these. */
    uint32_t for_quick_calls = for_patching | CN_REC_RULE_ONLY | CN_REC_RULE_NOT |
                               CN_REC_RULE_HIDE | CN_REC_RULE_ON | CN_REC_RULE_OFF |
                               CN_REC_RULE_FINISH;
    uint32_t actions = cn_rules_actions(modules->rules);
    struct cn_rec_shared *head = modules->memory->head;
    struct cn_rec_rule_set *set = current(modules);

    set_limits(modules, set);
    head->has_waits = head->has_agent || set->has_caller || set->time_limit_ns > 0 ||
                      (actions & CN_REC_RULE_TIME) != 0;
    head->has_slow_rules = (actions & ~for_quick_calls) != 0 ||
                           modules->rules->has_conditions ||
                           !cn_arguments_is_empty(modules->arguments);
    head->has_patch_list = (actions & CN_REC_RULE_PATCH) != 0;
    head->patches_unnamed = cn_rules_patch_all(modules->rules);
    head->has_patterns = actions != 0 || modules->rules->count > 0 ||
                         needs_finder(modules) || head->has_agent;
    head->has_call_rules =
        (actions & ~for_patching) != 0 || !cn_arguments_is_empty(modules->arguments);
    if (!head->has_patterns)
        return true;
    if (!cn_rules_check(modules->rules, program, err) ||
        !cn_arguments_check_modules(modules->arguments, program, err) ||
        !add(modules, program, true, err))
        return false;
    head->program_patch_count = modules->list[0].patch_count;
    return true;
}

static void set_state(struct cn_rec_request *request, uint32_t state)
{
    atomic_store(&request->state, state);
    (void)syscall(SYS_futex, &request->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The number of a file; CN_REC_FILE_MAX: none. */
static uint32_t find(const struct cn_module_rules *modules, const char *path)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        if (strcmp(modules->list[i].path, path) == 0)
            return i;
    }
    return CN_REC_FILE_MAX;
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

        ok = cn_rules_store(modules->rules, CN_UFT_PYTHON, &file, NULL, modules->memory,
                            &count, err);
        if (ok && count > 0)
            python->rules[number] = first + 1;
    }
    head->request.file = number;
    head->request.rule = number > 0 ? python->rules[number] : 0;
    head->request.patch_first = head->request.patch_count = 0;
    return ok;
}

bool cn_module_rules_answer(struct cn_module_rules *modules, struct cn_error *err)
{
    struct cn_rec_request *request = &modules->memory->head->request;
    uint32_t state = atomic_load(&request->state), owner = atomic_load(&request->owner);
    char path[CN_REC_EXE_MAX];
    uint32_t number;
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
    number = find(modules, path);
    if (number == CN_REC_FILE_MAX) {
        ok = add(modules, path, request->is_program != 0, err);
        number = find(modules, path);
    }
    request->file = number;
    request->patch_first = request->patch_count = 0;
    if (number < CN_REC_FILE_MAX) {
        request->patch_first = modules->list[number].patch_first;
        request->patch_count = modules->list[number].patch_count;
    }
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
