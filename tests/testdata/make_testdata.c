/* Writes the data that the command line is tested on: a database, `sample`, a recording,
 * `recording`, and a measurement directory, `measurements`. */
#include <stdio.h>

#include "base/text.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/tiny_meas.h"

int main(int argc, char **argv)
{
    struct cn_text path = {0};
    struct cn_error err = {0};
    bool ok;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: make_testdata DIR\n");
        return 2;
    }
    cn_text_printf(&path, "%s/sample", argv[1]);
    ok = cn_sample_write(path.chars, &err);
    cn_text_clear(&path);
    cn_text_printf(&path, "%s/recording", argv[1]);
    ok = ok && cn_sample_recording_write(path.chars, &err);
    cn_text_clear(&path);
    cn_text_printf(&path, "%s/measurements", argv[1]);
    for (uint32_t i = 0; ok && i < 3; i++)
        cn_tiny_meas_write(&(struct cn_tiny_meas_options){.thread = i}, path.chars);
    if (!ok)
        (void)fprintf(stderr, "make_testdata: %s\n", err.text);
    cn_text_done(&path);
    return ok ? 0 : 1;
}
