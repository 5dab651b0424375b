#if canImport(Security)
public import Foundation
import Security

/// Keeps data in the keychain: on this device only, readable after the first unlock, and not synchronized.
///
/// Each key is one generic password item. Several processes of one access group may use it at once: an item has the
/// SHA-256 of its content (`kSecAttrGeneric`), and is replaced only if that has not changed. On macOS a program must be
/// signed with an application identifier to use this keychain.
public struct KeychainDataStore: ReportingDataStore, ComparingDataStore {
    /// The items' service.
    package let service: String
    /// The access group that shares the items; nil for the application's own.
    package let accessGroup: String?

    /// Makes a data store; nothing is read or written yet.
    /// - Parameters:
    ///   - service: distinguishes these items from others of the application.
    ///   - accessGroup: the access group that shares the items; nil for the application's own.
    public init(service: String = "holdfast.store", accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// The data stored under a key; nil if none is stored.
    /// - Throws: ``KeychainError`` if there is data that cannot be read, for example before the first unlock.
    public func load(forKey key: String) throws -> Data? {
        var query = item(key)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne as String
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        switch status {
        case errSecSuccess:
            guard let data = result as? Data else { throw KeychainError(.unreadable, status: status, key: key) }
            return data
        case errSecItemNotFound: return nil
        default: throw KeychainError(.unreadable, status: status, key: key)
        }
    }

    /// Stores data under a key and replaces the previous data.
    /// - Throws: ``KeychainError``; the previous data stays.
    public func replace(_ data: Data, forKey key: String) throws {
        var status = update(item(key), data)
        if status == errSecItemNotFound {
            status = add(data, key)
            // Another process may have added it in between.
            if status == errSecDuplicateItem { status = update(item(key), data) }
        }
        guard status == errSecSuccess else { throw KeychainError(.notWritten, status: status, key: key) }
    }

    /// Stores data under a key if `old` is stored there, as one atomic step of the keychain.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: ``KeychainError``; nothing has changed then.
    public func replace(_ old: Data?, with new: Data, forKey key: String) throws -> Bool {
        guard let old else {
            let status = add(new, key)
            guard status != errSecDuplicateItem else { return false }
            guard status == errSecSuccess else { throw KeychainError(.notWritten, status: status, key: key) }
            return true
        }
        var found = item(key)
        found[kSecAttrGeneric as String] = Self.digest(of: old)
        let status = update(found, new)
        guard status != errSecItemNotFound else { return false }
        guard status == errSecSuccess else { throw KeychainError(.notWritten, status: status, key: key) }
        return true
    }

    private func update(_ query: [String: Any], _ data: Data) -> OSStatus {
        SecItemUpdate(query as CFDictionary, Self.content(data) as CFDictionary)
    }

    private func add(_ data: Data, _ key: String) -> OSStatus {
        SecItemAdd(item(key).merging(Self.content(data)) { $1 } as CFDictionary, nil)
    }

    private static func content(_ data: Data) -> [String: Any] {
        [
            kSecValueData as String: data, kSecAttrGeneric as String: digest(of: data),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
        ]
    }

    private static func digest(of data: Data) -> Data { Data(SHA256Digest.of(data)) }

    /// Deletes the data stored under a key.
    public func removeData(forKey key: String) { _ = SecItemDelete(item(key) as CFDictionary) }

    private func item(_ key: String) -> [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword as String,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key,
            kSecAttrSynchronizable as String: false,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }
}

/// The reason why an operation of the keychain failed.
public struct KeychainError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<KeychainError>

    /// The reason.
    public let code: Code
    /// The keychain's status code, one of Security.framework's `errSec…`.
    public let status: Int32
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    package init(_ code: Code, status: Int32, key: String) {
        self.code = code
        self.status = status
        facts = ErrorFacts(
            expected: "an item \(key.quoted) that \(code == .unreadable ? "can be read" : "is kept")",
            found: "status \(status)" + (Self.message(of: status).map { ": \($0)" } ?? ""),
            remedy: "Before the first unlock the keychain is closed; `security error` explains a status.")
    }

    /// The system's text for a status code; nil if the system has none.
    private static func message(of status: Int32) -> String? { SecCopyErrorMessageString(status, nil) as String? }
}

extension KeychainError.Code {
    /// The item cannot be read.
    public static var unreadable: Self { Self() }
    /// The item was not stored.
    public static var notWritten: Self { Self() }
}
#endif
