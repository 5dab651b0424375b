public import struct Foundation.URL

/// The configuration of a ``TrustServerStore``: where its document comes from, who signs it, and whose it is.
///
/// ```swift
/// let configuration = TrustServerConfiguration(
///     url: url, signer: try TrustServerSigner(certificate: certificate), customer: "gcx")
/// ```
public struct TrustServerConfiguration: Sendable {
    /// Where the document is downloaded from.
    public var url: URL
    /// Whose signature counts.
    public var signer: TrustServerSigner
    /// Whose document it must be.
    public var customer: String
    /// How it is fetched, kept and trusted.
    public var settings: OnlinePinningSettings

    /// Sets up a store.
    public init(
        url: URL, signer: TrustServerSigner, customer: String,
        settings: OnlinePinningSettings = OnlinePinningSettings()
    ) {
        self.url = url
        self.signer = signer
        self.customer = customer
        self.settings = settings
    }

    /// What cannot be meant; nil where everything can.
    var error: StoreError? {
        guard (1...DocumentLimits.nameBytes).contains(customer.utf8.count) else {
            return StoreError(
                .invalidConfiguration, expected: "the name of a customer, 1 to \(DocumentLimits.nameBytes) octets",
                found: "\(customer.utf8.count) octets")
        }
        return settings.error
    }
}
