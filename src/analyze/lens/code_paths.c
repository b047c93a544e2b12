#include "analyze/lens/code_paths.h"

#include <string.h>

#include "analyze/lens/code.h"
#include "analyze/lens/matches.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"

static bool is_below_system(const char *path)
{
    static const char *const folders[] = {"/usr/",  "/lib/",       "/lib32/",
                                          "/lib64", "/bin/",       "/sbin/",
                                          "/snap/", "/nix/store/", "/gnu/store/"};

    return CN_BEGINS_WITH_ANY(path, folders);
}

static bool is_kernel_module(const char *path)
{
    static const char *const globs[] = {"[[]kernel*",  "[[]guest.kernel*", "*.ko",
                                        "*.ko.[gxz]*", "*vmlinux*",        "[[]*.ko]",
                                        "[[]bpf*",     "bpf_prog_*"};

    return CN_MATCHES_ANY(path, globs);
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

    return !cn_ends_with(name, ".py") && CN_MATCHES_ANY(name, globs);
}

bool cn_code_is_shared_library(const char *path)
{
    static const char *const globs[] = {"lib*.so*", "ld-*.so*", "ld.so*"};

    return CN_MATCHES_ANY(cn_path_name(path), globs);
}

void cn_code_module_init(struct cn_code_module *out, const char *path)
{
    const char *name = cn_path_name(path);

    *out = (struct cn_code_module){.path = path,
                                   .is_kernel = is_kernel_module(path),
                                   .is_interpreter = is_interpreter(path)};
    /* Without a folder, as in texts of other tools: a shared library is not the program. */
    out->is_system = is_below_system(path) || strcmp(path, "[vdso]") == 0 ||
                     strcmp(path, "[vsyscall]") == 0 || strcmp(path, "[native]") == 0 ||
                     (name == path && cn_code_is_shared_library(path));
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
        {".erl", CN_CODE_ERLANG},
        {".hrl", CN_CODE_ERLANG},
    };
    const char *dot = strrchr(cn_path_name(path), '.');

    *is_header = dot && strcmp(dot, ".h") == 0;
    for (size_t i = 0; dot && i < CN_COUNT_OF(endings); i++)
        if (strcmp(dot, endings[i].ending) == 0)
            return endings[i].language;
    if (cn_begins_with(path, "node:"))
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
    static const char *const parts[] = {"*/lib/python[23].*/*", "<frozen *",
                                        "<internal:*",          "node:*",
                                        "*/lib/ruby/*",         "*/share/perl/*",
                                        "*/lib/perl*/*",        "/rustc/*/library/*",
                                        "*/rustlib/src/*",      "*/go/src/*",
                                        "*/go-1.[0-9]*/src/*"};

    for (size_t i = 0; i < CN_COUNT_OF(package_folders); i++)
        if (strstr(path, package_folders[i]))
            return true;
    /* Without modules, programs in Go are below a folder named go/src, as its library is. */
    return CN_MATCHES_ANY(path, parts) && !strstr(path, "/go/src/github.com/") &&
           !strstr(path, "/go/src/main/");
}

void cn_code_file_init(struct cn_code_file *out, const char *path)
{
    *out = (struct cn_code_file){.path = path};
    out->language = (uint8_t)language_of_ending(path, &out->is_header);
    out->is_system = is_below_system(path);
    out->is_package = is_of_package(path);
}

bool cn_code_add_package(const char *path, struct cn_text *out)
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
