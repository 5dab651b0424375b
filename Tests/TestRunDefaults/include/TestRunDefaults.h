#ifndef HOLDFAST_TEST_RUN_DEFAULTS_H
#define HOLDFAST_TEST_RUN_DEFAULTS_H

/// How many tests run at once, unless the environment says otherwise.
///
/// Swift Testing would start all of them together. Most talk to servers and programs, with the time limits that the
/// product has: on few cores they would wait for each other until those have passed.
enum { holdfast_tests_at_once = 8 };

/// The environment variable in which Swift Testing looks for that number when it begins.
extern const char *const holdfast_tests_at_once_variable;

#endif
