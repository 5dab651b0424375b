package import ServerFoundation

/// The text that approvers sign so that a person may make a passkey: seven lines of printable ASCII, each ended by a
/// line feed; eight if it is for certain apps, nine if the person may do more than read.
///
/// ```text
/// holdfast-invitation-v2
/// 0f1e2d3c4b5a69788796a5b4c3d2e1f0            server
/// (64 hexadecimal digits)                     SHA-256 of the token that the invited person gets
/// dave                                        the person
/// sign-in                                     or approval: what the passkey is for
/// bank,shop                                   the apps that the person sees or approves, sorted
/// (64 hexadecimal digits)                     SHA-256 of the statement of approvers and number
/// 2026-11-24T12:00:00Z                        end
/// ```
/// The remarks on the right are not part of the text. `holdfast-invitation-v1` has no line of apps, and is for all of
/// them. Each text uses the oldest version that can express it, so older programs can read it. `holdfast-invitation-v3`
/// is for a person who signs in and may do more than read: after `sign-in` it has the line `propose` or `administer`,
/// as tokens have scopes, and then the apps, or `*` for all. A passkey for approvals approves nothing until a statement
/// of approvers names it.
package struct InvitationText: Sendable, Hashable {
    /// The server that invites.
    package let server: RandomID
    /// The digest of the token.
    package let token: Digest
    /// The person, for people to read: 1 to 64 printable ASCII characters without spaces.
    package let person: String
    /// The purpose of the passkey.
    package let purpose: PasskeyPurpose
    /// The apps that the person sees, or whose changes the passkey approves; nil for all.
    package let apps: Set<AppName>?
    /// The person's permissions on the pages: ``TokenGrant/Scope/read``, ``TokenGrant/Scope/propose`` or
    /// ``TokenGrant/Scope/administer``, as with a token.
    package let scope: TokenGrant.Scope
    /// The digest of the statement of approvers in force.
    package let approvers: Digest
    /// The last second at which the invitation is valid, in seconds since 1970.
    package let end: Int64
    /// The bytes to sign.
    package let bytes: [UInt8]

    private static let headers = (
        all: "holdfast-invitation-v1", some: "holdfast-invitation-v2", more: "holdfast-invitation-v3"
    )
    /// Stands for the names of all apps in a version that has a line for them.
    private static let allApps = "*"
    /// Maximum size in bytes; every valid text is shorter.
    private static let limit = 4 << 10

    /// Writes the text.
    /// - Parameters:
    ///   - server: the server that invites.
    ///   - token: the digest of the token.
    ///   - person: the person.
    ///   - purpose: the purpose of the passkey.
    ///   - apps: the apps that the person sees, or whose changes the passkey approves; nil for all.
    ///   - scope: the person's permissions on the pages.
    ///   - approvers: the digest of the statement of approvers in force.
    ///   - end: the last second at which the invitation is valid, in seconds since 1970.
    /// - Throws: ``ServerError`` `invalidValue` for a name with other characters, for no app and for more apps than fit
    ///   on a line, for more than reading with a passkey that approves, and for an end that is not in the years 1970 to
    ///   9999.
    package init(
        server: RandomID, token: Digest, person: String, purpose: PasskeyPurpose, apps: Set<AppName>? = nil,
        scope: TokenGrant.Scope = .read, approvers: Digest, end: Int64
    ) throws(ServerError) {
        guard ASCIIText.isPrintable(person.utf8, 1...64) else {
            throw ServerError(
                .invalidValue, of: "person", expected: "1 to 64 printable ASCII characters without spaces",
                found: "another text of \(person.utf8.count) bytes")
        }
        guard let until = UTCText.encode(end) else {
            throw ServerError(.invalidValue, of: "end", expected: "a time from 1970 to 9999", found: "\(end)")
        }
        let right = TokenGrant.Scope.beyondReading(scope.text.utf8)
        guard scope == .read || (right != nil && purpose == .signIn) else {
            throw ServerError(
                .invalidValue, of: "scope", expected: "read; or propose or administer for signing in",
                found: scope.text)
        }
        self.server = server
        self.token = token
        self.person = person
        self.purpose = purpose
        self.apps = apps
        self.scope = scope
        self.approvers = approvers
        self.end = end
        let names = apps.map(AppName.line)
        guard names.map({ (1...LineReader.lineBytes).contains($0.utf8.count) }) ?? true else {
            throw ServerError(
                .invalidValue, of: "apps", expected: "names of 1 to \(LineReader.lineBytes) characters together",
                found: "\(apps?.count ?? 0) apps")
        }
        let header = right != nil ? Self.headers.more : names != nil ? Self.headers.some : Self.headers.all
        let more = right.map { [$0.text, names ?? Self.allApps] } ?? [names].compactMap(\.self)
        let lines =
            [header, "\(server)", "\(token)", person, purpose.rawValue] + more + ["\(approvers)", until]
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Whether bytes start like an invitation, and not like another text that approvers sign.
    package static func isBegun(by bytes: [UInt8]) -> Bool {
        [headers.all, headers.some, headers.more].contains { bytes.starts(with: "\($0)\n".utf8) }
    }

    /// Reads a text.
    /// - Throws: ``ServerError`` `malformed`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var reader = try LineReader(bytes, "invitation", limit: Self.limit)
        let known = [Self.headers.all, Self.headers.some, Self.headers.more]
        let header = try reader.line("header", known.joined(separator: ", or ")) { line in
            known.first { line.elementsEqual($0.utf8) }
        }
        let digest = "64 lower-case hexadecimal digits"
        let server = try reader.line("server", "32 hexadecimal digits") { RandomID(hex: $0) }
        let token = try reader.line("token", digest) { Digest(hex: $0) }
        let person = try reader.line("person", "a name without spaces") { line in
            ASCIIText.isPrintable(line, 1...64) ? String(decoding: line, as: UTF8.self) : nil
        }
        let purpose = try reader.line("purpose", "sign-in or approval") { PasskeyPurpose(bytes: $0) }
        var apps: Set<AppName>?
        var scope = TokenGrant.Scope.read
        if header == Self.headers.more {
            scope = try reader.line("scope", "propose or administer") { TokenGrant.Scope.beyondReading($0) }
            apps = try reader.line("apps", "sorted names of apps, or \(Self.allApps)") { line in
                line.elementsEqual(Self.allApps.utf8) ? .some(nil) : AppName.set(line: line).map { .some($0) }
            }
        } else if header == Self.headers.some {
            apps = try reader.line("apps", "sorted names of apps") { AppName.set(line: $0) }
        }
        let approvers = try reader.line("approvers", digest) { Digest(hex: $0) }
        let end = try reader.line("end", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        try reader.finish()
        try self.init(
            server: server, token: token, person: person, purpose: purpose, apps: apps, scope: scope,
            approvers: approvers, end: end)
    }
}

extension AppName {
    /// The names in canonical order, separated by commas.
    package static func line(_ names: Set<AppName>) -> String {
        names.map(\.description).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ",")
    }

    /// Reads what ``line(_:)`` writes; nil for another spelling, and for no names.
    package static func set(line bytes: some Collection<UInt8>) -> Set<AppName>? {
        var names: Set<AppName> = []
        for part in bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let name = AppName(bytes: part) else { return nil }
            names.insert(name)
        }
        return line(names).utf8.elementsEqual(bytes) ? names : nil
    }
}

/// An invitation with its signatures; nothing is verified yet.
package struct SignedInvitation: Sendable, Hashable {
    /// The bytes of the ``InvitationText``.
    package let text: [UInt8]
    /// The signatures, in any order.
    package let signatures: [ApproverSignature]

    /// Makes one from received or stored bytes.
    package init(text: [UInt8], signatures: [ApproverSignature]) {
        self.text = text
        self.signatures = signatures
    }
}
