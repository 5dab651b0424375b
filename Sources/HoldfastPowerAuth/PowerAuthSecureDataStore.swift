#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Holdfast
import PowerAuth2
import Security

public import struct Foundation.Data

/// Keeps the document of a `CertStore` in a PowerAuth keychain.
///
/// WultraSSLPinning stored its data under the same identifier in another format. Such data counts as damaged, and the
/// first update replaces it.
public struct PowerAuthSecureDataStore: ReportingDataStore {
    /// The identifier of the keychain that is used by default.
    public static let defaultKeychainIdentifier = "com.wultra.WultraCertStore"

    private let keychain: SharedReference<PowerAuthKeychain>

    /// Makes a data store.
    /// - Parameters:
    ///   - keychainIdentifier: distinguishes these items from other items of the application.
    ///   - accessGroup: the keychain access group that shares the items; nil for the application's own.
    public init(
        keychainIdentifier: String = PowerAuthSecureDataStore.defaultKeychainIdentifier, accessGroup: String? = nil
    ) {
        keychain = SharedReference(PowerAuthKeychain(identifier: keychainIdentifier, accessGroup: accessGroup))
    }

    /// What is stored under a key; nil if there is nothing.
    /// - Throws: `KeychainError` if the item cannot be read, for example while the device is locked.
    public func load(forKey key: String) throws -> Data? {
        var status = errSecSuccess
        if let data = unsafe keychain.get.data(forKey: key, status: &status) { return data }
        guard status == errSecItemNotFound else { throw KeychainError(.unreadable, status: status, key: key) }
        return nil
    }

    /// Stores data under a key, and replaces what was there.
    /// - Throws: `KeychainError`. Its status comes from reading the item, because PowerAuth does not report the status
    ///   of writing.
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

    /// Deletes what is stored under a key.
    public func removeData(forKey key: String) { _ = keychain.get.deleteData(forKey: key) }
}
#endif
