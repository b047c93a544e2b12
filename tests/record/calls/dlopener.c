/* A library that is loaded late. */
#include <dlfcn.h>

static int own(int n)
{
    return n;
}

int main(void)
{
    void *library = dlopen("./libdl_fix.so", RTLD_NOW);
    int (*entry)(int);
    int sum;

    if (!library)
        return 1;
    entry = (int (*)(int))dlsym(library, "lib_entry");
    sum = entry(4);
    sum += own(1);
    dlclose(library);
    return sum == 14 ? 0 : 1;
}
