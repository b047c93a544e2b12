#include "analyze/lens/code.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lens/code_erlang.h"
#include "analyze/lens/code_paths.h"
#include "analyze/lens/code_work.h"
#include "analyze/lens/matches.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/name_filter.h"
#include "base/path.h"
#include "base/text.h"
#include "model/contexts/database.h"

static const char *const languages[CN_CODE_LANGUAGES] = {
    [CN_CODE_UNKNOWN] = "unknown",
    [CN_CODE_C] = "c",
    [CN_CODE_CPP] = "c++",
    [CN_CODE_RUST] = "rust",
    [CN_CODE_GO] = "go",
    [CN_CODE_FORTRAN] = "fortran",
    [CN_CODE_ASSEMBLY] = "assembly",
    [CN_CODE_PYTHON] = "python",
    [CN_CODE_JAVA] = "java",
    [CN_CODE_JAVASCRIPT] = "javascript",
    [CN_CODE_RUBY] = "ruby",
    [CN_CODE_PHP] = "php",
    [CN_CODE_PERL] = "perl",
    [CN_CODE_ERLANG] = "erlang",
    [CN_CODE_KERNEL] = "kernel",
};

static const char *const kinds[CN_CODE_KINDS] = {
    [CN_CODE_MINE] = "mine",       [CN_CODE_LIBRARY] = "library",
    [CN_CODE_RUNTIME] = "runtime", [CN_CODE_OF_KERNEL] = "kernel",
    [CN_CODE_STARTUP] = "startup",
};

enum reason {
    BY_DEFAULT,
    BY_PROGRAM,
    BY_PATTERN,
    BY_NO_PATTERN,
    BY_KERNEL,
    BY_START,
    BY_INTERPRETER,
    BY_RUNTIME_NAME,
    BY_SYSTEM_MODULE,
    BY_SYSTEM_SOURCE,
    BY_PACKAGE,
    BY_STANDARD_LIBRARY,
    BY_LINKAGE,
    REASONS
};

static const char *const reasons[REASONS] = {
    [BY_DEFAULT] = "neither module nor source is of the system or of a package",
    [BY_PROGRAM] = "the program that was run",
    [BY_PATTERN] = "matches a pattern of one's own code",
    [BY_NO_PATTERN] = "matches no pattern of one's own code",
    [BY_KERNEL] = "code of the kernel",
    [BY_START] = "starts programs and threads",
    [BY_INTERPRETER] = "module of an interpreter or a virtual machine",
    [BY_RUNTIME_NAME] = "function of the run-time of its language",
    [BY_SYSTEM_MODULE] = "module of the system",
    [BY_SYSTEM_SOURCE] = "source below a folder of the system",
    [BY_PACKAGE] = "source of a package",
    [BY_STANDARD_LIBRARY] = "standard library of its language",
    [BY_LINKAGE] = "entry of a linkage table",
};

const char *cn_code_language_name(unsigned language)
{
    return languages[language < CN_CODE_LANGUAGES ? language : CN_CODE_UNKNOWN];
}

const char *cn_code_kind_name(unsigned kind)
{
    return kinds[kind < CN_CODE_KINDS ? kind : CN_CODE_MINE];
}

unsigned cn_code_kind_find(const char *name)
{
    return (unsigned)cn_list_find(kinds, CN_CODE_KINDS, name);
}

unsigned cn_code_language_find(const char *name)
{
    return (unsigned)cn_list_find(languages, CN_CODE_LANGUAGES, name);
}

const char *cn_code_reason(const struct cn_code_class *code)
{
    return reasons[code->reason];
}

struct code_table {
    struct cn_database *db;
    struct cn_codes *out;
    const struct cn_name_filter *mine;
    struct cn_code_module *modules;
    struct cn_code_file *files;
};

/* Where a qualified name begins, after the type of the result: "void std::sort<int>(...)". */
static const char *name_begin(const char *name)
{
    const char *begin = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        if (depth == 0 && cn_begins_with(at, "operator"))
            break;
        if (*at == '(' && depth == 0 && at != begin)
            break; /* parameters */
        if (*at == '<' || *at == '(' || *at == '[' || *at == '{')
            depth++;
        else if ((*at == '>' && at > name && at[-1] != '-') || *at == ')' || *at == ']' ||
                 *at == '}')
            depth -= depth > 0;
        else if (*at == ' ' && depth == 0)
            begin = at + 1;
    }
    return *begin ? begin : name;
}

static bool is_unnamed(const char *name)
{
    const char *plus = strstr(name, "+0x");

    return name[0] == '\0' || cn_begins_with(name, "[unknown]") ||
           (plus && plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0');
}

static bool has_rust_marks(const char *name)
{
    static const char *const starts[] = {
        "core::",    "alloc::",     "<core::", "<alloc::", "__rust_", "rust_begin_unwind",
        "std::rt::", "hashbrown::", "_R"};

    return CN_BEGINS_WITH_ANY(name, starts) || strstr(name, "::{{closure}}") ||
           strstr(name, "::{closure#") ||
           (name[0] == '<' && strstr(name, " as ") && strstr(name, ">::"));
}

static bool is_go_mark(const char *name)
{
    static const char *const marks[] = {"runtime.goexit",      "runtime.main",
                                        "runtime.mstart",      "runtime.mcall",
                                        "runtime.systemstack", "runtime.goexit.abi0",
                                        "runtime.rt0_go",      "runtime.rt0_go.abi0",
                                        "runtime.schedule",    "runtime.mallocgc"};

    return cn_list_has(marks, CN_COUNT_OF(marks), name);
}

static unsigned language_of(const struct cn_code_module *module,
                            const struct cn_code_file *file, const char *name)
{
    static const char *const annotations[] = {"_[k]", "_[i]", "_[j]"}; /* FlameGraph */
    const char *begin = name_begin(name);

    if (module->language != CN_CODE_UNKNOWN)
        return module->language;
    if (cn_code_is_erlang_runtime(module, name))
        return CN_CODE_ERLANG;
    if (cn_ends_with(name, annotations[0]))
        return CN_CODE_KERNEL;
    if (file->language != CN_CODE_UNKNOWN)
        return file->language;
    if (cn_begins_with(name, "py::"))
        return CN_CODE_PYTHON;
    if (is_unnamed(name))
        return CN_CODE_UNKNOWN;
    if (module->is_go && !strstr(name, "::"))
        return strchr(name, '.') ? CN_CODE_GO : CN_CODE_ASSEMBLY;
    if (has_rust_marks(begin) || (module->is_rust && strstr(name, "::")))
        return CN_CODE_RUST;
    if (strstr(name, "::") || strchr(name, '(') || cn_begins_with(name, "_Z") ||
        cn_begins_with(name, "operator"))
        return CN_CODE_CPP;
    if (file->is_header)
        return CN_CODE_C;
    /* A plain word in a file of machine code; names of formats and tools are no paths. */
    return module->path[0] != '[' && (strchr(module->path, '/') || module->is_system)
               ? CN_CODE_C
               : CN_CODE_UNKNOWN;
}

static bool is_start(const char *name)
{
    static const char *const globs[] = {
        "_start",
        "_dl_start",
        "_dl_start_user",
        "__libc_start_main*",
        "__libc_start_call_main*",
        "generic_start_main*",
        "clone",
        "__clone",
        "clone3",
        "__clone3",
        "__clone_internal*",
        "start_thread",
        "thread_start",
        "_rt0_*_linux",
        "runtime.rt0_go*",
        "runtime.goexit*",
        "std::rt::lang_start*",
        "std::sys*::backtrace::__rust_begin_short_backtrace*",
        "call_main",
        "erts_beamasm:normal_exit/0",
        "__scrt_common_main*",
        "execute_native_thread_routine"};

    return CN_MATCHES_ANY(name, globs);
}

/* The first element of an import path of Go, "net" of "net/http.(*conn).serve", is of its library. */
static bool is_go_library(const char *name)
{
    static const char *const packages[] = {
        "archive",  "bufio",    "bytes",   "cmp",     "compress", "container", "context",
        "crypto",   "database", "debug",   "embed",   "encoding", "errors",    "expvar",
        "flag",     "fmt",      "go",      "hash",    "html",     "image",     "index",
        "internal", "io",       "iter",    "log",     "maps",     "math",      "mime",
        "net",      "os",       "path",    "plugin",  "reflect",  "regexp",    "slices",
        "sort",     "strconv",  "strings", "structs", "sync",     "syscall",   "testing",
        "text",     "time",     "unicode", "unique",  "unsafe",   "weak",      "vendor"};
    size_t len = strcspn(name, "/.");

    for (size_t i = 0; i < CN_COUNT_OF(packages); i++)
        if (strlen(packages[i]) == len && strncmp(packages[i], name, len) == 0)
            return true;
    return false;
}

static bool is_go_runtime(const char *name)
{
    static const char *const starts[] = {
        "runtime.", "runtime/",       "internal/runtime/",  "type:.",
        "go:",      "gcWriteBarrier", "created by runtime."};

    return CN_BEGINS_WITH_ANY(name, starts);
}

/* The trait of "<TYPE as TRAIT>::method"; NULL if there is none. */
static const char *rust_trait(const char *name)
{
    int depth = 0;

    for (const char *at = name; *at; at++) {
        if (depth == 1 && cn_begins_with(at, " as "))
            return at + strlen(" as ");
        if (*at == '<' || *at == '(' || *at == '[')
            depth++;
        else if (*at == ')' || *at == ']' || (*at == '>' && at[-1] != '-'))
            depth--;
        if (depth <= 0)
            return NULL;
    }
    return NULL;
}

static bool is_rust_library(const char *path)
{
    static const char *const starts[] = {"core::", "alloc::", "std::", "__rust_",
                                         "rust_"};

    return CN_BEGINS_WITH_ANY(path, starts);
}

/* The path that begins with the crate of a function: its own, or in "<TYPE as TRAIT>::method" that of
 * the type, or of the trait if the type is of the language or its library. */
static const char *rust_path(const char *name)
{
    static const char *const marks[] = {"&",    "*const ", "*mut ", "mut ",
                                        "dyn ", "[",       "("};
    const char *type = name + 1, *trait;
    bool has_mark = true;

    if (name[0] != '<')
        return name;
    while (has_mark) {
        has_mark = false;
        for (size_t i = 0; i < CN_COUNT_OF(marks) && !has_mark; i++) {
            has_mark = cn_begins_with(type, marks[i]);
            type += has_mark ? strlen(marks[i]) : 0;
        }
    }
    trait = rust_trait(name);
    bool has_crate = cn_begins_with(type + strcspn(type, ":<> ,;()[]"), "::");
    if (has_crate && !is_rust_library(type))
        return type;
    if (trait && !is_rust_library(trait))
        return trait;
    return has_crate ? type : "core::";
}

static bool is_standard_library(unsigned language, const char *name)
{
    static const char *const cpp[] = {
        "std::", "__gnu_cxx::", "__cxxabiv1::", "operator new", "operator delete"};
    static const char *const java[] = {"java.",    "javax.",   "jdk.",   "sun.",
                                       "com.sun.", "java/",    "javax/", "jdk/",
                                       "sun/",     "com/sun/", "Ljava/"};

    switch (language) {
    case CN_CODE_CPP:
        return CN_BEGINS_WITH_ANY(name_begin(name), cpp);
    case CN_CODE_RUST:
        return is_rust_library(rust_path(name_begin(name)));
    case CN_CODE_JAVA:
        return CN_BEGINS_WITH_ANY(name, java);
    case CN_CODE_GO:
        return is_go_library(name);
    case CN_CODE_ERLANG:
        return cn_code_is_erlang_library(name);
    default:
        return false;
    }
}

/* Functions of Ruby and PHP without a source are written in C: "Integer#times". */
static bool is_built_in(unsigned language, const struct cn_code_module *module,
                        const struct cn_code_file *file)
{
    return (language == CN_CODE_RUBY || language == CN_CODE_PHP) &&
           module->language == language && !file->path[0];
}

/* What an interpreter does in its own name: stubs of HotSpot, collections of garbage of V8. */
static bool is_runtime_name(unsigned language, bool is_in_go, const char *name)
{
    /* A frame of an interpreter that could not be read. */
    if (language >= CN_CODE_PYTHON && language != CN_CODE_KERNEL && is_unnamed(name))
        return true;
    switch (language) {
    case CN_CODE_ASSEMBLY:
        return is_in_go && is_go_runtime(name);
    case CN_CODE_GO:
        return is_go_runtime(name);
    case CN_CODE_JAVA:
        return name[0] == '[';
    case CN_CODE_JAVASCRIPT:
        return name[0] == '(' && name[strlen(name) - 1] == ')' &&
               strcmp(name, "(anonymous)") != 0;
    case CN_CODE_PYTHON:
        return cn_begins_with(name, "<frozen ");
    case CN_CODE_ERLANG:
        return cn_begins_with(name, "global::");
    default:
        return false;
    }
}

/* What is not even known to be in a module says nothing. */
static uint8_t work_of(const struct cn_code_class *code,
                       const struct cn_code_module *module, const char *name)
{
    if (code->kind == CN_CODE_MINE && !module->path[0] && is_unnamed(name))
        return CN_WORK_UNKNOWN;
    return cn_code_work_of((enum cn_code_kind)code->kind, name_begin(name));
}

static bool is_mine(const struct code_table *t, const struct cn_code_module *module,
                    const struct cn_code_file *file, const char *name)
{
    return (module->path[0] &&
            (cn_name_filter_matches(t->mine, module->path) ||
             cn_name_filter_matches(t->mine, cn_path_name(module->path)))) ||
           (file->path[0] &&
            (cn_name_filter_matches(t->mine, file->path) ||
             cn_name_filter_matches(t->mine, cn_path_name(file->path)))) ||
           (name[0] && cn_name_filter_matches(t->mine, name));
}

static struct cn_code_class decide(const struct code_table *t,
                                   const struct cn_code_module *module,
                                   const struct cn_code_file *file, const char *name)
{
    uint8_t language = (uint8_t)language_of(module, file, name);
    bool is_native = language < CN_CODE_PYTHON;
    enum reason reason = BY_DEFAULT;
    enum cn_code_kind kind = CN_CODE_MINE;

    if (t->mine->count > 0 && is_mine(t, module, file, name))
        return (struct cn_code_class){.language = language, .reason = BY_PATTERN};
    if (language == CN_CODE_KERNEL) {
        kind = CN_CODE_OF_KERNEL;
        reason = BY_KERNEL;
    } else if (is_start(name)) {
        kind = CN_CODE_STARTUP;
        reason = BY_START;
    } else if (is_runtime_name(language, module->is_go, name)) {
        kind = CN_CODE_RUNTIME;
        reason = BY_RUNTIME_NAME;
    } else if (module->is_go && language == CN_CODE_ASSEMBLY && !file->path[0]) {
        kind =
            CN_CODE_RUNTIME; /* memeqbody and the like: the packages of others have dots */
        reason = BY_RUNTIME_NAME;
    } else if (is_native && module->is_interpreter) {
        kind = CN_CODE_RUNTIME;
        reason = BY_INTERPRETER;
    } else if (file->is_package) {
        kind = CN_CODE_LIBRARY;
        reason = BY_PACKAGE;
    } else if (is_standard_library(language, name) ||
               is_built_in(language, module, file)) {
        kind = CN_CODE_LIBRARY;
        reason = BY_STANDARD_LIBRARY;
    } else if (cn_ends_with(name, "@plt") || strcmp(file->path, CN_LIBRARY_CALL) == 0) {
        kind = CN_CODE_LIBRARY;
        reason = BY_LINKAGE;
    } else if (file->is_system) {
        kind = CN_CODE_LIBRARY;
        reason = BY_SYSTEM_SOURCE;
    } else if (module->is_program) {
        reason = BY_PROGRAM;
    } else if (module->is_system && language != CN_CODE_ERLANG) {
        kind = CN_CODE_LIBRARY;
        reason = BY_SYSTEM_MODULE;
    }
    if (t->mine->count > 0 && kind == CN_CODE_MINE) {
        kind = CN_CODE_LIBRARY;
        reason = BY_NO_PATTERN;
    }
    return (struct cn_code_class){
        .language = language, .kind = (uint8_t)kind, .reason = (uint8_t)reason};
}

/* The package of a name that has one: "net/http" of Go, "java.util" of Java, the crate of Rust. */
static bool add_name_package(unsigned language, const char *name, struct cn_text *out)
{
    const char *end = name;

    switch (language) {
    case CN_CODE_GO:
        end = strrchr(name, '/');
        end = (end ? end : name) + strcspn(end ? end : name, ".");
        break;
    case CN_CODE_JAVA:
        /* Packages are in lower case. */
        for (const char *at = name; *at; at++)
            if (*at == '.' && at[1] >= 'A' && at[1] <= 'Z') {
                end = at;
                break;
            }
        break;
    case CN_CODE_RUST:
        name = rust_path(name_begin(name));
        end = strstr(name, "::");
        break;
    case CN_CODE_CPP:
        if (!is_standard_library(language, name))
            return false;
        cn_text_str_add(out, "std");
        return true;
    case CN_CODE_PYTHON:
    case CN_CODE_JAVASCRIPT:
    case CN_CODE_RUBY:
    case CN_CODE_PHP:
    case CN_CODE_PERL:
    case CN_CODE_ERLANG:
        cn_text_str_add(out, cn_code_language_name(language));
        return true;
    default:
        return false;
    }
    if (!end || end == name)
        return false;
    cn_text_add(out, name, (size_t)(end - name));
    return true;
}

static uint32_t library_of(struct code_table *t, const struct cn_code_class *code,
                           const struct cn_code_module *module,
                           const struct cn_code_file *file, const char *name)
{
    bool is_named = code->language == CN_CODE_GO || code->language == CN_CODE_RUST ||
                    code->language == CN_CODE_JAVA; /* names begin with the package */
    struct cn_text text = {0};

    if (code->kind == CN_CODE_OF_KERNEL)
        cn_text_str_add(&text, "kernel");
    else if (code->kind != CN_CODE_LIBRARY ||
             !((is_named && add_name_package(code->language, name, &text)) ||
               cn_code_add_package(file->path, &text) ||
               add_name_package(code->language, name, &text)))
        cn_text_str_add(&text, cn_path_name(module->path));
    uint32_t number = cn_names_add(&t->out->libraries, cn_text_str(&text));
    cn_text_done(&text);
    return number;
}

static const struct cn_code_module *module_at(const struct code_table *t, uint32_t index)
{
    static const struct cn_code_module unknown = {.path = ""};

    return index < t->db->module_count ? &t->modules[index] : &unknown;
}

static const struct cn_code_file *file_at(const struct code_table *t, uint32_t index)
{
    static const struct cn_code_file unknown = {.path = ""};

    return index < t->db->file_count ? &t->files[index] : &unknown;
}

static bool describe(struct code_table *t, struct cn_error *err)
{
    struct cn_database *db = t->db;

    t->modules = cn_alloc(db->module_count, sizeof(*t->modules));
    t->files = cn_alloc(db->file_count, sizeof(*t->files));
    for (uint32_t i = 0; i < db->module_count; i++) {
        struct cn_module module;

        if (!cn_database_module(db, i, &module, err))
            return false;
        cn_code_module_init(&t->modules[i], module.path);
    }
    for (uint32_t i = 0; i < db->file_count; i++) {
        struct cn_source_file file;

        if (!cn_database_file(db, i, &file, err))
            return false;
        cn_code_file_init(&t->files[i], file.path);
    }
    return true;
}

/* What the functions of a module say about it. */
static bool note_functions(struct code_table *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->db->function_count; i++) {
        struct cn_function function;
        struct cn_code_module *module;

        if (!cn_database_function(t->db, i, &function, err))
            return false;
        if (function.module >= t->db->module_count)
            continue;
        module = &t->modules[function.module];
        module->is_program |=
            strcmp(function.name, "main") == 0 || strcmp(function.name, "_start") == 0;
        module->is_go |= is_go_mark(function.name) ||
                         file_at(t, function.file)->language == CN_CODE_GO;
        module->is_rust |= has_rust_marks(name_begin(function.name)) ||
                           file_at(t, function.file)->language == CN_CODE_RUST;
    }
    /* The loader has a _start of its own, and some libraries a main(). */
    for (uint32_t i = 0; i < t->db->module_count; i++)
        t->modules[i].is_program &= !cn_code_is_shared_library(t->modules[i].path) &&
                                    !t->modules[i].is_interpreter;
    return true;
}

static bool decide_all(struct code_table *t, struct cn_error *err)
{
    struct cn_codes *out = t->out;

    out->function_count = t->db->function_count;
    out->module_count = t->db->module_count;
    out->of_function = cn_alloc(out->function_count, sizeof(*out->of_function));
    out->of_module = cn_alloc(out->module_count, sizeof(*out->of_module));
    for (uint32_t i = 0; i < out->module_count; i++) {
        const struct cn_code_module *module = module_at(t, i);

        out->of_module[i] = decide(t, module, file_at(t, CN_NONE), "");
        out->of_module[i].work = work_of(&out->of_module[i], module, "");
        out->of_module[i].library =
            library_of(t, &out->of_module[i], module, file_at(t, CN_NONE), "");
    }
    for (uint32_t i = 0; i < out->function_count; i++) {
        struct cn_function function;

        if (!cn_database_function(t->db, i, &function, err))
            return false;
        const struct cn_code_module *module = module_at(t, function.module);
        const struct cn_code_file *file = file_at(t, function.file);
        out->of_function[i] = decide(t, module, file, function.name);
        out->of_function[i].work = work_of(&out->of_function[i], module, function.name);
        out->of_function[i].library =
            library_of(t, &out->of_function[i], module, file, function.name);
    }
    return true;
}

bool cn_codes_build(struct cn_codes *out, struct cn_database *db,
                    const struct cn_name_filter *mine, struct cn_error *err)
{
    static const struct cn_name_filter none = {0};
    struct code_table t = {.db = db, .out = out, .mine = mine ? mine : &none};

    *out = (struct cn_codes){0};
    (void)cn_names_add(&out->libraries, ""); /* of what is not known */
    bool ok = describe(&t, err) && note_functions(&t, err) && decide_all(&t, err);
    free(t.modules);
    free(t.files);
    if (!ok)
        cn_codes_done(out);
    return ok;
}

void cn_codes_done(struct cn_codes *codes)
{
    free(codes->of_function);
    free(codes->of_module);
    cn_names_done(&codes->libraries);
    *codes = (struct cn_codes){0};
}

const struct cn_code_class *cn_codes_find(const struct cn_codes *codes, uint32_t function,
                                          uint32_t module)
{
    static const struct cn_code_class unknown = {0};

    if (function < codes->function_count)
        return &codes->of_function[function];
    return module < codes->module_count ? &codes->of_module[module] : &unknown;
}

const struct cn_code_class *cn_codes_of(const struct cn_codes *codes,
                                        const struct cn_context *context)
{
    return cn_codes_find(codes, context->has_function ? context->function : CN_NONE,
                         context->has_point ? context->module : CN_NONE);
}
