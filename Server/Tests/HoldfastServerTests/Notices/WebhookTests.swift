import Foundation
import Holdfast
import HoldfastProbe
import HoldfastTesting
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP

@Suite("The webhook", .timeLimit(.minutes(2)))
struct WebhookTests {
    private static let notice = Notice(.change, of: Story.server, ["app": "bank"], words: "A change waits.")

    /// A webhook whose name is on loopback.
    private func webhook(
        _ receiver: WebhookReceiver, trusting root: TestAuthority, allowing allowed: [String] = ["127.0.0.0/8"],
        path: String = "/hooks/s3cret?key=pa55", clock: any WallClock = SystemWallClock(),
        resolving addresses: [String] = ["127.0.0.1"], within limit: Duration = .seconds(30)
    ) throws -> Webhook {
        let found = try addresses.map { try IPAddress($0) }
        let client = WebhookClient(
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])),
            filter: AddressFilter(allowing: try allowed.map { try AddressBlock($0) }), clock: SystemWallClock(),
            resolver: AddressResolver { _ in found }, limit: limit)
        return Webhook(
            address: try WebhookAddress("https://\(WebhookReceiver.host):\(receiver.port)\(path)"),
            secret: try WebhookSecret(Array(WebhookReceiver.line.utf8)), client: client, clock: clock)
    }

    private func receiving(
        _ behavior: WebhookReceiver.Behavior = .takes, _ body: (WebhookReceiver, TestAuthority) async throws -> Void
    ) async throws {
        let root = try TestAuthority.root()
        try await WebhookReceiver.run(try root.leaf(names: [.dns(WebhookReceiver.host)]), behavior) { receiver in
            try await body(receiver, root)
        }
    }

    @Test("A receiver gets the notice over TLS, signed with its time, and signed anew in each attempt")
    func signed() async throws {
        try await receiving { receiver, root in
            let clock = ManualClock(now: Date(timeIntervalSince1970: 1_800_000_000))
            let webhook = try webhook(receiver, trusting: root, clock: clock)
            #expect(await webhook.deliver(Self.notice) == nil)
            clock.advance(by: .seconds(7))
            #expect(await webhook.deliver(Self.notice) == nil)
            let requests = receiver.requests
            try #require(requests.count == 2)
            for (request, time) in zip(requests, [Int64(1_800_000_000), 1_800_000_007]) {
                #expect(request.head.hasPrefix("POST /hooks/s3cret?key=pa55 HTTP/1.1\r\n"), "\(request.head)")
                #expect(request.header("Host") == "\(WebhookReceiver.host):\(receiver.port)")
                #expect(request.header("User-Agent") == "holdfast-server/\(HoldfastRelease.version)")
                #expect(request.header("webhook-id") == "\(Self.notice.id)")
                #expect(request.header("webhook-timestamp") == "\(time)")
                #expect(request.body == Self.notice.bytes)
                let secret = try WebhookSecret(Array(WebhookReceiver.line.utf8))
                let signature = secret.signature(id: Self.notice.id, time: time, body: request.body)
                #expect(request.header("webhook-signature") == signature)
            }
            #expect(requests[0].header("webhook-signature") != requests[1].header("webhook-signature"))
        }
    }

    @Test("Only a status of 200 to 299 takes a notice; a redirect is followed nowhere")
    func statuses() async throws {
        try await receiving { receiver, root in
            let webhook = try webhook(receiver, trusting: root)
            for (status, isTaken) in [(200, true), (299, true), (302, false), (400, false), (500, false), (503, false)]
            {
                receiver.answer(.status(status))
                #expect(await webhook.deliver(Self.notice) == (isTaken ? nil : "it answered with the status \(status)"))
            }
            let count = receiver.requests.count
            receiver.answer(
                .answers(
                    "HTTP/1.1 307 Moved\r\nLocation: https://127.0.0.1:\(receiver.port)/\r\nContent-Length: 0\r\n\r\n")
            )
            #expect(await webhook.deliver(Self.notice) != nil)
            #expect(receiver.requests.count == count + 1)
        }
    }

    @Test("A receiver that is silent, hangs up, or talks nonsense is waited for no longer than the limit")
    func hostile() async throws {
        try await receiving(.isSilent) { receiver, root in
            let short = try webhook(receiver, trusting: root, within: .seconds(2))
            let problem = await short.deliver(Self.notice)
            #expect(problem?.contains("gave no answer within 2.0 seconds") == true, "\(problem ?? "taken")")
            let webhook = try webhook(receiver, trusting: root)
            for behavior in [
                WebhookReceiver.Behavior.hangsUp, .answers("SSH-2.0-OpenSSH\r\n\r\n"),
                .answers(
                    "HTTP/1.1 200 OK\r\n"
                        + String(repeating: "X: \(String(repeating: "a", count: 1_000))\r\n", count: 500)),
            ] {
                receiver.answer(behavior)
                let problem = await webhook.deliver(Self.notice)
                #expect(problem?.contains("ended the connection without an answer") == true, "\(problem ?? "taken")")
            }
        }
    }

    @Test("An answer without an end is not read: its status is enough")
    func flood() async throws {
        try await receiving(.floods) { receiver, root in
            let webhook = try webhook(receiver, trusting: root)
            #expect(await webhook.deliver(Self.notice) == nil)
        }
    }

    @Test("A receiver whose certificate is not trusted, or is another host's, gets no request")
    func trust() async throws {
        try await receiving { receiver, _ in
            let stranger = try TestAuthority.root(name: "Stranger")
            let problem = try await webhook(receiver, trusting: stranger).deliver(Self.notice)
            #expect(problem != nil && receiver.requests.isEmpty, "\(problem ?? "taken")")
        }
        let root = try TestAuthority.root()
        try await WebhookReceiver.run(try root.leaf(names: [.dns("other.example.net")])) { receiver in
            let problem = try await webhook(receiver, trusting: root).deliver(Self.notice)
            #expect(problem != nil && receiver.requests.isEmpty, "\(problem ?? "taken")")
        }
    }

    @Test(
        "An address of this machine, of a private network or of a cloud's metadata is not connected to unless it is listed",
        arguments: [
            ("127.0.0.1", "loopback"), ("169.254.169.254", "metadata"), ("10.0.0.1", "private"),
            ("::ffff:127.0.0.1", "IPv4-mapped"), ("64:ff9b::7f00:1", "NAT64"), ("100.64.0.1", "shared"),
        ])
    func addresses(_ address: String, _ purpose: String) async throws {
        try await receiving { receiver, root in
            let webhook = try webhook(receiver, trusting: root, allowing: [], resolving: [address])
            let problem = await webhook.deliver(Self.notice)
            #expect(problem?.contains(purpose) == true && receiver.requests.isEmpty, "\(problem ?? "taken")")
        }
    }

    @Test("Of the addresses of a name those that may not be asked, or do not answer, are passed over")
    func several() async throws {
        try await receiving { receiver, root in
            let webhook = try webhook(
                receiver, trusting: root, allowing: ["127.0.0.1/32"], resolving: ["127.0.0.2", "10.0.0.1", "127.0.0.1"])
            #expect(await webhook.deliver(Self.notice) == nil && receiver.requests.count == 1)
        }
    }

    @Test("What is logged has neither the path nor the secret")
    func words() async throws {
        try await receiving(.hangsUp) { receiver, root in
            for webhook in [
                try webhook(receiver, trusting: root),
                try webhook(receiver, trusting: try TestAuthority.root(name: "Stranger")),
                try webhook(receiver, trusting: root, allowing: []),
            ] {
                let problem = try #require(await webhook.deliver(Self.notice))
                for secret in ["s3cret", "pa55", "whsec", "MfKQ9r8G"] {
                    #expect(!problem.contains(secret), "\(problem)")
                }
            }
        }
    }

    @Test("Addresses and secrets that cannot be are refused without being repeated")
    func settings() throws {
        for bad in [
            "http://hooks.example.net/s3cret", "https://user:s3cret@hooks.example.net/", "https:///s3cret",
            "https://hooks.example.net/#s3cret", "https://hooks.example.net/s3cret\u{301}", "s3cret", "",
            "https://hooks.example.net/" + String(repeating: "s3cret", count: 1_000),
        ] {
            let error = expectError(.invalidValue) { try WebhookAddress(bad) }
            #expect(error.map { !"\($0)".contains("s3cret") } == true)
        }
        for bad in [
            "", "whsec_", "whsec_AAAA", "s3cret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw MfKQ", "WHSEC_MfKQ9r8G",
        ] {
            let error = expectError(.secretFile) { try WebhookSecret(Array(bad.utf8)) }
            #expect(error.map { !"\($0)".contains("s3cret") && !"\($0)".contains("MfKQ") } == true)
        }
        #expect(try WebhookAddress("https://[2001:db8::1]/a?b").authority == "[2001:db8::1]")
        #expect(try WebhookAddress("https://hooks.example.net").target == "/")
    }

    @Test("A webhook needs its secret, in a file that nobody else can read; a program its whole path")
    func files() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "webhook")
            try Data("\(WebhookReceiver.line)\n".utf8).write(to: file)
            func settings(_ webhook: String?, _ secret: URL?, _ program: String? = nil) async throws(ServerError)
                -> NoticeSettings
            {
                try await NoticeSettings(
                    webhook: webhook, secret: secret, anchors: nil, allowing: [], program: program)
            }
            let address = "https://hooks.example.net/s3cret"
            for (mode, isGood) in [(0o644, false), (0o640, false), (0o600, true), (0o400, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
                do throws(ServerError) {
                    #expect(try await settings(address, file).names == ["webhook"] && isGood)
                } catch {
                    #expect(error.code == .secretFile && !isGood && !"\(error)".contains("s3cret"), "\(error)")
                }
            }
            for (webhook, secret, program, subject) in [
                (address, nil, nil, "webhook-secret"), (nil, file, nil, "webhook"), (nil, nil, "sh", "on-event"),
                (nil, nil, file.path, "on-event"), (nil, nil, "/nowhere", "on-event"),
            ] as [(String?, URL?, String?, String)] {
                do throws(ServerError) {
                    _ = try await settings(webhook, secret, program)
                    Issue.record("\(subject) was taken")
                } catch {
                    #expect(error.subject == subject && !"\(error)".contains("s3cret"), "\(error)")
                }
            }
            #expect(try await settings(nil, nil, "/bin/sh").names == ["program"])
            #expect(try await settings(nil, nil).names.isEmpty)
        }
    }

    @Test("The vector has what a receiver checks")
    func vector() throws {
        let notice = Notice(
            .change, of: Story.server,
            ["app": "bank", "change": String(repeating: "ab", count: 16), "until": "2026-12-01T12:00:00Z"],
            words: "A change of bank waits for people until 2026-12-01T12:00:00Z.")
        let time: Int64 = 1_795_000_000
        let secret = try WebhookSecret(Array(WebhookReceiver.line.utf8))
        try Vectors.expect(
            "server-webhook.json",
            [
                "format": """
                A notice as a webhook gets it: HMAC with SHA-256 over the id, the time and the body, with periods \
                between them, under the Base64 of the secret.
                """, "secret": WebhookReceiver.line, "webhook-id": "\(notice.id)", "webhook-timestamp": "\(time)",
                "webhook-signature": secret.signature(id: notice.id, time: time, body: notice.bytes),
                "body": String(decoding: notice.bytes, as: UTF8.self),
            ])
    }
}
