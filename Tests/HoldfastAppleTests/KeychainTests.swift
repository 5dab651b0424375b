import Foundation
import Holdfast
import Testing

/// The keychain is open only to a program that is signed with an application identifier, which `swift test` runs none of:
/// there the refusal is what can be tested. The other tests run in the tests of an application.
@Suite("The keychain")
struct KeychainTests {
    /// Whether this program may keep items, and with which status it may not.
    private static let refusal: Int32? = {
        let store = KeychainDataStore(service: "holdfast.tests.\(UUID().uuidString)")
        defer { store.removeData(forKey: "probe") }
        do {
            try store.replace(Data([1]), forKey: "probe")
            return nil
        } catch {
            return (error as? KeychainError)?.status ?? 0
        }
    }()

    private static let missingEntitlement: Int32 = -34_018

    /// Runs with a store of its own, and leaves no item behind.
    private func withStore(_ body: (KeychainDataStore) throws -> Void) rethrows {
        let store = KeychainDataStore(service: "holdfast.tests.\(UUID().uuidString)")
        defer { for key in ["a", "b"] { store.removeData(forKey: key) } }
        try body(store)
    }

    @Test("A program that may not use the keychain is told so, and finds no empty store", .enabled(if: refusal != nil))
    func refusalIsSaid() {
        #expect(Self.refusal == Self.missingEntitlement)
        withStore { store in
            #expect { try store.load(forKey: "a") } throws: { error in
                guard let error = error as? KeychainError else { return false }
                return error.code == .unreadable && error.status == Self.missingEntitlement
            }
            #expect(!store.save(data: Data([1]), forKey: "a"))
        }
    }

    @Test("Items are kept, replaced and forgotten", .enabled(if: refusal == nil))
    func items() throws {
        try withStore { store in
            #expect(try store.load(forKey: "a") == nil)
            try store.replace(Data([1]), forKey: "a")
            try store.replace(Data([2]), forKey: "a")
            try store.replace(Data(), forKey: "b")
            #expect(try store.load(forKey: "a") == Data([2]))
            #expect(try store.load(forKey: "b") == Data())
            store.removeData(forKey: "a")
            store.removeData(forKey: "a")
            #expect(try store.load(forKey: "a") == nil)
        }
    }

    @Test("An item is replaced where it is what was read, and nowhere else", .enabled(if: refusal == nil))
    func comparing() throws {
        try withStore { store in
            #expect(try !store.replace(Data([9]), with: Data([1]), forKey: "a"))
            #expect(try store.replace(nil, with: Data([1]), forKey: "a"))
            #expect(try !store.replace(nil, with: Data([2]), forKey: "a"))
            #expect(try !store.replace(Data(), with: Data([2]), forKey: "a"))
            #expect(try store.load(forKey: "a") == Data([1]))
            #expect(try store.replace(Data([1]), with: Data([2]), forKey: "a"))
            // An item stored without a comparison is compared all the same.
            try store.replace(Data([3]), forKey: "a")
            #expect(try !store.replace(Data([2]), with: Data([4]), forKey: "a"))
            #expect(try store.replace(Data([3]), with: Data([4]), forKey: "a"))
            store.removeData(forKey: "a")
            #expect(try !store.replace(Data([4]), with: Data([5]), forKey: "a"))
            #expect(try store.load(forKey: "a") == nil)
        }
    }

    @Test("Two services do not see each other's items", .enabled(if: refusal == nil))
    func services() throws {
        try withStore { one in
            try withStore { other in
                try one.replace(Data([1]), forKey: "a")
                #expect(try other.load(forKey: "a") == nil)
            }
        }
    }

    @Test("A document of a store is there again for the next store", .enabled(if: refusal == nil))
    func largeItems() throws {
        try withStore { store in
            let document = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
            try store.replace(document, forKey: "a")
            #expect(try KeychainDataStore(service: store.service).load(forKey: "a") == document)
        }
    }
}
