import Foundation
import Holdfast
import Synchronization

/// Answers what a test says, and counts how often it was asked.
final class AnswerStub: RemoteDataProvider {
    struct Answer: Sendable {
        var bytes: [UInt8]?
        var headers: [String: String] = [:]
    }

    private let usual: @Sendable (RemoteDataRequest) throws -> Answer
    private let count = Mutex(0)
    private let replaced = Mutex<(path: String, bytes: [UInt8])?>(nil)

    /// - Parameter answer: no bytes are the status 404.
    init(_ answer: @escaping @Sendable (RemoteDataRequest) throws -> Answer) { usual = answer }

    /// Answers with the files of a folder.
    convenience init(of folder: URL) {
        self.init { request in
            let file = folder.appending(path: String(request.url.path.dropFirst()))
            return Answer(bytes: (try? Data(contentsOf: file)).map { Array($0) })
        }
    }

    /// Answers something else at a path from now on.
    func say(_ bytes: [UInt8], at path: String) { replaced.withLock { $0 = (path, bytes) } }

    /// How often it was asked, since this was asked last.
    func asked() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        count.withLock { $0 += 1 }
        let path = request.url.path.dropFirst()
        let other = replaced.withLock { $0 }.flatMap { $0.path.utf8.elementsEqual(path.utf8) ? $0.bytes : nil }
        let answer = if let other { Answer(bytes: other) } else { try usual(request) }
        guard let bytes = answer.bytes else { throw RemoteDataError(status: 404) }
        return RemoteDataResponse(.body(Data(bytes)), headers: answer.headers)
    }
}
