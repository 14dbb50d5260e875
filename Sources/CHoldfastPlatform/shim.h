// What Swift's modules of the C libraries leave out.
#if defined(__linux__)
// statfs(2): the kind of a file system. Darwin's module has it.
#include <sys/vfs.h>
#endif
