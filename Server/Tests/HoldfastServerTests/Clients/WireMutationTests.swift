import Foundation
import Holdfast
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

/// Damaged HTTP of other servers, in parts: a question gets one answer or none, and nothing is held beyond its
/// limits.
@Suite("Answers of other servers, damaged on the wire")
struct WireMutationTests {
    private static let maximumBody = 64
    private static let question = HTTPExchange(
        "/app/init?appName=bank", of: "mus.example.com", maximumBody: maximumBody, within: .seconds(5))

    private static let seeds = [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Cert-Pinning-Signature: MEUCIHKWGd7e0+BimA==\r\n"
            + "Content-Length: 42\r\n\r\n{\"timestamp\":1604853448,\"fingerprints\":[]}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "1a\r\nabcdefghijklmnopqrstuvwxyz\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nuntil the end of the connection",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + String(repeating: "too much ", count: 11),
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ].map { Array($0.utf8) }

    /// A connection to a server that sends bytes.
    private struct Connection {
        let channel = EmbeddedChannel()
        /// Whether the connection was still open when everything was sent.
        private(set) var wasOpen = true

        func begin(_ body: (ChannelPipeline.SynchronousOperations) throws -> Void) throws {
            try body(channel.pipeline.syncOperations)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        }

        /// Sends bytes in parts for as long as anybody reads, then ends.
        mutating func send(_ bytes: [UInt8], _ generator: inout SeededGenerator) {
            var rest = bytes[...]
            while !rest.isEmpty, channel.isActive {
                let part = rest.prefix(Int.random(in: 1...96, using: &generator))
                _ = try? channel.writeInbound(ByteBuffer(bytes: part))
                channel.embeddedEventLoop.run()
                rest = rest.dropFirst(part.count)
            }
            wasOpen = channel.isActive
            _ = try? channel.finish(acceptAlreadyClosed: true)
            channel.embeddedEventLoop.run()
        }
    }

    /// The results of a promise.
    private final class Outcomes<Value: Sendable>: Sendable {
        private let results = Mutex<[Result<Value, any Error>]>([])

        init(of future: EventLoopFuture<Value>) {
            future.whenComplete { result in self.results.withLock { $0.append(result) } }
        }

        var all: [Result<Value, any Error>] { results.withLock { $0 } }
    }

    @Test("A question gets one answer, whole and within its limit, or none, and what comes after it is not read")
    func answers() throws {
        var generator = SeededGenerator(seed: 0x3172)
        var (bodies, refusals) = (0, 0)
        let read = campaign(0x3173, Self.seeds) { mutant in
            var connection = Connection()
            let promise = connection.channel.eventLoop.makePromise(of: HTTPExchange.Answer.self)
            let outcomes = Outcomes(of: promise.futureResult)
            let handler = Self.question.handler(promise)
            try connection.begin { pipeline in
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(handler)
            }
            connection.send(mutant, &generator)
            #expect(outcomes.all.count == 1)
            #expect(handler.body.count <= Self.maximumBody)
            guard case .success(let answer)? = outcomes.all.first else {
                throw ServerError(.unreachableDatabase, expected: "an answer", found: "none")
            }
            // It may have ended with the connection.
            #expect((0...999).contains(answer.status) && answer.body.count <= Self.maximumBody)
            #expect(answer.headers.count <= mutant.count / 3)
            bodies += answer.body.isEmpty ? 0 : 1
            // A redirection is no document, and is not followed.
            if (try? RemoteDataResponse(answer)) == nil {
                #expect(answer.status != 200)
                refusals += 1
            }
        }
        #expect(read > 0 && read < mutants && bodies > 0 && refusals > 0)
    }

    @Test("Of a receiver of notices nothing but one status is read")
    func receivers() throws {
        var generator = SeededGenerator(seed: 0x3174)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/pins", headers: ["Content-Length": "2"])
        let read = campaign(0x3175, Self.seeds) { mutant in
            var connection = Connection()
            let promise = connection.channel.eventLoop.makePromise(of: Int.self)
            let outcomes = Outcomes(of: promise.futureResult)
            try connection.begin { pipeline in
                try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
                try pipeline.addHandler(StatusReader(promise))
            }
            for part in [HTTPClientRequestPart.head(head), .body(.byteBuffer(ByteBuffer(string: "{}"))), .end(nil)] {
                try connection.channel.writeOutbound(part)
            }
            connection.send(mutant, &generator)
            #expect(outcomes.all.count == 1)
            guard case .success(let status)? = outcomes.all.first else {
                throw ServerError(.unreachableDatabase, expected: "an answer", found: "none")
            }
            // Nothing of its status line is believed but a number of three digits at most.
            #expect((0...999).contains(status))
            #expect(!connection.wasOpen)
        }
        #expect(read > 0 && read < mutants)
    }
}
