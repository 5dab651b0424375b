public import Foundation

/// The configuration of a ``TransparencyLogStore``: the source of the log list, its signer, and the list to use until
/// then.
public struct TransparencyLogConfiguration: Sendable {
    /// The URL of the list: JSON in Google's schema, version 3.
    public var listURL: URL
    /// The URL of its detached signature.
    public var signatureURL: URL
    /// The key of the list's publisher; see ``TransparencyLogList/init(verifying:signature:key:)``.
    public var key: SubjectPublicKeyInfo
    /// The list that ships with the application, used until a newer one has been downloaded.
    public var shipped: TransparencyLogList
    /// The time between two requests for the list; a day by default, at least 15 minutes.
    public var updateInterval: Duration = .seconds(86_400)
    /// The maximum time that an update may take, from the first request to the verified list.
    public var updateTimeout: Duration = .seconds(120)
    /// The time at which the application was built; an earlier time of the clock is ignored. nil if it is not known.
    public var buildDate: Date?
    /// Downloads list and signature. It uses standard validation for its server, never the validator that uses the
    /// list.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps the list, exactly as it was signed.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// Sets up a store.
    public init(listURL: URL, signatureURL: URL, key: SubjectPublicKeyInfo, shipped: TransparencyLogList) {
        self.listURL = listURL
        self.signatureURL = signatureURL
        self.key = key
        self.shipped = shipped
    }

    /// The error in the configuration; nil if it is valid.
    var error: StoreError? {
        guard updateInterval > .zero, updateTimeout > .zero else {
            return StoreError(
                .invalidConfiguration, expected: "an updateInterval and an updateTimeout above zero",
                found: "\(updateInterval) and \(updateTimeout)")
        }
        return nil
    }
}
