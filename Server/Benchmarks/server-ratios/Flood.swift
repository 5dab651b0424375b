import Foundation

/// Sends reports at a rate, whether or not the server accepts them. wrk waits for each answer before it sends again,
/// and so sends only as many as are accepted; an attacker does not wait.
///
/// It runs in a separate process: `server-ratios flood PORT RATE SECONDS FILE`.
struct Flood {
    private let port: UInt16
    private let rate: Double
    private let seconds: Double
    private let requests: [[UInt8]]

    private static let connections = 64
    /// The number of client networks, as a proxy reports them.
    private static let networks = 512

    init(port: UInt16, rate: Double, seconds: Double, body: [UInt8]) {
        self.port = port
        self.rate = rate
        self.seconds = seconds
        requests = (0..<Self.networks).map { _ in
            let network = "10.\(UInt8.random(in: 0...255)).\(UInt8.random(in: 0...255)).1"
            let head = """
                POST /reports?appName=bank HTTP/1.1\r
                Host: 127.0.0.1\r
                Content-Type: application/json\r
                X-Forwarded-For: \(network)\r
                Content-Length: \(body.count)\r
                \r

                """
            return Array(head.utf8) + body
        }
    }

    /// The outcome of the reports.
    struct Result {
        /// Per second.
        var offered = 0.0
        /// Reports that were sent, per second; the others found a connection that the server does not read.
        var sent = 0.0

        init() {}

        /// Reads the output of ``Flood/run()``.
        init(_ text: String) throws {
            let numbers = text.split(separator: " ").compactMap { Double($0.trimmingCharacters(in: .newlines)) }
            guard numbers.count == 2 else { throw BenchmarkError("flood: \(text)") }
            (offered, sent) = (numbers[0], numbers[1])
        }
    }

    /// One connection, and the unsent part of a request.
    private struct Connection {
        var descriptor: Int32
        var rest: ArraySlice<UInt8> = []
    }

    /// Sends the reports.
    func run() -> Result {
        signal(SIGPIPE, SIG_IGN)
        var connections = (0..<Self.connections).map { _ in Connection(descriptor: connected()) }
        var (offered, sent, place) = (0, 0, 0)
        let begin = ContinuousClock.now
        while true {
            let elapsed = (ContinuousClock.now - begin).seconds
            guard elapsed < seconds else { break }
            var due = max(0, Int(elapsed * rate) - offered)
            offered += due
            for index in connections.indices { tend(&connections[index]) }
            var idle = connections.indices.filter { connections[$0].rest.isEmpty }
            while due > 0, let index = idle.popLast() {
                connections[index].rest = requests[place % requests.count][...]
                (place, due) = (place + 1, due - 1)
                tend(&connections[index])
                guard connections[index].rest.isEmpty else { continue }
                sent += 1
                idle.append(index)
            }
        }
        for connection in connections { close(connection.descriptor) }
        var result = Result()
        (result.offered, result.sent) = (Double(offered) / seconds, Double(sent) / seconds)
        return result
    }

    /// Sends the rest of a request, and discards answers.
    private func tend(_ connection: inout Connection) {
        var scratch = [UInt8](repeating: 0, count: 16_384)
        var count = 0
        repeat { count = unsafe recv(connection.descriptor, &scratch, scratch.count, 0) } while count == scratch.count
        let isOver = count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        if isOver {
            close(connection.descriptor)
            connection = Connection(descriptor: connected())
        }
        guard !connection.rest.isEmpty else { return }
        let written = unsafe connection.rest.withUnsafeBytes {
            unsafe send(connection.descriptor, $0.baseAddress, $0.count, 0)
        }
        if written > 0 { connection.rest = connection.rest.dropFirst(written) }
    }

    private func connected() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }
}
