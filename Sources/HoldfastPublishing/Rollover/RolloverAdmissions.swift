import Foundation
import Holdfast

/// When clients let a chain or a key in: asked of their own code for a chain, and read off the pins for a key that is in no
/// certificate yet.
struct RolloverAdmissions {
    /// When clients that have its pin get in.
    let validity: [Range<Date>]
    /// For a key that outlives its certificate, when that ends.
    private(set) var certificateEnd: Date?
    /// The published rules that it satisfies, as indices.
    let matched: [Int]

    private let maker: RolloverMaker
    private let chain: RolloverChain?
    private let pin: Pin

    /// Of a chain.
    init(of chain: RolloverChain, in maker: RolloverMaker) {
        self.maker = maker
        self.chain = chain
        pin = chain.pin
        var validity = Self.spans(maker, chain) { platform in
            let policy = StandardPolicy(host: HostPattern(maker.host))
            let trust = ServerTrust(
                chain: chain.chain, purpose: .server(identity: maker.host), validator: platform.validator)
            return { second in policy.evaluate(trust, at: Date(wholeSeconds: second)).isTrusted }
        }
        let first = validity.first { $0.upperBound > Date(wholeSeconds: maker.begins) }
        let time = max(first?.lowerBound ?? .distantPast, Date(wholeSeconds: maker.begins))
        matched = maker.rules.indices.filter { index in
            maker.platforms.allSatisfy { platform in
                let policy = PinnedPolicy(
                    scope: .hosts(HostPattern(maker.host)), source: SingleRule(rule: maker.rules[index].rule),
                    certificates: [], log: .silent)
                let trust = ServerTrust(
                    chain: chain.chain, purpose: .server(identity: maker.host), validator: platform.validator)
                return policy.evaluate(trust, at: time).isTrusted
            }
        }
        if maker.pinned == .publicKey, let last = validity.last, last.upperBound < .distantFuture {
            certificateEnd = last.upperBound
            validity[validity.count - 1] = last.lowerBound..<Date.distantFuture
        }
        self.validity = validity
    }

    /// Of a key or certificate that is known by its pin alone.
    init(of pin: Pin, in maker: RolloverMaker) {
        self.maker = maker
        self.pin = pin
        chain = nil
        matched = maker.rules.indices.filter { maker.rules[$0].rule.pin == pin }
        let begins = Date(wholeSeconds: maker.begins)
        // An entry of a list ends with its certificate.
        let end = maker.pinned == .certificate ? matched.map { maker.rules[$0].rule.end }.max() : nil
        validity = [begins..<max(begins, end ?? .distantFuture)]
    }

    /// When clients with a document let it in.
    func admissions(by held: HeldDocument, isBeginning: Bool) -> [Range<Date>] {
        guard let chain else { return Self.times(of: pin, in: held, maker) }
        var admitted = validity
        for (_, pinning) in held.clients {
            for begins in held.hasBeginnings && isBeginning ? [false, true] : [false] {
                let spans = Self.spans(maker, chain, held.boundaries) { platform in
                    let trial = ClientTrial(
                        held, pinning: pinning, isBeginning: begins, host: maker.host, chain: chain.chain,
                        validator: platform.validator)
                    let isGraceNow = trial.status(at: maker.begins).isGrace
                    return { second in
                        let status = trial.status(at: second)
                        return status.getsIn && (!status.isGrace || isGraceNow)
                    }
                } ends: { platform, second in
                    ClientTrial(
                        held, pinning: pinning, isBeginning: begins, host: maker.host, chain: chain.chain,
                        validator: platform.validator
                    ).pinEnds(at: second)
                }
                admitted = Self.intersection(admitted, extended(spans, held))
            }
        }
        return admitted
    }

    /// Admissions that end with the certificate go on with its renewal, for as long as the document's pins do.
    private func extended(_ spans: [Range<Date>], _ held: HeldDocument) -> [Range<Date>] {
        guard let certificateEnd, let last = spans.last, last.upperBound == certificateEnd else { return spans }
        let time = last.upperBound.addingTimeInterval(-1)
        let answer = held.source?.answer(to: PinQuestion(host: maker.host, time: time))
        var end = Date.distantFuture
        if case .required(let pins) = answer?.content, pins.enforcement == .enforce, pins.afterExpiry == .reject {
            let rules = pins.rules.filter { rule in
                !rule.isCandidate && rule.counts(at: time) && isMatched(rule, at: time)
            }
            let ends = rules.map(\.end)
            end = (pins.requirement == .any ? ends.max() : ends.min()) ?? certificateEnd
            end = min(end, held.end ?? .distantFuture)
        }
        return spans.dropLast() + [last.lowerBound..<max(end, certificateEnd)]
    }

    private func isMatched(_ rule: PinRule, at time: Date) -> Bool {
        guard let chain else { return rule.pin == pin }
        let policy = PinnedPolicy(
            scope: .hosts(HostPattern(maker.host)), source: SingleRule(rule: rule), certificates: [], log: .silent)
        return maker.platforms.allSatisfy { platform in
            let trust = ServerTrust(
                chain: chain.chain, purpose: .server(identity: maker.host), validator: platform.validator)
            return policy.evaluate(trust, at: time).isTrusted
        }
    }

    /// When a document names a pin, as far as can be told now.
    private static func times(of pin: Pin, in held: HeldDocument, _ maker: RolloverMaker) -> [Range<Date>] {
        let begins = Date(wholeSeconds: maker.begins)
        let answer = held.source?.answer(to: PinQuestion(host: maker.host, time: begins))
        switch answer?.content {
        case .required(let pins):
            if pins.enforcement == .reportOnly { return [begins..<Date.distantFuture] }
            let ends = pins.rules.filter { $0.pin == pin && !$0.isCandidate && $0.counts(at: begins) }.map(\.end)
            guard var end = ends.max() else { return [] }
            if pins.afterExpiry == .standardValidation { end = .distantFuture }
            end = min(end, held.end ?? .distantFuture)
            return begins < end ? [begins..<end] : []
        case .exempt: return [begins..<Date.distantFuture]
        case .some(PinAnswer.Content.none), nil: return []
        }
    }

    // MARK: Spans

    /// When something holds on all platforms.
    private static func spans(
        _ maker: RolloverMaker, _ chain: RolloverChain, _ boundaries: [Int64] = [],
        holds: (ClientPlatform) -> (Int64) -> Bool,
        ends: (ClientPlatform, Int64) -> [Int64] = { _, _ in [] }
    ) -> [Range<Date>] {
        let certificates = chain.chain.certificates.compactMap { try? X509Certificate(der: $0) }
        let ofChain = ClientPlatform.boundaries(of: certificates)
        var all = [Date.distantPast..<Date.distantFuture]
        for platform in maker.platforms {
            var seconds = Set([maker.begins] + ofChain + platform.boundaries + boundaries)
            // The pins of an instant may be others than those of the one before.
            for second in seconds.sorted() where second >= maker.begins && second < maker.ends {
                seconds.formUnion(ends(platform, second))
            }
            let sorted = seconds.filter { maker.begins <= $0 && $0 < maker.ends }.sorted()
            let test = holds(platform)
            var spans: [Range<Date>] = []
            for (index, second) in sorted.enumerated() where test(second) {
                let end = index + 1 < sorted.count ? Date(wholeSeconds: sorted[index + 1]) : Date.distantFuture
                let begin = Date(wholeSeconds: second)
                if let last = spans.last, last.upperBound == begin {
                    spans[spans.count - 1] = last.lowerBound..<end
                } else {
                    spans.append(begin..<end)
                }
            }
            all = intersection(all, spans)
        }
        return all
    }

    private static func intersection(_ one: [Range<Date>], _ other: [Range<Date>]) -> [Range<Date>] {
        one.flatMap { left in
            other.compactMap { right in
                let (begin, end) = (max(left.lowerBound, right.lowerBound), min(left.upperBound, right.upperBound))
                return begin < end ? begin..<end : nil
            }
        }
    }
}

/// A requirement of one rule alone, with which it is asked whether a chain satisfies it.
private struct SingleRule: PinSource {
    let rule: PinRule

    func answer(to question: PinQuestion) -> PinAnswer {
        .required(PinSet(known: [PinRule(rule.pin, at: rule.place)]), at: question.time)
    }
}
