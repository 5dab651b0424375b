import Foundation
import HoldfastTesting
import Synchronization
import Testing

@testable import HoldfastServer
@testable import ServerHTTP

@Suite("What a probe in a container asks", .timeLimit(.minutes(2)))
struct HealthCheckTests {
    private func prepared(_ flags: [ServeSettings.Name: String]) async throws -> HealthCheck {
        HealthCheck(try await ServeSettings(flags: flags, environment: [:], file: nil))
    }

    @Test("A server answers each question, and says no while documents cannot be served")
    func questions() async throws {
        let site = try ServingSite()
        try await site.listening { port in
            let check = try await prepared([.listen: "127.0.0.1:\(port)"])
            for question in HealthCheck.Question.allCases {
                let answer = await check.answer(to: question)
                let text = "\(question): http://127.0.0.1:\(port)/health/\(question) answers 200"
                #expect(answer == HealthCheck.Answer(isGood: true, text: text))
            }
            site.unready.withLock { $0 = ["the disk is gone"] }
            let answer = await check.answer(to: .ready)
            #expect(!answer.isGood && answer.text.hasSuffix("/health/ready answers 503"), "\(answer.text)")
            let live = await check.answer(to: .live)
            #expect(live.isGood)
        }
    }

    @Test("A listener at all addresses is asked on loopback")
    func everyAddress() async throws {
        try await ServingSite().listening { port in
            let flags: [ServeSettings.Name: String] = [.listen: "0.0.0.0:\(port)", .behindProxy: "10.0.0.5/32"]
            let answer = try await prepared(flags).answer(to: .live)
            #expect(answer.isGood && answer.text.contains("http://127.0.0.1:"), "\(answer.text)")
        }
    }

    @Test("A listener that speaks TLS must present the configured certificate")
    func secure() async throws {
        try await withFolder { folder in
            let authority = try TestAuthority.root()
            let files = ListenerFiles(folder)
            try files.install(authority)
            let listening = try ListenerSettings(
                host: "127.0.0.1", port: 0, identity: TLSIdentity(certificates: files.chain, key: files.key))
            try await ServingSite().listening(listening) { port in
                let flags: [ServeSettings.Name: String] = [
                    .listen: "127.0.0.1:\(port)", .tlsCertificate: files.chain.path, .tlsKey: files.key.path,
                ]
                let own = try await prepared(flags).answer(to: .live)
                #expect(own.isGood, "\(own.text)")
                try files.install(authority)
                let other = try await prepared(flags).answer(to: .live)
                #expect(!other.isGood && other.text.contains("no server answers"), "\(other.text)")
            }
        }
    }

    @Test("The command prints one line, and exits with 0 or 1")
    func command() async throws {
        try await withFolder { folder in
            let held = Mutex(0)
            try await ServingSite().listening { port in
                held.withLock { $0 = port }
                let (status, output) = try await ServerProgram.run(
                    ["health", "live", "--listen", "127.0.0.1:\(port)"], in: folder)
                #expect(status == 0 && output == "live: http://127.0.0.1:\(port)/health/live answers 200\n")
            }
            let port = held.withLock { $0 }
            let (status, output) = try await ServerProgram.run(["health", "--listen", "127.0.0.1:\(port)"], in: folder)
            #expect(status == 1 && output == "not ready: no server answers at http://127.0.0.1:\(port)/health/ready\n")
            let (wrong, usage) = try await ServerProgram.run(["health", "fine"], in: folder)
            #expect(wrong == 2 && usage.contains("live, ready or writable"))
        }
    }

    @Test("A folder without data, as of a volume that is not mounted, is not served and stays empty")
    func notMounted() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
            let (status, output) = try await ServerProgram.run(["serve", "--data", data.path], in: folder)
            #expect(status == 3 && output.contains(data.path) && output.contains("mount the one that has the data"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: data.path).isEmpty)
        }
    }
}
