import Foundation
import Holdfast
import NIOCore

/// The end of a decision's validity: an instant of the monotonic clock, and on the wall clock the end of the decision's
/// basis.
struct EvidenceExpiry: Sendable {
    let deadline: NIODeadline
    let holdsUntil: Date

    func isPast(at time: Date) -> Bool {
        // Written so that NaN is treated as past.
        !(time < holdsUntil) || deadline <= .now()
    }

    /// The same, limited to the end of another decision on the evidence.
    func atMost(_ end: Date) -> EvidenceExpiry { EvidenceExpiry(deadline: deadline, holdsUntil: min(holdsUntil, end)) }

    /// The time until the first of the two, at most until the deadline.
    func remaining(at time: Date) -> TimeAmount {
        let untilDeadline = max(deadline - .now(), .zero)
        let seconds = holdsUntil.timeIntervalSince(time)
        guard seconds > 0 else { return .zero }
        // Only a value below the deadline is converted, so that nothing overflows.
        guard seconds < Double(untilDeadline.nanoseconds) / 1e9 else { return untilDeadline }
        return .milliseconds(Int64(seconds * 1_000))
    }
}

/// Chains by their leaf: the certificates that a server presented with it when it proved the leaf's key.
///
/// A validated path is evidence about a leaf, not about a connection, so a chain can be used for every connection whose
/// handshake proved the same leaf's key. It is evaluated each time; only trusted chains are kept.
final class EvidenceStore: Sendable {
    private struct Key: Hashable {
        let leaf: [UInt8]
        let anchors: TrustAnchors
    }

    private struct Entry {
        let chain: PresentedChain
        let expiry: EvidenceExpiry
    }

    private let entries = Lock<[Key: Entry]>([:])
    private let lastChains = Lock<[HTTPOrigin: PresentedChain]>([:])
    private let capacity: Int
    private let lifetime: TimeAmount

    init(capacity: Int, lifetime: TimeAmount) {
        self.capacity = capacity
        self.lifetime = lifetime
    }

    var count: Int { entries.withLock { $0.count } }

    func evidence(
        about leaf: [UInt8], anchors: TrustAnchors, at time: Date
    ) -> (chain: PresentedChain, expiry: EvidenceExpiry)? {
        entries.withLock { entries in
            let key = Key(leaf: leaf, anchors: anchors)
            guard let entry = entries[key] else { return nil }
            guard !entry.expiry.isPast(at: time) else {
                entries[key] = nil
                return nil
            }
            return (entry.chain, entry.expiry)
        }
    }

    /// Keeps a chain, if it was trusted.
    /// - Returns: until when the decision may be used.
    func remember(_ decision: TrustDecision, about chain: PresentedChain, anchors: TrustAnchors) -> EvidenceExpiry {
        let expiry = expiry(of: decision)
        guard decision.isTrusted, let leaf = chain.leaf else { return expiry }
        entries.withLock { entries in
            let key = Key(leaf: leaf, anchors: anchors)
            if entries[key] == nil, entries.count >= capacity {
                entries = entries.filter { !$0.value.expiry.isPast(at: decision.time) }
                // All lifetimes are equal, so the oldest ends first.
                if entries.count >= capacity,
                    let oldest = entries.min(by: { $0.value.expiry.deadline < $1.value.expiry.deadline })
                {
                    entries[oldest.key] = nil
                }
            }
            entries[key] = Entry(chain: chain, expiry: expiry)
        }
        return expiry
    }

    /// Records the evidence for a connection to an origin.
    func noteLastChain(_ chain: PresentedChain, of origin: HTTPOrigin) {
        lastChains.withLock { chains in
            if chains[origin] == nil, chains.count >= capacity { _ = chains.popFirst() }
            chains[origin] = chain
        }
    }

    /// Whether the next connection to an origin will need evidence, if the server presents the same leaf as last time.
    func isMissing(for origin: HTTPOrigin, anchors: TrustAnchors, at time: Date) -> Bool {
        guard let chain = lastChains.withLock({ $0[origin] }), let leaf = chain.leaf else { return true }
        return chain.certificates.count > 1 && evidence(about: leaf, anchors: anchors, at: time) == nil
    }

    /// The expiry of evidence, at most that of the decision.
    func expiry(of decision: TrustDecision) -> EvidenceExpiry {
        EvidenceExpiry(deadline: .now() + lifetime, holdsUntil: decision.holdsUntil)
    }
}
