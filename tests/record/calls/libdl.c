/* The library of dlopener.c. */
static int inner(int n)
{
    return 3 * n;
}

int lib_entry(int n)
{
    return inner(n) + 1;
}
