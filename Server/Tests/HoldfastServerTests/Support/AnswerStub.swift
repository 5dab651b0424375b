import Foundation
import Holdfast
import Synchronization

/// Answers what a test says, and counts how often it was asked.
final class AnswerStub: RemoteDataProvider {
    /// What is answered.
    struct Answer: Sendable {
        var octets: [UInt8]?
        var headers: [String: String] = [:]
    }

    private let usual: @Sendable (RemoteDataRequest) throws -> Answer
    private let count = Mutex(0)
    private let replaced = Mutex<(path: String, octets: [UInt8])?>(nil)

    /// - Parameter answer: no octets are the status 404.
    init(_ answer: @escaping @Sendable (RemoteDataRequest) throws -> Answer) { usual = answer }

    /// Answers with the files of a folder.
    convenience init(of folder: URL) {
        self.init { request in
            let file = folder.appending(path: String(request.url.path.dropFirst()))
            return Answer(octets: (try? Data(contentsOf: file)).map { Array($0) })
        }
    }

    /// Answers something else at a path from now on.
    func say(_ octets: [UInt8], at path: String) { replaced.withLock { $0 = (path, octets) } }

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
        let other = replaced.withLock { $0 }.flatMap { $0.path.utf8.elementsEqual(path.utf8) ? $0.octets : nil }
        let answer = if let other { Answer(octets: other) } else { try usual(request) }
        guard let octets = answer.octets else { throw RemoteDataError(status: 404) }
        return RemoteDataResponse(.body(Data(octets)), headers: answer.headers)
    }
}
