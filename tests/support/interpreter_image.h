/* The memory of processes that run PHP, Ruby and Perl, as far as it is read.
 *
 * In each a function of the program was called from C by another, which the program called:
 *
 *     PHP:   {main} > usort > key                      (key: app.php, line 3)
 *     Ruby:  <main> > Text#words > Array#each > block in Text#words
 *     Perl:  main::RUNTIME > main::work > main::key
 *
 * The addresses begin at CN_IMAGE_BASE of python_image.h, whose cn_image_copy() reads them.
 * Threads: immutable.
 */
#ifndef CN_TEST_INTERPRETER_IMAGE_H
#define CN_TEST_INTERPRETER_IMAGE_H

#include "base/text.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/perl.h"
#include "sampler/languages/php.h"
#include "sampler/languages/ruby.h"
#include "support/python_image.h"

enum {
    CN_IMAGE_LOOP = CN_IMAGE_EVAL, /* the function that interprets */
    CN_IMAGE_BODY = 0x720000,      /* Ruby: what it calls for that */
    CN_IMAGE_BODY_END = 0x730000,
    CN_IMAGE_RUN = 0x740000, /* Perl: the function that runs the program */
    CN_IMAGE_RUN_END = 0x741000,
    CN_IMAGE_IN_C = 0x900001,
    CN_IMAGE_KEY_ADDRESS =
        CN_IMAGE_BASE + 0x3000, /* of an instruction of the inner function */
    CN_IMAGE_MAIN_ADDRESS = CN_IMAGE_BASE + 0x3800, /* of the outer one */
};

struct cn_text cn_image_php(uint32_t api);
struct cn_php_place cn_image_php_place(uint32_t api);
struct cn_text cn_image_ruby(uint16_t version);
struct cn_ruby_place cn_image_ruby_place(uint16_t version);
struct cn_text cn_image_perl(uint8_t version);
struct cn_perl_place cn_image_perl_place(uint8_t version);

/* What the kernel would read of an image: `state` is where walks begin. The words are those of
 * `walk`. */
bool cn_image_walk(struct cn_frame_walk *walk, struct cn_memory *memory,
                   const struct cn_frame_table *table, uint64_t state);

/* The state of a thread in the images of Ruby and Perl. */
enum { CN_IMAGE_STATE = CN_IMAGE_BASE + 0x100 };

/* The name of a frame that stands for an address, and its line, as "key:3"; "" if it is none. The
 * caller frees it. */
struct cn_stored_names;
char *cn_image_name(const struct cn_stored_names *names, uint64_t address);

#endif
