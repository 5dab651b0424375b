import ServerApprovals
import ServerFoundation
import ServerStore

extension ApproverSet {
    /// Whether enough people may approve for each app: passkeys may be limited to some apps. A statement that lists the
    /// apps of each approver always has enough.
    func appFindings(_ apps: [AppName], _ people: PeopleLedger) -> [Publisher.Finding] {
        apps.sorted { "\($0)".utf8.lexicographicallyPrecedes("\($1)".utf8) }.compactMap { app in
            let able = members.filter { people.allows($0.key.identity, app) }
            guard able.count < number else { return nil }
            return Publisher.Finding(
                isFault: true,
                words:
                    "\(able.count) of \(members.count) approvers may approve changes of \(app), and \(number) must agree: "
                    + "nothing of it is published; sign a statement of approvers with more people for it")
        }
    }

    /// The approvers that may approve only certain apps.
    func limitFindings() -> [Publisher.Finding] {
        members.compactMap { member in
            member.apps.map { apps in
                Publisher.Finding(
                    isFault: false, words: "\(member.name) may approve only changes of \(AppName.line(apps))")
            }
        }.sorted { $0.words.utf8.lexicographicallyPrecedes($1.words.utf8) }
    }

    /// The findings about approvers with passkeys.
    /// - Parameter pages: the address of the administration's pages; nil if it is not configured.
    func passkeyFindings(pages: RelyingParty?) -> [Publisher.Finding] {
        guard let passkeys else { return [] }
        let names = members.filter(\.isPasskey).map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let who = names.joined(separator: ", ")
        var findings: [Publisher.Finding] = []
        switch passkeys.rule {
        case .passkeysOnly:
            findings.append(
                Publisher.Finding(
                    isFault: false,
                    words:
                        "passkeys-only: only passkeys approve, and they sign any content that the page at "
                        + "\(passkeys.party.origin) presents"))
        case .keyRequired:
            let others = members.count { !$0.isPasskey && $0.apps == nil }
            let how = names.count == 1 ? "approves with a passkey" : "approve with passkeys"
            let words = "\(who) \(how), and each change needs a key file or a signer program as well"
            findings.append(Publisher.Finding(isFault: false, words: words))
            if others == 1 {
                findings.append(
                    Publisher.Finding(
                        isFault: false,
                        words: "only one approver has a key that is no passkey: without it nothing is approved"))
            }
        }
        guard let pages, pages != passkeys.party else { return findings }
        let remedy =
            pages.id == passkeys.party.id
            ? "sign a statement of approvers with the new address"
            : "register new passkeys there, and sign a statement of approvers with them"
        findings.append(
            Publisher.Finding(
                isFault: true,
                words:
                    "the passkeys of \(who) are for \(passkeys.party.origin), but the pages are at \(pages.origin), "
                    + "so their signatures there are invalid; \(remedy)"))
        return findings
    }
}
