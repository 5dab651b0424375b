import Foundation
import HoldfastPublishing
import PinChanges

extension RepositoryJudge {
    /// The faults of the published repository, and the files that its holders must sign soon.
    package func findings() async -> [Publisher.Finding] {
        guard content.repository != nil else { return [] }
        do throws(TUFRepositoryError) {
            let state = try await files.state(includingDrafts: false)
            guard let live = state.live else {
                return [.init(isFault: true, words: "\(clients) find nothing: it was never published")]
            }
            let isOver = live.timestamp.end <= date
            let end = live.timestamp.end.formatted(.iso8601)
            let over = "\(clients) get nothing new since \(end): nothing is signed again"
            return (isOver ? [.init(isFault: true, words: over)] : [])
                + endings(of: state).map { .init(isFault: false, words: $0) }
        } catch {
            return [.init(isFault: true, words: "\(clients) get nothing new: \(error)")]
        }
    }
}
