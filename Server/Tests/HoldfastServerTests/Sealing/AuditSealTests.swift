import Foundation
import Testing

@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

@Suite("The signature of the end of an audit")
struct AuditSealTests {
    @Test("docs/vectors/server-audit-head.json is what this program signs, and nothing else is taken for it")
    func vector() throws {
        let secret = SealedKeyTests.secret()
        let seal = AuditSeal(secret, server: Story.server)
        var rows: [[String: Any]] = []
        for count in [1, 2, 9_007_199_254_740_991] as [Int64] {
            let head = AuditHead(count: count, digest: Digest(of: "\(count)".utf8))
            let code = seal.code(of: head)
            #expect(seal.isRight(code, of: head))
            let others = [
                AuditSeal(SealedKeyTests.secret(2), server: Story.server), AuditSeal(secret, server: Story.id(1)),
            ]
            for other in others { #expect(!other.isRight(code, of: head)) }
            for other in [AuditHead(count: count + 1, digest: head.digest), AuditHead(count: count, digest: .nothing)] {
                #expect(!seal.isRight(code, of: other))
            }
            for place in code.indices {
                var wrong = code
                wrong[place] ^= 1
                #expect(!seal.isRight(wrong, of: head))
            }
            for wrong in [[], Array(code.dropLast()), code + [0]] { #expect(!seal.isRight(wrong, of: head)) }
            rows.append(["head": "\(head)", "code": Hex.encode(code)])
        }
        try Vectors.expect(
            "server-audit-head.json",
            [
                "format": "HMAC-SHA256 of three lines: holdfast-audit-head-v1, the server and the head. The key is "
                    + "HKDF-SHA256 of the secret with the info holdfast-audit-head-v1.",
                "secretFile": String(decoding: secret.fileContent, as: UTF8.self), "secretID": Hex.encode(secret.id),
                "server": "\(Story.server)", "heads": rows,
            ])
    }
}
