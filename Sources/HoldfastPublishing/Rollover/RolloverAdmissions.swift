import Foundation
import Holdfast

/// The times at which clients accept a chain or a key, according to their own code. For a key or certificate that is
/// not available, a certificate that servers present stands in.
struct RolloverAdmissions {
    /// When clients that have its pin can connect.
    let validity: [Range<Date>]
    /// For a key that outlives its certificate, when the certificate ends.
    private(set) var certificateEnd: Date?
    /// The published rules that it satisfies, as indices.
    let matched: [Int]

    private let maker: RolloverMaker
    private let subject: Subject

    private enum Subject {
        case chain(RolloverChain)
        /// A key or certificate of which only the pin is known, and the chains that stand in for it.
        case pin(Pin, [StandIn])
    }

    /// For a chain.
    init(of chain: RolloverChain, in maker: RolloverMaker) {
        self.maker = maker
        subject = .chain(chain)
        var validity = Self.spans(maker, chain.boundaries) { platform in
            let policy = StandardPolicy(host: HostPattern(maker.host))
            let trust = ServerTrust(
                chain: chain.chain, purpose: .server(identity: maker.host), validator: platform.validator)
            return { second in policy.evaluate(trust, at: Date(wholeSeconds: second)).isTrusted }
        }
        let first = validity.first { $0.upperBound > Date(wholeSeconds: maker.begins) }
        let time = max(first?.lowerBound ?? .distantPast, Date(wholeSeconds: maker.begins))
        matched = maker.rules.indices.filter { index in
            maker.platforms.allSatisfy { platform in
                maker.isSatisfied(index, by: chain.chain, under: platform.validator, at: time)
            }
        }
        if maker.pinned == .publicKey, let last = validity.last, last.upperBound < .distantFuture {
            certificateEnd = last.upperBound
            validity[validity.count - 1] = last.lowerBound..<Date.distantFuture
        }
        self.validity = validity
    }

    /// For a key or certificate of which only the pin is known.
    /// - Parameter shown: the admissions of the chains that servers present.
    init(of pin: Pin, beside shown: [RolloverAdmissions], in maker: RolloverMaker) {
        self.maker = maker
        let standIns = shown.compactMap(\.standIn)
        subject = .pin(pin, standIns)
        let begins = Date(wholeSeconds: maker.begins)
        let named = maker.rules.indices.filter { maker.rules[$0].rule.pin == pin }
        matched = named.filter { index in
            standIns.contains { standIn in
                let leaf = standIn.chain.leaf
                return maker.isSatisfied(
                    index, by: PresentedChain([leaf.der]), under: UnknownRoot(leaf: leaf), at: begins,
                    standIn.names(for: pin))
            }
        }
        // The entry of a certificate in a list ends with the certificate.
        let end = maker.pinned == .certificate ? matched.map { maker.rules[$0].rule.end }.max() : nil
        // A pin that is published only for issuers is not the pin of a server key.
        let isServers = named.isEmpty || !matched.isEmpty
        // The key of a certificate is unknown from its pin, and vice versa.
        let isKnown = maker.published.allSatisfy { $0.pinnedSubjects == [pin.subject] }
        validity = isServers && isKnown ? [begins..<max(begins, end ?? .distantFuture)] : []
    }

    /// The chain as a stand-in; nil without a chain.
    private var standIn: StandIn? {
        guard case .chain(let chain) = subject else { return nil }
        let times = validity.last.map { last in
            last.lowerBound...max(last.lowerBound, (certificateEnd ?? last.upperBound).addingTimeInterval(-1))
        }
        return StandIn(chain: chain, times: times)
    }

    /// When clients with a document accept it.
    func admissions(by held: HeldDocument, isBeginning: Bool) -> [Range<Date>] {
        var admitted = validity
        let clients = held.clients.map(\.pinning)
        if case .pin(let pin, _) = subject, !clients.allSatisfy({ ($0 ?? pin.subject) == pin.subject }) {
            // The key of a certificate is unknown from its pin, and vice versa. It is therefore unknown if clients that
            // pin the other one can connect, and advice must not rely on it.
            return []
        }
        for pinning in clients {
            for begins in held.hasBeginnings && isBeginning ? [false, true] : [false] {
                let spans = Self.spans(maker, boundaries + held.boundaries) { platform in
                    switch subject {
                    case .chain(let chain):
                        // The key's next certificate will be as good as this one, and the pins may end earlier.
                        let last = certificateEnd?.addingTimeInterval(-1) ?? .distantFuture
                        let validator = RenewedValidator(base: platform.validator, times: .distantPast...last)
                        return getsIn(trial(held, pinning, begins, chain.chain, validator), held)
                    case .pin(let pin, let standIns):
                        let tests = standIns.map {
                            getsIn(pin, $0, platform, held) { trial(held, pinning, begins, $0, $1, $2) }
                        }
                        return { second in !tests.isEmpty && tests.allSatisfy { $0(second) } }
                    }
                } ends: { second in
                    held.pinEnds(of: maker.host, pinning, at: second)
                }
                admitted = Self.intersection(admitted, spans)
            }
        }
        return admitted
    }

    private var boundaries: [Int64] { if case .chain(let chain) = subject { chain.boundaries } else { [] } }

    private func trial(
        _ held: HeldDocument, _ pinning: Pin.Subject?, _ isBeginning: Bool, _ chain: PresentedChain,
        _ validator: any ChainValidator, _ names: [Pin: Pin] = [:]
    ) -> ClientTrial {
        ClientTrial(
            held, pinning: pinning, isBeginning: isBeginning, host: maker.host, chain: chain, validator: validator
        ) { names.isEmpty ? $0 : RenamedPins($0, names) }
    }

    /// Whether clients accept a chain at a second. Grace counts if it has already begun, or for a replaced document,
    /// which cannot be renewed and which clients use until its very end.
    private func getsIn(_ trial: ClientTrial, _ held: HeldDocument) -> (Int64) -> Bool {
        let countsGrace = held.document.replaced != nil || trial.status(at: maker.begins).isGrace
        return { second in
            let status = trial.status(at: second)
            return status.getsIn && (!status.isGrace || countsGrace)
        }
    }

    /// Whether clients accept a key or certificate of which only the pin is known: regardless of the authority that
    /// certifies it, or because of its own pin under the authority of a chain that servers present.
    private func getsIn(
        _ pin: Pin, _ standIn: StandIn, _ platform: ClientPlatform, _ held: HeldDocument,
        _ trial: (PresentedChain, any ChainValidator, [Pin: Pin]) -> ClientTrial
    ) -> (Int64) -> Bool {
        let (leaf, chain) = (standIn.chain.leaf, standIn.chain.chain)
        let anywhere = getsIn(
            trial(PresentedChain([leaf.der]), UnknownRoot(leaf: leaf), standIn.names(for: pin)), held)
        guard let times = standIn.times else { return anywhere }
        let validator = RenewedValidator(base: platform.validator, times: times)
        let here = getsIn(trial(chain, validator, standIn.names(for: pin)), held)
        let anyway = getsIn(trial(chain, validator, standIn.names(without: pin)), held)
        return { second in anywhere(second) || here(second) && !anyway(second) }
    }

    // MARK: Spans

    /// When a condition is met on all platforms.
    private static func spans(
        _ maker: RolloverMaker, _ boundaries: [Int64],
        holds: (ClientPlatform) -> (Int64) -> Bool,
        ends: (Int64) -> [Int64] = { _ in [] }
    ) -> [Range<Date>] {
        var all = [Date.distantPast..<Date.distantFuture]
        for platform in maker.platforms {
            var seconds = Set([maker.begins] + platform.boundaries + boundaries)
            // The pins at this instant may differ from those of the one before.
            for second in seconds.sorted() where second >= maker.begins && second < maker.ends {
                seconds.formUnion(ends(second))
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
