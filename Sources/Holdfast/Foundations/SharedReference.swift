/// Carries one of Apple's objects from the thread that provides it to the one that evaluates it.
///
/// Use it only for objects that any thread may use according to their documentation, but whose declarations are not
/// `Sendable`. It is generic so that it compiles without a warning with every version of the SDK.
package final class SharedReference<Value>: Sendable {
    nonisolated(unsafe) private let value: Value

    package init(_ value: Value) { unsafe self.value = value }

    /// The object. Its owner may use it at the same time, so changing it needs a lock.
    package var get: Value { unsafe value }
}
