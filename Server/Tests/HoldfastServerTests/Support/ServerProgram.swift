import Foundation
import Synchronization

@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation

/// `holdfast-server`, run by tests.
enum ServerProgram {
    static let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/debug/holdfast-server")

    /// Runs it to its end.
    /// - Returns: its status and what it said, on both outputs.
    static func run(_ arguments: [String], in folder: URL) async throws -> (status: Int32, output: String) {
        let (status, output) = try await ForeignProgram.run(url, arguments, in: folder, withErrors: true)
        return (status, String(decoding: output, as: UTF8.self))
    }
}

/// A process that serves, with what it says.
final class ServingProcess: Sendable {
    /// It ended, or its time was over, before it said what was awaited.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Longer than any test waits on a machine that does much else.
    static let usualLimit = Duration.seconds(100)
    /// The status of what was not seen to end.
    static let unknown: Int32 = -1

    /// A test that waits for words.
    private struct Waiter {
        let id: UUID
        let words: String
        let from: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var text = ""
        var hasEnded = false
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())
    private let process: Process
    private let end = Mutex<(status: Int32?, waiting: CheckedContinuation<Int32, Never>?)>((nil, nil))

    /// Starts it, and returns when both listeners listen.
    static func start(
        _ site: ServeSite, _ arguments: [String] = ["--no-watch"], wrappedBy wrapper: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ServingProcess {
        try await start(on: site.server, arguments, wrappedBy: wrapper, environment: environment)
    }

    /// Starts it on a folder, and returns when both listeners listen.
    static func start(
        on folder: ServerFolder, _ arguments: [String], wrappedBy wrapper: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ServingProcess {
        let server = try ServingProcess(
            wrapper + [
                ServerProgram.url.path, "serve", "--data", folder.url.path, "--listen", "127.0.0.1:0",
                "--admin-listen", "127.0.0.1:0",
            ] + arguments, environment: environment)
        do {
            try await server.says("listening for apps on")
            try await server.says("listening for administration on")
        } catch {
            server.signal(SIGKILL)
            throw error
        }
        return server
    }

    init(_ command: [String], in folder: URL? = nil, environment: [String: String] = [:]) throws {
        process = Process()
        if let folder { process.currentDirectoryURL = folder }
        process.executableURL =
            command[0].utf8.first == UInt8(ascii: "/")
            ? URL(filePath: command[0]) : try ForeignProgram.required(command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.terminationHandler = { [weak self] process in
            let waiting = self?.end.withLock { end in
                defer { end.waiting = nil }
                end.status = process.terminationStatus
                return end.waiting
            }
            waiting?.resume(returning: process.terminationStatus)
        }
        try process.run()
        let reader = pipe.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            while case let data = reader.availableData, !data.isEmpty {
                self?.take(String(decoding: data, as: UTF8.self))
            }
            self?.finish()
        }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The number that the system gave it.
    var id: Int32 { process.processIdentifier }

    /// Whether it has not ended yet.
    var isRunning: Bool { end.withLock { $0.status == nil } }

    /// Everything that it said so far.
    var text: String { state.withLock { $0.text } }

    /// The port of the listener for apps.
    var port: Int { port(after: "listening for apps on 127.0.0.1:") }
    /// The port of the listener for administration.
    var administration: Int { port(after: "listening for administration on 127.0.0.1:") }

    private func port(after words: String) -> Int {
        let text = text
        guard let range = text.firstRange(of: words) else { return 0 }
        return Int(text[range.upperBound...].prefix { $0.isNumber }) ?? 0
    }

    /// Waits until it says something.
    /// - Parameters:
    ///   - from: after how many bytes of what it said.
    ///   - limit: how long it may take; a test that is canceled waits no longer either.
    /// - Throws: ``Ended`` if it ends without having said it, or takes longer.
    func says(_ words: String, after from: Int = 0, within limit: Duration = usualLimit) async throws {
        let id = UUID()
        let deadline = Self.deadline(limit) { [weak self] in self?.giveUp(id, because: "within \(limit)") }
        defer { deadline.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    if Self.has(words, state.text, from) {
                        continuation.resume()
                    } else if state.hasEnded || Task.isCancelled {
                        continuation.resume(throwing: Ended(description: "no \"\(words)\" in: \(state.text)"))
                    } else {
                        state.waiting.append(Waiter(id: id, words: words, from: from, continuation: continuation))
                    }
                }
            }
        } onCancel: {
            giveUp(id, because: "before the test was canceled")
        }
    }

    private static func deadline(_ limit: Duration, _ body: @escaping @Sendable () -> Void) -> DispatchWorkItem {
        let item = DispatchWorkItem(block: body)
        let (seconds, attoseconds) = limit.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: item)
        return item
    }

    private func giveUp(_ id: UUID, because reason: String) {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return }
            let waiter = state.waiting.remove(at: index)
            waiter.continuation.resume(
                throwing: Ended(description: "no \"\(waiter.words)\" \(reason) in: \(state.text)"))
        }
    }

    /// Sends a signal, unless it has ended: its number may be another program's then.
    func signal(_ number: Int32) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, number)
    }

    /// Waits until it has ended. What does not end in time is killed, and has a status that no test expects. So has what
    /// Foundation does not say the end of: it learns of that through a descriptor, which other programs may have inherited
    /// that started at the same moment.
    func status(within limit: Duration = usualLimit) async -> Int32 {
        let watchdog = Self.deadline(limit) { [weak self] in self?.signal(SIGKILL) }
        let last = Self.deadline(limit + .seconds(20)) { [weak self] in
            let waiting = self?.end.withLock { end in
                defer { end.waiting = nil }
                return end.waiting
            }
            waiting?.resume(returning: Self.unknown)
        }
        defer {
            watchdog.cancel()
            last.cancel()
        }
        return await withCheckedContinuation { continuation in
            let status = end.withLock { end in
                if end.status == nil { end.waiting = continuation }
                return end.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    /// Asks it to stop, and waits until it has.
    @discardableResult
    func stop() async -> Int32 {
        signal(SIGTERM)
        return await status()
    }

    private static func has(_ words: String, _ text: String, _ from: Int) -> Bool {
        // A number of a port is complete when its line is.
        let rest = Array(text.utf8.dropFirst(from))
        return String(decoding: rest, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .contains { $0.contains(words) }
    }

    private func take(_ more: String) {
        state.withLock { state in
            state.text += more
            let text = state.text
            let done = state.waiting.filter { Self.has($0.words, text, $0.from) }
            state.waiting.removeAll { Self.has($0.words, text, $0.from) }
            for waiter in done { waiter.continuation.resume() }
        }
    }

    private func finish() {
        state.withLock { state in
            state.hasEnded = true
            for waiter in state.waiting {
                waiter.continuation.resume(throwing: Ended(description: "no \"\(waiter.words)\" in: \(state.text)"))
            }
            state.waiting = []
        }
    }
}
