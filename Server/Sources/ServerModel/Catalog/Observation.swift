/// The chain that a host's server presented at one address, or the reason why it could not be read.
package struct Observation: Sendable, Hashable {
    /// The vantage that made the observation, such as the name of the machine.
    package let vantage: String
    /// The address.
    package let address: String
    /// The presented chain; nil if it could not be read.
    package let chain: CertificateChain?
    /// The reason why it could not be read; nil if it was.
    package let failure: String?
    /// The time at which an unbroken series of the same observation began, in seconds since 1970.
    package let firstSeen: Int64
    /// The time of the latest one.
    package let lastSeen: Int64

    /// Makes an observation.
    package init(
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
