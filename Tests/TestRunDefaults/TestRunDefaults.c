#include "TestRunDefaults.h"

#include <stdio.h>
#include <stdlib.h>

const char *const holdfast_tests_at_once_variable = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH";

/// Runs when the tests are loaded, before Swift Testing reads its environment. A number that is already there stays.
__attribute__((constructor)) static void set_tests_at_once(void) {
    char number[16];
    snprintf(number, sizeof number, "%d", holdfast_tests_at_once);
    setenv(holdfast_tests_at_once_variable, number, 0);
}
