public import Holdfast

/// The validation of the server from which documents are downloaded; the documents are verified in any case.
public enum SSLValidationStrategy: String, Sendable, Hashable, CaseIterable {
    /// Standard validation.
    case `default`
    /// No validation; refused for static lists, because nothing else protects them against old entries.
    case noValidation
}

extension CertStoreConfiguration {
    /// The validation of the document's server, for its download only.
    public var sslValidationStrategy: SSLValidationStrategy {
        get { validatesServer ? .default : .noValidation }
        set { validatesServer = newValue == .default }
    }
}

extension RemoteDataRequest {
    /// The validation of the server; for the application's own providers.
    public var sslValidationStrategy: SSLValidationStrategy {
        get { validatesServer ? .default : .noValidation }
        set { validatesServer = newValue == .default }
    }
}
