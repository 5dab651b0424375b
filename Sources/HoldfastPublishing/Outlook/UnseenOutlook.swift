package import Foundation
package import Holdfast
import HoldfastSigning

/// The result for clients with a pin file that is the same for every chain of a host. Only the clients' own policy is
/// evaluated, without a chain.
package struct UnseenOutlook: Sendable {
    /// The certain part of a result.
    package enum Fate: Sendable {
        /// Clients refuse every chain.
        case refused
        /// Clients can connect by grace at best.
        case grace
        /// The result depends on the chain.
        case open
    }

    private let held: HeldDocument
    private let validator = PathValidator(anchors: TrustAnchors([]))

    package init(_ file: PinFile) throws(PublishingError) {
        let document = PublicationOutlook.Document(
            "the pin file", kind: .shippedPins, octets: Data(file.json), published: .distantPast)
        held = try HeldDocument(
            0,
            PublicationOutlook.Inputs(
                documents: [document], hosts: [], platforms: [], appVersions: .noShippedPins, now: .distantPast))
    }

    /// The certain result for the hosts of an entry.
    package func fate(of entry: PinFile.Host, at time: Date) -> Fate {
        let base = entry.pattern.base.name
        guard
            let host = try? DialedHost(entry.pattern.scope == .oneLabel ? "any.\(base)" : base, port: entry.ports.first)
        else { return .open }
        return trial(of: host).fate(at: time.wholeSeconds)
    }

    /// Why clients refuse a host with any chain, as they report it; nil if it depends on the chain.
    package func refusal(of host: DialedHost, at time: Date) -> String? {
        trial(of: host).refusal(at: time.wholeSeconds)
    }

    private func trial(of host: DialedHost) -> ClientTrial {
        ClientTrial(held, pinning: nil, isBeginning: false, host: host, chain: PresentedChain([]), validator: validator)
    }
}

extension ClientTrial {
    /// The certain result for a client with any chain.
    fileprivate func fate(at second: Int64) -> UnseenOutlook.Fate {
        guard let decision = decision(at: second), refusal(at: second) == nil else { return .refused }
        return isByGrace(decision, at: second) ? .grace : .open
    }

    fileprivate func refusal(at second: Int64) -> String? {
        guard let decision = decision(at: second) else { return "expected a pin file that clients read, found another" }
        // If standard validation applies, the result depends on the chain.
        let isOver = decision.findings.contains { $0.kind == .noPins }
        guard isOver, !decision.notices.contains(where: { $0.code == .pinsExpired }) else { return nil }
        return decision.failure.map { "expected \($0.expected), found \($0.found)" } ?? "there are no pins"
    }
}
