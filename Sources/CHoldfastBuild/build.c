#include "HoldfastBuild.h"

#ifndef HOLDFAST_COMMIT
#define HOLDFAST_COMMIT ""
#endif
#ifndef HOLDFAST_SWIFT
#define HOLDFAST_SWIFT ""
#endif

const char *holdfast_build_commit(void) { return HOLDFAST_COMMIT; }
const char *holdfast_build_swift(void) { return HOLDFAST_SWIFT; }
