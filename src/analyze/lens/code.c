#include "analyze/lens/code.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool begins_with_any(const char *text, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins_with(text, starts[i]))
            return true;
    return false;
}

static bool matches_any(const char *text, const char *const *globs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], text, 0) == 0)
            return true;
    return false;
}

#define BEGINS_WITH_ANY(text, list) begins_with_any(text, list, CN_COUNT_OF(list))
#define MATCHES_ANY(text, list)     matches_any(text, list, CN_COUNT_OF(list))

/* What is known of a module before its functions are looked at, and what they add. */
struct code_module {
    const char *path; /* "" if unknown */
    uint8_t language; /* of all its functions: "[python]", "[kernel.kallsyms]" */
    bool is_system, is_interpreter, is_kernel;
    bool is_program; /* it has main() */
    bool is_go, is_rust;
};

struct code_file {
    const char *path;
    uint8_t language; /* by its ending */
    bool is_header;   /* of C or C++ */
    bool is_system, is_package;
};

struct code_table {
    struct cn_database *db;
    struct cn_codes *out;
    const struct cn_name_filter *mine;
    struct code_module *modules;
    struct code_file *files;
};

static bool is_below_system(const char *path)
{
    static const char *const folders[] = {"/usr/",  "/lib/",       "/lib32/",
                                          "/lib64", "/bin/",       "/sbin/",
                                          "/snap/", "/nix/store/", "/gnu/store/"};

    return BEGINS_WITH_ANY(path, folders);
}

static bool is_kernel_module(const char *path)
{
    static const char *const globs[] = {"[[]kernel*",  "[[]guest.kernel*", "*.ko",
                                        "*.ko.[gxz]*", "*vmlinux*",        "[[]*.ko]",
                                        "[[]bpf*",     "bpf_prog_*"};

    return MATCHES_ANY(path, globs);
}

/* By the name of the file, in any folder: interpreters are often not those of the system. */
static bool is_interpreter(const char *path)
{
    static const char *const globs[] = {"libpython[23]*.so*",
                                        "python",
                                        "python[23]*",
                                        "pypy*",
                                        "libpypy*",
                                        "libjvm.so",
                                        "libjli.so",
                                        "java",
                                        "node",
                                        "nodejs",
                                        "libnode.so*",
                                        "libv8*.so*",
                                        "deno",
                                        "ruby",
                                        "ruby[0-9]*",
                                        "libruby*.so*",
                                        "php",
                                        "php[0-9]*",
                                        "php-fpm*",
                                        "libphp*.so*",
                                        "perl",
                                        "perl5*",
                                        "libperl.so*",
                                        "lua",
                                        "lua5*",
                                        "luajit*",
                                        "liblua*.so*",
                                        "libluajit*",
                                        "beam.smp",
                                        "libcoreclr.so",
                                        "libclrjit.so",
                                        "libmono*.so*",
                                        "libjulia*.so*",
                                        "libguile*.so*"};
    const char *name = cn_path_name(path);

    return !cn_ends_with(name, ".py") && MATCHES_ANY(name, globs);
}

static bool is_shared_library(const char *path)
{
    static const char *const globs[] = {"lib*.so*", "ld-*.so*", "ld.so*"};

    return MATCHES_ANY(cn_path_name(path), globs);
}

static void describe_module(struct code_module *out, const char *path)
{
    const char *name = cn_path_name(path);

    out->path = path;
    out->is_kernel = is_kernel_module(path);
    out->is_interpreter = is_interpreter(path);
    /* Without a folder, as in texts of other tools: a shared library is not the program. */
    out->is_system = is_below_system(path) || strcmp(path, "[vdso]") == 0 ||
                     strcmp(path, "[vsyscall]") == 0 ||
                     (name == path && is_shared_library(path));
    if (out->is_kernel) {
        out->language = CN_CODE_KERNEL;
    } else if (path[0] == '[') {
        /* Frames of interpreters have their language as the module. */
        struct cn_text word = {0};
        size_t len = strcspn(path + 1, "]");

        cn_text_add(&word, path + 1, len);
        unsigned found = cn_code_language_find(cn_text_str(&word));
        out->language = (uint8_t)(found < CN_CODE_LANGUAGES ? found : CN_CODE_UNKNOWN);
        cn_text_done(&word);
    }
}

static unsigned language_of_ending(const char *path, bool *is_header)
{
    static const struct {
        const char *ending;
        enum cn_code_language language;
    } endings[] = {
        {".c", CN_CODE_C},
        {".cc", CN_CODE_CPP},
        {".cpp", CN_CODE_CPP},
        {".cxx", CN_CODE_CPP},
        {".c++", CN_CODE_CPP},
        {".C", CN_CODE_CPP},
        {".hpp", CN_CODE_CPP},
        {".hh", CN_CODE_CPP},
        {".hxx", CN_CODE_CPP},
        {".tcc", CN_CODE_CPP},
        {".ipp", CN_CODE_CPP},
        {".inl", CN_CODE_CPP},
        {".cu", CN_CODE_CPP},
        {".rs", CN_CODE_RUST},
        {".go", CN_CODE_GO},
        {".f", CN_CODE_FORTRAN},
        {".F", CN_CODE_FORTRAN},
        {".for", CN_CODE_FORTRAN},
        {".f90", CN_CODE_FORTRAN},
        {".F90", CN_CODE_FORTRAN},
        {".f95", CN_CODE_FORTRAN},
        {".f03", CN_CODE_FORTRAN},
        {".f08", CN_CODE_FORTRAN},
        {".S", CN_CODE_ASSEMBLY},
        {".s", CN_CODE_ASSEMBLY},
        {".asm", CN_CODE_ASSEMBLY},
        {".py", CN_CODE_PYTHON},
        {".pyx", CN_CODE_PYTHON},
        {".java", CN_CODE_JAVA},
        {".kt", CN_CODE_JAVA},
        {".scala", CN_CODE_JAVA},
        {".groovy", CN_CODE_JAVA},
        {".clj", CN_CODE_JAVA},
        {".js", CN_CODE_JAVASCRIPT},
        {".mjs", CN_CODE_JAVASCRIPT},
        {".cjs", CN_CODE_JAVASCRIPT},
        {".ts", CN_CODE_JAVASCRIPT},
        {".tsx", CN_CODE_JAVASCRIPT},
        {".jsx", CN_CODE_JAVASCRIPT},
        {".rb", CN_CODE_RUBY},
        {".php", CN_CODE_PHP},
        {".pl", CN_CODE_PERL},
        {".pm", CN_CODE_PERL},
    };
    const char *dot = strrchr(cn_path_name(path), '.');

    *is_header = dot && strcmp(dot, ".h") == 0;
    for (size_t i = 0; dot && i < CN_COUNT_OF(endings); i++)
        if (strcmp(dot, endings[i].ending) == 0)
            return endings[i].language;
    if (begins_with(path, "node:"))
        return CN_CODE_JAVASCRIPT;
    /* Headers of the standard library of C++ have no ending. */
    return !dot && strstr(path, "/c++/") ? CN_CODE_CPP : CN_CODE_UNKNOWN;
}

/* Folders of packages of each language, wherever they are installed. */
static const char *const package_folders[] = {
    "/site-packages/", "/dist-packages/",       "/node_modules/",
    "/pkg/mod/",       "/.cargo/registry/src/", "/.cargo/git/checkouts/",
    "/gems/",          "/vendor/bundle/",       "/vendor/",
};

static bool is_of_package(const char *path)
{

    static const char *const parts[] = {
        "*/lib/python[23].*/*", "<frozen *",       "node:*",
        "*/lib/ruby/*",         "*/share/perl/*",  "*/lib/perl*/*",
        "/rustc/*/library/*",   "*/rustlib/src/*", "*/go/src/*",
        "*/go-1.[0-9]*/src/*"};

    for (size_t i = 0; i < CN_COUNT_OF(package_folders); i++)
        if (strstr(path, package_folders[i]))
            return true;
    /* Without modules, programs in Go are below a folder named go/src, as its library is. */
    return MATCHES_ANY(path, parts) && !strstr(path, "/go/src/github.com/") &&
           !strstr(path, "/go/src/main/");
}

static void describe_file(struct code_file *out, const char *path)
{
    out->path = path;
    out->language = (uint8_t)language_of_ending(path, &out->is_header);
    out->is_system = is_below_system(path);
    out->is_package = is_of_package(path);
}

/* Where a qualified name begins, after the type of the result: "void std::sort<int>(...)". */
static const char *name_begin(const char *name)
{
    const char *begin = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        if (depth == 0 && begins_with(at, "operator"))
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

    return name[0] == '\0' || begins_with(name, "[unknown]") ||
           (plus && plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0');
}

static bool has_rust_marks(const char *name)
{
    static const char *const starts[] = {
        "core::",    "alloc::",     "<core::", "<alloc::", "__rust_", "rust_begin_unwind",
        "std::rt::", "hashbrown::", "_R"};

    return BEGINS_WITH_ANY(name, starts) || strstr(name, "::{{closure}}") ||
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

static unsigned language_of(const struct code_module *module,
                            const struct code_file *file, const char *name)
{
    static const char *const annotations[] = {"_[k]", "_[i]", "_[j]"}; /* FlameGraph */
    const char *begin = name_begin(name);

    if (module->language != CN_CODE_UNKNOWN)
        return module->language;
    if (cn_ends_with(name, annotations[0]))
        return CN_CODE_KERNEL;
    if (file->language != CN_CODE_UNKNOWN)
        return file->language;
    if (begins_with(name, "py::"))
        return CN_CODE_PYTHON;
    if (is_unnamed(name))
        return CN_CODE_UNKNOWN;
    if (module->is_go && !strstr(name, "::"))
        return strchr(name, '.') ? CN_CODE_GO : CN_CODE_ASSEMBLY;
    if (has_rust_marks(begin) || (module->is_rust && strstr(name, "::")))
        return CN_CODE_RUST;
    if (strstr(name, "::") || strchr(name, '(') || begins_with(name, "_Z") ||
        begins_with(name, "operator"))
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
        "__scrt_common_main*",
        "execute_native_thread_routine"};

    return MATCHES_ANY(name, globs);
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
    static const char *const starts[] = {"runtime.", "runtime/", "internal/runtime/",
                                         "type:.",   "go:",      "gcWriteBarrier"};

    return BEGINS_WITH_ANY(name, starts);
}

static bool is_standard_library(unsigned language, const char *name)
{
    static const char *const cpp[] = {
        "std::", "__gnu_cxx::", "__cxxabiv1::", "operator new", "operator delete"};
    static const char *const rust[] = {"core::",   "alloc::", "std::",   "<core::",
                                       "<alloc::", "<std::",  "__rust_", "rust_"};
    static const char *const java[] = {"java.",    "javax.",   "jdk.",   "sun.",
                                       "com.sun.", "java/",    "javax/", "jdk/",
                                       "sun/",     "com/sun/", "Ljava/"};

    switch (language) {
    case CN_CODE_CPP:
        return BEGINS_WITH_ANY(name_begin(name), cpp);
    case CN_CODE_RUST:
        return BEGINS_WITH_ANY(name_begin(name), rust);
    case CN_CODE_JAVA:
        return BEGINS_WITH_ANY(name, java);
    case CN_CODE_GO:
        return is_go_library(name);
    default:
        return false;
    }
}

/* What an interpreter does in its own name: stubs of HotSpot, collections of garbage of V8. */
static bool is_runtime_name(unsigned language, const char *name)
{
    /* A frame of an interpreter that could not be read. */
    if (language >= CN_CODE_PYTHON && language != CN_CODE_KERNEL && is_unnamed(name))
        return true;
    switch (language) {
    case CN_CODE_GO:
        return is_go_runtime(name);
    case CN_CODE_JAVA:
        return name[0] == '[';
    case CN_CODE_JAVASCRIPT:
        return name[0] == '(' && name[strlen(name) - 1] == ')' &&
               strcmp(name, "(anonymous)") != 0;
    case CN_CODE_PYTHON:
        return begins_with(name, "<frozen ");
    default:
        return false;
    }
}

static bool is_mine(const struct code_table *t, const struct code_module *module,
                    const struct code_file *file, const char *name)
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
                                   const struct code_module *module,
                                   const struct code_file *file, const char *name)
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
    } else if (is_runtime_name(language, name)) {
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
    } else if (is_standard_library(language, name)) {
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
    } else if (module->is_system) {
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

/* "numpy" of ".../site-packages/numpy/core/x.py", "@babel/core" of ".../node_modules/@babel/core/..". */
static bool add_package(const char *path, struct cn_text *out)
{
    for (size_t i = 0; i < CN_COUNT_OF(package_folders); i++) {
        const char *at = strstr(path, package_folders[i]), *name;

        for (const char *next = at; next; next = strstr(next + 1, package_folders[i]))
            at = next; /* packages contain the packages that they need */
        if (!at)
            continue;
        name = at + strlen(package_folders[i]);
        size_t len = strcspn(name, "/");
        if (name[0] == '@' && name[len])
            len += 1 + strcspn(name + len + 1, "/");
        cn_text_add(out, name, len);
        return true;
    }
    return false;
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
        name += strspn(name, "<&");
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
                           const struct code_module *module, const struct code_file *file,
                           const char *name)
{
    bool is_named = code->language == CN_CODE_GO || code->language == CN_CODE_RUST ||
                    code->language == CN_CODE_JAVA; /* names begin with the package */
    struct cn_text text = {0};

    if (code->kind == CN_CODE_OF_KERNEL)
        cn_text_str_add(&text, "kernel");
    else if (code->kind != CN_CODE_LIBRARY ||
             !((is_named && add_name_package(code->language, name, &text)) ||
               add_package(file->path, &text) ||
               add_name_package(code->language, name, &text)))
        cn_text_str_add(&text, cn_path_name(module->path));
    uint32_t number = cn_names_add(&t->out->libraries, cn_text_str(&text));
    cn_text_done(&text);
    return number;
}

static const struct code_module *module_at(const struct code_table *t, uint32_t index)
{
    static const struct code_module unknown = {.path = ""};

    return index < t->db->module_count ? &t->modules[index] : &unknown;
}

static const struct code_file *file_at(const struct code_table *t, uint32_t index)
{
    static const struct code_file unknown = {.path = ""};

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
        describe_module(&t->modules[i], module.path);
    }
    for (uint32_t i = 0; i < db->file_count; i++) {
        struct cn_source_file file;

        if (!cn_database_file(db, i, &file, err))
            return false;
        describe_file(&t->files[i], file.path);
    }
    return true;
}

/* What the functions of a module say about it. */
static bool note_functions(struct code_table *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->db->function_count; i++) {
        struct cn_function function;
        struct code_module *module;

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
        t->modules[i].is_program &=
            !is_shared_library(t->modules[i].path) && !t->modules[i].is_interpreter;
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
        const struct code_module *module = module_at(t, i);

        out->of_module[i] = decide(t, module, file_at(t, CN_NONE), "");
        out->of_module[i].library =
            library_of(t, &out->of_module[i], module, file_at(t, CN_NONE), "");
    }
    for (uint32_t i = 0; i < out->function_count; i++) {
        struct cn_function function;

        if (!cn_database_function(t->db, i, &function, err))
            return false;
        const struct code_module *module = module_at(t, function.module);
        const struct code_file *file = file_at(t, function.file);
        out->of_function[i] = decide(t, module, file, function.name);
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
