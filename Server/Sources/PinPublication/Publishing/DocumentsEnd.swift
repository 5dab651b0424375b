import Foundation
import HoldfastPublishing
import PinChanges
import ServerModel

/// The first second at which a client is locked out if nothing is published and hosts present pinned certificates: it
/// finds no acceptable document, or still has one that has ended.
struct DocumentsEnd {
    /// In seconds since 1970.
    let time: Int64

    /// A repository's timestamp is signed once per day, so the last one may be a day old.
    private static let repositoryRound: Int64 = 86_400

    /// - Parameter end: the last second at which machines sign documents, because the database cannot be written; nil
    ///   for the end of the content.
    init(_ scene: AppSnapshot, _ content: Content, signingUntil end: Int64?) async {
        let signed = min(content.end, end ?? content.end)
        var last = content.end
        for format in content.formats {
            switch format.kind {
            case .trustServer: last = min(last, signed + DocumentMaker.trustServerLife)
            case .repository:
                let life = content.repositoryLifetimes(at: signed).timestamp.components.seconds
                if end != nil { last = min(last, signed + max(0, life - Self.repositoryRound)) }
                // Only holders can sign these files again.
                let live = try? await scene.repository.state(includingDrafts: false).live
                for file in [live?.root, live?.targets].compactMap(\.self) {
                    last = min(last, Int64(file.end.timeIntervalSince1970) - 1)
                }
            default: break
            }
        }
        time = last + 1
    }
}
