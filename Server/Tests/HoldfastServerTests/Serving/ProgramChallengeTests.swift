import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Synchronization
import Testing

@testable import PinPublication
@testable import PublicAPI

@Suite("Challenges that a program signs", .timeLimit(.minutes(5)))
struct ProgramChallengeTests {
    private static let target = "/app/init?appName=bank"
    private static let header = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    /// A program that answers when a test lets it.
    private final class Door: Sendable {
        private let waiting = Mutex(0)
        private let opened = DispatchSemaphore(value: 0)

        var count: Int { waiting.withLock { $0 } }

        func pass() {
            waiting.withLock { $0 += 1 }
            opened.wait()
        }

        func open(_ times: Int) { for _ in 0..<times { opened.signal() } }
    }

    @Test(
        "While an app's program hangs, documents and other apps are answered, and more challenges of it come back later"
    )
    func hanging() async throws {
        let site = try ServingSite()
        let (door, own) = (Door(), site.key)
        let key = OutsideSigningKey(publicKey: try own.publicKey) { message in
            door.pass()
            return try own.signature(for: message)
        }
        let (name, app) = try site.app()
        let slow = PublishedSnapshot.App(
            generation: app.generation, content: app.content, entries: app.entries, publicKey: app.publicKey, key: key)
        let (other, quick) = try site.app("other")
        let signed = PublishedSnapshot.App(
            generation: quick.generation, content: quick.content, entries: quick.entries, publicKey: quick.publicKey,
            key: OutsideSigningKey(publicKey: try own.publicKey) { try own.signature(for: $0) })
        site.publish(
            documents: ["lists/bank.json": ServingSite.document(Array("{}".utf8))],
            apps: [(name, slow), (other, signed)])
        try await site.listening { port in
            try await withThrowingTaskGroup(of: RawAnswer.self) { group in
                for number in 0..<ProgramSlots.maximumShare {
                    group.addTask {
                        try await RawClient(port: port, from: "127.0.\(number).1").get(Self.target, Self.header)
                    }
                }
                try await eventually("the share is used") { door.count >= ProgramSlots.maximumShare }
                let beyond = try await RawClient(port: port, from: "127.1.0.1").get(Self.target, Self.header)
                #expect(beyond.status == 503 && beyond.header("Retry-After") != nil, "\(beyond.text)")
                #expect(try await RawClient(port: port).get("/lists/bank.json").status == 200)
                let target = "/app/init?appName=other"
                #expect(try await RawClient(port: port, from: "127.1.0.2").get(target, Self.header).status == 200)
                door.open(ProgramSlots.maximumShare)
                for try await answer in group {
                    #expect(answer.status == 200 && answer.header("X-Cert-Pinning-Signature") != nil, "\(answer.text)")
                }
            }
            // All have given back what they took.
            door.open(1)
            #expect(try await RawClient(port: port).get(Self.target, Self.header).status == 200)
        }
    }
}
