#if canImport(os)
import os
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A value that one thread at a time may use.
///
/// It takes the place of `Synchronization.Mutex`, which needs iOS 18. Hold it for a few instructions only: never across
/// I/O, never across a closure, getter or `deinit` of the application's. A thread that locks it twice waits for itself.
package final class Lock<State>: @unchecked Sendable {  // The state is reached under the mutex alone.
    private let mutex = SystemMutex()
    private var state: State

    /// Makes a lock around a value.
    package init(_ state: consuming sending State) {
        self.state = state
    }

    /// Runs a closure that has the value to itself.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        mutex.lock()
        defer { mutex.unlock() }
        return try body(&state)
    }
}

#if canImport(os)
private typealias SystemMutex = OSAllocatedUnfairLock<Void>
#else
/// At an address of its own: a property of a class has none that is promised to stay.
@safe private struct SystemMutex: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deinitialize(count: 1)
        unsafe mutex.deallocate()
    }

    func lock() { unsafe pthread_mutex_lock(mutex) }

    func unlock() { unsafe pthread_mutex_unlock(mutex) }
}
#endif
