/* What the paths of modules and of source files say about the code in them: its language, and
 * whether it is of the system, of a package, of an interpreter or of the kernel.
 *
 * Paths are borrowed. Threads: any thread.
 */
#ifndef CN_ANALYZE_LENS_CODE_PATHS_H
#define CN_ANALYZE_LENS_CODE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_text;

struct cn_code_module {
    const char *path; /* "" if unknown */
    uint8_t language; /* of all its functions: "[python]", "[kernel.kallsyms]" */
    bool is_system, is_interpreter, is_kernel;
    /* What its functions add: */
    bool is_program; /* it has main() */
    bool is_go, is_rust;
};

struct cn_code_file {
    const char *path;
    uint8_t language; /* by its ending */
    bool is_header;   /* of C or C++ */
    bool is_system, is_package;
};

/* What the path alone says; what functions add is false. */
void cn_code_module_init(struct cn_code_module *out, const char *path);
void cn_code_file_init(struct cn_code_file *out, const char *path);

/* By the name of the file, in any folder. */
bool cn_code_is_shared_library(const char *path);

/* "numpy" of ".../site-packages/numpy/core/x.py", "@babel/core" of ".../node_modules/@babel/core/..".
 * False, and nothing is added: it is in no folder of packages. */
bool cn_code_add_package(const char *path, struct cn_text *out);

#endif
