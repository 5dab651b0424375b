// Tells ThreadSanitizer of the waiting side of Swift's Mutex.
//
// Synchronization.Mutex is compiled into its user only as far as nobody waits: that atomic exchange is instrumented. A
// thread that must wait, or that must wake another, calls into libswiftSynchronization, which is not. ThreadSanitizer
// then sees no order between the two and calls two accesses under one lock a race. These two functions stand before the
// library's own (LD_PRELOAD), do what those do, and say the order: what came before an unlock is seen after the lock.
//
// The names are the mangled ones of `_MutexHandle._lockSlow(_: UInt32)` and `_MutexHandle._unlockSlow()`.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*LockSlow)(uint32_t, SELF void *);
typedef SWIFT void (*UnlockSlow)(SELF void *);

// Weak: a program that is not built with ThreadSanitizer (openssl, a shell) starts with this library as well.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

static LockSlow libraryLockSlow;
static UnlockSlow libraryUnlockSlow;

__attribute__((constructor)) static void find(void) {
    libraryLockSlow = (LockSlow)dlsym(RTLD_NEXT, LOCK_SLOW);
    libraryUnlockSlow = (UnlockSlow)dlsym(RTLD_NEXT, UNLOCK_SLOW);
    // Under another toolchain these may be called differently. Silence would bring the false reports back.
    if (__tsan_acquire != NULL && (libraryLockSlow == NULL || libraryUnlockSlow == NULL)) {
        fputs("thread-sanitizer/mutex.c: this toolchain's Mutex has no _lockSlow and _unlockSlow\n", stderr);
        _Exit(1);
    }
}

SWIFT void lockSlow(uint32_t thread, SELF void *handle) __asm__(LOCK_SLOW);
SWIFT void unlockSlow(SELF void *handle) __asm__(UNLOCK_SLOW);

SWIFT void lockSlow(uint32_t thread, SELF void *handle) {
    libraryLockSlow(thread, handle);
    if (__tsan_acquire != NULL) __tsan_acquire(handle);
}

SWIFT void unlockSlow(SELF void *handle) {
    if (__tsan_release != NULL) __tsan_release(handle);
    libraryUnlockSlow(handle);
}
