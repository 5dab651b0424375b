#if canImport(os)
import os
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A value that only one thread can access at a time.
///
/// It replaces `Synchronization.Mutex`, which needs iOS 18. Hold it for a few instructions only, never across I/O or an
/// application's closure, getter or `deinit`. A thread that locks it twice deadlocks.
package final class Lock<State>: @unchecked Sendable {  // The state is accessed only under the mutex.
    private let mutex = SystemMutex()
    private var state: State

    /// Makes a lock around a value.
    package init(_ state: consuming sending State) { self.state = state }

    /// Runs a closure with exclusive access to the value.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        mutex.lock()
        defer { mutex.unlock() }
        return try body(&state)
    }
}

extension Bool {
    /// Sets it to true.
    /// - Returns: whether it was false.
    package mutating func setFirst() -> Bool {
        defer { self = true }
        return !self
    }
}

#if canImport(os)
private typealias SystemMutex = OSAllocatedUnfairLock<Void>
#else
/// The lock has its own allocation, because the address of a class's property is not guaranteed to stay the same.
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
