import Holdfast

/// RSA keys that all tests of one process share, because making them takes the most time.
///
/// Each slot has its own lock. Two threads that want the same key make it only once, and no thread waits for another
/// slot.
final class RSAKeyPool: Sendable {
    static let shared = RSAKeyPool()

    private struct Name: Hashable {
        let bits: Int
        let index: Int
    }

    private final class Slot: Sendable {
        private let key = Lock<TestKey?>(nil)

        func value(_ make: () throws(TestKitError) -> TestKey) throws(TestKitError) -> TestKey {
            try key.withLock { (key) throws(TestKitError) -> TestKey in
                if let key { return key }
                let made = try make()
                key = made
                return made
            }
        }
    }

    private let slots = Lock<[Name: Slot]>([:])

    func key(bits: Int, index: Int) throws(TestKitError) -> TestKey {
        let slot = slots.withLock { slots in
            let name = Name(bits: bits, index: index)
            let slot = slots[name] ?? Slot()
            slots[name] = slot
            return slot
        }
        return try slot.value { () throws(TestKitError) in try TestKey(new: .rsa(bits: bits)) }
    }
}
