import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

@Suite("Vectors of invitations")
struct InvitationVectorTests {
    private static func invitation(
        _ apps: Set<AppName>?, _ scope: TokenGrant.Scope = .read, _ purpose: PasskeyPurpose = .signIn
    ) throws -> InvitationText {
        try InvitationText(
            server: Story.server, token: PasskeyDesk.token(1).digest, person: "dave", purpose: purpose, apps: apps,
            scope: scope, approvers: Story().chain.head.digest, end: Story.end)
    }

    @Test("docs/vectors/server-invitation.json is what this program writes, and what it accepts and refuses")
    func vectors() throws {
        let shop = try AppName("shop")
        let bank = try AppName("bank")
        let good =
            try [nil, [bank], [shop, bank, AppName("Bank")]].map { try Self.invitation($0) }
            + [Self.invitation(nil, .administer), Self.invitation([bank, shop], .propose)]
        for text in good { #expect(try InvitationText(text.bytes) == text) }
        let some = String(decoding: try Self.invitation([AppName("bank"), shop]).bytes, as: UTF8.self)
        let all = String(decoding: try Self.invitation(nil).bytes, as: UTF8.self)
        let more = String(decoding: try Self.invitation([bank, shop], .propose).bytes, as: UTF8.self)
        let allMore = String(decoding: try Self.invitation(nil, .propose).bytes, as: UTF8.self)
        let refused = [
            ("names that are not sorted", some.replacing("bank,shop", with: "shop,bank")),
            ("a name twice", some.replacing("bank,shop", with: "bank,bank")),
            ("no name", some.replacing("bank,shop\n", with: "\n")),
            ("a space between names", some.replacing("bank,shop", with: "bank, shop")),
            ("a name that is none", some.replacing("bank,shop", with: "bank,*")),
            ("a comma at the end", some.replacing("bank,shop", with: "bank,shop,")),
            ("version 1 with apps", some.replacing("-v2", with: "-v1")),
            ("version 2 without apps", all.replacing("-v1", with: "-v2")),
            ("version 3 without a scope", some.replacing("-v2", with: "-v3")),
            ("version 2 with a scope", more.replacing("-v3", with: "-v2")),
            ("a scope that needs no line", more.replacing("propose", with: "read")),
            ("a scope that is none of people", more.replacing("propose", with: "gate")),
            ("two scopes", more.replacing("propose", with: "propose,administer")),
            ("a star among names", more.replacing("bank,shop", with: "*,bank")),
            ("two stars", allMore.replacing("*", with: "**")),
            ("a version that nobody knows", all.replacing("-v1", with: "-v4")),
        ]
        for (why, text) in refused {
            expectError(.malformed) { try InvitationText(Array(text.utf8)) }
            #expect(![some, all, more, allMore].contains(text), "\(why)")
        }
        // An invitation to approve cannot have a scope.
        for text in [more, allMore] {
            expectError(.invalidValue) {
                try InvitationText(Array(text.replacing("sign-in", with: "approval").utf8))
            }
        }
        expectError(.invalidValue) { try Self.invitation(nil, .propose, .approval) }
        expectError(.invalidValue) { try Self.invitation(nil, .gate(hosts: ["a:1"])) }
        for text in [some, all, more, allMore] { #expect(InvitationText.isBegun(by: Array(text.utf8))) }
        #expect(!InvitationText.isBegun(by: Array("holdfast-invitation-v4\n".utf8)))
        try Vectors.expect(
            "server-invitation.json",
            [
                "format": "holdfast-invitation-v1, for all apps, holdfast-invitation-v2, for some, and "
                    + "holdfast-invitation-v3, for more than reading. "
                    + "docs/server/people.md says what the lines mean.",
                "accepted": good.map { text in
                    [
                        "text": String(decoding: text.bytes, as: UTF8.self), "sha256": "\(Digest(of: text.bytes))",
                        "apps": text.apps.map { $0.map(\.description).sorted() } ?? [], "scope": text.scope.text,
                    ]
                },
                "refused": refused.map { why, text in ["why": why, "text": text] },
            ])
    }

    @Test("An invitation for no app, or for more than a line has room for, is not written")
    func limits() throws {
        expectError(.invalidValue) { try Self.invitation([]) }
        let many = Set(try (0..<300).map { try AppName("app-with-a-name-\($0)") })
        expectError(.invalidValue) { try Self.invitation(many) }
    }
}
