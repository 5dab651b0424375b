@testable import ServerApprovals

/// A server whose approvers have let passkeys approve as well: two of alice and bob, who have key files, and of the
/// holders of a phone and of a stick.
struct PasskeyStory {
    static let phone = SoftPasskey.ed25519
    static let stick = SoftPasskey(number: 22, counter: 1, id: [0xC5])

    let chain: ApproverChain
    let subject: ApprovalText.Subject

    init(_ rule: PasskeyTerms.Rule = .keyRequired, number: Int = 2) throws {
        let story = try Story()
        var chain = story.chain
        try chain.append(Self.signed(Self.statement(after: story.chain.head, rule, number: number)))
        self.chain = chain
        subject = try Story.subject(chain)
    }

    static func members(_ passkeys: [SoftPasskey] = [phone, stick]) throws -> [ApproverSet.Member] {
        try [Approver.alice, .bob].map { try $0.member }
            + passkeys.map { passkey in
                try ApproverSet.Member(name: "passkey-\(passkey.number)", key: passkey.key, isPasskey: true)
            }
    }

    static func statement(
        after head: ApproverStatement, _ rule: PasskeyTerms.Rule = .keyRequired, number: Int = 2,
        at party: RelyingParty? = nil
    ) throws -> ApproverStatement {
        let terms = PasskeyTerms(rule, at: try party ?? SoftPasskey.party)
        return try ApproverStatement(
            after: head, approvers: ApproverSet(members(), number: number, passkeys: terms))
    }

    static func signed(
        _ statement: ApproverStatement, by approvers: [Approver] = [.alice, .bob],
        _ passkeys: [SoftPasskey] = [phone, stick]
    ) throws -> SignedApprovers {
        let signatures = try approvers.map { try $0.signature(of: statement.bytes) }
        let evidence = try passkeys.map { ApproverSignature(try $0.evidence(over: statement.bytes)) }
        return SignedApprovers(text: statement.bytes, signatures: signatures + evidence)
    }
}

extension SoftPasskey {
    func says(
        _ verdict: ApprovalText.Verdict, _ subject: ApprovalText.Subject, until end: Int64 = Story.end
    ) throws -> SignedApproval {
        let text = try ApprovalText(verdict, subject, end: end).bytes
        return SignedApproval(text: text, signature: ApproverSignature(try evidence(over: text)))
    }
}
