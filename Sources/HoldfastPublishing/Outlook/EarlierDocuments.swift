import Foundation
import Holdfast
import HoldfastTUF

/// The documents that clients may still hold because they have not fetched since the replacement, and the limits of
/// that knowledge.
package struct EarlierDocuments: Sendable {
    /// The documents, each with the time at which it was replaced.
    package var documents: [PublicationOutlook.Document]
    /// The documents that were replaced within the staleness and cannot be evaluated, one sentence each. It is unknown
    /// if clients that hold them are locked out.
    package var gaps: [String]
    /// The earlier documents that were not looked up, one sentence each. They are assumptions of a verdict.
    package var premises: [String]

    package init(
        _ documents: [PublicationOutlook.Document] = [], gaps: [String] = [], premises: [String] = []
    ) {
        self.documents = documents
        self.gaps = gaps
        self.premises = premises
    }

    /// Adds further documents, gaps and premises.
    package mutating func add(_ other: EarlierDocuments) {
        documents += other.documents
        gaps += other.gaps.filter { !gaps.contains($0) }
        premises += other.premises.filter { !premises.contains($0) }
    }

    /// Adds documents that the operator has named. Each fills one gap; with fewer documents than gaps, the others
    /// remain unknown. A document that is named for several roots counts once.
    package mutating func name(_ named: [PublicationOutlook.Document]) {
        guard !named.isEmpty else { return }
        documents += named
        premises = []
        if Set(named.map(\.octets)).count >= gaps.count { gaps = [] }
    }
}

extension PublicationOutlook.Document {
    /// A repository's bundle, or a pin file that is about to become one, for clients that dial only the hosts that it
    /// names. If a host is added to the pins, clients with earlier pins do not connect to it yet.
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
