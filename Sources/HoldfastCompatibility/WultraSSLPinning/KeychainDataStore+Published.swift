#if canImport(Security)
public import Holdfast

/// WultraSSLPinning's name of a store in the keychain, newest generation.
public typealias KeychainSecureDataStore = KeychainDataStore

/// WultraSSLPinning's spellings, newest generation.
extension KeychainDataStore {
    /// The service of the items if none is given. Data that WultraSSLPinning itself stored has another service and
    /// format, and is not read.
    public static var defaultKeychainIdentifier: String { KeychainDataStore().service }

    /// The published spelling of `init(service:accessGroup:)`.
    public init(keychainIdentifier: String, accessGroup: String? = nil) {
        self.init(service: keychainIdentifier, accessGroup: accessGroup)
    }
}
#endif
