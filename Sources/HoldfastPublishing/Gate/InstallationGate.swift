public import Foundation
public import Holdfast
import HoldfastSigning

/// Says whether a certificate may be installed on a host now: whether every client that may be out there gets in with it.
///
/// ```swift
/// let gate = try InstallationGate(installing: .chain(next), on: host, judging: inputs, servedUntil: end)
/// guard gate.answer == .open else { return report(gate) }
/// ```
/// It asks ``PublicationOutlook`` about the next certificate as if it were served from now on, and has no rule of its own
/// about pins. It knows one thing that an outlook cannot know: that clients may hold a document from before the ones that
/// were named.
public struct InstallationGate: StoredValue {
    /// What its result is called in stored JSON.
    public static var storedName: String { "installationGate" }

    /// What is about to be installed.
    public enum Next: Sendable, Hashable, Codable {
        /// DER of the certificates, leaf first.
        case chain([Data])
        /// DER of a SubjectPublicKeyInfo of which there is no certificate yet, such as that of a certificate request.
        /// Nobody knows its issuers then, so only a pin of this key lets a client in.
        case key(Data)
    }

    /// Whether it may be installed.
    public enum Answer: Sendable, Hashable, Codable {
        /// Every client gets in, now and for the whole span.
        case open
        /// Every client gets in now, but not until the end of the span.
        case ending(at: Date)
        /// Clients would be locked out. From `until` on all get in, if what was given stays as it is, and at least for the
        /// span unless ``InstallationGate/openUntil`` says otherwise; nil if they never will.
        case closed(until: Date?)
        /// Nobody can say.
        case unknown
    }

    /// Whether it may be installed.
    public let answer: Answer
    /// Why it may not, or not for long; nil for `open`.
    public let cause: PublicationOutlook.Cause?
    /// Which clients decided; nil for `open`, and if it is not about clients of a document.
    public let decisive: PublicationOutlook.Row?
    /// What was judged: the next certificate, from now on.
    public let outlook: PublicationOutlook
    /// The first instant at which what is served now is no longer valid; nil if that is not known.
    public let servedUntil: Date?
    /// If it may be installed later, but clients do not get in for the whole span then: the first instant at which they no
    /// longer do. A certificate of a few days ends so soon.
    public let openUntil: Date?

    /// The time from which on was judged, to the second.
    package var judgedFrom: Date { outlook.inputs.now }

    /// Whether the next certificate is to be installed now although it may not be: what is served now has ended, or ends
    /// before the wait is over, so that some clients are locked out either way, and by waiting all of them.
    public var servedEndsFirst: Bool {
        guard let servedUntil else { return false }
        return switch answer {
        case .open: false
        case .ending(let end): PublicationTiming.ends(servedUntil, beforeEndOfWait: end)
        case .closed(let until): PublicationTiming.ends(servedUntil, beforeEndOfWait: until ?? judgedFrom)
        case .unknown: PublicationTiming.ends(servedUntil, beforeEndOfWait: judgedFrom)
        }
    }

    /// If ``servedEndsFirst``: the first instant from which some clients are locked out whether or not the next
    /// certificate is installed now.
    public var lockedOutSince: Date? {
        guard servedEndsFirst else { return nil }
        if case .ending(let end) = answer { return end }
        return servedUntil
    }

    /// Judges.
    /// - Parameters:
    ///   - next: what is about to be installed.
    ///   - host: the host, with its port.
    ///   - inputs: the documents that clients may hold, the platforms, the builds and the staleness. The span is how long
    ///     clients must get in after the installation. The hosts are not used.
    ///   - hasEarlierDocuments: whether clients may hold documents from before those that are given, unless these are
    ///     older than the staleness or replace another that is given. False only for documents that were never published
    ///     before.
    ///   - servedUntil: the first instant at which what is served now is no longer valid; nil if that is not known.
    ///   - keepsKeys: whether the next chain has the leaf's key and the issuers' keys of every chain that the host shows.
    ///     Clients that pin keys then get in with it if they get in now, whatever document they hold.
    /// - Throws: ``PublishingError`` `invalidInput`.
    public init(
        installing next: Next, on host: DialedHost, judging inputs: PublicationOutlook.Inputs,
        hasEarlierDocuments: Bool = true, servedUntil: Date? = nil, keepsKeys: Bool = false
    ) throws(PublishingError) {
        var inputs = inputs
        try Self.plan(next, on: host, &inputs)
        let outlook = try PublicationOutlook(judging: inputs)
        self.outlook = outlook
        self.servedUntil = servedUntil
        // Certificates that documents pin change with every renewal, keys do not.
        let isUnchanged = keepsKeys && inputs.documents.allSatisfy(\.kind.pinsKeys)
        let unnamed = hasEarlierDocuments && !isUnchanged ? Self.unnamedDocuments(inputs) : nil
        let row = outlook.decisive.map { outlook.rows[$0] }
        var opening: (from: Date, until: Date?)?
        switch outlook.verdict {
        case .unknown: (answer, cause, decisive) = (.unknown, row?.cause, row)
        case .out:
            opening = try Self.opening(inputs, notBefore: unnamed?.until)
            (answer, cause, decisive) = (.closed(until: opening?.from), row?.cause, row)
        case .in, .ending:
            if let unnamed {
                opening = try Self.opening(inputs, notBefore: unnamed.until)
                (answer, cause, decisive) = (.closed(until: opening?.from), unnamed.cause, nil)
            } else if outlook.verdict == .ending, let row {
                (answer, cause, decisive) = (.ending(at: Self.end(of: row) ?? inputs.now), row.cause, row)
            } else {
                (answer, cause, decisive) = (.open, nil, nil)
            }
        }
        openUntil = opening?.until
    }

    // MARK: What is judged

    /// Makes the next certificate all that the host shows, from now on.
    private static func plan(
        _ next: Next, on host: DialedHost, _ inputs: inout PublicationOutlook.Inputs
    ) throws(PublishingError) {
        inputs.now = Date(wholeSeconds: inputs.now.wholeSeconds)
        let chain: [Data]
        switch next {
        case .chain(let certificates): chain = certificates
        case .key(let key):
            let end = inputs.now.addingTimeInterval((OutlookLimits.longest * 2).inSeconds)
            do throws(SigningError) {
                let begins = inputs.now.addingTimeInterval(-1)
                let standIn = try StandInAuthority(from: begins, until: end)
                chain = [Data(try standIn.certificate(of: [UInt8](key), for: host, from: begins, until: end))]
                inputs.platforms = [
                    .init("any platform that trusts its issuer", anchors: [Data(standIn.certificate)])
                ]
            } catch {
                throw PublishingError(.invalidInput, of: "the next key", expected: error.expected, found: error.found)
            }
        }
        inputs.hosts = [
            .init(
                host.name, port: host.port,
                shown: [.init(planned: chain, at: "the next certificate", from: inputs.now)])
        ]
    }

    /// Clients may hold a document that nobody named: one from before a document that was published within the
    /// staleness, unless those that are given took each other's place without a gap for as long. Builds keep what they
    /// carry, so what came before it is another build.
    private static func unnamedDocuments(
        _ inputs: PublicationOutlook.Inputs
    ) -> (until: Date, cause: PublicationOutlook.Cause)? {
        let gaps = inputs.documents.indices.compactMap { index -> (until: Date, name: String)? in
            let document = inputs.documents[index]
            guard document.kind != .shippedPins, document.replaced == nil else { return nil }
            let since = Self.firstNamed(before: document, among: inputs.documents)
            let lifetime = ((try? HeldDocument(index, inputs))?.lifetime).map { Duration.seconds($0) }
            let until = inputs.timing.lastUse(ofDocumentReplacedAt: since.published, lasting: lifetime)
            return inputs.now < until ? (until, since.name) : nil
        }
        guard let last = gaps.max(by: { $0.until < $1.until }) else { return nil }
        return (
            last.until,
            PublicationOutlook.Cause(
                .document, at: inputs.now,
                "clients that have not asked since \(last.name) was published may hold an earlier document, and none was "
                    + "given")
        )
    }

    /// The earliest of the documents that led to one without a gap, each replaced by the next.
    private static func firstNamed(
        before document: PublicationOutlook.Document, among all: [PublicationOutlook.Document]
    ) -> PublicationOutlook.Document {
        var first = document
        for _ in all {
            let earlier = all.first { other in
                guard let replaced = other.replaced, !other.isCarriedAlone else { return false }
                return first.published <= replaced && other.published < first.published
                    && other.kind.isForSameClients(as: first.kind)
            }
            guard let earlier else { break }
            first = earlier
        }
        return first
    }

    // MARK: When it may be installed

    /// The first instant from which every client gets in for the whole span; if there is none within the staleness and
    /// twice the span, the first from which they get in at all, and until when. Nil if they never do.
    private static func opening(
        _ inputs: PublicationOutlook.Inputs, notBefore earliest: Date?
    ) throws(PublishingError) -> (from: Date, until: Date?)? {
        var inputs = inputs
        let span = inputs.span
        inputs.span = min(OutlookLimits.longest, inputs.timing.wait + max(span, .seconds(1)) * 2)
        let outlook = try PublicationOutlook(judging: inputs)
        let counted = outlook.rows.filter { $0.holders != .older }
        guard !counted.contains(where: { $0.verdict == .unknown }) else { return nil }
        let closed = counted.flatMap(\.spans).filter { !$0.getsIn || $0.isGrace }
        let end = inputs.now.addingTimeInterval(inputs.span.inSeconds)
        let first = max(earliest ?? inputs.now, inputs.now)
        let candidates = ([first] + closed.map(\.end).filter { first < $0 }).sorted()
        let lasting = candidates.first { instant in
            let last = instant.addingTimeInterval(span.inSeconds)
            return last <= end && !closed.contains { $0.start < last && instant < $0.end }
        }
        if let lasting { return (lasting, nil) }
        let next = candidates.first { instant in
            instant < end && !closed.contains { $0.start <= instant && instant < $0.end }
        }
        guard let next else { return nil }
        return (next, closed.map(\.start).filter { next < $0 }.min() ?? end)
    }

    /// When a row that ends does so.
    private static func end(of row: PublicationOutlook.Row) -> Date? {
        row.verdict == .out ? row.start : row.verdictEnd
    }
}

extension PublicationOutlook.Document.Kind {
    /// Whether such documents pin keys alone, and no certificates.
    fileprivate var pinsKeys: Bool {
        switch self {
        case .shippedPins, .repository: true
        case .staticList, .challengedList, .trustServer: false
        }
    }
}
