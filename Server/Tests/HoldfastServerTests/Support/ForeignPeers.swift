import Foundation
import Synchronization

/// Clients that share no code with the server, in one process that all tests share (`Python/peers.py`): curl, openssl,
/// python-tuf, `holdfastctl check`, and nginx as a cache before any listener.
final class ForeignPeers: Sendable {
    /// A question. `Python/peers.py` defines how it is answered.
    struct Question: Encodable, Sendable {
        struct Document: Encodable, Sendable {
            let path: String
            let sha256: String
        }

        struct Signed: Encodable, Sendable {
            let path: String
            let key: String
        }

        struct Challenge: Encodable, Sendable {
            let app: String
            let key: String
        }

        struct Trust: Encodable, Sendable {
            let path: String
            let signer: Data
        }

        struct Repository: Encodable, Sendable {
            let path: String
            let root: Data
            let pins: String
        }

        struct Check: Encodable, Sendable {
            let program: String
            let host: String
            let chain: [Data]
            let roots: [Data]
        }

        var id = 0
        let time: Int64
        let bases: [String: String]
        let documents: [Document]
        var list: Signed?
        var challenge: Challenge?
        var trust: Trust?
        var repository: Repository?
        var check: Check?
    }

    struct Answer: Decodable, Sendable {
        let id: Int
        let problems: [String]
        /// The programs that had something to do.
        let done: [String]
    }

    private struct Hello: Decodable {
        let nginx: Int
        let tuf: Bool
    }

    /// The answers, which come in any order; the one without a question comes first.
    private final class Desk: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var hasEnded = false
            var count = 0
            var lines: [Int: Data] = [:]
            var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
        }

        private struct Numbered: Decodable { let id: Int? }

        private let state = Mutex(State())

        func number() -> Int {
            state.withLock { state in
                state.count += 1
                return state.count
            }
        }

        func line(_ id: Int) async throws -> Data {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    if let line = state.lines.removeValue(forKey: id) {
                        continuation.resume(returning: line)
                    } else if state.hasEnded {
                        continuation.resume(throwing: CocoaError(.featureUnsupported))
                    } else {
                        state.waiting[id] = continuation
                    }
                }
            }
        }

        func take(_ bytes: Data) {
            state.withLock { state in
                state.bytes += bytes
                while let end = state.bytes.firstIndex(of: 0x0A) {
                    let line = Data(state.bytes[..<end])
                    state.bytes.removeSubrange(...end)
                    let id = (try? JSONDecoder().decode(Numbered.self, from: line))?.id ?? 0
                    if let waiting = state.waiting.removeValue(forKey: id) {
                        waiting.resume(returning: line)
                    } else {
                        state.lines[id] = line
                    }
                }
            }
        }

        func finish() {
            state.withLock { state in
                state.hasEnded = true
                for waiting in state.waiting.values { waiting.resume(throwing: CocoaError(.featureUnsupported)) }
                state.waiting = [:]
            }
        }
    }

    private static let programs = ["python3", "nginx", "curl", "openssl"]
    /// Whether they are asked: where foreign programs are required, they are, and fail without one.
    static let areTested = programs.allSatisfy(ForeignProgram.isTested)
    /// Started when it is needed first. It ends with the tests, since its input ends then.
    static let shared = Task { try await start() }

    /// The port of nginx: `/PORT/NONCE/PATH` is a path of the listener on a port, and each nonce has a cache of its own.
    let cache: Int
    private let process: Process
    private let input: FileHandle
    private let desk: Desk

    private init(cache: Int, process: Process, input: FileHandle, desk: Desk) {
        (self.cache, self.process, self.input, self.desk) = (cache, process, input, desk)
    }

    private static func start() async throws -> ForeignPeers {
        for name in programs { _ = try ForeignProgram.required(name) }
        // If it is gone, a question gets an error.
        signal(SIGPIPE, SIG_IGN)
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Python/peers.py").path
        let (process, input, output, desk) = (Process(), Pipe(), Pipe(), Desk())
        process.executableURL = try TUFPython.program ?? ForeignProgram.required("python3")
        process.arguments = ["-B", script, try ForeignProgram.required("nginx").path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let reader = output.fileHandleForReading
        Thread.detachNewThread {
            while case let data = reader.availableData, !data.isEmpty { desk.take(data) }
            desk.finish()
        }
        let hello = try JSONDecoder().decode(Hello.self, from: try await desk.line(0))
        guard hello.tuf || !TUFPython.isTested else { throw CocoaError(.featureUnsupported) }
        return ForeignPeers(cache: hello.nginx, process: process, input: input.fileHandleForWriting, desk: desk)
    }

    /// Asks all of them.
    func ask(_ question: Question) async throws -> Answer {
        var question = question
        question.id = desk.number()
        var line = try JSONEncoder().encode(question)
        line.append(0x0A)
        try input.write(contentsOf: line)
        return try JSONDecoder().decode(Answer.self, from: try await desk.line(question.id))
    }
}
