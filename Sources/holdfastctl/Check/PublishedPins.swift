import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF

/// Published pins, as the clients have them that were given them: each question is put to the clients' own policy.
struct PublishedPins: Sendable {
    /// What the pins mean for a server. Its fields are those of the JSON object.
    struct Verdict: Encodable, Sendable {
        /// Whether a client with these pins refuses the server.
        let isLockedOut: Bool
        /// What lets the server in, or why nothing lets it in.
        let text: String
        /// Whole days until the last entry that lets it in expires; absent in documents whose entries do not expire.
        var entryDaysLeft: Int?
        /// Whole days until clients stop using the document; absent for documents that do not age.
        var documentDaysLeft: Int?
        /// Whether an entry, or a file that people make, ends within the days given with --watch.
        var expiresSoon = false

        /// The days that are left, in words.
        var remaining: String? {
            let parts = [
                entryDaysLeft.map { "entry: \(DaysLeft.text($0))" },
                documentDaysLeft.map { "document: \(DaysLeft.text($0))" },
            ].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }

        /// A version that locks clients out, or else one that ends too soon, or else the first.
        static func worst(of verdicts: [Verdict]) -> Verdict? {
            verdicts.first(where: \.isLockedOut) ?? verdicts.first(where: \.expiresSoon) ?? verdicts.first
        }

        private enum CodingKeys: CodingKey {
            case isLockedOut, text, entryDaysLeft, documentDaysLeft, expiresSoon
        }
    }

    /// Where to dial a host of the document: its name, or a pattern that cannot be dialed.
    struct Place: Sendable {
        let name: String
        let port: Int?
    }

    private let name: String
    private let source: any PinSource
    /// The kinds of pins that clients use, each in a policy of its own; nil for clients that use all.
    private var kinds: [Pin.Subject?] = [nil]
    private let places: [Place]
    /// The first instant at which clients stop using the document.
    private let documentEnd: Date?
    /// Whether people make the document, so that its end is a reason for a warning. Trust servers sign every few minutes.
    private let isMadeByPeople: Bool

    /// The pins of a pin file, which is not signed.
    init(pinFile file: PinFile, named name: String) {
        self.name = name
        source = file
        places = Self.places(of: file)
        documentEnd = file.end
        isMadeByPeople = true
    }

    /// Reads a pin file, which is not signed.
    init(pinFile data: Data, named name: String) throws(CommandFailure) {
        self.init(
            pinFile: try PinFileReading.pinFile(
                data, named: name,
                remedies: [
                    .signedList: "Give the signer's public key with --key.",
                    .trustServerDocument: "Give its signer's certificate with --signer.",
                ]), named: name)
    }

    /// Gets the pins from a repository as an app does that was built with a root: from the bundle, or file by file if
    /// there is no bundle.
    init(repository origin: RepositoryOrigin, root: Data, at time: Date) async throws(CommandFailure) {
        let bundle = try await origin.bundle()
        let following = RepositoryFollowing(
            try await origin.following(root: root, at: time), bundle: bundle, root: root, at: time)
        guard let file = following.pins else { throw CommandFailure(.invalidList, following.verdict(at: origin.name)) }
        self.init(pinFile: file, named: "the repository \(origin.name)")
    }

    /// Reads a list that is signed with a key.
    init(list data: Data, named name: String, key: DocumentPublicKey) throws(CommandFailure) {
        let list: FingerprintList
        do throws(DocumentError) {
            list = try FingerprintList(verifying: data, with: key)
        } catch {
            throw CommandFailure(.invalidList, "\(name) does not verify: \(error)")
        }
        self.name = name
        source = FingerprintListPins(list)
        places = list.entries.map { Place(name: $0.name, port: nil) }
        documentEnd = nil
        isMadeByPeople = true
    }

    /// Reads a trust server's document, with the certificate that clients are configured with.
    /// - Parameter customer: the expected customer; nil to accept any.
    init(
        document data: Data, named name: String, signer: String, customer: String?, at time: Date
    ) throws(CommandFailure) {
        let certificate = try KeyFile.content(of: signer)
        do throws(DocumentError) {
            let signer = try TrustServerSigner(certificate: certificate)
            let named: String
            if let customer { named = customer } else { named = try UnverifiedTrustServerDocument(data).customer }
            let document = try TrustServerDocument(verifying: data, by: signer, customer: named, at: time)
            let pins = try TrustServerDocumentPins(
                document, TrustServerConfiguration(url: URL(filePath: "/"), signer: signer, customer: named))
            source = pins
            documentEnd = pins.end
            places = document.entries.map { Place(name: $0.hostname, port: $0.port) }
        } catch {
            throw CommandFailure(.invalidList, "\(name) does not verify: \(error)")
        }
        self.name = name
        kinds = [.certificate, .publicKey]
        isMadeByPeople = false
    }

    /// All hosts that are not retired, on each of their ports. For a domain with its subdomains, the domain itself is
    /// dialed.
    static func places(of file: PinFile) -> [Place] {
        file.hosts.filter { !$0.isRetired }.flatMap { host in
            let name = host.pattern.scope == .oneLabel ? host.pattern.description : host.pattern.base.name
            return host.ports.isEmpty ? [Place(name: name, port: nil)] : host.ports.map { Place(name: name, port: $0) }
        }
    }

    /// Every host that can be dialed, each once.
    var hosts: [DialedHost] {
        var seen: Set<DialedHost> = []
        return places.compactMap(Self.host).filter { seen.insert($0).inserted }
    }

    /// The names that cannot be dialed: patterns, and common names that are not hosts.
    var namesThatCannotBeDialed: [String] {
        places.filter { Self.host($0) == nil }.map(\.name)
    }

    private static func host(_ place: Place) -> DialedHost? {
        try? place.port.map { try DialedHost(place.name, port: $0) } ?? DialedHost(place.name)
    }

    /// The pins of a host that are valid at a time, of every kind that clients use.
    func pins(of host: DialedHost, at time: Date) -> [Pin] {
        guard case .required(let pins) = source.answer(to: PinQuestion(host: host, time: time)).content else {
            return []
        }
        return pins.pins(at: time)
    }

    /// The policy of the clients. Where clients differ in the kind of pins that they use, all of them must get in.
    func policy(of host: DialedHost) throws(PolicyConfigurationError) -> any TrustPolicy {
        let pattern = HostPattern(host)
        let policies = kinds.map { PinnedPolicy(scope: .hosts(pattern), source: source, pinning: $0) }
        guard let only = policies.first, policies.count == 1 else {
            return try CompositePolicy(host: pattern, allOf: policies)
        }
        return only
    }

    // MARK: Verdict

    /// Judges the same chain as clients with these pins do.
    /// - Parameters:
    ///   - decision: what was decided about the chain, by whatever policy.
    ///   - watch: how soon is too soon.
    func judge(_ decision: TrustDecision, validator: PathValidator, watch: ExpiryWatch?) -> Verdict? {
        guard let host = decision.host, let chain = decision.chain, let policy = try? policy(of: host) else { return nil }
        let trust = ServerTrust(chain: chain, purpose: .server(identity: host), validator: validator)
        return verdict(on: policy.evaluate(trust, at: decision.time), watch: watch)
    }

    private func verdict(on decision: TrustDecision, watch: ExpiryWatch?) -> Verdict {
        let document = documentEnd.map { DaysLeft.days(until: $0, from: decision.time) }
        guard decision.isTrusted else {
            return Verdict(isLockedOut: true, text: refusal(decision), documentDaysLeft: document)
        }
        let entry = entryEnd(decision).map { DaysLeft.days(until: $0, from: decision.time) }
        let ends = [entry, isMadeByPeople ? document : nil].compactMap(\.self)
        return Verdict(
            isLockedOut: false,
            text: "\(name) lets clients in" + (Self.remark(on: decision).map { ", \($0)" } ?? ""),
            entryDaysLeft: entry, documentDaysLeft: document,
            expiresSoon: watch.map { watch in ends.contains { $0 < watch.days } } ?? false)
    }

    private func refusal(_ decision: TrustDecision) -> String {
        let findings = decision.findings + decision.members.flatMap(\.findings)
        guard let failure = decision.failure, let host = decision.host,
            findings.contains(where: { $0.kind == .noPins })
        else { return "clients with \(name) are locked out" }
        guard failure.code == .noUsablePins else { return "clients with \(name) are locked out" }
        return findings.contains(.noPins(.notCovered))
            ? "\(name) has no entry for \(host.name), and clients refuse hosts without an entry: found \(failure.found)"
            : "\(name) has no valid pin for \(host.name): expected \(failure.expected), found \(failure.found)"
    }

    /// What else an operator should know about clients that get in.
    private static func remark(on decision: TrustDecision) -> String? {
        for notice in decision.notices {
            switch notice.code {
            case .pinMismatch: return "although no pin matches: mismatches are only reported (mode report)"
            case .pinsExpired: return "although its pins have expired: only the system's trust decides"
            case .candidatePinMismatch: return "and no candidate matches"
            default: continue
            }
        }
        return nil
    }

    /// The first instant at which the entries that matched let nobody in any more, if that is before the document's end.
    private func entryEnd(_ decision: TrustDecision) -> Date? {
        guard let path = decision.path else { return nil }
        let ends = kinds.compactMap { kind -> Date? in
            let question = PinQuestion(host: decision.host, time: decision.time, subject: kind)
            guard case .required(let pins) = source.answer(to: question).content else { return nil }
            return pins.match(in: path, at: decision.time)?.holdsUntil
        }
        guard let end = ends.min(), end < documentEnd ?? .distantFuture else { return nil }
        return end
    }
}
