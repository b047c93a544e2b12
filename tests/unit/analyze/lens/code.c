/* Whose code functions are, and their languages, as real programs have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lens/code.h"
#include "base/name_filter.h"
#include "model/contexts/memory.h"

struct known {
    const char *name, *module, *file; /* "" if unknown */
    const char *language, *kind;
    const char *library; /* NULL: not compared */
};

static const struct known functions[] = {
    /* A program of C. */
    {"main", "/home/me/app", "/home/me/src/app.c", "c", "mine", "app"},
    {"G1Spot", "/home/me/app", "/home/me/src/app.c", "c", "mine", NULL},
    {"_start", "/home/me/app", "", "c", "startup", NULL},
    {"_dl_start", "/lib64/ld-linux-x86-64.so.2", "", "c", "startup", NULL},
    {"malloc@plt", "/home/me/app", "", "c", "library", NULL},
    {"__libc_start_main@@GLIBC_2.34", "/usr/lib/libc.so.6", "", "c", "startup", NULL},
    {"__libc_start_call_main", "/usr/lib/libc.so.6", "../sysdeps/x.h", "c", "startup",
     NULL},
    {"malloc", "/usr/lib/libc.so.6", "./malloc/malloc.c", "c", "library", "libc.so.6"},
    {"libc.so.6+0x27200", "/usr/lib/libc.so.6", "", "unknown", "library", NULL},
    {"clone3", "/lib/x86_64-linux-gnu/libc.so.6", "clone3.S", "assembly", "startup",
     NULL},
    {"do_syscall_64", "[kernel.kallsyms]", "", "kernel", "kernel", "kernel"},
    {"ext4_readdir", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz", "", "kernel", "kernel",
     NULL},
    {"__vdso_clock_gettime", "[vdso]", "", "unknown", "library", NULL},
    {"helper", "/home/me/libown.so", "", "c", "mine", NULL},
    {"uncompress", "libz.so.1", "", "c", "library", NULL},
    {"dgemm_", "/opt/blas/libblas.so", "/opt/blas/dgemm.f", "fortran", "mine", NULL},
    {"[unknown]", "", "", "unknown", "mine", ""},
    /* C++. */
    {"Shop::sell(int)", "/home/me/app", "/home/me/src/shop.cpp", "c++", "mine", NULL},
    {"std::vector<int>::push_back(int&&)", "/home/me/app",
     "/usr/include/c++/12/bits/stl_vector.h", "c++", "library", "std"},
    {"void std::sort<int*>(int*, int*)", "/home/me/app", "", "c++", "library", "std"},
    {"void my::sort<std::vector<int> >(int*)", "/home/me/app", "", "c++", "mine", NULL},
    {"operator new(unsigned long)", "/usr/lib/libstdc++.so.6", "", "c++", "library",
     NULL},
    {"execute_native_thread_routine", "/usr/lib/libstdc++.so.6", "", "c", "startup",
     NULL},
    /* Rust. */
    {"shop::sell", "/home/me/rapp", "/home/me/src/main.rs", "rust", "mine", NULL},
    {"core::fmt::write", "/home/me/rapp", "/rustc/90b3/library/core/src/fmt/mod.rs",
     "rust", "library", "core"},
    {"serde_json::de::from_str", "/home/me/rapp",
     "/home/me/.cargo/registry/src/index.crates.io-6f17/serde_json-1.0/src/de.rs", "rust",
     "library", "serde_json"},
    {"std::rt::lang_start::{{closure}}", "/home/me/rapp", "", "rust", "startup", NULL},
    {"<shop::Till as core::ops::Drop>::drop", "/home/me/rapp", "", "rust", "mine", NULL},
    {"<u64 as core::cmp::PartialOrd>::lt", "/home/me/rapp", "", "rust", "library",
     "core"},
    {"<f64>::sqrt", "/home/me/rapp", "", "rust", "library", "core"},
    {"<T as core::convert::Into<U>>::into", "/home/me/rapp", "", "rust", "library",
     "core"},
    {"<&dyn core::ops::Fn<(), Output = i32> + core::marker::Sync as "
     "core::ops::FnOnce<()>>::call_once",
     "/home/me/rapp", "", "rust", "library", "core"},
    {"<alloc::vec::Vec<shop::Till> as core::ops::Drop>::drop", "/home/me/rapp", "",
     "rust", "library", "alloc"},
    {"<u64 as shop::Price>::total", "/home/me/rapp", "", "rust", "mine", NULL},
    {"<alloc::boxed::Box<dyn core::ops::Fn() -> u8> as shop::Price>::total",
     "/home/me/rapp", "", "rust", "mine", NULL},
    {"<&mut [shop::Till] as core::fmt::Debug>::fmt", "/home/me/rapp", "", "rust", "mine",
     NULL},
    {"<shop::Till>::open", "/home/me/rapp", "", "rust", "mine", NULL},
    {"<::{{closure}}", "/home/me/rapp", "", "rust", "mine", NULL},
    /* Go. */
    {"main.main", "/home/me/gapp", "/home/me/shop/main.go", "go", "mine", NULL},
    {"runtime.mallocgc", "/home/me/gapp", "/usr/local/go/src/runtime/malloc.go", "go",
     "runtime", NULL},
    {"runtime.goexit.abi0", "/home/me/gapp", "/usr/local/go/src/runtime/asm_amd64.s",
     "assembly", "startup", NULL},
    {"runtime.gcBgMarkWorker", "/home/me/gapp", "/usr/local/go/src/runtime/mgc.go", "go",
     "runtime", NULL},
    {"runtime.systemstack", "/home/me/gapp", "/usr/local/go/src/runtime/asm_amd64.s",
     "assembly", "runtime", NULL},
    {"created by runtime.gcenable", "/home/me/gapp", "/usr/local/go/src/runtime/mgc.go",
     "go", "runtime", NULL},
    {"net/http.(*conn).serve", "/home/me/gapp", "", "go", "library", "net/http"},
    {"github.com/lib/pq.(*conn).query", "/home/me/gapp",
     "/home/me/go/pkg/mod/github.com/lib/pq@v1/conn.go", "go", "library",
     "github.com/lib/pq"},
    {"memeqbody", "/home/me/gapp", "", "assembly", "runtime", NULL},
    /* Python. */
    {"count", "[python]", "/home/me/words.py", "python", "mine", NULL},
    {"<module>", "[python]", "/home/me/words.py", "python", "mine", NULL},
    {"dot", "[python]", "/home/me/.venv/lib/python3.11/site-packages/numpy/core.py",
     "python", "library", "numpy"},
    {"dumps", "[python]", "/usr/lib/python3.11/json/__init__.py", "python", "library",
     "python"},
    {"_find_and_load", "[python]", "<frozen importlib._bootstrap>", "python", "library",
     NULL},
    {"_PyEval_EvalFrameDefault", "/usr/bin/python3.11", "", "c", "runtime", "python3.11"},
    {"Py_FinalizeEx", "/usr/bin/python3.11", "", "c", "runtime", NULL},
    {"PyGC_Collect", "/usr/bin/python3.11", "", "c", "runtime", NULL},
    {"PyObject_Call", "/home/me/.pyenv/lib/libpython3.12.so.1.0", "", "c", "runtime",
     NULL},
    {"py::work:/a.py", "", "", "python", "mine", NULL},
    /* Java. */
    {"com.acme.Shop.sell", "[java]", "Shop.java", "java", "mine", NULL},
    {"java.util.HashMap.get", "[java]", "HashMap.java", "java", "library", "java.util"},
    {"[call_stub]", "[java]", "", "java", "runtime", NULL},
    {"[compile com.acme.Shop.sell]", "[java]", "Shop.java", "java", "runtime", NULL},
    {"CompileBroker::compiler_thread_loop()", "/usr/lib/jvm/java-17/lib/server/libjvm.so",
     "", "c++", "runtime", NULL},
    {"GangWorker::run()", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "", "c++",
     "runtime", NULL},
    {"JavaCalls::call_helper(JavaValue*)", "/usr/lib/jvm/java-17/lib/server/libjvm.so",
     "", "c++", "runtime", NULL},
    /* JavaScript. */
    {"sell", "[javascript]", "/home/me/app.js", "javascript", "mine", NULL},
    {"parse", "[javascript]", "/home/me/node_modules/@babel/core/lib/index.js",
     "javascript", "library", "@babel/core"},
    {"readSync", "[javascript]", "node:fs", "javascript", "library", "javascript"},
    {"(garbage collector)", "[javascript]", "", "javascript", "runtime", NULL},
    {"(anonymous)", "[javascript]", "/home/me/app.js", "javascript", "mine", NULL},
    {"v8::internal::Heap::CollectGarbage(int)", "/usr/bin/node", "", "c++", "runtime",
     NULL},
    {"v8::internal::Heap::Scavenge()", "/usr/bin/node", "", "c++", "runtime", NULL},
    /* Others. */
    {"Shop#sell", "[ruby]", "/home/me/shop.rb", "ruby", "mine", NULL},
    {"rb_vm_exec", "/usr/lib/libruby-3.1.so.3.1", "", "c", "runtime", NULL},
    {"Integer#times", "[ruby]", "", "ruby", "library", NULL},
    {"usort", "[php]", "", "php", "library", NULL},
    {"shop:total/1", "[native]", "shop.erl", "erlang", "mine", NULL},
    {"maps:update_with/4", "[native]", "maps.erl", "erlang", "library", NULL},
    {"logger_server:init/1", "[native]", "logger_server.erl", "erlang", "library", NULL},
    {"global::garbage_collect", "[native]", "", "erlang", "runtime", NULL},
    {"erts_beamasm:normal_exit/0", "[native]", "", "erlang", "startup", NULL},
    {"erts_schedule", "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "", "c", "runtime",
     NULL},
    {"Kernel#require", "[ruby]", "<internal:gem_prelude>", "ruby", "library", NULL},
    {"php_module_startup", "/usr/bin/php8.2", "", "c", "runtime", NULL},
    {"zend_execute", "/usr/bin/php8.2", "", "c", "runtime", NULL},
    {"Perl_runops_standard", "/usr/bin/perl", "", "c", "runtime", NULL},
    /* FlameGraph's text. */
    {"sys_read_[k]", "", "", "kernel", "kernel", NULL},
};
enum { COUNT = sizeof(functions) / sizeof(functions[0]) };

/* Each path once. */
struct paths {
    const char *list[2 * COUNT];
    uint32_t count;
};

static uint32_t find(const struct paths *paths, const char *path)
{
    uint32_t i = 0;

    while (i < paths->count && strcmp(paths->list[i], path) != 0)
        i++;
    return i;
}

static struct cn_database *make_database(void)
{
    struct cn_memory_database *m = cn_memory_database_new("codes", "");
    struct paths modules = {0}, files = {0};

    for (size_t i = 0; i < COUNT; i++) {
        const struct known *f = &functions[i];
        uint32_t module = find(&modules, f->module), file = find(&files, f->file);

        if (*f->module && module == modules.count) {
            modules.list[modules.count++] = f->module;
            (void)cn_memory_database_add_module(m, f->module);
        }
        if (*f->file && file == files.count) {
            files.list[files.count++] = f->file;
            (void)cn_memory_database_add_file(m, f->file, false);
        }
        (void)cn_memory_database_add_function(
            m, (struct cn_function){.name = f->name,
                                    .module = *f->module ? module : CN_NONE,
                                    .file = *f->file ? file : CN_NONE});
    }
    return cn_memory_database_finish(m);
}

static void functions_have_the_language_and_kind_that_users_expect(void **state)
{
    struct cn_database *db = make_database();
    struct cn_codes codes;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_codes_build(&codes, db, NULL, &err));
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct cn_code_class *code = cn_codes_find(&codes, i, CN_NONE);
        const char *language = cn_code_language_name(code->language);
        const char *kind = cn_code_kind_name(code->kind);
        const char *library = codes.libraries.list[code->library];

        if (strcmp(language, functions[i].language) != 0 ||
            strcmp(kind, functions[i].kind) != 0)
            fail_msg("%s is %s and %s (%s), not %s and %s", functions[i].name, language,
                     kind, cn_code_reason(code), functions[i].language,
                     functions[i].kind);
        if (functions[i].library && strcmp(library, functions[i].library) != 0)
            fail_msg("%s is of '%s', not of '%s'", functions[i].name, library,
                     functions[i].library);
    }
    cn_codes_done(&codes);
    cn_database_close(db);
}

static void patterns_replace_the_rule(void **state)
{
    struct cn_database *db = make_database();
    struct cn_name_filter mine = {0};
    struct cn_codes codes;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_name_filter_add(&mine, "libz*", CN_MATCH_GLOB, &err));
    assert_true(cn_name_filter_add(&mine, "*/words.py", CN_MATCH_GLOB, &err));
    assert_true(cn_name_filter_add(&mine, "com.acme.*", CN_MATCH_GLOB, &err));
    assert_true(cn_codes_build(&codes, db, &mine, &err));
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct known *f = &functions[i];
        bool is_mine = strcmp(f->module, "libz.so.1") == 0 ||
                       strcmp(f->file, "/home/me/words.py") == 0 ||
                       strncmp(f->name, "com.acme.", 9) == 0;

        if ((cn_codes_find(&codes, i, CN_NONE)->kind == CN_CODE_MINE) != is_mine)
            fail_msg("%s", f->name);
    }
    assert_string_equal(cn_code_reason(cn_codes_find(&codes, 0, CN_NONE)),
                        "matches no pattern of one's own code");
    cn_codes_done(&codes);
    cn_name_filter_done(&mine);
    cn_database_close(db);
}

/* Paths, the outermost function first, and what they are for. */
static const struct {
    const char *functions[4];
    unsigned work;
} paths[] = {
    {{"_start", "main"}, CN_WORK_PROGRAM},
    {{"_start", "__libc_start_main@@GLIBC_2.34"}, CN_WORK_UNKNOWN},
    {{"_dl_start", "do_syscall_64"}, CN_WORK_START},
    {{"malloc", "do_syscall_64"}, CN_WORK_LIBRARY},
    {{"do_syscall_64"}, CN_WORK_KERNEL},
    {{"[unknown]"}, CN_WORK_UNKNOWN},
    {{"clone3", "JavaCalls::call_helper(JavaValue*)", "com.acme.Shop.sell"},
     CN_WORK_PROGRAM},
    {{"clone3", "JavaCalls::call_helper(JavaValue*)", "java.util.HashMap.get"},
     CN_WORK_RUNTIME},
    {{"clone3", "CompileBroker::compiler_thread_loop()"}, CN_WORK_COMPILER},
    {{"[compile com.acme.Shop.sell]", "malloc"}, CN_WORK_COMPILER},
    {{"clone3", "GangWorker::run()", "malloc"}, CN_WORK_COLLECTOR},
    /* The program collects its garbage itself; run-times stop it at their end. */
    {{"sell", "v8::internal::Heap::CollectGarbage(int)"}, CN_WORK_PROGRAM},
    {{"Py_FinalizeEx", "PyGC_Collect"}, CN_WORK_START},
    {{"PyObject_Call", "<module>", "_PyEval_EvalFrameDefault"}, CN_WORK_PROGRAM},
    {{"php_module_startup", "malloc"}, CN_WORK_START},
    {{"runtime.goexit.abi0", "runtime.gcBgMarkWorker"}, CN_WORK_COLLECTOR},
    {{"erts_beamasm:normal_exit/0", "maps:update_with/4", "shop:total/1"},
     CN_WORK_PROGRAM},
    {{"global::garbage_collect", "erts_schedule"}, CN_WORK_COLLECTOR},
    /* A function of a program that is named as one of a run-time. */
    {{"_start", "G1Spot"}, CN_WORK_PROGRAM},
};

static unsigned work_of_path(const struct cn_codes *codes, const char *const *path)
{
    uint8_t work = CN_WORK_UNKNOWN;

    for (size_t i = 0; i < 4 && path[i]; i++) {
        uint32_t at = 0;

        while (at < COUNT && strcmp(functions[at].name, path[i]) != 0)
            at++;
        if (at == COUNT)
            fail_msg("no function %s", path[i]);
        work = cn_code_work_below(work, cn_codes_find(codes, at, CN_NONE)->work);
    }
    return work;
}

static void paths_are_for_the_program_or_its_run_time(void **state)
{
    struct cn_database *db = make_database();
    struct cn_codes codes;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_codes_build(&codes, db, NULL, &err));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        unsigned work = work_of_path(&codes, paths[i].functions);

        if (work != paths[i].work)
            fail_msg("path %zu, %s: %s, not %s", i, paths[i].functions[0],
                     cn_code_work_name(work), cn_code_work_name(paths[i].work));
    }
    cn_codes_done(&codes);
    cn_database_close(db);
}

static void what_is_unknown_is_in_no_language(void **state)
{
    struct cn_database *db = make_database();
    struct cn_codes codes;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_codes_build(&codes, db, NULL, &err));
    const struct cn_code_class *code = cn_codes_find(&codes, CN_NONE, CN_NONE);
    assert_int_equal(code->kind, CN_CODE_MINE);
    assert_int_equal(code->language, CN_CODE_UNKNOWN);
    assert_string_equal(codes.libraries.list[code->library], "");
    assert_int_equal(cn_code_kind_find("nothing"), CN_CODE_KINDS);
    assert_int_equal(cn_code_language_find("python"), CN_CODE_PYTHON);
    cn_codes_done(&codes);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_the_language_and_kind_that_users_expect),
        cmocka_unit_test(patterns_replace_the_rule),
        cmocka_unit_test(paths_are_for_the_program_or_its_run_time),
        cmocka_unit_test(what_is_unknown_is_in_no_language),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
