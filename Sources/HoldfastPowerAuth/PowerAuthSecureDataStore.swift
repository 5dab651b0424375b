#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Holdfast
import PowerAuth2
import Security

public import struct Foundation.Data

/// Keeps a `CertStore`'s document in a keychain of PowerAuth.
///
/// What WultraSSLPinning stored under the same identifier is of another format: it counts as damaged, and the first
/// update replaces it.
public struct PowerAuthSecureDataStore: ReportingDataStore {
    /// The identifier of the keychain that is used when nothing else is said.
    public static let defaultKeychainIdentifier = "com.wultra.WultraCertStore"

    private let keychain: SharedReference<PowerAuthKeychain>

    /// Makes a data store.
    /// - Parameters:
    ///   - keychainIdentifier: tells these items from others of the application.
    ///   - accessGroup: the access group that shares the items; nil for the application's own.
    public init(
        keychainIdentifier: String = PowerAuthSecureDataStore.defaultKeychainIdentifier, accessGroup: String? = nil
    ) {
        keychain = SharedReference(PowerAuthKeychain(identifier: keychainIdentifier, accessGroup: accessGroup))
    }

    /// What is kept under a key; nil when there is nothing.
    /// - Throws: `KeychainError` when there is something that cannot be read, for example while the device is locked.
    public func load(forKey key: String) throws -> Data? {
        var status = errSecSuccess
        if let data = unsafe keychain.get.data(forKey: key, status: &status) { return data }
        guard status == errSecItemNotFound else { throw KeychainError(.unreadable, status: status, key: key) }
        return nil
    }

    /// Keeps data under a key, in place of what was there.
    /// - Throws: `KeychainError`, whose status is that of reading the item: PowerAuth does not tell the one of writing.
    public func replace(_ data: Data, forKey key: String) throws {
        let keychain = keychain.get
        let result =
            keychain.containsData(forKey: key)
            ? keychain.updateValue(data, forKey: key) : keychain.addValue(data, forKey: key)
        guard result != .ok else { return }
        var status = errSecSuccess
        _ = unsafe keychain.data(forKey: key, status: &status)
        throw KeychainError(.notWritten, status: status, key: key)
    }

    /// Forgets what is kept under a key.
    public func removeData(forKey key: String) { _ = keychain.get.deleteData(forKey: key) }
}
#endif
