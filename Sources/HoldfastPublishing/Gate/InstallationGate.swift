public import Foundation
public import Holdfast
import HoldfastSigning

/// Decides if a certificate may be installed on a host now: only if every client in the field can connect with it.
///
/// ```swift
/// let gate = try InstallationGate(installing: .chain(next), on: host, judging: inputs, servedUntil: end)
/// guard gate.answer == .open else { return report(gate) }
/// ```
/// It evaluates the announced certificate with ``PublicationOutlook`` as if it were served from now on, and has no own
/// rules about pins. It adds one fact that an outlook does not have: clients may hold a document that is older than the
/// given ones.
public struct InstallationGate: StoredValue {
    /// The name of the result in stored JSON.
    public static var storedName: String { "installationGate" }

    /// The certificate or key that is about to be installed.
    public enum Next: Sendable, Hashable, Codable {
        /// DER of the certificates, leaf first.
        case chain([Data])
        /// DER of a SubjectPublicKeyInfo that has no certificate yet, such as that of a certificate request. Its
        /// issuers are unknown, so clients can connect only if this key is pinned.
        case key(Data)
    }

    /// Whether it may be installed.
    public enum Answer: Sendable, Hashable, Codable {
        /// Every client can connect, now and for the whole span.
        case open
        /// Every client can connect now, but not until the end of the span.
        case ending(at: Date)
        /// Clients would be locked out. From `until` on all can connect if the inputs do not change, at least for the
        /// span unless ``InstallationGate/openUntil`` is set; nil if some never can.
        case closed(until: Date?)
        /// The inputs do not allow an answer.
        case unknown
    }

    /// Whether it may be installed.
    public let answer: Answer
    /// Why it may not be installed, or only for a limited time; nil for `open`.
    public let cause: PublicationOutlook.Cause?
    /// The row of the clients that decided; nil for `open`, and if the cause is not about clients of a document.
    public let decisive: PublicationOutlook.Row?
    /// The evaluation of the announced certificate, from now on.
    public let outlook: PublicationOutlook
    /// The first instant at which the served certificate is no longer valid; nil if that is unknown.
    public let servedUntil: Date?
    /// If it may be installed later, but clients can then not connect for the whole span: the first instant at which
    /// they no longer can. This happens for certificates that last only a few days.
    public let openUntil: Date?

    /// The beginning of the evaluated time, to the second.
    package var judgedFrom: Date { outlook.inputs.now }

    /// Whether the announced certificate should be installed now although the gate is not open. The served certificate
    /// has ended or ends before the wait is over, so some clients are locked out in any case, and all of them if you
    /// wait.
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

    /// Evaluates the installation.
    /// - Parameters:
    ///   - next: the certificate or key that is about to be installed.
    ///   - host: the host, with its port.
    ///   - inputs: the documents that clients may hold, the platforms, the builds and the staleness. The span is the
    ///     time for which clients must be able to connect after the installation. The hosts are not used.
    ///   - hasEarlierDocuments: whether clients may hold documents that are older than the given ones, unless these are
    ///     older than the staleness or replace another given document. False only for documents that were never
    ///     published before.
    ///   - servedUntil: the first instant at which the served certificate is no longer valid; nil if that is unknown.
    ///   - keepsKeys: whether the announced chain has the leaf's key and the issuers' keys of every chain that the host
    ///     presents. Clients that pin keys and can connect now can then connect with it, no matter which document they
    ///     hold.
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
        // A renewal changes pinned certificates, but not pinned keys.
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

    // MARK: Evaluated inputs

    /// Replaces the presentations of the host with the announced certificate, from now on.
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

    /// Clients may hold a document that is not among the inputs: one from before a document that was published within
    /// the staleness, unless the given documents replaced each other without a gap for that long. A build keeps its
    /// document, so a document before it belongs to another build.
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

    /// The earliest of the documents that led to this one, each replaced by the next without a gap.
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

    // MARK: Time of installation

    /// The first instant from which every client can connect for the whole span. If there is no such instant within the
    /// staleness and twice the span: the first instant from which they can connect at all, and until when. Nil if they
    /// never can.
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

    /// The end of a row that is locked out or ending.
    private static func end(of row: PublicationOutlook.Row) -> Date? {
        row.verdict == .out ? row.start : row.verdictEnd
    }
}

extension PublicationOutlook.Document.Kind {
    /// Whether such documents pin only keys, and no certificates.
    fileprivate var pinsKeys: Bool {
        switch self {
        case .shippedPins, .repository: true
        case .staticList, .challengedList, .trustServer: false
        }
    }
}
