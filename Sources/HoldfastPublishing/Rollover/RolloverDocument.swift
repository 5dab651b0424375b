package import Foundation
package import Holdfast
import HoldfastTUF

/// The published document in which a change of keys is prepared.
package struct RolloverDocument: Sendable {
    /// Where clients get it from.
    package enum Source: Sendable {
        case pinFile, list, challengedList, repository, trustServer
    }

    private let pins: PublishedPins
    private let content: HeldDocument.Content

    /// - Parameter time: when advice is asked for.
    package init(_ pins: PublishedPins, at time: Date) {
        self.pins = pins
        content = HeldDocument.content(of: pins.document, at: time)
        staleness = pins.document.waitingTime(at: time)
    }

    /// What people call it.
    package var name: String { pins.document.name }

    /// Where clients get it from.
    package var source: Source { pins.document.kind.rolloverSource }

    /// When the document says that it was made, for kinds that are published as soon as they are made. A trust server makes
    /// its document anew all the time, and a repository's pins are signed before they are published.
    package var issued: Date? {
        guard case .pinFile(let file) = content else { return nil }
        return file.issuedAt
    }

    /// For how long clients may use an older document, according to the document or to what clients of its kind
    /// do; nil for a file that apps ship.
    package let staleness: Duration?

    /// Whether clients pin certificates, of which a key says nothing: a list does, and so may a trust server's document.
    package var pinsCertificates: Bool { source.pinsCertificates }

    /// The document as clients may hold it that get it from where it is published.
    ///
    /// A machine renews a repository's timestamp, which ends within days whatever people do about keys. As long as it has
    /// not ended, it is taken to be renewed in time: see ``renewalPremise(at:)``.
    /// - Parameters:
    ///   - published: since when it is published.
    ///   - time: when advice is asked for.
    package func held(from published: Date, at time: Date) -> PublicationOutlook.Document {
        var document = pins.document.served(from: published, until: nil)
        if let end = timestampEnd, time < end {
            // What lies ahead by a part of a second is a round of the future.
            (document.renewalInterval, document.lastRenewal) = (.seconds(1), Date(wholeSeconds: time.wholeSeconds))
        }
        return document
    }

    /// When the timestamp of a repository expires; nil for other documents.
    private var timestampEnd: Date? { if case .repository(let pins) = content { pins.timestampEnd } else { nil } }

    /// What advice takes for granted of the machine that renews a repository's timestamp; nil for other documents, and once
    /// the timestamp has ended.
    package func renewalPremise(at time: Date) -> String? {
        guard let end = timestampEnd, time < end else { return nil }
        return "the timestamp of \(name) is renewed before it ends at \(end.formatted(.iso8601))"
    }

    /// Whether what apps need of a repository to begin ends with its root, before the pins and targets: then other pins help
    /// nobody, and the root needs a later end. False for other documents.
    package var endsWithRoot: Bool {
        guard case .repository(let pins) = content, let root = pins.expirations.first,
            let targets = pins.expirations.last
        else { return false }
        return root < min(targets, pins.graceBegins)
    }

    /// All hosts that can be asked, in the order of the document, and the patterns that cannot be dialed.
    /// - Parameter defaultPort: the port of a place that names none.
    package func hosts(defaultPort: Int) -> (hosts: [DialedHost], patterns: [String]) {
        var hosts: [DialedHost] = []
        for host in pins.hosts {
            guard let dialed = try? host.withPort(orDefault: defaultPort), !hosts.contains(dialed) else { continue }
            hosts.append(dialed)
        }
        var patterns: [String] = []
        for name in pins.namesThatCannotBeDialed
        where !patterns.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { patterns.append(name) }
        return (hosts, patterns)
    }

    /// Makes sure that clients take the document, and that it decides about a host.
    package func check(_ host: DialedHost, at time: Date) throws(PublishingError) {
        try check(at: time)
        guard !decides(about: host, at: time) else { return }
        throw PublishingError(
            .invalidDocument, of: name, expected: "a document that has pins of \(host)", found: "no pins of \(host)")
    }

    /// Makes sure that clients take the document. Clients that begin refuse every server otherwise, which no change of keys
    /// mends.
    package func check(at time: Date) throws(PublishingError) {
        switch content {
        case .pinFile, .list, .repository: break
        case .trustServer(let pins):
            guard let refusal = pins.refusalOfDownload(at: time) else { break }
            throw PublishingError(
                .invalidDocument, of: name, expected: refusal.expected, found: refusal.found,
                remedy: "Run a round of the trust server first.")
        case .refused(let words):
            throw PublishingError(
                .invalidDocument, of: name, expected: "a document that clients accept", found: words)
        }
    }

    /// Whether clients with the document know a host, although they may have no valid pin for it.
    package func decides(about host: DialedHost, at time: Date) -> Bool {
        let question = PinQuestion(host: host, time: time)
        switch content {
        case .pinFile(let file):
            if case .required = file.answer(to: question).content { return true }
            return false
        case .list(let pins): return pins.answer(to: question).decides
        case .repository(let pins): return pins.answer(to: question).decides
        case .trustServer(let pins): return pins.answer(to: question).decides
        case .refused: return false
        }
    }
}

extension PinAnswer {
    /// Whether clients know the host, although they may have no valid pin for it.
    fileprivate var decides: Bool {
        switch content {
        case .required, .none(.expired, _): true
        case .none, .exempt: false
        }
    }
}

extension RolloverDocument.Source {
    /// Whether clients pin certificates, of which a key says nothing.
    package var pinsCertificates: Bool {
        switch self {
        case .list, .challengedList, .trustServer: true
        case .pinFile, .repository: false
        }
    }
}

extension PublicationOutlook.Document.Kind {
    /// Where clients get such a document from.
    package var rolloverSource: RolloverDocument.Source {
        switch self {
        case .shippedPins: .pinFile
        case .staticList: .list
        case .challengedList: .challengedList
        case .repository: .repository
        case .trustServer: .trustServer
        }
    }
}

extension PublicationOutlook.Document {
    /// The document for clients that get it from where it is published. A pin file may be published, too.
    /// - Parameter replaced: when another took its place; nil while it is published.
    package func served(from published: Date, until replaced: Date?) -> Self {
        var document = self
        (document.published, document.replaced, document.appVersions) = (published, replaced, [])
        return document
    }
}
