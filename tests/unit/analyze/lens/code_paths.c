/* What paths say about code, before names of functions are looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lens/code.h"
#include "analyze/lens/code_paths.h"
#include "base/list.h"
#include "base/text.h"

static void modules_are_known_by_their_paths(void **state)
{
    static const struct {
        const char *path, *language;
        bool is_system, is_interpreter, is_kernel;
    } modules[] = {
        {"/home/me/app", "unknown", false, false, false},
        {"/home/me/libown.so", "unknown", false, false, false},
        {"libz.so.1", "unknown", true, false, false}, /* without a folder */
        {"/usr/lib/libc.so.6", "unknown", true, false, false},
        {"[vdso]", "unknown", true, false, false},
        {"[kernel.kallsyms]", "kernel", false, false, true},
        {"/home/me/ext4.ko.xz", "kernel", false, false, true},
        {"[python]", "python", false, false, false},
        {"[unheard-of]", "unknown", false, false, false},
        {"[java", "java", false, false, false},
        {"/home/me/.pyenv/lib/libpython3.12.so.1.0", "unknown", false, true, false},
        {"/usr/bin/python3.11", "unknown", true, true, false},
        {"/home/me/python3_tool.py", "unknown", false, false, false},
        {"", "unknown", false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < CN_COUNT_OF(modules); i++) {
        struct cn_code_module module;

        cn_code_module_init(&module, modules[i].path);
        if (strcmp(cn_code_language_name(module.language), modules[i].language) != 0 ||
            module.is_system != modules[i].is_system ||
            module.is_interpreter != modules[i].is_interpreter ||
            module.is_kernel != modules[i].is_kernel)
            fail_msg("%s: %s%s%s%s", modules[i].path,
                     cn_code_language_name(module.language),
                     module.is_system ? ", of the system" : "",
                     module.is_interpreter ? ", interpreter" : "",
                     module.is_kernel ? ", kernel" : "");
        assert_false(module.is_program || module.is_go || module.is_rust);
    }
}

static void files_are_known_by_their_paths(void **state)
{
    static const struct {
        const char *path, *language, *package; /* NULL: in no folder of packages */
        bool is_header, is_system, is_package;
    } files[] = {
        {"/home/me/app.c", "c", NULL, false, false, false},
        {"/home/me.c/app", "unknown", NULL, false, false, false},
        {"/home/me/app.h", "unknown", NULL, true, false, false},
        {"/usr/include/c++/12/vector", "c++", NULL, false, true, false},
        {"/home/me/x/site-packages/numpy/core/x.py", "python", "numpy", false, false,
         true},
        {"/a/node_modules/b/node_modules/@babel/core/i.js", "javascript", "@babel/core",
         false, false, true},
        {"node:fs", "javascript", NULL, false, false, true},
        {"<frozen importlib._bootstrap>", "unknown", NULL, false, false, true},
        {"/usr/local/go/src/fmt/print.go", "go", NULL, false, true, true},
        {"/home/me/go/src/github.com/me/app/main.go", "go", NULL, false, false, false},
        {"", "unknown", NULL, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < CN_COUNT_OF(files); i++) {
        struct cn_code_file file;
        struct cn_text package = {0};

        cn_code_file_init(&file, files[i].path);
        if (strcmp(cn_code_language_name(file.language), files[i].language) != 0 ||
            file.is_header != files[i].is_header ||
            file.is_system != files[i].is_system ||
            file.is_package != files[i].is_package)
            fail_msg("%s: %s%s%s%s", files[i].path, cn_code_language_name(file.language),
                     file.is_header ? ", header" : "",
                     file.is_system ? ", of the system" : "",
                     file.is_package ? ", of a package" : "");
        assert_int_equal(cn_code_add_package(files[i].path, &package),
                         files[i].package != NULL);
        assert_string_equal(cn_text_str(&package),
                            files[i].package ? files[i].package : "");
        cn_text_done(&package);
    }
}

static void shared_libraries_are_known_by_their_names(void **state)
{
    (void)state;
    assert_true(cn_code_is_shared_library("/opt/x/libz.so.1.2"));
    assert_true(cn_code_is_shared_library("/lib64/ld-linux-x86-64.so.2"));
    assert_false(cn_code_is_shared_library("/home/libx.so/app"));
    assert_false(cn_code_is_shared_library(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_known_by_their_paths),
        cmocka_unit_test(files_are_known_by_their_paths),
        cmocka_unit_test(shared_libraries_are_known_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
