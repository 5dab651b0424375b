public import Holdfast

/// How the server that documents are downloaded from is validated; the documents are verified in any case.
public enum SSLValidationStrategy: String, Sendable, Hashable, CaseIterable {
    /// Standard validation.
    case `default`
    /// No validation; refused for static lists, which do not protect themselves against old entries.
    case noValidation
}

extension CertStoreConfiguration {
    /// How the server of the document is validated, for its download only.
    public var sslValidationStrategy: SSLValidationStrategy {
        get { validatesServer ? .default : .noValidation }
        set { validatesServer = newValue == .default }
    }
}

extension RemoteDataRequest {
    /// How the server is validated; for providers of the application's own.
    public var sslValidationStrategy: SSLValidationStrategy {
        get { validatesServer ? .default : .noValidation }
        set { validatesServer = newValue == .default }
    }
}
