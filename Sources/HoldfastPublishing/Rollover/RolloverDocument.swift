package import Foundation
package import Holdfast
import HoldfastTUF

/// The published document in which a change of keys is prepared.
package struct RolloverDocument: Sendable {
    /// The source from which clients get it.
    package enum Source: Sendable {
        case pinFile, list, challengedList, repository, trustServer
    }

    private let pins: PublishedPins
    private let content: HeldDocument.Content

    /// - Parameter time: the time of the advice.
    package init(_ pins: PublishedPins, at time: Date) {
        self.pins = pins
        content = HeldDocument.content(of: pins.document, at: time)
        staleness = pins.document.waitingTime(at: time)
    }

    /// The name of the document.
    package var name: String { pins.document.name }

    /// The source from which clients get it.
    package var source: Source { pins.document.kind.rolloverSource }

    /// When the document was made, as it states, for kinds that are published at once. A trust server re-signs its
    /// document all the time, and a repository's pins are signed before they are published.
    package var issued: Date? {
        guard case .pinFile(let file) = content else { return nil }
        return file.issuedAt
    }

    /// Maximum time for which clients may use an older document, according to the document or to the behavior of
    /// clients of its kind; nil for a file that apps ship.
    package let staleness: Duration?

    /// Whether clients pin certificates, which a key does not determine: those of a list do, and those of a trust
    /// server's document may.
    package var pinsCertificates: Bool { source.pinsCertificates }

    /// The document for clients that get it from its publisher.
    ///
    /// A machine renews a repository's timestamp, which ends within days regardless of changes of keys. While it has
    /// not ended, the timestamp is assumed to be renewed in time: see ``renewalPremise(at:)``.
    /// - Parameters:
    ///   - published: the time of its publication.
    ///   - time: the time of the advice.
    package func held(from published: Date, at time: Date) -> PublicationOutlook.Document {
        var document = pins.document.served(from: published, until: nil)
        if let end = timestampEnd, time < end {
            // A time that is a fraction of a second ahead would be a round in the future.
            (document.renewalInterval, document.lastRenewal) = (.seconds(1), Date(wholeSeconds: time.wholeSeconds))
        }
        return document
    }

    /// When the timestamp of a repository expires; nil for other documents.
    private var timestampEnd: Date? { if case .repository(let pins) = content { pins.timestampEnd } else { nil } }

    /// The assumption of the advice about the machine that renews a repository's timestamp; nil for other documents,
    /// and after the timestamp has ended.
    package func renewalPremise(at time: Date) -> String? {
        guard let end = timestampEnd, time < end else { return nil }
        return "the timestamp of \(name) is renewed before it ends at \(end.formatted(.iso8601))"
    }

    /// Whether the access of new apps to a repository ends with its root, before the pins and targets. Then other pins
    /// do not help, and the root needs a later end. False for other documents.
    package var endsWithRoot: Bool {
        guard case .repository(let pins) = content, let root = pins.expirations.first,
            let targets = pins.expirations.last
        else { return false }
        return root < min(targets, pins.graceBegins)
    }

    /// All hosts that can be dialed, in the order of the document, and the patterns that cannot.
    /// - Parameter defaultPort: the port of hosts without a port.
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

    /// Checks that clients accept the document, and that it applies to a host.
    package func check(_ host: DialedHost, at time: Date) throws(PublishingError) {
        try check(at: time)
        guard !decides(about: host, at: time) else { return }
        throw PublishingError(
            .invalidDocument, of: name, expected: "a document that has pins of \(host)", found: "no pins of \(host)")
    }

    /// Checks that clients accept the document. Otherwise new clients refuse every server, which no change of keys
    /// fixes.
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
    /// Whether clients pin certificates, which a key does not determine.
    package var pinsCertificates: Bool {
        switch self {
        case .list, .challengedList, .trustServer: true
        case .pinFile, .repository: false
        }
    }
}

extension PublicationOutlook.Document.Kind {
    /// The source from which clients get such a document.
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
    /// The document for clients that get it from its publisher. A pin file may be published, too.
    /// - Parameter replaced: when another document replaced it; nil while it is published.
    package func served(from published: Date, until replaced: Date?) -> Self {
        var document = self
        (document.published, document.replaced, document.appVersions) = (published, replaced, [])
        return document
    }
}
