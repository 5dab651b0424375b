import Foundation
import Holdfast
import HoldfastReports

/// Keeps what is sent, and answers as the test says.
final class RecordingSender: ReportSender {
    private struct State {
        var uploads: [ReportUpload] = []
        var answer: @Sendable (ReportUpload) throws -> ReportAnswer
    }

    private let state: Lock<State>
    /// Yields each upload after it was answered.
    let sent: AsyncStream<ReportUpload>
    private let yield: AsyncStream<ReportUpload>.Continuation

    init(_ answer: @escaping @Sendable (ReportUpload) throws -> ReportAnswer = { _ in ReportAnswer(status: 204) }) {
        state = Lock(State(answer: answer))
        (sent, yield) = AsyncStream.makeStream()
    }

    var uploads: [ReportUpload] { state.withLock { $0.uploads } }

    func answer(_ answer: @escaping @Sendable (ReportUpload) throws -> ReportAnswer) {
        state.withLock { $0.answer = answer }
    }

    func send(_ upload: ReportUpload) async throws -> ReportAnswer {
        let answer = state.withLock { state in
            state.uploads.append(upload)
            return state.answer
        }
        defer { yield.yield(upload) }
        return try answer(upload)
    }

    /// The members of each body that was sent; an array's single element stands for itself.
    func bodies() throws -> [[String: JSONValue]] {
        try uploads.map { try JSONValue.object($0.body) }
    }
}

/// Draws the same number again and again.
struct ConstantWords: RandomNumberGenerator, Sendable {
    /// 0 samples everything of which a share is reported, and delays nothing; the maximum samples only what is reported
    /// as a whole, and delays for as long as possible.
    var word: UInt64 = 0

    mutating func next() -> UInt64 { word }
}
