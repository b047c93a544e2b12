/* Any bytes as a profile of Firefox: they are read or refused, and what was read can be used. */

#include <string.h>

#include "formats/exchange/read/readers.h"
#include "support/fuzz.h"
#include "support/fuzz_import.h"

static const char processed[] =
    "{\"meta\":{\"preprocessedProfileVersion\":47,\"interval\":1,\"startTime\":9.5},"
    "\"threads\":[{\"name\":\"t\",\"pid\":\"1\",\"tid\":2,\"samples\":{\"stack\":[0,1,"
    "null],"
    "\"time\":[1,2,3.5],\"weight\":[1,0.5,2],\"weightType\":\"tracing-ms\",\"length\":3},"
    "\"stackTable\":{\"prefix\":[null,0],\"frame\":[0,1]},\"frameTable\":{\"func\":[0,1],"
    "\"line\":[3,null]},\"funcTable\":{\"name\":[0,1],\"fileName\":[2,null],"
    "\"lineNumber\":[3,null]},\"stringArray\":[\"main\",\"f\",\"a.c\"]}]}";

static const char gecko[] = "{\"profile\":{\"meta\":{\"interval\":1,\"stackwalk\":1},"
                            "\"threads\":[{\"name\":\"G\","
                            "\"tid\":5,\"samples\":{\"schema\":{\"stack\":0,\"time\":1},"
                            "\"data\":[[1,1.5],[null,2],"
                            "[1,3]]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":"
                            "1},\"data\":[[null,0],[0,1]]},"
                            "\"frameTable\":{\"schema\":{\"location\":0,\"line\":3},"
                            "\"data\":[[0],[1,null,null,7]]},"
                            "\"stringTable\":[\"(root)\",\"f (http://a -> "
                            "b.js:7:1)\"]}],\"processes\":[{\"threads\":"
                            "[]}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    cn_fuzz_import(cn_firefox_read, data, len);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    emit((const uint8_t *)processed, strlen(processed));
    emit((const uint8_t *)gecko, strlen(gecko));
}
