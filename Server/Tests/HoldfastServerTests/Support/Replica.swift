import Foundation
import HoldfastNIOTesting
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport

/// A machine of a server that has several: a folder of its own on the same database, and the process that serves from it.
final class Replica: Sendable {
    let number: Int
    /// The folder that its commands work on.
    let server: ServerFolder
    /// Where apps are answered after each start, so that a balancer finds it again.
    let port: Int
    /// Where people are answered after each start.
    let administration: Int
    private let secret: URL
    private let options: [String]
    private let process = Mutex<ServingProcess?>(nil)
    /// Keeps the ports for it while it is dead.
    private let ports: [HeldPort]

    /// - Parameter options: of `serve`, such as another way to the database.
    init(_ number: Int, _ server: ServerFolder, secret: URL, _ options: [String]) async throws {
        self.number = number
        self.server = server
        self.secret = secret
        self.options = options
        ports = [try HeldPort(), try HeldPort()]
        (port, administration) = (ports[0].number, ports[1].number)
    }

    deinit { process.withLock { $0 }?.signal(SIGKILL) }

    /// The process that serves; nil once it was killed or stopped.
    var running: ServingProcess? { process.withLock { $0 } }

    /// Its output so far.
    var text: String { running?.text ?? "" }

    /// Starts serving, and returns when it listens.
    /// - Parameter isWhole: whether it has more than the documents of its folder, so that people are answered as well.
    @discardableResult
    func start(
        isWhole: Bool = true, wrappedBy wrapper: [String] = [], environment: [String: String] = [:]
    ) async throws -> ServingProcess {
        let started = try ServingProcess(
            wrapper + [
                ServerProgram.url.path, "serve", "--data", server.url.path, "--secret", secret.path,
                "--listen", "127.0.0.1:\(port)", "--admin-listen", "127.0.0.1:\(administration)",
            ] + options, environment: environment)
        process.withLock { $0 = started }
        try await started.says("listening for apps on")
        if isWhole { try await started.says("listening for administration on") }
        return started
    }

    /// As a machine that loses its power.
    func kill() async {
        let killed = taken()
        // Otherwise, a stopped process cannot be waited for.
        killed?.signal(SIGKILL)
        killed?.signal(SIGCONT)
        _ = await killed?.status()
    }

    /// As an operator stops it.
    /// - Returns: with which status it ended.
    @discardableResult
    func stop() async -> Int32? { await taken()?.stop() }

    private func taken() -> ServingProcess? {
        process.withLock { process in
            defer { process = nil }
            return process
        }
    }

    /// Asks its listener for apps.
    func get(_ path: String, _ headers: [String] = []) async throws -> RawAnswer {
        try await RawClient(port: port).get(path, headers)
    }

    /// Asks its listener until it answers.
    func answer(_ path: String, _ headers: [String] = []) async throws -> RawAnswer {
        var answer: RawAnswer?
        try await eventually("machine \(number) answers: \(text.suffix(2_000))") {
            answer = try? await get(path, headers)
            return answer?.status ?? 0 > 0
        }
        return try #require(answer)
    }

    /// The SHA-256 of what it serves at a path; nil for nothing, and for an answer that was cut off.
    func digest(of path: String) async -> ServerFoundation.Digest? {
        let body = await withTaskGroup(of: [UInt8]?.self) { [port] group in
            group.addTask { (try? await RawClient(port: port).body(of: "/\(path)")) ?? nil }
            // A machine that is suspended takes connections and says nothing.
            group.addTask {
                try? await Task.sleep(for: .seconds(20))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        return body.map { Digest(of: $0) }
    }

    /// Runs a command on its folder, to its end.
    func command(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await ServerProgram.run(arguments + ["--data", server.url.path], in: server.url)
    }

    /// Starts a command on its folder.
    func starting(_ arguments: String...) throws -> ServingProcess {
        try ServingProcess([ServerProgram.url.path] + arguments + ["--data", server.url.path])
    }
}
