/// What a host's server at one address showed, or why it could not be read.
public struct Observation: Sendable, Hashable {
    /// From where it was seen, such as the name of the machine.
    public let vantage: String
    /// The address.
    public let address: String
    /// What it showed; nil if it could not be read.
    public let chain: CertificateChain?
    /// Why it could not be read; nil if it was.
    public let failure: String?
    /// When this was seen for the first time without a break, in seconds since 1970.
    public let firstSeen: Int64
    /// When it was seen last.
    public let lastSeen: Int64

    /// States what was seen.
    public init(
        vantage: String, address: String, chain: CertificateChain?, failure: String? = nil, firstSeen: Int64,
        lastSeen: Int64
    ) {
        self.vantage = vantage
        self.address = address
        self.chain = chain
        self.failure = chain == nil ? failure ?? "it could not be read" : nil
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}
