/* The commit that the program was built from, and the Swift that built it; empty where nobody said. */
const char *holdfast_build_commit(void);
const char *holdfast_build_swift(void);
