import Foundation
import Holdfast
import HoldfastTUF

/// A document as its clients hold it: verified by their own code, or the reason why they refuse it.
struct HeldDocument: Sendable {
    /// The content as clients read it.
    enum Content: Sendable {
        case pinFile(PinFile)
        case list(FingerprintListPins)
        case trustServer(TrustServerDocumentPins)
        case repository(PinBundlePins)
        /// No client accepts it.
        case refused(String)
    }

    /// A time from which new clients, with only the content of their build, have the same result.
    struct Beginning: Sendable {
        let second: Int64
        /// Why they get no pins; nil if they get them.
        let refusal: (code: PublicationOutlook.Cause.Code, words: String)?
    }

    let index: Int
    let document: PublicationOutlook.Document
    let content: Content
    /// Whether a machine re-signs it and its rounds continue.
    let isRenewed: Bool
    /// The hosts that its clients dial; nil for all.
    let patterns: [HostPattern]?
    /// The times at which its effect changes for every host: the ends of documents and the beginnings of grace.
    let boundaries: [Int64]
    /// The results for new clients, in the order of time; empty for kinds whose new clients do not differ from others.
    let beginnings: [Beginning]
    /// The first instant at which clients stop using it, grace included; nil if it never ends.
    let end: Date?
    /// For a document that a machine re-signs, the number of seconds for which clients use it after it was signed; nil
    /// for other kinds.
    let lifetime: TimeInterval?

    init(_ index: Int, _ inputs: PublicationOutlook.Inputs) throws(PublishingError) {
        let document = inputs.documents[index]
        let now = Date(wholeSeconds: inputs.now.wholeSeconds)
        var content = Self.content(of: document, at: now)
        var (end, lifetime): (Date?, TimeInterval?)
        var (boundaries, expirations): ([Date?], [Date]) = ([], [])
        var isRenewed = Self.hasFreshRounds(document, content, at: now)
        var beginnings: [Beginning] = []
        switch content {
        case .refused: isRenewed = false
        case .pinFile(let file):
            end = file.end
            boundaries = [file.graceBegins, end]
        case .list(let list):
            end = list.end
            boundaries = [end]
        case .trustServer(let pins):
            lifetime = pins.end.timeIntervalSince(pins.timestamp)
            if isRenewed {
                content = Self.renewed(document, at: now)
            } else {
                end = pins.end
                boundaries = [pins.graceBegins, end]
                expirations = [pins.downloadEnds]
            }
        case .repository(let pins):
            end = pins.end
            boundaries = [pins.graceBegins, end]
            expirations = pins.expirations
        }
        let seconds = Set([Date.distantPast] + expirations).map(\.wholeSeconds).sorted()
        for second in seconds {
            let time = second == .max ? now : Date(wholeSeconds: second)
            switch content {
            case .trustServer(let pins):
                let error = isRenewed ? nil : pins.refusalOfDownload(at: time)
                beginnings.append(Beginning(second: second, refusal: error.map { (.document, Self.text($0)) }))
            case .repository(let pins):
                let error = pins.refusal(at: time, isRenewed: isRenewed)
                beginnings.append(Beginning(second: second, refusal: error.map(Self.refusal)))
            case .pinFile, .list, .refused: break
            }
        }
        self.index = index
        self.document = document
        self.content = content
        self.isRenewed = isRenewed
        self.beginnings = beginnings
        self.end = end
        self.lifetime = lifetime
        self.boundaries = (boundaries.compactMap(\.self) + expirations).map(\.wholeSeconds)
        patterns = try document.hosts.map { texts throws(PublishingError) in
            try texts.map { text throws(PublishingError) in try Self.pattern(text, of: document) }
        }
    }

    /// The source of pins for clients; nil if they refuse the document.
    var source: (any PinSource)? {
        switch content {
        case .pinFile(let file): file
        case .list(let list): list
        case .trustServer(let pins): pins
        case .repository(let pins): pins
        case .refused: nil
        }
    }

    /// The kinds of its clients, with the subject that each pins.
    var clients: [(client: PublicationOutlook.Client, pinning: Pin.Subject?)] {
        switch document.kind {
        case .shippedPins: return [(.shippedPins, nil)]
        case .staticList: return [(.staticList, nil)]
        case .challengedList: return [(.challengedList, nil)]
        case .repository: return [(.repository, nil)]
        case .trustServer(_, _, let pinning):
            return PublicationOutlook.Document.PinnedSubject.allCases.filter(pinning.contains).map { subject in
                subject == .certificate
                    ? (.trustServerCertificates, .certificate) : (.trustServerKeys, .publicKey)
            }
        }
    }

    /// Whether new clients have another result than those that hold it.
    var hasBeginnings: Bool { document.replaced == nil && !beginnings.isEmpty && !isOnlyCarried }

    /// Whether clients have it only from their build.
    var isOnlyCarried: Bool { document.kind == .shippedPins }

    /// Why new clients get no pins at a time; nil if they get them.
    func refusal(at second: Int64) -> (code: PublicationOutlook.Cause.Code, words: String)? {
        beginnings.last { $0.second <= second }?.refusal
    }

    /// The times at which the document's requirements for a host change, as known at a given time.
    func pinEnds(of host: DialedHost, _ pinning: Pin.Subject?, at second: Int64) -> [Int64] {
        let question = PinQuestion(host: host, time: Date(wholeSeconds: second), subject: pinning)
        guard case .required(let pins) = source?.answer(to: question).content else { return [] }
        return pins.rules.map(\.end.wholeSeconds)
    }

    func isDialed(_ host: DialedHost) -> Bool { patterns.map { $0.contains { $0.matches(host) } } ?? true }

    /// The documents that apply to a host.
    ///
    /// A build queries a source only for hosts that it was built to dial with it. A document in builds that is not
    /// replaced therefore does not restrict hosts that it does not name: the platform or another source of the app
    /// decides there. A host that it names with other ports, or as retired, is refused. If a host is added to a
    /// published document, clients with an earlier one do not connect to it yet.
    static func deciding(about host: DialedHost, among documents: [HeldDocument]) -> [HeldDocument] {
        let dialed = documents.filter { $0.isDialed(host) }
        let governing = dialed.filter { $0.governs(host) }
        // If no source names the host, an app that queries one of them nevertheless gets a refusal.
        return governing.isEmpty ? dialed : governing
    }

    /// Whether its pins apply to a host for which clients have other sources as well.
    private func governs(_ host: DialedHost) -> Bool {
        // The inputs specify which hosts its clients dial.
        guard patterns == nil, document.isCarriedAlone || document.replaced != nil else { return true }
        switch content {
        case .pinFile(let file): return file.host(for: host) != nil
        case .repository(let pins):
            guard let entry = pins.file.host(for: host) else { return false }
            return document.isCarriedAlone || !entry.isRetired
        case .list(let list): return list.names(host)
        case .trustServer(let pins): return pins.names(host)
        case .refused: return true
        }
    }

    /// Whether another document replaces this one for the same clients.
    func isSucceeded(by other: HeldDocument) -> Bool {
        other.index != index && other.document.replaced == nil && other.document.published >= document.published
            && other.document.kind.isForSameClients(as: document.kind)
    }

    /// Why clients that hold this document keep it when they are served another; nil if they take the other.
    func refusal(of other: HeldDocument, at time: Date) -> String? {
        switch (content, other.content) {
        case (_, .refused(let words)): words
        case (.list(let old), .list(let new)): old.refusal(of: new, at: time).map(Self.text)
        case (.trustServer(let old), .trustServer(let new)): old.refusal(of: new, at: time).map(Self.text)
        case (.repository(let old), .repository(let new)): old.refusal(of: new, at: time)
        default: nil
        }
    }

    private static func pattern(
        _ text: String, of document: PublicationOutlook.Document
    ) throws(PublishingError) -> HostPattern {
        do throws(HostPatternError) {
            return try HostPattern(text)
        } catch {
            throw PublishingError(
                .invalidInput, of: document.name.quoted, expected: error.expected, found: error.found)
        }
    }

    private static func text(_ error: some HoldfastError) -> String {
        "expected \(error.expected), found \(error.found)"
    }

    private static func refusal(_ error: TUFError) -> (code: PublicationOutlook.Cause.Code, words: String) {
        let code: PublicationOutlook.Cause.Code =
            switch error.code == .expired ? error.subject : nil {
            case "timestamp": .timestamp
            case "snapshot": .snapshot
            case "targets": .targets
            case "root": .root
            default: .document
            }
        return (code, "\(error.subject.map { "\($0): " } ?? "")\(text(error))")
    }
}

extension PinFile {
    /// The first instant of the grace period after its last second; nil if it has none.
    fileprivate var graceBegins: Date? {
        guard let notAfter, let end else { return nil }
        let begins = Date(wholeSeconds: notAfter.wholeSeconds + 1)
        return begins < end ? begins : nil
    }
}

extension PublicationOutlook.Document {
    /// Whether it exists in builds and is not served to clients: a pin file, or a bundle with which an app starts.
    var isCarriedAlone: Bool { !appVersions.isEmpty && (kind == .shippedPins || isNeverServed) }

    /// Whether it was replaced at the time of its publication, so that only builds can have it.
    var isNeverServed: Bool { !appVersions.isEmpty && (replaced.map { $0 <= published } ?? false) }
}

extension HeldDocument {
    /// When grace begins for clients that do not report it themselves; nil if there is no grace, or they report it.
    var unreportedGrace: Int64? {
        guard case .pinFile(let file) = content else { return nil }
        return file.graceBegins?.wholeSeconds
    }
}
