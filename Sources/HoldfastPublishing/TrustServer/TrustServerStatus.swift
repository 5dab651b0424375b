public import Foundation
public import Holdfast

/// Whether clients accept the document that a trust server has published, and for how long.
public struct TrustServerStatus: Sendable, Hashable {
    /// A host of which the rounds know less than they should.
    public struct StaleHost: Sendable, Hashable {
        /// The host with its port.
        public let place: String
        /// When a path was last validated for it.
        public let validated: Date
    }

    /// The answers.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// Clients accept the document, and it is younger than asked for.
        case current
        /// Clients accept the document, but no round has made a new one for too long.
        case aged
        /// Clients that have a document still use theirs, but those that have none yet refuse this one as too old.
        case refusedByNewClients
        /// The document is dated more than a day ahead of the clock, as if its seconds were milliseconds. Clients accept
        /// it, move their time by a day, and refuse correct documents for as long.
        case aheadOfClock
        /// All clients refuse the document.
        case refused
    }

    /// The verdict.
    public let verdict: Verdict
    /// When the document was made.
    public let timestamp: Date
    /// How old it is, in whole seconds; negative if it is dated ahead of the clock.
    public let age: Duration
    /// The first instant at which clients that have no document yet refuse it.
    public let endForNewClients: Date
    /// The first instant at which clients with default settings refuse it, also those that have it.
    public let end: Date
    /// How many hosts it has.
    public let hostCount: Int
    /// The JSON that was signed, as it stands in the document.
    public let signedContent: Data
    /// The hosts that have not been validated for longer than asked for. A document that is only signed again is young,
    /// and its pins are old.
    public let staleHosts: [StaleHost]
    /// What waits for approval.
    public let waiting: [HeldChange]
    /// The first instant at which the signer's certificate is no longer valid. Clients do not mind; other programs may.
    public let signerEnd: Date

    /// Reads a document as clients do.
    /// - Parameters:
    ///   - data: the document.
    ///   - certificate: the signer's certificate that clients are configured with, in DER or PEM.
    ///   - customer: the customer that clients are configured with.
    ///   - memory: the memory of the rounds, if it is at hand.
    ///   - maximumAge: how old a document and the validation of a host may be.
    ///   - now: the time.
    /// - Throws: `DocumentError` if clients would refuse it at any time, for example because somebody else signed it.
    public init(
        of data: Data, signedBy certificate: Data, customer: String, memory: PublishingMemory? = nil,
        maximumAge: Duration, at now: Date
    ) throws(DocumentError) {
        let signer = try TrustServerSigner(certificate: certificate)
        let (document, content) = try TrustServerDocument.withContent(
            verifying: data, by: signer, customer: customer, at: now, limits: DocumentLimits(),
            allowsLegacyDigests: false)
        signedContent = content
        timestamp = document.timestamp
        age = now.elapsed(since: document.timestamp)
        let pins = try TrustServerDocumentPins(
            document, TrustServerConfiguration(url: URL(filePath: "/"), signer: signer, customer: customer))
        endForNewClients = pins.downloadEnds
        end = pins.end
        hostCount = document.entries.count
        staleHosts = (memory?.hosts ?? []).filter { now.elapsed(since: $0.validated) > maximumAge }.map {
            StaleHost(place: $0.place, validated: $0.validated)
        }
        waiting = (memory?.held ?? []).filter { !$0.isApproved }
        signerEnd = signer.end ?? .distantFuture
        if now >= end {
            verdict = .refused
        } else if FutureTimestamp.error(timestamp, at: now) != nil {
            verdict = .aheadOfClock
        } else if pins.refusalOfDownload(at: now) != nil {
            verdict = .refusedByNewClients
        } else {
            verdict = age > maximumAge || !staleHosts.isEmpty ? .aged : .current
        }
    }
}
