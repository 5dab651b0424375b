import Foundation

/// wrk: it asks from another process, on another core.
struct LoadGenerator {
    let folder: URL
    let seconds: Int

    /// What it found.
    struct Result {
        let requests: Int
        let perSecond: Double
        /// In seconds.
        let p99: Double
    }

    /// Asks an address again and again, on some connections that stay open.
    /// - Throws: ``BenchmarkError`` if anything but 200 was answered.
    func load(_ url: String, connections: Int = 32, headers: [String] = []) async throws -> Result {
        let text = try await run(["-c\(connections)"] + headers.flatMap { ["-H", $0] } + [url])
        guard !text.contains("Non-2xx") else { throw BenchmarkError(text) }
        return try Self.result(text)
    }

    /// Sends a body again and again, each time from another network as the proxy has it. It may be refused.
    func post(_ body: [UInt8], to url: String, connections: Int) async throws -> Result {
        let script = folder.appending(path: "post.lua")
        let content = folder.appending(path: "post.json")
        try Data(body).write(to: content)
        let lines = """
            wrk.method = "POST"
            wrk.headers["Content-Type"] = "application/json"
            local file = io.open("\(content.path)", "rb")
            wrk.body = file:read("*a")
            request = function()
              wrk.headers["X-Forwarded-For"] = string.format("10.%d.%d.1", math.random(0, 255), math.random(0, 255))
              return wrk.format(nil, nil)
            end
            """
        try Data(lines.utf8).write(to: script)
        return try Self.result(try await run(["-c\(connections)", "-s", script.path, url], isPatient: true))
    }

    private func run(_ arguments: [String], isPatient: Bool = false) async throws -> String {
        let words = Cores.asking(isPatient: isPatient) + ["wrk", "-t1", "-d\(seconds)s", "--latency"] + arguments
        return try await ForeignProgram.run(words[0], Array(words.dropFirst()), in: folder)
    }

    private static func result(_ text: String) throws -> Result {
        guard !text.contains("Socket errors") else { throw BenchmarkError(text) }
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let requests = Self.word(before: "requests", in: words).flatMap({ Int($0) }),
            let rate = Self.word(after: "Requests/sec:", in: words).flatMap({ Double($0) }),
            let slowest = Self.word(after: "99%", in: words).flatMap(Self.seconds)
        else { throw BenchmarkError(text) }
        return Result(requests: requests, perSecond: rate, p99: slowest)
    }

    private static func word(before word: String, in words: [String]) -> String? {
        words.firstIndex(of: word).flatMap { $0 > 0 ? words[$0 - 1] : nil }
    }

    private static func word(after word: String, in words: [String]) -> String? {
        words.firstIndex(of: word).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }

    /// Reads `12.34ms`.
    private static func seconds(_ text: String) -> Double? {
        for (unit, factor) in [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }
}
