import Foundation
import Holdfast
import HoldfastTUF

/// What clients may still hold because they have not asked since another document took its place, and how far that is
/// known.
package struct EarlierDocuments: Sendable {
    /// The documents, each with the time at which it was replaced.
    package var documents: [PublicationOutlook.Document]
    /// What was replaced within the staleness and cannot be judged, a sentence each: clients that hold it may be locked
    /// out, and nobody knows.
    package var gaps: [String]
    /// Which earlier documents were not looked for, a sentence each. A verdict is relative to it.
    package var premises: [String]

    package init(
        _ documents: [PublicationOutlook.Document] = [], gaps: [String] = [], premises: [String] = []
    ) {
        self.documents = documents
        self.gaps = gaps
        self.premises = premises
    }

    /// Adds what else is known.
    package mutating func add(_ other: EarlierDocuments) {
        documents += other.documents
        gaps += other.gaps.filter { !gaps.contains($0) }
        premises += other.premises.filter { !premises.contains($0) }
    }

    /// Adds documents that somebody has named. They fill as many gaps as there are of them: with fewer, nobody knows what
    /// the rest was. A document that is named for several roots counts once.
    package mutating func name(_ named: [PublicationOutlook.Document]) {
        guard !named.isEmpty else { return }
        documents += named
        premises = []
        if Set(named.map(\.octets)).count >= gaps.count { gaps = [] }
    }
}

extension PublicationOutlook.Document {
    /// A repository's bundle, or a pin file that is about to be one, for clients that dial only the hosts that it names.
    /// When a host is added to the pins, nobody who has earlier ones connects to it yet.
    func ofOwnHosts(at time: Date) -> Self {
        guard hosts == nil, !isCarriedAlone else { return self }
        let file: PinFile
        switch HeldDocument.content(of: self, at: time) {
        case .repository(let pins): file = pins.file
        case .pinFile(let pins): file = pins
        case .list, .trustServer, .refused: return self
        }
        let patterns = file.hosts.filter { !$0.isRetired }.map(\.pattern.description)
        guard patterns.allSatisfy({ (try? HostPattern($0)) != nil }) else { return self }
        var document = self
        document.hosts = patterns
        return document
    }
}
