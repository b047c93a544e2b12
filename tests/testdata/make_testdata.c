/* Writes the data that the command line is tested on: a database, `sample`, a recording,
 * `recording`, a measurement directory, `measurements`, and samples, `switches.data` and
 * `processors.data`. */
#include <stdio.h>
#include <stdlib.h>

#include "base/files/out.h"
#include "base/text.h"
#include "support/perf_inputs.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/tiny_meas.h"

static bool write_switches(const char *dir, struct cn_error *err)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_switches(&len);
    bool ok = cn_out_replace(dir, "switches.data", bytes, len, err);

    free(bytes);
    bytes = cn_test_perf_processors(true, &len);
    ok = ok && cn_out_replace(dir, "processors.data", bytes, len, err);
    free(bytes);
    return ok;
}

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
    ok = ok && write_switches(argv[1], &err);
    if (!ok)
        (void)fprintf(stderr, "make_testdata: %s\n", err.text);
    cn_text_done(&path);
    return ok ? 0 : 1;
}
