public import Dispatch
public import Holdfast
public import Logging

public import struct Foundation.Data

/// The newest generation's name of the cryptography that a store uses by default: CryptoKit on Apple's systems,
/// swift-crypto elsewhere.
public typealias CryptoKitCryptoProvider = SwiftCryptoProvider

/// WultraSSLPinning's names for parts of a store, and its additional types.
extension CertStore {
    /// WultraSSLPinning's name of `StoreUpdateMode`.
    public typealias UpdateMode = StoreUpdateMode

    /// The result of an update.
    public enum UpdateResult: String, Sendable, Hashable, CaseIterable {
        /// The store is up to date, or an update is running in the background.
        case ok
        /// The document was downloaded and verified, but every entry in it has expired.
        case storeIsEmpty
        /// The document could not be downloaded.
        case networkError
        /// The document is invalid, or may not replace the one that is stored.
        case invalidData
        /// A signature does not verify.
        case invalidSignature
    }

    /// The identifier of the configuration, or `default` if it has none; see
    /// `CertStoreConfiguration.instanceIdentifier`.
    public var instanceIdentifier: String { configuration.instanceIdentifier }

    /// Makes a store. If the configuration is wrong, the store stays empty: it returns `ValidationResult.empty`, and
    /// `configurationError` has the reason. `init(checking:)` throws instead.
    public convenience init(
        configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) {
        self.init(
            unchecked: configuration, crypto: cryptoProvider.cryptography, dataStore: secureDataStore,
            provider: remoteDataProvider,
            clock: clock, logger: logger)
    }

    /// Brings the store up to date in the published way; see `update(mode:)`.
    /// - Parameters:
    ///   - mode: whether to update when none is due.
    ///   - completionQueue: where `completion` is called. The main queue of a process on Linux runs only if the process
    ///     runs it.
    ///   - completion: called once: after the download when the update is direct, otherwise with `ok` at once. There is
    ///     an error only with `networkError`, and if the configuration is invalid: then every update reports
    ///     `invalidData`. `lastUpdate` has every other failure.
    public func update(
        mode: StoreUpdateMode = .default, completionQueue: DispatchQueue = .main,
        completion: @escaping @Sendable (UpdateResult, (any Error)?) -> Void
    ) {
        if let configurationError {
            completionQueue.async { completion(CertStore.result(of: configurationError), configurationError) }
            return
        }
        let (kind, task) = begin(mode)
        guard kind == .direct, let task else {
            completionQueue.async { completion(.ok, nil) }
            return
        }
        Task {
            let report = await task.value
            completionQueue.async {
                completion(report.result, report.result == .networkError ? report.error : nil)
            }
        }
    }

    /// Evaluates a certificate by its fingerprint and its position in the chain. An entry is valid only at its own
    /// depth; at any other depth it is ignored.
    /// - Parameters:
    ///   - commonName: the name from the document, a wildcard as a literal text.
    ///   - fingerprint: SHA-256 of the certificate's DER, 32 bytes.
    ///   - depth: 0 for the server's own certificate, n for the n-th above it in a chain that was validated. The depth
    ///     in a static list is not signed; above 0 the caller must make sure that the certificate is an authority's.
    public func validate(commonName: String, fingerprint: Data, depth: Int = 0) -> ValidationResult {
        judge(fingerprint, named: commonName, depth: depth)
    }

    /// Evaluates a certificate by its position in the chain; see `validate(commonName:fingerprint:depth:)`. Above the
    /// server's own, only the certificate of an authority is trusted.
    /// - Parameters:
    ///   - commonName: the name from the document, a wildcard as a literal text.
    ///   - certificateData: DER.
    ///   - depth: 0 for the server's own certificate, n for the n-th above it in a chain that was validated.
    public func validate(commonName: String, certificateData: Data, depth: Int = 0) -> ValidationResult {
        // The server of a static list can change a depth: a server's certificate must not be used as its issuer's.
        let mayBeThere = depth == 0 || Self.isAuthority(certificateData)
        return judge(mayBeThere ? crypto.digest(certificateData) : Data(), named: commonName, depth: depth)
    }

    private static func isAuthority(_ der: Data) -> Bool {
        (try? X509Certificate(der: [UInt8](der)).basicConstraints)?.isCertificateAuthority == true
    }

    fileprivate static func result(of error: StoreError?) -> UpdateResult {
        switch error?.code {
        case nil, .notStored: .ok
        case .networkError, .timedOut, .reset: .networkError
        case .invalidSignature: .invalidSignature
        case .storeIsEmpty: .storeIsEmpty
        default: .invalidData
        }
    }
}

extension StoreUpdateReport {
    /// WultraSSLPinning's name for the result of the update; `error` has the details.
    public var result: CertStore.UpdateResult { CertStore.result(of: error) }
}
