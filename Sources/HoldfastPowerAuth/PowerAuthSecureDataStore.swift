#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Holdfast
import PowerAuth2

public import struct Foundation.Data

/// Keeps a ``CertStore``'s document in a keychain of PowerAuth.
///
/// What WultraSSLPinning stored under the same identifier is of another format: it counts as damaged, and the first
/// update replaces it. Safe to use from any thread.
public struct PowerAuthSecureDataStore: SecureDataStore {
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

    /// Keeps data under a key, in place of what was there.
    public func save(data: Data, forKey key: String) -> Bool {
        let keychain = keychain.get
        return keychain.containsData(forKey: key)
            ? keychain.updateValue(data, forKey: key) == .ok : keychain.addValue(data, forKey: key) == .ok
    }

    /// What is kept under a key; nil when there is nothing.
    public func loadData(forKey key: String) -> Data? { unsafe keychain.get.data(forKey: key, status: nil) }

    /// Forgets what is kept under a key.
    public func removeData(forKey key: String) { _ = keychain.get.deleteData(forKey: key) }
}
#endif
