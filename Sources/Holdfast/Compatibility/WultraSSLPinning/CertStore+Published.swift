public import Dispatch
public import Logging

public import struct Foundation.Data

/// What WultraSSLPinning calls these things, and what only it has.
extension CertStore {
    /// WultraSSLPinning's name of ``StoreUpdateMode``.
    public typealias UpdateMode = StoreUpdateMode

    /// What came of an update.
    public enum UpdateResult: String, Sendable, Hashable, CaseIterable {
        /// The store is up to date, or an update goes on in the background.
        case ok
        /// The document was downloaded and verified, but every entry in it has expired.
        case storeIsEmpty
        /// The document could not be downloaded.
        case networkError
        /// The document is not what it should be, or may not replace the one that is stored.
        case invalidData
        /// A signature does not verify.
        case invalidSignature
    }

    /// Makes a store that a configuration in error leaves empty: it answers ``ValidationResult/empty`` and says why in
    /// ``configurationError``. ``init(checking:cryptoProvider:secureDataStore:remoteDataProvider:clock:logger:)`` throws
    /// instead, and takes the same parameters.
    public convenience init(
        configuration: CertStoreConfiguration, cryptoProvider: any CryptoProvider = SwiftCryptoProvider(),
        secureDataStore: (any SecureDataStore)? = nil, remoteDataProvider: (any RemoteDataProvider)? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) {
        self.init(
            unchecked: configuration, crypto: cryptoProvider, dataStore: secureDataStore, provider: remoteDataProvider,
            clock: clock, logger: logger)
    }

    /// Brings the store up to date, the published way; see ``update(mode:)``.
    /// - Parameters:
    ///   - mode: whether to update when none is due.
    ///   - completionQueue: where `completion` is called. The main queue of a process on Linux runs only if the process
    ///     runs it.
    ///   - completion: called once: after the download when the update is direct, otherwise with `ok` at once.
    public func update(
        mode: StoreUpdateMode = .default, completionQueue: DispatchQueue = .main,
        completion: @escaping @Sendable (UpdateResult, (any Error)?) -> Void
    ) {
        if let configurationError {
            completionQueue.async { completion(CertStore.result(of: configurationError), configurationError) }
            return
        }
        let (kind, task) = documents.begin(mode)
        guard kind == .direct, let task else {
            completionQueue.async { completion(.ok, nil) }
            return
        }
        Task {
            let report = await task.value
            let error = report.error.flatMap { $0.code == .notStored ? nil : $0 }
            completionQueue.async { completion(report.result, error) }
        }
    }

    /// Judges a certificate by its fingerprint.
    /// - Parameters:
    ///   - commonName: the name as the document has it, a wildcard as a literal text.
    ///   - fingerprint: SHA-256 of the certificate's DER, 32 octets.
    public func validate(commonName: String, fingerprint: Data) -> ValidationResult {
        judge(fingerprint, named: commonName)
    }

    /// Judges a certificate.
    /// - Parameters:
    ///   - commonName: the name as the document has it, a wildcard as a literal text.
    ///   - certificateData: DER.
    public func validate(commonName: String, certificateData: Data) -> ValidationResult {
        judge(crypto.hashSha256(data: certificateData), named: commonName)
    }

    fileprivate static func result(of error: StoreError?) -> UpdateResult {
        switch error?.code {
        case nil, .notStored: .ok
        case .networkError, .timedOut, .reset: .networkError
        case .invalidSignature: .invalidSignature
        case .storeIsEmpty: .storeIsEmpty
        case .invalidData, .invalidConfiguration, .damagedStorage: .invalidData
        }
    }
}

extension StoreUpdateReport {
    /// WultraSSLPinning's word for what came of the update; ``error`` says more.
    public var result: CertStore.UpdateResult { CertStore.result(of: error) }
}
