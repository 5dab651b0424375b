import Foundation

/// wrk: it sends requests from another process, on another core.
struct LoadGenerator {
    let folder: URL
    let seconds: Int

    /// The result of a run.
    struct Result {
        let requests: Int
        let perSecond: Double
        /// In seconds.
        let p99: Double
    }

    /// Requests an address repeatedly, on some connections that stay open.
    /// - Throws: ``BenchmarkError`` if any answer was not 200.
    func load(_ url: String, connections: Int = 32, headers: [String] = []) async throws -> Result {
        let text = try await run(["-c\(connections)"] + headers.flatMap { ["-H", $0] } + [url])
        guard !text.contains("Non-2xx") else { throw BenchmarkError(text) }
        return try Self.result(text)
    }

    /// Sends reports at a rate, from another process on the processor of asking processes, which have priority there.
    func flood(_ body: [UInt8], port: Int, rate: Double) async throws -> Flood.Result {
        let content = folder.appending(path: "post.json")
        try Data(body).write(to: content)
        // It runs in another folder, where this program's relative name may be invalid.
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let words =
            ["chrt", "-i", "0", "taskset", "-c", Cores.asking, program]
            + ["flood", "\(port)", "\(rate)", "\(seconds)", content.path]
        return try Flood.Result(try await ForeignProgram.run(words[0], Array(words.dropFirst()), in: folder))
    }

    private func run(_ arguments: [String]) async throws -> String {
        try await ForeignProgram.run(
            "taskset", ["-c", Cores.asking, "wrk", "-t1", "-d\(seconds)s", "--latency"] + arguments, in: folder)
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
