/// Carries one of Apple's objects from the thread that provides it to the one that evaluates it.
///
/// Only for objects that their documentation lets any thread use, but whose declarations do not say `Sendable`. It is
/// generic so that it compiles without a warning whether a version of the SDK says so or not.
package final class SharedReference<Value>: Sendable {
    nonisolated(unsafe) private let value: Value

    package init(_ value: Value) { unsafe self.value = value }

    /// The object. Its owner may use it at the same time, so changing it needs a lock.
    package var get: Value { unsafe value }
}
